"""Puts a recorded session on a headless terminal, on a clock and tracks of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from textual.pilot import Pilot

from tests.journal_builder import JournalBuilder
from tests.tui.scenes import conversation
from tests.tui.stage import Pressed, seen
from voicetui.events import Entry
from voicetui.events.session import Fault
from voicetui.ports import Pcm16
from voicetui.rehearse.replay_tape import Tape
from voicetui.tui.options import ScreenOptions
from voicetui.tui.replay_app import ReplayTui
from voicetui.views.timeline import fold_timeline

RATE_PER_MS = 16


class FakeTrack:
    """A track in memory."""

    def __init__(self, samples: Pcm16 | None = None) -> None:
        self.samples = np.zeros(0, np.int16) if samples is None else samples
        self.grows = False

    @property
    def end(self) -> int:
        """How many samples there are."""
        return len(self.samples)

    def refresh(self) -> bool:
        """Whether the test made it longer."""
        grew, self.grows = self.grows, False
        return grew

    def read(self, first: int, count: int) -> Pcm16:
        """int16 [count], silence around the track."""
        low, high = max(0, first), min(first + count, len(self.samples))
        out = np.zeros(count, np.int16)
        if low < high:
            out[low - first : high - first] = self.samples[low:high]
        return out


class Watch:
    """The viewer's clock."""

    def __init__(self) -> None:
        self.ms = 0.0

    def now_ms(self) -> float:
        """The manual time."""
        return self.ms


@lru_cache(maxsize=4)
def recorded() -> tuple[JournalBuilder, FakeTrack, FakeTrack]:
    """A whole conversation that was closed, with a fault in it, and sound where somebody speaks."""
    journal = conversation()
    journal.add(Fault("tier", "api.example.com: the connection was refused", "Check the network."))
    journal.wait(400).closed()
    return journal, _spoken(journal, "you"), _spoken(journal, "speaker")


def _spoken(journal: JournalBuilder, lane: str) -> FakeTrack:
    """Noise that comes and goes, wherever that lane has a span."""
    samples = np.zeros(int(journal.now_ms * RATE_PER_MS), np.float64)
    noise = np.random.default_rng(7)
    for span in fold_timeline(journal.entries).spans:
        if span.lane == lane and span.end_ms is not None:
            first, last = int(span.start_ms * RATE_PER_MS), int(span.end_ms * RATE_PER_MS)
            seconds = np.arange(last - first) / 16_000
            loud = 10 ** ((-26 + 9 * np.sin(17 * seconds) + 6 * np.sin(41 * seconds)) / 20)
            samples[first:last] = noise.normal(0, 1, last - first) * loud
    return FakeTrack((np.clip(samples, -1, 1) * 32767).astype(np.int16))


@dataclass
class ReplayStage(Pressed):
    """A running screen of a recorded session, and the viewer's clock."""

    app: ReplayTui
    tape: Tape
    watch: Watch
    pilot: Pilot[Any]

    async def pass_ms(self, ms: float, step_ms: float = 1000.0) -> None:
        """Let the viewer's time pass."""
        end_ms = self.watch.ms + ms
        while self.watch.ms < end_ms:
            self.watch.ms = min(end_ms, self.watch.ms + step_ms)
            self.app.look_again()
        await self.settle()

    def text(self) -> str:
        """All that can be seen."""
        return seen(self.app)


@asynccontextmanager
async def replay_on_stage(
    size: tuple[int, int] = (120, 36),
    entries: Sequence[Entry] | None = None,
    problems: tuple[str, ...] = (),
    poll: Callable[[], tuple[Sequence[Entry], bool]] | None = None,
) -> AsyncIterator[ReplayStage]:
    """Run the screen of a recorded session, standing at its beginning."""
    journal, user, reply = recorded()
    watch = Watch()
    tape = Tape(
        watch.now_ms, journal.entries if entries is None else entries, user, reply, poll, lambda: problems
    )  # fmt: skip
    notice = f"Not all of it could be read: {problems[0]}." if problems else ""
    app = ReplayTui(tape, ScreenOptions("20300101T000000Z-local", notice), apart=False, plays=False)
    async with app.run_test(size=size) as pilot:
        stage = ReplayStage(app, tape, watch, pilot)
        await stage.settle()
        yield stage
