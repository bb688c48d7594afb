"""Tool calls come out whole and apart, however a provider numbers, names and cuts them."""

import json
from typing import Any

import pytest

from voicetui.reply.deltas import DeltaReader, Ending, Finish, Item, Token
from voicetui.reply.sse import SseEvent
from voicetui.reply.toolcalls import ToolCall

DONE = "[DONE]"


def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    return json.dumps({"choices": [{"delta": delta, "finish_reason": finish}]})


def read(*payloads: str) -> tuple[list[Item], Ending]:
    reader = DeltaReader()
    items = [item for payload in payloads for item in reader.read(SseEvent(payload))]
    ending = reader.finish()
    return items + list(ending.rest), ending


def only(kind: type, items: list[Item]) -> list[Any]:
    return [item for item in items if isinstance(item, kind)]


def part(
    index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    fragment = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
    return {key: value for key, value in fragment.items() if value is not None}


TWO_CALLS = {
    "well-formed": [
        [part(0, "a", "f", "")],
        [part(0, None, None, '{"x"')],
        [part(0, None, None, ":1}")],
        [part(1, "b", "g", '{"y":2}')],
    ],
    "both at index 0, different ids": [
        [part(0, "a", "f", '{"x"')],
        [part(0, "a", None, ":1}")],
        [part(0, "b", "g", '{"y"')],
        [part(0, "b", None, ":2}")],
    ],
    "both at index 0, ids only once": [
        [part(0, "a", "f", '{"x":1}')],
        [part(0, "b", "g", '{"y"')],
        [part(0, None, None, ":2}")],
    ],
    "no index": [[part(None, "a", "f", '{"x"')], [part(None, None, None, ":1}")], [part(None, "b", "g", '{"y":2}')]],
    "no index, one delta": [[part(None, "a", "f", '{"x":1}'), part(None, "b", "g", '{"y":2}')]],
    "no index, no id, one delta, then tails": [
        [part(None, None, "f", '{"x"'), part(None, None, "g", '{"y"')],
        [part(None, None, None, ":1}"), part(None, None, None, ":2}")],
    ],
    "no index, no id": [
        [part(None, None, "f", '{"x":1}')],
        [part(None, None, "g", "")],
        [part(None, None, None, '{"y":2}')],
    ],
    "tail on another index": [
        [part(0, "a", "f", '{"x"')],
        [part(1, None, None, ":1}")],
        [part(1, "b", "g", '{"y":2}')],
    ],
    "tail on the next call's index": [
        [part(0, "a", "f", '{"x"')],
        [part(1, "b", "g", "")],
        [part(1, None, None, ":1}")],
        [part(1, None, None, '{"y":2}')],
    ],
    "name repeated": [
        [part(0, "a", "f", "")],
        [part(0, "a", "f", '{"x"')],
        [part(0, "a", "f", ":1}")],
        [part(1, "b", "g", '{"y":2}')],
    ],
    "id after the name": [[part(0, "", "f", '{"x"')], [part(0, "a", None, ":1}")], [part(1, "b", "g", '{"y":2}')]],
    "placeholder before the arguments": [
        [part(0, "a", "f", "{}")],
        [part(0, None, None, '{"x"')],
        [part(0, None, None, ":1}")],
        [part(1, "b", "g", '{"y":2}')],
    ],
    "whole call repeated": [
        [part(0, "a", "f", '{"x":1}')],
        [part(1, "b", "g", '{"y":2}')],
        [part(0, "a", "f", '{"x": 1}'), part(1, "b", "g", '{"y":2}')],
    ],
    "arguments as objects": [[part(0, "a", "f", {"x": 1})], [part(1, "b", "g", {"y": 2})]],
    "arguments encoded twice": [[part(0, "a", "f", '"{\\"x\\":1}"')], [part("1", "b", "g", '{"y":2}')]],  # type: ignore[arg-type]
    "same id for both": [[part(0, "a", "f", '{"x":1}')], [part(1, "a", "g", '{"y":2}')]],
}


@pytest.mark.parametrize("deltas", TWO_CALLS.values(), ids=TWO_CALLS.keys())
@pytest.mark.parametrize("end", [[chunk({}, "tool_calls")], [DONE]])
def test_two_tool_calls_come_out_as_two_however_they_are_numbered(deltas: list[Any], end: list[Any]) -> None:
    items, ending = read(*[chunk({"tool_calls": delta}) for delta in deltas], *end)
    calls = only(ToolCall, items)
    assert [(call.index, call.name, json.loads(call.arguments)) for call in calls] == [
        (0, "f", {"x": 1}),
        (1, "g", {"y": 2}),
    ]
    assert not only(Token, items)
    assert ending.outcome == "complete"


@pytest.mark.parametrize("index", [None, 0])
def test_the_same_tool_twice_without_an_id_is_two_calls(index: int | None) -> None:
    whole = [[part(index, None, "f", '{"x":1}')], [part(index, None, "f", '{"x":2}')]]
    cut = [
        [part(index, None, "f", '{"x"')],
        [part(index, None, None, ":1}")],
        [part(index, None, "f", '{"x"')],
        [part(index, None, None, ":2}")],
    ]
    for deltas in (whole, cut):
        items, _ = read(*[chunk({"tool_calls": delta}) for delta in deltas], DONE)
        assert [json.loads(call.arguments) for call in only(ToolCall, items)] == [{"x": 1}, {"x": 2}]


def test_a_tool_call_is_given_only_once_complete_and_before_the_finish() -> None:
    reader = DeltaReader()
    assert reader.read(SseEvent(chunk({"tool_calls": [part(0, "a", "f", '{"x":1}')]}))) == []
    items = reader.read(SseEvent(chunk({"tool_calls": [part(1, "b", "g")]}, "tool_calls")))
    assert items == [ToolCall(0, "a", "f", '{"x":1}'), ToolCall(1, "b", "g", "{}"), Finish("tool_calls")]
    assert reader.answered


def test_a_cut_stream_runs_no_tool() -> None:
    items, ending = read(chunk({"content": "One moment."}), chunk({"tool_calls": [part(0, "a", "f", '{"x":1}')]}))
    assert (only(ToolCall, items), ending.outcome) == ([], "truncated")
    assert "tool call" in ending.note


def test_ill_formed_tool_arguments_are_an_error_and_not_a_call() -> None:
    items, ending = read(chunk({"tool_calls": [part(0, "a", "f", '{"x":')]}, "tool_calls"))
    assert only(ToolCall, items) == []
    assert ending.outcome == "error"


def test_the_legacy_function_call_is_read() -> None:
    items, _ = read(
        chunk({"function_call": {"name": "f", "arguments": '{"x"'}}),
        chunk({"function_call": {"arguments": ":1}"}}, "function_call"),
    )
    assert only(ToolCall, items) == [ToolCall(0, "", "f", '{"x":1}')]
