"""Who says what when, and in which setting: the order of a bench's turns. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voicetui.events.session import OverlapChosen, TierChosen


@dataclass(frozen=True, slots=True)
class Arm:
    """One of the settings that are compared: its name, and the facts that choose it, the first of a kind all share."""

    name: str
    choose: tuple[OverlapChosen | TierChosen, ...]

    @property
    def marker(self) -> type[OverlapChosen | TierChosen]:
        """The kind of fact that begins a trial."""
        return type(self.choose[0])


@dataclass(frozen=True, slots=True)
class Trial:
    """One line said once in one setting. ``occurrence`` is shared by the trials that are compared with each other.

    It is None for a trial that only warms up, whose figures are kept apart.
    """

    arm: str
    line: int
    occurrence: int | None


OVERLAP_ARMS = tuple(Arm(mode, (OverlapChosen(mode),)) for mode in ("none", "clause", "full"))


def overlap_arms(tier: str, against: str | None = None) -> tuple[Arm, ...]:
    """The modes on ``tier`` and, if named, everything overlapped on the tier ``against``."""
    if against is None:
        return OVERLAP_ARMS
    own = tuple(Arm(arm.name, (*arm.choose, TierChosen(tier))) for arm in OVERLAP_ARMS)
    return (*own, Arm(f"full on {against}", (OverlapChosen("full"), TierChosen(against))))


def tier_arms(tiers: Sequence[str]) -> tuple[Arm, ...]:
    """A setting for each tier."""
    return tuple(Arm(tier, (TierChosen(tier),)) for tier in tiers)


def interleave(arms: Sequence[str], lines: int, turns: int) -> tuple[Trial, ...]:
    """``turns`` occurrences, each said once in every setting, after one cold trial of each setting.

    Occurrences take the ``lines`` in turn. They are worked through in small groups, each a Latin square (Cochran &
    Cox, "Experimental Designs", 1957, ch. 4): every row says each line of the group once, in settings that shift by one
    from row to row. So no setting always goes first, the trials that are compared lie close together, and nobody is
    asked the same twice running: the second time the tier would find the whole prompt in its cache. (With one line, or
    one occurrence, that cannot be helped.)
    """
    if not arms or lines < 1 or turns < 1:
        raise ValueError("a bench needs settings, lines and turns")
    trials = [Trial(arm, (turns + place) % lines, None) for place, arm in enumerate(arms)]
    first = 0
    for number, size in enumerate(_groups(turns, min(3, lines))):
        order = list(arms) if number % 2 == 0 else list(reversed(arms))
        for row in range(len(arms)):
            for column in range(size):
                occurrence = first + column
                arm = order[(column + row + number // 2) % len(arms)]
                trials.append(Trial(arm, occurrence % lines, occurrence))
        first += size
    return tuple(trials)


def _groups(turns: int, most: int) -> list[int]:
    """Sizes of groups that make up ``turns``: of ``most``, and none of one where two of two do."""
    whole, rest = divmod(turns, most)
    if most == 3 and rest == 1 and whole:
        return [3] * (whole - 1) + [2, 2]
    return [most] * whole + ([rest] if rest else [])
