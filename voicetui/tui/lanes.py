"""The timeline as rows: time, marks, one lane for each stage, and the gap drawn to scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from voicetui.tui.ink import Row
from voicetui.tui.lane_rows import (
    CHOSEN,
    LABEL_CELLS,
    MARKS,
    NAMES,
    SOUND_LANES,
    SPEAKER_MARKS,
    Gaps,
    LaneRows,
    Marks,
    Ruler,
    Scale,
    Tall,
    gap_cells,
    wave,
)
from voicetui.tui.sound_trace import SoundTrace
from voicetui.tui.window import Window
from voicetui.views.latency import TurnLatency
from voicetui.views.timeline import LANES, Lane, Mark, Span, Timeline

__all__ = [
    "CHOSEN", "LABEL_CELLS", "MARKS", "NAMES", "SOUND_LANES", "SPEAKER_MARKS", "Lanes", "Seen", "Tall",
    "timeline_rows", "wave",
]  # fmt: skip


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


_USUAL = Tall()


class _InSight(NamedTuple):
    """The spans and marks that a window shows."""

    spans: dict[Lane, tuple[Span, ...]]
    marks: tuple[Mark, ...]

    def on(self, lane: Lane) -> tuple[Mark, ...]:
        """The marks that stand on a lane."""
        if lane == "llm":
            return tuple(mark for mark in self.marks if mark.kind == "first_token")
        return tuple(mark for mark in self.marks if mark.kind in SPEAKER_MARKS) if lane == "speaker" else ()


class Lanes:
    """Draws the timeline. Keeps the rows it drew last, with what they were drawn from: from one picture to the next
    most stay as they are.
    """

    def __init__(self) -> None:
        self._drawn: dict[str, tuple[_Part, tuple[Row, ...]]] = {}
        self._seen: tuple[tuple[Timeline, bool, Scale], _InSight] | None = None

    def rows(
        self,
        view: Seen,
        window: Window,
        width: int,
        selected: int | None = None,
        tall: Tall = _USUAL,
        chosen: Span | None = None,
    ) -> list[Row]:
        """Time and marks, the lanes, the gaps: ``len(LANES) + 3`` rows, or more where the lanes of sound are tall.

        The ``chosen`` piece of work is drawn thick and over the others, with a sign before its lane's name.
        """
        scale = Scale(window, max(10, width - LABEL_CELLS - 1))
        now_ms, since_ms = view.now_ms, view.waiting_since_ms
        seen = self._in_sight(view.timeline, now_ms >= window.start_ms, scale)
        turns = _gaps_in_sight(view.turns, scale)
        guides = tuple(_guides(seen.marks, turns, since_ms, scale))
        rows = [
            *self._kept("time", Ruler(scale, scale.cell(now_ms) if scale.shows(now_ms, now_ms) else -1)),
            *self._kept("marks", Marks(scale, seen.marks)),
        ]
        for lane in LANES:
            spans = seen.spans[lane]
            grows = any(span.end_ms is None for span in spans)
            rows += self._kept(
                lane,
                LaneRows(
                    lane,
                    scale,
                    tall,
                    spans,
                    seen.on(lane),
                    guides,
                    scale.half(now_ms) if grows else 0,
                    _heard(view.trace, spans, now_ms, scale) if lane in SOUND_LANES else SoundTrace(),
                    chosen if chosen is not None and chosen.lane == lane else None,
                ),
            )
        open_ms = (since_ms, now_ms) if since_ms is not None else None
        return [*rows, *self._kept("gap", Gaps(scale, turns, selected, open_ms))]

    def _in_sight(self, timeline: Timeline, with_growing: bool, scale: Scale) -> _InSight:
        """Minutes of spans are kept, seconds are seen: what is not is sorted out once for every change."""
        made_from = (timeline, with_growing, scale)
        if self._seen is None or self._seen[0][0] is not timeline or self._seen[0] != made_from:
            self._seen = (made_from, _in_sight(timeline, with_growing, scale))
        return self._seen[1]

    def _kept(self, name: str, part: _Part) -> tuple[Row, ...]:
        """The rows of a part of the timeline, as they were where it is the same."""
        drawn = self._drawn.get(name)
        if drawn is None or drawn[0] != part:
            drawn = self._drawn[name] = (part, part.draw())
        return drawn[1]


def timeline_rows(
    view: Seen,
    window: Window,
    width: int,
    selected: int | None = None,
    tall: Tall = _USUAL,
    chosen: Span | None = None,
) -> list[Row]:
    """The rows of a timeline that is drawn once."""
    return Lanes().rows(view, window, width, selected, tall, chosen)


_Part = Ruler | Marks | LaneRows | Gaps


def _in_sight(timeline: Timeline, with_growing: bool, scale: Scale) -> _InSight:
    """What a window shows; spans that still grow only ``with_growing``, if they have come so far."""
    first_ms, last_ms = scale.window.start_ms, scale.end_ms
    lanes: dict[Lane, list[Span]] = {lane: [] for lane in LANES}
    for span in timeline.spans:
        if (with_growing if span.end_ms is None else span.end_ms >= first_ms) and span.start_ms < last_ms:
            lanes[span.lane].append(span)
    marks = tuple(mark for mark in timeline.marks if first_ms <= mark.at_ms < last_ms)
    return _InSight({lane: tuple(spans) for lane, spans in lanes.items()}, marks)


def _gaps_in_sight(turns: Sequence[TurnLatency], scale: Scale) -> tuple[TurnLatency, ...]:
    """The turns of which a gap can be seen, newest first."""
    found = []
    for turn in reversed(turns):
        start_ms, end_ms = turn.points.user_end, turn.points.reply_start
        if end_ms is not None and end_ms < scale.window.start_ms:
            break
        if start_ms is None or end_ms is None or turn.gap_ms is None or not scale.shows(start_ms, end_ms):
            continue
        found.append(turn)
    return tuple(found)


def _guides(
    marks: Sequence[Mark], turns: Sequence[TurnLatency], waiting_since_ms: float | None, scale: Scale
) -> Iterator[tuple[int, str]]:
    """Upright lines through all lanes: where a gap begins, where the turn was committed, where the gap ends."""
    for mark in marks:
        if mark.kind == "commit":
            yield scale.cell(mark.at_ms), "┊"
    for turn in turns:
        first, last = gap_cells(turn, scale)
        yield first, "│"
        yield last, "│"
    if waiting_since_ms is not None:
        yield scale.cell(waiting_since_ms), "│"


def _heard(trace: SoundTrace, spans: Sequence[Span], now_ms: float, scale: Scale) -> SoundTrace:
    """The levels that the cells of these spans show."""
    if not spans:
        return SoundTrace()
    ms = scale.window.ms_per_cell
    start_ms = max(scale.window.start_ms, min(span.start_ms for span in spans) - ms)
    end_ms = min(scale.end_ms, max(now_ms if span.end_ms is None else span.end_ms for span in spans) + ms)
    return trace.between(start_ms, end_ms)
