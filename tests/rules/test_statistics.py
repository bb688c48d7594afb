"""Quantiles, spread and rhythm, and what too few or failed turns do to them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicetui.views.statistics import Stats, quantile, reliability, rhythm, split_warm, statistics


def test_no_values_give_only_a_count() -> None:
    assert statistics([]) == Stats(n=0)


def test_one_value_has_no_spread_and_no_rhythm() -> None:
    assert statistics([400.0]) == Stats(n=1, p50=400.0, max=400.0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200), st.floats(0, 1))
def test_quantiles_are_the_linear_ones(values: list[float], q: float) -> None:
    assert quantile(values, q) == pytest.approx(float(np.quantile(values, q, method="linear")), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(
    ("n", "p95", "p99"), [(19, False, False), (20, True, False), (99, True, False), (100, True, True)]
)
def test_the_tail_is_quoted_only_from_enough_turns(n: int, p95: bool, p99: bool) -> None:
    stats = statistics([float(value) for value in range(n)])
    assert (stats.p95 is not None, stats.p99 is not None, stats.max) == (p95, p99, n - 1)


def test_rhythm_is_the_mean_change_between_consecutive_turns_with_the_largest() -> None:
    assert statistics([400.0, 500.0, 300.0]).rhythm == 150
    change = rhythm([400.0, 500.0, 300.0])
    assert change is not None and (change.mean, change.largest) == (150, 200)


def test_rhythm_does_not_compare_turns_of_different_modes() -> None:
    values = [400.0, 420.0, 1900.0, 1950.0]
    assert statistics(values, ["full", "full", "none", "none"]).rhythm == 35
    assert statistics(values[1:3], ["full", "none"]).rhythm is None


def test_what_is_no_number_is_left_out() -> None:
    assert statistics([math.nan, 300.0, math.inf, 500.0]).n == 2
    assert statistics([math.nan]).p50 is None


def test_failures_stay_out_of_the_percentiles_and_are_told_beside_them() -> None:
    answered = [18.0] * 25
    stats, trust = statistics(answered), reliability(answered, failures=5)
    assert (stats.n, stats.p50, stats.p95) == (25, 18.0, 18.0)
    assert trust.failure_rate == pytest.approx(1 / 6)
    assert not trust.comparable
    assert trust.adjusted_p95 == math.inf


def test_without_failures_a_sample_is_comparable() -> None:
    trust = reliability([18.0] * 25, failures=0)
    assert (trust.comparable, trust.failure_rate, trust.adjusted_p95) == (True, 0, 18.0)
    assert reliability([], 0).failure_rate is None


def test_cold_turns_are_told_apart_from_warm_ones() -> None:
    cold, warm = split_warm([5000.0] * 10 + [300.0] * 90, warm_up=10)
    assert (cold.n, cold.p50) == (10, 5000.0)
    assert (warm.n, warm.p95) == (90, 300.0)


def test_a_quantile_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        quantile([], 0.5)
