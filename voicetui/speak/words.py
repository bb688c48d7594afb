"""When each word of a clause is said: an estimate from its letters, for counting what was heard and for going back to a word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

_CJK: Final = "\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
"""Scripts written without spaces, where each character counts as a word. (Hangul is written with spaces.)"""

_TOKEN: Final = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")

LETTERS_PER_WORD: Final = 2.0
"""What a word takes beside its letters, in letters: short words are said slower than their spelling suggests."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the model's text: ``text[:text_end]`` ends with it, and it sounds from ``start`` to ``end`` (frames in the clause)."""

    text_end: int
    start: int
    end: int


def count_words(text: str) -> int:
    """How many words ``text`` has: runs without spaces that hold a letter or digit; in CJK, characters."""
    return len(_tokens(text))


def time_words(text: str, spoken: str, start: int, end: int) -> tuple[Word, ...]:
    """The words of ``text`` spread over the audible frames ``start`` to ``end`` by the length of what is said for each.

    ``spoken`` is what the voice was given ("forty nine dollars" for "$49"); words of ``text`` that are not said take no time.
    """
    ends = _tokens(text)
    weights = _weights([text[first:last] for first, last in ends], [spoken[a:b] for a, b in _tokens(spoken)])
    total = sum(weights)
    words: list[Word] = []
    passed = 0.0
    for (_, text_end), weight in zip(ends, weights, strict=True):
        word_start = start + round((end - start) * passed / total) if total else start
        passed += weight
        word_end = start + round((end - start) * passed / total) if total else end
        words.append(Word(text_end, word_start, word_end))
    return tuple(words)


def _tokens(text: str) -> list[tuple[int, int]]:
    """Where the words are: [first, end) each, punctuation kept with the word before it."""
    spans: list[tuple[int, int]] = []
    for found in _TOKEN.finditer(text):
        if any(character.isalnum() for character in found.group()):
            spans.append(found.span())
        elif spans:
            spans[-1] = (spans[-1][0], found.end())
    return spans


def _plain(word: str) -> str:
    return "".join(character for character in word.casefold() if character.isalnum())


def _weights(words: list[str], said: list[str]) -> list[float]:
    """How long each of ``words`` takes, in letters, given that ``said`` is spoken for them."""
    plain = [_plain(word) for word in words]
    plain_said = [_plain(word) for word in said]
    weights = [0.0] * len(words)
    matcher = SequenceMatcher(None, plain, plain_said, autojunk=False)
    for _, first, end, said_first, said_end in matcher.get_opcodes():
        run = sum(len(word) + LETTERS_PER_WORD for word in plain_said[said_first:said_end])
        letters = sum(len(word) for word in plain[first:end])
        for index in range(first, end):
            weights[index] = run * len(plain[index]) / letters if letters else 0.0
        if first == end and run and words:
            weights[min(first, len(words) - 1)] += run  # said, but not written: it belongs to the word it comes before
    return weights
