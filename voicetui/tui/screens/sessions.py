"""The recorded sessions: sorted, filtered, tagged, thrown away, opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, Protocol, get_args

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Input

from voicetui.journal.listing import Listed
from voicetui.journal.recorded import RecordedError
from voicetui.journal.sift import Order, Wanted, in_order
from voicetui.tui.drawn import Drawn
from voicetui.tui.ink import Ink, Row, Run, row, spread
from voicetui.tui.literal import literal
from voicetui.tui.session_columns import Columns, megabytes, table, tier_text

_ORDERS: Final[tuple[Order, ...]] = get_args(Order)
_ORDER_TEXT: Final[dict[Order, str]] = {
    "date": "newest first", "gap": "worst gap first", "length": "longest first", "size": "largest first"
}  # fmt: skip
_KEYS: Final = (
    ("enter", "open"), ("/", "filter"), ("s", "sort"), ("t", "tag"), ("x", "throw away"), ("u", "undo"),
    ("q", "quit"), ("r", "look again"),
)  # fmt: skip


class Shelf(Protocol):
    """How the screen gets at the sessions; each may raise ``RecordedError``."""

    def look(self) -> Sequence[Listed]:
        """All there are."""

    def in_trash(self) -> int:
        """How many are in the trash."""

    def tag(self, row: Listed, add: Sequence[str], remove: Sequence[str]) -> None:
        """Change the tags of a session."""

    def trash(self, row: Listed) -> str:
        """Throw a session away; its name in the trash."""

    def restore(self, name: str) -> None:
        """Bring it back."""


class SessionRows(Drawn):
    """The sessions in columns, a heading above, one of them chosen."""

    DEFAULT_CSS = "SessionRows { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.sessions: list[Listed] = []
        self.chosen = 0
        self._first = 0
        self._columns: tuple[int, Columns] | None = None

    def show(self, sessions: list[Listed], chosen: int) -> None:
        """Show these, that one chosen."""
        self.sessions, self.chosen = sessions, max(0, min(chosen, len(sessions) - 1))
        self._columns = None
        self.redraw()

    def move(self, by: int) -> None:
        """Choose another."""
        self.chosen = max(0, min(len(self.sessions) - 1, self.chosen + by))
        self.redraw()

    def draw(self, size: Size) -> Sequence[Row]:
        """The heading, and as many sessions around the chosen one as there is room for."""
        if self._columns is None or self._columns[0] != size.width:
            self._columns = (size.width, table(self.sessions, size.width - 2))
        columns, room = self._columns[1], max(1, size.height - 1)
        self._first = max(min(self._first, self.chosen), self.chosen - room + 1)
        self._first = max(0, min(self._first, len(self.sessions) - room))
        shown = range(self._first, min(len(self.sessions), self._first + room))
        return [row((f"  {columns.heading}", "title")), *(self._row(columns, number) for number in shown)]

    def _row(self, columns: Columns, number: int) -> Row:
        mark = "▸ " if number == self.chosen else "  "
        ink = _ink(self.sessions[number])
        return row((mark, "accent"), (columns.lines[number], ink), on=number == self.chosen, target=number)


class About(Drawn):
    """The chosen session in words."""

    DEFAULT_CSS = "About { height: 3; }"
    about: Listed | None = None

    def draw(self, size: Size) -> Sequence[Row]:
        """Its name; what is wrong with it, and where it is from; its tags."""
        if self.about is None:
            return []
        it = self.about
        facts = [tier_text(it), it.source, f"made again from {it.parent}" if it.parent else ""]
        facts += ["redacted: not all of it is there" if it.redacted else ""]
        wrong = _wrong(it.problems)
        tags = " ".join(it.tags) or "no tags"
        name, on_disk = Run(f"  {literal(it.name)}", "strong"), Run(f"{megabytes(it.size_bytes)}  ", "dim")
        told: list[tuple[str, Ink]] = [(f"   {literal(each)}", "dim") for each in facts if each]
        return [
            Row(spread([name], [on_disk], size.width)),
            row("  ", (wrong, "notice" if it.problems else "dim"), *told),
            row("  ", (literal(tags), "accent" if it.tags else "faint")),
        ]


class Head(Drawn):
    """How many there are, which are shown, in what order."""

    DEFAULT_CSS = "Head { height: 1; }"
    left, right = "", ""

    def draw(self, size: Size) -> Sequence[Row]:
        """The one row."""
        return [
            Row(
                spread(
                    [Run("  sessions  ", "strong"), Run(self.left, "dim")], [Run(f"{self.right} ", "dim")], size.width
                )
            )
        ]


class Foot(Drawn):
    """A message where there is one, else the keys."""

    DEFAULT_CSS = "Foot { height: 1; }"
    message: tuple[str, Ink] | None = None

    def draw(self, size: Size) -> Sequence[Row]:
        """The one row."""
        if self.message is not None:
            return [row("  ", (literal(self.message[0]), self.message[1]))]
        runs, used = [Run("  ")], 2
        for key, label in _KEYS:
            used += len(key) + len(label) + 3
            if used <= size.width:
                runs += [Run(key, "key"), Run(f" {label}  ", "dim")]
        return [Row(tuple(runs))]


class Asked(Input):
    """One line to type in, hidden until it is wanted."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "screen.give_up", show=False)]
    DEFAULT_CSS = """
    Asked, Asked:focus {
        display: none; height: 1; border: none; padding: 0 1; background: $panel; color: $foreground;
        &.-open { display: block; }
    }
    """


class SessionsScreen(Screen[None]):
    """The list, and what the chosen one is."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", show=False), Binding("up,k", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False), Binding("pageup", "page(-1)", show=False),
        Binding("home,g", "move(-999999)", show=False), Binding("end,G", "move(999999)", show=False),
        Binding("enter", "open", show=False), Binding("s", "sort", show=False),
        Binding("slash", "filter", show=False), Binding("t", "tag", show=False),
        Binding("x,delete", "trash", show=False), Binding("u", "undo", show=False),
        Binding("r", "again", show=False), Binding("escape", "give_up", show=False),
        Binding("q", "app.quit", show=False),
    ]  # fmt: skip
    DEFAULT_CSS = "SessionsScreen { layout: vertical; background: $background; }"

    def __init__(self, shelf: Shelf, order: Order, chosen: str) -> None:
        super().__init__()
        self._shelf = shelf
        self._order = order
        self._begin = chosen
        self._all: list[Listed] = []
        self._words: tuple[str, ...] = ()
        self._thrown: list[str] = []
        self._asking = ""

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Head()
        yield SessionRows()
        yield About()
        yield Asked(select_on_focus=False)
        yield Foot()

    def on_mount(self) -> None:
        """Look what there is."""
        self.query_one(Asked).cursor_blink = False
        self.set_focus(None)
        self._look(self._begin)

    @property
    def shown(self) -> SessionRows:
        """The sessions that are shown."""
        return self.query_one(SessionRows)

    @property
    def chosen(self) -> Listed | None:
        """The one the cursor is at."""
        rows = self.shown
        return rows.sessions[rows.chosen] if rows.sessions else None

    def action_move(self, by: int) -> None:
        """Choose another."""
        self.shown.move(by)
        self._tell(None)

    def action_page(self, by: int) -> None:
        """A screenful further."""
        self.action_move(by * max(1, self.shown.content_size.height - 2))

    def action_open(self) -> None:
        """Open the chosen one."""
        if self.chosen is not None:
            self.app.exit(self.chosen)

    def action_sort(self) -> None:
        """The next order."""
        self._order = _ORDERS[(_ORDERS.index(self._order) + 1) % len(_ORDERS)]
        self._arrange(self._chosen_name())

    def action_filter(self) -> None:
        """Ask for words that have to be in a row."""
        self._ask(
            "filter", " ".join(self._words), "words of name, tier, state or tags; enter keeps them, esc drops them"
        )

    def action_tag(self) -> None:
        """Ask for tags."""
        if self.chosen is not None:
            self._ask("tag", "", "tags to give it, -tag takes one away")

    def action_trash(self) -> None:
        """Throw the chosen one away."""
        row = self.chosen
        if row is None:
            return
        try:
            self._thrown.append(self._shelf.trash(row))
        except RecordedError as error:
            self._tell(str(error), "alert")
            return
        self._look(place=self.shown.chosen)
        self._tell(f"{row.name} is in the trash; u brings it back", "notice")

    def action_undo(self) -> None:
        """Bring back what was thrown away last."""
        if not self._thrown:
            self._tell("Nothing was thrown away here. `voicetui sessions restore` brings others back.", "notice")
            return
        name = self._thrown.pop()
        try:
            self._shelf.restore(name)
        except RecordedError as error:
            self._tell(str(error), "alert")
            return
        self._look(name)
        self._tell(f"{name} is back", "notice")

    def action_again(self) -> None:
        """Look again what there is."""
        self._look(self._chosen_name())

    def action_give_up(self) -> None:
        """Stop typing; then drop the filter."""
        if not self._asking or self._asking == "filter":
            self._words = ()
            self._arrange(self._chosen_name())
        self._close_line()

    def on_input_changed(self, event: Input.Changed) -> None:
        """A filter holds while it is typed."""
        if self._asking == "filter":
            self._words = tuple(event.value.casefold().split())
            self._arrange(self._chosen_name())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take what was typed."""
        words, asked, row = event.value.split(), self._asking, self.chosen
        self._close_line()
        if asked == "tag" and row is not None and words:
            add = [word for word in words if not word.startswith("-")]
            try:
                self._shelf.tag(row, add, [word[1:] for word in words if word.startswith("-")])
            except RecordedError as error:
                self._tell(str(error), "alert")
                return
            self._look(row.name)

    def on_drawn_selected(self, event: Drawn.Selected) -> None:
        """A click chooses; one on the chosen one opens it."""
        if event.turn == self.shown.chosen:
            self.action_open()
        else:
            self.action_move(event.turn - self.shown.chosen)

    def on_mouse_scroll_down(self, _: MouseScrollDown) -> None:
        """Further down."""
        self.action_move(3)

    def on_mouse_scroll_up(self, _: MouseScrollUp) -> None:
        """Further up."""
        self.action_move(-3)

    def _chosen_name(self) -> str:
        return self.chosen.name if self.chosen is not None else ""

    def _ask(self, what: str, value: str, hint: str) -> None:
        line = self.query_one(Asked)
        self._asking = what
        line.value, line.placeholder = value, hint
        line.add_class("-open")
        line.focus()

    def _close_line(self) -> None:
        self._asking = ""
        self.query_one(Asked).remove_class("-open")
        self.set_focus(None)

    def _look(self, name: str = "", place: int = 0) -> None:
        try:
            self._all = list(self._shelf.look())
        except RecordedError as error:
            self._all = []
            self._tell(str(error), "alert")
            return
        self._arrange(name, place)

    def _arrange(self, name: str = "", place: int = 0) -> None:
        shown = in_order(filter(Wanted(words=self._words).has, self._all), self._order)
        names = [row.name for row in shown]
        self.shown.show(shown, names.index(name) if name in names else place)
        head, thrown = self.query_one(Head), self._shelf.in_trash()
        of = f"{len(shown)} of {len(self._all)}" if len(shown) != len(self._all) else str(len(shown))
        found = f" with {literal(' '.join(self._words))}" if self._words else ""
        head.left = f"{of}{found}, {_ORDER_TEXT[self._order]}"
        size = megabytes(sum(row.size_bytes for row in self._all))
        head.right = size + (f", {thrown} in the trash" if thrown else "")
        head.redraw()
        self._tell(None)

    def _tell(self, message: str | None, ink: Ink = "notice") -> None:
        foot, about = self.query_one(Foot), self.query_one(About)
        if message is None and not self._all:
            message, ink = "Nothing is recorded here yet: `voicetui demo` makes one.", "notice"
        foot.message = (message, ink) if message is not None else None
        about.about = self.chosen
        foot.redraw()
        about.redraw()


def _wrong(problems: int) -> str:
    if not problems:
        return "nothing is wrong"
    found, them = ("1 problem", "it") if problems == 1 else (f"{problems} problems", "them")
    return f"{found}: `voicetui sessions check` names {them}"


def _ink(row: Listed) -> Ink:
    """Damaged sessions stand out, those cut short a little."""
    inks: dict[str, Ink] = {"damaged": "alert", "unreadable": "alert", "cut short": "notice", "being written": "accent"}
    return inks.get(row.state, "text")
