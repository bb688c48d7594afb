"""Text from outside, made safe to show: control characters visible or gone, widths counted in cells, no markup."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from rich.cells import cell_len, split_graphemes

ELLIPSIS = "…"
_SHORT = 256
"""Texts up to this length are remembered: most are drawn again and again."""

_INVISIBLE = frozenset("\u200b\u200e\u200f\u2028\u2029\u2060\ufeff\u061c") | {
    chr(code) for span in ((0x202A, 0x202F), (0x2066, 0x206A)) for code in range(*span)
}
"""Zero-width and direction-changing characters: they would shift or reorder what stands beside them."""


def literal(text: str) -> str:
    """``text`` on one line, with nothing in it that a terminal would obey.

    White space becomes spaces; other C0 controls become their pictures (ESC is shown as ␛); C1 controls, zero-width and
    direction-changing characters go; lone surrogates, which no terminal can be sent, become the replacement character.
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
    return "".join(_shown(character) for character in text)


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
