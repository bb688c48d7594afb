"""What is worth knowing of a turn beside its gap, in a few words each."""

from __future__ import annotations

from voicetui.tui.figures import milliseconds, signed, whole
from voicetui.tui.ink import Run
from voicetui.tui.literal import literal
from voicetui.tui.view import ScreenView
from voicetui.views.barge_in import BargeInFigures, chief_barge_in
from voicetui.views.breakdown import STAGES
from voicetui.views.latency import TurnLatency


def turn_facts(view: ScreenView, turn: TurnLatency) -> list[Run]:
    """Outcome, tier, tokens, speculation and barge-in of a turn, ready to be wrapped."""
    parts: list[tuple[str, str]] = []
    if turn.outcome is not None:
        parts.append(("", turn.outcome.replace("_", " ")))
    if turn.tier:
        parts.append(
            ("tier", literal(turn.tier) + (", cold" if turn.cold else "") + (", cached" if turn.cached else ""))
        )
    if turn.uncertainty_ms is not None:
        parts.append(("", f"±{whole(turn.uncertainty_ms)} ms"))
    if turn.tokens is not None:
        rate = f", {turn.tokens_per_second:.0f}/s" if turn.tokens_per_second is not None else ""
        rate = f", in {turn.gathered}" if turn.gathered else rate
        parts.append(("tokens", f"{'~' if turn.tokens_estimated else ''}{turn.tokens}{rate}"))
    parts += _speculation(view, turn.turn)
    chief = chief_barge_in(view.barge_ins.get(turn.turn, ()))
    if chief is not None:
        parts.append(("barge-in", _barge_in(chief)))
    if turn.ended_by:
        parts.append(("ended by", turn.ended_by))
    parts += _points(turn)
    runs: list[Run] = []
    for name, value in parts:
        runs += [Run("   ")] if runs else []
        runs += [Run(name.replace(" ", "\u00a0") + "\u00a0", "dim")] if name else []
        runs.append(Run(value.replace(" ", "\u00a0")))
    return runs


def _points(turn: TurnLatency) -> list[tuple[str, str]]:
    """When each thing happened, ms after the user's last sound."""
    end_ms = turn.points.user_end
    if end_ms is None:
        return []
    times = [(name, getattr(turn.points, name)) for name in turn.points.__struct_fields__ if name != "user_end"]
    known = sorted(((name, at_ms) for name, at_ms in times if at_ms is not None), key=lambda point: point[1])
    return [(name.replace("_", " "), signed(at_ms - end_ms)) for name, at_ms in known]


def turn_text(view: ScreenView, turn: TurnLatency) -> str:
    """A turn and its numbers as plain text, to be pasted somewhere else."""
    user = view.transcript.users().get(turn.turn)
    reply = view.transcript.replies().get(turn.turn)
    lines = [f"turn {turn.turn}, gap {milliseconds(turn.gap_ms)}"]
    lines += [f"you: {literal(user.text)}"] if user is not None else []
    lines += [f"reply: {literal(reply.text)}"] if reply is not None else []
    if reply is not None and reply.outcome not in (None, "completed"):
        lines.append(f"heard: {literal(reply.heard_text)}")
    parts = [(stage, getattr(turn.stages_ms, stage)) for stage in (*STAGES, "unaccounted")]
    lines += [f"  {stage.replace('_', ' ')}: {whole(ms)} ms" for stage, ms in parts if ms]
    lines.append("".join(run.text for run in turn_facts(view, turn)).replace("\u00a0", " "))
    return "\n".join(lines)


def _speculation(view: ScreenView, number: int) -> list[tuple[str, str]]:
    found = view.ledger.turns.get(number)
    if found is None or not found.attempts:
        return []
    tried = f" 1 of {found.attempts}" if found.attempts > 1 else ""
    outcome = f"kept{tried}, saved {milliseconds(found.saved_ms)}" if found.kept else f"{found.attempts} dropped"
    waste = f", {'~' if found.estimated else ''}{found.wasted_tokens} tokens wasted" if found.wasted_tokens else ""
    return [("speculation", outcome + waste)]


def _barge_in(figures: BargeInFigures) -> str:
    """The kind, how soon the reply made way, and how much of it was heard."""
    words = (
        f", {figures.heard_words} of {figures.generated_words} words heard" if figures.heard_words is not None else ""
    )
    if figures.false_interruption:
        away = f", away {milliseconds(figures.away_ms)}" if figures.away_ms is not None else ""
        return f"{figures.kind}{away}"
    stop = f" stop {milliseconds(figures.stop_ms)}" if figures.stop_ms is not None else ""
    return f"{figures.kind}{stop}{words}"
