"""The gap: the newest one large, and what all of them say together."""

from __future__ import annotations

from collections.abc import Sequence

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
        rows += _number(view, self.selected, MEDIUM if height >= 17 and width >= 60 else SMALL, width)
        figures = _figures(view, width)
        rows += [BLANK] if height - len(rows) > len(figures) + 1 else []
        rows += figures[: height - len(rows) - 1]
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


def _figures(view: ScreenView, width: int) -> list[Row]:
    stats, summary = view.summary.gap_ms, view.summary
    rhythm = "–" if stats.rhythm is None else f"±{whole(stats.rhythm)}"
    rows = table([("n", str(stats.n)), ("p50", whole(stats.p50)), ("p95", tail(stats))], width)
    rows += table([("max", whole(stats.max)), ("IQR", whole(stats.iqr)), ("rhythm", rhythm)], width)
    if summary.staged_gap_ms is not None:
        staged = summary.staged_gap_ms
        rows += table([("staged gap n", str(staged.n)), ("p50", whole(staged.p50)), ("max", whole(staged.max))], width)
    cut_offs = "–" if summary.tier == IMPORTED else summary.cut_offs
    counts = [("cut-offs", cut_offs), ("collisions", summary.collisions)]
    if width >= 40:
        counts.append(("unanswered", summary.unanswered))
    rows += table([(name, str(count)) for name, count in counts], width)
    stops, ledger = summary.barge_in_stop_ms, summary.ledger
    if width >= 40 and stops.n:
        rows += table([("barge-in stop", whole(stops.p50)), ("max", whole(stops.max)), ("n", str(stops.n))], width)
    if width >= 40 and ledger.attempts:
        kept = f"{ledger.kept} of {ledger.attempts}"
        rows += table([("speculation kept", kept), ("wasted", f"{ledger.wasted_tokens} tokens")], width)
    return rows
