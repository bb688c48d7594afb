"""The one place that reads time or sleeps."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from datetime import UTC, datetime


class SystemClock:
    """Monotonic time since it was made. ``wall_utc`` is a label only, never used to measure."""

    def __init__(self) -> None:
        self._origin_ns = time.monotonic_ns()

    def now_ms(self) -> float:
        """Monotonic milliseconds since the session started."""
        return (time.monotonic_ns() - self._origin_ns) / 1e6

    async def sleep_until(self, due_ms: float) -> None:
        """Return at or soon after ``due_ms``; at once if that has passed."""
        await asyncio.sleep(max(0.0, (due_ms - self.now_ms()) / 1e3))


class ManualClock:
    """Time that moves only when a test says so. Not thread-safe; use it on one loop."""

    def __init__(self) -> None:
        self._now_ms = 0.0
        self._count = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now_ms(self) -> float:
        """The manual time."""
        return self._now_ms

    async def sleep_until(self, due_ms: float) -> None:
        """Wait until ``advance`` has carried the time to ``due_ms``."""
        if due_ms <= self._now_ms:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (due_ms, next(self._count), future))
        await future

    async def advance(self, ms: float) -> None:
        """Move on by ``ms``, waking each sleeper at its due time, in order, and letting what it wakes run."""
        end_ms = self._now_ms + ms
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end_ms:
            due_ms, _, future = heapq.heappop(self._sleepers)
            self._now_ms = max(self._now_ms, due_ms)
            if not future.done():
                future.set_result(None)
            await settle()
        self._now_ms = end_ms
        await settle()


async def settle(rounds: int = 50) -> None:
    """Let every task that can run do so, without time passing; at most ``rounds`` rounds of the loop."""
    ready = getattr(asyncio.get_running_loop(), "_ready", None)
    for _ in range(rounds):
        await asyncio.sleep(0)
        if ready is not None and not ready:  # nothing is waiting to run; a loop that does not tell runs every round
            return


def wall_utc() -> datetime:
    """The wall clock, for labels and folder names."""
    return datetime.now(UTC)
