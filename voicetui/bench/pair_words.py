"""What a comparison of two sessions says in words: what pairs, what is left out, what the figures can tell."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from voicetui.bench.pair_figures import Figures
from voicetui.bench.statistics import INTERVAL_FROM_N, Paired
from voicetui.events.words import normalise_words
from voicetui.views.compare import Comparison, PairOfTurns

ALONE_SHOWN = 3
"""As many settings that only one session tells are named; more are counted."""


def aligned(labels: tuple[str, str], comparison: Comparison) -> str:
    """How many turns pair, and which do not."""
    one, other = comparison.one, comparison.other
    empty = [label for label, each in zip(labels, (one, other), strict=True) if not each.summary.turns]
    if empty:
        return f"{' and '.join(empty)} {'has' if len(empty) == 1 else 'have'} no turns: there is nothing to pair."
    both = [pair for pair in comparison.pairs if pair.both]
    counts = f"{len(one.summary.turns)} turns in {labels[0]}, {len(other.summary.turns)} in {labels[1]}"
    silent = [
        label
        for label, each in zip(labels, (one, other), strict=True)
        if not any(normalise_words(turn.user_text) for turn in each.summary.turns)
    ]
    if not comparison.related and silent:
        return (
            f"{counts}, but what was said is not known in {' and '.join(silent)}, so nothing tells which turns belong "
            "together: they stand side by side by order only, and no figure compares them."
        )
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


def pair_text(comparison: Comparison, pair: PairOfTurns) -> str:
    """What the user said in a pair; of the base, where that has it."""
    session, turns = (comparison.one, pair.one) if pair.one else (comparison.other, pair.other)
    texts = [session.facts(number).user_text for number in turns]
    whole_text = texts[-1] if len(texts) < 2 or texts[-1].startswith(texts[0]) else " | ".join(texts)
    return whole_text.strip() or "(no words)"


def pair_note(labels: tuple[str, str], comparison: Comparison, pair: PairOfTurns) -> str:
    """Why a pair is in no figure, or what became of its turns where they were not heard to their end."""
    one, other = labels
    if not pair.both:
        return f"only in {one if pair.one else other}"
    outcomes = [
        session.facts(turns[-1]).outcome
        for session, turns in ((comparison.one, pair.one), (comparison.other, pair.other))
    ]
    if pair.left_out:
        return str(pair.left_out)
    ends = ["" if outcome == "completed" else (outcome or "not over").replace("_", " ") for outcome in outcomes]
    if ends[0] == ends[1]:
        staged = "staged" if pair.staged else ""
        return ", ".join(filter(None, (staged, ends[0])))
    return ", ".join(f"{label} {end}" for end, label in zip(ends, labels, strict=True) if end)


def differs_text(labels: tuple[str, str], comparison: Comparison, most: int | None = None) -> str:
    """What differs in how the sessions were set up, at most so many settings; what only one of them tells apart."""
    told = [f"{each.what} {each.one} → {each.other}" for each in comparison.differs if each.known]
    for label, one_sided in zip(labels, ("one", "other"), strict=True):
        alone = [each for each in comparison.differs if getattr(each, one_sided) and not each.known]
        if len(alone) > ALONE_SHOWN:
            told.append(f"{len(alone)} settings that only {label} tells")
        else:
            told += [f"only {label} tells {each.what} {getattr(each, one_sided)}" for each in alone]
    shown = told if most is None or len(told) <= most + 1 else [*told[:most], f"and {len(told) - most} more"]
    return "; ".join(shown) or "nothing that is recorded (the machine's load is not)"


def left_out_text(figures: Figures) -> str:
    """How many pairs are in no figure, by reason."""
    counts = [f"{count} {reason}" for reason, count in figures.left_out.items()]
    return ", ".join(counts) or "none"


def notes_of(labels: tuple[str, str], comparison: Comparison, figures: Figures) -> tuple[str, ...]:
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
    differs = [each.what for each in comparison.differs if each.known]
    names = [name for name in differs if name not in ("microphone", "speaker", "source")]
    if len(names) > 1:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        notes.append(f"Several settings differ ({', '.join(names[:3])}{more}): a difference is that of all together.")
    if not comparison.differs:
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
