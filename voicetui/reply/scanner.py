"""Reading a growing text word by word, each word judged once the text after it settles what it is."""

import re
from typing import Literal

import msgspec

from voicetui.reply.boundaries import (
    CJK,
    CLOSERS,
    NO_START,
    SELF_SOFT,
    SELF_STRONG,
    Boundary,
    classify,
    cluster_safe,
    is_closer,
    weight,
)
from voicetui.reply.markup import FENCE, MAX_FENCE_MARKS, Fence, unit_end

_MAX_SPACE_CHARS = 64
_MAX_URL_CHARS = 2048
_UNITS = "`<["
_SELF = SELF_STRONG + SELF_SOFT

_SPACE = re.compile(rf"\s{{0,{_MAX_SPACE_CHARS}}}")
_PLAIN = re.compile(rf"[^\s`<\[{_SELF}]+")
_SELF_END = re.compile(rf"[{_SELF}][{_SELF}.!?…]*[{re.escape(CLOSERS)}]*")
_CJK_END = re.compile(rf"(?<=[{CJK}])[.!?,;:]+(?=[{CJK}])")
_FIGURES_DASH = re.compile(r"(?<=\d)—(?=\d)")
_TICKS = re.compile(r"`+")
_URL = re.compile(r"[(\[{<\"'*_]*(?:[a-z][a-z0-9+.-]{1,15}://|www\.|mailto:)", re.IGNORECASE)


class Word(msgspec.Struct, frozen=True):
    """A word with the space before it; the texts of all words joined are the text.

    `boundary` says how good a place its end is for a cut; `cuttable` is False where the next character belongs to it.
    `glued` marks a piece of something too long for a word. A code fence is two of these: its opening marks ("opens")
    and everything up to its end ("closes").
    """

    text: str
    boundary: Boundary = Boundary.NONE
    weight: float = 0.0
    cuttable: bool = True
    glued: bool = False
    self_ended: bool = False
    fence: Literal["", "opens", "closes"] = ""


class WordScanner:
    """Splits text into words, links, tags and code fences, the same ones however the text is fed.

    No word is longer than `max_chars`, except one that holds a URL, a link or a tag.
    """

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._text = ""
        self._start = 0
        self._fence: Fence | None = None
        self._fence_parts: list[str] = []
        self._lead: str | None = ""
        self._last = Boundary.NONE
        self._quotes = 0
        self._line_start = True

    def feed(self, text: str, final: bool = False) -> list[Word]:
        """Take more text and return the words it settles; with `final`, all that are left."""
        self._text = self._text[self._start :] + text
        self._start = 0
        words: list[Word] = []
        while word := self._scan_fence(final) if self._fence else self._scan(final):
            words.append(word)
        return words

    def _scan_fence(self, final: bool) -> Word | None:
        assert self._fence
        closed, end = self._fence.scan(self._text, self._start, final)
        self._fence_parts.append(self._text[self._start : end])
        self._start = end
        if not (closed or final):
            return None
        inside = "".join(self._fence_parts)
        self._fence_parts.clear()
        self._fence = None
        self._lead, self._line_start = "", False
        return Word(inside, Boundary.STRONG, fence="closes")

    def _scan(self, final: bool) -> Word | None:
        text, start = self._text, self._start
        begin = _space_end(text, start)
        if begin - start == _MAX_SPACE_CHARS or (begin == len(text) and final and begin > start):
            self._note_space(start, begin)
            return self._take(begin)
        if begin == len(text):
            return None
        line_start = self._line_start or "\n" in text[start:begin]
        opening = FENCE.match(text, begin)
        if opening and (text[begin] == "`" or line_start):
            if opening.end() == len(text) < begin + MAX_FENCE_MARKS and not final:
                return None
            self._fence = Fence(opening.group())
            return self._take(opening.end(), fence="opens")
        end, kind = self._word_end(begin, final)
        if end is None:
            return None
        self._note_space(start, begin)
        self._line_start = False
        if kind == "glued":
            return self._take(end, weight=weight(text[begin:end]), glued=True)
        return self._judged(begin, end, kind == "self", final)

    def _judged(self, begin: int, end: int, self_ended: bool, final: bool) -> Word | None:
        """The word from `begin` to `end`, if what follows it is known."""
        text = self._text
        after = _space_end(text, end)
        following = "\n" if "\n" in text[end:after] else text[after : after + 1]
        if not following and not final and after - end < _MAX_SPACE_CHARS:
            return None
        core = text[begin:end]
        boundary = self._last if is_closer(core) else classify(core, following, self._lead)
        worth = weight(core)
        if boundary != Boundary.NONE:
            self._lead = ""
        elif worth:
            self._lead = None if self._lead else core
        self._last = boundary
        self._quotes += core.count('"')
        cuttable = following not in NO_START and not (following == '"' and self._quotes % 2)
        return self._take(end, boundary=boundary, weight=worth, cuttable=cuttable, self_ended=self_ended)

    def _word_end(self, begin: int, final: bool) -> tuple[int | None, Literal["", "self", "glued"]]:
        """Where the word at `begin` ends (None while it may grow), and whether by itself or because it is too long."""
        text = self._text
        limit = self._start + (_MAX_URL_CHARS if _URL.match(text, begin) else self._max_chars)
        place = begin
        # Nothing is scanned much further than needed, so that the time stays linear in the text.
        while place < len(text) and not text[place].isspace():
            end: int | None
            if text[place] in _UNITS:
                ticks = _TICKS.match(text, place)
                if ticks and len(ticks.group()) > 2 and place > begin:
                    return place, ""
                end = unit_end(text, place, final)
                if end is None:
                    return None, ""
                if end > place:
                    if end > limit and place > begin:
                        return place, "glued"
                    place = end
                    continue
                end = ticks.end() if ticks else place + 1
            elif text[place] in _SELF and not _FIGURES_DASH.match(text, place):
                found = _SELF_END.match(text, place, max(limit, place) + 1)
                end = found.end() if found else place + 1
                if end <= limit:
                    return (None, "") if end == len(text) and not final else (end, "self")
            else:
                plain = _PLAIN.match(text, place, max(limit, place) + 1)
                end = plain.end() if plain else place + 1
                inner = _CJK_END.search(text, place, end)
                if inner and inner.end() <= limit:
                    return inner.end(), "self"
            if end > limit:
                return cluster_safe(text, max(limit, place), begin), "glued"
            place = end
        return (None, "") if place == len(text) and not final else (place, "")

    def _note_space(self, start: int, end: int) -> None:
        if "\n" in self._text[start:end]:
            self._lead, self._quotes, self._line_start = "", 0, True

    def _take(
        self,
        end: int,
        boundary: Boundary = Boundary.NONE,
        weight: float = 0.0,
        cuttable: bool = True,
        glued: bool = False,
        self_ended: bool = False,
        fence: Literal["", "opens", "closes"] = "",
    ) -> Word:
        word = Word(self._text[self._start : end], boundary, weight, cuttable, glued, self_ended, fence)
        self._start = end
        return word


def _space_end(text: str, start: int) -> int:
    found = _SPACE.match(text, start)
    return found.end() if found else start
