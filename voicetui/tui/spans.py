"""One piece of work on the timeline: finding it, going from one to the next, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Offset

from voicetui.tui.figures import signed, whole
from voicetui.tui.ink import Row, Run, clip_runs
from voicetui.tui.lanes import LABEL_CELLS, NAMES, SOUND_LANES, Seen, Tall
from voicetui.tui.literal import literal
from voicetui.tui.window import Window
from voicetui.views.timeline import LANES, Span


def span_at(view: Seen, window: Window, offset: Offset, tall: Tall) -> Span | None:
    """The span drawn at a place of the rows; the newest where several are."""
    row = offset.y - 2
    for lane in LANES:
        row -= tall.rows if lane in SOUND_LANES else 1
        if row < 0:
            break
    else:
        return None
    start_ms = window.start_ms + (offset.x - LABEL_CELLS) * window.ms_per_cell
    if offset.y < 2 or offset.x < LABEL_CELLS:
        return None
    for span in reversed(view.timeline.spans):
        end_ms = span.end_ms if span.end_ms is not None else view.now_ms
        if span.lane == lane and span.start_ms < start_ms + window.ms_per_cell and end_ms >= start_ms:
            return span
    return None


def span_beside(
    view: Seen, span: Span | None, step: int, turn: int | None, window_ms: tuple[float, float]
) -> Span | None:
    """The span that begins after (1) or before (-1) this one; from none, the first (or last) that can be seen.

    With a ``turn`` selected, its own come first.  At either end of the session it stays where it is.
    """
    ordered = _in_order(view.timeline.spans)
    if not ordered:
        return None
    if span is not None:
        place = next((place for place, each in enumerate(ordered) if same_span(each, span)), None)
        if place is not None:
            return ordered[min(max(place + step, 0), len(ordered) - 1)]
    start_ms, end_ms = window_ms
    own = [each for each in ordered if turn is not None and each.turn == turn]
    seen = [each for each in ordered if start_ms <= each.start_ms < end_ms]
    return (own or seen or ordered)[0 if step > 0 else -1]


def same_span(one: Span, other: Span) -> bool:
    """Whether both are the same piece of work, one of them perhaps seen earlier, while it still grew."""
    return (one.lane, one.start_ms) == (other.lane, other.start_ms)


def span_row(view: Seen, span: Span, width: int) -> Row:
    """A span's numbers and words in one row: how long, what kind, whose, from when to when after the user's speech."""
    took = whole((span.end_ms if span.end_ms is not None else view.now_ms) - span.start_ms)
    kind = "" if span.kind in ("work", "audio") else f", {span.kind}"
    turn = f"   turn {span.turn}" if span.turn is not None else ""
    runs = [
        Run(f"  {NAMES[span.lane]} ", "strong"),
        Run(f"{took} ms{kind}"),
        Run(f"{turn}{_placed(view, span)}   {literal(span.label)}", "dim"),
    ]
    return Row(clip_runs(runs, width - 2))


def _placed(view: Seen, span: Span) -> str:
    """Where the gap's zero is, so that what is read here can be found among the turn's points."""
    turn = next((turn for turn in reversed(view.turns) if turn.turn == span.turn), None)
    zero_ms = turn.points.user_end if turn is not None else None
    if zero_ms is None or span.lane == "you":
        return ""
    until = signed(span.end_ms - zero_ms) if span.end_ms is not None else "…"
    return f"   {signed(span.start_ms - zero_ms)} to {until}"


def _in_order(spans: Sequence[Span]) -> list[Span]:
    """Each once, as time goes, and of those that begin together the upper one first."""
    once = {(span.start_ms, LANES.index(span.lane)): span for span in spans}
    return [once[key] for key in sorted(once)]
