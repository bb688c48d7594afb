"""What deciding again changes, turn by turn: every order that differs, and what that means in a sentence. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, TypeVar

import msgspec

from voicetui.events import Entry, Order
from voicetui.events.orders import Commit, EndTurn, Prewarm, Reject, WakeAt
from voicetui.rehearse.redecide.episode import EpisodeRun, Unknown
from voicetui.rehearse.redecide.order_text import order_name
from voicetui.rehearse.redecide.session import Redecided

OrderT = TypeVar("OrderT", bound=Order)
Kind = Literal["new", "gone", "moved", "altered"]


class Change(msgspec.Struct, frozen=True):
    """An order that is not as recorded.

    "new": given only now. "gone": given only then. "moved": given at another time. "altered": given at the same time
    with other details.  ``order`` is as it is now, ``recorded`` as it was, each with its time on the session clock.
    """

    kind: Kind
    order: Order | None
    recorded: Order | None
    at_ms: float | None
    recorded_ms: float | None

    @property
    def either(self) -> Order:
        """The order, of whichever run there is one."""
        found = self.order if self.order is not None else self.recorded
        assert found is not None
        return found

    @property
    def first_ms(self) -> float:
        """The earlier of its times."""
        return min(each for each in (self.at_ms, self.recorded_ms) if each is not None)


class Turn(msgspec.Struct, frozen=True):
    """One turn, or one utterance that became none, decided again. ``text`` is what the user said, as recorded.

    ``number`` is the turn's (None: no turn), ``utterance`` that of its speech (None: typed, or the session's
    beginning).  ``outcome`` is the recorded one, "" without one; ``spoken_again_ms`` when the next utterance began, or
    the next turn was typed.  ``left`` recorded orders come after ``unknown`` and are not compared.  ``by_rules``:
    today's rules give other orders with the recorded settings, too; ``by_settings``: with the recorded settings they
    would give other orders than these.
    """

    number: int | None
    utterance: int | None
    begins_ms: float
    text: str
    outcome: str
    spoken_again_ms: float | None
    result: Redecided
    changes: tuple[Change, ...]
    unknown: Unknown | None
    left: int
    orphans: tuple[Entry, ...]
    unanswered: tuple[Order, ...]
    moved_answers: bool
    by_rules: bool
    by_settings: bool

    @property
    def label(self) -> str:
        """What it is called."""
        if self.number is not None:
            return f"turn {self.number}"
        return f"utterance {self.utterance}" if self.utterance is not None else "the session"

    @property
    def idle(self) -> bool:
        """Whether nothing but the times to look again differs."""
        return all(isinstance(change.either, WakeAt) for change in self.changes)


def turns_of(results: Sequence[Redecided]) -> list[Turn]:
    """Every turn and every other utterance of a session, in order, with what changes in it.

    What is decided about a reply when somebody speaks over it belongs to the reply's turn.
    """
    found: list[Turn] = []
    places: dict[int, int] = {}
    outcomes = {order.turn: order.outcome for result in results for order in _recorded(result, EndTurn)}
    for index, result in enumerate(results):
        changes = list(_changes(result.run)) if result.run is not None else []
        earlier = [change for change in changes if _turn_before(change.either, result) in places]
        for change in earlier:
            place = places[_turn_before(change.either, result)]
            found[place] = msgspec.structs.replace(found[place], changes=(*found[place].changes, change))
        own = tuple(change for change in changes if change not in earlier)
        if result.episode.turn is not None:
            places.update({order.basis.turn: len(found) for order in _recorded(result, Commit)})
        next_ms = results[index + 1].episode.decisions[0].entry.at if index + 1 < len(results) else None
        found.append(_turn(result, own, outcomes.get(result.episode.turn or 0, ""), next_ms))
    return found


def differs(turns: Sequence[Turn]) -> bool:
    """Whether any order is not as recorded."""
    return any(turn.changes or turn.unknown for turn in turns)


def orders_differing(turn: Turn) -> str:
    """How many orders of which kind differ."""
    counts = Counter(order_name(change.either) for change in turn.changes)
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _turn(result: Redecided, changes: tuple[Change, ...], outcome: str, spoken_again_ms: float | None) -> Turn:
    episode, run = result.episode, result.run
    return Turn(
        number=episode.turn,
        utterance=episode.utterance,
        begins_ms=episode.begins_ms,
        text=next((o.text for d in episode.decisions for o in d.orders if isinstance(o, (Commit, Reject))), ""),
        outcome=outcome,
        spoken_again_ms=spoken_again_ms,
        result=result,
        changes=changes,
        unknown=run.unknown if run is not None else None,
        left=len(run.recorded) - run.compared if run is not None else 0,
        orphans=run.orphans if run is not None else (),
        unanswered=run.unanswered if run is not None else (),
        moved_answers=run is not None and run.moved,
        by_rules=not result.same_rules,
        by_settings=run is not None and not _same(run, result.plain),
    )


def _same(run: EpisodeRun, plain: EpisodeRun | None) -> bool:
    if plain is None:
        return not any(_changes(run)) and run.unknown is None
    return run.given == plain.given and run.unknown == plain.unknown


def _recorded(result: Redecided, kind: type[OrderT]) -> Iterator[OrderT]:
    for decision in result.episode.decisions:
        for order in decision.orders:
            if isinstance(order, kind):
                yield order


def _turn_before(order: Order, result: Redecided) -> int:
    """The number of the turn before this episode that an order is about; 0: it is about none."""
    basis = getattr(order, "basis", None)
    return basis.turn if basis is not None and basis.turn < result.before.next_turn else 0


def _changes(run: EpisodeRun) -> Iterator[Change]:
    """Every difference, in the order of time."""
    found = []
    for given in run.given:
        recorded = run.recorded[given.place] if given.place is not None else None
        if recorded is None:
            found.append(Change("new", given.order, None, given.at_ms, None))
        elif recorded.cause != given.cause:
            found.append(Change("moved", given.order, recorded.order, given.at_ms, recorded.at_ms))
        elif recorded.order != given.order:
            found.append(Change("altered", given.order, recorded.order, given.at_ms, recorded.at_ms))
    used = {given.place for given in run.given}
    for place, recorded in enumerate(run.recorded[: run.compared]):
        if place not in used:
            found.append(Change("gone", None, recorded.order, None, recorded.at_ms))
    yield from sorted(_in_its_place(found), key=lambda change: change.first_ms)


def _in_its_place(changes: Sequence[Change]) -> list[Change]:
    """The changes, with an order that is given in the place of another for the same reason as one."""
    kept: list[Change] = []
    gone = [change for change in changes if change.kind == "gone"]
    for change in changes:
        twin = next((each for each in gone if _replaces(change, each)), None)
        if twin is not None:
            gone.remove(twin)
            kept.append(Change("altered", change.order, twin.recorded, change.at_ms, twin.recorded_ms))
        elif change.kind != "gone":
            kept.append(change)
    return kept + gone


def _replaces(new: Change, gone: Change) -> bool:
    now, then = new.order, gone.recorded
    if new.kind != "new" or new.at_ms != gone.recorded_ms:
        return False
    if isinstance(now, WakeAt) and isinstance(then, WakeAt):
        return now.why == then.why
    return isinstance(now, Prewarm) and isinstance(then, Prewarm) and (now.turn, now.why) == (then.turn, then.why)
