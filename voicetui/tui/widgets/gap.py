"""The gap: the newest one large, and what all of them say together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.geometry import Size

from voicetui.events.orders import IMPORTED
from voicetui.tui.bands import band
from voicetui.tui.big import MEDIUM, SMALL, Face, big
from voicetui.tui.canvas import rule
from voicetui.tui.figures import tail, whole
from voicetui.tui.ink import BLANK, Ink, Row, Run, spread
from voicetui.tui.table import table
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.panel import Panel
from voicetui.tui.widgets.recent import strip
from voicetui.views.latency import TurnLatency

_LARGE_FROM = 7
"""Lines from which on there is room for large digits with the band's word below them."""


class GapPanel(Panel):
    """The number that matters, its band, its tail and its rhythm."""

    DEFAULT_CSS = "GapPanel { height: 1fr; }"

    def depends_on(self, view: ScreenView) -> tuple[object, ...]:
        """What the rows are made from."""
        return (view.turns, view.summary, shown_gap(view, self.selected)[0])

    def draw(self, size: Size) -> Sequence[Row]:
        """Heading, number, band, figures: as much as there is room for."""
        width, height = size
        view = self.view
        if view is None:
            return [Row(rule(width, "gap"))]
        rows = [Row(rule(width, "gap", _title(view, self.selected)))]
        if height < _LARGE_FROM:
            rows.append(_one_line(view, self.selected))
        else:
            rows += _number(view, self.selected, MEDIUM if height >= 17 and width >= 60 else SMALL, width)
        figures = _figures(view, width, height - len(rows) - 1)
        rows += [BLANK] if height - len(rows) > len(figures) + 1 else []
        rows += figures
        if height > len(rows):
            rows.append(Row((Run("  last  ", "dim"), *strip(view, width - 9))))
        return rows


def shown_gap(view: ScreenView, selected: int | None) -> tuple[float | None, bool]:
    """The gap to show, and whether it is still growing."""
    if selected is not None:
        turn = view.turn(selected)
        return (turn.gap_ms if turn is not None else None), False
    if view.waiting_since_ms is not None:
        return max(0.0, view.now_ms - view.waiting_since_ms), True
    last = view.last_gap()
    return (last.gap_ms if last is not None else None), False


def _title(view: ScreenView, selected: int | None) -> str:
    if selected is not None:
        turn = view.turn(selected)
        return f"turn {selected}{_staged(turn)}"
    if view.waiting_since_ms is not None:
        return "running"
    last = view.last_gap()
    return f"turn {last.turn}{_staged(last)}" if last is not None else ""


def _staged(turn: TurnLatency | None) -> str:
    """That a gap was made on purpose is said wherever it is shown."""
    return ", staged gap" if turn is not None and turn.staged else ""


def _number(view: ScreenView, selected: int | None, face: Face, width: int) -> list[Row]:
    gap_ms, growing = shown_gap(view, selected)
    kind = band(gap_ms) if gap_ms is not None else None
    ink: Ink = kind.ink if kind is not None else "faint"
    lines = big(whole(gap_ms, "–––"), face)
    unit = " ms" if gap_ms is not None and len(lines[-1]) + 5 <= width else ""
    rows = [Row((Run("  "), Run(line, ink))) for line in lines[:-1]]
    rows.append(Row((Run("  "), Run(lines[-1], ink), Run(unit, "dim"))))
    if kind is None:
        return [*rows, Row((Run("  no spoken turn answered yet", "dim"),))]
    shape = "… waiting" if growing else f"{kind.shape} {kind.word}"
    says = "" if growing or kind.says == kind.word or width < len(shape) + len(kind.says) + 6 else f"  {kind.says}"
    below = () if unit else (Run("ms  ", "dim"),)
    return [*rows, Row(spread((Run("  "), Run(shape, kind.ink), Run(says, "dim")), below, width))]


def _one_line(view: ScreenView, selected: int | None) -> Row:
    """Number and band in words, where there is no room for large digits."""
    gap_ms, growing = shown_gap(view, selected)
    if gap_ms is None:
        return Row((Run("  no spoken turn answered yet", "dim"),))
    kind = band(gap_ms)
    shape = "… waiting" if growing else f"{kind.shape} {kind.word}"
    return Row((Run("  "), Run(f"{whole(gap_ms)} ms", "strong"), Run(f"  {shape}", kind.ink)))


def _figures(view: ScreenView, width: int, room: int) -> list[Row]:
    """What all gaps say together, in at most ``room`` rows: where they are too few, the weightiest."""
    rows = [(weight, row) for weight, pairs in _pairs(view, width) for row in table(pairs, width)]
    while len(rows) > max(0, room):
        lightest = max(weight for weight, _ in rows)
        rows.pop(max(place for place, (weight, _) in enumerate(rows) if weight == lightest))
    return [row for _, row in rows]


def _pairs(view: ScreenView, width: int) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Names and figures row by row, each row with its weight, 0 the weightiest."""
    stats, summary = view.summary.gap_ms, view.summary
    staged, stops, ledger = summary.staged_gap_ms, summary.barge_in_stop_ms, summary.ledger
    rhythm = "–" if stats.rhythm is None else f"±{whole(stats.rhythm)}"
    yield 0, [("n", str(stats.n)), ("p50", whole(stats.p50)), ("p95", tail(stats))]
    yield 3, [("max", whole(stats.max)), ("IQR", whole(stats.iqr)), ("rhythm", rhythm)]
    if staged is not None:
        largest = [("max", whole(staged.max))] if width >= 40 else []
        yield 1, [("staged gap n", str(staged.n)), ("p50", whole(staged.p50)), *largest]
    cut_offs = "–" if summary.tier == IMPORTED else str(summary.cut_offs)
    counts = [("cut-offs", cut_offs), ("collisions", str(summary.collisions))]
    yield 2, [*counts, *([("unanswered", str(summary.unanswered))] if width >= 40 else [])]
    if width >= 40 and stops.n:
        yield 4, [("barge-in stop", whole(stops.p50)), ("max", whole(stops.max)), ("n", str(stops.n))]
    if width >= 40 and ledger.attempts:
        kept = f"{ledger.kept} of {ledger.attempts}"
        yield 5, [("speculation kept", kept), ("wasted", f"{ledger.wasted_tokens} tokens")]
