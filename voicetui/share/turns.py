"""The turns of a session as flat rows: one value a column, its unit in its name."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from voicetui.events import Entry
from voicetui.events.orders import STAGED, Commit
from voicetui.events.session import OverlapChosen, SessionOpened
from voicetui.share.controls import escape_controls, without_controls
from voicetui.views.breakdown import STAGES
from voicetui.views.latency import Points, TurnLatency, fold_latency
from voicetui.views.summary import SummaryView, TurnSummary

Cell: TypeAlias = str | bool | int | float | None
Row: TypeAlias = dict[str, Cell]

_POINTS: Final = Points.__struct_fields__
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A spreadsheet takes a cell that begins so for a formula, or may (OWASP, CSV Injection)."""


def turn_rows(entries: Iterable[Entry], session: str) -> list[Row]:
    """One row for each turn of ``session``, in order, all with the same columns; None where one has no such value.

    ``*_at_ms`` are instants on the session clock, ``stage_*_ms`` the parts of the gap, ``barge_in_*`` figures as in
    the summary. ``missing`` says of every instant that is not there why it is not.
    """
    entries = tuple(entries)
    view = SummaryView()
    for entry in entries:
        view.feed(entry)
    summary = view.snapshot()
    opened = next((entry.body for entry in entries if isinstance(entry.body, SessionOpened)), None)
    modes, latency = _modes(entries), fold_latency(entries)
    return [
        {"session": session, **_row(turn, told, opened, modes.get(turn.turn) or None)}
        for turn, told in zip(latency, summary.turns, strict=True)
    ]


def as_csv(rows: Iterable[Row]) -> str:
    """Rows as CSV with a heading. A text that a spreadsheet would take for a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for number, row in enumerate(rows):
        if number == 0:
            writer.writerow(row)
        writer.writerow([_csv_cell(cell) for cell in row.values()])
    return out.getvalue()


def as_jsonl(rows: Iterable[Row]) -> str:
    """Rows as JSON, one object a line; what is missing is null."""
    return "".join(escape_controls(json.dumps(row, ensure_ascii=False, allow_nan=False)) + "\n" for row in rows)


def _csv_cell(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case str():
            text = without_controls(cell)
            return f"'{text}" if text.startswith(_FORMULA) else text
        case _:
            return str(cell)


def _modes(entries: Iterable[Entry]) -> dict[int, str]:
    """The overlap mode of each turn: the one in force when it was committed."""
    mode, modes = "", {}
    for entry in entries:
        match entry.body:
            case SessionOpened() | OverlapChosen() as body:
                mode = body.overlap
            case Commit() as body:
                modes[body.basis.turn] = mode
            case _:
                pass
    return modes


def _row(turn: TurnLatency, told: TurnSummary, opened: SessionOpened | None, mode: str | None) -> Row:
    known = {tier.name: tier.simulated for tier in opened.tiers} if opened is not None else {}
    tier = turn.tier or (opened.tier if opened is not None else "")
    speculation = told.speculation
    row: Row = {
        "turn": turn.turn,
        "tier": tier,
        "simulated": known.get(tier, tier == STAGED),
        "overlap": mode,
        "staged": turn.staged,
        "staged_gap_ms": turn.staged_ms,
        "outcome": turn.outcome,
        "typed": turn.typed,
        "ended_by": turn.ended_by,
        "gap_ms": turn.gap_ms,
        "uncertainty_ms": turn.uncertainty_ms,
        "overlaps_user": turn.overlaps_user,
        "cached": turn.cached,
        "filler": turn.filler,
        "cold": turn.cold,
        "connection": turn.connection,
        "tokens": turn.tokens,
        "tokens_estimated": turn.tokens_estimated,
        "tokens_per_second": turn.tokens_per_second,
        "tokens_gathered": turn.gathered,
        "speculation_attempts": speculation.attempts,
        "speculation_kept": speculation.kept,
        "speculation_wasted_tokens": speculation.wasted_tokens,
        "speculation_saved_ms": speculation.saved_ms,
    }
    row |= {f"stage_{stage}_ms": getattr(turn.stages_ms, stage) for stage in (*STAGES, "unaccounted")}
    row |= {f"{point}_at_ms": getattr(turn.points, point) for point in _POINTS}
    row |= _barge_in(told)
    row |= {"user_text": told.user_text, "reply_text": told.reply_text, "heard_text": told.heard_text}
    row["missing"] = "; ".join(f"{missing.point}: {missing.reason}" for missing in turn.missing)
    return {name: _rounded(cell) for name, cell in row.items()}


def _barge_in(told: TurnSummary) -> Mapping[str, Cell]:
    figures = told.barge_in
    return {
        "barge_in_kind": figures.kind if figures else None,
        "barge_in_onset_ms": figures.onset_ms if figures else None,
        "barge_in_ducked_ms": figures.ducked_ms if figures else None,
        "barge_in_stop_ms": figures.stop_ms if figures else None,
        "barge_in_decided_ms": figures.decided_ms if figures else None,
        "barge_in_heard_words": figures.heard_words if figures else None,
        "barge_in_generated_words": figures.generated_words if figures else None,
    }


def _rounded(cell: Cell) -> Cell:
    return round(cell, 3) if isinstance(cell, float) else cell
