"""Where one turn's gap went, stage by stage, to scale."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from voicetui.tui.bands import band
from voicetui.tui.canvas import rule
from voicetui.tui.figures import milliseconds, whole
from voicetui.tui.ink import Ink, Row, Run, wrap_runs
from voicetui.tui.literal import literal
from voicetui.tui.turn_facts import turn_facts
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.panel import Panel
from voicetui.views.breakdown import STAGES
from voicetui.views.latency import TurnLatency

STAGE_NAMES: dict[str, str] = {
    "endpoint": "endpoint",
    "transcribe": "transcribe",
    "context": "context",
    "tools": "tools",
    "first_token": "first token",
    "first_answer_token": "answer token",
    "first_clause": "first clause",
    "content_gate": "content gate",
    "synthesize": "synthesis",
    "output": "output",
    "unaccounted": "unaccounted",
    "held": "held",
    "late": "late",
}
_FILLS = {"unaccounted": "░", "held": "▒"}
"""What is no stage's work has a pattern of its own."""
_NAME_CELLS, _FIGURE_CELLS = 15, 7
_USUAL = ("endpoint", "transcribe", "context", "first_token", "first_clause", "synthesize", "output", "unaccounted")


class Waterfall(Panel):
    """The parts of the gap, which add up to it exactly."""

    DEFAULT_CSS = "Waterfall { height: 1fr; }"

    def depends_on(self, view: ScreenView) -> tuple[object, ...]:
        """What the rows are made from."""
        return (view.turns, view.ledger, view.barge_ins)

    def draw(self, size: Size) -> Sequence[Row]:
        """A heading, one row per stage, and what else is known of the turn."""
        width, height = size
        view = self.view
        turn = _chosen(view, self.selected) if view is not None else None
        if view is None or turn is None:
            return [Row(rule(width, "where the gap went"))]
        rows = [Row(rule(width, f"turn {turn.turn}: where the gap went", milliseconds(turn.gap_ms)))]
        if turn.gap_ms is None:
            rows += _why_not(turn, width)
        elif turn.staged:
            rows += _held(turn, width)
        else:
            rows += _bars(turn, width, height - 1)
        room = height - len(rows)
        facts = wrap_runs(turn_facts(view, turn), width - 4)
        rows += [Row((Run("  "), *line), target=None) for line in facts[: max(0, room)]]
        return rows


def _chosen(view: ScreenView, selected: int | None) -> TurnLatency | None:
    if selected is not None:
        return view.turn(selected)
    return view.last_gap() or (view.turns[-1] if view.turns else None)


def _why_not(turn: TurnLatency, width: int) -> list[Row]:
    reasons = dict.fromkeys(missing.reason for missing in turn.missing if missing.point in ("user_end", "reply_start"))
    text = f"No gap: {literal('; '.join(reasons) or 'not known')}."
    return [Row((Run("  "), *line)) for line in wrap_runs([Run(text, "dim")], width - 4)]


def _held(turn: TurnLatency, width: int) -> list[Row]:
    """No stage made a staged gap: one bar, in its own pattern, and the words for it. What came late is told apart."""
    gap_ms = turn.gap_ms or 0.0
    held_ms = min(gap_ms, turn.staged_ms) if turn.staged_ms is not None else gap_ms
    late_ms = gap_ms - held_ms
    cells, ink = max(4, width - _NAME_CELLS - _FIGURE_CELLS - 3), band(gap_ms).ink
    share = held_ms / gap_ms if gap_ms > 0 else 1.0
    rows = [_bar("held", held_ms, 0.0, share, cells, ink)]
    if round(late_ms) > 0:
        rows.append(_bar("late", late_ms, share, 1.0, cells, ink))
    asked = f" {whole(turn.staged_ms)} ms" if turn.staged_ms is not None else ""
    text = f"A staged gap: the reply was ready, and held on purpose for the{asked} asked for."
    return rows + [Row((Run("  "), *line)) for line in wrap_runs([Run(text, "notice")], width - 4)]


def _bars(turn: TurnLatency, width: int, room: int) -> list[Row]:
    """One bar behind the other. Stages nothing was waited for are shown while there is room, the usual ones first."""
    gap_ms = turn.gap_ms or 0.0
    parts = [(stage, getattr(turn.stages_ms, stage)) for stage in (*STAGES, "unaccounted")]
    needed = [stage for stage, ms in parts if ms is None or ms != 0 or stage == "unaccounted"]
    spare = [stage for stage in _USUAL if stage not in needed][: max(0, room - 1 - len(needed))]
    cells = max(4, width - _NAME_CELLS - _FIGURE_CELLS - 3)
    total = sum(abs(ms) for _, ms in parts if ms) or abs(gap_ms) or 1.0
    rows: list[Row] = []
    before = 0.0
    for stage, ms in parts:
        if stage not in needed and stage not in spare:
            continue
        rows.append(_bar(stage, ms, before / total, (before + abs(ms or 0.0)) / total, cells, band(gap_ms).ink))
        before += abs(ms or 0.0)
    return rows[:room]


def _bar(stage: str, ms: float | None, start: float, end: float, cells: int, ink: Ink) -> Row:
    """Half a cell is the least that something takes."""
    name = Run(f"  {STAGE_NAMES[stage]}".ljust(_NAME_CELLS), "text" if ms else "dim")
    figure = Run(whole(ms, "?").rjust(_FIGURE_CELLS - 1) + " ", "strong" if ms else "faint")
    if not ms:
        return Row((name, figure))
    first = round(start * cells * 2)
    last = max(first + 1, round(end * cells * 2))
    fill = _FILLS.get(stage, "█")
    glyphs = [
        fill if first <= cell * 2 and last >= cell * 2 + 2 else "▌" if first <= cell * 2 else "▐"
        for cell in range(first // 2, (last + 1) // 2)
    ]
    return Row((name, figure, Run(" " * (first // 2)), Run("".join(glyphs), "dim" if stage == "unaccounted" else ink)))
