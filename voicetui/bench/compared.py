"""Recorded sessions compared with the first of them, and the JSON of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from voicetui.bench.pair_figures import PARTS, Figures, figures_of, stage_ms
from voicetui.bench.pair_words import aligned, notes_of
from voicetui.views.compare import Comparison, PairOfTurns, Session, compare

SCHEMA = 1


class Compared(msgspec.Struct, frozen=True):
    """One session against another. ``labels`` are what they are called in tables: "A" and "B".

    ``aligned`` says how many turns pair and which do not; ``notes`` say what the figures can tell.
    """

    labels: tuple[str, str]
    comparison: Comparison
    figures: Figures
    aligned: str
    notes: tuple[str, ...]


def compare_all(sessions: Sequence[Session]) -> tuple[Compared, ...]:
    """Each session against the first. The sessions are called A, B, C ..."""
    base, *others = sessions
    return tuple(_compared(("A", chr(ord("B") + place)), base, other) for place, other in enumerate(others))


def _compared(labels: tuple[str, str], one: Session, other: Session) -> Compared:
    comparison = compare(one, other)
    figures = figures_of(comparison)
    return Compared(labels, comparison, figures, aligned(labels, comparison), notes_of(labels, comparison, figures))


def compared_json(sessions: Sequence[Session], found: Sequence[Compared]) -> dict[str, Any]:
    """JSON-ready values; no number in them is NaN or infinite.

    ::

        {"schema": 1,
         "sessions": [{"label": "A", "name": str, "set_up": {name: text}, "summary": SUMMARY}],
         "comparisons": [{"one": "A", "other": "B", "related": bool, "same_sound": bool, "aligned": str,
           "differs": [{"what": str, "one": str, "other": str}],
           "pairs": [{"one": [turn], "other": [turn], "alike": 0 to 1, "by": "words" | "order", "left_out": str,
             "staged": bool, "gap_ms": VALUES, "stages_ms": {stage: VALUES}}],
           "figures": {"gap": PAIRED, "one_p50_ms": ms, "other_p50_ms": ms, "staged_gap": PAIRED or null,
             "parts": [{"stage": str, "one_ms": ms, "other_ms": ms, "paired": PAIRED}],
             "left_out": {reason: count}, "cold": [[ms, ms]]},
           "notes": [str]}]}

    SUMMARY is the session summary (``voicetui.views.summary``), which holds words, outcomes, cut-offs, collisions and
    the ledger. VALUES is ``{"one", "other", "difference"}``, PAIRED ``{"n", "dropped", "median_ms", "low_ms",
    "high_ms"}`` (``voicetui.bench.statistics.Paired``); a difference is always other minus one, null where a side has
    no number. ``left_out`` of a pair says why its gap is in no figure, "" where it is. The first session is the
    base; a pair with an empty side is a turn without a counterpart. Stages are given for pairs whose gap is compared.
    """
    values = {
        "schema": SCHEMA,
        "sessions": [
            {"label": chr(ord("A") + place), "name": each.name, "set_up": each.set_up.values, "summary": each.summary}
            for place, each in enumerate(sessions)
        ],
        "comparisons": [_comparison_json(each) for each in found],
    }
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(values))
    return decoded


def _comparison_json(found: Compared) -> dict[str, Any]:
    comparison = found.comparison
    return {
        "one": found.labels[0],
        "other": found.labels[1],
        "related": comparison.related,
        "same_sound": comparison.same_sound,
        "aligned": found.aligned,
        "differs": comparison.differs,
        "pairs": [_pair_json(comparison, pair) for pair in comparison.pairs],
        "figures": found.figures,
        "notes": found.notes,
    }


def _pair_json(comparison: Comparison, pair: PairOfTurns) -> dict[str, Any]:
    parts = PARTS if not pair.left_out and not pair.staged else ()
    return {
        **msgspec.structs.asdict(pair),
        "gap_ms": _values(comparison.gaps_ms(pair)),
        "stages_ms": {stage: _values(stage_ms(comparison, pair, stage)) for stage in parts},
    }


def _values(both: tuple[float | None, float | None]) -> dict[str, float | None]:
    one, other = both
    difference = round(other - one, 3) if one is not None and other is not None else None
    return {"one": one, "other": other, "difference": difference}
