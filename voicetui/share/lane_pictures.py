"""Turns and barge-ins as lanes of work and sound, to scale, as inline SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from voicetui.share.charts import percent, svg, text_at, title
from voicetui.share.markup import Html, Piece, h
from voicetui.share.wording import gap_text, ms
from voicetui.views.bands import band
from voicetui.views.barge_in import BargeInFigures
from voicetui.views.breakdown import finite
from voicetui.views.figures import MINUS, milliseconds
from voicetui.views.latency import TurnLatency
from voicetui.views.timeline import LANES, Lane, Mark, MarkKind, Span, SpanKind, Timeline

LANE_NAMES: dict[Lane, str] = {
    "you": "person",
    "endpoint": "is it over?",
    "transcribe": "transcribe",
    "context": "context",
    "llm": "LLM",
    "clauses": "clauses",
    "synthesis": "synthesis",
    "speaker": "reply heard",
}
KINDS: dict[SpanKind, str] = {
    "work": "",
    "speculative": "ahead of the decision",
    "discarded": "thrown away",
    "audio": "",
}
MARK_WORDS: dict[MarkKind, str] = {
    "commit": "the turn is over",
    "first_token": "first token",
    "barge_in": "the person speaks over the reply",
    "duck": "quieter",
    "pause": "held",
    "resume": "back",
    "cut": "cut",
    "reject": "not a turn",
    "dry": "the speaker ran dry",
    "fault": "fault",
}
"""What is worth a mark on a picture; the gap has its own bracket."""
_LANE = 18
_ORDER: dict[SpanKind, int] = {"discarded": 0, "speculative": 1, "work": 2, "audio": 3}


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of the session: from and to, ms on its clock, with the instant that counts as 0."""

    start_ms: float
    end_ms: float
    zero_ms: float

    def x(self, at_ms: float) -> float:
        """Where an instant is across, per cent; what lies outside is at the edge."""
        share = (at_ms - self.start_ms) / max(1.0, self.end_ms - self.start_ms)
        return min(max(share, 0.0), 1.0) * 100

    def holds(self, start_ms: float, end_ms: float | None) -> bool:
        """Whether any of it is inside."""
        return start_ms < self.end_ms and (end_ms is None or end_ms > self.start_ms)


class Board:
    """The spans and marks of a timeline, quickly found by time."""

    def __init__(self, timeline: Timeline) -> None:
        self._spans = sorted(timeline.spans, key=lambda span: span.start_ms)
        self._marks = sorted(timeline.marks, key=lambda mark: mark.at_ms)

    def spans(self, stretch: Stretch, lanes: Iterable[Lane] = LANES) -> list[Span]:
        """Those of these lanes that lie in a stretch, what is weightier later."""
        wanted = frozenset(lanes)
        found = [span for span in self._spans if span.lane in wanted and stretch.holds(span.start_ms, span.end_ms)]
        return sorted(found, key=lambda span: _ORDER[span.kind])

    def marks(self, stretch: Stretch) -> list[Mark]:
        """Those in a stretch."""
        return [mark for mark in self._marks if stretch.holds(mark.at_ms, mark.at_ms) and mark.kind in MARK_WORDS]


def turn_stretch(turn: TurnLatency, before_ms: float, after_ms: float) -> Stretch | None:
    """The time about a turn's gap; ``after_ms`` counts from the end of the speech. None where nothing is known."""
    zero_ms = finite(turn.points.user_end)
    zero_ms = zero_ms if zero_ms is not None else finite(turn.points.committed)
    return None if zero_ms is None else Stretch(zero_ms - before_ms, zero_ms + after_ms, zero_ms)


def turn_lanes(board: Board, turn: TurnLatency, stretch: Stretch) -> Html:
    """All lanes about a turn's gap, with the gap as a bracket below them."""
    height = _LANE * len(LANES)
    pieces: list[Piece] = [*_ticks(stretch, height)]
    start_ms, end_ms = turn.points.user_end, turn.points.reply_start
    if turn.gap_ms is not None and start_ms is not None and end_ms is not None:
        x, right = sorted((stretch.x(start_ms), stretch.x(end_ms)))
        ink = band(turn.gap_ms).ink
        pieces.append(h("rect", x=percent(x), width=percent(right - x), y=0, height=height, cls=f"zone {ink}"))
    pieces += [
        _span(span, stretch, LANES.index(span.lane) * _LANE, span.turn not in (turn.turn, None))
        for span in board.spans(stretch)
    ]
    for mark in board.marks(stretch):
        pieces += _mark(mark, stretch, height)
    pieces += _bracket(turn, stretch, height + 22)
    names = [h("span", LANE_NAMES[lane]) for lane in LANES]
    picture = svg(height + 44, f"Turn {turn.turn}: {gap_text(turn)}", pieces, cls="lanes")
    return h("div", h("div", names, h("span", "ms"), h("span", "gap"), cls="lanenames"), picture, cls="named")


def _bracket(turn: TurnLatency, stretch: Stretch, y: int) -> list[Piece]:
    start_ms, end_ms = turn.points.user_end, turn.points.reply_start
    if turn.gap_ms is None or start_ms is None or end_ms is None:
        return [text_at(0, y + 14, gap_text(turn), "strong")]
    x, right = sorted((stretch.x(start_ms), stretch.x(end_ms)))
    ink = band(turn.gap_ms).ink
    lines = [
        h("line", x1=percent(x), x2=percent(right), y1=y + 4, y2=y + 4, cls=f"bracket {ink}"),
        h("line", x1=percent(x), x2=percent(x), y1=y, y2=y + 8, cls=f"bracket {ink}"),
        h("line", x1=percent(right), x2=percent(right), y1=y, y2=y + 8, cls=f"bracket {ink}"),
    ]
    word = "staged gap" if turn.staged else f"{band(turn.gap_ms).shape} {band(turn.gap_ms).word}"
    return [*lines, text_at(x, y + 20, f"{milliseconds(turn.gap_ms)}  {word}", "strong")]


def _span(span: Span, stretch: Stretch, y: float, other: bool) -> Html:
    end_ms = span.end_ms if span.end_ms is not None else stretch.end_ms
    x, right = stretch.x(span.start_ms), stretch.x(end_ms)
    sound = span.lane in ("you", "speaker")
    kind = ("you" if span.lane == "you" else "reply") if sound else span.kind
    kind = "discarded" if span.kind == "discarded" else kind
    height = 12 if sound else 8
    cls = f"span {kind}{' other' if other else ''}"
    return h(
        "rect",
        title(_span_text(span, stretch)),
        x=percent(x),
        width=percent(max(0.25, right - x)),
        y=y + (_LANE - height) / 2,
        height=height,
        rx=1.5,
        cls=cls,
    )


def _span_text(span: Span, stretch: Stretch) -> str:
    from_ms = span.start_ms - stretch.zero_ms
    name = LANE_NAMES[span.lane]
    if span.end_ms is None:
        return f"{name}: from {signed(from_ms)} on; the journal ends before it does. {span.label}"
    took = milliseconds(span.end_ms - span.start_ms)
    kind = f", {KINDS[span.kind]}" if KINDS[span.kind] else ""
    label = f" “{span.label[:200]}”" if span.label else ""
    return f"{name}: {took}, from {signed(from_ms)} to {signed(span.end_ms - stretch.zero_ms)}{kind}{label}"


def _mark(mark: Mark, stretch: Stretch, height: int) -> list[Piece]:
    x = percent(stretch.x(mark.at_ms))
    label = f": {mark.label[:200]}" if mark.label else ""
    tells = title(f"{MARK_WORDS[mark.kind]}, {signed(mark.at_ms - stretch.zero_ms)}{label}")
    if mark.kind == "first_token":
        y = LANES.index("llm") * _LANE
        return [h("rect", tells, x=x, y=y + 2, width=2, height=_LANE - 4, cls="token")]
    return [h("rect", tells, x=x, y=0, width=1.5, height=height, cls=f"mark {mark.kind}")]


def signed(ms_: float) -> str:
    """Milliseconds after (or before) the instant that counts as 0."""
    return f"{MINUS if round(ms_) < 0 else '+'}{abs(round(ms_))} ms"


def _ticks(stretch: Stretch, height: int) -> list[Piece]:
    length_ms = stretch.end_ms - stretch.start_ms
    step_ms = next((step for step in (100, 200, 250, 500, 1000, 2000, 5000) if length_ms / step <= 5.5), 10_000)
    first = -((stretch.zero_ms - stretch.start_ms) // step_ms)
    pieces: list[Piece] = []
    place = first
    while stretch.zero_ms + place * step_ms <= stretch.end_ms:
        after_ms = place * step_ms
        x = stretch.x(stretch.zero_ms + after_ms)
        pieces.append(h("line", x1=percent(x), x2=percent(x), y1=0, y2=height, cls="zero" if place == 0 else "grid"))
        words = f"{MINUS}{-after_ms:.0f}" if after_ms < 0 else f"{after_ms:.0f}"
        anchor = "start" if x < 4 else "end" if x > 96 else "middle"
        pieces.append(h("text", words, x=percent(x), y=height + 13, text_anchor=anchor))
        place += 1
    return pieces


def barge_in_picture(board: Board, figures: BargeInFigures, onset_ms: float) -> Html:
    """The person over the reply: who was heard when, and when the reply got quieter, was silent, was decided on."""
    until_ms = max(
        figures.decided_ms or 0.0, figures.stop_ms or 0.0, (figures.stop_ms or 0.0) + (figures.away_ms or 0.0)
    )
    stretch = Stretch(onset_ms - 700, onset_ms + max(900.0, min(until_ms, 4000.0)) + 500, onset_ms)
    lanes: tuple[Lane, ...] = ("you", "speaker")
    height = 22 * 2
    pieces: list[Piece] = [*_ticks(stretch, height)]
    pieces += [_span(span, stretch, 2 + lanes.index(span.lane) * 22, False) for span in board.spans(stretch, lanes)]
    for name, at_ms, word in (
        ("duck", figures.ducked_ms, "quieter"),
        ("pause", figures.stop_ms, "silent"),
        ("decided", figures.decided_ms, "decided"),
    ):
        if at_ms is not None:
            x = percent(stretch.x(onset_ms + at_ms))
            pieces.append(
                h("rect", title(f"{word} after {ms(at_ms)}"), x=x, y=0, width=2, height=height, cls=f"mark {name}")
            )
    label = f"Turn {figures.turn}: the person speaks over the reply; it {_became(figures)}"
    picture = svg(height + 18, label, pieces, cls="lanes two")
    return h(
        "div",
        h("div", h("span", "person"), h("span", "reply heard"), h("span", "ms"), cls="lanenames two"),
        picture,
        cls="named",
    )


def _became(figures: BargeInFigures) -> str:
    if figures.stop_ms is not None:
        return f"was silent after {milliseconds(figures.stop_ms)}"
    return "went on"


def session_ribbon(board: Board, turns: Sequence[TurnLatency], start_ms: float, end_ms: float, row_ms: float) -> Html:
    """Who was heard when, in rows of the same length; the silences between are tinted with their band."""
    rows = []
    from_ms = start_ms
    while from_ms < end_ms:
        stretch = Stretch(from_ms, from_ms + row_ms, 0.0)
        pieces: list[Piece] = []
        for turn in turns:
            a, b = turn.points.user_end, turn.points.reply_start
            if turn.gap_ms is not None and a is not None and b is not None and b > a and stretch.holds(a, b):
                x, right = stretch.x(a), stretch.x(b)
                pieces.append(
                    h(
                        "rect",
                        title(f"turn {turn.turn}: {gap_text(turn)}"),
                        x=percent(x),
                        width=percent(right - x),
                        y=0,
                        height=36,
                        cls=f"gapzone {band(turn.gap_ms).ink}",
                    )
                )
        pieces += [
            _span(span, stretch, 0 if span.lane == "you" else 18, False)
            for span in board.spans(stretch, ("you", "speaker"))
        ]
        for mark in board.marks(stretch):
            if mark.kind in ("barge_in", "fault", "reject", "dry"):
                pieces += _mark(mark, stretch, 36)
        seconds = from_ms / 1000
        names = h("div", h("span", "person"), h("span", "reply"), h("span", f"{seconds:.0f} s"), cls="lanenames")
        label = f"Who was heard from second {seconds:.0f} on, for {row_ms / 1000:.0f} s"
        picture = svg(
            54, label, h("line", x1="0", x2="100%", y1=36, y2=36, cls="axis"), pieces, _seconds(stretch), cls="ribbon"
        )
        rows.append(h("div", names, picture, cls="named"))
        from_ms += row_ms
    return h("div", rows, cls="ribbons")


def _seconds(stretch: Stretch) -> list[Piece]:
    length_s = (stretch.end_ms - stretch.start_ms) / 1000
    step_s = next((step for step in (1, 2, 5, 10, 20) if length_s / step <= 8), 60)
    first_s = -(-stretch.start_ms / 1000 // step_s) * step_s
    marks: list[Piece] = []
    at_s = first_s + (step_s if first_s * 1000 - stretch.start_ms < 200 * step_s else 0)
    while at_s * 1000 < stretch.end_ms - 100 * step_s:
        x = stretch.x(at_s * 1000)
        marks.append(h("line", x1=percent(x), x2=percent(x), y1=36, y2=40, cls="axis"))
        marks.append(h("text", f"{at_s:.0f}", x=percent(x), y=52, text_anchor="middle"))
        at_s += step_s
    return marks
