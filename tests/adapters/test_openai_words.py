"""What a person reads when an OpenAI-compatible tier fails: sentences with advice, and never a secret."""

from __future__ import annotations

import asyncio
import base64
import socket

import pytest
from asking import Paced, collect, spoken, status
from mock_llm import MockLlm, Reply, answer, sse

from voicetui.ports import StageError, StreamItem
from voicetui.reply.openai_tier import OpenAiTier
from voicetui.runtime.clock import SystemClock

pytestmark = pytest.mark.anyio


# -- what a person reads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "message", "options", "remedy"),
    [
        (401, "Incorrect API key", {"api_key": "abcdef123", "api_key_env": "FAST_API_KEY"}, "FAST_API_KEY"),
        (401, "No key", {"api_key_env": "FAST_API_KEY"}, "FAST_API_KEY is not set"),
        (403, "no access", {"api_key": "abcdef123", "api_key_env": "FAST_API_KEY"}, "FAST_API_KEY"),
        (404, "The model does not exist", {}, "'m'"),
        (405, "", {}, "/v1"),
        (402, "Pay", {}, "credit"),
        (400, "maximum context length is 4096 tokens", {}, "larger context"),
        (400, "bad parameter", {}, "settings of tier 't'"),
        (500, "oops", {}, "log"),
        (503, "loading", {}, "overloaded"),
    ],
)
async def test_a_refusal_names_what_to_do(code: int, message: str, options: dict[str, str], remedy: str) -> None:
    error = await Paced(status(code, message), **options).failure()
    assert error.stage == "http"
    assert f"answered {code}" in str(error)
    assert message in str(error)
    assert remedy in error.remedy


async def test_a_redirect_says_where_to() -> None:
    error = await Paced(status(308, Location="https://other.example/v1")).failure()
    assert "https://other.example/v1" in str(error)
    assert "base_url" in error.remedy


async def test_nobody_listening_is_said_with_the_address() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    tier = OpenAiTier(SystemClock(), "t", "m", f"http://127.0.0.1:{port}/v1")
    items: list[StreamItem] = []
    with pytest.raises(StageError) as caught:
        await collect(tier, items)
    await tier.close()
    assert caught.value.stage == "connect"
    assert f"127.0.0.1:{port}" in str(caught.value)
    assert caught.value.remedy == f"Is the server running at http://127.0.0.1:{port}/v1?"
    assert items == []


async def test_tls_to_a_plain_server_advises_http() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        tier = OpenAiTier(SystemClock(), "t", "m", f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        with pytest.raises(StageError) as caught:
            await collect(tier)
        await tier.close()
    assert caught.value.stage == "connect"
    assert "does not speak TLS" in str(caught.value)
    assert "http://" in caught.value.remedy


@pytest.mark.parametrize(
    "url", ["", "localhost:8080/v1", "ftp://x/v1", "http://", "http://[::1", "/v1", "http://x:99999999/v1"]
)
async def test_a_base_url_that_is_none_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(StageError) as caught:
        await collect(OpenAiTier(SystemClock(), "t", "m", url))
    assert caught.value.stage == "connect"
    assert "http://127.0.0.1:8080/v1" in caught.value.remedy


# -- secrets -----------------------------------------------------------------------------------------------------------

KEY = "sk-proj-AbC123+/secret~value"


@pytest.mark.parametrize(
    "echo",
    [
        f"Incorrect API key provided: {KEY}.",
        f"bad header Authorization: Bearer {KEY}",
        f"request was https://me:{KEY}@host/v1?key={KEY}",
        "token dG9wc2VjcmV0OnRva2Vu is bad: Basic dG9wc2VjcmV0OnRva2Vu",
        "Incorrect API key provided: sk-proj-********alue.",
    ],
)
async def test_keys_are_masked_even_if_the_server_echoes_them(echo: str) -> None:
    for made in (status(401, echo), [(0, sse({"error": {"message": echo}}))]):
        error = await Paced(made, api_key=KEY).failure()
        shown = f"{error} {error.remedy} {error!r}"
        assert not any(part in shown for part in (KEY, "AbC123", "dG9wc2VjcmV0", "********alue"))
        assert "***" in shown
        assert error.__cause__ is None


async def test_a_key_quoted_in_part_is_masked_too() -> None:
    error = await Paced(status(401, "Bad key 'abcd1234****wxyz'"), api_key="abcd1234efgh5678wxyz").failure()
    assert "Bad key '***'" in str(error)


async def test_words_about_credentials_are_not_taken_for_them() -> None:
    said = "Missing bearer authentication: the api key: invalid or absent"
    assert said in str(await Paced(status(401, said)).failure())


async def test_credentials_in_the_url_are_used_and_never_shown() -> None:
    no = Reply([b"no"], status=401)
    async with MockLlm(no) as server:
        url = server.url.replace("http://", "http://user:p%40ssword@") + "?api-key=topsecret99"
        tier = OpenAiTier(SystemClock(), "t", "m", url)
        with pytest.raises(StageError) as caught:
            await collect(tier)
        await tier.close()
    head = server.seen[0].head
    assert head.startswith("POST /v1/chat/completions?api-key=topsecret99 HTTP/1.1")
    assert base64.b64encode(b"user:p@ssword").decode() in head
    shown = f"{caught.value} {caught.value.remedy}"
    assert not any(secret in shown for secret in ("p%40ssword", "p@ssword", "topsecret99"))


@pytest.mark.parametrize("key", ["sk-abc\ndefghij", "sk-“quoted”-key"])
async def test_a_key_with_impossible_characters_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(StageError) as caught:
        await collect(OpenAiTier(SystemClock(), "t", "m", "http://127.0.0.1:1/v1", api_key=key, api_key_env="MY_KEY"))
    assert "MY_KEY" in caught.value.remedy
    assert key not in f"{caught.value}{caught.value.remedy}"


async def test_no_proxy_is_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with MockLlm(Reply([answer("Hi")])) as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url)
        assert spoken(await collect(tier)) == "Hi"
        await tier.close()
