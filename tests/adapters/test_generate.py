"""Generating and cutting clauses: which facts come, in what order, with which times, and what a cancel leaves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import anyio
import pytest

from voicetui.events.base import Basis, Fact
from voicetui.events.orders import Generate, Message
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
from voicetui.ports import ByteRead, Clock, Requested, StageError, StreamEnded, StreamItem, TokenRead
from voicetui.reply.generate import Replier
from voicetui.reply.simulated_tier import SimulatedFault, SimulatedTier
from voicetui.runtime.clock import ManualClock, settle

pytestmark = pytest.mark.anyio

BASIS = Basis(3, 1, 2)
ORDER = Generate(BASIS, "t", (Message("user", "Hello?"),), speculative=False)
END = StreamEnded("complete", 10, 5)


class Cutter:
    """A clause ends with a full stop."""

    def __init__(self) -> None:
        self._open = ""

    def feed(self, text: str) -> list[str]:
        *whole, self._open = (self._open + text).split(".")
        return [clause + "." for clause in whole]

    def close(self) -> list[str]:
        rest, self._open = self._open, ""
        return [rest] if rest.strip() else []


class Sayer:
    def spoken(self, clause: str) -> str:
        return clause.strip().upper()


class TimedTier:
    """Yields items at given times; an exception is raised."""

    name, kind, model, simulated = "t", "timed", "m", True

    def __init__(
        self, clock: Clock, *steps: tuple[float, StreamItem | Exception], idle_ms: float | None = None
    ) -> None:
        self.closed_after_ms = 0.0
        self.is_closed = False
        self._clock = clock
        self._steps = steps
        self._idle_ms = idle_ms

    async def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[StreamItem, None]:
        try:
            for at_ms, item in self._steps:
                await self._clock.sleep_until(at_ms)
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            with anyio.CancelScope(shield=True):
                await self._clock.sleep_until(self._clock.now_ms() + self.closed_after_ms)
            self.is_closed = True

    async def warm(self) -> float:
        return 0.0

    async def idle_ms(self, timeout_ms: float) -> float | None:
        if self._idle_ms is None:
            return None
        await self._clock.sleep_until(self._clock.now_ms() + self._idle_ms)
        return self._idle_ms

    async def close(self) -> None: ...


class Posted(list[tuple[float, float, Fact]]):
    """(when posted, source time, fact)."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __call__(self, fact: Fact, at_ms: float) -> None:
        self.append((self._clock.now_ms(), at_ms, fact))

    def of(self, *kinds: type[Any]) -> list[Any]:
        return [fact for _, _, fact in self if isinstance(fact, kinds)]


def token(at_ms: float, text: str, reasoning: bool = False) -> tuple[float, TokenRead]:
    return at_ms, TokenRead(text, at_ms, reasoning)


async def run(*steps: tuple[float, StreamItem | Exception]) -> Posted:
    clock = ManualClock()
    posted = Posted(clock)
    running = asyncio.create_task(Replier(clock, posted, Cutter, Sayer).run(ORDER, TimedTier(clock, *steps)))
    while not running.done():
        await clock.advance(10)
    running.result()
    return posted


def start(*steps: tuple[float, StreamItem | Exception], idle_ms: float | None = None) -> tuple[Any, ...]:
    clock = ManualClock()
    posted = Posted(clock)
    tier = TimedTier(clock, *steps, idle_ms=idle_ms)
    return clock, posted, tier, asyncio.create_task(Replier(clock, posted, Cutter, Sayer).run(ORDER, tier))


async def test_a_reply_is_told_in_order_with_the_times_of_its_sources() -> None:
    posted = await run(
        (3, Requested(3, "new", 2.5)),
        (40, ByteRead(40)),
        token(50, "Hi"),
        token(60, " you."),
        token(70, " Bye"),
        (90, END),
    )
    assert [(at, fact) for _, at, fact in posted] == [
        (3, RequestSent(BASIS, "t", "new", 2.5, 1)),
        (40, FirstByte(BASIS)),
        (50, TokensArrived(BASIS, (TimedToken("Hi", 50),))),
        (60, TokensArrived(BASIS, (TimedToken(" you.", 60),))),
        (60, ClauseCut(BASIS, 0, "Hi you.", "HI YOU.")),
        (70, TokensArrived(BASIS, (TimedToken(" Bye", 70),))),
        (90, ClauseCut(BASIS, 1, " Bye", "BYE")),
        (90, GenerationEnded(BASIS, "complete", 2, 10, 5, False)),
    ]


async def test_the_first_answer_token_is_told_at_once_and_the_rest_in_batches_of_50_ms() -> None:
    times = [100.0 + 10 * step for step in range(30)]
    posted = await run(*(token(at, "a ") for at in times), (400, END))
    batches = [(now, fact) for now, _, fact in posted if isinstance(fact, TokensArrived)]
    assert (batches[0][0], len(batches[0][1].tokens)) == (100, 1)
    assert [token.at_ms for _, fact in batches for token in fact.tokens] == times
    for now, fact in batches:
        assert fact.tokens[-1].at_ms - fact.tokens[0].at_ms <= 50
        assert now - fact.tokens[0].at_ms <= 50
    assert len(batches) <= 1 + 300 / 50 + 1


async def test_blanks_before_the_answer_do_not_delay_its_first_word() -> None:
    posted = await run(token(0, "\n"), token(10, " "), token(20, "Yes."), (90, END))
    assert [now for now, _, fact in posted if isinstance(fact, TokensArrived)] == [0, 10, 20]


async def test_only_blanks_are_an_empty_answer() -> None:
    (ended,) = (await run(token(0, "\n"), (5, END))).of(GenerationEnded)
    assert ended.outcome == "empty"


async def test_a_batch_does_not_wait_for_a_stalled_stream() -> None:
    posted = await run(token(0, "a"), token(10, "b"), token(5_000, "c"), (5_000, END))
    (when,) = [now for now, _, fact in posted if isinstance(fact, TokensArrived) and fact.tokens[0].text == "b"]
    assert when == 60


async def test_reasoning_is_told_apart_and_never_cut_into_clauses() -> None:
    posted = await run(token(0, "Let me. ", True), token(10, "Think. ", True), token(20, "Yes."), (30, END))
    assert [(fact.reasoning, "".join(t.text for t in fact.tokens)) for fact in posted.of(TokensArrived)] == [
        (True, "Let me. "),
        (True, "Think. "),
        (False, "Yes."),
    ]
    assert [fact.text for fact in posted.of(ClauseCut)] == ["Yes."]
    assert [now for now, _, fact in posted if isinstance(fact, TokensArrived) and not fact.reasoning] == [20]


async def test_a_clause_never_comes_before_its_tokens() -> None:
    posted = await run(
        *(token(float(step), text) for step, text in enumerate(["One", ".", " Two", ".", " Three."])), (9, END)
    )
    told = ""
    for _, _, fact in posted:
        if isinstance(fact, TokensArrived):
            told += "".join(piece.text for piece in fact.tokens)
        if isinstance(fact, ClauseCut):
            assert told.rstrip().endswith(fact.text.strip())
    assert [fact.text for fact in posted.of(ClauseCut)] == ["One.", " Two.", " Three."]


async def test_a_truncated_stream_keeps_what_came() -> None:
    posted = await run(token(0, "One. Tw"), (10, StreamEnded("truncated", None, 2, estimated=True, note="cut")))
    assert [fact.text for fact in posted.of(ClauseCut)] == ["One.", " Tw"]
    assert posted.of(GenerationEnded) == [GenerationEnded(BASIS, "truncated", 2, None, 2, True, note="cut")]


async def test_a_stream_without_an_end_counts_as_truncated() -> None:
    (ended,) = (await run(token(0, "One."))).of(GenerationEnded)
    assert (ended.outcome, ended.completion_tokens, ended.estimated) == ("truncated", 1, True)


async def test_a_complete_stream_with_no_answer_is_empty() -> None:
    (ended,) = (await run(token(0, "hm", True), (5, END))).of(GenerationEnded)
    assert (ended.outcome, ended.clauses) == ("empty", 0)


async def test_a_failing_tier_is_told_with_its_sentence_and_remedy() -> None:
    posted = await run(token(0, "One. Tw"), (10, StageError("the server is down", "start it", "idle")))
    assert [fact.text for fact in posted.of(ClauseCut)] == ["One."]
    assert posted[-1][1:] == (10, GenerationFailed(BASIS, "idle", "the server is down", "start it"))
    assert posted.of(GenerationEnded) == []


async def test_an_unexpected_error_becomes_a_sentence_and_its_details_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        posted = await run(token(0, "One."), (10, KeyError("sk-secret-internals")))
    (failed,) = posted.of(GenerationFailed)
    assert "sk-secret" not in failed.message + failed.remedy
    assert "log" in failed.remedy
    assert "KeyError" in caplog.text


async def test_cancelling_closes_the_stream_and_tells_only_that() -> None:
    clock, posted, tier, running = start(
        (0, Requested(0, "new")), token(10, "One. "), token(20, "Two"), token(9_000, "late"), idle_ms=30
    )
    tier.closed_after_ms = 7
    await clock.advance(25)
    before = len(posted)
    running.cancel()
    await clock.advance(20_000)
    assert running.cancelled()
    assert tier.is_closed
    assert [(at, fact) for _, at, fact in posted[before:]] == [(32, GenerationCancelled(BASIS, 2, 7, 37))]


async def test_cancelling_again_while_closing_changes_nothing() -> None:
    clock, posted, tier, running = start(token(0, "One"), token(9_000, "late"), idle_ms=30)
    tier.closed_after_ms = 20
    await clock.advance(10)
    for _ in range(3):
        running.cancel()
        await clock.advance(5)
    await clock.advance(100)
    assert running.cancelled()
    assert len(posted.of(GenerationCancelled)) == 1


async def test_a_cancelled_scope_lets_the_closing_finish() -> None:
    clock = ManualClock()
    posted = Posted(clock)
    tier = TimedTier(clock, token(0, "One"), token(9_000, "late"), idle_ms=30)
    tier.closed_after_ms = 20

    async def scoped() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(Replier(clock, posted, Cutter, Sayer).run, ORDER, tier)
            await clock.sleep_until(50)
            group.cancel_scope.cancel()

    running = asyncio.create_task(scoped())
    await clock.advance(200)
    assert running.done()
    assert posted.of(GenerationCancelled) == [GenerationCancelled(BASIS, 1, 20, 50)]


async def test_a_server_that_will_not_close_or_idle_does_not_hold_a_cancel_for_ever() -> None:
    clock, posted, tier, running = start(token(0, "One"), token(9_000, "late"), idle_ms=100_000)
    tier.closed_after_ms = 100_000
    await clock.advance(10)
    running.cancel()
    await clock.advance(3_000)
    assert running.cancelled()
    assert posted.of(GenerationCancelled) == [GenerationCancelled(BASIS, 1, 1_000, None)]


async def test_cancelling_before_the_first_step_still_ends_in_order() -> None:
    _, posted, _, running = start(token(5, "One"))
    await settle(1)
    running.cancel()
    await settle()
    assert running.cancelled()
    assert posted.of(GenerationCancelled) == [GenerationCancelled(BASIS, 0, 0, None)]
    assert len(posted) == 1


async def test_cancelling_after_the_end_tells_nothing() -> None:
    clock, posted, tier, running = start(token(0, "One."), (1, END))
    tier.closed_after_ms = 50
    await clock.advance(10)
    assert len(posted.of(GenerationEnded)) == 1
    running.cancel()
    await clock.advance(100)
    assert posted.of(GenerationCancelled) == []


async def test_long_pieces_are_counted_as_several_tokens() -> None:
    clock, posted, _, running = start(token(0, "a piece of text that holds several tokens at once "))
    await clock.advance(1)
    assert posted.of(GenerationEnded)[0].completion_tokens > 5
    await running


async def test_two_hundred_cancels_leave_no_task_behind() -> None:
    clock = ManualClock()
    posted = Posted(clock)
    tier = SimulatedTier(clock, "t", ttft_p50_ms=20, ttft_p95_ms=200, tokens_per_second=200)
    replier = Replier(clock, posted, Cutter, Sayer)
    tasks = len(asyncio.all_tasks())
    for cycle in range(200):
        running = asyncio.create_task(replier.run(ORDER, tier))
        await clock.advance((cycle * 37) % 300)
        running.cancel()
        await settle()
        assert running.done()
    assert len(asyncio.all_tasks()) == tasks
    last = asyncio.create_task(replier.run(ORDER, tier))
    await clock.advance(5_000)
    assert last.done()
    assert isinstance(posted[-1][2], GenerationEnded)


@pytest.mark.parametrize("kinds", [None, (Cutter, Sayer)])
async def test_every_word_of_a_reply_is_in_its_clauses(kinds: Sequence[Any] | None) -> None:
    clock = ManualClock()
    posted = Posted(clock)
    text = "Sure, I can help with that. It costs $4.50, tax included! Shall we go on?"
    tier = SimulatedTier(clock, "t", replies=[text], faults=[SimulatedFault("stall", 5, 700)])
    running = asyncio.create_task(Replier(clock, posted, *(kinds or ())).run(ORDER, tier))
    await clock.advance(10_000)
    await running
    assert "".join(fact.text for fact in posted.of(ClauseCut)).split() == text.split()
    assert "".join(t.text for fact in posted.of(TokensArrived) for t in fact.tokens) == text
