"""Two sessions' lanes under one axis: at 0 the user stops speaking, in either."""

from __future__ import annotations

from collections.abc import Sequence

from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Size

from voicetui.tui.canvas import CellLine
from voicetui.tui.compared import Side
from voicetui.tui.ink import Ink, Row, Run
from voicetui.tui.lanes import LABEL_CELLS, Tall, timeline_rows
from voicetui.tui.widgets.compared_panel import ComparedPanel
from voicetui.tui.window import ZOOMS_MS, Window
from voicetui.views.timeline import LANES

_MARKS, _GAP = "marks", "gap"
_ROWS: tuple[str, ...] = (_MARKS, *LANES, _GAP)
"""What ``timeline_rows`` draws below its ruler, in order."""
_WEIGHT = ("gap", "you", "speaker", "llm", "synthesis", "transcribe", "endpoint", "clauses", "marks", "context")
"""Which rows are kept where there is no room for all, the weightiest first."""
_LEAD = 0.14
"""Share of the width before 0."""
_BEHIND_MS = 240.0
"""How much of the reply is to be seen behind the later of the two gaps."""
LEGEND = "0 you stop"


class TwoTimelines(ComparedPanel):
    """The axis, one session's lanes, the other's."""

    DEFAULT_CSS = "TwoTimelines { height: 13; }"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._zoom: int | None = None
        self._moved_ms = 0.0

    def zoom(self, steps: int) -> None:
        """Finer (negative) or coarser; 0 keeps its place."""
        place = ZOOMS_MS.index(self._ms_per_cell(self._cells)) + steps
        self._zoom = ZOOMS_MS[min(max(place, 0), len(ZOOMS_MS) - 1)]
        self.redraw()

    def scroll_pages(self, pages: float) -> None:
        """Look earlier (negative) or later, in both alike."""
        cells = self._cells
        self._moved_ms += round(pages * cells) * self._ms_per_cell(cells)
        self.redraw()

    def reset(self) -> None:
        """Both gaps in sight again."""
        self._zoom, self._moved_ms = None, 0.0
        self.redraw()

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Look earlier."""
        event.stop()
        self.scroll_pages(-0.125)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Look later."""
        event.stop()
        self.scroll_pages(0.125)

    def draw(self, size: Size) -> Sequence[Row]:
        """The rows, as many as there is room for, shared evenly."""
        view, (width, height) = self.view, size
        if view is None:
            return []
        cells = max(10, width - LABEL_CELLS - 1)
        ms = self._ms_per_cell(cells)
        start_ms = self._moved_ms - round(cells * _LEAD) * ms
        rows = [_axis(cells, ms, start_ms)]
        for side, turns in view.sides:
            rows += _lanes(side, turns, start_ms, ms, width, max(1, (height - 1) // 2))
        return rows

    @property
    def _cells(self) -> int:
        return max(10, self.content_size.width - LABEL_CELLS - 1)

    def _ms_per_cell(self, cells: int) -> int:
        """As chosen, else the finest that shows both gaps and what follows."""
        if self._zoom is not None or self.view is None:
            return self._zoom or 50
        gaps = [side.session.latency(turns[-1]).gap_ms or 0.0 for side, turns in self.view.sides if turns]
        needed_ms = max(gaps, default=0.0) + _BEHIND_MS
        shown = cells * (1 - _LEAD)
        return next((each for each in ZOOMS_MS if each >= 10 and each * shown >= needed_ms), ZOOMS_MS[-1])


def _axis(cells: int, ms: int, start_ms: float) -> Row:
    """Seconds before and after the user's last sound."""
    line = CellLine(cells)
    zero = round(-start_ms / ms)
    line.put(zero, "┬", "strong")
    line.write(zero + 1, LEGEND, "dim")
    step_ms = next((step for step in (100, 200, 500, 1000, 2000, 5000, 10_000) if step / ms >= 11), 60_000)
    first = int(-(-start_ms // step_ms))
    for number in range(first, int((start_ms + cells * ms) // step_ms) + 1):
        at_ms = number * step_ms
        seconds = f"{abs(at_ms) / 1000:.1f}" if step_ms < 1000 else f"{abs(at_ms) / 1000:.0f}"
        line.write_if_free(
            round((at_ms - start_ms) / ms), f"╷{'−' if at_ms < 0 else '+'}{seconds} s", "faint", margin=0
        )
    return Row((Run(f"  {ms} ms/cell".ljust(LABEL_CELLS), "faint"), *line.runs()))


def _lanes(side: Side, turns: Sequence[int], start_ms: float, ms: int, width: int, room: int) -> list[Row]:
    """One session's rows about the end of its user's speech, each with the session's letter before it."""
    zero_ms = side.zero_ms(turns)
    kept = [name for name in _ROWS if name in _WEIGHT[:room]]
    tall = Tall(rows=1 + max(0, room - len(_ROWS)) // 2)
    if zero_ms is None:
        note = "has no such turn" if not turns else "does not tell when this turn was said"
        rows = [Row((Run(f"{side.label} ", "strong"), Run(note, "dim")))]
        return rows + [Row()] * (len(kept) + 2 * (tall.rows - 1) - 1)
    window = Window(zero_ms + start_ms, ms, following=False)
    drawn = timeline_rows(side.looking_at(turns), window, width, turns[-1], tall)[1:]
    names = [name for name in _ROWS for _ in range(tall.rows if name in ("you", "speaker") else 1)]
    return [_labelled(side, row, name) for row, name in zip(drawn, names, strict=True) if name in kept]


def _labelled(side: Side, row: Row, name: str) -> Row:
    """A row of lanes with the session's letter in its first cell."""
    first, *rest = row.runs
    ink: Ink = "strong" if name in ("you", _GAP) and first.text.strip() else "dim"
    return Row((Run(f"{side.label} ", ink), Run(first.text.strip().ljust(LABEL_CELLS - 2), first.ink), *rest))
