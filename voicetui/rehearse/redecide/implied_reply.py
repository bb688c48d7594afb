"""What a journal says that the rules must have known of one reply: rebuilt from what was ordered and told of it."""

from __future__ import annotations

import msgspec

from voicetui.conversation.state import Clause, ClauseState, Reply
from voicetui.events import Fact, Order
from voicetui.events.orders import Duck, FinishPlayback, Pause, Play, Resume, Synthesize
from voicetui.events.reply import ClauseCut, GenerationEnded, GenerationFailed
from voicetui.events.speak import ClauseBegun, ClauseEnded, ClauseStarted, ClauseSynthesized, SynthesisFailed


def after_order(reply: Reply, order: Order) -> Reply:
    """The reply once this was ordered of it."""
    match order:
        case Synthesize():
            return _moved(reply, order.clause, "cut", "ordered")
        case Play():
            return _changed(_moved(reply, order.clause, "ready", "playing"), queued=True)
        case FinishPlayback():
            return _changed(reply, finishing=True)
        case Duck():
            return _changed(reply, quiet="ducked")
        case Pause():
            return _changed(reply, quiet="paused")
        case Resume():
            return _changed(reply, quiet="")
        case _:
            return reply


def after_fact(reply: Reply, fact: Fact, at_ms: float) -> Reply:
    """The reply once this was told of it."""
    match fact:
        case ClauseCut() if not reply.generated:
            clause = Clause(fact.clause, fact.text, fact.spoken, "cut" if fact.spoken else "silent")
            return _changed(reply, clauses=(*reply.clauses, clause))
        case GenerationEnded() if not reply.generated:
            return _generated(reply, fact)
        case GenerationFailed() if not reply.generated:
            return _changed(reply, generated=True, failure=fact.message)
        case ClauseStarted() if reply.audible_ms is None:
            return _changed(reply, audible_ms=at_ms)
        case ClauseBegun() if any(each.number == fact.clause and each.state == "ordered" for each in reply.clauses):
            return _moved(_changed(reply, making=fact.clause), fact.clause, "ordered", "ready")
        case ClauseSynthesized():
            making = None if reply.making == fact.clause else reply.making
            made = _with_clause(_changed(reply, making=making), fact.clause, sound_ms=fact.duration_ms)
            return _moved(made, fact.clause, "ordered", "ready")
        case SynthesisFailed():
            return _unspoken(reply, fact)
        case ClauseEnded():
            return _moved(reply, fact.clause, "playing", "done")
        case _:
            return reply


def _generated(reply: Reply, fact: GenerationEnded) -> Reply:
    failure = "the tier's answer was empty" if fact.outcome == "empty" else ""
    note = "the tier's answer broke off" if fact.outcome == "truncated" else ""
    clauses = reply.clauses
    if reply.overlap == "none" and clauses:
        spoken = " ".join(each.spoken for each in clauses if each.spoken)
        clauses = (Clause(0, "".join(each.text for each in clauses), spoken, "cut" if spoken else "silent"),)
    return _changed(reply, generated=True, failure=failure, note=note, clauses=clauses)


def _unspoken(reply: Reply, fact: SynthesisFailed) -> Reply:
    broke_off = reply.making == fact.clause
    reply = _changed(reply, unspoken=f"the voice failed: {fact.message}")
    if not broke_off:
        return _moved(reply, fact.clause, "ordered", "failed")
    return _changed(_with_clause(reply, fact.clause, text=""), making=None)


def _moved(reply: Reply, number: int, before: ClauseState, after: ClauseState) -> Reply:
    is_there = any(each.number == number and each.state == before for each in reply.clauses)
    return _with_clause(reply, number, state=after) if is_there else reply


def _with_clause(reply: Reply, number: int, **changes: object) -> Reply:
    kept = (msgspec.structs.replace(each, **changes) if each.number == number else each for each in reply.clauses)
    return _changed(reply, clauses=tuple(kept))


def _changed(reply: Reply, **changes: object) -> Reply:
    return msgspec.structs.replace(reply, **changes)
