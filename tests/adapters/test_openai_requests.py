"""What an OpenAI-compatible tier sends, over which connections, and how it adapts to what a server refuses."""

from __future__ import annotations

import json

import pytest
from asking import collect, spoken
from mock_llm import MockLlm, Reply, answer

from voicetui.ports import Requested
from voicetui.reply.openai_tier import OpenAiTier
from voicetui.runtime.clock import SystemClock

pytestmark = pytest.mark.anyio


async def test_connections_are_kept_and_reported() -> None:
    async with MockLlm(Reply([answer("Hi")])) as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url)
        first, second = [next(i for i in await collect(tier) if isinstance(i, Requested)) for _ in range(2)]
        await tier.close()
    assert (first.connection, second.connection, server.connections) == ("new", "reused", 1)
    assert first.connect_ms is not None
    assert first.connect_ms >= 0
    assert second.connect_ms is None


async def test_without_reuse_every_request_has_a_new_connection() -> None:
    async with MockLlm(Reply([answer("Hi")])) as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url, reuse=False)
        for _ in range(2):
            sent = [item for item in await collect(tier) if isinstance(item, Requested)]
            assert [(item.connection, item.tries) for item in sent] == [("new", 1)]
        await tier.close()
    assert "connection: close" in server.seen[0].head.lower()


async def test_the_request_is_what_was_configured() -> None:
    async with MockLlm(Reply([answer("Hi")])) as server:
        tier = OpenAiTier(
            SystemClock(),
            "t",
            "m",
            server.url + "/",
            api_key="key-123456",
            max_tokens=77,
            temperature=0.5,
            extra={"seed": 3},
        )
        await collect(tier)
        await tier.close()
    (seen,) = server.seen
    assert seen.head.startswith("POST /v1/chat/completions HTTP/1.1\r\n")
    assert "Authorization: Bearer key-123456" in seen.head
    assert seen.body == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 77,
        "temperature": 0.5,
        "seed": 3,
        "messages": [{"role": "user", "content": "Hello?"}],
    }


@pytest.mark.parametrize(
    ("said", "gone", "instead"),
    [
        ("Unrecognized request argument supplied: stream_options", "stream_options", None),
        (
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "max_tokens",
            "max_completion_tokens",
        ),
        ("'temperature' does not support 0.5 with this model", "temperature", None),
    ],
)
async def test_what_a_server_refuses_is_left_out_from_then_on(said: str, gone: str, instead: str | None) -> None:
    no = Reply(
        [json.dumps({"error": {"message": said}}).encode()], status=400, headers={"Content-Type": "application/json"}
    )
    async with MockLlm(no, Reply([answer("Hi")])) as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url, temperature=0.5)
        items = await collect(tier)
        assert spoken(items) == "Hi"
        assert [item.tries for item in items if isinstance(item, Requested)] == [1, 2]
        await collect(tier)
        await tier.close()
    assert gone in server.seen[0].body
    assert all(gone not in seen.body for seen in server.seen[1:])
    assert len(server.seen) == 3
    assert instead is None or server.seen[1].body[instead] == 256


async def test_warming_asks_for_little_and_measures() -> None:
    async with MockLlm(Reply([answer("Hi")])) as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url)
        assert await tier.warm() > 0
        items = await collect(tier)
        await tier.close()
    assert server.seen[0].body["max_tokens"] < 20
    assert next(item for item in items if isinstance(item, Requested)).connection == "reused"
