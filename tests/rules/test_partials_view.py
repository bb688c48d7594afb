"""How fast partial transcripts are made, and how much of them is taken back."""

from __future__ import annotations

import pytest

from voicetui.events import Entry
from voicetui.events.listen import Evidence, Transcribed
from voicetui.views.partials import Partials, PartialsFold


def fold(*said: tuple[int, str, bool], took_ms: float = 100.0, sound_ms: float = 1000.0) -> Partials:
    view = PartialsFold()
    for number, (utterance, text, final) in enumerate(said):
        at_ms = 5000.0 + 500 * number
        end = int(sound_ms * 16)
        fact = Transcribed(utterance, number, text, final, 0, end, at_ms - took_ms, 0.0, Evidence())
        view.feed(Entry(number, at_ms, fact))
    return view.snapshot()


def test_the_real_time_factor_is_of_partials_alone() -> None:
    assert fold((1, "what", False), (1, "what is", True)).real_time_factor == pytest.approx(0.1)
    assert fold((1, "what is it", True)) == Partials(0, None, None)
    assert fold() == Partials()


def test_churn_counts_words_that_did_not_stay_in_their_place() -> None:
    kept = fold((1, "What is", False), (1, "what is the", False), (1, "What is the capital?", True))
    assert (kept.n, kept.churn) == (2, 0.0)
    revised = fold((1, "what is a kept", False), (1, "what is the capital", True))
    assert revised.churn == 0.5
    shrunk = fold((1, "one two three four", False), (1, "one two", True))
    assert shrunk.churn == 0.5


def test_the_words_of_one_utterance_do_not_revise_those_of_another() -> None:
    assert fold((1, "what is", False), (2, "hello", False), (2, "hello there", True)).churn == 0.0
