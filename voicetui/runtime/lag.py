"""How late the engine's loop runs: what a barge-in would have to wait before anyone looks at it."""

from __future__ import annotations

from collections import deque

from voicetui.ports import Clock

_EVERY_MS = 10.0
_KEPT = 60_000


class LoopLag:
    """Lateness of a 10 ms heartbeat, in ms; the newest ten minutes are kept."""

    def __init__(self) -> None:
        self.late_ms: deque[float] = deque(maxlen=_KEPT)

    async def watch(self, clock: Clock) -> None:
        """Beat until cancelled."""
        while True:
            due_ms = clock.now_ms() + _EVERY_MS
            await clock.sleep_until(due_ms)
            self.late_ms.append(clock.now_ms() - due_ms)

    def p99_ms(self) -> float | None:
        """The 99th percentile; None before there are 100 beats."""
        if len(self.late_ms) < 100:
            return None
        ordered = sorted(self.late_ms)
        return ordered[int(0.99 * (len(ordered) - 1))]
