"""Words as they are compared: case and punctuation do not count, everything that is heard does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicetui.events.words import normalise_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("what's the weather", "What’s the weather?"),
        ("Yes, please!", "yes please"),
        ("a well-known place", "A well known place."),
        ("1,200 people", "1200 people"),
        ("naïve", "nai\u0308ve"),
        ("STRASSE", "Straße"),
        ("(hello) — “world”…", "hello world"),
        ("Ｈｅｌｌｏ", "hello"),
        ("so\u200b\ufeff long", "so long"),
        ("今天天气真好。", "今天，天气真好"),
        ("okay 👍🏽", "Okay."),
        ("‘tis the dogs’ 'n' cats", "tis the dogs n cats"),
    ],
)
def test_texts_that_sound_alike_have_the_same_words(one: str, other: str) -> None:
    assert normalise_words(one) == normalise_words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("what's the weather", "what's the weather in Paris"),
        ("were", "we're"),
        ("3.14", "314"),
        ("9:30", "930"),
        ("50", "50%"),
        ("5", "$5"),
        ("C", "C++"),
        ("no no", "no"),
        ("resume", "resumé"),
    ],
)
def test_texts_that_sound_different_have_different_words(one: str, other: str) -> None:
    assert normalise_words(one) != normalise_words(other)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don’t say “it’s 9:30.”", ("don't", "say", "it's", "9:30")),
        ("Pi is 3.14, or 1,234,567.", ("pi", "is", "3.14", "or", "1234567")),
        ("12,34 and 1, 234", ("12", "34", "and", "1", "234")),
        ("今天 OK", ("今", "天", "ok")),
        ("がっこう", ("が", "っ", "こ", "う")),
        ("안녕하세요 여러분!", ("안녕하세요", "여러분")),
        ("नमस्ते दुनिया।", ("नमस्ते", "दुनिया")),
        ("مرحبا، كيف حالك؟", ("مرحبا", "كيف", "حالك")),
        ("สวัสดีครับ", ("สวัสดีครับ",)),
        ("rock'n'roll O'Clock", ("rock'n'roll", "o'clock")),
        ("snake_case 2.", ("snake", "case", "2")),
        ("", ()),
        ("… ?! — 🙂 \n", ()),
    ],
)
def test_words_of_every_script(text: str, words: tuple[str, ...]) -> None:
    assert normalise_words(text) == words


@settings(deadline=None)
@given(st.text(max_size=60))
def test_words_are_their_own_words(text: str) -> None:
    words = normalise_words(text)
    assert all(words)
    assert normalise_words(" ".join(words)) == words
