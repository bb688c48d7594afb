"""Generate and cut clauses, in one coroutine for each order: a tier's stream in, facts out."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol, cast

import anyio

from voicetui.events.base import Basis, Fact
from voicetui.events.orders import Generate
from voicetui.events.reply import (
    ClauseCut,
    FirstByte,
    GenerationCancelled,
    GenerationEnded,
    GenerationFailed,
    RequestSent,
    TimedToken,
    TokensArrived,
)
from voicetui.ports import ByteRead, Clock, Post, Requested, StageError, StreamEnded, StreamItem, Tier, TokenRead
from voicetui.reply.answer import estimated_tokens
from voicetui.reply.clauses import ClauseCutter
from voicetui.reply.http_failures import Secrets
from voicetui.reply.speakable import Speakable

__all__ = ["BATCH_MS", "Cutter", "Replier", "Sayer"]

BATCH_MS = 50.0
"""Tokens that arrive within this time are one fact."""

IDLE_WAIT_MS = 1_000.0
"""How long to watch a cancelled server become idle."""

_CLOSE_WAIT_MS = 1_000.0
_CHARS_PER_TOKEN_MAX = 12

_log = logging.getLogger(__name__)


class Cutter(Protocol):
    """Text as it comes to clauses as they are whole."""

    def feed(self, text: str) -> list[str]:
        """The clauses that ``text`` completes."""

    def close(self) -> list[str]:
        """What was still open."""


class Sayer(Protocol):
    """A clause's text to what the voice should say."""

    def spoken(self, clause: str) -> str:
        """The words to say; "" where there is nothing to say."""


class Replier:
    """Carries out ``Generate`` orders. One ``run`` per order; runs do not share state."""

    def __init__(
        self,
        clock: Clock,
        post: Post,
        cutter_factory: Callable[[], Cutter] = ClauseCutter,
        speakable_factory: Callable[[], Sayer] = Speakable,
    ) -> None:
        self._clock = clock
        self._post = post
        self._cutter_factory = cutter_factory
        self._speakable_factory = speakable_factory

    async def run(self, order: Generate, tier: Tier) -> None:
        """Stream ``tier``'s reply to ``order``: ends with ``GenerationEnded`` or ``GenerationFailed`` posted.

        When cancelled: the stream is closed, only ``GenerationCancelled`` is posted, and the cancellation goes on.
        """
        reply = _Reply(self._clock, self._post, order.basis, self._cutter_factory(), self._speakable_factory())
        reading = asyncio.create_task(self._read(reply, order, tier))
        try:
            await asyncio.wait({reading})
        except asyncio.CancelledError:
            if not reply.over:
                await self._cancelled(reply, reading, tier)
            raise
        reading.result()

    async def _read(self, reply: _Reply, order: Generate, tier: Tier) -> None:
        try:
            # the port promises an iterator with ``aclose``
            async with aclosing(cast("AsyncGenerator[StreamItem, None]", tier.stream(order.messages))) as items:
                async for item in items:
                    reply.take(item, order.tier)
            reply.end_of_stream()
        except StageError as error:
            reply.fail(error.stage or "provider", str(error), error.remedy)
        except Exception:
            _log.error("tier %s failed unexpectedly\n%s", order.tier, Secrets().mask(traceback.format_exc()))
            reply.fail("provider", f"Tier {order.tier!r} stopped for a reason of its own.",
                       "The session's log.txt has the details; try again, or choose another tier.")  # fmt: skip

    async def _cancelled(self, reply: _Reply, reading: asyncio.Task[None], tier: Tier) -> None:
        asked_ms = self._clock.now_ms()
        reply.void()
        closing = asyncio.create_task(self._close(reply, reading, tier, asked_ms))
        with anyio.CancelScope(shield=True):
            while not closing.done():
                try:
                    await asyncio.wait({closing})
                except asyncio.CancelledError:
                    continue  # already on our way out, and bounded

    async def _close(self, reply: _Reply, reading: asyncio.Task[None], tier: Tier, asked_ms: float) -> None:
        reading.cancel()
        await self._within(_CLOSE_WAIT_MS, reading)
        closed_ms = self._clock.now_ms() - asked_ms
        idle_ms: float | None = None
        watching = asyncio.ensure_future(tier.idle_ms(IDLE_WAIT_MS))
        if await self._within(IDLE_WAIT_MS * 1.5, watching):
            try:
                seen_ms = watching.result()
                idle_ms = None if seen_ms is None else closed_ms + seen_ms
            except Exception:
                _log.warning("whether %s is idle could not be seen", tier.name, exc_info=True)
        self._post(GenerationCancelled(reply.basis, reply.token_count, closed_ms, idle_ms), asked_ms + closed_ms)

    async def _within(self, ms: float, work: asyncio.Future[float | None] | asyncio.Future[None]) -> bool:
        """Wait for ``work``, at most ``ms``; then cancel it. Whether it ended by itself."""
        timer = asyncio.ensure_future(self._clock.sleep_until(self._clock.now_ms() + ms))
        try:
            await asyncio.wait({work, timer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
        if not work.done():
            work.cancel()
            return False
        return not work.cancelled()


class _Reply:
    """The facts of one reply, in order: a clause never before the tokens it was cut from."""

    def __init__(self, clock: Clock, post: Post, basis: Basis, cutter: Cutter, sayer: Sayer) -> None:
        self.basis = basis
        self.over = False
        self._clock = clock
        self._post_fact = post
        self._cutter = cutter
        self._sayer = sayer
        self._batch: list[TimedToken] = []
        self._reasoning = False
        self._flusher: asyncio.Task[None] | None = None
        self._answered = False
        self._pieces = 0
        self._chars = 0
        self._wide = 0
        self._clauses = 0
        self._tier = ""

    @property
    def token_count(self) -> int:
        """How many tokens arrived: the pieces, or a guess where pieces are much longer than tokens are."""
        if self._chars > self._pieces * _CHARS_PER_TOKEN_MAX:
            return estimated_tokens(self._chars, self._wide)
        return self._pieces

    def take(self, item: StreamItem, tier: str) -> None:
        """Post what ``item`` means."""
        if isinstance(item, TokenRead):
            self._token(item)
        elif isinstance(item, Requested):
            sent = RequestSent(self.basis, tier, item.connection, item.connect_ms, item.tries)
            self._post(sent, item.at_ms)
        elif isinstance(item, ByteRead):
            self._post(FirstByte(self.basis), item.at_ms)
        else:
            self._end(item)

    def end_of_stream(self) -> None:
        """A stream that ended without saying how was cut short."""
        if not self.over:
            note = "the tier did not say how the stream ended"
            self._end(StreamEnded("truncated", None, self.token_count, estimated=True, note=note))

    def fail(self, stage: str, message: str, remedy: str) -> None:
        """The tier gave up. What has arrived stands, but no clause is made of an unfinished rest."""
        if not self.over:
            self._flush()
            self._post(GenerationFailed(self.basis, stage, message, remedy), self._clock.now_ms())
            self.over = True

    def void(self) -> None:
        """From here on nothing is posted."""
        self.over = True
        self._stop_flusher()

    def _token(self, token: TokenRead) -> None:
        self._pieces += 1
        self._chars += len(token.text)
        self._wide += sum(character > "\u2e7f" for character in token.text)
        if self._batch and (token.reasoning != self._reasoning or token.at_ms - self._batch[0].at_ms > BATCH_MS):
            self._flush()
        self._reasoning = token.reasoning
        first = self._pieces == 1 or (not token.reasoning and not self._answered)
        self._answered |= not token.reasoning and not token.text.isspace()
        self._batch.append(TimedToken(token.text, token.at_ms))
        if first:
            self._flush()
        elif self._flusher is None:
            self._flusher = asyncio.create_task(self._flush_at(self._batch[0].at_ms + BATCH_MS))
        if not token.reasoning:
            self._cut(self._cutter.feed(token.text))

    def _cut(self, clauses: list[str]) -> None:
        for text in clauses:
            self._flush()
            fact = ClauseCut(self.basis, self._clauses, text, self._sayer.spoken(text))
            self._clauses += 1
            self._post(fact, self._clock.now_ms())

    def _end(self, end: StreamEnded) -> None:
        self._flush()
        self._cut(self._cutter.close())
        outcome = "empty" if end.outcome == "complete" and not self._answered else end.outcome
        fact = GenerationEnded(
            self.basis, outcome, self._clauses, end.prompt_tokens, end.completion_tokens,
            end.estimated, end.cached_tokens, end.note, end.unseen_tokens,
        )  # fmt: skip
        self._post(fact, self._clock.now_ms())
        self.over = True

    async def _flush_at(self, due_ms: float) -> None:
        await self._clock.sleep_until(due_ms)
        self._flusher = None
        self._flush()

    def _flush(self) -> None:
        self._stop_flusher()
        if self._batch:
            tokens, self._batch = tuple(self._batch), []
            self._post(TokensArrived(self.basis, tokens, self._reasoning), tokens[-1].at_ms)

    def _stop_flusher(self) -> None:
        if self._flusher:
            self._flusher.cancel()
            self._flusher = None

    def _post(self, fact: Fact, at_ms: float) -> None:
        if not self.over:
            self._post_fact(fact, at_ms)
