"""The live timeline: one lane per stage, spans growing as they happen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual.events import Click, MouseMove, MouseScrollDown, MouseScrollUp
from textual.geometry import Offset, Size

from voicetui.tui.ink import Row
from voicetui.tui.lanes import LABEL_CELLS, SOUND_LANES, Lanes, Tall
from voicetui.tui.spans import same_span, span_at, span_beside, span_row
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
        self._lanes = Lanes()
        self.told: Span | None = None
        self.chosen: Span | None = None

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
        self.chosen = None
        self.redraw()

    def look_at(self, start_ms: float, end_ms: float) -> None:
        """Bring a stretch of time into sight."""
        self.window = self.window.show(start_ms, end_ms, self.cells)
        self.redraw()

    def choose_beside(self, step: int) -> None:
        """Choose the piece of work after (1) or before (-1) the chosen one, and bring it into sight."""
        if self.view is None:
            return
        window, cells = self.window, self.cells
        seen_ms = (window.start_ms, window.start_ms + window.length_ms(cells))
        self.chosen = span = span_beside(self.view, self.chosen, step, self.selected, seen_ms)
        if span is not None:
            self.window = window.show(span.start_ms, span.start_ms + window.ms_per_cell, cells)
        self.redraw()

    def let_go(self, turn: int | None) -> None:
        """Choose none, unless it is this turn's."""
        if self.chosen is not None and self.chosen.turn != turn:
            self.chosen = None

    def on_click(self, event: Click) -> None:
        """Choose the piece of work there, and select its turn; a second click lets go of both."""
        event.prevent_default()
        offset = event.get_content_offset(self)
        span = self._span_at(offset) if offset is not None else None
        if span is None or self.view is None:
            return
        again = self.chosen is not None and same_span(span, self.chosen)
        self.chosen = None if again else span
        if self.view.turn(span.turn) is not None and (self.selected == span.turn) == again:
            self.post_message(self.Selected(span.turn or 0))
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
        if self.chosen is not None:
            self.chosen = _as_now(self.view, self.chosen)
        tall = self._tall(size.height)
        rows = self._lanes.rows(self.view, self.window, size.width, self.selected, tall, self.chosen)
        told = self.told or self.chosen
        if told is not None:
            rows[0] = span_row(self.view, told, size.width)
        return rows


def _as_now(view: ScreenView, span: Span) -> Span:
    """The same piece of work as it is now: it may have grown, or been thrown away. One no longer kept is as it was."""
    return next((each for each in reversed(view.timeline.spans) if same_span(each, span)), span)


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
        newest = next((span for span in reversed(spans) if span.lane in SOUND_LANES), newest)
        last = view.last_gap()
        rest = view.now_ms - focus_ms > _REST_MS or view.state.word == "closed"
        if last is not None and last.turn == newest.turn and rest:
            gap_ms = last.points.user_end or focus_ms
            return gap_ms, [gap_ms]
    if newest.turn is None:
        return focus_ms, [newest.start_ms]
    own = [span for span in spans if span.turn == newest.turn]
    ends = [span.end_ms for span in own if span.lane == "you" and span.end_ms is not None]
    return focus_ms, [min(span.start_ms for span in own), *ends[-1:]]
