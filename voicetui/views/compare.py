"""Two recorded sessions turn by turn: which turns belong together, what may be compared of them, and what differs in
how the sessions were set up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

import msgspec

from voicetui.events import Entry
from voicetui.events.session import SessionOpened
from voicetui.events.words import normalise_words
from voicetui.views.align import Alignment, By, Readings, align
from voicetui.views.differences import Difference, SetUp, SetUpFold, differences
from voicetui.views.latency import TurnLatency
from voicetui.views.summary import Summary, SummaryView, TurnSummary
from voicetui.views.timeline import Timeline, TimelineView

TurnT = TypeVar("TurnT", TurnLatency, TurnSummary)
LeftOut = Literal[
    "",
    "no counterpart",
    "different words",
    "words not known",
    "cut off",
    "several turns",
    "one side staged",
    "superseded",
    "failed",
    "unanswered",
    "not over",
    "no gap",
    "cached",
    "cold",
]
"""Why a pair's gaps are not compared; "" where they are."""


class Session(msgspec.Struct, frozen=True):
    """What a comparison knows of one session. ``name`` is what people call it."""

    name: str
    opened: SessionOpened | None
    set_up: SetUp
    summary: Summary
    turns: tuple[TurnLatency, ...]
    timeline: Timeline

    def facts(self, number: int) -> TurnSummary:
        """The summary of a turn. Raises ``KeyError`` for one there is not."""
        return _numbered(self.summary.turns, number)

    def latency(self, number: int) -> TurnLatency:
        """The latency of a turn. Raises ``KeyError`` for one there is not."""
        return _numbered(self.turns, number)


class PairOfTurns(msgspec.Struct, frozen=True):
    """What one side said in ``one`` turns and the other in ``other``; one of them is () where it has no counterpart.

    Several turns are one utterance that was cut off and went on, or that became several turns. The last one's reply is
    the one that stands. ``alike`` is the share of words in common, ``by`` what paired them. ``left_out`` says why the
    gaps are not compared. ``staged``: both gaps were made on purpose; they are compared with their like only.
    """

    one: tuple[int, ...]
    other: tuple[int, ...]
    alike: float
    by: By
    left_out: LeftOut
    staged: bool = False

    @property
    def both(self) -> bool:
        """Whether both sides have it."""
        return bool(self.one and self.other)


class Comparison(msgspec.Struct, frozen=True):
    """Two sessions side by side. Differences are always ``other`` minus ``one``.

    ``related``: they are the same conversation, by their words. ``same_sound``: one heard the other's recorded
    microphone again, or both a third one's.
    """

    one: Session
    other: Session
    related: bool
    same_sound: bool
    pairs: tuple[PairOfTurns, ...]
    differs: tuple[Difference, ...]

    def gaps_ms(self, pair: PairOfTurns) -> tuple[float | None, float | None]:
        """The gap of either side, as heard: that of its last turn."""
        return tuple(  # type: ignore[return-value]
            session.latency(turns[-1]).gap_ms if turns else None
            for session, turns in ((self.one, pair.one), (self.other, pair.other))
        )

    def compared(self, staged: bool = False) -> tuple[PairOfTurns, ...]:
        """The pairs whose gaps are compared: the real ones, or the staged ones."""
        return tuple(pair for pair in self.pairs if not pair.left_out and pair.staged == staged)


def _numbered(turns: Sequence[TurnT], number: int) -> TurnT:
    """The turn of this number; they stand in its order."""
    place = bisect_left(turns, number, key=lambda turn: turn.turn)
    if place == len(turns) or turns[place].turn != number:
        raise KeyError(number)
    return turns[place]


def fold_session(name: str, entries: Iterable[Entry]) -> Session:
    """What a comparison needs of a session."""
    summary, timeline, set_up = SummaryView(), TimelineView(), SetUpFold()
    opened: SessionOpened | None = None
    for entry in entries:
        for view in (summary, timeline, set_up):
            view.feed(entry)
        if isinstance(entry.body, SessionOpened):
            opened = entry.body
    figures = summary.snapshot()
    return Session(name, opened, set_up.snapshot(figures), figures, summary.latency, timeline.snapshot())


def compare(one: Session, other: Session) -> Comparison:
    """Pair the turns of two sessions, and say which pairs' gaps may be compared."""
    ours, theirs = _utterances(one), _utterances(other)
    same_sound = _same_sound(one, other)
    found = align([_readings(one, turns) for turns in ours], [_readings(other, turns) for turns in theirs], same_sound)
    pairs = tuple(
        PairOfTurns(
            one=tuple(turn for place in match.one for turn in ours[place]),
            other=tuple(turn for place in match.other for turn in theirs[place]),
            alike=match.alike,
            by=match.by,
            left_out="",
        )
        for match in found.matches
    )
    judged = tuple(_judged(pair, one, other, found, same_sound) for pair in pairs)
    return Comparison(one, other, found.related, same_sound, judged, differences(one.set_up, other.set_up))


def _utterances(session: Session) -> list[tuple[int, ...]]:
    """The turns, those that were taken back together with the one that went on from their words."""
    groups: list[tuple[int, ...]] = []
    carried: tuple[int, ...] = ()
    turns = session.summary.turns
    for place, turn in enumerate(turns):
        words = normalise_words(turn.user_text)
        after = normalise_words(turns[place + 1].user_text) if place + 1 < len(turns) else ()
        if turn.outcome in ("cut_off", "superseded") and words and after[: len(words)] == words:
            carried += (turn.turn,)
            continue
        groups.append((*carried, turn.turn))
        carried = ()
    return groups


def _readings(session: Session, turns: Sequence[int]) -> Readings:
    """The words of an utterance as they grew: each turn holds those of the ones that were taken back before it."""
    return tuple(normalise_words(session.facts(number).user_text) for number in turns)


def _same_sound(one: Session, other: Session) -> bool:
    parents = [session.opened.parent if session.opened is not None else "" for session in (one, other)]
    names = [session.summary.session or session.name for session in (one, other)]
    roots = [parent or name for parent, name in zip(parents, names, strict=True)]
    return roots[0] == roots[1] or parents[0] == names[1] or parents[1] == names[0]


def _judged(pair: PairOfTurns, one: Session, other: Session, found: Alignment, same_sound: bool) -> PairOfTurns:
    if not pair.both:
        return msgspec.structs.replace(pair, left_out="no counterpart")
    left = [one.latency(number) for number in pair.one]
    right = [other.latency(number) for number in pair.other]
    staged = left[-1].staged and right[-1].staged
    reason: LeftOut = ""
    if not found.related or (pair.by == "order" and not same_sound):
        known = all(
            session.facts(turns[-1]).user_text.strip() for session, turns in ((one, pair.one), (other, pair.other))
        )
        reason = "different words" if known else "words not known"
    elif left[-1].staged != right[-1].staged:
        reason = "one side staged"
    else:
        reason = _why_not(left) or _why_not(right)
    if not reason and not staged and (_cold(left[-1], one) or _cold(right[-1], other)):
        reason = "cold"
    return msgspec.structs.replace(pair, left_out=reason, staged=staged)


def _why_not(turns: Sequence[TurnLatency]) -> LeftOut:
    """Why the gap of an utterance is not one of the figures; "" where it is."""
    if any(turn.outcome == "cut_off" for turn in turns):
        return "cut off"
    if len(turns) > 1:
        return "superseded" if any(turn.outcome == "superseded" for turn in turns) else "several turns"
    (turn,) = turns
    match turn.outcome:
        case "completed" | "interrupted":
            return "no gap" if turn.gap_ms is None else "cached" if turn.cached else ""
        case None:
            return "not over"
        case outcome:
            return outcome.replace("_", " ")  # type: ignore[return-value]


def _cold(turn: TurnLatency, session: Session) -> bool:
    """Whether it was the first that its session asked a tier for."""
    first = next((each for each in session.turns if each.tier and not each.staged), None)
    return turn.cold and first is not None and turn.turn == first.turn
