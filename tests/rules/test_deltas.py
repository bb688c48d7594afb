"""What a chat stream means: every dialect, every missing end mark, every way to report an error."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicetui.reply.deltas import DeltaReader, Ending, Finish, Item, Token, Usage
from voicetui.reply.provider_errors import ProviderError
from voicetui.reply.sse import LineJsonDecoder, SniffingDecoder, SseDecoder, SseEvent
from voicetui.reply.toolcalls import ToolCall

DONE = "[DONE]"


def chunk(delta: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def say(text: str, finish: str | None = None) -> dict[str, Any]:
    return chunk({"content": text}, finish)


def read(*payloads: Any, reader: DeltaReader | None = None) -> tuple[list[Item], Ending]:
    """Read payloads (SSE events as they are, text as data, anything else as JSON) to the end of the stream."""
    reader = reader or DeltaReader()
    items: list[Item] = []
    for payload in payloads:
        if not isinstance(payload, SseEvent):
            payload = SseEvent(payload if isinstance(payload, str) else json.dumps(payload))
        items += reader.read(payload)
    ending = reader.finish()
    return items + list(ending.rest), ending


def spoken(items: list[Item]) -> str:
    return "".join(item.text for item in items if isinstance(item, Token) and not item.reasoning)


def thought(items: list[Item]) -> str:
    return "".join(item.text for item in items if isinstance(item, Token) and item.reasoning)


def only(kind: type, items: list[Item]) -> list[Any]:
    return [item for item in items if isinstance(item, kind)]


# -- deltas -------------------------------------------------------------------------------------------------------


def test_empty_choices_first_and_last_are_no_tokens_and_usage_is_stored() -> None:
    reader = DeltaReader()
    items, ending = read(
        {"choices": [], "prompt_filter_results": [{}]},
        say("Hi"),
        chunk({}, "stop"),
        {"choices": [], "usage": {"completion_tokens": 50}},
        DONE,
        reader=reader,
    )
    assert items == [Token("Hi"), Finish("stop"), Usage(completion_tokens=50)]
    assert reader.usage == Usage(completion_tokens=50)
    assert ending == Ending("complete", reason="stop")


ODD_CHUNKS = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": None}),
    chunk(None),
    chunk("text"),
    chunk([]),
    {"choices": [{"index": 0}]},
    {"choices": [None, 3, "x"]},
    {"choices": None},
    {"choices": {}},
    {"choices": 7, "usage": []},
    {},
    [],
    None,
    7,
    "[]",
    chunk({"content": 7, "tool_calls": 3, "reasoning": 4}),
    chunk({"content": [None, 3, {"type": "image_url"}, {"text": None}], "tool_calls": [None, {}, {"function": 1}]}),
    chunk({}, finish=""),
    chunk({}, finish="null"),
    {"choices": {"0": None}},
    chunk(True),
    chunk(0),
    chunk({"role": "tool", "content": "what the tool said"}),
    {"choices": [{"index": "0", "delta": {}}]},
    {"error": None},
    {"error": {}},
    {"error": False},
    {"error": ""},
    {"usage": None},
    {"usage": {"completion_tokens": None, "prompt_tokens": "x", "prompt_tokens_details": 3}},
]


@pytest.mark.parametrize("odd", ODD_CHUNKS, ids=str)
def test_odd_and_empty_deltas_neither_crash_nor_count(odd: Any) -> None:
    items, ending = read(odd, say("Hi"), odd, chunk(None, "stop"), odd)
    assert items == [Token("Hi"), Finish("stop")]
    assert ending == Ending("complete", reason="stop")


def test_text_in_the_chunk_of_the_finish_is_kept_and_a_repeated_finish_ends_once() -> None:
    items, _ = read(say("Hello"), say(" there.", "stop"), chunk({}, "stop"), say("", "length"), DONE)
    assert items == [Token("Hello"), Token(" there."), Finish("stop")]


def test_content_may_be_a_list_of_parts() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Hi"}, " you"]
    items, _ = read(chunk({"content": parts}, "stop"))
    assert (thought(items), spoken(items)) == ("hm", "Hi you")


@pytest.mark.parametrize(
    "choices",
    [
        {"0": {"delta": {"content": "Hi"}}},
        {"delta": {"content": "Hi"}},
        [{"index": "0", "delta": {"content": {"text": "Hi"}}}],
        [{"delta": {"content": ["H", {"text": "i"}]}}],
    ],
)
def test_choices_of_an_odd_make_are_read_all_the_same(choices: Any) -> None:
    items, ending = read({"choices": choices}, chunk({}, "stop"))
    assert (spoken(items), ending.outcome) == ("Hi", "complete")


def test_only_the_first_of_several_choices_is_the_answer() -> None:
    both = {"choices": [{"index": 0, "delta": {"content": "A"}}, {"index": 1, "delta": {"content": "B"}}]}
    other = {"choices": [{"index": 1, "delta": {"content": "C"}, "finish_reason": "stop"}]}
    items, ending = read(both, other)
    assert (spoken(items), ending.outcome) == ("A", "truncated")


def test_whitespace_tokens_are_kept() -> None:
    items, _ = read(say("a"), say(" "), say("\n"), say("b", "stop"))
    assert spoken(items) == "a \nb"


def test_surrogate_halves_escaped_in_two_deltas_are_joined_and_lone_ones_replaced() -> None:
    halves = ['{"choices":[{"delta":{"content":"a\\ud83d"}}]}', '{"choices":[{"delta":{"content":"\\ude00b\\ud83d"}}]}']
    items, _ = read(*halves, say("c\ude00", "stop"))
    assert spoken(items) == "a😀b\ufffdc\ufffd"
    items, _ = read('{"choices":[{"delta":{"content":"a\\ud83d"}}]}', DONE)
    assert spoken(items) == "a\ufffd"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 8}}, Usage(9, 4, 8)),
        (
            {"input_tokens": 9, "output_tokens": 4.0, "completion_tokens_details": {"reasoning_tokens": 2}},
            Usage(9, 4, None, 2),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 0}, Usage(9, 4, 0)),
    ],
)
def test_usage_is_read_under_the_names_in_use(usage: dict[str, Any], expected: Usage) -> None:
    assert only(Usage, read(say("x", "stop") | {"usage": usage})[0]) == [expected]
    assert only(Usage, read(say("x", "stop"), {"x_groq": {"usage": usage}})[0]) == [expected]


def test_a_usage_that_does_not_change_is_given_once() -> None:
    usage = {"usage": {"completion_tokens": 1}}
    assert len(only(Usage, read(say("a") | usage, say("b") | usage, chunk({}, "stop") | usage)[0])) == 1


# -- ends ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "outcome", "noted"),
    [
        ([], "truncated", True),
        ([DONE], "complete", True),
        ([chunk({}, None), DONE], "complete", True),
        (["[done]"], "complete", True),
        (['"[DONE]"'], "complete", True),
        ([chunk({}, "stop")], "complete", False),
        ([chunk({}, "stop"), DONE], "complete", False),
        ([chunk({}, "quantum_flux"), DONE], "complete", False),
        ([chunk({}, "length")], "complete", True),
        ([chunk({}, "stop"), SseEvent('{"usage":{"pro', flaw="truncated")], "complete", True),
        ([SseEvent('{"choices":[{"del', flaw="truncated")], "truncated", True),
        ([chunk({"content": " x"}, ""), chunk({}, "null")], "truncated", True),
    ],
)
def test_missing_end_marks_decide_between_complete_and_truncated(last: list[Any], outcome: str, noted: bool) -> None:
    _, ending = read(chunk({"role": "assistant"}), say("Hello"), *last)
    assert ending.outcome == outcome
    assert bool(ending.note) == noted


@pytest.mark.parametrize(
    "payloads",
    [[], [DONE], [chunk({"role": "assistant", "content": ""})], [chunk({}, "stop"), DONE], [say(" \n"), DONE]],
)
def test_an_answer_without_text_is_empty_and_never_a_success(payloads: list[Any]) -> None:
    _, ending = read(*payloads)
    assert ending.outcome == "empty"
    assert "empty" in ending.note


def test_unreadable_events_are_skipped_and_counted() -> None:
    reader = DeltaReader()
    items, ending = read(
        say("a"), "{not json", '{"choices":[{"delta":{"content":"x"', "[" * 9999, say("b", "stop"), reader=reader
    )
    assert (spoken(items), reader.malformed, ending.outcome) == ("ab", 3, "complete")
    assert "3 unreadable" in ending.note


def test_deeply_nested_values_do_not_break_the_reader() -> None:
    deep = '{"choices":[{"delta":{"content":' + "[" * 400 + '"x"' + "]" * 400 + "}}]}"
    items, ending = read(say("a"), deep, say("b", "stop"))
    assert ending.outcome == "complete"
    assert spoken(items) in ("ab", "axb")


def test_events_run_together_for_want_of_a_blank_line_are_all_read() -> None:
    together = "\n".join([json.dumps(say("a")), json.dumps(say("b", "stop")), DONE])
    assert spoken(read(together)[0]) == "ab"
    cut = SseEvent(json.dumps(say("a")) + '\n{"choi', flaw="truncated")
    items, ending = read(cut)
    assert (spoken(items), ending.outcome) == ("a", "truncated")


def test_unknown_and_ping_events_are_ignored() -> None:
    reader = DeltaReader()
    items, ending = read(
        SseEvent('{"type":"ping"}', "ping"),
        SseEvent("", "ping"),
        SseEvent('{"x":1}', "vendor.progress"),
        SseEvent("50%", "vendor.progress"),
        SseEvent('{"detail":"loading","response":"x","message":{"content":"y"}}', "vendor.progress"),
        say("Hi"),
        SseEvent(json.dumps(say(" there", "stop")), "chat.completion.chunk"),
        reader=reader,
    )
    assert items == [Token("Hi"), Token(" there"), Finish("stop")]
    assert (reader.malformed, ending.note) == (0, "")


# -- errors -------------------------------------------------------------------------------------------------------

ERRORS = [
    (SseEvent('{"error":{"message":"quota exceeded"}}'), ProviderError("quota exceeded")),
    (
        SseEvent('{"type":"error","error":{"type":"overloaded_error"}}', "error"),
        ProviderError("overloaded_error", "overloaded_error"),
    ),
    (SseEvent('{"choices":[],"error":{"message":"no","code":429,"type":"rate"}}'), ProviderError("no", "rate", "429")),
    (SseEvent('{"error":"model not found"}'), ProviderError("model not found")),
    (
        SseEvent('{"object":"error","message":"too long","type":"BadRequestError","code":400}'),
        ProviderError("too long", "BadRequestError", "400"),
    ),
    (SseEvent('{"detail":"Not authenticated"}'), ProviderError("Not authenticated")),
    (SseEvent('{"code":"Throttled","message":"slow down"}'), ProviderError("slow down", "", "Throttled")),
    (SseEvent('{"success":false,"message":"gone"}'), ProviderError("gone")),
    (SseEvent('{"error_code":336003,"error_msg":"bad"}'), ProviderError("bad")),
    (SseEvent('{"errors":[{"message":"bad","code":7}]}'), ProviderError("bad", "", "7")),
    (SseEvent('[{"error":{"message":"bad","code":400,"status":"INVALID"}}]'), ProviderError("bad", "INVALID", "400")),
    (SseEvent("upstream timed out", "error"), ProviderError("upstream timed out")),
    (SseEvent('"upstream timed out"', "error"), ProviderError("upstream timed out")),
    (SseEvent('{"message":"gone"}', "response.error"), ProviderError("gone")),
    (
        SseEvent('{"choices":[{"delta":{},"finish_reason":"error","error":{"message":"died","code":502}}]}'),
        ProviderError("died", "", "502"),
    ),
    (SseEvent('{"error":true,"message":"bad"}'), ProviderError("bad")),
    (SseEvent('{"error":{"message":{"detail":[{"msg":"deep"}]}}}'), ProviderError("deep")),
    (SseEvent('{"message":"Rate limit exceeded","request_id":"7"}'), ProviderError("Rate limit exceeded")),
    (SseEvent("", "error"), ProviderError("the provider reported an error")),
    (SseEvent('{"detail":"no"}', "ERROR"), ProviderError("no")),
    (SseEvent("", flaw="oversized"), ProviderError("the server sent a line that is too long to read", "protocol")),
]


@pytest.mark.parametrize(("event", "error"), ERRORS)
@pytest.mark.parametrize("before", [[], [say("Partial")]])
@pytest.mark.parametrize("after", [[], [DONE]])
def test_an_error_inside_the_stream_is_shown_in_the_providers_words(
    event: SseEvent, error: ProviderError, before: list[Any], after: list[Any]
) -> None:
    items, ending = read(*before, event, *after)
    assert only(ProviderError, items) == [error]
    assert spoken(items) == ("Partial" if before else "")
    assert ending.outcome == "error"
    assert error.message in ending.note


def test_a_finish_reason_that_says_error_is_an_error() -> None:
    items, ending = read(say("Partial", "error"))
    assert ending.outcome == "error"
    assert len(only(ProviderError, items)) == 1


# -- whole bodies and line JSON -----------------------------------------------------------------------------------

WHOLE = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi there."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 3},
}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_whole_completion_instead_of_a_stream_is_the_answer(indent: int | None) -> None:
    decoder = SniffingDecoder()
    events = decoder.feed(json.dumps(WHOLE, indent=indent).encode()) + decoder.close()
    items, ending = read(*events)
    assert items == [Token("Hi there."), Usage(3, 3), Finish("stop")]
    assert (decoder.mode, ending.outcome) == ("body", "complete")


def test_a_whole_completion_needs_no_finish_reason() -> None:
    items, ending = read({"choices": [{"message": {"content": "Hi"}}]})
    assert (spoken(items), ending.outcome) == ("Hi", "complete")


def test_a_whole_message_after_the_deltas_is_not_said_twice() -> None:
    items, ending = read(say("Hi there."), WHOLE, DONE)
    assert (spoken(items), ending.outcome) == ("Hi there.", "complete")


def test_legacy_text_choices_are_read() -> None:
    items, ending = read({"choices": [{"text": "Hi"}]}, {"choices": [{"text": " you", "finish_reason": "stop"}]})
    assert (spoken(items), ending.outcome) == ("Hi you", "complete")


def test_line_json_of_both_ollama_endpoints_is_read_in_order() -> None:
    chat = [
        {"model": "m", "message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": False},
        {"model": "m", "message": {"content": " you"}, "done": False},
        {"done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 2},
    ]
    items, ending = read(*chat)
    assert items == [Token("hm", True), Token("Hi"), Token(" you"), Usage(7, 2), Finish("stop")]
    assert ending.outcome == "complete"
    items, _ = read({"response": "Hi", "done": False}, {"response": " you", "done": True})
    assert spoken(items) == "Hi you"
    assert read(*chat[:-1])[1].outcome == "truncated"


def test_a_line_json_error_at_the_end_is_surfaced() -> None:
    decoder = LineJsonDecoder()
    body = b'{"message":{"content":"Hi"},"done":false}\n\n{"error":"out of memory"}'
    items, ending = read(
        *[event for i in range(len(body)) for event in decoder.feed(body[i : i + 1])], *decoder.close()
    )
    assert items == [Token("Hi"), ProviderError("out of memory")]
    assert ending.outcome == "error"


def test_line_json_tool_calls_with_object_arguments_are_read() -> None:
    call = {"function": {"name": "look_up", "arguments": {"city": "Köln"}}}
    items, ending = read({"message": {"content": "", "tool_calls": [call, call]}, "done": False}, {"done": True})
    assert [(c.name, json.loads(c.arguments)) for c in only(ToolCall, items)] == [("look_up", {"city": "Köln"})] * 2
    assert ending.outcome == "complete"


# -- anything at all ----------------------------------------------------------------------------------------------


NAMES = ["choices", "delta", "message", "content", "role", "finish_reason", "index", "tool_calls", "function", "name"]
NAMES += ["arguments", "id", "error", "usage", "type", "text", "done", "reasoning"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.lists(json_values, max_size=4))
def test_no_json_a_server_can_send_raises(values: list[Any]) -> None:
    _, ending = read(*[SseEvent(json.dumps(value)) for value in values])
    assert ending.outcome in ("complete", "truncated", "empty", "error")


def test_bytes_to_ending_through_the_decoder() -> None:
    body = 'data: {"choices":[{"delta":{"content":"Partial"}}]}\n\nevent: error\ndata: {"error":{"message":"boom"}}\n\n'
    decoder = SseDecoder()
    items, ending = read(*decoder.feed(body.encode()), *decoder.close())
    assert (items, ending.outcome) == ([Token("Partial"), ProviderError("boom")], "error")
