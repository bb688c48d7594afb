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

    def quantile_ms(self, share: float) -> float | None:
        """The lateness that this share of the beats stayed below; None before there are 100 beats."""
        if len(self.late_ms) < 100:
            return None
        ordered = sorted(self.late_ms)
        return ordered[int(share * (len(ordered) - 1))]

    def told(self) -> str:
        """The figures in a line for the session's log; empty before there are any."""
        p50_ms, p99_ms = self.quantile_ms(0.5), self.quantile_ms(0.99)
        if p50_ms is None or p99_ms is None:
            return ""
        return f"engine loop lag: p50 {p50_ms:.2f} ms, p99 {p99_ms:.2f} ms, n = {len(self.late_ms)}"
