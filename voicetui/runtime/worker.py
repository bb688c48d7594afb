"""Session-owned workers: one thread for each blocking model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from voicetui.ports import Clock

T = TypeVar("T")


class JobRunner(Protocol):
    """Where a model's blocking jobs run."""

    async def run(self, job: Callable[[float], T]) -> T:
        """Run ``job(waited_ms)`` and return what it returns."""

    def close(self) -> None:
        """Let no new job start."""


class Worker:
    """One thread that runs a model's jobs in the order they were given.

    Jobs check themselves whether they are still wanted.
    """

    def __init__(self, name: str, clock: Clock) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._clock = clock

    async def run(self, job: Callable[[float], T]) -> T:
        """Run ``job(waited_ms)`` on the thread; ``waited_ms`` is how long it stood in the queue.

        Cancelling only stops the waiting.
        """
        asked_ms = self._clock.now_ms()

        def timed() -> T:
            return job(self._clock.now_ms() - asked_ms)

        return await asyncio.get_running_loop().run_in_executor(self._pool, timed)

    def close(self) -> None:
        """Let no new job start. A running one is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)
