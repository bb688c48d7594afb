"""The figures of two sessions' pairs of turns: differences between one gap and the other, stage by stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from voicetui.bench.statistics import Paired, paired
from voicetui.views.breakdown import STAGES
from voicetui.views.compare import Comparison, PairOfTurns
from voicetui.views.statistics import quantile

PARTS: tuple[str, ...] = (*STAGES, "unaccounted")
"""The parts of a gap, in the order of the breakdown."""


class Part(msgspec.Struct, frozen=True):
    """One part of the gap over the pairs that are compared: either side's median, ms, and the paired differences."""

    stage: str
    one_ms: float | None
    other_ms: float | None
    paired: Paired


class Figures(msgspec.Struct, frozen=True):
    """What the pairs say, always ``other`` minus ``one``.

    ``gap`` stands on real gaps, ``staged_gap`` on those made on purpose (None where there are none on both sides).
    ``left_out`` counts the pairs, and turns without a counterpart, that neither stands on, by reason. ``cold`` are the
    gaps of pairs of which a side was the first its session asked a tier for.
    """

    gap: Paired
    one_p50_ms: float | None
    other_p50_ms: float | None
    parts: tuple[Part, ...]
    staged_gap: Paired | None
    left_out: dict[str, int]
    cold: tuple[tuple[float | None, float | None], ...]


def figures_of(comparison: Comparison) -> Figures:
    """The paired figures of a comparison."""
    real, staged = comparison.compared(), comparison.compared(staged=True)
    gaps = [comparison.gaps_ms(pair) for pair in real]
    staged_gaps = [comparison.gaps_ms(pair) for pair in staged]
    reasons = Counter(str(pair.left_out) for pair in comparison.pairs if pair.left_out)
    dropped = sum(pair.both and bool(pair.left_out) and not pair.staged for pair in comparison.pairs)
    staged_dropped = sum(pair.both and bool(pair.left_out) and pair.staged for pair in comparison.pairs)
    return Figures(
        gap=_paired(gaps, dropped),
        one_p50_ms=_p50([one for one, _ in gaps]),
        other_p50_ms=_p50([other for _, other in gaps]),
        parts=tuple(_part(comparison, real, stage) for stage in PARTS),
        staged_gap=_paired(staged_gaps, staged_dropped) if staged or staged_dropped else None,
        left_out=dict(reasons),
        cold=tuple(comparison.gaps_ms(pair) for pair in comparison.pairs if pair.left_out == "cold"),
    )


def _part(comparison: Comparison, pairs: Sequence[PairOfTurns], stage: str) -> Part:
    values = [stage_ms(comparison, pair, stage) for pair in pairs]
    return Part(stage, _p50([one for one, _ in values]), _p50([other for _, other in values]), _paired(values, 0))


def stage_ms(comparison: Comparison, pair: PairOfTurns, stage: str) -> tuple[float | None, float | None]:
    """What a stage took of the gap on either side; None where it cannot be known."""
    sides = ((comparison.one, pair.one), (comparison.other, pair.other))
    one, other = (getattr(session.latency(turns[-1]).stages_ms, stage) if turns else None for session, turns in sides)
    return one, other


def _paired(values: Sequence[tuple[float | None, float | None]], dropped: int) -> Paired:
    """Other minus one."""
    found = paired([other for _, other in values], [one for one, _ in values])
    return msgspec.structs.replace(found, dropped=found.dropped + dropped)


def _p50(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return quantile(known, 0.5) if known else None
