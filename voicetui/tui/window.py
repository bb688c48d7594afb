"""Which stretch of time the timeline shows, and when it moves: in pages, never gliding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

ZOOMS_MS: tuple[int, ...] = (5, 10, 20, 40, 50, 100, 200, 400, 1000)
"""Milliseconds per cell, finest first."""
_LEAD = 0.06
"""Share of the window left empty before what a page begins with."""
_KEPT = 0.45
"""Share of the window that stays in sight when a page turns in the middle of something."""


@dataclass(frozen=True, slots=True)
class Window:
    """From ``start_ms`` on, ``ms_per_cell`` a cell. ``following`` the session, or held where the user looked."""

    start_ms: float = 0.0
    ms_per_cell: int = 50
    following: bool = True

    def length_ms(self, cells: int) -> float:
        """How much time ``cells`` cells show."""
        return cells * float(self.ms_per_cell)

    def follow(self, focus_ms: float, cells: int, begun_ms: Sequence[float]) -> Window:
        """The window that shows ``focus_ms``, if it is to follow.

        ``begun_ms`` says when what goes on there began, most of it first: the turn, then its gap.  A page turns when
        the focus leaves the window: to the earliest beginning that still fits, else to a part of what was seen.
        """
        if not self.following:
            return self
        length = self.length_ms(cells)
        if self.start_ms <= focus_ms < self.start_ms + length:
            return self
        lead = length * _LEAD
        start = focus_ms - length * _KEPT
        for beginning in begun_ms:
            if focus_ms - beginning < length * (1 - 3 * _LEAD):
                start = beginning - lead
                break
        return replace(self, start_ms=self._on_grid(start))

    def zoom(self, steps: int, anchor_ms: float) -> Window:
        """Finer (negative steps) or coarser, ``anchor_ms`` keeping its place."""
        place = ZOOMS_MS.index(self.ms_per_cell)
        new = ZOOMS_MS[min(max(place + steps, 0), len(ZOOMS_MS) - 1)]
        cells_before = (anchor_ms - self.start_ms) / self.ms_per_cell
        zoomed = replace(self, ms_per_cell=new)
        return replace(zoomed, start_ms=zoomed._on_grid(anchor_ms - cells_before * new))

    def scroll(self, pages: float, cells: int, limit_ms: float) -> Window:
        """Look earlier or later; from then on the window stays until it is told to follow."""
        start = self.start_ms + pages * self.length_ms(cells)
        latest = max(0.0, limit_ms - self.length_ms(cells) * _KEPT)
        return replace(self, start_ms=self._on_grid(min(start, latest)), following=False)

    def show(self, start_ms: float, end_ms: float, cells: int) -> Window:
        """Look at what happened between two times, at the present zoom."""
        length = self.length_ms(cells)
        if self.start_ms <= start_ms and end_ms <= self.start_ms + length:
            return replace(self, following=False)
        return replace(self, start_ms=self._on_grid(start_ms - length * _LEAD), following=False)

    def _on_grid(self, ms: float) -> float:
        return float(max(0, round(ms / self.ms_per_cell)) * self.ms_per_cell)
