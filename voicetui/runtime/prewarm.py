"""Carrying out ``Prewarm`` orders: one at a time, and none beside a reply that is wanted."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Container, Coroutine, Mapping
from contextlib import aclosing
from typing import Any, Literal, cast

import anyio

from voicetui.events.orders import Prewarm
from voicetui.events.reply import PrewarmEnded
from voicetui.ports import Clock, Post, Prefilled, StageError, Tier

_log = logging.getLogger(__name__)


class Prewarmer:
    """Lets a tier work ahead until the next order, or until ``stop``."""

    def __init__(
        self,
        tiers: Mapping[str, Tier],
        ready: Container[str],
        clock: Clock,
        post: Post,
        start: Callable[[Callable[[], Coroutine[Any, Any, None]], str], None],
    ) -> None:
        """``ready`` are the names of the tiers that are warm by now; the others do nothing ahead. ``start`` a task."""
        self._tiers = tiers
        self._ready = ready
        self._clock = clock
        self._post = post
        self._start = start
        self._running: tuple[Prewarm, anyio.CancelScope] | None = None

    def start(self, order: Prewarm) -> None:
        """Carry out an order; the one before it ends, unless that is at the very same: then it goes on for both."""
        if self._running is not None and _same(self._running[0], order):
            now_ms = self._clock.now_ms()
            self._post(PrewarmEnded(order.prewarm, order.turn, "done", now_ms), now_ms)
            return
        self.stop()
        running = self._running = (order, anyio.CancelScope())
        self._start(lambda: self._run(*running), f"prewarm {order.why}")

    def stop(self) -> None:
        """End what is being done ahead: the tier is needed."""
        if self._running is not None:
            self._running[1].cancel()
            self._running = None

    async def _run(self, order: Prewarm, scope: anyio.CancelScope) -> None:
        started_ms, done, note = self._clock.now_ms(), Prefilled(), ""
        outcome: Literal["done", "cancelled", "failed"] = "cancelled"
        try:
            with scope:
                tier = self._tiers.get(order.tier)
                if tier is not None and order.tier in self._ready:
                    # the port promises an iterator with ``aclose``
                    steps = cast("AsyncGenerator[Prefilled, None]", tier.prewarm(order.messages))
                    async with aclosing(steps):
                        async for step in steps:
                            done = step
                outcome = "done"
        except StageError as error:
            outcome, note = "failed", str(error)
            _log.info("working ahead failed: %s", error)
        except Exception as error:
            outcome, note = "failed", f"it stopped for a reason of its own ({type(error).__name__})"
            _log.exception("working ahead failed")
        if self._running is not None and self._running[0] is order:
            self._running = None
        ended = PrewarmEnded(
            order.prewarm, order.turn, outcome, started_ms, done.new_tokens, done.cached_tokens, done.connection, note
        )
        self._post(ended, self._clock.now_ms())


def _same(one: Prewarm, other: Prewarm) -> bool:
    return (one.tier, one.messages) == (other.tier, other.messages)
