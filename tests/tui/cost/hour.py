"""The screen with an hour of conversation behind it, in a terminal of its own: ``python -m tests.tui.cost.hour FILE
FRAMES`` writes how long each frame took.

A frame is everything between two looks at the journal: take what is new, fold it, draw, and write it to the terminal.
What counts is the time that the screen's loop was busy; waiting for the next thing to do is not.
"""

from __future__ import annotations

import asyncio
import json
import selectors
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.tui.scenes import go_on_talking
from voicetui.events import Entry, Fact
from voicetui.runtime.engine import Levels
from voicetui.runtime.heap import settled
from voicetui.tui.app import PICTURES_PER_S, VoiceTui
from voicetui.tui.options import ScreenOptions

HOUR_MS = 3_600_000.0
FRAME_MS = 1000 / PICTURES_PER_S
_WAVE = tuple(-60.0 + (place * 7) % 45 for place in range(200))


class PatientSelector(selectors.DefaultSelector):
    """Knows how long its loop had nothing to do."""

    def __init__(self) -> None:
        super().__init__()
        self.idle_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait, and count it."""
        before_s = time.perf_counter()
        try:
            return super().select(timeout)
        finally:
            self.idle_s += time.perf_counter() - before_s


class HourEngine:
    """A journal on manual time: one look, one frame later. Within a frame time goes by as it does."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._due = 0
        self._now_ms = HOUR_MS
        self._since_s = time.perf_counter()
        self.failure: BaseException | None = None
        self.running = True
        self._come_to_now()

    def advance(self) -> None:
        """The next frame."""
        self._now_ms += FRAME_MS
        self._since_s = time.perf_counter()
        self._come_to_now()

    def now_ms(self) -> float:
        """The manual time, and what went by since."""
        return self._now_ms + min(FRAME_MS, (time.perf_counter() - self._since_s) * 1e3)

    def post(self, fact: Fact) -> None:
        """Nobody asks for anything."""

    def entries_since(self, index: int) -> Sequence[Entry]:
        """What is due and not seen yet."""
        return self._entries[index : self._due]

    def levels(self) -> Levels:
        """Levels that never rest."""
        first = int(self._now_ms // FRAME_MS) % 100
        wave = _WAVE[first : first + 100]
        return Levels(wave[-1], wave[0], wave, wave[::-1])

    def stop(self, why: str = "user") -> None:
        """End."""
        self.running = False

    def join(self, seconds: float) -> bool:
        """It has ended."""
        return True

    def _come_to_now(self) -> None:
        while self._due < len(self._entries) and self._entries[self._due].at <= self._now_ms:
            self._due += 1


class TimedTui(VoiceTui):
    """Notes how busy its loop was from look to look."""

    def __init__(self, engine: HourEngine, waiting: PatientSelector, frames: int) -> None:
        super().__init__(engine, ScreenOptions("an hour"))
        self._hour, self._waiting, self._wanted = engine, waiting, frames
        self._started: tuple[float, float, float] | None = None
        self.opening_ms: list[float] = []
        self.frames_ms: list[float] = []
        self.cpu_ms: list[float] = []

    def look_again(self) -> None:
        """Look, and note what the frame before has taken."""
        now = time.perf_counter(), self._waiting.idle_s, time.thread_time()
        caught_up = self.view is not None and self.view.timeline.end_ms > HOUR_MS - 60_000
        if self._started is not None:
            busy_ms = (now[0] - self._started[0] - (now[1] - self._started[1])) * 1e3
            (self.frames_ms if caught_up else self.opening_ms).append(busy_ms)
            if caught_up:
                self.cpu_ms.append((now[2] - self._started[2]) * 1e3)
        self._started = now
        if caught_up:
            self._hour.advance()
        super().look_again()
        if len(self.frames_ms) >= self._wanted:
            self.exit()


def main(to: Path, frames: int) -> None:
    """Show the hour and what comes after it, and write the figures."""
    journal = go_on_talking(HOUR_MS + frames * FRAME_MS)
    waiting = PatientSelector()
    app = TimedTui(HourEngine(journal.entries), waiting, frames)
    loop = asyncio.SelectorEventLoop(waiting)
    asyncio.set_event_loop(loop)
    with settled():
        app.run(loop=loop)
    turns = len(app.view.turns) if app.view is not None else 0
    told = {
        "entries": len(journal.entries),
        "turns": turns,
        "opening_ms": app.opening_ms,
        "frames_ms": app.frames_ms,
        "cpu_ms": app.cpu_ms,
    }
    to.write_text(json.dumps(told), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
