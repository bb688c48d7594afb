"""A remote tier works ahead by having a connection open: never by a request that could be billed."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from asking import ASKED, collect
from mock_llm import MockLlm, Reply, answer

from voicetui.ports import Prefilled, Requested, StageError
from voicetui.reply.openai_tier import OpenAiTier
from voicetui.reply.prefill import fill_cache
from voicetui.runtime.clock import ManualClock

pytestmark = pytest.mark.anyio


async def ahead(tier: OpenAiTier) -> list[Prefilled]:
    return [step async for step in tier.prewarm(ASKED)]


async def test_the_request_finds_a_connection_that_was_opened_for_nothing_billable() -> None:
    async with MockLlm(Reply([answer("Hello.")])) as server:
        tier = OpenAiTier(ManualClock(), "t", "m", server.url, api_key="sk-secret-12345")
        assert await ahead(tier) == [Prefilled(connection="new")]
        (sent,) = [item for item in await collect(tier) if isinstance(item, Requested)]
        await tier.close()
    assert sent.connection == "reused"
    assert server.seen[0].head.startswith("HEAD /v1/models ")
    assert server.seen[0].body == {}


async def test_a_connection_that_was_just_used_is_left_alone() -> None:
    clock, asked = ManualClock(), []

    def serve(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        return httpx.Response(404)

    tier = OpenAiTier(clock, "t", "m", "http://127.0.0.1:1/v1", transport=httpx.MockTransport(serve))
    await ahead(tier)
    await clock.advance(3_000)
    assert await ahead(tier) == []
    await clock.advance(2_000)
    await ahead(tier)
    assert asked == ["HEAD", "HEAD"], "any answer will do"


async def test_a_server_that_is_away_is_said_without_the_key() -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused sk-secret-12345")

    transport = httpx.MockTransport(fail)
    tier = OpenAiTier(ManualClock(), "t", "m", "http://127.0.0.1:1/v1", api_key="sk-secret-12345", transport=transport)
    with pytest.raises(StageError) as caught:
        await ahead(tier)
    assert "127.0.0.1" in str(caught.value) and "secret" not in str(caught.value)


async def test_a_server_that_does_not_answer_is_given_up() -> None:
    clock = ManualClock()

    async def never(request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    tier = OpenAiTier(clock, "t", "m", "http://127.0.0.1:1/v1", transport=httpx.MockTransport(never))
    waiting = asyncio.create_task(ahead(tier))
    await clock.advance(10_000)
    with pytest.raises(StageError, match="within 5 s"):
        await waiting


async def test_a_connection_that_did_not_open_is_tried_again_at_once() -> None:
    asked: list[str] = []

    def fail(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        raise httpx.ConnectError("refused")

    tier = OpenAiTier(ManualClock(), "t", "m", "http://127.0.0.1:1/v1", transport=httpx.MockTransport(fail))
    for _ in range(2):
        with pytest.raises(StageError):
            await ahead(tier)
    assert asked == ["HEAD", "HEAD"]


async def test_a_local_server_that_never_reads_ahead_has_failed() -> None:
    clock = ManualClock()

    async def never(request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async def fill() -> list[Prefilled]:
        return [step async for step in fill_cache(client, ASKED, clock)]

    async with httpx.AsyncClient(base_url="http://127.0.0.1:1", transport=httpx.MockTransport(never)) as client:
        waiting = asyncio.create_task(fill())
        await clock.advance(21_000)
        with pytest.raises(StageError, match="within 20 s"):
            await waiting
