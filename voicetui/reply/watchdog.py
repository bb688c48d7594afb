"""A deadline that moves: one for each thing that is waited for in turn."""

from __future__ import annotations

import asyncio
import math

import anyio

from voicetui.ports import Clock


class Watchdog:
    """Cancels ``scope`` when the thing expected last has not come in time; ``late`` then says so, and ``stage`` which.

    Enter ``scope`` in the task that waits, call ``expect`` whenever something else is waited for, ``stop`` at the end.
    """

    def __init__(self, clock: Clock) -> None:
        self.scope = anyio.CancelScope()
        self.stage = ""
        self.allowed_ms = math.inf
        self.late = False
        self._clock = clock
        self._due_ms = math.inf
        self._asleep_until_ms = math.inf
        self._timer: asyncio.Task[None] | None = None

    def expect(self, stage: str, within_ms: float) -> None:
        """From now on ``stage`` is waited for, at most ``within_ms``."""
        self.stage, self.allowed_ms = stage, within_ms
        self._due_ms = self._clock.now_ms() + within_ms
        if self._due_ms < self._asleep_until_ms:
            self.stop()
            self._asleep_until_ms = self._due_ms
            self._timer = asyncio.create_task(self._watch())

    def stop(self) -> None:
        """Nothing is waited for any more."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self._asleep_until_ms = math.inf

    async def _watch(self) -> None:
        while self._clock.now_ms() < self._due_ms:
            self._asleep_until_ms = self._due_ms
            await self._clock.sleep_until(self._due_ms)
        self.late = True
        self.scope.cancel()
