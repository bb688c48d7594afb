"""A journal as what it is: facts, and what was decided on each. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

import msgspec

from voicetui.events import Entry, Order
from voicetui.events.listen import SpeechPaused, SpeechStarted
from voicetui.events.orders import Commit, OpenUtterance, Reject, Revise
from voicetui.events.session import Said

_FAR_MS: Final = 60_000.0
"""A time so far ahead of one after it is damaged: sources tell of what was seconds ago at most."""


class Decision(msgspec.Struct, frozen=True):
    """One fact and the orders that followed it. ``told_ms`` is when it was decided on, which may be after its time."""

    entry: Entry
    told_ms: float
    orders: tuple[Order, ...]


class Episode(msgspec.Struct, frozen=True):
    """What was decided from one beginning to the next: the session's, an utterance's, or that of a typed turn.

    ``begins_ms`` is when its first fact was decided on, ``ends_ms`` when the next episode began (None: it is the last).
    ``utterance`` is the one it begins with, if any, ``turn`` the first turn that was committed in it.
    """

    decisions: tuple[Decision, ...]
    begins_ms: float
    ends_ms: float | None
    utterance: int | None
    turn: int | None


def decisions_of(entries: Sequence[Entry]) -> list[Decision]:
    """Every fact of a journal with its orders. Orders before the first fact (a torn beginning) are left out.

    A damaged time is taken to be the soonest after it.
    """
    found: list[tuple[Entry, list[Entry]]] = []
    for entry in entries:
        if not isinstance(entry.body, Order):
            found.append((entry, []))
        elif found:
            found[-1][1].append(entry)
    times_ms = [orders[0].at if orders else _noticed_ms(fact) for fact, orders in found]
    soonest_ms = list(accumulate((ms if math.isfinite(ms) else math.inf for ms in reversed(times_ms)), min))
    decisions, told_ms = [], 0.0
    for (fact, orders), at_ms, after_ms in zip(found, times_ms, reversed(soonest_ms), strict=True):
        if math.isfinite(after_ms):
            told_ms = max(told_ms, at_ms if at_ms <= after_ms + _FAR_MS else after_ms)
        decisions.append(Decision(fact, told_ms, tuple(e.body for e in orders if isinstance(e.body, Order))))
    return decisions


def episodes_of(decisions: Sequence[Decision]) -> list[Episode]:
    """The journal cut where an utterance opened, or a turn was typed into the silence."""
    starts = list(_starts(decisions))
    episodes = []
    for place, (start, utterance) in enumerate(starts):
        end = starts[place + 1][0] if place + 1 < len(starts) else len(decisions)
        part = tuple(decisions[start:end])
        commits = [order for each in part for order in each.orders if isinstance(order, Commit)]
        ends_ms = decisions[end].told_ms if end < len(decisions) else None
        turn = commits[0].basis.turn if commits else None
        episodes.append(Episode(part, part[0].told_ms, ends_ms, utterance, turn))
    return episodes


def _starts(decisions: Sequence[Decision]) -> Iterator[tuple[int, int | None]]:
    newest, is_open = 0, False
    for place, decision in enumerate(decisions):
        begun = next((number for order in decision.orders if (number := _opened(order)) > newest), None)
        if begun is not None or place == 0 or (isinstance(decision.entry.body, Said) and not is_open):
            yield place, begun
        if begun is not None:
            newest, is_open = begun, True
        if any(isinstance(order, (Commit, Reject)) for order in decision.orders):
            is_open = False


def _opened(order: Order) -> int:
    """The utterance that is open with this order, else 0. Words that came late are one that nobody heard begin."""
    return order.utterance if isinstance(order, (OpenUtterance, Revise)) else 0


def _noticed_ms(entry: Entry) -> float:
    return entry.body.noticed_ms if isinstance(entry.body, (SpeechStarted, SpeechPaused)) else entry.at
