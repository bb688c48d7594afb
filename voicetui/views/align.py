"""Which turns of two sessions belong together: by their order and by the words of their users.

A sequence alignment of least cost (Needleman & Wunsch, "A general method applicable to the search for similarities in
the amino acid sequence of two proteins", 1970) over whole turns: two cost the share of words they do not have in
common, a turn without a counterpart and one that is two on the other side have their price.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

ALIKE = 0.5
"""Two turns say the same thing if at least this share of their words stands in both, in the same order."""
RELATED = 0.5
"""Two sessions are the same conversation if at least this share of the shorter one's turns have a like in the other."""
SKIP = 0.5
"""What it costs to leave a turn alone: two left alone cost as much as pairing two that have no word in common."""
SPLIT = 0.25
"""What it costs to take two turns for one, beside their distance."""
WANDER = 30
"""How many turns the places of two that belong together may lie apart, beyond the difference in number."""
_TIE = 1e-6

Words = tuple[str, ...]
Readings = tuple[Words, ...]
"""What may have been said in one utterance: its last reading is the whole of it."""
By = Literal["words", "order"]


class Match(msgspec.Struct, frozen=True):
    """Turns that belong together, by their places; one side is empty where the other has no counterpart.

    ``alike`` is the share of words in common, 0 to 1. ``by``: their words, or only their order, between two that match
    by their words or in another conversation.
    """

    one: tuple[int, ...]
    other: tuple[int, ...]
    alike: float = 0.0
    by: By = "words"

    @property
    def both(self) -> bool:
        """Whether there is something on both sides."""
        return bool(self.one and self.other)


class Alignment(msgspec.Struct, frozen=True):
    """The matches in order. ``related``: the two are the same conversation; else all pairs are by order."""

    matches: tuple[Match, ...]
    related: bool


def align(one: Sequence[Readings], other: Sequence[Readings], same_sound: bool = False) -> Alignment:
    """Pair the turns of two sessions, given the normalised words of each.

    One that was said in parts, or whose speaker asked again, has several readings: the likest count.  Turns without a
    counterpart between two matches are paired by their order where there are as many on either side.
    Two sessions with too few turns alike are different conversations: their turns are paired by order alone, the
    longer one's last ones not at all. But where the ``same_sound`` became as many turns, they are the same
    turns, whatever was understood of them, if anything.
    """
    matches = _align(one, other)
    shorter = min(len(one), len(other))
    covered = min(
        sum(len(match.one) for match in matches if match.both), sum(len(match.other) for match in matches if match.both)
    )
    if not shorter:
        return Alignment(tuple(matches), False)
    if covered < RELATED * shorter:
        return Alignment(tuple(_by_order(one, other)), same_sound and len(one) == len(other))
    return Alignment(tuple(_fill(matches, one, other)), True)


def alike(one: Readings, other: Readings) -> float:
    """The share of words in common of the likest readings, 0 to 1; 0 where either has no words."""
    return max((_share(mine, theirs) for mine in one for theirs in other), default=0.0)


def _share(one: Words, other: Words) -> float:
    return _in_common(one, other) / max(len(one), len(other)) if one and other else 0.0


def _in_common(one: Words, other: Words) -> int:
    """How many words stand in both lists in the same order.

    The longest common subsequence, a bit for each word of ``one`` (Crochemore et al., "A fast and practical bit-vector
    algorithm for the longest common subsequence problem", 2001).
    """
    places: dict[str, int] = {}
    for place, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(one)) - 1
    unused = every
    for word in other:
        taken = unused & places.get(word, 0)
        unused = ((unused + taken) | (unused - taken)) & every
    return len(one) - unused.bit_count()


class _Alike:
    """Shares of words in common, each found once; what is below ``ALIKE`` is 0."""

    def __init__(self) -> None:
        self._known: dict[tuple[Words, Words], int] = {}

    def of(self, one: Readings, other: Readings) -> float:
        """The share of the likest readings."""
        if len(one) == 1 and len(other) == 1:
            return self._share(one[0], other[0])
        return max(self._share(mine, theirs) for mine in one for theirs in other)

    def of_two(self, first: Readings, second: Readings, whole: Readings) -> float:
        """The share of two turns together and one; 0 where one of them alone is as like to it."""
        one, two, all_of_it = first[-1], second[-1], whole[-1]
        longest = max(len(one) + len(two), len(all_of_it))
        if not one or not two or self._count(one, all_of_it) + self._count(two, all_of_it) < ALIKE * longest:
            return 0.0
        share = self._share(one + two, all_of_it)
        return share if share > max(self.of(first, whole), self.of(second, whole)) else 0.0

    def _share(self, one: Words, other: Words) -> float:
        longer = max(len(one), len(other))
        return self._count(one, other) / longer if self._count(one, other) >= ALIKE * longer > 0 else 0.0

    def _count(self, one: Words, other: Words) -> int:
        count = self._known.get((one, other))
        if count is None:
            count = self._known[one, other] = _in_common(one, other)
        return count


def _align(one: Sequence[Readings], other: Sequence[Readings]) -> list[Match]:
    """The alignment of least cost; of equal ones that which pairs soonest.

    What it leaves alone on both sides stands together where that costs no more.
    """
    share = _Alike()
    costs = [[math.inf] * (len(other) + 1) for _ in range(len(one) + 1)]
    costs[-1][-1] = 0.0
    steps: dict[tuple[int, int], tuple[Match, ...]] = {}
    reach = WANDER + abs(len(one) - len(other))
    for i in range(len(one), -1, -1):
        for j in range(min(len(other), i + reach), max(0, i - reach) - 1, -1):
            if i < len(one) or j < len(other):
                costs[i][j], steps[i, j] = _cheapest(costs, one, other, i, j, share)
    matches: list[Match] = []
    i = j = 0
    while (i, j) in steps:
        for step in steps[i, j]:
            matches.append(step)
            i, j = i + len(step.one), j + len(step.other)
    return matches


def _cheapest(
    costs: list[list[float]], one: Sequence[Readings], other: Sequence[Readings], i: int, j: int, share: _Alike
) -> tuple[float, tuple[Match, ...]]:
    """What the turns at the places ``i`` and ``j`` are to each other at the least cost of all from there on."""
    mine, theirs = Match((i,), ()), Match((), (j,))
    left, right = len(one) - i, len(other) - j
    found: list[tuple[float, tuple[Match, ...]]] = []
    if left and right:
        common = share.of(one[i], other[j])
        if common:
            found.append((costs[i + 1][j + 1] + 1 - common, (Match((i,), (j,), common),)))
        joined = share.of_two(one[i], one[i + 1], other[j]) if left > 1 else 0.0
        if joined:
            found.append((costs[i + 2][j + 1] + 1 - joined + SPLIT, (Match((i, i + 1), (j,), joined),)))
        joined = share.of_two(other[j], other[j + 1], one[i]) if right > 1 else 0.0
        if joined:
            found.append((costs[i + 1][j + 2] + 1 - joined + SPLIT, (Match((i,), (j, j + 1), joined),)))
    if left and right:
        found.append((costs[i + 1][j + 1] + 2 * SKIP - _TIE, (mine, theirs)))
    if left:
        found.append((costs[i + 1][j] + SKIP, (mine,)))
    if right:
        found.append((costs[i][j + 1] + SKIP, (theirs,)))
    return min(found, key=lambda each: each[0])


def _by_order(one: Sequence[Readings], other: Sequence[Readings]) -> list[Match]:
    shorter = min(len(one), len(other))
    pairs = [Match((place,), (place,), alike(one[place], other[place]), "order") for place in range(shorter)]
    pairs += [Match((place,), ()) for place in range(shorter, len(one))]
    return pairs + [Match((), (place,)) for place in range(shorter, len(other))]


def _fill(matches: Sequence[Match], one: Sequence[Readings], other: Sequence[Readings]) -> list[Match]:
    """Pair by order what is left between two matches, where it is as much on either side."""
    filled: list[Match] = []
    alone: list[Match] = []
    for match in [*matches, None]:
        if match is not None and not match.both:
            alone.append(match)
            continue
        left = [place for each in alone for place in each.one]
        right = [place for each in alone for place in each.other]
        if len(left) == len(right):
            pairs = zip(left, right, strict=True)
            filled += [Match((i,), (j,), alike(one[i], other[j]), "order") for i, j in pairs]
        else:
            filled += alone
        alone = []
        filled += [match] if match is not None else []
    return filled
