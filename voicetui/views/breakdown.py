"""Where the gap went: a walk back from the first audible sample along whatever was waited for.

Stages overlap, so a sum of their durations means nothing. The walk takes, at each step, the input that arrived last,
and charges that stage from its own start to its finish; time between an input's arrival and the start of the stage
that uses it is ``unaccounted``. So the parts add up to the gap exactly: all arithmetic is in whole microseconds.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import msgspec

Stage = Literal[
    "endpoint",
    "transcribe",
    "context",
    "tools",
    "first_token",
    "first_answer_token",
    "first_clause",
    "content_gate",
    "synthesize",
    "output",
]
STAGES: tuple[Stage, ...] = get_args(Stage)

_FAR_MS = 1e12
_PROMPT_MS = 2.0
"""A stage that begins this soon after an input arrived was waiting for that one."""


class StagesMs(msgspec.Struct, frozen=True, gc=False):
    """Milliseconds of the gap by stage: 0 for a stage nothing waited for, None where it cannot be known."""

    endpoint: float | None = None
    transcribe: float | None = None
    context: float | None = None
    tools: float | None = None
    first_token: float | None = None
    first_answer_token: float | None = None
    first_clause: float | None = None
    content_gate: float | None = None
    synthesize: float | None = None
    output: float | None = None
    unaccounted: float | None = None


class Step(msgspec.Struct, frozen=True):
    """A stage's work on the way to the ear, and the work it waited for. Times on the session clock, ms.

    ``started_ms`` None: it began when its last input arrived.  ``finished_ms`` None: the journal does not say.
    """

    stage: Stage
    started_ms: float | None
    finished_ms: float | None
    inputs: tuple[Step, ...] = ()


def finite(ms: float | None) -> float | None:
    """``ms``, or None where it, or the microseconds it is, are no finite number."""
    return ms if ms is not None and math.isfinite(ms * 1000) else None


def difference_ms(later_ms: float, earlier_ms: float) -> float:
    """Later minus earlier, both rounded to whole microseconds first, so that differences add up."""
    return (_us(later_ms) - _us(earlier_ms)) / 1000


def walk_back(last: Step, user_end_ms: float) -> StagesMs:
    """The parts of the time from ``user_end_ms`` to the finish of ``last``, which must be known; they add up to it.

    A ``last`` that finished before ``user_end_ms`` (a reply over the user's speech) charges no stage; all is
    unaccounted.
    """
    assert last.finished_ms is not None
    floor, end = _us(user_end_ms), _us(last.finished_ms)
    spent_us: dict[Stage, int] = dict.fromkeys(STAGES, 0)
    unaccounted_us = min(0, end - floor)
    unknown: set[Stage] = set()
    step: Step | None = last
    while step is not None and end > floor:
        source = _last_arrived(step)
        start = _start_us(step, source, floor, end)
        if start is None:
            unknown.add(step.stage)
            start = end
        spent_us[step.stage] += end - start
        arrival = floor
        if source is not None:
            arrival = start if source.finished_ms is None else _clip(_us(source.finished_ms), floor, start)
        unaccounted_us += start - arrival
        step, end = source, arrival
    parts = {stage: None if stage in unknown else us / 1000 for stage, us in spent_us.items()}
    return StagesMs(**parts, unaccounted=unaccounted_us / 1000)


def _start_us(step: Step, source: Step | None, floor: int, end: int) -> int | None:
    """When the step's stage began, within ``floor`` to ``end``; None where that cannot be known."""
    if step.finished_ms is None:
        return None
    if step.started_ms is not None:
        return _clip(_us(step.started_ms), floor, end)
    if source is None or source.finished_ms is None:
        return None
    return _clip(_us(source.finished_ms), floor, end)


def _last_arrived(step: Step) -> Step | None:
    """The input of a step that arrived last; of two that arrived together the one named first."""
    return max(step.inputs, key=lambda source: _arrival_ms(source, step.started_ms), default=None)


def _arrival_ms(step: Step, used_ms: float | None) -> float:
    """When a step's result arrived that was used at ``used_ms``.

    One the journal does not know came no sooner than what it waited for; and it came just before it was used, unless
    something known came at that very time.
    """
    if step.finished_ms is not None:
        return step.finished_ms
    soonest_ms = max((_arrival_ms(source, step.started_ms) for source in step.inputs), default=-math.inf)
    return soonest_ms if used_ms is None else max(soonest_ms, used_ms - _PROMPT_MS)


def _clip(us: int, low: int, high: int) -> int:
    return min(max(us, low), high)


def _us(ms: float) -> int:
    """Whole microseconds; of a time that cannot be, as in a damaged journal, the furthest there is."""
    return round(max(-_FAR_MS, min(_FAR_MS, ms)) * 1000)
