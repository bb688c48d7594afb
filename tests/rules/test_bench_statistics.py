"""How sure a difference is: known answers, and nothing invented from too little."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from voicetui.bench.statistics import INTERVAL_FROM_N, Paired, bootstrap_interval, paired, pairs_of


def test_the_median_of_the_differences_not_the_difference_of_the_medians() -> None:
    ones, others = [100.0, 200.0, 900.0], [90.0, 300.0, 100.0]
    assert paired(ones, others) == Paired(n=3, dropped=0, median_ms=10.0)


def test_a_pair_with_a_side_missing_is_dropped_and_counted() -> None:
    assert paired([1.0, None, 3.0, math.nan], [0.0, 0.0, None, 1.0]) == Paired(n=1, dropped=3, median_ms=1.0)


def test_no_pairs_and_all_dropped_give_no_figure() -> None:
    assert paired([], []) == Paired(n=0, dropped=0)
    assert paired([None, math.inf], [1.0, 2.0]) == Paired(n=0, dropped=2)
    assert msgspec.json.decode(msgspec.json.encode(paired([None], [1.0])))["median_ms"] is None


def test_a_constant_difference_is_certain() -> None:
    found = paired([110.0] * 20, [100.0] * 20)
    assert (found.median_ms, found.low_ms, found.high_ms) == (10.0, 10.0, 10.0)


def test_fewer_than_six_pairs_have_no_interval() -> None:
    assert bootstrap_interval([float(n) for n in range(INTERVAL_FROM_N - 1)]) is None
    assert bootstrap_interval([float(n) for n in range(INTERVAL_FROM_N)]) is not None


def test_the_interval_is_that_of_the_order_statistics() -> None:
    """For 1 to 21 the exact 95% interval of the median (binomial) runs from the 6th to the 16th."""
    low, high = bootstrap_interval([float(n) for n in range(1, 22)]) or (0.0, 0.0)
    assert low == pytest.approx(6.5, abs=0.6)
    assert high == pytest.approx(15.5, abs=0.6)


def test_the_interval_covers_the_true_median_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    covered = 0
    for _ in range(200):
        low, high = bootstrap_interval(list(random.normal(50.0, 20.0, 20))) or (0.0, 0.0)
        covered += low <= 50.0 <= high
    assert 0.90 <= covered / 200 <= 1.0


def test_the_same_differences_give_the_same_interval() -> None:
    values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
    assert bootstrap_interval(values) == bootstrap_interval(values)


def test_an_outlier_moves_no_median() -> None:
    calm = paired([10.0] * 10, [0.0] * 10)
    wild = paired([10.0] * 9 + [5000.0], [0.0] * 10)
    assert calm.median_ms == wild.median_ms == 10.0


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError):
        paired([1.0], [])


def test_settings_are_compared_with_the_first_and_with_their_neighbour() -> None:
    assert pairs_of(["none", "clause", "full"]) == [("full", "none"), ("clause", "none"), ("full", "clause")]
    assert pairs_of(["a", "b"]) == [("b", "a")]
