"""Reasoning is shown apart and never spoken, in fields or inline, however its tags are cut."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicetui.reply.deltas import DeltaReader, Ending, Finish, Item, Token
from voicetui.reply.sse import SseEvent


def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    return json.dumps({"choices": [{"delta": delta, "finish_reason": finish}]})


def say(text: str, finish: str | None = None) -> str:
    return chunk({"content": text}, finish)


def read(*payloads: str, reader: DeltaReader | None = None) -> tuple[list[Item], Ending]:
    reader = reader or DeltaReader()
    items = [item for payload in payloads for item in reader.read(SseEvent(payload))]
    ending = reader.finish()
    return items + list(ending.rest), ending


def spoken(items: list[Item]) -> str:
    return "".join(item.text for item in items if isinstance(item, Token) and not item.reasoning)


def thought(items: list[Item]) -> str:
    return "".join(item.text for item in items if isinstance(item, Token) and item.reasoning)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking", "reasoning_text", "reasoning_details"])
def test_reasoning_fields_are_kept_apart_from_the_answer(field: str) -> None:
    items, ending = read(chunk({field: "plan", "content": None}), chunk({"content": "Hi"}, "stop"))
    assert items == [Token("plan", True), Token("Hi"), Finish("stop")]
    assert ending == Ending("complete", reason="stop")


def test_the_same_reasoning_under_two_names_is_read_once() -> None:
    items, _ = read(chunk({"reasoning_content": "plan", "reasoning": "plan"}), say("Hi", "stop"))
    assert (thought(items), spoken(items)) == ("plan", "Hi")


THINKING = [
    ["<think>plan</think>Hi"],
    ["<th", "ink>plan</thi", "nk>Hi"],
    ["\n<think>plan", "</think>\n\n", "\n", "Hi"],
    ["<Thinking>plan</THINKING>Hi"],
    ["[THINK]plan[/THINK]", " Hi"],
    ["◁think▷plan◁/think▷Hi"],
    ["<|begin_of_thought|>plan<|end_", "of_thought|>Hi"],
    ["<thi", "nk>pl", "an</", "think>", "Hi"],
    ["<think time='3' x=y>plan</think >Hi"],
    ["< think >plan</ think>Hi"],
    ["<seed:think>plan</seed:think>Hi"],
    ["<scratchpad>plan</scratchpad>Hi"],
    ["<|thinking|>plan<|/thinking|>Hi"],
    ["<|channel|>analysis<|mess", "age|>plan<|channel|>final<|message|>Hi"],
]


@pytest.mark.parametrize("texts", THINKING)
def test_inline_reasoning_is_not_spoken_also_with_its_tags_cut(texts: list[str]) -> None:
    items, ending = read(*map(say, texts), "[DONE]")
    assert (thought(items), spoken(items).strip()) == ("plan", "Hi")
    assert ending.outcome == "complete"
    assert thought(read(*[say(c) for c in "".join(texts)], "[DONE]")[0]) == "plan"


def test_unclosed_reasoning_is_never_spoken_and_is_reported() -> None:
    items, ending = read(say("<think>plan"))
    assert (thought(items), spoken(items), ending.outcome) == ("plan", "", "truncated")
    assert "never closed" in ending.note
    items, ending = read(say("<think>plan", "length"))
    assert (spoken(items), ending.outcome) == ("", "empty")
    assert "only reasoning" in ending.note


def test_models_without_an_opening_tag_are_an_option() -> None:
    for texts in (["plan</think>Hi"], ["plan</th", "ink>\nHi"], ["<think>plan</think>Hi"]):
        items, ending = read(*map(say, texts), "[DONE]", reader=DeltaReader(starts_in_reasoning=True))
        assert (thought(items), spoken(items), ending.outcome) == ("plan", "Hi", "complete")
    items, ending = read(say("plan</think>Hi"), "[DONE]")
    assert spoken(items) == "planHi"
    assert "without an opening tag" in ending.note


def test_the_option_yields_to_a_provider_that_separates_reasoning_itself() -> None:
    reader = DeltaReader(starts_in_reasoning=True)
    items, _ = read(chunk({"reasoning_content": "plan"}), say("Hi", "stop"), reader=reader)
    assert (thought(items), spoken(items)) == ("plan", "Hi")


@pytest.mark.parametrize(
    "text",
    [
        "a < b",
        "x <",
        "1 <t 2",
        "<thin",
        "use `<think>` so",
        "<think so> I",
        "I <think x=",
        "< the",
        "a [x] <b>c</b>",
        "[",
        "</",
    ],
)
def test_text_that_only_looks_like_a_reasoning_tag_is_spoken(text: str) -> None:
    for texts in ([text], list(text)):
        assert spoken(read(*map(say, texts), "[DONE]")[0]) == text
        assert spoken(read(*map(say, texts))[0]) == text


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<think>",
                "</think>",
                "<",
                "th",
                "ink>",
                "ink x",
                "='1'>",
                "a",
                " ",
                "\n",
                "`",
                "</",
                "[THINK]",
                "<|chan",
                "nel|>",
                "😀",
            ]
        ),
        max_size=12,
    )
)
def test_the_size_of_the_deltas_never_changes_what_is_spoken_or_thought(parts: list[str]) -> None:
    text = "".join(parts)
    readings = [read(*map(say, texts), "[DONE]") for texts in ([text], parts, list(text))]
    assert len({(spoken(items), thought(items), ending.outcome) for items, ending in readings}) == 1
