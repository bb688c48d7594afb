"""The live timeline: one lane per stage, spans growing as they happen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual.events import MouseMove, MouseScrollDown, MouseScrollUp
from textual.geometry import Offset, Size

from voicetui.tui.ink import Row
from voicetui.tui.lanes import LABEL_CELLS, Tall, span_at, span_row, timeline_rows
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.panel import Panel
from voicetui.tui.window import Window
from voicetui.views.timeline import LANES, Span

_REST_MS = 1000.0
"""After so much rest the timeline goes back to the last gap."""
_NEWEST = 200
"""As many spans are looked at to find out what goes on."""


class TimelinePanel(Panel):
    """Time, marks, lanes, gaps. Keeps the window it looks through."""

    DEFAULT_CSS = "TimelinePanel { height: 11; }"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.window = Window()
        self.tall = Tall()
        self.told: Span | None = None

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
        focus_ms, _ = going_on(view)
        moving = view.now_ms // self.window.ms_per_cell if focus_ms == view.now_ms else focus_ms
        return (view.timeline, view.turns, self.window, moving)

    def target_at(self, offset: Offset) -> int | None:
        """The turn of the span there."""
        span = self._span_at(offset)
        return span.turn if span is not None and self.view is not None and self.view.turn(span.turn) else None

    def on_mouse_move(self, event: MouseMove) -> None:
        """Tell of the span under the mouse."""
        offset = event.get_content_offset(self)
        self._tell_of(self._span_at(offset) if offset is not None else None)

    def on_leave(self) -> None:
        """Tell the time again."""
        self._tell_of(None)

    def _span_at(self, offset: Offset) -> Span | None:
        if self.view is None:
            return None
        return span_at(self.view, self.window, offset, self._tall(self.content_size.height))

    def _tell_of(self, span: Span | None) -> None:
        if span is not self.told:
            self.told = span
            self.redraw()

    def _tall(self, height: int) -> Tall:
        return replace(self.tall, rows=1 + max(0, height - len(LANES) - 3) // 2)

    def draw(self, size: Size) -> Sequence[Row]:
        """The rows seen through the window."""
        if self.view is None:
            return []
        focus_ms, begun_ms = going_on(self.view)
        self.window = self.window.follow(focus_ms, self.cells, begun_ms)
        rows = timeline_rows(self.view, self.window, size.width, self.selected, self._tall(size.height))
        if self.told is not None:
            rows[0] = span_row(self.told, self.view.now_ms, size.width)
        return rows


def going_on(view: ScreenView) -> tuple[float, list[float]]:
    """The time to look at, and when what goes on there began: its first sound or work, the end of the user's speech.

    At rest the time is the end of what happened last, and after a while where the last turn's gap began.
    """
    spans = view.timeline.spans[-_NEWEST:]
    if not spans:
        return view.now_ms, [view.now_ms]
    growing = [span for span in spans if span.end_ms is None]
    newest = (growing or spans)[-1]
    focus_ms = view.now_ms
    if not growing and view.waiting_since_ms is None:
        focus_ms = max(span.end_ms for span in spans if span.end_ms is not None)
        last = view.last_gap()
        if last is not None and last.turn == newest.turn and view.now_ms - focus_ms > _REST_MS:
            gap_ms = last.points.user_end or focus_ms
            return gap_ms, [gap_ms]
    if newest.turn is None:
        return focus_ms, [newest.start_ms]
    own = [span for span in spans if span.turn == newest.turn]
    ends = [span.end_ms for span in own if span.lane == "you" and span.end_ms is not None]
    return focus_ms, [min(span.start_ms for span in own), *ends[-1:]]
