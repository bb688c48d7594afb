"""Every event of a recorded session: which there are around the position, and all that one of them says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Size
from textual.message import Message
from textual.screen import Screen

from voicetui.events import Entry
from voicetui.tui.actions import REPLAY_ACTIONS
from voicetui.tui.canvas import rule
from voicetui.tui.figures import clock
from voicetui.tui.ink import BLANK, Ink, Row, Run, clip_runs, wrap_runs
from voicetui.tui.literal import fit
from voicetui.tui.play_view import PlayPanel, PlayView
from voicetui.tui.records import basis_of, brief, kind_of, meaning_of, payload, tag_of
from voicetui.tui.widgets.keys_line import KeysLine
from voicetui.tui.widgets.scrub_bar import ScrubBar

_TAG_CELLS = 20
_KEY_CELLS = 14


class EventList(PlayPanel):
    """The events around the position, one a line; those still to come are fainter."""

    DEFAULT_CSS = "EventList { width: 3fr; height: 1fr; }"

    class Stepped(Message):
        """The wheel was turned."""

        def __init__(self, entries: int) -> None:
            super().__init__()
            self.entries = entries

    def depends_on(self, play: PlayView) -> tuple[object, ...]:
        """What the rows are made from."""
        return (play.shown, play.total)

    def draw(self, size: Size) -> Sequence[Row]:
        """A heading, and as many events as there is room for, the current one a third from the bottom."""
        width, height = size
        play = self.play
        if play is None:
            return [Row(rule(width, "events"))]
        rows = [Row(rule(width, "events", f"{play.shown} of {play.total}"))]
        lines = height - 1
        first = max(0, min(play.shown - 1 - lines * 2 // 3, play.total - lines))
        places = range(first, min(first + lines, play.total))
        return rows + [_line(play.entries[place], place, play.shown - 1, width) for place in places]

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Back."""
        event.stop()
        self.post_message(self.Stepped(-1))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """On."""
        event.stop()
        self.post_message(self.Stepped(1))


class EventDetail(PlayPanel):
    """All that the current event says."""

    DEFAULT_CSS = "EventDetail { width: 2fr; height: 1fr; }"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._first = 0
        self._place = -1

    def depends_on(self, play: PlayView) -> tuple[object, ...]:
        """What the rows are made from."""
        return (play.shown, min(play.shown, play.total))

    def scroll_rows(self, rows: int) -> None:
        """Read on, or back."""
        self._first = max(0, self._first + rows)
        self.redraw()

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Read back."""
        event.stop()
        self.scroll_rows(-3)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Read on."""
        event.stop()
        self.scroll_rows(3)

    def draw(self, size: Size) -> Sequence[Row]:
        """Source, basis, payload; a heading that says what is out of sight."""
        width, height = size
        play = self.play
        entry = play.current if play is not None else None
        if play is None or entry is None:
            return [Row(rule(width, "no event yet"))]
        if self._place != play.shown:
            self._place, self._first = play.shown, 0
        rows = [*_source(entry, width), BLANK, *_payload(entry, width)]
        self._first = min(self._first, max(0, len(rows) - (height - 1)))
        seen = rows[self._first : self._first + height - 1]
        hidden = len(rows) - len(seen)
        return [Row(rule(width, tag_of(entry.body), f"{hidden} more, pgdn" if hidden else "")), *seen]


class EventsScreen(Screen[None]):
    """List and detail, side by side or one above the other. Every key works as elsewhere; e goes back."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e,escape", "app.events", "Back", show=False),
        Binding("up", "app.event_back", "Back", show=False),
        Binding("down", "app.event_on", "On", show=False),
        Binding("pageup", "read(-1)", "Read back", show=False),
        Binding("pagedown", "read(1)", "Read on", show=False),
    ]
    DEFAULT_CSS = """
    EventsScreen {
        background: $background;
        #both { height: 1fr; layout: horizontal; }
        &.-narrow #both { layout: vertical; }
        &.-tall ScrubBar, &.-lofty ScrubBar { height: 4; }
        EventDetail { margin-left: 2; }
        &.-narrow EventList, &.-narrow EventDetail { width: 1fr; margin-left: 0; }
    }
    """

    def compose(self) -> ComposeResult:
        """The parts."""
        with Container(id="both"):
            yield EventList()
            yield EventDetail()
        yield ScrubBar()
        yield KeysLine(REPLAY_ACTIONS, id="keys")

    def show_play(self, play: PlayView) -> None:
        """Hand the picture to every part."""
        for panel in self.query(PlayPanel):
            panel.show_play(play)

    def action_read(self, way: int) -> None:
        """Read on in the detail, or back."""
        detail = self.query_one(EventDetail)
        detail.scroll_rows(way * max(1, detail.content_size.height - 3))


def _line(entry: Entry, place: int, current: int, width: int) -> Row:
    to_come = place > current
    order = kind_of(entry.body) == "order"
    ink: Ink = "faint" if to_come else "text"
    runs = (
        Run(f"{entry.seq:>6} ", "faint" if to_come else "dim"),
        Run(f"{_seconds(entry.at):>9} ", ink),
        Run("→ " if order else "· ", "faint" if to_come else "mark" if order else "dim"),
        Run(fit(tag_of(entry.body), _TAG_CELLS) + " ", "strong" if place == current else ink),
        Run(brief(entry), "faint" if to_come else "dim"),
    )
    cut = clip_runs(runs, width)
    filled = sum(len(run.text) for run in cut)
    on = place == current
    return Row((*cut, Run(" " * max(0, width - filled))) if on else cut, on, place)


def _source(entry: Entry, width: int) -> list[Row]:
    """Where the event comes from."""
    order = kind_of(entry.body) == "order"
    what = "an order of the rules" if order else "a fact"
    told = [
        ("kind", [Run("→ " if order else "· ", "mark" if order else "dim"), Run(what)]),
        ("seq", [Run(str(entry.seq))]),
        ("at", [Run(f"{entry.at:.3f} ms"), Run(f"   {clock(entry.at)}", "dim")]),
    ]
    basis = basis_of(entry.body)
    told += [("basis", [Run(basis)])] if basis else []
    rows = []
    for name, runs in told:
        rows.append(Row((Run(f"  {name}".ljust(_KEY_CELLS), "dim"), *runs)))
    return [*(Row((Run("  "), *line)) for line in wrap_runs([Run(meaning_of(entry.body), "dim")], width - 3)), *rows]


def _payload(entry: Entry, width: int) -> list[Row]:
    rows = []
    for depth, key, value in payload(entry):
        head = f"{'  ' * (depth + 1)}{key} ".ljust(_KEY_CELLS)
        lines = wrap_runs([Run(value)], max(8, width - len(head) - 1)) if value else [()]
        rows.append(Row((Run(head, "dim"), *lines[0])))
        rows += [Row((Run(" " * len(head)), *line)) for line in lines[1:]]
    return rows or [Row((Run("  nothing more", "dim"),))]


def _seconds(at_ms: float) -> str:
    return f"{at_ms / 1e3:.3f}" if at_ms == at_ms and abs(at_ms) < 1e8 else "?"
