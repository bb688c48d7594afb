"""Which order of a recording is the one given now, and which recorded fact answers it. Pure.

Numbers are given as they come (wakes, requests, attempts), so the same order may have another number in a run that
asked for less before. What an order is, is told by what it asks for.
"""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from voicetui.events import Basis, Entry, Fact, Order
from voicetui.events.listen import Transcribed, TranscribeFailed, TurnScored, WordsScored
from voicetui.events.orders import (
    AdoptContext,
    AssembleContext,
    Commit,
    EndTurn,
    Generate,
    Prewarm,
    Reject,
    ScoreTurn,
    ScoreWords,
    Synthesize,
    Transcribe,
    WakeAt,
)
from voicetui.events.reply import ContextAssembled, PrewarmEnded
from voicetui.events.session import Woke
from voicetui.rehearse.redecide.decisions import Decision, Episode

Asked = Transcribe | ScoreTurn | ScoreWords | AssembleContext
"""Orders that a model answers from the recording itself, or from notes: once, and the same whenever they are asked."""


class RecordedOrder(msgspec.Struct, frozen=True):
    """An order in the journal, after which fact it stands, and when it was given."""

    order: Order
    cause: int
    at_ms: float


class Twins:
    """Pairs the orders given now with those of one recorded episode, and keeps the numbers of both apart."""

    def __init__(self, episode: Episode) -> None:
        self.recorded = [RecordedOrder(o, d.entry.seq, d.told_ms) for d in episode.decisions for o in d.orders]
        self._free: dict[Hashable, list[int]] = {}
        for place, each in enumerate(self.recorded):
            self._free.setdefault(_identity(each.order, each.order, each.cause), []).append(place)
        self._numbers: dict[tuple[str, int], int] = {}
        self._bases: dict[Basis, Basis] = {}
        self._old_numbers: dict[tuple[str, int], int] = {}
        self._old_bases: dict[Basis, Basis] = {}
        self._asked = {_question(each.order) for each in self.recorded}
        self._begun = {getattr(each.order, "basis", None) for each in self.recorded}
        self._answers: dict[tuple[str, int], Decision] = {}
        for decision in episode.decisions:
            question = _question(decision.entry.body)
            if question is not None:
                self._answers.setdefault(question, decision)

    def pair(self, order: Order, cause: int | None) -> tuple[Order, int | None]:
        """The order with the numbers it has in the recording, and its place there; None for a new one."""
        as_recorded = self._renumbered(order)
        places = self._free.get(_identity(order, as_recorded, cause), [])
        if not places:
            return as_recorded, None
        place = next((each for each in places if self.recorded[each].cause == cause), places[0])
        places.remove(place)
        self._bind(order, self.recorded[place].order)
        return self._renumbered(order), place

    def basis_now(self, recorded: Basis) -> Basis | None:
        """The basis that work on a recorded one has now."""
        return self._bases.get(recorded)

    def answer_to(self, order: Order) -> Decision | None:
        """The recorded answer to a recorded question."""
        question = _question(order)
        return self._answers.get(question) if question is not None else None

    def translated(self, fact: Fact) -> Fact | None:
        """A recorded fact with the numbers of now; None where it answers what is not asked now, but was.

        One that answered nothing in the recording either (its question is lost) stays as it is.
        """
        question = _question(fact)
        number = self._numbers.get(question) if question is not None else None
        if question is not None and question not in self._asked:
            return fact
        match fact:
            case Woke():
                return None if number is None else Woke(number)
            case Transcribed() | TranscribeFailed() | TurnScored() | WordsScored():
                return None if number is None else msgspec.structs.replace(fact, request=number)
            case ContextAssembled():
                return None if number is None else msgspec.structs.replace(fact, context=number)
            case PrewarmEnded():
                return fact
            case _:
                basis = getattr(fact, "basis", None)
                if basis is None or basis not in self._begun:
                    return fact
                now = self._bases.get(basis)
                return None if now is None else msgspec.structs.replace(fact, basis=now)

    def _bind(self, now: Order, recorded: Order) -> None:
        old, new = _question(recorded), _question(now)
        if old is not None and new is not None:
            self._numbers[old] = new[1]
            self._old_numbers[new] = old[1]
        if isinstance(now, Commit) and isinstance(recorded, Commit) and now.text != recorded.text:
            return  # the reply to other words is another reply
        old_basis, new_basis = getattr(recorded, "basis", None), getattr(now, "basis", None)
        if isinstance(old_basis, Basis) and isinstance(new_basis, Basis):
            self._bases.setdefault(old_basis, new_basis)
            self._old_bases.setdefault(new_basis, old_basis)

    def _renumbered(self, order: Order) -> Order:
        changes: dict[str, object] = {}
        question = _question(order)
        if question is not None and question in self._old_numbers:
            field = {"wake": "wake", "prewarm": "prewarm", "context": "context"}.get(question[0], "request")
            changes[field] = self._old_numbers[question]
        if isinstance(order, AdoptContext):
            changes["context"] = self._old_numbers.get(("context", order.context), order.context)
        basis = getattr(order, "basis", None)
        if isinstance(basis, Basis) and basis in self._old_bases:
            changes["basis"] = self._old_bases[basis]
        return msgspec.structs.replace(order, **changes) if changes else order


def question_place(entry: Entry) -> tuple[str, int] | None:
    """What a fact answers: the kind of question and its number; None for one that answers no numbered question."""
    return _question(entry.body)


def _question(record: object) -> tuple[str, int] | None:
    match record:
        case WakeAt() | Woke():
            return "wake", record.wake
        case (
            Transcribe()
            | ScoreTurn()
            | ScoreWords()
            | Transcribed()
            | TranscribeFailed()
            | TurnScored()
            | WordsScored()
        ):
            return "request", record.request
        case AssembleContext() | ContextAssembled():
            return "context", record.context
        case Prewarm() | PrewarmEnded():
            return "prewarm", record.prewarm
        case _:
            return None


def _identity(order: Order, as_recorded: Order, cause: int | None) -> Hashable:
    """What makes an order the same order, whatever its details."""
    kind = type(order).__name__
    match order:
        case WakeAt():
            return kind, order.why, order.due_ms
        case Transcribe():  # a partial decodes the newest sound there is: asked elsewhere it is another
            return kind, order.utterance, order.start_sample, order.end_sample, order.end_sample is None and cause
        case ScoreTurn():
            return kind, order.utterance, order.start_sample, order.end_sample
        case ScoreWords():
            return kind, order.utterance, order.text
        case AssembleContext():
            return kind, order.turn, order.query
        case Prewarm():
            return kind, order.turn, order.tier, order.messages
        case Generate():
            return kind, order.basis.turn, order.tier, order.messages
        case Commit():
            return kind, order.utterance, order.basis.turn
        case Reject():
            return kind, order.utterance
        case EndTurn():
            return kind, order.turn
        case Synthesize():
            return kind, as_recorded.basis if isinstance(as_recorded, Synthesize) else None, order.clause, order.spoken
        case _:
            return kind, as_recorded
