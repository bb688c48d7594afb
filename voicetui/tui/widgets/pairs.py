"""The pairs of turns of two sessions, to walk through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Offset, Size
from textual.message import Message

from voicetui.bench.pair_words import pair_note, pair_text, signed, turns_text
from voicetui.tui.canvas import CellLine
from voicetui.tui.compared import ComparedView, gap_run
from voicetui.tui.ink import Row, Run
from voicetui.tui.literal import fit, literal
from voicetui.tui.widgets.compared_panel import ComparedPanel
from voicetui.views.compare import PairOfTurns

_GAP, _DIFFERENCE, _NOTE = 8, 9, 17
_NOTED_FROM = 84
"""From this width on there is room for what became of a pair."""


class PairsList(ComparedPanel):
    """One row for each pair; the one that is looked at stays in sight."""

    DEFAULT_CSS = "PairsList { height: 1fr; }"

    class Walked(Message):
        """The wheel was turned over the list."""

        def __init__(self, steps: int) -> None:
            super().__init__()
            self.steps = steps

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._first = 0

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """The pair before."""
        event.stop()
        self.post_message(self.Walked(-1))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """The pair after."""
        event.stop()
        self.post_message(self.Walked(1))

    def target_at(self, offset: Offset) -> int | None:
        """The place of the pair in that row."""
        return self.rows[offset.y].target if offset.y < len(self.rows) else None

    def draw(self, size: Size) -> Sequence[Row]:
        """A heading and as many pairs as there is room for."""
        view, (width, height) = self.view, size
        if view is None:
            return []
        pairs = view.found.comparison.pairs
        room = max(1, height - 1)
        self._first = min(max(self._first, view.place - room + 1), view.place, max(0, len(pairs) - room))
        columns = _Columns.of(view, width)
        shown = range(self._first, min(len(pairs), self._first + room))
        rows = [_heading(view, columns, width), *(_pair_row(view, columns, place) for place in shown)]
        return rows if pairs else [*rows, Row((Run(f"  {view.found.aligned}", "dim"),))]


@dataclass(frozen=True, slots=True)
class _Columns:
    """How many cells each column takes: what the pairs need, and the rest for the words."""

    one: int
    other: int
    words: int
    difference: int
    note: int

    @classmethod
    def of(cls, view: ComparedView, width: int) -> _Columns:
        pairs = view.found.comparison.pairs
        one = max((len(turns_text(pair.one)) for pair in pairs), default=0)
        other = max((len(turns_text(pair.other)) for pair in pairs), default=0)
        one, other = max(1, one) + 1, max(1, other) + 1
        difference = max((len(_difference(view, pair)) for pair in pairs), default=0)
        difference = max(_DIFFERENCE, difference + 2)
        note = _NOTE if width >= _NOTED_FROM else 0
        return cls(one, other, max(4, width - 2 - one - other - 2 * _GAP - difference - note - 1), difference, note)


def _heading(view: ComparedView, columns: _Columns, width: int) -> Row:
    """A rule with the columns' names above them."""
    line = CellLine(width)
    for cell in range(width):
        line.put(cell, "─", "guide")
    one, other = view.found.labels
    pairs = len(view.found.comparison.pairs)
    line.write(2, " turns ", "title")
    cell = 2 + columns.one + columns.other + columns.words
    place = f"{view.place + 1} of {pairs} " if pairs else ""
    if 9 + len(place) < cell:
        line.write(9, place, "dim")
    heads = (
        (one, cell + _GAP - 2),
        (other, cell + 2 * _GAP - 2),
        (f"{other}−{one} ms", cell + 2 * _GAP + columns.difference),
    )
    for text, end in heads:
        line.write(end - len(text) - 1, f" {text} ", "title")
    return Row(line.runs())


def _pair_row(view: ComparedView, columns: _Columns, place: int) -> Row:
    pair = view.found.comparison.pairs[place]
    sides = ((view.one, pair.one), (view.other, pair.other))
    on = place == view.place
    numbers = f"{turns_text(pair.one) or '–':<{columns.one}}{turns_text(pair.other) or '–':<{columns.other}}"
    runs = [
        Run("▸ " if on else "  ", "accent"),
        Run(numbers, "strong" if on else "dim"),
        Run(fit(literal(pair_text(view.found.comparison, pair)), columns.words), "text" if pair.both else "dim"),
        *(gap_run(side.session, turns, _GAP) for side, turns in sides),
        Run(f"{_difference(view, pair):>{columns.difference}}", "dim" if pair.left_out else "strong"),
    ]
    if columns.note:
        runs.append(Run(f"  {pair_note(view.found.labels, view.found.comparison, pair)}", "dim"))
    return Row(tuple(runs), on=on, target=place)


def _difference(view: ComparedView, pair: PairOfTurns) -> str:
    """Other minus one; in brackets where it is in no figure."""
    before, after = view.found.comparison.gaps_ms(pair)
    if before is None or after is None:
        return "–"
    return f"({signed(after - before)})" if pair.left_out else signed(after - before)
