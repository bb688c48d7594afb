"""The reply on its way to the ear: what is synthesised, what may be played, and how the turn ends."""

from __future__ import annotations

from typing import Literal

import msgspec

from voicetui.conversation import speculate
from voicetui.conversation.history import messages, remember
from voicetui.conversation.state import Clause, ClauseState, Ending, Reply, Step
from voicetui.events.base import Basis
from voicetui.events.orders import Cancel, Cut, EndTurn, FinishPlayback, GateMic, Generate, Outcome, Play, Synthesize
from voicetui.events.reply import ClauseCut, GenerationEnded, GenerationFailed
from voicetui.events.speak import (
    ClauseBegun,
    ClauseEnded,
    ClauseStarted,
    ClauseSynthesized,
    PlaybackCut,
    PlaybackFinished,
    SynthesisFailed,
)

CutOutcome = Literal["interrupted", "superseded", "cut_off", "failed"]


def changed(reply: Reply, **changes: object) -> Reply:
    """A copy of a reply with some fields replaced."""
    return msgspec.structs.replace(reply, **changes)


def begin(step: Step, basis: Basis, text: str, user_end_ms: float | None) -> None:
    """Give the floor to the reply on this basis: the draft if it is one, else a generation started now."""
    request = messages(step.state, text)
    step.set(next_turn=basis.turn + 1, attempt=0)
    draft = step.state.draft
    if draft is not None and draft.basis == basis:
        step.set(draft=None)
        reply = changed(draft, committed=True, user_text=text, user_end_ms=user_end_ms)
    else:
        tier, mode = step.state.setting.tier, step.state.setting.overlap
        step.order(Generate(basis, tier, request, speculative=False))
        reply = Reply(basis=basis, user_text=text, overlap=mode, committed=True, user_end_ms=user_end_ms)
    advance(step, step.put(reply))


def clause_cut(step: Step, fact: ClauseCut) -> None:
    """A clause of the reply is known."""
    reply = step.find(fact.basis)
    if reply is None or reply.generated or any(clause.number == fact.clause for clause in reply.clauses):
        return
    clause = Clause(fact.clause, fact.text, fact.spoken, "cut" if fact.spoken else "silent")
    advance(step, step.put(changed(reply, clauses=(*reply.clauses, clause))))


def generation_ended(step: Step, fact: GenerationEnded) -> None:
    """The reply's text is whole. In mode ``none`` it is spoken as one piece."""
    reply = step.find(fact.basis)
    if reply is None or reply.generated:
        return
    failure = "the tier's answer was empty" if fact.outcome == "empty" else ""
    note = "the tier's answer broke off" if fact.outcome == "truncated" else ""
    reply = changed(reply, generated=True, failure=failure, note=note)
    if reply.overlap == "none" and reply.clauses:
        text = "".join(clause.text for clause in reply.clauses)
        spoken = " ".join(clause.spoken for clause in reply.clauses if clause.spoken)
        reply = changed(reply, clauses=(Clause(0, text, spoken, "cut" if spoken else "silent"),))
    advance(step, step.put(reply))


def generation_failed(step: Step, fact: GenerationFailed) -> None:
    """The tier failed: what was already cut is still spoken, then the turn ends ``failed``. A draft is given up."""
    reply = step.find(fact.basis)
    if reply is None or reply.generated:
        return
    if not reply.committed:
        speculate.drop(step, "the tier failed")
        return
    advance(step, step.put(changed(reply, generated=True, failure=fact.message)))


def synthesis_begun(step: Step, fact: ClauseBegun) -> None:
    """A clause's first samples exist: it may be played; the next one is not made before this one is whole."""
    reply = step.find(fact.basis)
    if reply is not None and any(each.number == fact.clause and each.state == "ordered" for each in reply.clauses):
        step.put(changed(reply, making=fact.clause))
        _move_clause(step, fact.basis, fact.clause, "ordered", "ready")


def synthesized(step: Step, fact: ClauseSynthesized) -> None:
    """A clause's sound exists, all of it."""
    reply = step.find(fact.basis)
    if reply is not None:
        reply = step.put(_with_clause(reply, fact.clause, sound_ms=fact.duration_ms))
    if reply is not None and reply.making == fact.clause:
        advance(step, step.put(changed(reply, making=None)))
    else:
        _move_clause(step, fact.basis, fact.clause, "ordered", "ready")


def synthesis_failed(step: Step, fact: SynthesisFailed) -> None:
    """A clause is skipped, or breaks off; a turn of which nothing can be spoken fails."""
    reply = step.find(fact.basis)
    if reply is None:
        return
    broke_off = reply.making == fact.clause
    making = None if broke_off else reply.making
    reply = step.put(changed(reply, unspoken=f"the voice failed: {fact.message}", making=making))
    if broke_off:
        kept = [msgspec.structs.replace(c, text="") if c.number == fact.clause else c for c in reply.clauses]
        advance(step, step.put(changed(reply, clauses=tuple(kept))))
    else:
        _move_clause(step, fact.basis, fact.clause, "ordered", "failed")


def clause_started(step: Step, fact: ClauseStarted) -> None:
    """A clause is heard."""
    reply = step.find(fact.basis)
    if reply is not None and reply.audible_ms is None:
        step.put(changed(reply, audible_ms=step.at_ms))


def clause_ended(step: Step, fact: ClauseEnded) -> None:
    """A clause was heard to its end; the next may be synthesised."""
    _move_clause(step, fact.basis, fact.clause, "playing", "done")


def playback_finished(step: Step, fact: PlaybackFinished) -> None:
    """All there is of the reply was heard, perhaps just before it would have been cut."""
    reply, ending = step.state.reply, step.state.ending
    if reply is None and ending is not None:
        reply = ending.reply
    if reply is None or reply.basis != fact.basis or not reply.finishing:
        return
    step.set(ending=None)
    heard = fact.heard_text
    if heard is None:
        heard = "".join(clause.text for clause in reply.clauses if clause.state != "failed")
    reason = reply.failure or reply.note or reply.unspoken
    end(step, reply, "failed" if reply.failure else "completed", heard, reason)


def playback_cut(step: Step, fact: PlaybackCut) -> None:
    """The old reply is silent, and what was heard of it is known. One that was not to be cut lost its speaker."""
    reply, ending = step.state.reply, step.state.ending
    if ending is not None and ending.reply.basis == fact.basis:
        step.set(ending=None)
        cut_is_silent(step, ending, fact.heard_text)
    elif reply is not None and reply.queued and reply.basis == fact.basis:
        reason = "the speaker stopped"
        step.order(Cancel(reply.basis, reason))
        end(step, reply, "failed", fact.heard_text, reason)


def advance(step: Step, reply: Reply) -> None:
    """Order whatever may be done next for a reply or draft."""
    _synthesize_ahead(step, reply)
    reply = step.find(reply.basis) or reply
    if not reply.committed or reply.held:
        return
    _play_ready(step, reply)
    reply = step.find(reply.basis) or reply
    if not reply.generated or reply.finishing:
        return
    if any(clause.state in ("cut", "ordered", "ready") for clause in reply.clauses):
        return
    if reply.queued:
        step.order(FinishPlayback(reply.basis))
        step.put(changed(reply, finishing=True))
    elif reply.failure or reply.unspoken:
        end(step, reply, "failed", "", reply.failure or reply.unspoken)
    else:
        end(step, reply, "unanswered", "", "the answer has nothing that can be spoken")


def cut(step: Step, reply: Reply, outcome: CutOutcome, reason: str, unheard: CutOutcome | None = None) -> None:
    """Take the floor from a reply: cancel its work, silence it, and wait to hear what was heard.

    ``unheard`` is the outcome if nothing of it was heard; the user's words then open the next turn's text.
    """
    step.order(Cancel(reply.basis, reason))
    step.set(reply=None)
    ending = Ending(reply, outcome, reason, unheard)
    if reply.queued:
        step.order(Cut(reply.basis))
        step.set(ending=ending)
    else:
        cut_is_silent(step, ending, "")


def cut_is_silent(step: Step, ending: Ending, heard_text: str) -> None:
    """End the turn of a reply that was cut, now that it is known what was heard of it.

    The words of a turn that was taken back open the next turn's text.
    """
    heard = bool(heard_text.strip())
    outcome = ending.outcome if heard or ending.unheard is None else ending.unheard
    if outcome == "cut_off" or (ending.unheard is not None and not heard):
        step.set(carried=ending.reply.user_text)
    end(step, ending.reply, outcome, heard_text if heard else "", ending.reason)


def end(step: Step, reply: Reply, outcome: Outcome, heard_text: str, reason: str) -> None:
    """Close a turn: remember what was heard, and in half duplex open the microphone soon."""
    if step.state.reply is not None and step.state.reply.basis == reply.basis:
        step.set(reply=None)
    if outcome != "cut_off":
        remember(step, reply.user_text, heard_text, interrupted=outcome != "completed")
    step.order(EndTurn(reply.basis.turn, reply.basis, outcome, heard_text, reason))
    if step.state.gated:
        step.set(ungate_wake=step.state.next_wake)
        step.wake(step.at_ms + step.state.policy.gate_tail_ms, "ungate")


def _synthesize_ahead(step: Step, reply: Reply) -> None:
    """One clause at a time, at most ``lookahead`` beyond what was heard; of a draft, the first clause only."""
    if reply.overlap == "none" and not reply.generated:
        return
    ahead = [clause for clause in reply.clauses if clause.state in ("ready", "playing")]
    if reply.making is not None or any(clause.state == "ordered" for clause in reply.clauses):
        return
    if len(ahead) > (step.state.policy.lookahead if reply.committed else 0):
        return
    clause = next((clause for clause in reply.clauses if clause.state == "cut"), None)
    if clause is not None:
        step.order(Synthesize(reply.basis, clause.number, clause.spoken, streamed=reply.overlap == "full"))
        step.put(_with_clause(reply, clause.number, state="ordered"))


def _play_ready(step: Step, reply: Reply) -> None:
    """Queue every sound whose turn it is, in the order of the text."""
    if reply.staging is not None and not reply.staging.released:
        return
    for clause in reply.clauses:
        if clause.state in ("cut", "ordered"):
            break
        if clause.state != "ready":
            continue
        if not reply.queued and step.state.setting.duplex == "half" and not step.state.gated:
            step.order(GateMic(True))
            step.set(gated=True)
        due_ms = reply.staging.due_ms if reply.staging is not None and not reply.queued else None
        step.order(Play(reply.basis, clause.number, clause.text, due_ms))
        reply = step.put(changed(_with_clause(reply, clause.number, state="playing"), queued=True))


def _move_clause(step: Step, basis: Basis, number: int, before: ClauseState, after: ClauseState) -> None:
    """Take a clause one step on; one that is elsewhere stays there."""
    reply = step.find(basis)
    if reply is not None and any(each.number == number and each.state == before for each in reply.clauses):
        advance(step, step.put(_with_clause(reply, number, state=after)))


def _with_clause(reply: Reply, number: int, **changes: object) -> Reply:
    clauses = tuple(
        msgspec.structs.replace(clause, **changes) if clause.number == number else clause for clause in reply.clauses
    )
    return changed(reply, clauses=clauses)
