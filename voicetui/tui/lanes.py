"""The timeline as rows: time, marks, one lane for each stage, and the gap drawn to scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from voicetui.tui.bands import band
from voicetui.tui.canvas import CellLine
from voicetui.tui.figures import whole
from voicetui.tui.ink import Ink, Row, Run
from voicetui.tui.sound_trace import SoundTrace
from voicetui.tui.window import Window
from voicetui.views.latency import TurnLatency
from voicetui.views.timeline import LANES, Lane, Mark, MarkKind, Span, SpanKind, Timeline

LABEL_CELLS = 13
CHOSEN = "▸"
"""Stands before the lane of the piece of work that is chosen."""
SOUND_LANES: tuple[Lane, ...] = ("you", "speaker")
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


class Seen(Protocol):
    """What the lanes are drawn from: a part of a ``ScreenView``, or of a session that is over."""

    @property
    def now_ms(self) -> float:
        """The session's time: what goes on has come so far."""

    @property
    def timeline(self) -> Timeline:
        """Spans and marks."""

    @property
    def turns(self) -> tuple[TurnLatency, ...]:
        """The turns, for their gaps."""

    @property
    def waiting_since_ms(self) -> float | None:
        """The end of the speech whose reply is awaited."""

    @property
    def trace(self) -> SoundTrace:
        """How loud both sides were."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """Between times and cells."""

    window: Window
    cells: int

    def cell(self, ms: float) -> int:
        """The cell that holds an instant (which may lie outside)."""
        return int((ms - self.window.start_ms) // self.window.ms_per_cell)

    def halves(self, start_ms: float, end_ms: float) -> tuple[int, int]:
        """A stretch of time as half cells, at least one."""
        half = self.window.ms_per_cell / 2
        first = round((start_ms - self.window.start_ms) / half)
        return first, max(first + 1, round((end_ms - self.window.start_ms) / half))

    def shows(self, start_ms: float, end_ms: float) -> bool:
        """Whether any of it is in sight."""
        return end_ms >= self.window.start_ms and start_ms < self.window.start_ms + self.window.length_ms(self.cells)


@dataclass(frozen=True, slots=True)
class Tall:
    """How many rows the lanes ``you`` and ``speaker`` take, and whether the work's durations are written."""

    rows: int = 1
    durations: bool = True


def timeline_rows(
    view: Seen,
    window: Window,
    width: int,
    selected: int | None = None,
    tall: Tall = Tall(),
    chosen: Span | None = None,
) -> list[Row]:
    """Time and marks, the lanes, the gaps: ``len(LANES) + 3`` rows, or more where the lanes of sound are tall.

    The ``chosen`` piece of work is drawn thick and over the others, with a sign before its lane's name.
    """
    cells = max(10, width - LABEL_CELLS - 1)
    scale = _Scale(window, cells)
    lanes = {lane: [CellLine(cells) for _ in range(tall.rows if lane in SOUND_LANES else 1)] for lane in LANES}
    gaps = CellLine(cells)
    spans = _in_sight(view.timeline.spans, view.now_ms, scale)
    marks = [mark for mark in view.timeline.marks if scale.shows(mark.at_ms, mark.at_ms)]
    _guides([line for lines in lanes.values() for line in lines], gaps, marks, view, scale, selected)
    for span in sorted(spans, key=lambda span: (span == chosen, _ORDER[span.kind])):
        end_ms = span.end_ms if span.end_ms is not None else max(view.now_ms, span.start_ms)
        if span.lane in SOUND_LANES:
            _sound(lanes[span.lane], span, end_ms, view.trace, scale, span == chosen)
        else:
            _work(lanes[span.lane][0], span, end_ms, scale, span == chosen)
    if tall.durations:
        _durations({lane: lines[0] for lane, lines in lanes.items()}, spans, scale)
    _marks_on_lanes(lanes, marks, scale)
    rows = [_row(f"{window.ms_per_cell} ms/cell", "faint", _ruler(view, scale))]
    rows.append(_row("", "text", _marks(marks, scale)))
    for lane, lines in lanes.items():
        for place, line in enumerate(lines):
            named = place == (len(lines) - 1) // 2
            on = chosen is not None and chosen.lane == lane
            sign = CHOSEN if on and named else " "
            rows.append(_row(NAMES[lane] if named else "", "strong" if on else _name_ink(lane), line, sign))
    rows.append(_row("gap", "strong", gaps))
    return rows


def _row(name: str, ink: Ink, line: CellLine, sign: str = " ") -> Row:
    return Row((Run(f"{sign} {name}".ljust(LABEL_CELLS), ink), *line.runs()))


def _name_ink(lane: Lane) -> Ink:
    return "you" if lane == "you" else "reply" if lane == "speaker" else "dim"


def _in_sight(spans: Sequence[Span], now_ms: float, scale: _Scale) -> list[Span]:
    """Minutes of spans are kept, seconds are seen: what is not is sorted out once, and cheaply."""
    first_ms = scale.window.start_ms
    last_ms = first_ms + scale.window.length_ms(scale.cells)
    return [
        span
        for span in spans
        if span.start_ms < last_ms and (now_ms if span.end_ms is None else span.end_ms) >= first_ms
    ]


def _work(line: CellLine, span: Span, end_ms: float, scale: _Scale, chosen: bool) -> None:
    """A line as long as the work took, to half a cell; an ended one that came to nothing has a cross at its end."""
    whole_cell, right_half, left_half, ink = _CHOSEN_LINE if chosen else _LINE[span.kind]
    first, last = scale.halves(span.start_ms, end_ms)
    for cell in range(max(0, first // 2), min(len(line), (last + 1) // 2)):
        starts_late, ends_early = first > cell * 2, last < cell * 2 + 2
        line.put(cell, right_half if starts_late else left_half if ends_early else whole_cell, ink)
    if span.kind == "discarded" and span.end_ms is not None:
        line.put((last - 1) // 2, "×", ink)


def _sound(lines: list[CellLine], span: Span, end_ms: float, trace: SoundTrace, scale: _Scale, chosen: bool) -> None:
    """Loudness where it is known, an even bar where it is not, shade where it came to nothing."""
    ms = scale.window.ms_per_cell
    usual: Ink = "discarded" if span.kind == "discarded" else "sound-you" if span.lane == "you" else "sound-reply"
    ink = _CHOSEN_LINE[3] if chosen else usual
    first, last = scale.halves(span.start_ms, end_ms)
    for cell in range(max(0, first // 2), min(scale.cells, (last + 1) // 2)):
        at_ms = scale.window.start_ms + cell * ms
        level = trace.loudest("user" if span.lane == "you" else "reply", at_ms, at_ms + ms)
        for line, glyph in zip(lines, wave(level, len(lines)), strict=True):
            if glyph != " ":
                line.put(cell, "░" if span.kind == "discarded" else glyph, ink)


def wave(dbfs: float | None, rows: int) -> str:
    """A level as one glyph per row, top first: eighths of one or two rows, or a wave about the middle of more."""
    share = 0.55 if dbfs is None else min(max((dbfs - _QUIET_DBFS) / (_LOUD_DBFS - _QUIET_DBFS), 0.0), 1.0)
    if rows <= 2:
        eighths = max(1, round(share * rows * 8))
        return "".join(
            _BLOCKS[min(eighths - 8 * below, 8)] if eighths > 8 * below else " " for below in range(rows - 1, -1, -1)
        )
    reach = max(1, round(share * rows))
    halves = [abs(place - rows + 0.5) < reach for place in range(2 * rows)]
    return "".join(_HALVES[upper, lower] for upper, lower in zip(halves[::2], halves[1::2], strict=True))


def _durations(lines: dict[Lane, CellLine], spans: Sequence[Span], scale: _Scale) -> None:
    """How many milliseconds each piece of work took, behind it, where there is room."""
    for span in spans:
        if span.lane in ("you", "speaker", "clauses") or span.end_ms is None:
            continue
        took = round(span.end_ms - span.start_ms)
        _, last = scale.halves(span.start_ms, span.end_ms)
        cell = (last + 1) // 2
        text = f" {took} "
        if took > 0 and lines[span.lane].free(cell, cell + len(text)):
            lines[span.lane].write(cell + 1, str(took), "faint")


def _guides(
    every: list[CellLine],
    gaps: CellLine,
    marks: Sequence[Mark],
    view: Seen,
    scale: _Scale,
    selected: int | None,
) -> None:
    """Upright lines through all lanes: where a gap begins, where the turn was committed, where the gap ends."""
    for mark in marks:
        if mark.kind == "commit":
            for line in every:
                line.put(scale.cell(mark.at_ms), "┊", "guide")
    for turn in reversed(view.turns):
        start_ms, end_ms = turn.points.user_end, turn.points.reply_start
        if end_ms is not None and end_ms < scale.window.start_ms:
            break
        if start_ms is None or end_ms is None or turn.gap_ms is None or not scale.shows(start_ms, end_ms):
            continue
        _gap(every, gaps, scale, start_ms, end_ms, turn, on=turn.turn == selected)
    if view.waiting_since_ms is not None:
        _open_gap(every, gaps, scale, view.waiting_since_ms, view.now_ms)


def _gap(
    lines: list[CellLine], gaps: CellLine, scale: _Scale, start_ms: float, end_ms: float, turn: TurnLatency, on: bool
) -> None:
    assert turn.gap_ms is not None
    kind = band(turn.gap_ms)
    first, last = scale.cell(min(start_ms, end_ms)), scale.cell(max(start_ms, end_ms))
    for line in lines:
        line.put(first, "│", "guide")
        line.put(last, "│", "guide")
    line_glyph = "━" if on else "─"
    for cell in range(first + 1, last):
        gaps.put(cell, line_glyph, kind.ink)
    gaps.put(first, "┗" if on else "└", kind.ink)
    gaps.put(last, "┛" if on else "┘", kind.ink)
    word = "staged gap" if turn.staged else f"{kind.shape} {kind.word}"
    _gap_label(gaps, first, last, f"{whole(turn.gap_ms)} ms", word, kind.ink)


def _gap_label(gaps: CellLine, first: int, last: int, number: str, word: str, ink: Ink) -> None:
    """Inside the bracket where it fits, else behind it; the number alone only where there is no room for the word."""
    for text in (f"{number} {word}", number):
        if len(text) + 2 <= last - first - 3:
            gaps.write(first + 1 + (last - first - 3 - len(text)) // 2, f" {text} ", ink)
            return
        if gaps.write_if_free(last + 2, text, ink, margin=0):
            return


def _open_gap(lines: list[CellLine], gaps: CellLine, scale: _Scale, start_ms: float, now_ms: float) -> None:
    """A gap that is still growing."""
    first, last = scale.cell(start_ms), scale.cell(now_ms)
    ink = band(now_ms - start_ms).ink
    for line in lines:
        line.put(first, "│", "guide")
    gaps.put(first, "└", ink)
    for cell in range(first + 1, last + 1):
        gaps.put(cell, "╌", ink)
    gaps.write_if_free(last + 2, f"{whole(now_ms - start_ms)} ms …", ink, margin=0)


def _ruler(view: Seen, scale: _Scale) -> CellLine:
    """Seconds of the session, and where now is."""
    line = CellLine(scale.cells)
    if scale.shows(view.now_ms, view.now_ms):
        line.put(scale.cell(view.now_ms), "▾", "strong")
    ms = scale.window.ms_per_cell
    label = max(10, len(f"{scale.window.start_ms / 1000:.1f} s") + 3)
    step_ms = next((step for step in (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000) if step / ms >= label), 60_000)
    first = -(-scale.window.start_ms // step_ms) * step_ms
    at_ms = first
    while at_ms < scale.window.start_ms + scale.window.length_ms(scale.cells):
        text = f"{at_ms / 1000:.1f} s" if step_ms < 1000 else f"{at_ms / 1000:.0f} s"
        line.write_if_free(scale.cell(at_ms), f"╷{text}", "faint", margin=0)
        at_ms += step_ms
    return line


def _marks(marks: Sequence[Mark], scale: _Scale) -> CellLine:
    """What happened at an instant: a glyph, and its word where there is room. Weightier marks hide lighter ones."""
    line = CellLine(scale.cells)
    at: dict[int, Mark] = {}
    weights = list(MARKS)
    for mark in marks:
        if mark.kind in MARKS:
            cell = scale.cell(mark.at_ms)
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
    return line


def _marks_on_lanes(lanes: dict[Lane, list[CellLine]], marks: Sequence[Mark], scale: _Scale) -> None:
    """The first token on the model's lane; what was done to the sound on the speaker's."""
    speaker = lanes["speaker"][(len(lanes["speaker"]) - 1) // 2]
    for mark in marks:
        cell = scale.cell(mark.at_ms)
        if mark.kind == "first_token":
            lanes["llm"][0].put(cell, "┿", "strong")
        elif mark.kind in SPEAKER_MARKS:
            glyph, word, ink = SPEAKER_MARKS[mark.kind]
            speaker.put(cell, glyph, ink)
            if mark.kind in ("cut", "resume") and speaker.free(cell + 1, cell + len(word) + 3):
                speaker.write(cell + 2, word, "dim")
