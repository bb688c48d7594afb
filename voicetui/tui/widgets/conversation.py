"""What was said: partials while they change, replies as they are heard, and what nobody heard, struck through."""

from __future__ import annotations

from collections.abc import Sequence

from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Size

from voicetui.events.orders import Outcome
from voicetui.tui.bands import band
from voicetui.tui.canvas import rule
from voicetui.tui.figures import milliseconds
from voicetui.tui.ink import Ink, Row, Run, spread, wrap_runs
from voicetui.tui.literal import literal
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.panel import Panel
from voicetui.views.latency import TurnLatency
from voicetui.views.transcript import ClauseLine, ReplyLine, UserLine

_MARGIN = 11
"""Cells before the words: the turn's number and who speaks."""
_LONGEST = 3000
"""Characters of one text that are shown: more would never be seen at once."""


class Conversation(Panel):
    """The transcript, newest at the bottom; scrolls back by rows."""

    DEFAULT_CSS = "Conversation { height: 1fr; }"

    def __init__(self, id: str | None = None, live: bool = True) -> None:
        """``live``: what is to be said next has not been said yet."""
        super().__init__(id=id)
        self._live = live
        self._back = 0
        self._wrapped: dict[tuple[object, int, tuple[Run, ...]], tuple[Row, ...]] = {}

    def scroll_rows(self, rows: int) -> None:
        """Go ``rows`` back in time (negative: on)."""
        self._back = max(0, self._back + rows)
        self.redraw()

    def to_end(self) -> None:
        """Show the newest words again."""
        self._back = 0
        self.redraw()

    def reveal(self, turn: int) -> None:
        """Scroll so that this turn can be read."""
        size = self.content_size
        if self.view is None or size.width <= 0 or size.height < 2:
            return
        rows = self._rows_from_the_end(self.view, size.width, 10_000)
        places = [place for place, row in enumerate(rows) if row.target == turn]
        if not places:
            return
        room = size.height - 1
        top = len(rows) - room - self._back
        if places[0] < top or places[-1] >= top + room:
            self._back = max(0, len(rows) - places[-1] - 1 - room // 3)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Read back."""
        event.stop()
        self.scroll_rows(2)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Read on."""
        event.stop()
        self.scroll_rows(-2)

    def depends_on(self, view: ScreenView) -> tuple[object, ...]:
        """What the rows are made from."""
        return (view.transcript, view.turns, view.state.word)

    def draw(self, size: Size) -> Sequence[Row]:
        """A heading, then the rows that end where the reader is."""
        width, height = size
        view = self.view
        room = height - 1
        if view is None or room < 1:
            return [Row(rule(width, "conversation"))]
        rows = self._rows_from_the_end(view, width, room + self._back)
        self._back = min(self._back, max(0, len(rows) - room))
        shown = rows[max(0, len(rows) - room - self._back) : len(rows) - self._back]
        if not shown:
            shown = [Row((Run("  " + _invitation(view, self._live), "dim"),))]
        note = f"{self._back} rows below" if self._back else ""
        return [Row(rule(width, "conversation", note)), *shown]

    def _rows_from_the_end(self, view: ScreenView, width: int, enough: int) -> list[Row]:
        """The newest rows in reading order, at least ``enough`` if there are so many."""
        blocks: list[tuple[Row, ...]] = []
        count = 0
        cache: dict[tuple[object, int, tuple[Run, ...]], tuple[Row, ...]] = {}
        gaps = {turn.turn: _figure(turn) for turn in view.turns[-60:]}
        for line in reversed(view.transcript.lines):
            if (
                isinstance(line, UserLine)
                and line.state == "partial"
                and not line.text
                and view.state.word != "hearing you"
            ):
                continue
            figure = gaps.get(line.turn, ()) if isinstance(line, ReplyLine) else ()
            key = (line, width, figure)
            block = self._wrapped.get(key) or _rows_of(line, width, figure)
            cache[key] = block
            if self.selected is not None and line.turn == self.selected:
                block = tuple(_chosen(row) for row in block)
            blocks.append(block)
            count += len(block)
            if count >= enough + 40:
                break
        self._wrapped = cache
        return [row for block in reversed(blocks) for row in block]


def _chosen(row: Row) -> Row:
    """The row on its own ground, and with a bar before it, for terminals that have no such ground."""
    first, *rest = row.runs
    return Row((Run("▌", "accent"), Run(first.text[1:], first.ink), *rest), True, row.target)


def _invitation(view: ScreenView, live: bool) -> str:
    match view.state.word:
        case "loading":
            return "Loading the models." if live else "Nothing was said yet."
        case "muted":
            return "The microphone is off. m switches it on, / types a turn."
        case "closed":
            return "Nothing was said."
        case _ if not live:
            return "Nothing was said yet."
        case _:
            return "The scripted person is about to speak." if view.state.source == "demo" else "Say something."


def _figure(turn: TurnLatency) -> tuple[Run, ...]:
    """A turn's gap, with its band's shape, or a word where it was made on purpose."""
    if turn.gap_ms is None:
        return ()
    kind = band(turn.gap_ms)
    return (Run(f"{'staged' if turn.staged else kind.shape} {milliseconds(turn.gap_ms)} ", kind.ink),)


def _rows_of(line: UserLine | ReplyLine, width: int, figure: tuple[Run, ...]) -> tuple[Row, ...]:
    return _user_rows(line, width) if isinstance(line, UserLine) else _reply_rows(line, width, figure)


def _user_rows(line: UserLine, width: int) -> tuple[Row, ...]:
    text = _ending(line.text)
    if line.state == "rejected":
        words: list[Run] = [Run(text + "  " if text else "", "rejected"), Run(f"∅\u00a0{literal(line.reason)}", "dim")]
        return _block("", Run("you", "dim"), words, width, None)
    if line.state in ("partial", "final"):
        ink: Ink = "provisional"
        words = [Run(text or "…", ink), Run(" …" if text and line.state == "partial" else "", ink)]
        return _block("", Run("you", "you"), words, width, None)
    typed = [Run("  typed", "dim")] if line.utterance is None else []
    number = str(line.turn) if line.turn is not None else ""
    return _block(number, Run("you", "you"), [Run(text), *typed], width, line.turn)


def _reply_rows(line: ReplyLine, width: int, figure: tuple[Run, ...]) -> tuple[Row, ...]:
    words = [run for clause in line.clauses for run in _clause_runs(clause, line)]
    if line.pending.strip():
        words.append(Run(_ending(line.pending), "struck" if line.outcome is not None else "provisional"))
    place = next((place for place, run in enumerate(words) if run.ink == "struck"), len(words))
    if line.outcome is not None and line.outcome != "completed":
        glyph, said, ink = _OUTCOMES[line.outcome]
        inside = place < len(words) and words[place].text.startswith(" ")
        words.insert(place, Run(f" {glyph}" if inside else f"{glyph} ", ink))
        reason = f": {literal(line.reason)}" if line.reason and line.outcome in ("failed", "unanswered") else ""
        words += [Run(" " if place < len(words) - 1 else ""), Run(said, ink), Run(reason, "dim")]
    if not words:
        words = [Run("…", "provisional")]
    words[0] = Run(words[0].text.lstrip(), words[0].ink)
    return _block("", Run("reply", "reply"), words, width, line.turn, figure)


_OUTCOMES: dict[Outcome, tuple[str, str, Ink]] = {
    "interrupted": ("╳", "interrupted", "mark"),
    "superseded": ("╳", "superseded", "mark"),
    "failed": ("✖", "failed", "alert"),
    "unanswered": ("✖", "unanswered", "alert"),
    "cut_off": ("╳", "cut off: you went on", "mark"),
}
"""A glyph where the reply stopped being heard, and a word at its end."""


def _clause_runs(clause: ClauseLine, line: ReplyLine) -> list[Run]:
    """Heard words plain, words on their way slanted, words nobody will hear struck through."""
    heard, unheard = _ending(clause.heard), literal(clause.unheard[:_LONGEST])
    over = clause.state in ("cut", "unheard", "failed") or (line.outcome is not None and clause.state != "silent")
    rest: Ink = "struck" if over else "text" if clause.state == "playing" else "provisional"
    return [run for run in (Run(heard), Run(unheard, rest)) if run.text]


def _ending(text: str) -> str:
    """The text, or of a very long one its end."""
    return literal(text if len(text) <= _LONGEST else f"… {text[-_LONGEST:]}")


def _block(
    number: str, who: Run, words: list[Run], width: int, turn: int | None, figure: tuple[Run, ...] = ()
) -> tuple[Row, ...]:
    """Words wrapped beside the turn's number and the speaker; a figure at the right of the first line."""
    taken = sum(len(run.text) for run in figure)
    lines = wrap_runs(words, width - _MARGIN - 1, width - _MARGIN - taken - 2 if taken else None)
    head = (Run(number.rjust(4) + " ", "faint"), Run(who.text.ljust(6), who.ink))
    rows = [Row(spread((*head, *lines[0]), figure, width), target=turn)]
    rows += [Row((Run(" " * _MARGIN), *line), target=turn) for line in lines[1:]]
    return tuple(rows)
