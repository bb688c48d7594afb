"""A sentence that ends and was read clearly does not wait for the longest pauses, unless the sound says it goes on."""

from __future__ import annotations

import pytest

from voicetui.conversation.patience import wait_for
from voicetui.conversation.policy import Policy
from voicetui.conversation.state import Words

RULES = Policy(turn_end="model", score_words=True, ended_ms=750.0)
LEFT_OPEN = 0.002
"""The score of words that could go on: "the largest planet", say."""


def waited(text: str, score: float | None, clear: bool = True, policy: Policy = RULES) -> float:
    return wait_for(policy, policy.silence_ms, score, Words(text, clear, LEFT_OPEN), ()).ms


@pytest.mark.parametrize("score", [None, 0.1, 0.4, 0.9])
def test_it_waits_so_long_at_most(score: float | None) -> None:
    assert waited("Do you know the largest planet?", score) <= 750
    assert waited("Do you know the largest planet?", score, policy=Policy()) >= waited(
        "Do you know the largest planet?", score
    )


@pytest.mark.parametrize(
    ("text", "score", "clear"),
    [
        ("Do you know the largest planet", 0.4, True),
        ("Do you know the largest planet?", 0.05, True),
        ("Do you know the largest planet?", 0.4, False),
        ("If it rains tomorrow.", 0.4, True),
    ],
)
def test_without_an_end_that_was_read_clearly_or_against_the_sound_it_waits_longer(
    text: str, score: float, clear: bool
) -> None:
    assert waited(text, score, clear) > 750


def test_it_never_waits_less_than_the_least() -> None:
    policy = Policy(turn_end="model", score_words=True, ended_ms=100.0)
    assert waited("Do you know the largest planet?", 0.4, policy=policy) == policy.sure_ms


def test_words_that_ask_for_more_are_waited_for_all_the_same() -> None:
    assert waited("I want to reset the...", 0.9) == RULES.unfinished_ms
