"""Which sample of the recorded tracks belongs to which time of the session."""

from __future__ import annotations

import math
from bisect import bisect_right

from voicetui.events import Entry
from voicetui.events.sound import RATE_HZ, ClockMapped

_PER_MS = RATE_HZ / 1e3


class SampleClock:
    """Folds a journal's ``ClockMapped`` facts; straight lines between them, the nominal rate before and after.

    Without any the track is taken to begin with the session.
    """

    def __init__(self) -> None:
        self._at_ms: list[float] = []
        self._samples: list[float] = []

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order. A map that runs backwards, or has lost its time, is none."""
        body = entry.body
        if not isinstance(body, ClockMapped) or not math.isfinite(entry.at):
            return
        if not self._at_ms or (entry.at > self._at_ms[-1] and body.sample > self._samples[-1]):
            self._at_ms.append(entry.at)
            self._samples.append(float(body.sample))

    def sample_at(self, at_ms: float) -> int:
        """The sample that was at the converter at ``at_ms``; negative before the track began."""
        return round(_between(self._at_ms, self._samples, at_ms, _PER_MS))

    def at_ms(self, sample: int) -> float:
        """When ``sample`` was at the converter, ms on the session clock."""
        return _between(self._samples, self._at_ms, float(sample), 1 / _PER_MS)


def _between(sources: list[float], targets: list[float], value: float, slope: float) -> float:
    if not sources:
        return value * slope
    place = bisect_right(sources, value)
    if 0 < place < len(sources):
        share = (value - sources[place - 1]) / (sources[place] - sources[place - 1])
        return targets[place - 1] + share * (targets[place] - targets[place - 1])
    nearest = min(max(place - 1, 0), len(sources) - 1)
    return targets[nearest] + (value - sources[nearest]) * slope
