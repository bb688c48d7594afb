"""A line of cells to paint on, one glyph and one ink each, later paint over earlier."""

from __future__ import annotations

import re

from voicetui.tui.ink import INKS, Ink, Run

_SIGN: dict[Ink, str] = {ink: chr(ord("A") + place) for place, ink in enumerate(INKS)}
_INK: dict[str, Ink] = {sign: ink for ink, sign in _SIGN.items()}
_STRETCH = re.compile(r" +|(\S)(?:\1| )*")
"""Cells of one ink are found as repeats of its sign, with the untouched cells behind them, which look the same in any:
a line is made of hundreds of cells, twenty times a second.
"""


class CellLine:
    """``cells`` single-width glyphs. What falls outside is dropped."""

    def __init__(self, cells: int) -> None:
        self._glyphs = [" "] * cells
        self._signs = [" "] * cells

    def __len__(self) -> int:
        return len(self._glyphs)

    def put(self, cell: int, glyph: str, ink: Ink) -> None:
        """One glyph."""
        if 0 <= cell < len(self._glyphs):
            self._glyphs[cell] = glyph
            self._signs[cell] = _SIGN[ink]

    def free(self, start: int, end: int) -> bool:
        """Whether all of the cells from ``start`` up to ``end`` exist and hold nothing but blanks or guides."""
        if start < 0 or end > len(self._glyphs):
            return False
        guide = _SIGN["guide"]
        return all(self._glyphs[cell] == " " or self._signs[cell] == guide for cell in range(start, end))

    def write(self, cell: int, text: str, ink: Ink) -> None:
        """Single-width text from ``cell`` on."""
        for place, glyph in enumerate(text):
            self.put(cell + place, glyph, ink)

    def write_if_free(self, cell: int, text: str, ink: Ink, margin: int = 1) -> bool:
        """Write where there is room for the text and ``margin`` blank cells beside it; whether there was."""
        before = max(0, cell - margin)
        after = min(len(self), cell + len(text) + margin)
        if cell < 0 or cell + len(text) > len(self) or not self.free(before, after):
            return False
        self.write(cell, text, ink)
        return True

    def lay(self, other: CellLine) -> None:
        """Everything of another line of the same length that is not blank."""
        for cell, (glyph, sign) in enumerate(zip(other._glyphs, other._signs, strict=True)):
            if glyph != " ":
                self._glyphs[cell], self._signs[cell] = glyph, sign

    def runs(self) -> tuple[Run, ...]:
        """The line as runs."""
        text = "".join(self._glyphs)
        stretches = _STRETCH.finditer("".join(self._signs))
        return tuple(Run(text[each.start() : each.end()], _INK.get(each[0][0], "text")) for each in stretches)


def rule(cells: int, title: str, note: str = "") -> tuple[Run, ...]:
    """A thin line with a title at its left and a note at its right."""
    head = f" {title} " if title else ""
    tail = f" {note} " if note else ""
    middle = cells - 2 - len(head) - len(tail)
    if middle < 1:
        head, tail, middle = head[: max(0, cells - 3)], "", max(0, cells - 3 - len(head))
    end = "─" if tail else ""
    return (
        Run("──", "guide"),
        Run(head, "title"),
        Run("─" * (middle - len(end)), "guide"),
        Run(tail, "dim"),
        Run(end, "guide"),
    )
