"""A sentence that ends and was read clearly does not wait for the longest pauses, unless the sound says it goes on."""

from __future__ import annotations

import msgspec
import pytest

from voicetui.conversation.patience import wait_for
from voicetui.conversation.policy import Policy
from voicetui.conversation.state import Words

RULES = Policy(turn_end="model", score_words=True, ended_ms=750.0)
LEFT_OPEN = 0.002
"""The score of words that could go on: "the largest planet", say."""


def waited(text: str, score: float | None, logprob: float | None = None, policy: Policy = RULES) -> float:
    return wait_for(policy, policy.silence_ms, score, Words(text, logprob, LEFT_OPEN), ()).ms


@pytest.mark.parametrize("score", [None, 0.1, 0.4, 0.9])
def test_it_waits_so_long_at_most(score: float | None) -> None:
    assert waited("Do you know the largest planet?", score) <= 750
    assert waited("Do you know the largest planet?", score, policy=Policy()) >= waited(
        "Do you know the largest planet?", score
    )


@pytest.mark.parametrize(
    ("text", "score", "logprob"),
    [
        ("Do you know the largest planet", 0.4, -0.1),
        ("Do you know the largest planet?", 0.05, -0.1),
        ("Do you know the largest planet?", 0.4, -0.3),
        ("If it rains tomorrow.", 0.4, -0.1),
    ],
)
def test_without_an_end_that_was_read_clearly_or_against_the_sound_it_waits_longer(
    text: str, score: float, logprob: float
) -> None:
    assert waited(text, score, logprob) > 750


def test_words_may_be_read_less_clearly_for_this_than_for_a_sure_end() -> None:
    lenient = msgspec.structs.replace(RULES, clear_logprob=-0.15, ended_logprob=-0.25)
    question = "Do you know the largest planet?"
    assert waited(question, 0.4, -0.2, lenient) == 750
    assert waited(question, 0.4, -0.26, lenient) > 750
    sure = Words(question, -0.1, 0.3), Words(question, -0.2, 0.3)
    clearly, barely = (wait_for(lenient, lenient.silence_ms, None, words, ()).ms for words in sure)
    assert clearly < barely, "they are not a clear end for it"


def test_it_never_waits_less_than_the_least() -> None:
    policy = Policy(turn_end="model", score_words=True, ended_ms=100.0)
    assert waited("Do you know the largest planet?", 0.4, policy=policy) == policy.sure_ms


def test_words_that_ask_for_more_are_waited_for_all_the_same() -> None:
    assert waited("I want to reset the...", 0.9) == RULES.unfinished_ms
