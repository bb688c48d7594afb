"""The simulated tier: the words of its script, at the pace it was given, the same every time."""

from __future__ import annotations

import asyncio
import itertools
import statistics
from contextlib import aclosing

import pytest

from voicetui.events.orders import Message
from voicetui.ports import ByteRead, Requested, StageError, StreamEnded, StreamItem, TokenRead
from voicetui.reply.simulated_tier import SimulatedFault, SimulatedTier, pieces_of
from voicetui.runtime.clock import ManualClock, settle

pytestmark = pytest.mark.anyio

HELLO = (Message("user", "Hello?"),)


async def collect(clock: ManualClock, tier: SimulatedTier, messages: tuple[Message, ...] = HELLO) -> list[StreamItem]:
    found: list[StreamItem] = []

    async def read() -> None:
        async with aclosing(tier.stream(messages)) as items:
            async for item in items:
                found.append(item)  # noqa: PERF401 -- kept also when the stream fails

    reading = asyncio.create_task(read())
    try:
        while not reading.done():
            await clock.advance(5_000)
        reading.result()
    except StageError as error:
        error.add_note(text_of(found))
        raise
    return found


def text_of(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TokenRead) and not item.reasoning)


def ttft_ms(items: list[StreamItem]) -> float:
    first = next(item for item in items if isinstance(item, TokenRead))
    sent = next(item for item in items if isinstance(item, Requested))
    return first.at_ms - sent.at_ms


async def test_the_first_token_comes_at_the_chosen_quantiles() -> None:
    clock = ManualClock()
    tier = SimulatedTier(clock, "t", replies=["Yes."], ttft_p50_ms=120, ttft_p95_ms=300, seed=1)
    times = [ttft_ms(await collect(clock, tier)) for _ in range(600)]
    assert statistics.median(times) == pytest.approx(120, rel=0.1)
    assert statistics.quantiles(times, n=20)[-1] == pytest.approx(300, rel=0.15)
    assert min(times) > 0


async def test_equal_quantiles_give_one_time() -> None:
    clock = ManualClock()
    tier = SimulatedTier(clock, "t", ttft_p50_ms=80, ttft_p95_ms=80)
    assert [ttft_ms(await collect(clock, tier)) for _ in range(3)] == pytest.approx([80, 80, 80])


@pytest.mark.parametrize("rate", [20.0, 750.0])
async def test_tokens_come_at_the_chosen_rate(rate: float) -> None:
    clock = ManualClock()
    tier = SimulatedTier(clock, "t", replies=["word " * 100], tokens_per_second=rate)
    times = [item.at_ms for item in await collect(clock, tier) if isinstance(item, TokenRead)]
    assert (len(times) - 1) / (times[-1] - times[0]) * 1e3 == pytest.approx(rate)


async def test_the_same_seed_gives_the_same_times_and_another_one_does_not() -> None:
    async def times(seed: int) -> list[float]:
        clock = ManualClock()
        tier = SimulatedTier(clock, "t", seed=seed)
        return [ttft_ms(await collect(clock, tier)) for _ in range(5)]

    assert await times(7) == await times(7)
    assert await times(7) != await times(8)


async def test_scripted_words_answer_what_they_match_and_the_rest_come_in_turn() -> None:
    clock = ManualClock()
    tier = SimulatedTier(clock, "t", script=[("weather", "Sunny."), ("wea", "Never.")], replies=["One.", "Two."])
    first, second = Message("user", "Hi"), Message("user", "And?")
    said = Message("assistant", "One.")
    assert text_of(await collect(clock, tier, (Message("user", "What WEATHER today?"),))) == "Sunny."
    assert text_of(await collect(clock, tier, (first,))) == "One."
    assert text_of(await collect(clock, tier, (first, said, second))) == "Two."
    assert text_of(await collect(clock, tier, (first,))) == "One."
    assert text_of(await collect(clock, tier, (first, said, second, said, second))) == "One."


async def test_items_come_in_order_with_counts() -> None:
    clock = ManualClock()
    tier = SimulatedTier(clock, "t", replies=["Yes, of course."], reasoning="Let me see.")
    items = await collect(clock, tier)
    assert [type(item) for item in items[:2]] == [Requested, ByteRead]
    thought = [item.text for item in items if isinstance(item, TokenRead) and item.reasoning]
    assert ("".join(thought), text_of(items)) == ("Let me see.", "Yes, of course.")
    end = items[-1]
    assert isinstance(end, StreamEnded)
    assert (end.outcome, end.completion_tokens, end.estimated) == ("complete", len(items) - 3, False)


async def test_a_token_limit_ends_the_reply() -> None:
    clock = ManualClock()
    items = await collect(clock, SimulatedTier(clock, "t", replies=["one two three four"], max_tokens=2))
    assert text_of(items) == "one two"
    assert items[-1].outcome == "length"  # type: ignore[union-attr]


async def test_faults_come_in_turn_and_then_all_is_well() -> None:
    clock = ManualClock()
    tier = SimulatedTier(
        clock, "t", replies=["one two three"], tokens_per_second=100, ttft_p50_ms=50, ttft_p95_ms=50,
        faults=[SimulatedFault("fail", 2, stage="idle", message="gone"), SimulatedFault("truncate", 1), None,
                SimulatedFault("stall", 1, ms=4_000), SimulatedFault("empty"), SimulatedFault("fail")],
    )  # fmt: skip
    with pytest.raises(StageError, match="gone") as caught:
        await collect(clock, tier)
    assert (caught.value.stage, caught.value.__notes__) == ("idle", ["one two"])
    cut = await collect(clock, tier)
    assert (text_of(cut), cut[-1].outcome) == ("one", "truncated")  # type: ignore[union-attr]
    assert text_of(await collect(clock, tier)) == "one two three"
    stalled = [item.at_ms for item in await collect(clock, tier) if isinstance(item, TokenRead)]
    assert [b - a for a, b in itertools.pairwise(stalled)] == pytest.approx([4_010, 10])
    assert (await collect(clock, tier))[-1] == StreamEnded("empty", 6, 0, note="the answer is empty")
    with pytest.raises(StageError) as caught:
        await collect(clock, tier)
    assert caught.value.__notes__ == [""]
    assert text_of(await collect(clock, tier)) == "one two three"


async def test_closing_stops_it() -> None:
    clock = ManualClock()
    tier = SimulatedTier(clock, "t", replies=["one two three"])
    stream = tier.stream(HELLO)
    await anext(stream)
    await stream.aclose()
    await settle()
    assert [item async for item in stream] == []


@pytest.mark.parametrize("text", ["", " ", "Hello, wörld!  It's 9:30…\n", "今天天气真好。", "supercalifragilistic"])
async def test_pieces_join_to_the_text_again(text: str) -> None:
    assert "".join(pieces_of(text)) == text
    assert "" not in pieces_of(text)


@pytest.mark.parametrize("times", [(0, 10), (20, 10), (float("nan"), 10), (10, float("inf"))])
async def test_impossible_times_are_refused(times: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="p50"):
        SimulatedTier(ManualClock(), "t", ttft_p50_ms=times[0], ttft_p95_ms=times[1])


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf")])
async def test_impossible_rates_are_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="tokens_per_second"):
        SimulatedTier(ManualClock(), "t", tokens_per_second=rate)
