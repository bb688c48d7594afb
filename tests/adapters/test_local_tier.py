"""The embedded llama.cpp tier: prompt cache, cancelling, stopping, and what is said when it cannot run."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.absent import need_package
from voicetui.events.orders import Message
from voicetui.ports import ByteRead, Prefilled, Requested, StageError, StreamEnded, StreamItem, TokenRead
from voicetui.reply.local_tier import LocalTier, default_threads
from voicetui.runtime.clock import SystemClock

pytestmark = pytest.mark.anyio

SYSTEM = "You are a friendly phone assistant. Answer in one or two short spoken sentences."


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One loop for the module, as the tier lives through all its tests."""
    return "asyncio"


@pytest.fixture(scope="module")
async def tier(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncIterator[LocalTier]:
    local = LocalTier(
        SystemClock(), "local", "smollm2", request.getfixturevalue("gguf_path"), system_prompt=SYSTEM, max_tokens=200
    )
    await local.warm()
    yield local
    await local.close()


def asking(text: str) -> tuple[Message, ...]:
    return (Message("system", SYSTEM), Message("user", text))


async def collect(tier: LocalTier, text: str, tokens: int = 10_000) -> list[StreamItem]:
    """The items up to the ``tokens``-th token, where the stream is closed."""
    found: list[StreamItem] = []
    async with aclosing(tier.stream(asking(text))) as items:
        async for item in items:
            found.append(item)
            tokens -= isinstance(item, TokenRead)
            if tokens == 0:
                break
    return found


@pytest.mark.models
async def test_after_warming_the_system_prompt_is_in_the_cache(tier: LocalTier) -> None:
    await collect(tier, "Forget this.", tokens=1)
    end = (await collect(tier, "What should I cook?"))[-1]
    assert isinstance(end, StreamEnded)
    assert end.prompt_tokens is not None
    assert end.cached_tokens is not None
    assert end.prompt_tokens - end.cached_tokens < 16


async def ahead(tier: LocalTier, words: str, steps: int = 10_000) -> Prefilled:
    """Work ahead on words, but at most for so many steps; how far it came."""
    done = Prefilled()
    async with aclosing(tier.prewarm(asking(words))) as items:
        async for step in items:
            done, steps = step, steps - 1
            if steps == 0:
                break
    return done


@pytest.mark.models
async def test_words_worked_ahead_on_are_in_the_cache_when_the_request_comes(tier: LocalTier) -> None:
    await collect(tier, "Forget this.", tokens=1)
    done = await ahead(tier, "What should I do when my neighbour plays loud music in the middle of")
    end = (await collect(tier, "What should I do when my neighbour plays loud music in the middle of the night?"))[-1]
    assert isinstance(end, StreamEnded)
    assert end.prompt_tokens is not None
    assert end.cached_tokens is not None
    assert end.cached_tokens == done.cached_tokens + done.new_tokens
    assert end.prompt_tokens - end.cached_tokens < 10
    again = await ahead(tier, "What should I do when my neighbour plays loud music")
    assert again.new_tokens <= 1, "known already"


@pytest.mark.models
async def test_working_ahead_that_is_ended_frees_the_slot_and_keeps_what_was_done(tier: LocalTier) -> None:
    clock = SystemClock()
    started_ms = clock.now_ms()
    whole = await ahead(tier, "fish " * 300)
    whole_ms = clock.now_ms() - started_ms
    part = await ahead(tier, "bird " * 300, steps=3)
    assert 0 < part.new_tokens < whole.new_tokens / 2
    started_ms = clock.now_ms()
    assert await tier.idle_ms(60_000) is not None
    assert clock.now_ms() - started_ms < whole_ms / 2
    again = await ahead(tier, "bird " * 300, steps=1)
    assert again.cached_tokens >= part.cached_tokens + part.new_tokens - 1


@pytest.mark.models
async def test_a_reply_asked_for_in_the_midst_of_working_ahead_does_not_wait_for_its_end(tier: LocalTier) -> None:
    clock = SystemClock()
    started_ms = clock.now_ms()
    await ahead(tier, "horse " * 300)
    whole_ms = clock.now_ms() - started_ms
    await ahead(tier, "sheep " * 300, steps=2)
    started_ms = clock.now_ms()
    await collect(tier, "Say hello.", tokens=1)
    assert clock.now_ms() - started_ms < whole_ms / 2


async def test_a_tier_that_is_not_warm_does_nothing_ahead(tmp_path: Path) -> None:
    assert await ahead(LocalTier(SystemClock(), "local", "m", tmp_path / "none.gguf"), "Hello") == Prefilled()


@pytest.mark.models
async def test_no_request_pays_for_a_dead_connection(tier: LocalTier) -> None:
    for _ in range(5):
        (sent,) = [item for item in await collect(tier, "Hi", tokens=2) if isinstance(item, Requested)]
        assert (sent.connection, sent.tries) == ("new", 1)


@pytest.mark.models
async def test_a_closed_stream_frees_the_slot(tier: LocalTier) -> None:
    await collect(tier, "Tell me a very long story about a dog and a cat.", tokens=3)
    idle_ms = await tier.idle_ms(10_000)
    assert idle_ms is not None


@pytest.mark.models
async def test_a_prompt_that_is_being_read_is_dropped_when_its_stream_is_closed(tier: LocalTier) -> None:
    clock = SystemClock()
    started_ms = clock.now_ms()
    await collect(tier, "cat " * 250, tokens=1)
    whole_ms = clock.now_ms() - started_ms
    await tier.idle_ms(10_000)
    stream = tier.stream(asking("dog " * 250))
    while not isinstance(await anext(stream), ByteRead):
        pass
    started_ms = clock.now_ms()
    await stream.aclose()
    assert await tier.idle_ms(60_000) is not None
    assert clock.now_ms() - started_ms < whole_ms / 2


@pytest.mark.models
async def test_a_new_request_may_follow_a_cancelled_one_at_once(tier: LocalTier) -> None:
    await collect(tier, "Tell me a very long story about a dog.", tokens=2)
    items = await collect(tier, "Say hello.", tokens=2)
    assert sum(isinstance(item, TokenRead) for item in items) == 2


@pytest.mark.models
async def test_watching_for_idle_ends_when_another_request_has_the_slot(tier: LocalTier) -> None:
    await collect(tier, "Tell me a very long story about a dog.", tokens=2)
    watching = asyncio.create_task(tier.idle_ms(20_000))
    await collect(tier, "Tell me a very long story about a cat.", tokens=30)
    assert await asyncio.wait_for(watching, 20) is not None


@pytest.mark.models
async def test_a_conversation_too_long_for_the_model_is_refused_with_advice(tier: LocalTier) -> None:
    with pytest.raises(StageError) as caught:
        await collect(tier, "word " * 5_000)
    assert caught.value.stage == "http"
    assert "larger context" in caught.value.remedy


@pytest.mark.models
async def test_closing_in_mid_stream_does_not_hang(request: pytest.FixtureRequest) -> None:
    clock = SystemClock()
    local = LocalTier(clock, "local", "smollm2", request.getfixturevalue("gguf_path"), max_tokens=1_000)
    stream = local.stream(asking("Tell me a very long story about a dog."))
    while not isinstance(await anext(stream), TokenRead):
        pass
    started_ms = clock.now_ms()
    await local.close()
    assert clock.now_ms() - started_ms < 5_000
    await stream.aclose()
    await local.close()


async def test_a_missing_model_is_said_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"none\.gguf cannot be read") as caught:
        await LocalTier(SystemClock(), "local", "m", tmp_path / "none.gguf").warm()
    assert "voicetui models" in caught.value.remedy


async def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.gguf"
    path.write_text("Hello")
    with pytest.raises(StageError, match="not a GGUF model"):
        await LocalTier(SystemClock(), "local", "m", path).warm()


async def test_a_broken_model_is_refused(tmp_path: Path) -> None:
    need_package("xllamacpp")
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00" + bytes(100))
    with pytest.raises(StageError, match=r"could not load broken\.gguf") as caught:
        await LocalTier(SystemClock(), "local", "m", path).warm()
    assert caught.value.remedy


async def test_a_missing_package_is_said_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    with pytest.raises(StageError) as caught:
        await LocalTier(SystemClock(), "local", "m", path).warm()
    assert "xllamacpp" in caught.value.remedy


async def test_closing_what_never_started_is_nothing(tmp_path: Path) -> None:
    local = LocalTier(SystemClock(), "local", "m", tmp_path / "none.gguf")
    assert await local.idle_ms(10) is None
    await local.close()


def test_threads_leave_room_for_the_other_models(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {1: 1, 2: 2, 4: 2, 8: 4, 64: 4}
    for cores, threads in expected.items():
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        assert default_threads() == threads
