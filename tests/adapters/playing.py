"""A bench for the player: a pretended device pulls blocks, a scripted voice speaks, time moves with the blocks."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from voicetui.events.base import Basis, Fact
from voicetui.events.orders import Play, Synthesize
from voicetui.events.speak import PlaybackCut
from voicetui.ports import PcmFloat
from voicetui.speak.play import Player
from voicetui.speak.scripted import ScriptedVoice
from voicetui.speak.synthesize import SynthesizedClause, Synthesizer

RATE_HZ = 16_000
LATENCY_MS = 30.0
BASIS = Basis(1, 1, 1)
NEXT = Basis(2, 1, 1)
TEN = "one two three four five six seven eight nine ten"


class HandClock:
    """Time that moves when the bench pulls a block."""

    def __init__(self) -> None:
        self.ms = 0.0

    def now_ms(self) -> float:
        return self.ms

    async def sleep_until(self, due_ms: float) -> None:
        raise AssertionError("nothing here sleeps")


class Bench:
    """A player, a voice, and a device that pulls blocks and polls as the engine does."""

    def __init__(self, rate_hz: int = RATE_HZ, latency_ms: float = LATENCY_MS, word_ms: float = 300.0) -> None:
        self.clock = HandClock()
        self.facts: list[tuple[float, Fact]] = []
        self.posted_ms: list[float] = []
        self.player = Player(self.clock, self.post, rate_hz)
        self.rate_hz = rate_hz
        self.latency_ms = latency_ms
        self.pulled: list[PcmFloat] = []
        voice = ScriptedVoice(RATE_HZ, word_ms, gap_ms=50.0)
        self.synthesizer = Synthesizer(voice, self.clock, self.post)

    def post(self, fact: Fact, at_ms: float) -> None:
        """Keep a fact, its time, and when it was posted."""
        self.facts.append((at_ms, fact))
        self.posted_ms.append(self.clock.ms)

    def sound(self, basis: Basis, clause: int, spoken: str) -> SynthesizedClause:
        """A clause's sound, 300 ms of tone and gap for each word."""
        made = self.synthesizer.run(Synthesize(basis, clause, spoken), lambda _: True)
        assert made is not None
        return made

    def play(self, text: str, clause: int = 0, basis: Basis = BASIS, spoken: str | None = None) -> None:
        """Make and queue a clause."""
        self.player.play(Play(basis, clause, text), self.sound(basis, clause, text if spoken is None else spoken))

    def run(self, ms: float, block_ms: float = 10.0) -> PcmFloat:
        """Let ``ms`` pass, block by block; what was rendered meanwhile."""
        pulled: list[PcmFloat] = []
        end_ms = self.clock.ms + ms
        while self.clock.ms < end_ms - 1e-6:
            out = np.full(max(1, round(min(block_ms, end_ms - self.clock.ms) * self.rate_hz / 1e3)), np.nan, np.float32)
            self.player.renderer.render(out, self.clock.ms + self.latency_ms)
            pulled.append(out)
            self.clock.ms += len(out) * 1e3 / self.rate_hz
            self.player.poll()
        self.pulled += pulled
        return np.concatenate(pulled) if pulled else np.zeros(0, np.float32)

    def run_dry(self) -> PcmFloat:
        """Until the player has nothing more to watch."""
        pulled = [np.zeros(0, np.float32)]
        while self.player.busy:
            pulled.append(self.run(10.0))
            assert self.clock.ms < 120_000, "the player never comes to rest"
        return np.concatenate(pulled)

    @property
    def heard(self) -> PcmFloat:
        """All that was rendered since the start."""
        return np.concatenate([np.zeros(0, np.float32), *self.pulled])

    def of(self, *kinds: type[Fact]) -> list[tuple[float, Fact]]:
        """The facts of some kinds, with their times."""
        return [(at_ms, fact) for at_ms, fact in self.facts if isinstance(fact, kinds)]

    def only(self, kind: type[Fact]) -> tuple[float, Fact]:
        """The one fact of a kind."""
        (found,) = self.of(kind)
        return found

    def cut_fact(self) -> PlaybackCut:
        """The one cut."""
        fact = self.only(PlaybackCut)[1]
        assert isinstance(fact, PlaybackCut)
        return fact


def names(facts: Iterable[tuple[float, Fact]]) -> list[str]:
    """What kinds of facts these are."""
    return [type(fact).__name__ for _, fact in facts]


def tone_frames(sound: PcmFloat, rate_hz: int, frequency_hz: float) -> int:
    """How many 10 ms stretches of ``sound`` have ``frequency_hz`` as their strongest tone among the voice's pitches."""
    length = rate_hz // 25
    pitches = [ScriptedVoice.frequency_hz(call) for call in range(16)]
    waves = np.exp(-2j * np.pi * np.outer(pitches, np.arange(length)) / rate_hz)
    count = 0
    for start in range(0, len(sound) - length + 1, rate_hz // 100):
        piece = sound[start : start + length]
        if np.sqrt(np.mean(np.square(piece))) > 0.003:
            count += pitches[int(np.argmax(np.abs(waves @ piece)))] == frequency_hz
    return count


def audible_end_ms(sound: PcmFloat, rate_hz: int) -> float:
    """The end of the last 1 ms that reaches -50 dBFS."""
    per_ms = sound[: len(sound) // (rate_hz // 1000) * (rate_hz // 1000)].reshape(-1, rate_hz // 1000)
    return float(np.flatnonzero(np.sqrt(np.mean(np.square(per_ms), axis=1)) >= 10**-2.5)[-1]) + 1.0
