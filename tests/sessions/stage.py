"""A whole session on scripted parts and a manual clock: real rules, real journal, real detector, real playback; zero
time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from voicetui.events import Entry, Fact, Record
from voicetui.events.listen import Evidence, Transcribed
from voicetui.events.orders import Transcribe
from voicetui.events.session import SessionOpened, StopAsked, TierFacts
from voicetui.journal.append import Journal, JournalWriter
from voicetui.journal.record import Recorder
from voicetui.listen.ear import Ear
from voicetui.listen.vad import SileroDetector
from voicetui.ports import Pcm16, Tier
from voicetui.rehearse.person import Person, Watch
from voicetui.rehearse.scenario import Line, Scenario
from voicetui.reply.generate import Replier
from voicetui.reply.simulated_tier import SimulatedTier
from voicetui.runtime.clock import ManualClock
from voicetui.runtime.parts import Parts
from voicetui.runtime.session import Session
from voicetui.runtime.worker import InlineWorker
from voicetui.sound.microphone import FileMicrophone
from voicetui.sound.speaker import NullSpeaker
from voicetui.sound.wav import read_audio
from voicetui.speak.play import Player
from voicetui.speak.scripted import ScriptedVoice
from voicetui.speak.synthesize import SynthesizedClause, Synthesizer

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
        voice: ScriptedVoice | None = None,
        policy: dict[str, object] | None = None,
    ) -> None:
        self.clock = ManualClock()
        self.tier = tier or SimulatedTier(self.clock, "twin", ttft_p50_ms=100, ttft_p95_ms=101, tokens_per_second=50)
        self.journal = Journal(JournalWriter(folder) if folder is not None else None)
        self.microphone = FileMicrophone(self.clock)
        voice = voice or ScriptedVoice()
        clock = self.clock
        self.parts: Parts[SynthesizedClause] = Parts(
            microphone=self.microphone,
            speaker=NullSpeaker(clock),
            ear=Ear(SileroDetector()),
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

    def post_at(self, fact: Fact, at_ms: float) -> object:
        """A companion that posts a fact at a time."""

        async def later() -> None:
            await self.clock.sleep_until(at_ms)
            self.session.post(fact)

        return later


def tone(ms: float, level: float = 0.3) -> Pcm16:
    """A 440 Hz tone, int16."""
    t = np.arange(int(16 * ms)) / 16_000
    return (level * 32767 * np.sin(2 * np.pi * 440 * t)).astype(np.int16)
