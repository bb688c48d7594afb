"""Finding words in text whatever stands between their letters, and blotting them out."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

MARK: Final = "[redacted]"
_APOSTROPHES: Final = frozenset("'’‘ʼ＇‛´`ʹ′")

_SHORT: Final = 1 << 12
"""Texts up to this length are remembered: every request repeats those before it."""

Span = tuple[int, int]
"""From the first, to before the last: letters of ``Letters``, or characters of a text."""


class Letters(NamedTuple):
    """The letters and digits of a text without case, accents composed, and where each stands: from ``starts`` to before
    ``ends``. ``breaks`` are the numbers of letters before which a word may begin or end.
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    breaks: frozenset[int]


def letters_of(text: str) -> Letters:
    """What of ``text`` is compared: "Don’t pay $1,200!" is "dontpay1200"."""
    return _remembered(text) if len(text) <= _SHORT else _letters_of(text)


def _letters_of(text: str) -> Letters:
    found: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    breaks = {0}
    place, apart = 0, False
    while place < len(text):
        end = place + 1
        while end < len(text) and unicodedata.category(text[end])[0] == "M":
            end += 1
        plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text[place:end]).casefold())
        kept = [each for each in plain if each.isalnum() or unicodedata.category(each)[0] == "M"]
        alone = bool(kept) and unicodedata.east_asian_width(kept[0]) in "WF"
        if kept and (apart or alone):
            breaks.add(len(found))
        for each in kept:
            found.append(each)
            starts.append(place)
            ends.append(end)
        if kept:
            apart = alone
        elif not _inside_a_word(text[place]):
            apart = True
        if alone:
            breaks.add(len(found))
        place = end
    breaks.add(len(found))
    return Letters("".join(found), tuple(starts), tuple(ends), frozenset(breaks))


_remembered = lru_cache(maxsize=1 << 14)(_letters_of)


def _inside_a_word(character: str) -> bool:
    return character in _APOSTROPHES or unicodedata.category(character) == "Cf"


def word_count(text: str) -> int:
    """How many words ``text`` has."""
    return max(0, len(letters_of(text).breaks) - 1)


def find_words(words: Iterable[str], letters: Letters) -> list[Span]:
    """Where any of ``words`` (each as the ``text`` of its ``Letters``) stands as whole words: spans of letters."""
    found: list[Span] = []
    for each in words:
        place = letters.text.find(each) if each else -1
        while place >= 0:
            if place in letters.breaks and place + len(each) in letters.breaks:
                found.append((place, place + len(each)))
            place = letters.text.find(each, place + 1)
    return joined(found)


def joined(spans: Iterable[Span]) -> list[Span]:
    """The same spans in order, those that touch as one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif end > start:
            found.append((start, end))
    return found


def blot(text: str, letters: Letters, spans: Iterable[Span]) -> str:
    """``text`` with the mark for each of these spans of its letters; all of it gone if no letter is left."""
    (result,) = blot_pieces([text], letters, spans)
    return result


def blot_pieces(pieces: Sequence[str], letters: Letters, spans: Iterable[Span]) -> list[str]:
    """The same for a text in pieces, whose ``letters`` are those of all joined; a mark stands where its span begins."""
    hidden = joined(spans)
    if not hidden:
        return list(pieces)
    if hidden == [(0, len(letters.text))]:
        whole = "".join(pieces)
        blanks = whole[len(whole.rstrip()) :]
        first = whole[: len(whole) - len(whole.lstrip())] + MARK + (blanks if len(pieces) == 1 else "")
        return [first, *[""] * (len(pieces) - 2), *([blanks] if len(pieces) > 1 else [])]
    places = [(letters.starts[start], letters.ends[end - 1]) for start, end in hidden]
    result: list[str] = []
    begin = 0
    for piece in pieces:
        kept, done = [], 0
        for start, end in places:
            if end <= begin or start >= begin + len(piece):
                continue
            kept.append(piece[done : max(done, start - begin)])
            if start >= begin:
                kept.append(MARK)
            done = min(len(piece), end - begin)
        result.append("".join(kept) + piece[done:])
        begin += len(piece)
    return result
