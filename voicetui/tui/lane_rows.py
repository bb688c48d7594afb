"""The timeline's rows one by one: each is what it is drawn from, so that one equal to the last can stay as it was."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from voicetui.tui.bands import band
from voicetui.tui.canvas import CellLine
from voicetui.tui.figures import whole
from voicetui.tui.ink import Ink, Row, Run
from voicetui.tui.sound_trace import Side, SoundTrace
from voicetui.tui.window import Window
from voicetui.views.latency import TurnLatency
from voicetui.views.timeline import Lane, Mark, MarkKind, Span, SpanKind

LABEL_CELLS = 13
CHOSEN = "▸"
"""Stands before the lane of the piece of work that is chosen."""
SOUND_LANES: tuple[Lane, ...] = ("you", "speaker")
UNTIMED_LANES: tuple[Lane, ...] = (*SOUND_LANES, "clauses")
"""Where the durations of spans are not written."""
NAMES: dict[Lane, str] = {
    "you": "you",
    "endpoint": "endpoint",
    "transcribe": "transcribe",
    "context": "context",
    "llm": "LLM",
    "clauses": "clauses",
    "synthesis": "synthesis",
    "speaker": "speaker",
}
MARKS: dict[MarkKind, tuple[str, str, Ink]] = {
    "dry": ("!", "ran dry", "alert"),
    "reject": ("∅", "rejected", "rejected"),
    "commit": ("◆", "commit", "mark"),
    "barge_in": ("▼", "barge-in", "accent"),
    "fault": ("✖", "fault", "alert"),
}
"""Glyph, word and ink of each mark above the lanes, the weightier ones later."""
SPEAKER_MARKS: dict[MarkKind, tuple[str, str, Ink]] = {
    "duck": ("▽", "duck", "mark"),
    "pause": ("‖", "hold", "mark"),
    "resume": ("▷", "back", "mark"),
    "cut": ("╳", "cut", "alert"),
}
"""The same for what happens to the sound: these stand on the speaker's lane."""
_LINE: dict[SpanKind, tuple[str, str, str, Ink]] = {
    "work": ("━", "╺", "╸", "work"),
    "speculative": ("╍", "╍", "╍", "speculative"),
    "discarded": ("┄", "┄", "┄", "discarded"),
    "audio": ("━", "╺", "╸", "work"),
}
"""Whole cell, right half, left half, and ink of each kind of work."""
_CHOSEN_LINE: tuple[str, str, str, Ink] = ("█", "▐", "▌", "mark")
_BLOCKS = " ▁▂▃▄▅▆▇█"
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}
_QUIET_DBFS, _LOUD_DBFS = -48.0, -6.0
_ORDER: dict[SpanKind, int] = {"discarded": 0, "speculative": 1, "work": 2, "audio": 3}


class Scale(NamedTuple):
    """Between times and cells."""

    window: Window
    cells: int

    @property
    def end_ms(self) -> float:
        """The first instant that is no longer in sight."""
        return self.window.start_ms + self.window.length_ms(self.cells)

    def cell(self, ms: float) -> int:
        """The cell that holds an instant (which may lie outside)."""
        return int((ms - self.window.start_ms) // self.window.ms_per_cell)

    def half(self, ms: float) -> int:
        """The half cell that begins nearest to an instant."""
        return round((ms - self.window.start_ms) / (self.window.ms_per_cell / 2))

    def shows(self, start_ms: float, end_ms: float) -> bool:
        """Whether any of it is in sight."""
        return end_ms >= self.window.start_ms and start_ms < self.end_ms


@dataclass(frozen=True, slots=True)
class Tall:
    """How many rows the lanes ``you`` and ``speaker`` take, and whether the work's durations are written."""

    rows: int = 1
    durations: bool = True


class Ruler(NamedTuple):
    """Seconds of the session, and the cell of now."""

    scale: Scale
    now_cell: int

    def draw(self) -> tuple[Row, ...]:
        """One row, the zoom at its left."""
        scale, ms = self.scale, self.scale.window.ms_per_cell
        line = CellLine(scale.cells)
        line.put(self.now_cell, "▾", "strong")
        label = max(10, len(f"{scale.window.start_ms / 1000:.1f} s") + 3)
        steps_ms = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
        step_ms = next((step for step in steps_ms if step / ms >= label), 60_000)
        at_ms = -(-scale.window.start_ms // step_ms) * step_ms
        while at_ms < scale.end_ms:
            text = f"{at_ms / 1000:.1f} s" if step_ms < 1000 else f"{at_ms / 1000:.0f} s"
            line.write_if_free(scale.cell(at_ms), f"╷{text}", "faint", margin=0)
            at_ms += step_ms
        return (_row(f"{ms} ms/cell", "faint", line),)


class Marks(NamedTuple):
    """What happened at an instant: a glyph, and its word where there is room. Weightier marks hide lighter ones."""

    scale: Scale
    marks: tuple[Mark, ...]

    def draw(self) -> tuple[Row, ...]:
        """One row."""
        line = CellLine(self.scale.cells)
        at: dict[int, Mark] = {}
        weights = list(MARKS)
        for mark in self.marks:
            if mark.kind in MARKS:
                cell = self.scale.cell(mark.at_ms)
                if cell not in at or weights.index(at[cell].kind) <= weights.index(mark.kind):
                    at[cell] = mark
        for cell, mark in at.items():
            glyph, _, ink = MARKS[mark.kind]
            line.put(cell, glyph, ink)
        for cell, mark in at.items():
            _, word, ink = MARKS[mark.kind]
            if mark.kind == "barge_in" and mark.label and mark.label != "bid":
                word = mark.label
            if line.free(cell + 1, cell + len(word) + 3):
                line.write(cell + 2, word, ink if ink == "alert" else "dim")
        return (_row("", "text", line),)


class LaneRows(NamedTuple):
    """One lane. ``guides`` are cells and glyphs of upright lines behind it, ``now_half`` the half cell up to which
    growing spans have come (0 where none grows), ``trace`` the sound of a lane of sound.  The ``chosen`` span is one of
    this lane's, or None.
    """

    lane: Lane
    scale: Scale
    tall: Tall
    spans: tuple[Span, ...]
    marks: tuple[Mark, ...]
    guides: tuple[tuple[int, str], ...]
    now_half: int
    trace: SoundTrace
    chosen: Span | None

    def draw(self) -> tuple[Row, ...]:
        """As many rows as the lane is tall."""
        lines = [CellLine(self.scale.cells) for _ in range(self.tall.rows if self.lane in SOUND_LANES else 1)]
        for line in lines:
            for cell, glyph in self.guides:
                line.put(cell, glyph, "guide")
        for span in sorted(self.spans, key=lambda span: (span == self.chosen, _ORDER[span.kind])):
            if self.lane in SOUND_LANES:
                self._sound(lines, span)
            else:
                self._work(lines[0], span)
        if self.tall.durations and self.lane not in UNTIMED_LANES:
            self._durations(lines[0])
        self._marks(lines)
        named = (len(lines) - 1) // 2
        sign = CHOSEN if self.chosen is not None else " "
        ink: Ink = "strong" if self.chosen is not None else _name_ink(self.lane)
        return tuple(
            _row(NAMES[self.lane] if place == named else "", ink, line, sign if place == named else " ")
            for place, line in enumerate(lines)
        )

    def _extent(self, span: Span) -> tuple[int, int]:
        """Its first half cell and the one behind its last."""
        first = self.scale.half(span.start_ms)
        return first, max(first + 1, self.now_half if span.end_ms is None else self.scale.half(span.end_ms))

    def _work(self, line: CellLine, span: Span) -> None:
        """A line as long as the work took, to half a cell; an ended one that came to nothing has a cross at its end."""
        whole_cell, right_half, left_half, ink = _CHOSEN_LINE if span == self.chosen else _LINE[span.kind]
        first, last = self._extent(span)
        for cell in range(max(0, first // 2), min(len(line), (last + 1) // 2)):
            starts_late, ends_early = first > cell * 2, last < cell * 2 + 2
            line.put(cell, right_half if starts_late else left_half if ends_early else whole_cell, ink)
        if span.kind == "discarded" and span.end_ms is not None:
            line.put((last - 1) // 2, "×", ink)

    def _sound(self, lines: list[CellLine], span: Span) -> None:
        """Loudness where it is known, an even bar where it is not, shade where it came to nothing."""
        start_ms, ms = self.scale.window.start_ms, self.scale.window.ms_per_cell
        side: Side = "user" if span.lane == "you" else "reply"
        usual: Ink = "discarded" if span.kind == "discarded" else "sound-you" if span.lane == "you" else "sound-reply"
        ink = _CHOSEN_LINE[3] if span == self.chosen else usual
        first, last = self._extent(span)
        for cell in range(max(0, first // 2), min(self.scale.cells, (last + 1) // 2)):
            at_ms = start_ms + cell * ms
            glyphs = wave(self.trace.loudest(side, at_ms, at_ms + ms), len(lines))
            for line, glyph in zip(lines, glyphs, strict=True):
                if glyph != " ":
                    line.put(cell, "░" if span.kind == "discarded" else glyph, ink)

    def _durations(self, line: CellLine) -> None:
        """How many milliseconds each piece of work took, behind it, where there is room."""
        for span in self.spans:
            if span.end_ms is None:
                continue
            took = round(span.end_ms - span.start_ms)
            cell = (self._extent(span)[1] + 1) // 2
            if took > 0 and line.free(cell, cell + len(str(took)) + 2):
                line.write(cell + 1, str(took), "faint")

    def _marks(self, lines: list[CellLine]) -> None:
        """The first token on the model's lane; what was done to the sound on the speaker's."""
        line = lines[(len(lines) - 1) // 2]
        for mark in self.marks:
            cell = self.scale.cell(mark.at_ms)
            if mark.kind not in SPEAKER_MARKS:
                line.put(cell, "┿", "strong")
                continue
            glyph, word, ink = SPEAKER_MARKS[mark.kind]
            line.put(cell, glyph, ink)
            if mark.kind in ("cut", "resume") and line.free(cell + 1, cell + len(word) + 3):
                line.write(cell + 2, word, "dim")


class Gaps(NamedTuple):
    """The gaps of ``turns`` to scale, and one that still grows: ``open_ms`` is when it began and what time it is."""

    scale: Scale
    turns: tuple[TurnLatency, ...]
    selected: int | None
    open_ms: tuple[float, float] | None

    def draw(self) -> tuple[Row, ...]:
        """One row."""
        line = CellLine(self.scale.cells)
        for turn in self.turns:
            self._gap(line, turn)
        if self.open_ms is not None:
            self._open_gap(line, *self.open_ms)
        return (_row("gap", "strong", line),)

    def _gap(self, line: CellLine, turn: TurnLatency) -> None:
        assert turn.gap_ms is not None
        kind, on = band(turn.gap_ms), turn.turn == self.selected
        first, last = gap_cells(turn, self.scale)
        for cell in range(first + 1, last):
            line.put(cell, "━" if on else "─", kind.ink)
        line.put(first, "┗" if on else "└", kind.ink)
        line.put(last, "┛" if on else "┘", kind.ink)
        word = "staged gap" if turn.staged else f"{kind.shape} {kind.word}"
        _gap_label(line, first, last, f"{whole(turn.gap_ms)} ms", word, kind.ink)

    def _open_gap(self, line: CellLine, start_ms: float, now_ms: float) -> None:
        """A gap that is still growing."""
        first, last = self.scale.cell(start_ms), self.scale.cell(now_ms)
        ink = band(now_ms - start_ms).ink
        line.put(first, "└", ink)
        for cell in range(first + 1, last + 1):
            line.put(cell, "╌", ink)
        line.write_if_free(last + 2, f"{whole(now_ms - start_ms)} ms …", ink, margin=0)


def gap_cells(turn: TurnLatency, scale: Scale) -> tuple[int, int]:
    """Where the gap of a turn, which must be known, begins and ends."""
    start_ms, end_ms = turn.points.user_end, turn.points.reply_start
    assert start_ms is not None and end_ms is not None
    return scale.cell(min(start_ms, end_ms)), scale.cell(max(start_ms, end_ms))


def _row(name: str, ink: Ink, line: CellLine, sign: str = " ") -> Row:
    return Row((Run(f"{sign} {name}".ljust(LABEL_CELLS), ink), *line.runs()))


def _name_ink(lane: Lane) -> Ink:
    return "you" if lane == "you" else "reply" if lane == "speaker" else "dim"


def wave(dbfs: float | None, rows: int) -> str:
    """A level as one glyph per row, top first: eighths of one or two rows, or a wave about the middle of more."""
    share = 0.55 if dbfs is None else min(max((dbfs - _QUIET_DBFS) / (_LOUD_DBFS - _QUIET_DBFS), 0.0), 1.0)
    return _bar(max(1, round(share * rows * 8)), rows) if rows <= 2 else _about(max(1, round(share * rows)), rows)


@cache
def _bar(eighths: int, rows: int) -> str:
    """So many eighths, from the bottom up."""
    return "".join(
        _BLOCKS[min(eighths - 8 * below, 8)] if eighths > 8 * below else " " for below in range(rows - 1, -1, -1)
    )


@cache
def _about(reach: int, rows: int) -> str:
    """So many half rows above the middle, and as many below it."""
    halves = [abs(place - rows + 0.5) < reach for place in range(2 * rows)]
    return "".join(_HALVES[upper, lower] for upper, lower in zip(halves[::2], halves[1::2], strict=True))


def _gap_label(gaps: CellLine, first: int, last: int, number: str, word: str, ink: Ink) -> None:
    """Inside the bracket where it fits, else behind it; the number alone only where there is no room for the word."""
    for text in (f"{number} {word}", number):
        if len(text) + 2 <= last - first - 3:
            gaps.write(first + 1 + (last - first - 3 - len(text)) // 2, f" {text} ", ink)
            return
        if gaps.write_if_free(last + 2, text, ink, margin=0):
            return
