"""Two recorded sessions on one screen: their turns in pairs, and both timelines under one axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Size
from textual.screen import ModalScreen, Screen

from voicetui.tui.canvas import rule
from voicetui.tui.compared import ComparedView
from voicetui.tui.drawn import Drawn
from voicetui.tui.ink import Row, clip_runs
from voicetui.tui.widgets.bridge import Bridge
from voicetui.tui.widgets.compared import CompareKeys, Foot, Head, WordsPanel
from voicetui.tui.widgets.compared_panel import ComparedPanel
from voicetui.tui.widgets.pairs import PairsList
from voicetui.tui.widgets.two_timelines import TwoTimelines

RowsFor = Callable[[int], Sequence[Row]]
"""The whole comparison as rows, for a width."""


class CompareScreen(Screen[None]):
    """Walk through the pairs; everything else shows the one that is looked at."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "walk(-1)", show=False),
        Binding("down,j", "walk(1)", show=False),
        Binding("pageup", "walk(-10)", show=False),
        Binding("pagedown", "walk(10)", show=False),
        Binding("home", "walk(-100000)", show=False),
        Binding("end", "walk(100000)", show=False),
        Binding("plus,equals_sign", "zoom(-1)", show=False),
        Binding("minus", "zoom(1)", show=False),
        Binding("left", "scroll(-0.125)", show=False),
        Binding("right", "scroll(0.125)", show=False),
        Binding("f", "reset", show=False),
        Binding("tab", "other(1)", show=False, priority=True),
        Binding("shift+tab", "other(-1)", show=False, priority=True),
        Binding("d,enter,question_mark", "details", show=False),
    ]
    DEFAULT_CSS = """
    CompareScreen {
        background: $background;
        #head { height: 1; }
        #upper { height: 1fr; }
        #pairs { width: 1fr; }
        #bridge { width: 30; margin-left: 2; }
        #words { display: none; }
        #foot { height: 3; }
        &.-wide #bridge { width: 56; }
        &.-huge #bridge { width: 84; }
        &.-tall #head { height: 2; }
        &.-tall #words { display: block; height: 3; }
        &.-tall #timelines { height: 17; }
        &.-tall #foot { height: 5; }
        &.-lofty #head { height: 2; }
        &.-lofty #words { display: block; height: 5; }
        &.-lofty #timelines { height: 25; }
        &.-lofty #foot { height: 5; }
    }
    """

    def __init__(self, views: Sequence[ComparedView], details: RowsFor) -> None:
        super().__init__()
        self._views = list(views)
        self._place = 0
        self._details = details

    @property
    def view(self) -> ComparedView:
        """The comparison that is shown."""
        return self._views[self._place]

    def compose(self) -> ComposeResult:
        """The parts, top to bottom."""
        keys = [
            ("q", "quit"),
            ("↑↓", "turns"),
            ("←→", "time"),
            ("+ -", "zoom"),
            ("f", "both gaps"),
            ("d", "all figures"),
        ]
        keys += [("tab", "next session")] if len(self._views) > 1 else []
        yield Head(id="head")
        with Horizontal(id="upper"):
            yield PairsList(id="pairs")
            yield Bridge(id="bridge")
        yield TwoTimelines(id="timelines")
        yield WordsPanel(id="words")
        yield Foot(id="foot")
        yield CompareKeys([*keys, ("T", "theme"), ("S", "picture")], id="keys")

    def on_mount(self) -> None:
        """Show the first pair whose gaps are compared."""
        for place, view in enumerate(self._views):
            pairs = view.found.comparison.pairs
            first = next((number for number, pair in enumerate(pairs) if not pair.left_out), 0)
            self._views[place] = replace(view, place=first)
        self._show()

    def action_walk(self, steps: int) -> None:
        """Look at another pair."""
        self._look_at(self.view.place + steps)

    def action_other(self, steps: int) -> None:
        """Compare the base with the next session."""
        self._place = (self._place + steps) % len(self._views)
        self._show()

    def action_zoom(self, steps: int) -> None:
        """Finer or coarser."""
        self.query_one(TwoTimelines).zoom(steps)

    def action_scroll(self, pages: float) -> None:
        """Earlier or later."""
        self.query_one(TwoTimelines).scroll_pages(pages)

    def action_reset(self) -> None:
        """Both gaps in sight again."""
        self.query_one(TwoTimelines).reset()

    def action_details(self) -> None:
        """Everything that is printed without a screen."""
        self.app.push_screen(DetailsScreen(self._details))

    def on_drawn_selected(self, event: Drawn.Selected) -> None:
        """A pair was clicked."""
        event.stop()
        self._look_at(event.turn)

    def on_pairs_list_walked(self, event: PairsList.Walked) -> None:
        """The wheel was turned over the list."""
        event.stop()
        self.action_walk(event.steps)

    def _look_at(self, place: int) -> None:
        last = len(self.view.found.comparison.pairs) - 1
        self._views[self._place] = replace(self.view, place=max(0, min(place, last)))
        self._show()

    def _show(self) -> None:
        for part in self.query(ComparedPanel):
            part.show(self.view)


class Details(Drawn):
    """Rows that are more than fit, read a piece at a time."""

    DEFAULT_CSS = "Details { height: 1fr; width: 1fr; }"

    def __init__(self, rows_for: RowsFor) -> None:
        super().__init__()
        self._rows_for = rows_for
        self._all: tuple[Row, ...] = ()
        self._width = 0
        self._first = 0

    def move(self, rows: int) -> None:
        """Read on, or back (negative)."""
        self._first += rows
        self.redraw()

    def draw(self, size: Size) -> Sequence[Row]:
        """A heading and the rows in sight."""
        width, height = size
        if width != self._width:
            self._all, self._width = tuple(self._rows_for(width - 1)), width
        self._first = max(0, min(self._first, len(self._all) - height + 1))
        last = min(len(self._all), self._first + height - 1)
        head = Row(
            rule(width, "all figures", f"{self._first + 1} to {last} of {len(self._all)}   ↑↓ read   esc goes back")
        )
        return [head, *(Row(clip_runs(row.runs, width)) for row in self._all[self._first : last])]

    def on_mouse_scroll_up(self) -> None:
        """Read back."""
        self.move(-3)

    def on_mouse_scroll_down(self) -> None:
        """Read on."""
        self.move(3)


class DetailsScreen(ModalScreen[None]):
    """The whole comparison, to be read."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,d,enter,question_mark", "dismiss", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("home", "move(-100000)", show=False),
        Binding("end", "move(100000)", show=False),
    ]
    DEFAULT_CSS = "DetailsScreen { background: $background; }"

    def __init__(self, rows_for: RowsFor) -> None:
        super().__init__()
        self._rows_for = rows_for

    def compose(self) -> ComposeResult:
        """The page."""
        yield Details(self._rows_for)

    def action_move(self, rows: int) -> None:
        """Read on or back."""
        self.query_one(Details).move(rows)

    def action_page(self, pages: int) -> None:
        """A whole page of that."""
        details = self.query_one(Details)
        details.move(pages * max(1, details.size.height - 2))
