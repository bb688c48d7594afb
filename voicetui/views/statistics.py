"""Figures over many turns: quantiles that stay silent when there are too few, and how uneven the delays are."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import msgspec

P95_FROM_N = 20
P99_FROM_N = 100


class Stats(msgspec.Struct, frozen=True):
    """Quantiles of ``n`` values in the values' own unit. None where ``n`` is too small to say.

    ``rhythm`` is the mean absolute change from one value to the next: people adapt to a steady delay and collide on an
    uneven one.
    """

    n: int
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None
    iqr: float | None = None
    rhythm: float | None = None


class Rhythm(msgspec.Struct, frozen=True):
    """Changes between consecutive values: their mean and the largest."""

    mean: float
    largest: float


class Reliability(msgspec.Struct, frozen=True):
    """What the failures beside a sample mean for it.

    ``comparable`` is False as soon as anything failed: a quantile of the survivors flatters. ``adjusted_p95`` counts
    every failure as an answer that never came, so it is infinite once more than 5% failed.
    """

    n: int
    failures: int
    failure_rate: float | None
    comparable: bool
    adjusted_p95: float | None


def quantile(values: Sequence[float], q: float) -> float:
    """The linear (type 7) quantile of Hyndman & Fan, "Sample Quantiles in Statistical Packages" (1996); 0 <= q <= 1.

    Raises ``ValueError`` for no values.
    """
    if not values:
        raise ValueError("a quantile of nothing")
    ordered = sorted(values)
    place = (len(ordered) - 1) * q
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    if place == below or ordered[below] == ordered[above]:
        return ordered[below]
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def rhythm(values: Sequence[float], modes: Sequence[Hashable] | None = None) -> Rhythm | None:
    """The changes between consecutive values of the same mode; None when there is no such pair."""
    kinds = modes if modes is not None else [None] * len(values)
    pairs = zip(values, values[1:], kinds, kinds[1:], strict=False)
    changes = [abs(after - before) for before, after, mode, next_mode in pairs if mode == next_mode]
    return Rhythm(math.fsum(changes) / len(changes), max(changes)) if changes else None


def statistics(values: Sequence[float], modes: Sequence[Hashable] | None = None) -> Stats:
    """The figures of ``values`` in the order they were measured. What is not a finite number is left out.

    ``modes`` (one for each value) keeps ``rhythm`` from comparing turns of different settings. p95 only from 20
    values, p99 only from 100; a spread or a rhythm needs two.
    """
    kinds = modes if modes is not None else [None] * len(values)
    kept = [(value, mode) for value, mode in zip(values, kinds, strict=True) if math.isfinite(value)]
    numbers = [value for value, _ in kept]
    count = len(numbers)
    if count == 0:
        return Stats(n=0)
    change = rhythm(numbers, [mode for _, mode in kept])
    ordered = sorted(numbers)
    return Stats(
        n=count,
        p50=quantile(ordered, 0.50),
        p95=quantile(ordered, 0.95) if count >= P95_FROM_N else None,
        p99=quantile(ordered, 0.99) if count >= P99_FROM_N else None,
        max=ordered[-1],
        iqr=quantile(ordered, 0.75) - quantile(ordered, 0.25) if count >= 2 else None,
        rhythm=change.mean if change is not None else None,
    )


def reliability(values: Sequence[float], failures: int) -> Reliability:
    """What ``failures`` unanswered attempts mean beside the ``values`` of the answered ones."""
    attempts = len(values) + failures
    adjusted = None
    if attempts >= P95_FROM_N:
        adjusted = quantile([*values, *[math.inf] * failures], 0.95)
    return Reliability(
        n=len(values),
        failures=failures,
        failure_rate=failures / attempts if attempts else None,
        comparable=failures == 0,
        adjusted_p95=adjusted,
    )


def split_warm(values: Sequence[float], warm_up: int) -> tuple[Stats, Stats]:
    """The figures of the first ``warm_up`` values, which were cold, and of the rest; they are never mixed."""
    return statistics(values[:warm_up]), statistics(values[warm_up:])
