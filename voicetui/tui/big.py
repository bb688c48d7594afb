"""Digits large enough for the back of a room: seven segments of any size, made of half blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

_SEGMENTS: dict[str, str] = {
    "0": "abcdef", "1": "bc", "2": "abged", "3": "abgcd", "4": "fgbc", "5": "afgcd", "6": "afgedc", "7": "abc",
    "8": "abcdefg", "9": "abcdfg", "−": "g", "–": "g",
}  # fmt: skip
"""Which segments are lit: a top, b and c right, d bottom, e and f left, g middle."""
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


@dataclass(frozen=True, slots=True)
class Face:
    """The shape of digits in pixels: a cell is one pixel wide and two high. ``height`` is even."""

    width: int
    height: int
    upright: int
    level: int
    gap: int

    @property
    def lines(self) -> int:
        """Lines of text a digit takes."""
        return self.height // 2

    def cells(self, text: str) -> int:
        """Cells that ``text`` takes."""
        return len(text) * (self.width + self.gap) - self.gap


SMALL = Face(width=6, height=8, upright=2, level=1, gap=2)
MEDIUM = Face(width=10, height=14, upright=3, level=2, gap=3)
LARGE = Face(width=14, height=20, upright=4, level=3, gap=4)
HUGE = Face(width=20, height=28, upright=6, level=5, gap=5)
GIANT = Face(width=28, height=40, upright=8, level=7, gap=7)
FACES: tuple[Face, ...] = (GIANT, HUGE, LARGE, MEDIUM, SMALL)


def largest(text: str, cells: int, lines: int) -> Face:
    """The largest face in which ``text`` fits; the smallest if none does."""
    return next((face for face in FACES if face.cells(text) <= cells and face.lines <= lines), SMALL)


def big(text: str, face: Face = SMALL) -> list[str]:
    """Digits, minus and dash as lines of half blocks; other characters are left out."""
    glyphs = [_glyph(character, face) for character in text if character in _SEGMENTS]
    blank = ((False,) * face.gap,) * face.height
    lines = []
    for top in range(0, face.height, 2):
        parts = []
        for place, glyph in enumerate(glyphs):
            for pixels in (blank, glyph) if place else (glyph,):
                parts += [_HALVES[pair] for pair in zip(pixels[top], pixels[top + 1], strict=True)]
        lines.append("".join(parts))
    return lines


@lru_cache(maxsize=64)
def _glyph(character: str, face: Face) -> tuple[tuple[bool, ...], ...]:
    """A digit's pixels, its outer corners rounded off."""
    right, middle = face.width - face.upright, (face.height - face.level) // 2
    boxes = {
        "a": (0, 0, face.width, face.level),
        "g": (0, middle, face.width, middle + face.level),
        "d": (0, face.height - face.level, face.width, face.height),
        "f": (0, 0, face.upright, middle + face.level),
        "b": (right, 0, face.width, middle + face.level),
        "e": (0, middle, face.upright, face.height),
        "c": (right, middle, face.width, face.height),
    }
    lit = [boxes[segment] for segment in _SEGMENTS[character]]
    corners = {(x, y) for x in (0, face.width - 1) for y in (0, face.height - 1)}

    def on(x: int, y: int) -> bool:
        inside = any(left <= x < end and top <= y < bottom for left, top, end, bottom in lit)
        return inside and (x, y) not in corners

    return tuple(tuple(on(x, y) for x in range(face.width)) for y in range(face.height))
