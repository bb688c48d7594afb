"""HTML made of pieces: every text that is not markup already is escaped, and shown literally, wherever it stands."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache


class Html(str):
    """Markup. Any other text becomes markup only through ``h``, ``join`` or ``said``, which escape it."""

    __slots__ = ()


Piece = str | None
"""A text (escaped), an ``Html`` (as it is), or nothing."""

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_KEPT = frozenset("\t\n\u200c\u200d")
"""What may stay though it is invisible: white space, and the joiners that scripts and emoji need."""


def literal(text: str) -> str:
    """``text`` with nothing in it that would act on what stands beside it.

    C0 controls become their pictures (ESC is ␛); other control, direction and invisible characters their numbers,
    such as ⟦U+202E⟧; lone surrogates and characters that no standard knows U+FFFD. Carriage returns go.
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text.replace("\r\n", "\n")))


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    code = ord(character)
    if character in _KEPT:
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    category = unicodedata.category(character)
    if category in ("Cs", "Cn", "Co"):
        return "\ufffd"
    if category in ("Cc", "Cf", "Zl", "Zp") and not 0xE0020 <= code <= 0xE007F:  # the letters of flags
        return f"⟦U+{code:04X}⟧"
    return character


def h(name: str, /, *pieces: Piece | Iterable[Piece], **attributes: str | int | float | bool | None) -> Html:
    """An element. ``cls`` is its class, ``data_x`` its ``data-x``; True is an attribute alone, None and False none.

    Elements of SVG that hold nothing, and HTML's void ones, are closed at once.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value not in (None, False))
    inside = join(pieces)
    if not inside and name in _EMPTY:
        return Html(f"<{name}{written}{'/' if name in _SHAPES else ''}>")
    return Html(f"<{name}{written}>{inside}</{name}>")


def join(pieces: Iterable[Piece | Iterable[Piece]]) -> Html:
    """The pieces one after the other."""
    return Html("".join(_piece(piece) for piece in pieces))


def said(text: str, most: int = 4000) -> Html:
    """Text of a session, isolated from the direction of what stands around it, and cut where it is too long."""
    more = len(text) - most
    if more <= 0:
        return h("bdi", text)
    return h("bdi", text[:most], h("span", f" … ({more} more characters)", cls="dim"))


_SHAPES = frozenset(("rect", "line", "circle", "path"))
_EMPTY = _SHAPES | {"meta", "br", "wbr", "source"}


def _piece(piece: Piece | Iterable[Piece]) -> str:
    if piece is None:
        return ""
    if isinstance(piece, Html):
        return piece
    if isinstance(piece, str):
        return literal(piece).translate(_ESCAPES)
    return join(piece)


def _attribute(key: str, value: str | int | float | bool | None) -> str:
    name = "class" if key == "cls" else key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{literal(text).translate(_ESCAPES)}"'
