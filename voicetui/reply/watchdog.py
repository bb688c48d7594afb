"""Deadlines: how long to wait for what, and one that moves with what is waited for."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

import anyio

from voicetui.ports import Clock


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long to wait for what, in ms.

    ``headers_ms`` counts from the request; ``first_content_ms`` from the headers, and only text (also reasoning) meets
    it; ``idle_ms`` is the longest silence after the first text. A stream that then only pings is given up after another
    ``first_content_ms``. ``finish_ms`` is how long usage and end mark may come after the finish reason, ``drain_ms``
    how long the connection may take to end after the end mark. ``retry_ms`` is what waiting for a busy server may
    cost in all.
    """

    connect_ms: float = 5_000.0
    headers_ms: float = 15_000.0
    first_content_ms: float = 20_000.0
    idle_ms: float = 10_000.0
    finish_ms: float = 1_000.0
    drain_ms: float = 100.0
    retry_ms: float = 5_000.0


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
        """From now on ``stage`` is waited for, at most ``within_ms``. Too late once ``late``."""
        if self.late:
            return
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
