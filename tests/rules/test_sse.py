"""Framing: the same events for every cut of the bytes, and nothing lost, invented or held without bound."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicetui.reply.sse import (
    BodyDecoder,
    EventDecoder,
    LineJsonDecoder,
    SniffingDecoder,
    SseDecoder,
    SseEvent,
    parse_json,
    split_payloads,
)

REFERENCE = (
    ": welcome\r\n"
    "retry: 1500\n\n"
    'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\r\n\r\n'
    'id: 7\r\ndata: {"choices":[{"delta":{"content":"你好，世界🌍"}}]}\r\r'
    ":\n\n"
    'event: note\ndata: {"a":\ndata:  1}\n\n'
    'data:{"choices":[{"delta":{"content":"👨‍👩‍👧 naïve é"},"finish_reason":"stop"}]}\n\n'
    ": cost=0.1\r\n: model=x\r\n"
    'data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":50}}\n\n'
    "data: [DONE]\n\n"
).encode()


def decode(decoder: EventDecoder, *chunks: bytes) -> list[SseEvent]:
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.close()


def sse(*chunks: bytes | str) -> list[SseEvent]:
    return decode(SseDecoder(), *(chunk.encode() if isinstance(chunk, str) else chunk for chunk in chunks))


def data_of(*chunks: bytes | str) -> list[str]:
    return [event.data for event in sse(*chunks)]


def test_characters_cut_by_network_chunks_arrive_whole() -> None:
    head, tail = b'data: {"choices":[{"delta":{"content":"', b'"}}]}\n\n'
    (event,) = sse(head + b"\xe4\xbd", b"\xa0" + b"\xf0\x9f", b"\x8c\x8d" + tail)
    assert json.loads(event.data)["choices"][0]["delta"]["content"] == "你🌍"
    assert "\ufffd" not in event.data


def test_invalid_utf8_becomes_the_replacement_character_and_the_stream_goes_on() -> None:
    assert data_of(b"data: a\xffb\n\ndata: \xe4\xbd\n\ndata: next\n\n") == ["a\ufffdb", "\ufffd", "next"]


@pytest.mark.parametrize("cut", range(4))
def test_byte_order_mark_is_dropped_once_wherever_it_is_cut(cut: int) -> None:
    body = b"\xef\xbb\xbfdata: x\n\ndata: \xef\xbb\xbfy\n\n"
    assert data_of(body[:cut], body[cut:]) == ["x", "\ufeffy"]


def test_comments_are_skipped_and_counted_as_signs_of_life() -> None:
    decoder = SseDecoder()
    body = ': OPENROUTER PROCESSING\n\n:\n\n:ping\n: cost=0.1\n: model=x\ndata: {"a":1}\n: late\n\ndata: [DONE]\n\n'
    assert [event.data for event in decode(decoder, body.encode())] == ['{"a":1}', "[DONE]"]
    assert decoder.comments == 6


def test_comments_count_before_any_event_is_complete() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b": still here\n") == []
    assert decoder.comments == 1


def test_only_one_space_after_the_colon_is_removed() -> None:
    assert data_of("data:{}\n\ndata:[DONE]\n\ndata:  x\n\ndata:\tx\n\n") == ["{}", "[DONE]", " x", "\tx"]
    assert sse("event:error\ndata:{}\n\n") == [SseEvent("{}", "error")]


def test_line_ends_may_be_mixed_and_cut_anywhere() -> None:
    assert data_of('data: {"a":\r', "\ndata: 1}\r\n\r\n") == ['{"a":\n1}']
    assert data_of("data: a\r\rdata: b\r\r") == ["a", "b"]
    assert data_of("data: a\r\n\ndata: b\n\r\ndata: c\r\r\n") == ["a", "b", "c"]
    assert data_of("data: a\r", "\n", "\r", "\n", "data: b\r", "\r") == ["a", "b"]
    assert data_of("data: a\r", "", "\ndata: b\n\n") == ["a\nb"]


def test_records_without_data_are_not_events() -> None:
    decoder = SseDecoder()
    events = decode(decoder, b'retry: 1000\n\ndata: {"a":1}\n\nid: 7\n\nevent: ping\n\n\n\nfoo\n\ndata: {"b":2}\n\n')
    assert [(event.data, event.event, event.last_id) for event in events] == [
        ('{"a":1}', "message", ""),
        ('{"b":2}', "message", "7"),
    ]
    assert decoder.retry_ms == 1000


def test_odd_control_values_are_ignored() -> None:
    decoder = SseDecoder()
    (event,) = decode(decoder, "id: a\0b\nretry: 1e3\nretry: ²\ndata: {}\ndata\n: x\n\n".encode())
    assert (event.data, event.last_id, decoder.retry_ms) == ("{}\n", "", None)


def test_last_event_without_its_blank_line_is_kept_if_whole() -> None:
    last = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}'
    for end in ("", "\n", "\r\n", "\r"):
        assert sse('data: {"a":1}\n\n', last + end) == [SseEvent('{"a":1}'), SseEvent(last[6:])]
        assert sse("data: [DONE]" + end) == [SseEvent("[DONE]")]


CUT_SHORT = ['data: {"choices":[{"del', "data: [DON", "data: 12", 'data: {"a":1}\ndata: {"b', "data: x"]


@pytest.mark.parametrize("tail", CUT_SHORT)
def test_last_event_cut_short_is_flagged(tail: str) -> None:
    assert [event.flaw for event in sse('data: {"a":1}\n\n', tail)] == ["", "truncated"]


@pytest.mark.parametrize("tail", ["", "da", "data:", "event: error", ": comment", "id: 3\n"])
def test_an_end_without_pending_data_adds_nothing(tail: str) -> None:
    assert data_of('data: {"a":1}\n\n', tail) == ['{"a":1}']


def test_a_missing_blank_line_between_events_still_gives_every_payload() -> None:
    (event,) = sse('data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n\n')
    assert split_payloads(event.data) == ['{"a":1}', '{"b":2}', "[DONE]"]
    assert split_payloads('{"a":\n1}') == ['{"a":\n1}']
    assert split_payloads('{"a":1}\n{"b":') == ['{"a":1}', '{"b":']


def test_every_single_cut_gives_the_same_events() -> None:
    whole = sse(REFERENCE)
    assert len(whole) == 6
    assert "你好，世界🌍" in whole[1].data
    assert whole[2] == SseEvent('{"a":\n 1}', "note", "7")
    for cut in range(len(REFERENCE) + 1):
        assert sse(REFERENCE[:cut], REFERENCE[cut:]) == whole
    assert sse(*(REFERENCE[i : i + 1] for i in range(len(REFERENCE)))) == whole


FRAGMENTS = [b"data: ", b"data:", b"data", b"event: e", b"id: 1", b": c", b"\r", b"\n", b"\r\n", b" ", b"{", b"}", b"["]
FRAGMENTS += [b'{"a":1}', b"[DONE]", b"\xe4\xbd\xa0", b"\xe4", b"\xbd", b"\xff", b"\xef\xbb\xbf", b"x" * 30, b"\0"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map(b"".join), st.lists(st.integers(0, 120), max_size=6))
def test_no_cut_changes_the_events_of_any_body(body: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    chunks = [body[a:b] for a, b in pairwise(edges)]
    single = [body[i : i + 1] for i in range(len(body))]
    for make in (
        lambda: SseDecoder(64, 80),
        lambda: LineJsonDecoder(64),
        lambda: BodyDecoder(200),
        lambda: SniffingDecoder(64),
    ):
        whole = decode(make(), body)
        assert decode(make(), *chunks) == whole
        assert decode(make(), *single) == whole


def test_a_line_above_the_limit_is_an_error_and_not_memory_growth() -> None:
    decoder = SseDecoder(max_line_bytes=100)
    assert decoder.feed(b"data: ok\n\ndata: " + b"x" * 60) == [SseEvent("ok")]
    assert decoder.feed(b"x" * 60) == [SseEvent("", flaw="oversized")]
    assert decoder.feed(b"\n\ndata: more\n\n") == []
    assert decoder.close() == []


def test_many_short_lines_of_one_event_are_bounded_too() -> None:
    decoder = SseDecoder(max_line_bytes=100, max_event_bytes=1000)
    events = [event for _ in range(200) for event in decoder.feed(b"data: xxxxxxxxx\n")]
    assert [event.flaw for event in events] == ["oversized"]


def test_the_limit_itself_is_allowed() -> None:
    assert [e.flaw for e in decode(SseDecoder(max_line_bytes=10), b"data: 1234\n\ndata: 12345\n\n")] == [
        "",
        "oversized",
    ]
    assert len(sse("data: " + "x" * ((1 << 20) - 6) + "\n\n")[0].data) == (1 << 20) - 6


def test_closing_twice_and_feeding_after_the_close_are_harmless() -> None:
    decoder = SseDecoder()
    decoder.feed(b"data: [DONE]")
    assert len(decoder.close()) == 1
    assert decoder.close() == []
    assert decoder.feed(b"data: x\n\n") == []


def test_line_json_survives_any_reads_and_blank_lines() -> None:
    lines = [{"message": {"content": "Grüß"}, "done": False}, {"done": True}, {"error": "out of memory"}]
    text = [json.dumps(line, ensure_ascii=False).encode() for line in lines]
    together = b"\n".join([b"", text[0], b"", b"  ", text[1], text[2]])
    for cut in range(len(together) + 1):
        events = decode(LineJsonDecoder(), together[:cut], together[cut:])
        assert [json.loads(event.data) for event in events] == lines
    assert [e.flaw for e in decode(LineJsonDecoder(), b'{"a":1}\r\n{"b"')] == ["", "truncated"]
    assert [e.flaw for e in decode(LineJsonDecoder(20), b"{}\n" + b"x" * 30, b"\n{}\n")] == ["", "oversized"]


def test_a_whole_document_is_one_event_also_when_printed_over_lines() -> None:
    body = json.dumps({"choices": [{"message": {"content": "Hi"}}]}, indent=2).encode()
    (event,) = decode(BodyDecoder(), body[:9], body[9:])
    assert json.loads(event.data)["choices"]
    assert [e.flaw for e in decode(BodyDecoder(), body[:-3])] == ["truncated"]
    assert decode(BodyDecoder(), b" \n") == []
    assert [e.flaw for e in decode(BodyDecoder(5), body, b"x")] == ["oversized"]


@pytest.mark.parametrize(
    ("body", "mode", "count"),
    [
        (REFERENCE, "sse", 6),
        (b"\n\n : x\ndata: {}\n\n", "sse", 1),
        (b"<html>502 Bad Gateway</html>", "sse", 0),
        (b'{"choices":[]}', "body", 1),
        (b'\xef\xbb\xbf\n {\n "choices": [\n]}\n', "body", 1),
        (b'{"done":false}\n{"done":true}\n', "lines", 2),
        (b'{"done":false}\r\n{"done":true}', "lines", 2),
        (b'[{"error":{"message":"no"}}]', "body", 1),
        (b"", "sse", 0),
        (b" \n", "sse", 0),
    ],
)
def test_the_framing_is_told_by_the_bytes_and_not_by_the_label(body: bytes, mode: str, count: int) -> None:
    for cut in range(len(body) + 1):
        decoder = SniffingDecoder()
        assert len(decode(decoder, body[:cut], body[cut:])) == count
        assert decoder.mode == mode


def test_lenient_json_takes_what_servers_send_and_refuses_the_rest_cleanly() -> None:
    assert parse_json('{"a":"x\ty","b":NaN}')["a"] == "x\ty"
    with pytest.raises(ValueError, match="deeply"):
        parse_json("[" * 100_000)
