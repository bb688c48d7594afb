"""What is cut off a recording before it is decoded, where a long one is cut in two, and the language of decoding."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from voicetui.listen.edges import FRAME_SAMPLES
from voicetui.listen.language import LanguageMemory
from voicetui.listen.trim import pieces, speech_ms, speech_span
from voicetui.ports import RATE_HZ

FRAMES_PER_S = RATE_HZ / FRAME_SAMPLES


def scores(*parts: tuple[float, float]) -> NDArray[np.float32]:
    """Frame probabilities, in parts of (seconds, probability)."""
    return np.concatenate([np.full(round(seconds * FRAMES_PER_S), value, np.float32) for seconds, value in parts])


class TestTrim:
    def test_sound_is_trimmed_to_its_speech_and_300_ms_on_either_side(self) -> None:
        heard = scores((1, 0.02), (2, 0.9), (4, 0.02))
        span = speech_span(heard, 7 * RATE_HZ)
        assert span is not None
        assert span[0] / RATE_HZ == pytest.approx(0.7, abs=0.05)
        assert span[1] / RATE_HZ == pytest.approx(3.3, abs=0.05)

    def test_the_trim_stays_inside_the_sound(self) -> None:
        assert speech_span(scores((1, 0.9)), 15_000) == (0, 15_000)

    def test_sound_without_speech_has_no_span_and_no_speech_ms(self) -> None:
        heard = scores((3, 0.1))
        assert speech_span(heard, 3 * RATE_HZ) is None
        assert speech_ms(heard) == 0.0
        assert speech_span(np.zeros(0, np.float32), 0) is None

    def test_speech_ms_counts_speech_alone(self) -> None:
        assert speech_ms(scores((1, 0.02), (2, 0.9), (1, 0.02), (1, 0.6))) == pytest.approx(3000, abs=64)


class TestPieces:
    def test_a_short_recording_is_one_piece(self) -> None:
        heard = scores((20, 0.9))
        assert pieces(heard) == [(0, heard.size)]

    def test_a_long_one_is_cut_in_the_middle_of_its_longest_pause(self) -> None:
        heard = scores((14, 0.9), (0.3, 0.1), (5, 0.9), (1, 0.1), (14, 0.9))
        (begin, cut), (again, end) = pieces(heard)
        assert (begin, again, end) == (0, cut, heard.size)
        assert cut / FRAMES_PER_S == pytest.approx(19.8, abs=0.1)

    def test_one_without_a_pause_is_cut_where_speech_is_least_likely(self) -> None:
        heard = scores((60, 0.9))
        heard[round(20 * FRAMES_PER_S)] = 0.5
        assert pieces(heard)[0] == (0, round(20 * FRAMES_PER_S))

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.tuples(st.floats(0.1, 9), st.floats(0, 1)), max_size=30))
    def test_pieces_cover_everything_once_and_none_is_too_long(self, parts: list[tuple[float, float]]) -> None:
        heard = scores((0, 0), *parts)
        cut = pieces(heard)
        assert cut[0][0] == 0
        assert cut[-1][1] == heard.size
        assert all(before[1] == after[0] for before, after in pairwise(cut))
        assert all(begin < end <= begin + 25 * FRAMES_PER_S for begin, end in cut if heard.size)


class TestLanguage:
    GUESSES = (("ms", 0.41), ("en", 0.30), ("id", 0.1))

    def test_a_pinned_language_wins_over_any_guess(self) -> None:
        memory = LanguageMemory(pinned="en")
        assert memory.choose([("ms", 0.99)], 5000, remember=True) == ("en", None)
        assert memory.language == "en"

    def test_below_the_floor_the_session_keeps_its_language_and_shows_how_likely_it_was(self) -> None:
        assert LanguageMemory().choose(self.GUESSES, 700, remember=True) == ("en", 0.30)
        assert LanguageMemory(first="de").choose(self.GUESSES, 9000, remember=True) == ("de", None)

    def test_a_sure_guess_changes_the_language_of_the_session(self) -> None:
        memory = LanguageMemory()
        assert memory.choose([("de", 0.9), ("en", 0.05)], 3000, remember=True) == ("de", 0.9)
        assert memory.choose(self.GUESSES, 3000, remember=True)[0] == "de"

    def test_short_speech_needs_a_surer_guess(self) -> None:
        assert LanguageMemory().choose([("ms", 0.7)], 700, remember=True)[0] == "en"
        assert LanguageMemory().choose([("ms", 0.7)], 2000, remember=True)[0] == "ms"

    def test_a_partial_does_not_change_the_language_of_the_session(self) -> None:
        memory = LanguageMemory()
        assert memory.choose([("de", 0.9)], 3000, remember=False)[0] == "de"
        assert memory.language == "en"
