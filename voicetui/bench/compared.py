"""Recorded sessions compared in pairs of turns: the figures, what they can tell and what they cannot, and the JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from voicetui.bench.statistics import INTERVAL_FROM_N, Paired, paired
from voicetui.events.words import normalise_words
from voicetui.views.breakdown import STAGES
from voicetui.views.compare import Comparison, PairOfTurns, Session, compare
from voicetui.views.statistics import quantile

SCHEMA = 1
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
    return Compared(labels, comparison, figures, _aligned(labels, comparison), _notes(labels, comparison, figures))


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


def _aligned(labels: tuple[str, str], comparison: Comparison) -> str:
    """How many turns pair, and which do not."""
    one, other = comparison.one, comparison.other
    empty = [label for label, each in zip(labels, (one, other), strict=True) if not each.summary.turns]
    if empty:
        return f"{' and '.join(empty)} {'has' if len(empty) == 1 else 'have'} no turns: there is nothing to pair."
    both = [pair for pair in comparison.pairs if pair.both]
    counts = f"{len(one.summary.turns)} turns in {labels[0]}, {len(other.summary.turns)} in {labels[1]}"
    if not comparison.related:
        return (
            f"These are different conversations ({counts}, hardly any with like words): their turns stand side by side "
            "by order only, and no figure compares them."
        )
    by_order = sum(pair.by == "order" for pair in both)
    told = [f"{counts}: {_count(len(both), 'pair')}"]
    if by_order:
        told.append(f"{by_order} of them by their place alone, their words differ")
    parted = [pair for pair in both if len(pair.one) > 1 or len(pair.other) > 1]
    if parted:
        told.append(f"{len(parted)} of them said in several turns on one side or both")
    alone = (
        [pair.one for pair in comparison.pairs if not pair.other],
        [pair.other for pair in comparison.pairs if not pair.one],
    )
    for label, utterances in zip(labels, alone, strict=True):
        if utterances:
            told.append(f"only in {label}: turn {', '.join(map(turns_text, utterances))}")
    told += [] if any(alone) else ["none without a counterpart"]
    return "; ".join(told) + "."


def turns_text(turns: Sequence[int]) -> str:
    """Turn numbers of one utterance: "3", or "3+4" where it took several."""
    return "+".join(map(str, turns))


def _notes(labels: tuple[str, str], comparison: Comparison, figures: Figures) -> tuple[str, ...]:
    """What the figures can tell and what they cannot, in sentences, the weightiest first."""
    one, other = labels
    notes = [_verdict(labels, figures.gap)] if comparison.related else []
    for label, session in zip(labels, (comparison.one, comparison.other), strict=True):
        if session.summary.simulated:
            notes.append(f"{label}'s tier is simulated: the times of its tokens are made up, not measured.")
    if not comparison.related:
        return tuple(notes)
    if comparison.one.name == comparison.other.name:
        return (*notes, f"{one} and {other} are the same session.")
    notes.append(_apart(labels, comparison))
    names = [each.what for each in comparison.differs if each.what not in ("microphone", "speaker", "source")]
    if len(names) > 1:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        notes.append(f"Several settings differ ({', '.join(names[:3])}{more}): a difference is that of all together.")
    if not names:
        notes.append("No setting differs: what differs in the figures is chance, or what the machine did besides.")
    if comparison.same_sound:
        notes.append("Both heard the same recorded microphone.")
    else:
        notes.append("The words are alike; that both heard the same recording is not on record.")
    both = [pair for pair in comparison.pairs if pair.both]
    unlike = sum(not same_reply(comparison, pair) for pair in both)
    if unlike:
        replies = "reply differs" if unlike == 1 else "replies differ"
        notes.append(
            f"{unlike} of {len(both)} {replies}: first clauses of other lengths, and other histories in later requests."
        )
    return tuple(notes)


def same_reply(comparison: Comparison, pair: PairOfTurns) -> bool:
    """Whether both sides were answered in the same words."""
    texts = [
        normalise_words(session.facts(turns[-1]).reply_text) if turns else ()
        for session, turns in ((comparison.one, pair.one), (comparison.other, pair.other))
    ]
    return texts[0] == texts[1]


def _verdict(labels: tuple[str, str], gap: Paired) -> str:
    one, other = labels
    if gap.median_ms is None:
        return "No pair has two real gaps that can be compared."
    median = f"median {signed(gap.median_ms)} ms, n = {gap.n}"
    if gap.low_ms is None or gap.high_ms is None:
        return (
            f"Too few pairs for an interval, it takes {INTERVAL_FROM_N} ({other} − {one}: {median}): "
            "look at the turns, but rely on no figure."
        )
    interval = f"95% interval {signed(gap.low_ms)} to {signed(gap.high_ms)} ms"
    if gap.low_ms <= 0 <= gap.high_ms:
        return f"These pairs do not tell which gap is shorter ({other} − {one}: {median}, {interval})."
    shorter, longer = (other, one) if gap.high_ms < 0 else (one, other)
    return (
        f"{shorter}'s gaps are shorter than {longer}'s in these two sessions ({other} − {one}: {median}, {interval})."
    )


def _apart(labels: tuple[str, str], comparison: Comparison) -> str:
    """That the sessions were not interleaved, and what compares without that doubt."""
    one, other = labels
    names = [each.what for each in comparison.differs]
    bench = "tiers" if "tier" in names else "overlap" if "overlap" in names else ""
    better = f"; `voicetui bench {bench}` interleaves them" if bench else ""
    when = f"Not interleaved: {other} began {_later(comparison)} {one}"
    return (
        f"{when}, and neither journal holds the machine's load. What changed meanwhile is in every difference{better}."
    )


def _later(comparison: Comparison) -> str:
    """How much later, or sooner, the other session began."""
    begun = [
        session.opened.started_utc if session.opened is not None else ""
        for session in (comparison.one, comparison.other)
    ]
    try:
        one, other = (datetime.fromisoformat(each) for each in begun)
        seconds = (other - one).total_seconds()
    except (ValueError, TypeError):
        return "at another time than"
    size = abs(seconds)
    if size < 1:
        return "at the time of"
    text = f"{size:.0f} s" if size < 120 else f"{size / 60:.0f} min" if size < 7200 else f"{size / 3600:.0f} h"
    return f"{text} {'after' if seconds > 0 else 'before'}"


def signed(ms: float) -> str:
    """Whole milliseconds with their sign."""
    rounded = round(ms)
    return f"−{-rounded}" if rounded < 0 else f"+{rounded}" if rounded else "0"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


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
