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
from voicetui.conversation.policy import Policy
from voicetui.conversation.state import Closed, Context, Ending, Exchange, Reply, State, Step
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
    EndSession,
    EndTurn,
    GateMic,
    Generate,
    OpenUtterance,
    Prewarm,
    QuickenEar,
    Reject,
    Revise,
    ScoreTurn,
    ScoreWords,
    Transcribe,
    WakeAt,
)
from voicetui.events.reply import ContextAssembled
from voicetui.events.session import Overlap, OverlapChosen, SessionOpened
from voicetui.rehearse.redecide.decisions import Decision
from voicetui.rehearse.redecide.implied_reply import after_fact, after_order

_WITHOUT_WORDS = ("no words", "no speech", "failed")


class Implied:
    """Follows a journal's facts and orders, ``decisions`` being all of it.

    How a reply that is being cut will have ended is looked up in what comes later.
    """

    def __init__(self, policy: Policy, decisions: Sequence[Decision]) -> None:
        self._policy = policy
        self._ends = {order.basis: order for each in decisions for order in each.orders if isinstance(order, EndTurn)}
        self._numbers = {"turn": 0, "utterance": 0, "request": 0, "wake": 0, "prewarm": 0}
        self._attempt = 0
        self._history: tuple[Exchange, ...] = ()
        self._carried = ""
        self._words: dict[int, str] = {}
        self._closed: Closed | None = None
        self._flags: dict[str, object] = {}
        self._wakes: dict[str, int] = {}
        self._context = Context()
        self._overlap: Overlap = "full"
        self._paused_ms: float | None = None
        self._replies: dict[Basis, Reply] = {}
        self._cut: Basis | None = None
        self._staged: dict[int, Basis] = {}
        """Turns that were committed without their words, by their utterance: the words come later."""

    def follow(self, decisions: Sequence[Decision]) -> None:
        """Take in what was decided next."""
        for decision in decisions:
            self._fact(decision)
            for order in decision.orders:
                self._order(order)

    def state(self, known: State) -> State:
        """``known``, corrected by the orders so far, at a moment at which no utterance is open."""
        flags = dict(self._flags)
        setting = msgspec.structs.replace(known.setting, duplex=flags.pop("duplex", known.setting.duplex))
        reply, ending = self._floor(known)
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
            context=self._context,
            ungate_wake=self._wakes.get("ungate", 0),
            stop_wake=self._wakes.get("stop", 0),
            rise_wake=self._wakes.get("rise", 0),
        )

    def _floor(self, known: State) -> tuple[Reply | None, Ending | None]:
        """The reply that has the floor, or the one that is being cut."""
        reply = next((each for each in self._replies.values() if each.committed), None)
        if reply is None:
            return None, None
        for earlier in (known.reply, known.ending.reply if known.ending is not None else None):
            if earlier is not None and earlier.basis == reply.basis:
                reply = msgspec.structs.replace(reply, staging=earlier.staging, held=earlier.held)
        if reply.basis != self._cut:
            return reply, None
        end, outcome = self._ends.get(reply.basis), "interrupted"
        if end is not None and end.outcome in ("superseded", "cut_off", "failed"):
            outcome = end.outcome
        cut: Literal["interrupted", "superseded", "cut_off", "failed"] = outcome  # type: ignore[assignment]
        return None, Ending(reply, cut, end.reason if end is not None else "")

    def _fact(self, decision: Decision) -> None:
        fact, at_ms = decision.entry.body, decision.entry.at
        match fact:
            case SessionOpened() | OverlapChosen():
                self._overlap = fact.overlap
            case SpeechPaused():
                self._paused_ms = at_ms
            case ContextAssembled() if fact.context == self._context.number:
                self._context = msgspec.structs.replace(self._context, passages=fact.passages, found=True)
            case _:
                basis = getattr(fact, "basis", None)
                reply = self._replies.get(basis) if isinstance(basis, Basis) else None
                if reply is not None and reply.basis != self._cut:
                    self._replies[reply.basis] = after_fact(reply, fact, at_ms)  # type: ignore[arg-type]

    def _order(self, order: Order) -> None:
        match order:
            case WakeAt():
                self._count("wake", order.wake)
                self._wakes[order.why] = order.wake
            case OpenUtterance():
                self._opened(order.utterance)
            case Transcribe() | ScoreTurn() | ScoreWords():
                self._count("request", order.request)
            case Prewarm():
                self._count("prewarm", order.prewarm)
            case AssembleContext():
                kept = self._context.passages if self._context.turn == order.turn else ()
                self._context = Context(order.context, order.turn, order.query, kept)
            case AdoptContext():
                self._attempt += 1
            case Revise():
                self._revised(order)
            case Reject() if order.reason != "typed over":
                self._closed = Closed(order.utterance, "") if order.reason in _WITHOUT_WORDS else None
            case GateMic():
                self._flags["gated"] = order.closed
            case QuickenEar():
                self._flags["ear_quick"] = order.on
            case ChangeDuplex():
                self._flags["duplex"] = order.duplex
            case EndSession():
                self._flags["over"] = True
            case _:
                self._reply_order(order)

    def _reply_order(self, order: Order) -> None:
        match order:
            case Generate():
                self._generate(order)
            case Commit():
                self._committed(order)
            case EndTurn():
                self._ended(order)
            case Cut():
                self._cut = order.basis
            case Cancel():
                reply = self._replies.get(order.basis)
                if reply is not None and not reply.committed:
                    del self._replies[order.basis]
            case _:
                basis = getattr(order, "basis", None)
                reply = self._replies.get(basis) if isinstance(basis, Basis) else None
                if reply is not None:
                    self._replies[reply.basis] = after_order(reply, order)

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
        reply = self._replies.get(self._staged.get(order.utterance, Basis(0, 0, 0)))
        if reply is not None:
            self._replies[reply.basis] = msgspec.structs.replace(reply, user_text=order.text)

    def _generate(self, order: Generate) -> None:
        """A draft begins, or the reply of a turn just committed."""
        staged = order.tier == STAGED
        mode: Overlap = "none" if staged else self._overlap
        reply = self._replies.get(order.basis) or Reply(basis=order.basis, user_text="", overlap=mode, staged=staged)
        self._replies[order.basis] = msgspec.structs.replace(reply, overlap=mode)
        if order.speculative:
            self._attempt = order.basis.attempt

    def _committed(self, order: Commit) -> None:
        self._count("turn", order.basis.turn)
        self._attempt, self._carried = 0, ""
        user_end_ms = None
        if order.utterance is not None:
            user_end_ms = self._paused_ms
            self._closed = Closed(order.utterance, self._words.get(order.utterance, ""))
        if order.utterance is not None and order.reason == STAGED:
            self._closed = None
            self._staged[order.utterance] = order.basis
        reply = self._replies.get(order.basis) or Reply(basis=order.basis, user_text="", overlap=self._overlap)
        reply = msgspec.structs.replace(reply, committed=True, user_text=order.text, user_end_ms=user_end_ms)
        self._replies = {order.basis: reply}

    def _ended(self, order: EndTurn) -> None:
        reply = self._replies.pop(order.basis, None)
        text = reply.user_text if reply is not None else ""
        if order.outcome in ("cut_off", "superseded"):
            self._carried = text
        if order.outcome != "cut_off":
            step = Step(State(policy=self._policy, history=self._history), 0.0)
            remember(step, text, order.heard_text, interrupted=order.outcome != "completed")
            self._history = step.state.history
