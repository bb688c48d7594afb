"""What every tier must do, whatever is behind it: one suite over the simulated, the HTTP and the embedded one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import cast

import pytest
from mock_llm import MockLlm, Reply, answer

from voicetui.events.orders import Message
from voicetui.ports import ByteRead, Clock, Requested, StreamEnded, StreamItem, Tier, TokenRead
from voicetui.reply.local_tier import LocalTier
from voicetui.reply.openai_tier import OpenAiTier
from voicetui.reply.ready_made_tier import ReadyMadeTier
from voicetui.reply.simulated_tier import SimulatedTier
from voicetui.runtime.clock import SystemClock

pytestmark = pytest.mark.anyio

SYSTEM = "You are a friendly phone assistant. Answer in one or two short spoken sentences."
ASKED = (Message("system", SYSTEM), Message("user", "What is the capital of France?"))
WORDS = ("The", " capital", " of", " France", " is", " Paris", ".")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One loop for the module, as the tier lives through all its tests."""
    return "asyncio"


@pytest.fixture(scope="module")
def clock() -> Clock:
    return SystemClock()


@pytest.fixture(
    scope="module", params=["simulated", "ready-made", "openai", pytest.param("local", marks=pytest.mark.models)]
)
async def tier(request: pytest.FixtureRequest, clock: Clock, anyio_backend: str) -> AsyncIterator[Tier]:
    if request.param == "simulated":
        yield SimulatedTier(clock, "t", ttft_p50_ms=20, ttft_p95_ms=40, tokens_per_second=500, replies=["".join(WORDS)])
    elif request.param == "ready-made":
        yield ReadyMadeTier(clock, ["".join(WORDS)], "t")
    elif request.param == "openai":
        async with MockLlm(Reply([answer(*WORDS)])) as server:
            http = OpenAiTier(clock, "t", "m", server.url)
            yield http
            await http.close()
    else:
        local = LocalTier(clock, "t", "m", request.getfixturevalue("gguf_path"), system_prompt=SYSTEM, max_tokens=24)
        yield local
        await local.close()


def stream(tier: Tier) -> AsyncGenerator[StreamItem, None]:
    return cast("AsyncGenerator[StreamItem, None]", tier.stream(ASKED))


async def collect(tier: Tier) -> list[StreamItem]:
    async with aclosing(stream(tier)) as items:
        return [item async for item in items]


async def test_it_says_what_it_is(tier: Tier) -> None:
    assert (tier.name, bool(tier.model)) == ("t", True)
    assert tier.kind in ("simulated", "openai", "local")
    assert tier.simulated is (tier.kind == "simulated")


async def test_warming_tells_how_long_it_took(tier: Tier) -> None:
    assert await tier.warm() >= 0


async def test_items_come_in_order_and_end_once(tier: Tier) -> None:
    items = await collect(tier)
    kinds = [type(item) for item in items]
    assert kinds[:2] == [Requested, ByteRead]
    assert set(kinds[2:-1]) == {TokenRead}
    assert kinds[-1] is StreamEnded


async def test_times_never_run_backwards_and_are_the_clocks(tier: Tier, clock: Clock) -> None:
    before_ms = clock.now_ms()
    times = [item.at_ms for item in await collect(tier) if not isinstance(item, StreamEnded)]
    assert times == sorted(times)
    assert before_ms <= times[0]
    assert times[-1] <= clock.now_ms()


async def test_tokens_are_never_empty_and_make_words(tier: Tier) -> None:
    texts = [item.text for item in await collect(tier) if isinstance(item, TokenRead)]
    assert all(texts)
    assert len("".join(texts).split()) > 3


async def test_the_end_counts_tokens(tier: Tier) -> None:
    end = (await collect(tier))[-1]
    assert isinstance(end, StreamEnded)
    assert end.outcome in ("complete", "length")
    assert end.completion_tokens is not None
    assert end.completion_tokens >= len(WORDS) - 1
    assert (end.prompt_tokens or 0) > 5


async def test_closing_midway_stops_it_and_the_next_stream_is_whole(tier: Tier) -> None:
    items = stream(tier)
    while not isinstance(await anext(items), TokenRead):
        pass
    await items.aclose()
    assert [item async for item in items] == []
    idle_ms = await tier.idle_ms(5_000)
    assert idle_ms is None or 0 <= idle_ms <= 5_000
    assert isinstance((await collect(tier))[-1], StreamEnded)


async def test_cancelling_the_reader_ends_at_once(tier: Tier) -> None:
    started = asyncio.Event()

    async def read() -> None:
        async with aclosing(stream(tier)) as items:
            async for _ in items:
                started.set()

    reading = asyncio.create_task(read())
    await started.wait()
    reading.cancel()
    await asyncio.wait({reading})
    assert reading.cancelled()
    assert isinstance((await collect(tier))[-1], StreamEnded)


async def test_working_ahead_changes_no_words_and_counts_up(tier: Tier) -> None:
    plain = [item.text for item in await collect(tier) if isinstance(item, TokenRead)]
    done = [step async for step in tier.prewarm((*ASKED[:-1], Message("user", "What is the")))]
    assert [step.new_tokens for step in done] == sorted(step.new_tokens for step in done)
    assert [item.text for item in await collect(tier) if isinstance(item, TokenRead)] == plain


async def test_the_same_words_for_the_same_messages(tier: Tier) -> None:
    first, second = [[item.text for item in await collect(tier) if isinstance(item, TokenRead)] for _ in range(2)]
    assert "".join(first) == "".join(second)


async def test_closing_twice_is_allowed(tier: Tier) -> None:
    await tier.close()
    await tier.close()
