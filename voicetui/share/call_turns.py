"""Whose turn it was when, told from nothing but who was heard when. Pure.

A reply goes on across pauses of up to ``PAUSE_MS`` in which the user is silent, and across any shorter than
``STOPPED_MS``. An utterance goes on across pauses of up to ``PAUSE_MS`` in which nobody answers. Speech over a reply
that falls silent before the speech has been over for ``STOPPED_MS`` took the floor; a reply that outlasts it by more
was not interrupted, and that speech is no turn. Short sound of the other side in the midst of speech is no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

STOPPED_MS: Final = 500.0
"""A reply has stopped when it has been silent for this long (as ``stop`` is defined)."""
PAUSE_MS: Final = 2000.0
"""A longer pause ends an utterance or a reply, even if nobody else speaks."""
OVER_PAUSE_MS: Final = 1000.0
"""A pause this long between two remarks over the same reply makes two utterances of them."""
INTERJECTION_MS: Final = 1000.0
"""What the other side says in the midst of an utterance is no answer if it is no longer than this ..."""
WENT_ON_MS: Final = 400.0
"""... and the utterance goes on behind it without a longer pause than this."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Sound of one side without a notable pause, ms on the recording."""

    start_ms: float
    end_ms: float


@dataclass(frozen=True, slots=True)
class Talk:
    """An utterance of the user, or a reply: the stretches it is made of."""

    side: Literal["user", "reply"]
    stretches: tuple[Stretch, ...]

    @property
    def start_ms(self) -> float:
        """When it begins."""
        return self.stretches[0].start_ms

    @property
    def end_ms(self) -> float:
        """When its last sound ends."""
        return self.stretches[-1].end_ms


@dataclass(frozen=True, slots=True)
class CallTurn:
    """What the user said and what was answered: one of them may be missing.

    ``cut_by`` is the utterance that the reply made way for; ``asides`` are those it did not make way for.
    """

    utterance: Talk | None
    reply: Talk | None
    cut_by: Talk | None = None
    asides: tuple[Talk, ...] = ()


def call_turns(user: Sequence[Stretch], reply: Sequence[Stretch]) -> list[CallTurn]:
    """The turns of a call, in the order they were answered, or given up. Stretches of a side must be in order."""
    replies = _replies(reply, user)
    answers = [talk for talk in replies if not _interjection(talk, user)]
    utterances = _utterances(user, answers)
    over = {talk: _under(talk, replies) for talk in utterances}
    asides = {talk for talk, below in over.items() if below is not None and below.end_ms > talk.end_ms + STOPPED_MS}
    turns: list[CallTurn] = []
    waiting: Talk | None = None
    bids = [talk for talk in utterances if talk not in asides]
    for talk in sorted([*bids, *replies], key=lambda talk: talk.start_ms):
        if talk.side == "user":
            if waiting is not None:
                turns.append(CallTurn(waiting, None))
            waiting = talk
            continue
        above = [each for each, below in over.items() if below is talk]
        cut_by = next((each for each in above if each not in asides), None)
        answered = waiting if talk in answers else None
        waiting = waiting if talk not in answers else None
        turns.append(CallTurn(answered, talk, cut_by, tuple(each for each in above if each in asides)))
    if waiting is not None:
        turns.append(CallTurn(waiting, None))
    return turns


def _replies(reply: Sequence[Stretch], user: Sequence[Stretch]) -> list[Talk]:
    found: list[list[Stretch]] = []
    for stretch in reply:
        if found and _goes_on(found[-1], stretch, user):
            found[-1].append(stretch)
        else:
            found.append([stretch])
    return [Talk("reply", tuple(stretches)) for stretches in found]


def _goes_on(so_far: Sequence[Stretch], following: Stretch, user: Sequence[Stretch]) -> bool:
    """Whether a reply's sound belongs to what came before it: not if the user spoke, or had just spoken over it."""
    start_ms, end_ms = so_far[0].start_ms, so_far[-1].end_ms
    pause_ms = following.start_ms - end_ms
    spoke = any(
        each.start_ms < following.start_ms
        and (each.end_ms > end_ms or (each.start_ms > start_ms and each.end_ms + STOPPED_MS >= end_ms))
        for each in user
    )
    return pause_ms < STOPPED_MS or (pause_ms < PAUSE_MS and not spoke)


def _interjection(reply: Talk, user: Sequence[Stretch]) -> bool:
    """Whether a reply is a short sound in the midst of an utterance that goes on."""
    if reply.end_ms - reply.start_ms > INTERJECTION_MS:
        return False
    place = next((n for n, each in enumerate(user) if each.start_ms < reply.start_ms < each.end_ms), None)
    if place is None:
        return False
    end_ms = user[place].end_ms
    for following in user[place + 1 :]:
        if following.start_ms - end_ms > WENT_ON_MS:
            break
        end_ms = following.end_ms
    return reply.end_ms < end_ms


def _utterances(user: Sequence[Stretch], answers: Sequence[Talk]) -> list[Talk]:
    found: list[list[Stretch]] = []
    for stretch in user:
        if found and not _apart(found[-1][-1], stretch, answers):
            found[-1].append(stretch)
        else:
            found.append([stretch])
    return [Talk("user", tuple(stretches)) for stretches in found]


def _apart(last: Stretch, following: Stretch, answers: Sequence[Talk]) -> bool:
    """Whether two stretches of the user's speech are two utterances."""
    pause_ms = following.start_ms - last.end_ms
    if pause_ms >= PAUSE_MS or any(last.start_ms < each.start_ms <= following.start_ms for each in answers):
        return True
    below = next((each for each in answers if each.start_ms < last.start_ms < each.end_ms), None)
    if below is None or below.end_ms <= last.end_ms + STOPPED_MS:
        return False
    return following.start_ms >= below.end_ms or pause_ms >= OVER_PAUSE_MS


def _under(utterance: Talk, replies: Sequence[Talk]) -> Talk | None:
    """The reply that was audible when an utterance began."""
    return next((each for each in replies if each.start_ms < utterance.start_ms < each.end_ms), None)
