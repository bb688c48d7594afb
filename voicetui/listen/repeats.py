"""Repetition loops in a transcript: finding the repeated tail, and saying whether a mouth could have said it. Pure."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Final

_IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LETTERS = rf"(?:(?![{_IDEOGRAPH}])[^\W_])+"
_WORD = re.compile(rf"[{_IDEOGRAPH}]|{_LETTERS}(?:['’\-]{_LETTERS})*")
_STUTTER = re.compile(r"([^\W\d_]{1,4}?)\1{7,}", re.IGNORECASE)
_OPENED = re.compile(r"\s[\s\-–—(\[{\"'“‘«¿¡]*$")

MOST_COMPRESSION: Final = 2.4
"""openai/whisper's limit for the zlib ratio of a text that is not a loop."""
_MOST_COPIES_OF_A_WORD: Final = 8
_MOST_COPIES_OF_A_PHRASE: Final = 4


def words_of(text: str) -> list[str]:
    """The words of ``text`` (Chinese and Japanese: its characters), lower case, without marks."""
    return [word.casefold() for word in _WORD.findall(text)]


def compression_ratio(text: str) -> float:
    """Length of ``text`` in UTF-8 over its zlib length, as in openai/whisper; 0.0 for no text."""
    data = text.encode()
    return len(data) / len(zlib.compress(data)) if data else 0.0


@dataclass(frozen=True, slots=True)
class Tail:
    """The words from ``start`` on are ``period`` words said ``copies`` times; the last copy may be cut short (2.5)."""

    start: int
    period: int
    copies: float


def repeated_tail(words: list[str]) -> Tail | None:
    """The end of ``words`` that is one unit at least twice over: the longest such end, of the shortest unit, if any."""
    best: Tail | None = None
    for period in range(1, len(words) // 2 + 1):
        start = len(words) - period
        while start > 0 and words[start - 1] == words[start - 1 + period]:
            start -= 1
        copies = (len(words) - start) / period
        if copies >= 2 and (best is None or start < best.start):
            best = Tail(start, period, copies)
    return best


def degenerate(text: str) -> bool:
    """Whether ``text`` is a loop by its structure alone, however it was spoken.

    So is a word eight times over, a phrase four times, marks without words three times ("... ... ..."), a syllable
    stuttered eight times, or a text that zlib shrinks by more than ``MOST_COMPRESSION``; also where something else
    follows.  "no no no" is not.
    """
    words = words_of(text)
    if not words:
        return len(text.split()) >= 3
    if _STUTTER.search(text) or compression_ratio(text) > MOST_COMPRESSION:
        return True
    return any(
        _copies(words, period) >= (_MOST_COPIES_OF_A_WORD if period == 1 else _MOST_COPIES_OF_A_PHRASE)
        for period in range(1, len(words) // _MOST_COPIES_OF_A_PHRASE + 1)
    )


def _copies(words: list[str], period: int) -> float:
    """How often a unit of ``period`` words is said in a row, at most, wherever that is in ``words``."""
    longest = run = 0
    for word, after in zip(words, words[period:], strict=False):
        run = run + 1 if word == after else 0
        longest = max(longest, run)
    return longest / period + 1


def hurried_repeat(text: str, speech_ms: float, words_per_s: float) -> bool:
    """Whether ``text`` ends in a repeat and has more words than ``words_per_s`` allows in ``speech_ms`` of speech."""
    words = words_of(text)
    return repeated_tail(words) is not None and len(words) > 1 + words_per_s * speech_ms / 1000


def without_repeats(text: str) -> str:
    """``text`` with its repeated tail cut down to one copy, marks kept."""
    tail = repeated_tail(words_of(text))
    if tail is None:
        return text
    starts = [match.start() for match in _WORD.finditer(text)]
    return _OPENED.sub("", text[: starts[tail.start + tail.period]])
