"""What an OpenAI-compatible tier makes of streams: their text, their times, their ends."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

import httpx
import pytest
from mock_llm import DONE, ROLE, MockLlm, PacedTransport, Reply, Step, Wait, answer, delta, sse, usage

from voicetui.events.orders import Message
from voicetui.ports import ByteRead, Requested, StreamEnded, StreamItem, TokenRead
from voicetui.reply.openai_tier import OpenAiTier
from voicetui.runtime.clock import ManualClock, SystemClock

pytestmark = pytest.mark.anyio

ASKED = (Message("system", "Be brief."), Message("user", "Hello?"))


async def collect(tier: OpenAiTier) -> list[StreamItem]:
    async with aclosing(tier.stream(ASKED)) as items:
        return [item async for item in items]


async def paced(*answers: Sequence[Step] | Exception, content_type: str = "text/event-stream") -> list[StreamItem]:
    """What a tier yields whose server answers by a manual clock."""
    clock = ManualClock()
    transport = PacedTransport(clock, *answers)
    transport.content_type = content_type
    tier = OpenAiTier(clock, "t", "m", "http://127.0.0.1:1/v1", transport=transport)
    reading = asyncio.create_task(collect(tier))
    while not reading.done():
        await clock.advance(100)
    await tier.close()
    return reading.result()


async def of_body(body: bytes, content_type: str = "text/event-stream") -> list[StreamItem]:
    return await paced([(0, body)] if body else [], content_type=content_type)


def spoken(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TokenRead) and not item.reasoning)


def thought(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TokenRead) and item.reasoning)


def end_of(items: list[StreamItem]) -> StreamEnded:
    (end,) = [item for item in items if isinstance(item, StreamEnded)]
    assert items[-1] is end
    return end


def timeless(items: list[StreamItem]) -> list[StreamItem]:
    return [item if isinstance(item, StreamEnded) else replace(item, at_ms=0) for item in items]


def content_times(items: list[StreamItem], reasoning: bool = False) -> list[float]:
    """Ms after the request."""
    (sent,) = [item for item in items if isinstance(item, Requested)]
    return [i.at_ms - sent.at_ms for i in items if isinstance(i, TokenRead) and i.reasoning is reasoning]


# -- text --------------------------------------------------------------------------------------------------------------


async def test_a_character_cut_by_the_network_arrives_whole() -> None:
    pieces = [
        b'data: {"choices":[{"delta":{"content":"',
        b"\xe4\xbd",
        b"\xa0",
        b"\xf0\x9f",
        b'\x8c\x8d"}}]}\n\n',
        sse(delta(finish="stop"), DONE),
    ]
    async with MockLlm(Reply(pieces)) as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url)
        assert spoken(await collect(tier)) == "你🌍"
        await tier.close()


@pytest.mark.parametrize(
    "noise",
    [
        b": OPENROUTER PROCESSING\n\n",
        b":\n\n",
        b":ping\n",
        b"retry: 1000\n\n",
        b"id: 7\n\n",
        b'event: ping\ndata: {"type":"ping"}\n\n',
        b"event: ping\n\n",
        b'event: vendor.progress\ndata: {"x":1}\n\n',
    ],
)
async def test_comments_pings_and_control_records_are_no_tokens(noise: bytes) -> None:
    items = await paced([(5, noise), (10, sse(delta("Hi"))), (20, noise), (30, sse(delta(finish="stop"), DONE))])
    assert (spoken(items), content_times(items), end_of(items).outcome) == ("Hi", [10], "complete")


async def test_a_field_without_a_space_and_carriage_returns_are_read() -> None:
    body = b"data:" + json.dumps(delta("Hi", "stop")).encode() + b"\r\rdata:[DONE]\r\r"
    assert spoken(await of_body(body)) == "Hi"


async def test_any_cut_of_the_bytes_gives_the_same_items() -> None:
    body = b": hi\r\n\r\n" + answer("你好", " 🌍", "!").replace(b"\n", b"\r\n")
    whole = timeless(await of_body(body))
    assert [item.text for item in whole if isinstance(item, TokenRead)] == ["你好", " 🌍", "!"]
    for cut in range(1, len(body)):
        assert timeless(await paced([(0, body[:cut]), (0, body[cut:])])) == whole
    assert timeless(await paced([(0, body[at : at + 1]) for at in range(len(body))])) == whole


async def test_empty_odd_and_missing_deltas_are_no_tokens() -> None:
    odd = [
        ROLE,
        delta(None),
        {"choices": [{"delta": {"content": None}}]},
        {"choices": [{"index": 0}]},
        {"choices": None},
        {"choices": [], "prompt_filter_results": []},
        {"choices": [{"delta": None}]},
    ]
    end = {"choices": [{"delta": None, "finish_reason": "stop"}]}
    items = await of_body(sse(*odd, delta("Hi"), end, usage(3, 50), DONE))
    assert [item.text for item in items if isinstance(item, TokenRead)] == ["Hi"]
    assert (end_of(items).completion_tokens, end_of(items).estimated) == (50, False)


async def test_text_beside_the_finish_reason_is_kept_and_the_end_comes_once() -> None:
    items = await of_body(sse(delta("Over"), delta(" there.", "stop"), delta(finish="stop"), DONE))
    assert spoken(items) == "Over there."
    assert end_of(items).outcome == "complete"


@pytest.mark.parametrize("pieces", [["<think>plan</think>Hi"], ["<th", "ink>pl", "an</thi", "nk>Hi"]])
async def test_thinking_aloud_is_flagged_and_not_the_answer(pieces: list[str]) -> None:
    items = await of_body(answer(*pieces))
    assert (spoken(items), thought(items)) == ("Hi", "plan")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_fields_are_flagged(name: str) -> None:
    items = await of_body(sse(delta(**{name: "plan"}), delta("Hi", "stop"), DONE))
    assert (spoken(items), thought(items)) == ("Hi", "plan")


async def test_a_model_whose_prompt_opens_the_thinking_is_an_option() -> None:
    body = answer("plan", "</think>", "Hi")
    async with MockLlm(Reply([body]), Reply([body])) as server:
        for starts_in_reasoning, said in ((True, ("plan", "Hi")), (False, ("", "planHi"))):
            tier = OpenAiTier(SystemClock(), "t", "m", server.url, starts_in_reasoning=starts_in_reasoning)
            items = await collect(tier)
            assert (thought(items), spoken(items)) == said
            await tier.close()


async def test_thinking_that_never_ends_is_an_empty_answer_with_a_note() -> None:
    items = await of_body(answer("<think>plan"))
    assert (spoken(items), end_of(items).outcome) == ("", "empty")
    assert "reasoning" in end_of(items).note


async def test_a_tool_call_is_never_text() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "look", "arguments": '{"a":1}'}}
    items = await of_body(sse(delta(tool_calls=[call]), delta(finish="tool_calls"), DONE))
    assert (spoken(items), end_of(items).outcome) == ("", "empty")
    assert "tool" in end_of(items).note


async def test_json_lines_are_read_as_a_stream() -> None:
    lines = b"".join(
        json.dumps({"message": {"content": text}, "done": False}).encode() + b"\n\n" for text in ("Hel", "lo")
    )
    last = json.dumps({"message": {"content": ""}, "done": True, "prompt_eval_count": 7, "eval_count": 2}).encode()
    items = await paced([(0, lines[:30]), (10, lines[30:]), (20, last)], content_type="application/x-ndjson")
    assert (spoken(items), end_of(items).completion_tokens, end_of(items).outcome) == ("Hello", 2, "complete")


@pytest.mark.parametrize("indent", [None, 2])
async def test_a_whole_json_answer_to_a_stream_request_is_an_answer(indent: int | None) -> None:
    whole = {
        "object": "chat.completion",
        "choices": [{"message": {"content": "Hello there."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 3},
    }
    items = await of_body(json.dumps(whole, indent=indent).encode(), "application/json")
    assert (spoken(items), end_of(items).outcome, end_of(items).completion_tokens) == ("Hello there.", "complete", 3)
    assert "one piece" in end_of(items).note


@pytest.mark.parametrize("label", ["text/plain", "text/html", "application/octet-stream"])
async def test_a_stream_under_a_wrong_label_is_read_and_noted(label: str) -> None:
    items = await of_body(answer("Hi"), label)
    assert spoken(items) == "Hi"
    assert label in end_of(items).note


# -- ends --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tail", "outcome"),
    [
        (b"", "truncated"),
        (sse(DONE), "complete"),
        (sse(delta(finish="stop")), "complete"),
        (sse(delta(finish="weird")), "complete"),
        (sse(delta(finish=None), DONE), "complete"),
        (sse(delta(finish="stop")).rstrip(b"\n"), "complete"),
        (b"data: [DONE]", "complete"),
        (sse(delta(finish="stop"))[:-30], "truncated"),
        (sse(delta(finish="length"), DONE), "length"),
    ],
)
async def test_how_an_answer_ended_is_read_from_its_marks(tail: bytes, outcome: str) -> None:
    items = await of_body(sse(ROLE, delta("Hello there")) + tail)
    assert (spoken(items), end_of(items).outcome) == ("Hello there", outcome)


async def test_a_stream_that_stays_open_after_its_finish_reason_is_complete() -> None:
    items = await paced([(0, sse(delta("Hi", "stop"))), (60_000, b": still here\n")])
    assert end_of(items).outcome == "complete"


async def test_the_end_is_given_out_before_the_connection_ends() -> None:
    wait = Wait()
    async with MockLlm(Reply([answer("Hi"), wait])) as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url)
        async with aclosing(tier.stream(ASKED)) as items:
            async for item in items:
                if isinstance(item, StreamEnded):
                    break
        assert not wait.go.is_set()
        await tier.close()


async def test_usage_is_the_servers_and_cached_tokens_with_it() -> None:
    end = end_of(await of_body(answer("Hel", "lo", " world", counts=usage(20, 2, cached=15))))
    assert (end.prompt_tokens, end.completion_tokens, end.cached_tokens, end.estimated) == (20, 2, 15, False)


async def test_chunks_of_many_tokens_are_counted_by_the_server_not_by_us() -> None:
    end = end_of(await of_body(answer(*["eight tokens in one chunk, as it seems. "] * 8, counts=usage(5, 64))))
    assert (end.completion_tokens, end.estimated) == (64, False)


async def test_a_count_of_our_own_is_marked_as_an_estimate() -> None:
    end = end_of(await of_body(sse(delta("Hello there, friend."), delta(finish="stop"), DONE)))
    assert (end.completion_tokens, end.estimated, end.prompt_tokens) == (5, True, None)


@pytest.mark.parametrize("counted", [0, -3, 10**12, float("inf"), True, "7", None, {}])
async def test_a_count_that_cannot_be_is_none(counted: object) -> None:
    counts = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": counted}}
    end = end_of(await of_body(sse(delta("Hello there, friend."), delta(finish="stop"), counts, DONE)))
    assert (end.completion_tokens, end.estimated, end.prompt_tokens) == (5, True, 9)


@pytest.mark.parametrize(("thought", "unseen"), [("", 450), ("Let me see.", 0)])
async def test_reasoning_that_is_counted_but_never_sent_is_known_as_such(thought: str, unseen: int) -> None:
    counts = usage(5, 500)
    counts["usage"]["completion_tokens_details"] = {"reasoning_tokens": 450}
    sent = [delta(reasoning=thought)] if thought else []
    end = end_of(await of_body(sse(*sent, delta("Fine."), delta(finish="stop"), counts, DONE)))
    assert (end.completion_tokens, end.unseen_tokens, end.estimated) == (500, unseen, False)


async def test_a_connection_lost_in_mid_answer_leaves_what_came_and_the_next_turn_works() -> None:
    async with MockLlm(Reply([sse(delta("One "), delta("two"))], abort=True), Reply([answer("Fine.")])) as server:
        tier = OpenAiTier(SystemClock(), "t", "m", server.url)
        items = await collect(tier)
        assert (spoken(items), end_of(items).outcome) == ("One two", "truncated")
        assert spoken(await collect(tier)) == "Fine."
        await tier.close()


# -- times -------------------------------------------------------------------------------------------------------------


async def test_the_first_token_is_the_first_text_not_the_role() -> None:
    items = await paced(
        [(20, sse(ROLE)), (25, sse(delta(""))), (400, sse(delta("Hi"))), (410, sse(delta(finish="stop"), DONE))]
    )
    (first_byte,) = [item.at_ms for item in items if isinstance(item, ByteRead)]
    assert (first_byte, content_times(items)) == (20, [400])


async def test_reasoning_and_answer_have_times_of_their_own() -> None:
    steps: list[Step] = [(at, sse(delta(reasoning_content="hm "))) for at in (100, 200, 300)]
    items = await paced([*steps, (900, sse(delta("Hi", "stop"), DONE))])
    assert content_times(items, reasoning=True) == [100, 200, 300]
    assert content_times(items) == [900]


async def test_a_cap_reached_while_reasoning_is_flagged() -> None:
    items = await paced([(100, sse(delta(reasoning="hm"))), (200, sse(delta(finish="length"), usage(5, 9), DONE))])
    assert content_times(items, reasoning=True) == [100]
    assert content_times(items) == []
    assert end_of(items).outcome == "empty"
    assert "token limit" in end_of(items).note


async def test_times_are_those_of_the_bytes_even_if_the_reader_is_slow() -> None:
    clock = ManualClock()
    transport = PacedTransport(
        clock, [(10, sse(delta("a"))), (20, sse(delta("b"))), (30, sse(delta(finish="stop"), DONE))]
    )
    tier = OpenAiTier(clock, "t", "m", "http://127.0.0.1:1/v1", transport=transport)
    times = []

    async def slow() -> None:
        async with aclosing(tier.stream(ASKED)) as items:
            async for item in items:
                if isinstance(item, TokenRead):
                    times.append(item.at_ms)
                    await clock.sleep_until(clock.now_ms() + 1_000)

    reading = asyncio.create_task(slow())
    for _ in range(30):
        await clock.advance(100)
    await reading
    assert times == [10, 20]


async def test_a_compressed_stream_is_unpacked() -> None:
    def packed() -> httpx.Response:
        return httpx.Response(
            200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(gzip.compress(answer("Hi")))
        )

    clock = ManualClock()
    tier = OpenAiTier(clock, "t", "m", "http://127.0.0.1:1/v1", transport=PacedTransport(clock, packed))
    reading = asyncio.create_task(collect(tier))
    await clock.advance(100)
    assert spoken(reading.result()) == "Hi"
