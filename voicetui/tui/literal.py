"""Text from outside, made safe to show: control characters visible or gone, widths counted in cells, no markup."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from rich.cells import cell_len, split_graphemes

ELLIPSIS = "…"
_SHORT = 256
"""Texts up to this length are remembered: most are drawn again and again."""

_MOST_MARKS = 6
"""Marks on one letter: the most that living scripts put there. Hundreds would paint over the lines above and below."""
_MOST_TAGS = 6
"""Tag characters that make a region's flag of a black one."""

_JOINER = "\u200d"
_BLACK_FLAG = "\U0001f3f4"
_NO_LETTER = "\u25cc"
"""The dotted circle: what a mark sits on that has no letter."""

_INVISIBLE = frozenset("\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u3164\ufeff\uffa0\U000e0001") | {
    chr(code)
    for first, last in ((0x115F, 0x1160), (0x202A, 0x202E), (0x2060, 0x206F), (0xFFF9, 0xFFFB), (0x1D173, 0x1D17A))
    for code in range(first, last + 1)
}
"""Zero-width, blank and direction-changing characters: they would shift or reorder what stands beside them."""


def literal(text: str) -> str:
    """``text`` on one line, with nothing in it that a terminal would obey.

    White space becomes spaces; other C0 controls become their pictures (ESC is shown as ␛); C1 controls, zero-width and
    direction-changing characters go, and so do joiners and tags that are no part of an emoji or a script, and marks
    heaped on one letter; lone surrogates, which no terminal can be sent, become the replacement character.
    """
    if text.isascii() and text.isprintable():
        return text
    return _literal_short(text) if len(text) <= _SHORT else _literal(text)


def width(text: str) -> int:
    """Cells that ``text`` takes on a terminal."""
    return cell_len(text)


def clusters(text: str) -> Iterator[tuple[str, int]]:
    """The grapheme clusters of ``text`` with their widths in cells."""
    if text.isascii():
        yield from ((character, 1) for character in text)
        return
    spans, _ = split_graphemes(text)
    for start, end, cells in spans:
        yield text[start:end], cells


def clip(text: str, cells: int) -> str:
    """``text`` in at most ``cells`` cells, cut between clusters, an ellipsis at the end of what was cut."""
    if cells <= 0:
        return ""
    if width(text) <= cells:
        return text
    kept, used = [], 0
    for cluster, size in clusters(text):
        if used + size > cells - 1:
            break
        kept.append(cluster)
        used += size
    return "".join(kept).rstrip() + ELLIPSIS


def fit(text: str, cells: int, align_right: bool = False) -> str:
    """``text`` in exactly ``cells`` cells: clipped, or padded on the right (on the left with ``align_right``)."""
    short = clip(text, cells)
    pad = " " * max(0, cells - width(short))
    return pad + short if align_right else short + pad


def _literal(text: str) -> str:
    shown: list[str] = []
    marks = tags = 0
    for place, character in enumerate(text):
        before = shown[-1] if shown else ""
        each = _shown(character)
        if _is_tag(character):
            tags += 1
            each = each if tags <= _MOST_TAGS and (before == _BLACK_FLAG or _is_tag(before)) else ""
        elif each and unicodedata.category(each)[0] == "M":
            marks += 1
            each = each if marks <= _MOST_MARKS else ""
            if not before:
                shown.append(_NO_LETTER)
        elif each == _JOINER:
            each = each if _joins(before, text[place + 1 : place + 2]) else ""
        elif each:
            marks = tags = 0
        if each:
            shown.append(each)
    return "".join(shown)


def _is_tag(character: str) -> bool:
    return "\U000e0020" <= character <= "\U000e007f"


def _joins(before: str, after: str) -> bool:
    """Whether a joiner between these makes one emoji of two, or tells a script how to write."""
    if not before or not after or after in _INVISIBLE:
        return False
    one, other = unicodedata.category(before), unicodedata.category(after)
    if other == "So":
        return one in ("So", "Sk") or before == "\ufe0f"
    return other == "Lo" and one[0] == "M"


_literal_short = lru_cache(maxsize=4096)(_literal)


def _shown(character: str) -> str:
    code = ord(character)
    if character in "\t\n\r\v\f" or character in "\u2028\u2029\x85":
        return " "
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if character in _INVISIBLE or 0x80 <= code < 0xA0:
        return ""
    if 0xD800 <= code < 0xE000 or unicodedata.category(character) in ("Cn", "Co"):
        return "\ufffd"
    return character
