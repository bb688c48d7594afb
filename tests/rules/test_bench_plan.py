"""The order of a bench: everybody gets the same, nobody always goes first."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from voicetui.bench.plan import Trial, interleave

MODES = ("none", "clause", "full")
SIZES = [(lines, turns) for lines in (1, 2, 3, 5, 7) for turns in (1, 2, 3, 4, 5, 20, 21)]


def measured(trials: tuple[Trial, ...]) -> list[Trial]:
    return [trial for trial in trials if trial.occurrence is not None]


@pytest.mark.parametrize(("lines", "turns"), SIZES)
def test_every_occurrence_is_said_once_in_every_mode_on_one_line(lines: int, turns: int) -> None:
    trials = measured(interleave(MODES, lines, turns))
    assert Counter(trial.arm for trial in trials) == dict.fromkeys(MODES, turns)
    for number in range(turns):
        same = [trial for trial in trials if trial.occurrence == number]
        assert sorted(trial.arm for trial in same) == sorted(MODES)
        assert {trial.line for trial in same} == {number % lines}


@pytest.mark.parametrize(("lines", "turns"), SIZES)
def test_each_mode_is_warmed_up_once_before_anything_counts(lines: int, turns: int) -> None:
    trials = interleave(MODES, lines, turns)
    assert [trial.arm for trial in trials[:3]] == list(MODES)
    assert all(trial.occurrence is None for trial in trials[:3])
    assert all(trial.occurrence is not None for trial in trials[3:])


def test_no_mode_always_goes_first() -> None:
    firsts: dict[int, str] = {}
    for trial in measured(interleave(MODES, 7, 21)):
        assert trial.occurrence is not None
        firsts.setdefault(trial.occurrence, trial.arm)
    assert Counter(firsts.values()) == {"none": 7, "clause": 7, "full": 7}


@pytest.mark.parametrize("turns", [2, 3, 4, 5, 19, 20, 21])
def test_nobody_is_asked_the_same_twice_running(turns: int) -> None:
    lines = [trial.line for trial in measured(interleave(MODES, 7, turns))]
    assert all(one != other for one, other in pairwise(lines))


def test_what_is_compared_lies_close_together() -> None:
    trials = measured(interleave(MODES, 7, 20))
    for number in range(20):
        places = [place for place, trial in enumerate(trials) if trial.occurrence == number]
        assert places[-1] - places[0] <= 8


def test_no_mode_is_ever_away_for_long() -> None:
    arms = [trial.arm for trial in measured(interleave(MODES, 7, 20))]
    assert all(set(arms[first : first + 6]) == set(MODES) for first in range(len(arms) - 5))


@pytest.mark.parametrize(("arms", "lines", "turns"), [((), 1, 1), (MODES, 0, 1), (MODES, 1, 0)])
def test_a_bench_of_nothing_is_refused(arms: tuple[str, ...], lines: int, turns: int) -> None:
    with pytest.raises(ValueError):
        interleave(arms, lines, turns)
