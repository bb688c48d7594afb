"""A whole session on scripted parts and a manual clock: real rules, real journal, real detector, real playback; zero
time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from voicetui.events import Entry, Fact, Record
from voicetui.events.listen import Evidence, Transcribed
from voicetui.events.orders import Commit, EndSession, EndTurn, Message, Transcribe
from voicetui.events.session import Fault, SessionClosed, SessionOpened, StopAsked, TierFacts
from voicetui.journal.append import Journal, JournalWriter
from voicetui.journal.record import Recorder
from voicetui.listen.ear import Ear
from voicetui.listen.scripted import EnergyDetector
from voicetui.listen.vad import SileroDetector
from voicetui.ports import Clock, Pcm16, PcmFloat, StreamItem, Tier, Voice, VoiceDetector
from voicetui.rehearse.person import Person, Watch
from voicetui.rehearse.scenario import Line, Scenario
from voicetui.reply.generate import Replier
from voicetui.reply.simulated_tier import SimulatedTier
from voicetui.runtime.clock import ManualClock
from voicetui.runtime.parts import Parts
from voicetui.runtime.session import Session
from voicetui.sound.microphone import FileMicrophone
from voicetui.sound.speaker import NullSpeaker
from voicetui.sound.wav import read_audio
from voicetui.speak.growing import GrowingClause
from voicetui.speak.play import Player
from voicetui.speak.scripted import ScriptedVoice
from voicetui.speak.synthesize import SynthesizedClause, Synthesizer

T = TypeVar("T")
RecordT = TypeVar("RecordT", bound=Record)
CLIPS = Path(__file__).resolve().parents[2] / "assets" / "clips"


def clip(name: str) -> Pcm16:
    """One of the shipped clips."""
    return read_audio(CLIPS / f"{name}.wav")[0]


class Told:
    """A transcriber that knows the words: the ``n``-th utterance's text, all of it at a pause, some of it before."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    def run(self, order: Transcribe, sound: Pcm16, first_sample: int, waited_ms: float) -> Transcribed:
        index = order.utterance - 1
        text = self.texts[index] if index < len(self.texts) else ""
        words = text.split()
        if not order.final:
            words = words[: max(1, len(words) // 2)]
        end = first_sample + len(sound)
        return Transcribed(
            order.utterance, order.request, " ".join(words), order.final, first_sample, end, 0.0, waited_ms, Evidence()
        )


class TimedWords:
    """A transcriber for sound of which it is known when each word ends: (ms of the session, word)."""

    def __init__(self, *words: tuple[float, str]) -> None:
        self.words = words

    def run(self, order: Transcribe, sound: Pcm16, first_sample: int, waited_ms: float) -> Transcribed:
        end = first_sample + len(sound)
        text = " ".join(word for end_ms, word in self.words if first_sample < end_ms * 16 <= end + 160)
        return Transcribed(
            order.utterance, order.request, text, order.final, first_sample, end, 0.0, waited_ms, Evidence()
        )


class Finals:
    """A transcriber that answers the final requests with these texts in turn, and partial ones with nothing."""

    def __init__(self, *texts: str) -> None:
        self._texts = list(texts)

    def run(self, order: Transcribe, sound: Pcm16, first_sample: int, waited_ms: float) -> Transcribed:
        text = self._texts.pop(0) if order.final and self._texts else ""
        end = first_sample + len(sound)
        return Transcribed(
            order.utterance, order.request, text, order.final, first_sample, end, 0.0, waited_ms, Evidence()
        )


class InlineWorker:
    """Runs jobs at once, on the loop: on a manual clock a real thread would make time uncertain."""

    async def run(self, job: Callable[[float], T]) -> T:
        """Run ``job(0)`` after everything else that is ready."""
        await asyncio.sleep(0)
        return job(0.0)

    def close(self) -> None:
        """Nothing to close."""


class SlowWorker:
    """Runs one job at a time, each after ``ms`` of the manual clock, whether it is still waited for or not."""

    def __init__(self, clock: Clock, ms: float) -> None:
        self._clock = clock
        self._ms = ms
        self._lock = asyncio.Lock()

    async def run(self, job: Callable[[float], T]) -> T:
        return await asyncio.shield(asyncio.create_task(self._run(job)))

    async def _run(self, job: Callable[[float], T]) -> T:
        asked_ms = self._clock.now_ms()
        async with self._lock:
            waited_ms = self._clock.now_ms() - asked_ms
            await self._clock.sleep_until(self._clock.now_ms() + self._ms)
            return job(waited_ms)

    def close(self) -> None:
        pass


class WatchedTier(SimulatedTier):
    """A simulated tier that remembers what it was asked, and when each of its streams was opened and closed."""

    def __init__(self, clock: Clock, *replies: str, ttft_ms: float = 100.0, tokens_per_second: float = 50.0) -> None:
        super().__init__(
            clock,
            "twin",
            ttft_p50_ms=ttft_ms,
            ttft_p95_ms=ttft_ms,
            tokens_per_second=tokens_per_second,
            replies=replies,
        )
        self.clock = clock
        self.asked: list[tuple[Message, ...]] = []
        self.opened_ms: list[float] = []
        self.closed_ms: list[float] = []

    async def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[StreamItem, None]:
        self.asked.append(messages)
        self.opened_ms.append(self.clock.now_ms())
        try:
            async for item in super().stream(messages):
                yield item
        finally:
            self.closed_ms.append(self.clock.now_ms())


class Heard:
    """A recorder that keeps what the speaker played, at the speaker's rate: (sample of the microphone track, sound)."""

    def __init__(self, also: Callable[[int, PcmFloat], None] = lambda sample, samples: None) -> None:
        self.pieces: list[tuple[int, PcmFloat]] = []
        self._also = also

    def user(self, samples: Pcm16, lost: int) -> None:
        pass

    def reply(self, sample: int, samples: PcmFloat, rate_hz: int) -> None:
        self.pieces.append((sample, samples))
        self._also(sample, samples)

    def close(self) -> None:
        pass

    @property
    def sound(self) -> PcmFloat:
        """All that was played, without the silence in between."""
        return np.concatenate([samples for _, samples in self.pieces]) if self.pieces else np.zeros(0, np.float32)

    def between(self, start_ms: float, end_ms: float) -> PcmFloat:
        """float32 at 16 kHz: what was at the DAC then, silence where nothing was."""
        track = np.zeros(round((end_ms - start_ms) * 16), np.float32)
        for sample, samples in self.pieces:
            at = sample - round(start_ms * 16)
            head, tail = max(0, at), min(len(track), at + len(samples))
            if head < tail:
                track[head:tail] = samples[head - at : tail - at]
        return track


class Stage:
    """Builds and runs one session. ``texts`` are what the utterances say, in order."""

    def __init__(
        self,
        texts: Sequence[str] = (),
        *,
        tier: Tier | None = None,
        overlap: str = "full",
        duplex: str = "full",
        folder: Path | None = None,
        voice: Voice | None = None,
        policy: dict[str, object] | None = None,
        detector: VoiceDetector | None = None,
        clock: ManualClock | None = None,
        clips: Sequence[tuple[float, Pcm16]] = (),
    ) -> None:
        """``clips`` are what is said anyway: (ms of the session, sound). A tier's clock must be the stage's."""
        self.clock = clock or ManualClock()
        self.tier = tier or SimulatedTier(self.clock, "twin", ttft_p50_ms=100, ttft_p95_ms=101, tokens_per_second=50)
        self.journal = Journal(JournalWriter(folder) if folder is not None else None)
        self.microphone = FileMicrophone(self.clock, clips)
        voice = voice or ScriptedVoice()
        clock = self.clock
        self.parts: Parts[SynthesizedClause | GrowingClause] = Parts(
            microphone=self.microphone,
            speaker=NullSpeaker(clock),
            ear=Ear(detector or SileroDetector()),
            transcriber=Told(texts),
            tiers={self.tier.name: self.tier},
            make_replier=lambda post: Replier(clock, post),
            make_synthesizer=lambda post: Synthesizer(voice, clock, post),
            make_player=lambda post, rate_hz: Player(clock, post, rate_hz),
            warm={},
            recorder=Recorder(folder, print) if folder is not None else None,
            make_worker=lambda name, clock: InlineWorker(),
        )
        opened = SessionOpened(
            session="stage",
            started_utc="2026-01-01T00:00:00Z",
            program="voicetui",
            tier=self.tier.name,
            tiers=(TierFacts(self.tier.name, self.tier.kind, self.tier.model, self.tier.simulated),),
            overlap=overlap,
            duplex=duplex,
            source="stage",
            config={"policy": policy or {}},
        )
        self.session = Session(self.parts, self.clock, self.journal, opened)

    @property
    def entries(self) -> Sequence[Entry]:
        return self.journal.entries_since(0)

    def all(self, *kinds: type[Record]) -> list[Entry]:
        """Every entry of these kinds."""
        return [entry for entry in self.entries if isinstance(entry.body, kinds)]

    async def play(
        self, lines: Sequence[Line], sounds: dict[str, Pcm16], *, step_ms: float = 10.0, most_ms: float = 120_000
    ) -> None:
        """Run the session while a scripted person says these lines; end it after the last is answered."""
        watch, told = Watch(), 0
        scenario = Scenario(title="stage", lines=tuple(lines), impatient=())
        person = Person(scenario, sounds, self.microphone, watch, self.clock)

        def feed() -> None:
            nonlocal told
            entries = self.journal.entries_since(told)
            told += len(entries)
            watch.feed(entries)

        self.session.on_entries = feed

        async def perform() -> None:
            await person.perform()
            self.session.post(StopAsked("finished"))

        await self.run(perform, step_ms=step_ms, most_ms=most_ms)

    async def run(self, *companions: object, step_ms: float = 10.0, most_ms: float = 120_000) -> None:
        """Run the session, and coroutine functions beside it, until it ends."""
        tasks = [asyncio.create_task(each()) for each in companions]  # type: ignore[operator]
        running = asyncio.create_task(self.session.run())
        while not running.done() and self.clock.now_ms() < most_ms:
            await self.clock.advance(step_ms)
        for task in tasks:
            task.cancel()
        assert running.done(), "the session did not end"
        await running

    def of(self, kind: type[RecordT]) -> list[RecordT]:
        """The bodies of every entry of this kind."""
        return [entry.body for entry in self.entries if isinstance(entry.body, kind)]

    @property
    def outcomes(self) -> list[str]:
        """How the turns ended, in order."""
        return [order.outcome for order in self.of(EndTurn)]

    def run_to(self, end_ms: float, *companions: object) -> None:
        """Run the session until it is asked to stop at ``end_ms``."""
        asyncio.run(self.run(self.post_at(StopAsked("finished"), end_ms), *companions, most_ms=end_ms + 5000))

    def post_at(self, fact: Fact, at_ms: float) -> object:
        """A companion that posts a fact at a time."""

        async def later() -> None:
            await self.clock.sleep_until(at_ms)
            self.session.post(fact)

        return later


def twin_stage(*replies: str, bursts: Sequence[tuple[float, float]] = (), **options: object) -> Stage:
    """A stage with a ``WatchedTier``, where loud is speech: bursts of tone, (start ms, end ms)."""
    clock = ManualClock()
    tier_options = {name: options.pop(name) for name in ("ttft_ms", "tokens_per_second") if name in options}
    tier = WatchedTier(clock, *replies, **tier_options)  # type: ignore[arg-type]
    clips = [(start_ms, tone(end_ms - start_ms)) for start_ms, end_ms in bursts]
    return Stage(clock=clock, tier=tier, detector=EnergyDetector(), clips=clips, **options)  # type: ignore[arg-type]


def assert_ended_in_order(stage: Stage) -> None:
    """The session was closed, each of its turns has an outcome, and its faults are sentences for a person."""
    assert isinstance(stage.entries[-1].body, SessionClosed)
    assert len(stage.of(EndSession)) == 1
    assert {order.basis for order in stage.of(Commit)} == {order.basis for order in stage.of(EndTurn)}
    for fault in stage.of(Fault):
        assert len(fault.message.split()) >= 3 and "Traceback" not in fault.message


def tone(ms: float, level: float = 0.3) -> Pcm16:
    """A 440 Hz tone, int16."""
    t = np.arange(int(16 * ms)) / 16_000
    return (level * 32767 * np.sin(2 * np.pi * 440 * t)).astype(np.int16)
