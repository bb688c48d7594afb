"""What a journal says that the rules must have known: a state rebuilt from the orders given, whatever rules gave them.

Where today's rules no longer give a recorded turn's orders, the next turn starts from this instead of from what today's
rules would have made of it. What no order tells (how this speaker pauses, how loud they are, what was worked through
ahead) stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from voicetui.conversation.history import remember
from voicetui.conversation.state import Clause, ClauseState, Closed, Context, Ending, Exchange, Reply, State, Step
from voicetui.events import Basis, Order
from voicetui.events.listen import SpeechPaused
from voicetui.events.orders import (
    STAGED,
    AdoptContext,
    AssembleContext,
    Cancel,
    ChangeDuplex,
    Commit,
    Cut,
    Duck,
    EndSession,
    EndTurn,
    FinishPlayback,
    GateMic,
    Generate,
    OpenUtterance,
    Pause,
    Play,
    Prewarm,
    QuickenEar,
    Reject,
    Resume,
    Revise,
    ScoreTurn,
    Synthesize,
    Transcribe,
    WakeAt,
)
from voicetui.events.reply import ClauseCut, ContextAssembled, GenerationEnded, GenerationFailed
from voicetui.events.session import Overlap, OverlapChosen, SessionOpened
from voicetui.events.speak import ClauseBegun, ClauseEnded, ClauseStarted, ClauseSynthesized, SynthesisFailed
from voicetui.rehearse.redecide.decisions import Decision

_TAKEN_BACK = ("cut_off", "superseded")
_WITHOUT_WORDS = ("no words", "no speech", "failed")


def implied(known: State, before: Sequence[Decision], after: Sequence[Decision]) -> State:
    """``known`` corrected by the orders ``before`` a moment at which no utterance is open; ``after`` is the rest.

    How a reply that is being cut will have ended stands in what comes after.
    """
    told = _Told(known)
    for decision in before:
        told.fact(decision)
        for order in decision.orders:
            told.order(order)
    ended = {order.basis: order for each in after for order in each.orders if isinstance(order, EndTurn)}
    return told.state(ended)


class _Told:
    """Follows a journal's orders."""

    def __init__(self, known: State) -> None:
        self._known = known
        self._numbers = {"turn": 0, "utterance": 0, "request": 0, "wake": 0, "prewarm": 0}
        self._attempt = 0
        self._history: tuple[Exchange, ...] = ()
        self._carried = ""
        self._words: dict[int, str] = {}
        self._closed: Closed | None = None
        self._flags: dict[str, object] = {}
        self._wakes: dict[str, int] = {}
        self._context: Context | None = None
        self._overlap: Overlap = known.setting.overlap
        self._paused_ms: float | None = None
        self._replies: dict[Basis, Reply] = {}
        self._cut: Basis | None = None
        self._staged: dict[int, Basis] = {}
        """Turns that were committed without their words, by their utterance: the words come later."""

    def fact(self, decision: Decision) -> None:
        body = decision.entry.body
        match body:
            case SessionOpened() | OverlapChosen():
                self._overlap = body.overlap
            case SpeechPaused():
                self._paused_ms = decision.entry.at
            case ContextAssembled() if self._context is not None and body.context == self._context.number:
                self._context = msgspec.structs.replace(self._context, passages=body.passages, found=True)
            case ClauseStarted() | ClauseCut() | GenerationEnded() | GenerationFailed() | ClauseBegun():
                self._reply_fact(body.basis, body, decision.entry.at)
            case ClauseSynthesized() | SynthesisFailed() | ClauseEnded():
                self._reply_fact(body.basis, body, decision.entry.at)
            case _:
                pass

    def order(self, order: Order) -> None:
        match order:
            case WakeAt():
                self._count("wake", order.wake)
                self._wakes[order.why] = order.wake
            case OpenUtterance():
                self._opened(order.utterance)
            case Transcribe() | ScoreTurn():
                self._count("request", order.request)
            case Prewarm():
                self._count("prewarm", order.prewarm)
            case AssembleContext():
                kept = self._context.passages if self._context and self._context.turn == order.turn else ()
                self._context = Context(order.context, order.turn, order.query, kept)
            case AdoptContext():
                self._attempt += 1
            case Revise():
                self._revised(order)
            case Reject():
                known = order.reason in _WITHOUT_WORDS
                self._closed = Closed(order.utterance, "") if known else None
                if order.reason == "typed over":
                    self._closed = self._known.closed
            case GateMic():
                self._flags["gated"] = order.closed
            case QuickenEar():
                self._flags["ear_quick"] = order.on
            case EndSession():
                self._flags["over"] = True
            case ChangeDuplex():
                self._flags["duplex"] = order.duplex
            case _:
                self._turn_order(order)

    def state(self, ended: dict[Basis, EndTurn]) -> State:
        known, flags = self._known, dict(self._flags)
        setting = msgspec.structs.replace(known.setting, duplex=flags.pop("duplex", known.setting.duplex))
        living = [reply for reply in self._replies.values() if reply.committed]
        reply, ending = (living[-1] if living else None), None
        for earlier in (known.reply, known.ending.reply if known.ending is not None else None):
            if reply is not None and earlier is not None and earlier.basis == reply.basis:
                reply = msgspec.structs.replace(reply, staging=earlier.staging, held=earlier.held)
        if reply is not None and reply.basis == self._cut:
            end = ended.get(reply.basis)
            outcome: Literal["interrupted", "superseded", "cut_off", "failed"] = "interrupted"
            if end is not None and end.outcome in ("superseded", "cut_off", "failed"):
                outcome = end.outcome
            ending, reply = Ending(reply, outcome, end.reason if end is not None else ""), None
        return msgspec.structs.replace(
            known,
            **flags,
            setting=setting,
            **{f"next_{name}": number + 1 for name, number in self._numbers.items()},
            attempt=self._attempt,
            utterance=None,
            draft=next((each for each in self._replies.values() if not each.committed), None),
            reply=reply,
            ending=ending,
            closed=self._closed,
            carried=self._carried,
            history=self._history,
            context=self._context or Context(),
            ungate_wake=self._wakes.get("ungate", 0),
            stop_wake=self._wakes.get("stop", 0),
        )

    def _count(self, name: str, number: int) -> None:
        self._numbers[name] = max(self._numbers[name], number)

    def _opened(self, utterance: int) -> None:
        """An utterance is open: heard to begin, or made of words that came late."""
        if utterance > self._numbers["utterance"]:
            self._paused_ms = None
        self._count("utterance", utterance)

    def _revised(self, order: Revise) -> None:
        self._opened(order.utterance)
        self._words[order.utterance] = order.text
        basis = self._staged.get(order.utterance)
        if basis is not None:
            self._change(basis, user_text=order.text)

    def _turn_order(self, order: Order) -> None:
        match order:
            case Generate():
                mode: Overlap = "none" if order.tier == STAGED else self._overlap
                earlier = self._replies.get(order.basis)
                made = earlier or Reply(basis=order.basis, user_text="", overlap=mode, staged=order.tier == STAGED)
                self._replies[order.basis] = msgspec.structs.replace(made, overlap=mode)
                self._attempt = order.basis.attempt if order.speculative else self._attempt
            case Commit():
                self._committed(order)
            case EndTurn():
                self._ended(order)
            case Synthesize():
                self._clause(order.basis, order.clause, "ordered", ("cut",))
            case Play():
                self._clause(order.basis, order.clause, "playing", ("ready",))
                self._change(order.basis, queued=True)
            case FinishPlayback():
                self._change(order.basis, finishing=True)
            case Duck():
                self._change(order.basis, quiet="ducked")
            case Pause():
                self._change(order.basis, quiet="paused")
            case Resume():
                self._change(order.basis, quiet="")
            case Cut():
                self._cut = order.basis
            case Cancel() if not self._is_committed(order.basis):
                self._replies.pop(order.basis, None)
            case _:
                pass

    def _committed(self, order: Commit) -> None:
        self._count("turn", order.basis.turn)
        self._attempt, self._carried = 0, ""
        staged = order.reason == STAGED
        spoken = order.utterance is not None
        if staged and order.utterance is not None:
            self._staged[order.utterance] = order.basis
        reply = self._replies.get(order.basis) or Reply(basis=order.basis, user_text="", overlap=self._overlap)
        self._replies = {
            order.basis: msgspec.structs.replace(
                reply, committed=True, user_text=order.text, user_end_ms=self._paused_ms if spoken else None
            )
        }
        if order.utterance is not None:
            self._closed = None if staged else Closed(order.utterance, self._words.get(order.utterance, ""))

    def _ended(self, order: EndTurn) -> None:
        reply = self._replies.pop(order.basis, None)
        text = reply.user_text if reply is not None else ""
        if order.outcome in _TAKEN_BACK:
            self._carried = text
        if order.outcome != "cut_off":
            step = Step(State(policy=self._known.policy, history=self._history), 0.0)
            remember(step, text, order.heard_text, interrupted=order.outcome != "completed")
            self._history = step.state.history

    def _is_committed(self, basis: Basis) -> bool:
        reply = self._replies.get(basis)
        return reply is not None and reply.committed

    def _change(self, basis: Basis, **changes: object) -> None:
        reply = self._replies.get(basis)
        if reply is not None:
            self._replies[basis] = msgspec.structs.replace(reply, **changes)

    def _clause(self, basis: Basis, number: int, state: ClauseState, before: tuple[ClauseState, ...]) -> None:
        reply = self._replies.get(basis)
        if reply is not None:
            clauses = tuple(
                msgspec.structs.replace(each, state=state) if each.number == number and each.state in before else each
                for each in reply.clauses
            )
            self._change(basis, clauses=clauses)

    def _reply_fact(self, basis: Basis, body: object, at_ms: float) -> None:
        reply = self._replies.get(basis)
        if reply is None or self._cut == basis:
            return
        match body:
            case ClauseCut() if not reply.generated:
                clause = Clause(body.clause, body.text, body.spoken, "cut" if body.spoken else "silent")
                self._change(basis, clauses=(*reply.clauses, clause))
            case GenerationEnded() if not reply.generated:
                self._generated(reply, body)
            case GenerationFailed() if not reply.generated:
                self._change(basis, generated=True, failure=body.message)
            case ClauseStarted() if reply.audible_ms is None:
                self._change(basis, audible_ms=at_ms)
            case ClauseBegun() if any(c.number == body.clause and c.state == "ordered" for c in reply.clauses):
                self._change(basis, making=body.clause)
                self._clause(basis, body.clause, "ready", ("ordered",))
            case ClauseSynthesized():
                if reply.making == body.clause:
                    self._change(basis, making=None)
                self._clause(basis, body.clause, "ready", ("ordered",))
            case SynthesisFailed():
                self._failed(reply, body)
            case ClauseEnded():
                self._clause(basis, body.clause, "done", ("playing",))
            case _:
                pass

    def _generated(self, reply: Reply, body: GenerationEnded) -> None:
        failure = "the tier's answer was empty" if body.outcome == "empty" else ""
        note = "the tier's answer broke off" if body.outcome == "truncated" else ""
        clauses = reply.clauses
        if reply.overlap == "none" and clauses:
            spoken = " ".join(each.spoken for each in clauses if each.spoken)
            state: ClauseState = "cut" if spoken else "silent"
            clauses = (Clause(0, "".join(each.text for each in clauses), spoken, state),)
        self._change(reply.basis, generated=True, failure=failure, note=note, clauses=clauses)

    def _failed(self, reply: Reply, body: SynthesisFailed) -> None:
        self._change(reply.basis, unspoken=f"the voice failed: {body.message}")
        if reply.making == body.clause:
            self._change(
                reply.basis,
                making=None,
                clauses=tuple(
                    msgspec.structs.replace(each, text="") if each.number == body.clause else each
                    for each in reply.clauses
                ),
            )
        else:
            self._clause(reply.basis, body.clause, "failed", ("ordered",))
