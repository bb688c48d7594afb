"""The live timeline: one lane per stage, spans growing as they happen."""

from __future__ import annotations

from collections.abc import Sequence

from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Size

from voicetui.tui.ink import Row
from voicetui.tui.lanes import LABEL_CELLS, timeline_rows
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.panel import Panel
from voicetui.tui.window import Window

_REST_MS = 1500.0
"""How long after the last happening the timeline still follows the clock."""


class TimelinePanel(Panel):
    """Time, marks, lanes, gaps. Keeps the window it looks through."""

    DEFAULT_CSS = "TimelinePanel { height: 11; }"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.window = Window()

    @property
    def cells(self) -> int:
        """How many cells of time are shown."""
        return max(10, self.content_size.width - LABEL_CELLS - 1)

    def zoom(self, steps: int) -> None:
        """Finer or coarser, keeping the middle, or the newest time while following."""
        cells = self.cells
        middle = self.window.start_ms + self.window.length_ms(cells) / 2
        if self.window.following and self.view is not None:
            middle = min(self.view.now_ms, self.window.start_ms + self.window.length_ms(cells))
        self.window = self.window.zoom(steps, middle)
        self.redraw()

    def scroll_pages(self, pages: float) -> None:
        """Look earlier (negative) or later."""
        limit_ms = self.view.now_ms if self.view is not None else 0.0
        self.window = self.window.scroll(pages, self.cells, limit_ms)
        self.redraw()

    def follow(self) -> None:
        """Follow the session again."""
        self.window = Window(0.0, self.window.ms_per_cell, following=True)
        if self.view is not None:
            self.window = self.window.follow(self.view.now_ms, self.cells, self.view.now_ms - 1)
        self.redraw()

    def look_at(self, start_ms: float, end_ms: float) -> None:
        """Bring a stretch of time into sight."""
        self.window = self.window.show(start_ms, end_ms, self.cells)
        self.redraw()

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Look earlier."""
        event.stop()
        self.scroll_pages(-0.25)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Look later."""
        event.stop()
        self.scroll_pages(0.25)

    def draw(self, size: Size) -> Sequence[Row]:
        """The rows seen through the window."""
        width = size.width
        if self.view is None:
            return []
        self.window = self.window.follow(self.view.now_ms, self.cells, active_from_ms(self.view))
        return timeline_rows(self.view, self.window, width, self.selected)


def active_from_ms(view: ScreenView) -> float | None:
    """When what is going on began: the present turn's first sound or work; None at rest."""
    spans = view.timeline.spans
    if not spans:
        return None
    growing = [span for span in spans if span.end_ms is None]
    if not growing and view.waiting_since_ms is None:
        last_ms = max(span.end_ms for span in spans[-40:] if span.end_ms is not None)
        if view.now_ms - last_ms > _REST_MS:
            return None
    turn = (growing or spans[-1:])[-1].turn
    starts = [span.start_ms for span in spans if span.turn == turn] if turn is not None else []
    return min(starts or [span.start_ms for span in growing or spans[-1:]])
