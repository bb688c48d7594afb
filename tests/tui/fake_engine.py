"""An engine that replays a journal on manual time, and notes what was asked of it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence

from voicetui.events import Entry, Fact
from voicetui.runtime.engine import DeviceList, Levels
from voicetui.views.timeline import fold_timeline

PIECE_MS = 20.0
WAVE_PIECES = 50
SILENT_DBFS = -120.0


class FakeEngine:
    """The handle the screen has on a session. ``advance`` moves its clock; what is due by then is in its journal.

    ``terminal_full``: its terminal takes no output.
    """

    def __init__(self, entries: Sequence[Entry], start_ms: float = 0.0, *, hangs: bool = False) -> None:
        self._entries = list(entries)
        latest = -math.inf
        self._due_ms = [latest := max(latest, entry.at) for entry in self._entries]
        self._now_ms = start_ms
        self.hangs = hangs
        self.terminal_full = False
        self._sounds = [span for span in fold_timeline(entries).spans if span.lane in ("you", "speaker")]
        self.posted: list[Fact] = []
        self.stopped = 0
        self.joined: list[float] = []
        self.failure: BaseException | None = None
        self.running = True
        self.plugged_in = DeviceList()
        self.heard: Callable[[float], Levels] | None = None
        """What the meters show at a time, in the place of levels made up from who speaks."""

    def advance(self, ms: float) -> None:
        """Let time pass."""
        self._now_ms += ms

    def add(self, *entries: Entry) -> None:
        """Put entries before those that are not due yet; they are due at once."""
        place = bisect_right(self._due_ms, self._now_ms)
        self._entries[place:place] = entries
        self._due_ms[place:place] = [self._now_ms] * len(entries)

    def now_ms(self) -> float:
        """The manual time."""
        return self._now_ms

    def post(self, fact: Fact) -> None:
        """Note a command."""
        self.posted.append(fact)

    def entries_since(self, index: int) -> Sequence[Entry]:
        """What is due and not seen yet."""
        return self._entries[index : bisect_right(self._due_ms, self.now_ms())]

    def levels(self) -> Levels:
        """Levels made up from who speaks when."""
        if self.heard is not None:
            return self.heard(self._now_ms)
        end = int(self._now_ms // PIECE_MS)
        user = tuple(self._level("you", piece) for piece in range(end - WAVE_PIECES, end))
        reply = tuple(self._level("speaker", piece) for piece in range(end - WAVE_PIECES, end))
        return Levels(user[-1], reply[-1], user, reply)

    def devices(self) -> DeviceList:
        """What there is to choose from."""
        return self.plugged_in

    def stop(self, why: str = "user") -> None:
        """End at once, unless it hangs."""
        self.stopped += 1
        self.running = self.hangs

    def join(self, seconds: float) -> bool:
        """Note the wait."""
        self.joined.append(seconds)
        return not self.running

    def _level(self, lane: str, piece: int) -> float:
        at_ms = piece * PIECE_MS
        for span in self._sounds:
            if span.lane == lane and span.start_ms <= at_ms < (span.end_ms if span.end_ms is not None else math.inf):
                inside = (at_ms - span.start_ms) / 1000
                return -26.0 + 9.0 * math.sin(17.0 * inside) + 6.0 * math.sin(41.0 * inside + piece % 3)
        return -68.0 if lane == "you" else SILENT_DBFS
