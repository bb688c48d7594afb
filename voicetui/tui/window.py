"""Which stretch of time the timeline shows, and when it moves: in pages, never gliding."""

from __future__ import annotations

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

    def follow(self, now_ms: float, cells: int, active_from_ms: float | None) -> Window:
        """The window that shows ``now_ms``.

        ``active_from_ms`` is when what is going on began, None while nothing goes on: then the window stays at what
        happened last.  A page turns when ``now_ms`` leaves the window.
        """
        length = self.length_ms(cells)
        if (
            not self.following
            or active_from_ms is None
            or self.start_ms <= active_from_ms <= now_ms < self.start_ms + length
        ):
            return self
        lead = length * _LEAD
        if now_ms - active_from_ms < length - 2 * lead:
            start = active_from_ms - lead
        elif self.start_ms <= now_ms < self.start_ms + length:
            return self
        else:
            start = now_ms - length * _KEPT
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
