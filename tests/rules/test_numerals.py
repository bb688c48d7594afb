"""Numbers in English words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicetui.reply.numerals import clock_words, digit_words, integer_words, number_words, ordinal_words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (13, "thirteen"),
        (20, "twenty"),
        (49, "forty nine"),
        (100, "one hundred"),
        (115, "one hundred fifteen"),
        (1234, "one thousand two hundred thirty four"),
        (1_000_001, "one million one"),
        (-7, "minus seven"),
        (12_000_000_000_000, "twelve trillion"),
        (10**15, "one" + " zero" * 15),
    ],
)
def test_integers(number: int, words: str) -> None:
    assert integer_words(number) == words


@settings(deadline=None)
@given(st.integers(0, 10**15 - 1), st.integers(0, 10**15 - 1))
def test_different_numbers_have_different_words(one: int, other: int) -> None:
    assert (integer_words(one) == integer_words(other)) == (one == other)
    assert "  " not in integer_words(one)


def test_decimals_signs_and_absurd_lengths() -> None:
    assert number_words("-1,234.05") == "minus one thousand two hundred thirty four point zero five"
    assert number_words(".5") == "zero point five"
    assert number_words("9" * 5000).split() == ["nine"] * 5000
    assert digit_words("3a1") == "three one"


def test_ordinals() -> None:
    assert [ordinal_words(n) for n in (1, 5, 8, 9, 12, 20, 33, 100)] == [
        "first",
        "fifth",
        "eighth",
        "ninth",
        "twelfth",
        "twentieth",
        "thirty third",
        "one hundredth",
    ]


def test_times_of_day() -> None:
    times = [(8, 0), (12, 5), (9, 30), (0, 0), (15, 0)]
    words = ["eight o'clock", "twelve oh five", "nine thirty", "midnight", "fifteen hundred"]
    assert [clock_words(*time) for time in times] == words
