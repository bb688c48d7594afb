"""What a turn would cost if nothing waited for anything but its input: every stage timed alone, warm, in this process.

The stages follow each other on the way from the last word to the first sound, so the sum of their medians is a floor
under the gap of any arrangement of the same parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import msgspec
import numpy as np

from voicetui.events import Basis, Fact
from voicetui.events.listen import Transcribed
from voicetui.events.orders import Generate, Message, Synthesize, Transcribe
from voicetui.events.reply import ClauseCut, TokensArrived
from voicetui.ports import RATE_HZ, Clock, Pcm16
from voicetui.rehearse.person import joined, last_sound_ms
from voicetui.rehearse.scenario import Line
from voicetui.runtime.parts import ClauseSound, Parts
from voicetui.runtime.worker import JobRunner
from voicetui.views.statistics import quantile

SoundT = TypeVar("SoundT", bound=ClauseSound)

PAUSE_MS: Final = 100.0
"""Silence that any policy needs before it can know of the end of speech, by definition of the floor."""

TIMES: Final = 10
_PREROLL_MS: Final = 300.0

STAGE_OF: Final = {
    "pause": "endpoint",
    "transcribe": "transcribe",
    "first_token": "first_token",
    "first_clause": "first_clause",
    "synthesize": "synthesize",
    "output": "output",
}
"""The stage of a turn's breakdown that each part of the floor is the least of."""


class Floor(msgspec.Struct, frozen=True):
    """The parts, ms: medians of ``n`` each; None where none could be timed.

    ``pause`` is by definition. ``transcribe``: the final transcript of a line. ``first_token``: from the request, the
    whole prompt in the tier's cache. ``first_clause``: from the first token to the first clause. ``synthesize``: that
    clause, until its first samples may be played. ``output``: from the order to
    play to the ear, in a mode in which nothing else is done meanwhile.
    """

    n: int
    pause: float = PAUSE_MS
    transcribe: float | None = None
    first_token: float | None = None
    first_clause: float | None = None
    synthesize: float | None = None
    output: float | None = None

    @property
    def total_ms(self) -> float | None:
        """Their sum; None if one is missing."""
        known = [part for name in STAGE_OF if (part := getattr(self, name)) is not None]
        return sum(known) if len(known) == len(STAGE_OF) else None


async def measure_floor(
    parts: Parts[SoundT],
    clock: Clock,
    tier: str,
    system_prompt: str,
    lines: Sequence[Line],
    sounds: Mapping[str, Pcm16],
    output_ms: float | None,
    times: int = TIMES,
) -> Floor:
    """Time every stage ``times`` times, on the lines in turn. The session must be silent meanwhile.

    What fails is left out; facts that come of it go nowhere.
    """
    worker = parts.make_worker("floor", clock)
    bench = _Alone(parts, clock, worker, tier, system_prompt)
    try:
        for number in range(times):
            await bench.time_once(_as_heard(joined(lines[number % len(lines)].say, sounds)))
    finally:
        worker.close()
    medians = {name: quantile(values, 0.5) for name, values in bench.ms.items() if values}
    return Floor(n=times, output=output_ms, **medians)


class _Alone:
    """One stage after the other, nothing else meanwhile."""

    def __init__(self, parts: Parts[SoundT], clock: Clock, worker: JobRunner, tier: str, system_prompt: str) -> None:
        self.ms: dict[str, list[float]] = {
            name: [] for name in ("transcribe", "first_token", "first_clause", "synthesize")
        }
        self._clock = clock
        self._worker = worker
        self._transcriber = parts.transcriber
        self._synthesizer = parts.make_synthesizer(self._heard)
        self._replier = parts.make_replier(self._heard)
        self._tier = parts.tiers[tier]
        self._system = (Message("system", system_prompt),) if system_prompt else ()
        self._facts: list[tuple[Fact, float]] = []
        self._asked = 0

    async def time_once(self, sound: Pcm16) -> None:
        """Transcribe ``sound``, answer the words twice (the second time finds its prompt in the cache), and say it."""
        text = await self._transcribe(sound)
        if text is None:
            return
        await self._generate(text)
        spoken = await self._generate(text, keep=True)
        if spoken:
            await self._synthesize(spoken)

    async def _transcribe(self, sound: Pcm16) -> str | None:
        started_ms = self._clock.now_ms()
        order = Transcribe(0, 0, 0, len(sound), True)
        fact = await self._worker.run(lambda waited_ms: self._transcriber.run(order, sound, 0, waited_ms))
        if not isinstance(fact, Transcribed) or not fact.text.strip():
            return None
        self.ms["transcribe"].append(self._clock.now_ms() - started_ms)
        return fact.text

    async def _generate(self, text: str, keep: bool = False) -> str:
        """The first clause's spoken words; ``keep`` says whether the times count."""
        self._asked += 1
        self._facts.clear()
        started_ms = self._clock.now_ms()
        order = Generate(Basis(0, 0, self._asked), self._tier.name, (*self._system, Message("user", text)), False)
        await self._replier.run(order, self._tier)
        token_ms = next(
            (fact.tokens[0].at_ms for fact, _ in self._facts if isinstance(fact, TokensArrived) and not fact.reasoning),
            None,
        )
        clause = next(((fact, at_ms) for fact, at_ms in self._facts if isinstance(fact, ClauseCut)), None)
        if token_ms is None or clause is None:
            return ""
        if keep:
            self.ms["first_token"].append(token_ms - started_ms)
            self.ms["first_clause"].append(clause[1] - token_ms)
        return clause[0].spoken

    async def _synthesize(self, spoken: str) -> None:
        """Until the clause's first samples exist."""
        started_ms = self._clock.now_ms()
        first_ms: list[float] = []
        order = Synthesize(Basis(0, 0, self._asked), 0, spoken, streamed=True)

        def begun(_: object) -> None:
            first_ms.append(self._clock.now_ms())

        sound = await self._worker.run(lambda waited_ms: self._synthesizer.run(order, lambda _: True, waited_ms, begun))
        if sound is not None:
            self.ms["synthesize"].append((first_ms or [self._clock.now_ms()])[0] - started_ms)

    def _heard(self, fact: Fact, at_ms: float) -> None:
        self._facts.append((fact, at_ms))


def _as_heard(sound: Pcm16) -> Pcm16:
    """A line as the recogniser gets it at its pause: silence before it, and as much after as the pause is long."""
    end = round(last_sound_ms(sound) * RATE_HZ / 1e3)
    before = np.zeros(round(_PREROLL_MS * RATE_HZ / 1e3), np.int16)
    return np.concatenate([before, sound[:end], np.zeros(round(PAUSE_MS * RATE_HZ / 1e3), np.int16)])
