"""Repetition loops in a transcript: finding the repeated tail, and saying whether a mouth could have said it. Pure."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_STUTTER = re.compile(r"(\S{1,4}?)\1{7,}")


def words_of(text: str) -> list[str]:
    """The words of ``text``, lower case, without punctuation."""
    return _WORD.findall(text.casefold())


def compression_ratio(text: str) -> float:
    """Length of ``text`` in UTF-8 over its zlib length (as in openai/whisper); 0.0 for no text. Prose of any length stays under 2.4."""
    data = text.encode()
    return len(data) / len(zlib.compress(data)) if data else 0.0


@dataclass(frozen=True, slots=True)
class Tail:
    """The words from ``start`` on are ``period`` words said ``copies`` times (the last copy may be cut short, so 2.5 is possible)."""

    start: int
    period: int
    copies: float


def repeated_tail(words: list[str]) -> Tail | None:
    """The end of ``words`` that is one unit said at least twice; the longest such end, of the shortest unit. None if there is none."""
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

    So is a word eight times over, a phrase four times, marks without words three times ("... ... ..."), a syllable stuttered eight
    times inside a word, or a text that zlib shrinks by more than 2.4 (openai/whisper's limit).  "no no no", "bye bye" are not.
    """
    words = words_of(text)
    if not words:
        return len(text.split()) >= 3
    if _STUTTER.search(text) or compression_ratio(text) > 2.4:
        return True
    tail = repeated_tail(words)
    return tail is not None and tail.copies >= (8 if tail.period == 1 else 4)


def hurried_repeat(text: str, speech_ms: float, words_per_s: float) -> bool:
    """Whether ``text`` ends in a repeat and has more words than ``words_per_s`` allows in ``speech_ms`` of speech."""
    words = words_of(text)
    return repeated_tail(words) is not None and len(words) > 1 + words_per_s * speech_ms / 1000


def without_repeats(text: str) -> str:
    """``text`` with its repeated tail cut down to one copy, marks kept."""
    spans = [match.span() for match in _WORD.finditer(text)]
    tail = repeated_tail(words_of(text))
    if tail is None:
        return text
    last = tail.start + tail.period - 1
    end = spans[last + 1][0] if last + 1 < len(spans) else len(text)
    return text[:end].rstrip(" \t\n-–—,;([{\"'“‘")
