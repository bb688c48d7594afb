"""How sure a difference between two settings is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np

from voicetui.views.statistics import quantile

RESAMPLES = 10_000
SEED = 20_260_101
INTERVAL_FROM_N = 6
"""Fewer pairs allow no 95% interval of a median: even from the least to the largest of n values covers it with
probability 1 - 2**(1 - n) only, 93.75% for five (David & Nagaraja, "Order Statistics", 2003, section 7.1)."""


class Paired(msgspec.Struct, frozen=True):
    """The differences of ``n`` pairs, ms: their median and its 95% interval. ``dropped`` pairs had no difference.

    None where ``n`` is too small to say.
    """

    n: int
    dropped: int
    median_ms: float | None = None
    low_ms: float | None = None
    high_ms: float | None = None


def paired(ones: Sequence[float | None], others: Sequence[float | None]) -> Paired:
    """``ones`` minus ``others``, pair by pair; a pair with a side that is None or no finite number is dropped.

    Raises ``ValueError`` for sequences of different lengths.
    """
    both = list(zip(ones, others, strict=True))
    differences = [
        one - other
        for one, other in both
        if one is not None and other is not None and math.isfinite(one) and math.isfinite(other)
    ]
    dropped = len(both) - len(differences)
    if not differences:
        return Paired(0, dropped)
    interval = bootstrap_interval(differences)
    low, high = interval if interval is not None else (None, None)
    return Paired(len(differences), dropped, quantile(differences, 0.5), low, high)


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95% percentile interval of the median of ``values``; None for fewer than ``INTERVAL_FROM_N``.

    Efron & Tibshirani, "An Introduction to the Bootstrap" (1993), ch. 13: the medians of ``RESAMPLES`` samples drawn
    from the values with replacement, and their quantiles at 2.5% and 97.5%. The percentile form, not BCa: the jackknife
    that BCa's acceleration needs is inconsistent for a median (ibid., section 11.6). The generator is seeded: the same
    values give the same interval.
    """
    if len(values) < INTERVAL_FROM_N:
        return None
    drawn = np.random.default_rng(SEED).choice(np.asarray(values, np.float64), (RESAMPLES, len(values)))
    low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
    return float(low), float(high)


def pairs_of(names: Sequence[str]) -> list[tuple[str, str]]:
    """Which settings are compared, (one, other): each with the first, then each with the one before, the last first."""
    first, *rest = names
    against_first = [(name, first) for name in reversed(rest)]
    neighbours = [(after, before) for before, after in pairwise(names)]
    return list(dict.fromkeys([*against_first, *reversed(neighbours)]))
