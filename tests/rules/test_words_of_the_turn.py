"""What the words themselves say about the turn."""

from __future__ import annotations

import pytest

from voicetui.conversation.words import backchannel, same_words, unfinished


@pytest.mark.parametrize(
    "text",
    [
        "I want to reset the",
        "I want to, um",
        "and",
        "Tell me about the...",
        "First,",
        "I'd like a",
        "It is because",
        "so -",
    ],
)
def test_these_ask_for_more(text: str) -> None:
    assert unfinished(text)


@pytest.mark.parametrize(
    "text",
    [
        "That is all.",
        "What is that?",
        "Stop.",
        "Yes.",
        "Who are you?",
        "I think so.",
        "What is it for?",
        "",
        "...",
        "日本語です。",
    ],
)
def test_these_do_not(text: str) -> None:
    assert not unfinished(text)


@pytest.mark.parametrize(
    "text", ["Mm-hmm.", "MMMM", "Mmm.", "Hmm", "Uh-huh.", "yeah", "ok", "Okay, yeah.", "Right.", "I see."]
)
def test_these_only_say_that_someone_listens(text: str) -> None:
    assert backchannel(text)


@pytest.mark.parametrize(
    "text", ["yeah stop", "no", "stop", "wait", "what colour is the sky", "", "yes yes go to the next", "hammer"]
)
def test_these_say_more(text: str) -> None:
    assert not backchannel(text)


def test_case_and_punctuation_make_no_other_words() -> None:
    assert same_words("what's the weather", "What’s the weather?")
    assert not same_words("what's the weather", "what's the weather in Paris")
