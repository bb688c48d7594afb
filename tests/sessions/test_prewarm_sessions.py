"""Whole sessions that work ahead: a reply never finds the tier busy with a guess, and nothing is left running."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator

import pytest

from tests.sessions.stage import Stage, TimedWords, WatchedTier, assert_ended_in_order, tone
from voicetui.events.orders import EndTurn, Generate, Message, Prewarm
from voicetui.events.reply import PrewarmEnded
from voicetui.events.session import Fault, InterruptAsked, Said
from voicetui.listen.scripted import EnergyDetector
from voicetui.ports import Clock, Prefilled, StageError
from voicetui.runtime.clock import ManualClock

QUESTION = TimedWords((1400, "What"), (1700, "time"), (2000, "is"), (2600, "it?"))


class AheadTier(WatchedTier):
    """Works ahead for ``ahead_ms`` a time, one token a millisecond, and remembers who was at work together."""

    def __init__(self, clock: Clock, *replies: str, ahead_ms: float = 120.0, broken: str = "") -> None:
        super().__init__(clock, *replies)
        self.ahead_ms = ahead_ms
        self.broken = broken
        self.alive = 0
        self.alive_at_stream: list[int] = []

    async def prewarm(self, messages: tuple[Message, ...]) -> AsyncGenerator[Prefilled, None]:
        self.alive += 1
        try:
            if self.broken == "stage":
                raise StageError("the server is gone", stage="prefill")
            if self.broken:
                raise ValueError(self.broken)
            started_ms = self.clock.now_ms()
            for done in range(0, int(self.ahead_ms), 30):
                await self.clock.sleep_until(started_ms + done)
                yield Prefilled(done, 5)
        finally:
            self.alive -= 1

    async def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[object, None]:  # type: ignore[override]
        self.alive_at_stream.append(self.alive)
        async for item in super().stream(messages):
            yield item


def session(ahead_ms: float = 120.0, broken: str = "") -> tuple[Stage, AheadTier]:
    clock = ManualClock()
    tier = AheadTier(clock, "It is noon. Time to eat.", ahead_ms=ahead_ms, broken=broken)
    stage = Stage(clock=clock, tier=tier, detector=EnergyDetector(), clips=[(1000, tone(1700))])
    stage.parts.transcriber = QUESTION
    return stage, tier


def test_what_is_said_is_worked_ahead_on_while_it_is_said() -> None:
    stage, tier = session()
    stage.run_to(8000)
    (asked,) = stage.of(Generate)
    whys = [order.why for order in stage.of(Prewarm)]
    assert (whys[0], whys[-1]) == ("speech", "history")
    assert {"words", "pause"} <= set(whys)
    for order in stage.of(Prewarm)[:-1]:
        assert asked.messages[-1].text.startswith(order.messages[-1].text)
    assert sum(fact.new_tokens for fact in stage.of(PrewarmEnded)) > 0
    assert tier.alive == 0
    assert_ended_in_order(stage)


@pytest.mark.parametrize("ahead_ms", [30, 300, 60_000])
def test_when_the_reply_is_wanted_nobody_works_ahead_any_more(ahead_ms: float) -> None:
    stage, tier = session(ahead_ms)
    stage.run_to(8000)
    assert tier.alive_at_stream == [0]
    assert tier.alive == 0
    assert [order.outcome for order in stage.of(EndTurn)] == ["completed"]
    numbers = [fact.prewarm for fact in stage.of(PrewarmEnded)]
    assert len(numbers) == len(set(numbers))


def test_a_prewarm_that_was_ended_says_how_far_it_was() -> None:
    stage, _ = session(60_000)
    stage.run_to(8000)
    ended = {fact.prewarm: fact for fact in stage.of(PrewarmEnded)}
    pause = next(order for order in stage.of(Prewarm) if order.why == "words")
    assert ended[pause.prewarm].outcome == "cancelled"
    assert ended[pause.prewarm].new_tokens > 0


@pytest.mark.parametrize("broken", ["stage", "something odd"])
def test_a_tier_that_cannot_work_ahead_still_answers(broken: str) -> None:
    stage, _ = session(broken=broken)
    stage.run_to(8000)
    assert {fact.outcome for fact in stage.of(PrewarmEnded)} == {"failed"}
    assert not stage.of(Fault)
    assert [order.outcome for order in stage.of(EndTurn)] == ["completed"]


def test_turns_cancelled_at_any_moment_never_meet_a_prewarm() -> None:
    seeded, (stage, tier) = random.Random(7), session(400)

    async def cycles() -> None:
        await stage.clock.sleep_until(4000)
        for number in range(60):
            stage.session.post(Said(f"question {number}"))
            await stage.clock.sleep_until(stage.clock.now_ms() + seeded.uniform(0, 900))
            stage.session.post(InterruptAsked())
            await stage.clock.sleep_until(stage.clock.now_ms() + seeded.uniform(0, 300))

    stage.run_to(90_000, cycles)
    assert len(tier.alive_at_stream) > 30
    assert set(tier.alive_at_stream) == {0}
    assert tier.alive == 0


def test_speech_that_begins_while_the_history_is_worked_through_does_not_begin_that_anew() -> None:
    clock = ManualClock()
    tier = AheadTier(clock, "It is noon.", ahead_ms=3000)
    stage = Stage(clock=clock, tier=tier, detector=EnergyDetector(), clips=[(4000, tone(1700))])
    stage.parts.transcriber = TimedWords()
    stage.run_to(9000, stage.post_at(Said("What time is it?"), 500))
    history, speech = stage.of(Prewarm)
    assert (history.why, speech.why) == ("history", "speech")
    outcomes = {fact.prewarm: fact.outcome for fact in stage.of(PrewarmEnded)}
    assert outcomes == {history.prewarm: "done", speech.prewarm: "done"}
