"""The live timeline: one lane per stage, spans growing as they happen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Size

from voicetui.tui.ink import Row
from voicetui.tui.lanes import LABEL_CELLS, Tall, timeline_rows
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.panel import Panel
from voicetui.tui.window import Window
from voicetui.views.timeline import LANES

_NEWEST = 200
"""As many spans are looked at to find out what goes on."""


class TimelinePanel(Panel):
    """Time, marks, lanes, gaps. Keeps the window it looks through."""

    DEFAULT_CSS = "TimelinePanel { height: 11; }"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.window = Window()
        self.tall = Tall()

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
        self.window = replace(self.window, following=True)
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

    def depends_on(self, view: ScreenView) -> tuple[object, ...]:
        """What the rows are made from."""
        return (
            view.timeline,
            view.turns,
            self.window,
            view.now_ms // self.window.ms_per_cell if going_on(view)[0] == view.now_ms else None,
        )

    def draw(self, size: Size) -> Sequence[Row]:
        """The rows seen through the window."""
        if self.view is None:
            return []
        focus_ms, begun_ms = going_on(self.view)
        self.window = self.window.follow(focus_ms, self.cells, begun_ms)
        spare = max(0, size.height - len(LANES) - 3)
        return timeline_rows(self.view, self.window, size.width, self.selected, replace(self.tall, rows=1 + spare // 2))


def going_on(view: ScreenView) -> tuple[float, list[float]]:
    """The time to look at, and when what goes on there began: its first sound or work, the end of the user's speech.

    At rest the time is the end of what happened last.
    """
    spans = view.timeline.spans[-_NEWEST:]
    if not spans:
        return view.now_ms, [view.now_ms]
    growing = [span for span in spans if span.end_ms is None]
    newest = (growing or spans)[-1]
    focus_ms = view.now_ms
    if not growing and view.waiting_since_ms is None:
        focus_ms = max(span.end_ms for span in spans if span.end_ms is not None)
    if newest.turn is None:
        return focus_ms, [newest.start_ms]
    own = [span for span in spans if span.turn == newest.turn]
    ends = [span.end_ms for span in own if span.lane == "you" and span.end_ms is not None]
    return focus_ms, [min(span.start_ms for span in own), *ends[-1:]]
