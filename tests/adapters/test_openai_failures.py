"""What an OpenAI-compatible tier does when the server or the way to it fails: sentences, second tries, secrets."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from asking import ASKED, Paced, collect, ends, spoken, status, tries
from mock_llm import DONE, MockLlm, Reply, Step, Wait, answer, delta, sse

from voicetui.ports import Requested, StageError, StreamItem
from voicetui.reply.openai_tier import Deadlines, OpenAiTier
from voicetui.runtime.clock import SystemClock, settle

pytestmark = pytest.mark.anyio

GOODBYE = httpx.RemoteProtocolError("<ConnectionTerminated error_code:0, last_stream_id:1, additional_data:None>")


class SilentServer:
    """Takes connections and never answers."""

    async def __aenter__(self) -> SilentServer:
        self.hung_up = asyncio.Event()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65536):
            pass
        self.hung_up.set()
        writer.close()


# -- errors within a stream, and bodies that are no stream -------------------------------------------------------------


@pytest.mark.parametrize("before", [b"", sse(delta("Partial"))])
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (sse({"error": {"message": "quota exceeded"}}, DONE), "quota exceeded"),
        (b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n', "overloaded_error"),
        (sse({"choices": [], "error": {"message": "bad gateway"}}), "bad gateway"),
    ],
)
async def test_an_error_inside_a_stream_is_a_failure_in_the_providers_words(
    before: bytes, body: bytes, words: str
) -> None:
    paced = Paced([(0, before + body)])
    error = await paced.failure()
    assert (error.stage, words in str(error), error.remedy != "") == ("provider", True, True)
    assert spoken(paced.items) == ("Partial" if before else "")
    assert ends(paced.items) == []


async def test_an_error_in_json_lines_is_a_failure_after_the_text() -> None:
    lines = b'{"message":{"content":"Hel"},"done":false}\n{"error":"model runner has stopped"}\n'
    paced = Paced([(0, lines)])
    assert "model runner has stopped" in str(await paced.failure())
    assert spoken(paced.items) == "Hel"


@pytest.mark.parametrize(
    ("body", "label"),
    [
        (b"<!DOCTYPE html><html><body>Log in</body></html>", "text/html"),
        (b"\n  <html>", "text/event-stream"),
        (b'{"status": "ok"}', "application/json"),
        (b"Not here", "text/plain"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
    ],
)
async def test_a_body_that_is_no_chat_answer_is_refused_with_advice(body: bytes, label: str) -> None:
    paced = Paced([(0, body)])
    paced.transport.content_type = label
    error = await paced.failure()
    assert error.stage == "protocol"
    assert "base_url" in error.remedy


async def test_an_empty_body_is_asked_for_once_more() -> None:
    paced = Paced([], [(0, answer("Hi"))])
    items = await paced.run()
    assert (spoken(items), ends(items), tries(items)) == ("Hi", ["complete"], [1, 2])


async def test_two_empty_bodies_are_an_empty_answer() -> None:
    paced = Paced([])
    assert ends(await paced.run()) == ["empty"]
    assert len(paced.transport.requests) == 2


async def test_headers_and_a_broken_connection_are_an_empty_answer_too() -> None:
    async with MockLlm(Reply(abort=True)) as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url)
        assert ends(await collect(tier)) == ["empty"]
        await tier.close()
    assert len(server.seen) == 2


async def test_an_error_in_a_whole_json_body_is_a_failure() -> None:
    paced = Paced([(0, b'{\n "error": {"message": "model is loading"}\n}\n')])
    paced.transport.content_type = "application/json"
    error = await paced.failure()
    assert (error.stage, "model is loading" in str(error)) == ("provider", True)


async def test_an_end_mark_and_nothing_else_is_an_empty_answer_at_once() -> None:
    paced = Paced([(0, sse(DONE))])
    assert ends(await paced.run()) == ["empty"]
    assert len(paced.transport.requests) == 1


# -- deadlines ---------------------------------------------------------------------------------------------------------


async def test_no_headers_in_time_fails_as_headers() -> None:
    paced = Paced([(0, b"")], headers_after_ms=60_000, deadlines=Deadlines(headers_ms=4_000))
    error = await paced.failure()
    assert error.stage == "headers"
    assert "4 s" in str(error)
    assert paced.clock.now_ms() == pytest.approx(4_000, abs=100)


async def test_a_server_that_takes_the_request_and_says_nothing_fails_as_headers() -> None:
    async with SilentServer() as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url, deadlines=Deadlines(headers_ms=60))
        with pytest.raises(StageError) as caught:
            await collect(tier)
        await tier.close()
    assert caught.value.stage == "headers"
    assert "0.06 s" in str(caught.value)


async def test_a_refusal_whose_body_never_ends_is_still_that_refusal() -> None:
    async with MockLlm(Reply([b"no", Wait()], status=503)) as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url, deadlines=Deadlines(headers_ms=200))
        with pytest.raises(StageError, match="503"):
            await collect(tier)
        await tier.close()


async def test_pings_alone_do_not_meet_the_deadline_for_text() -> None:
    pings: list[Step] = [(at * 1_000.0, b": ping\n\n") for at in range(60)]
    paced = Paced(pings, deadlines=Deadlines(first_content_ms=20_000))
    error = await paced.failure()
    assert error.stage == "first_content"
    assert "20 s" in str(error)
    assert "signs of life" in str(error)
    assert paced.clock.now_ms() == pytest.approx(20_000, abs=100)
    assert paced.transport.bodies[0].closed


async def test_a_gap_of_eight_seconds_between_texts_is_no_failure() -> None:
    paced = Paced([(0, sse(delta("One "))), (8_000, sse(delta("two", "stop"), DONE))])
    assert spoken(await paced.run()) == "One two"


async def test_silence_after_text_fails_as_idle_and_the_text_stays() -> None:
    paced = Paced([(15_000, sse(delta("One "))), (60_000, sse(DONE))], deadlines=Deadlines(idle_ms=9_000))
    error = await paced.failure()
    assert (error.stage, spoken(paced.items)) == ("idle", "One ")
    assert paced.clock.now_ms() == pytest.approx(24_000, abs=100)


async def test_pings_keep_a_stream_alive_but_not_for_ever() -> None:
    pings: list[Step] = [(at * 1_000.0, b": ping\n\n") for at in range(1, 100)]
    alive = Paced([(0, sse(delta("a"))), *pings[:15], (15_500, sse(delta("b", "stop"), DONE))])
    assert spoken(await alive.run()) == "ab"
    stuck = Paced([(0, sse(delta("a"))), *pings])
    assert (await stuck.failure()).stage == "idle"
    assert stuck.clock.now_ms() == pytest.approx(20_000, abs=100)


# -- second tries ------------------------------------------------------------------------------------------------------


async def test_a_goodbye_before_any_byte_is_replayed_once_in_silence() -> None:
    paced = Paced(GOODBYE, [(0, answer("Hi"))])
    items = await paced.run()
    assert (spoken(items), ends(items), tries(items)) == ("Hi", ["complete"], [2])


async def test_a_goodbye_after_text_is_the_end_and_not_replayed() -> None:
    paced = Paced([(0, sse(delta("One "))), (10, sse(delta("two"))), (20, GOODBYE)])
    items = await paced.run()
    assert (spoken(items), ends(items), len(paced.transport.requests)) == ("One two", ["truncated"], 1)


async def test_a_second_goodbye_is_a_failure() -> None:
    paced = Paced(GOODBYE)
    error = await paced.failure()
    assert error.stage == "protocol"
    assert len(paced.transport.requests) == 2


async def test_a_kept_connection_the_server_has_dropped_is_replaced_in_silence() -> None:
    async with MockLlm(Reply([answer("One")]), Reply(silent=True), Reply([answer("Two")])) as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url)
        assert spoken(await collect(tier)) == "One"
        items = await collect(tier)
        await tier.close()
    assert spoken(items) == "Two"
    assert [(i.connection, i.tries) for i in items if isinstance(i, Requested)] == [("reused", 1), ("new", 2)]


@pytest.mark.parametrize(
    ("headers", "waited_ms"),
    [
        ({"Retry-After": "2"}, 2_000),
        ({"Retry-After": "1.5"}, 1_500),
        ({"retry-after-ms": "250", "Retry-After": "1"}, 250),
        ({"Date": "Mon, 03 Mar 2025 10:00:00 GMT", "Retry-After": "Mon, 03 Mar 2025 10:00:05 GMT"}, 5_000),
        ({"Date": "Mon, 03 Mar 2025 10:00:00 GMT", "Retry-After": "Mon, 03 Mar 2025 09:00:05 GMT"}, 0),
        ({"Retry-After": ""}, 250),
        ({"Retry-After": "abc"}, 250),
        ({"Retry-After": "-1"}, 250),
        ({}, 250),
    ],
)
async def test_a_busy_server_is_waited_for_as_long_as_it_says(headers: dict[str, str], waited_ms: float) -> None:
    paced = Paced(status(429, "slow down", **headers), [(0, answer("Hi"))])
    await paced.run()
    assert spoken(paced.items) == "Hi"
    assert tries(paced.items) == [1, 2]
    sent = [item.at_ms for item in paced.items if isinstance(item, Requested)]
    assert sent[1] - sent[0] == waited_ms


async def test_a_date_without_the_servers_clock_is_read_by_ours() -> None:
    paced = Paced(status(429, **{"Retry-After": "Mon, 03 Mar 2025 10:00:03 GMT"}), [(0, answer("Hi"))],
                  wall_time_s=lambda: 1740996001.0)  # fmt: skip
    await paced.run()
    assert [item.at_ms for item in paced.items if isinstance(item, Requested)] == [0, 2_000]


async def test_a_date_nobody_can_compare_is_waited_for_by_our_own_measure() -> None:
    paced = Paced(status(429, **{"Retry-After": "Mon, 03 Mar 2025 10:00:03 GMT"}), [(0, answer("Hi"))])
    await paced.run()
    assert [item.at_ms for item in paced.items if isinstance(item, Requested)] == [0, 250]


async def test_a_wait_over_budget_is_refused_at_once() -> None:
    paced = Paced(status(429, "slow down", **{"Retry-After": "99999"}))
    error = await paced.failure()
    assert (error.stage, paced.clock.now_ms() <= 100, len(paced.transport.requests)) == ("http", True, 1)
    assert "99999 s" in str(error)
    assert "another tier" in error.remedy


async def test_a_server_that_stays_busy_is_given_up_within_the_budget() -> None:
    paced = Paced(status(429, **{"Retry-After": "2"}))
    assert (await paced.failure()).stage == "http"
    assert paced.clock.now_ms() < 5_100


async def test_cancelling_ends_the_wait_for_a_busy_server() -> None:
    paced = Paced(status(429, **{"Retry-After": "4"}), [(0, answer("Hi"))])
    reading = asyncio.create_task(collect(paced.tier, paced.items))
    await paced.clock.advance(100)
    reading.cancel()
    await settle()
    assert reading.cancelled()
    await paced.clock.advance(10_000)
    assert len(paced.transport.requests) == 1


# -- hanging up --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["close", "cancel"])
async def test_hanging_up_closes_the_socket_within_100_ms_and_nothing_more_comes(way: str) -> None:
    clock, wait = SystemClock(), Wait()
    async with MockLlm(Reply([sse(delta("One ")), wait, sse(delta("two"), DONE)]), Reply([answer("Next")])) as server:
        tier = OpenAiTier(clock, "t", "m", server.url)
        items: list[StreamItem] = []
        if way == "cancel":
            reading = asyncio.create_task(collect(tier, items))
            await wait.reached.wait()
            await settle()
            assert spoken(items) == "One "
            asked_ms = clock.now_ms()
            reading.cancel()
            await asyncio.wait({reading})
        else:
            stream = tier.stream(ASKED)
            while not spoken(items):
                items.append(await anext(stream))
            await wait.reached.wait()
            asked_ms = clock.now_ms()
            await stream.aclose()
            assert [item async for item in stream] == []
        await asyncio.wait_for(server.hung_up.wait(), 5)
        assert clock.now_ms() - asked_ms <= 100
        wait.go.set()
        await settle()
        assert spoken(items) == "One "
        assert spoken(await collect(tier)) == "Next"
        await tier.close()


async def test_cancelling_before_the_headers_closes_the_socket() -> None:
    async with SilentServer() as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url)
        stream = tier.stream(ASKED)
        assert isinstance(await anext(stream), Requested)
        await stream.aclose()
        await asyncio.wait_for(server.hung_up.wait(), 5)
        await tier.close()
