"""How loud both sides were lately, for waveforms drawn on the timeline's own scale."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from voicetui.runtime.engine import Levels

PIECE_MS = 20
"""The length of one piece of a waveform, as the engine delivers it."""
SILENT_DBFS = -120.0

Side = Literal["user", "reply"]


@dataclass(frozen=True, slots=True)
class SoundTrace:
    """Levels in dBFS, one for each 20 ms of session time from piece ``first`` on."""

    first: int = 0
    user: tuple[float, ...] = ()
    reply: tuple[float, ...] = ()

    def loudest(self, side: Side, start_ms: float, end_ms: float) -> float | None:
        """The loudest level between two times; None where nothing was measured."""
        levels = self.user if side == "user" else self.reply
        low, high = self._pieces(start_ms, end_ms)
        return max(levels[low:high], default=None) if high > low else None

    def between(self, start_ms: float, end_ms: float) -> SoundTrace:
        """What was measured between two times."""
        low, high = self._pieces(start_ms, end_ms)
        return SoundTrace(self.first + low, self.user[low : max(low, high)], self.reply[low : max(low, high)])

    def _pieces(self, start_ms: float, end_ms: float) -> tuple[int, int]:
        """From which piece up to which, of those that are kept."""
        return max(0, int(start_ms // PIECE_MS) - self.first), int(-(-end_ms // PIECE_MS)) - self.first


class SoundTraceKeeper:
    """Collects levels as they are polled; keeps about ``keep_ms`` of them."""

    def __init__(self, keep_ms: float = 60_000) -> None:
        pieces = max(1, int(keep_ms / PIECE_MS))
        self._user: deque[float] = deque(maxlen=pieces)
        self._reply: deque[float] = deque(maxlen=pieces)
        self._next: int | None = None

    def take(self, now_ms: float, levels: Levels) -> None:
        """Add what was heard since the last call: from the waves where they reach so far, else the newest level."""
        end = int(now_ms // PIECE_MS)
        if self._next is None or end < self._next - 1:
            self._user.clear()
            self._reply.clear()
            self._next = end - max(len(levels.user_wave), len(levels.reply_wave), 1)
        count = min(end - self._next, self._user.maxlen or 0)
        if count <= 0:
            return
        self._user.extend(_newest(levels.user_wave, count, levels.user_dbfs))
        self._reply.extend(_newest(levels.reply_wave, count, levels.reply_dbfs))
        self._next = end

    def snapshot(self) -> SoundTrace:
        """What is kept."""
        return SoundTrace((self._next or 0) - len(self._user), tuple(self._user), tuple(self._reply))


def _newest(wave: Sequence[float], count: int, level: float) -> list[float]:
    """The newest ``count`` pieces of a wave, silence before it; of no wave at all, ``level``."""
    known = list(wave[-count:])
    return [level if not known else SILENT_DBFS] * (count - len(known)) + known
