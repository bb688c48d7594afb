"""The words of a clause's text, and the time each of them takes of the sound that was made for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]
"""[first, end): frames of a sound, or characters of a text."""

_CJK: Final = "\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
"""Scripts written without spaces, where each character counts as a word. (Hangul is written with spaces.)"""

_TOKEN: Final = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the model's text: ``text[:text_end]`` ends with it; it sounds from frame ``start`` to ``end``."""

    text_end: int
    start: int
    end: int


def word_spans(text: str) -> list[Span]:
    """Where the words of ``text`` are: runs without spaces that hold a letter or digit, in CJK single characters.

    Punctuation belongs to the word before it.
    """
    spans: list[Span] = []
    for found in _TOKEN.finditer(text):
        if any(character.isalnum() for character in found.group()):
            spans.append(found.span())
        elif spans:
            spans[-1] = (spans[-1][0], found.end())
    return spans


def letters_of(word: str) -> str:
    """Only the letters and digits of a word, in one case."""
    return "".join(character for character in word.casefold() if character.isalnum())


def count_words(text: str) -> int:
    """How many words ``text`` has."""
    return len(word_spans(text))


def words_of_text(text: str, spoken: str, sounded: tuple[Span, ...]) -> tuple[Word, ...]:
    """The words of ``text`` with the frames of what was said for each.

    ``spoken`` is what the voice was given ("forty nine dollars" for "$49"), ``sounded`` the frames of each word of it.
    Words of ``text`` for which nothing was said take no time.
    """
    places = word_spans(text)
    written = [letters_of(text[first:end]) for first, end in places]
    said = [letters_of(spoken[first:end]) for first, end in word_spans(spoken)]
    frames: list[Span | None] = [None] * len(written)
    matcher = SequenceMatcher(None, written, said, autojunk=False)
    for how, first, end, said_first, said_end in matcher.get_opcodes():
        if how == "equal":
            frames[first:end] = sounded[said_first:said_end]
        elif how == "replace":
            run = (sounded[said_first][0], sounded[said_end - 1][1])
            frames[first:end] = share_out(run, [len(word) for word in written[first:end]])
    words: list[Word] = []
    reached = sounded[0][0] if sounded else 0
    for (_, text_end), span in zip(places, frames, strict=True):
        start, stop = span or (reached, reached)
        words.append(Word(text_end, start, stop))
        reached = stop
    return tuple(words)


def share_out(run: Span, weights: list[int]) -> list[Span]:
    """Cut ``run`` into touching spans whose lengths go by ``weights``."""
    total = sum(weights) or 1
    spans: list[Span] = []
    passed = 0
    for weight in weights:
        start = run[0] + round((run[1] - run[0]) * passed / total)
        passed += weight
        spans.append((start, run[0] + round((run[1] - run[0]) * passed / total)))
    return spans
