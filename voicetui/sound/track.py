"""Sound by sample number, and sample numbers by time.

:class:`Track` keeps the newest sound, :class:`ClockLine` maps its samples to the session clock.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from statistics import median
from typing import Final

import numpy as np

from voicetui.ports import RATE_HZ, Pcm16

KEPT_S: Final = 120.0
"""How much sound a track keeps unless told otherwise."""

LIMIT_MS: Final = 500.0
"""Stamps further than this from the counted time are not believed."""

_STEP_MS: Final = 30.0
"""An anchor that is further off than this is believed only when others say the same."""

_STEP_ANCHORS: Final = 3
_STEP_RUN_MS: Final = 100.0
"""How many anchors in a row, over how much sound, must say the same to be believed."""

_DOUBTED: Final = 64
"""How many doubted anchors are remembered."""

_DRIFT: Final = 1e-3
"""The worst believable difference between two clocks, as a part of the time passed (1000 ppm)."""

_WINDOW_MS: Final = 1000.0
"""Anchors closer together than this are smoothed into one knot."""


class Track:
    """A ring of 16 kHz mono int16 samples, indexed by absolute sample number from 0.

    One writer. Reading copies: a reader on another thread gets whole samples as long as it does not ask for the oldest.
    """

    def __init__(self, kept_s: float = KEPT_S, rate_hz: int = RATE_HZ) -> None:
        """Keep the newest ``kept_s`` seconds."""
        self._capacity = max(1, round(kept_s * rate_hz))
        self._ring: Pcm16 = np.zeros(self._capacity, np.int16)
        self._end = 0

    @property
    def end(self) -> int:
        """The number of the next sample: how many there ever were."""
        return self._end

    @property
    def start(self) -> int:
        """The oldest sample kept."""
        return max(0, self._end - self._capacity)

    def append(self, samples: Pcm16) -> int:
        """Add int16 [n], any n >= 0. The number of its first sample."""
        first = self._end
        kept = samples[-self._capacity :]
        self._write(first + len(samples) - len(kept), kept)
        self._end = first + len(samples)
        return first

    def fill(self, count: int) -> int:
        """Add ``count`` samples of silence (none when negative). The number of the first."""
        first = self._end
        kept = min(max(0, count), self._capacity)
        self._write(first + max(0, count) - kept, np.zeros(kept, np.int16))
        self._end = first + max(0, count)
        return first

    def covers(self, start: int, end: int) -> bool:
        """Whether every sample from ``start`` up to ``end`` is kept."""
        return self.start <= start <= end <= self._end

    def read(self, start: int, end: int) -> Pcm16:
        """A copy, always int16 [end - start]: samples that are not kept (too old, not there yet, before 0) are silence.

        Raises ``ValueError`` when ``end < start``, or when more is asked for than the track can keep.
        """
        if end < start:
            raise ValueError(f"cannot read backwards, from sample {start} to {end}")
        if end - start > self._capacity:
            raise ValueError(f"{end - start} samples asked for, and the track keeps {self._capacity}")
        found: Pcm16 = np.zeros(end - start, np.int16)
        first, last = max(start, self.start), min(end, self._end)
        if first >= last:
            return found
        place = first % self._capacity
        head = min(last - first, self._capacity - place)
        found[first - start : first - start + head] = self._ring[place : place + head]
        found[first - start + head : last - start] = self._ring[: last - first - head]
        return found

    def _write(self, first: int, samples: Pcm16) -> None:
        place = first % self._capacity
        head = min(len(samples), self._capacity - place)
        self._ring[place : place + head] = samples[:head]
        self._ring[: len(samples) - head] = samples[head:]


class ClockLine:
    """The line that maps sample numbers to session ms, drawn through anchors (sample, at_ms) as they come.

    Between knots the map is straight, beyond them it goes on at the nominal rate. It never runs backwards. Anchors may
    come with every block or every 10 s.
    """

    def __init__(self, rate_hz: int = RATE_HZ) -> None:
        """``rate_hz`` is the nominal rate of the samples."""
        self._ms_per_sample = 1e3 / rate_hz
        self._samples: list[int] = []
        self._offsets: list[float] = []
        self._window: list[tuple[int, float]] = []
        self._live = 0.0
        self._doubted: list[tuple[int, float]] = []
        self._last_sample = 0
        self._accepted = 0
        self._refused = 0
        self._refused_from = 0
        self._refused_to = 0
        self.rejected = 0
        """How many anchors were not believed."""

    @property
    def anchored(self) -> bool:
        """Whether there is any anchor to go by."""
        return bool(self._samples or self._window)

    @property
    def trusted(self) -> bool:
        """False when the newest anchors contradict the line, one after another: fall back to counting samples."""
        few = self._refused <= _STEP_ANCHORS or self._ms(self._refused_to - self._refused_from) < 2 * _STEP_RUN_MS
        return self.anchored and few

    def add(self, sample: int, at_ms: float) -> bool:
        """Note that ``sample`` was at ``at_ms``. False when that is not (or not yet) believed.

        Not believed: NaN, times or samples that run backwards, times more than 500 ms off the counted time. A step of
        30 to 500 ms is believed when at least three anchors in a row, over 100 ms, agree on it. (Both limits widen by
        1000 ppm of the time since the last anchor.)
        """
        offset = at_ms - sample * self._ms_per_sample
        if not math.isfinite(at_ms) or at_ms < 0 or (self.anchored and sample < self._last_sample):
            return self._refuse(sample)
        if not self.anchored:
            return self._accept(sample, offset)
        slack_ms = _DRIFT * self._ms(sample - self._last_sample)
        off_ms = abs(offset - self._offset(sample))
        if off_ms <= _STEP_MS + slack_ms:
            self._doubted.clear()
            return self._accept(sample, offset)
        self._doubt(sample, offset)
        if len(self._doubted) < _STEP_ANCHORS or self._ms(sample - self._doubted[0][0]) < _STEP_RUN_MS:
            return self._refuse(sample)
        if self._accepted < _STEP_ANCHORS:
            # Only the first one or two anchors say otherwise: those were wrong.
            self._window.clear()
            self._samples.clear()
            self._offsets.clear()
        elif off_ms > LIMIT_MS + slack_ms:
            return self._refuse(sample)
        self._jump(self._doubted[0][0], median(doubted for _, doubted in self._doubted))
        for doubted in self._doubted:
            self._accept(*doubted)
        self._doubted.clear()
        return True

    def restart(self, sample: int, at_ms: float) -> None:
        """Begin a new piece at ``sample``, whatever came before: a device was opened (again)."""
        self._doubted.clear()
        self._jump(sample, at_ms - sample * self._ms_per_sample)
        self._accept(sample, at_ms - sample * self._ms_per_sample)

    def at_ms(self, sample: float) -> float:
        """When ``sample`` was (or will be) at the ADC. Raises ``ValueError`` before the first anchor."""
        return sample * self._ms_per_sample + self._offset(sample)

    def sample_at(self, at_ms: float) -> int:
        """The sample nearest to ``at_ms``, never below 0. Raises ``ValueError`` for no time, and before any anchor."""
        if not math.isfinite(at_ms):
            raise ValueError(f"{at_ms} is no time")
        low, high = 0, max(1, self._last_sample)
        while self.at_ms(high) < at_ms:
            high *= 2
        while high - low > 1:
            middle = (low + high) // 2
            if self.at_ms(middle) <= at_ms:
                low = middle
            else:
                high = middle
        return low if abs(self.at_ms(low) - at_ms) <= abs(self.at_ms(high) - at_ms) else high

    def _refuse(self, sample: int) -> bool:
        self.rejected += 1
        if self._refused == 0:
            self._refused_from = sample
        self._refused += 1
        self._refused_to = sample
        return False

    def _ms(self, samples: int) -> float:
        return samples * self._ms_per_sample

    def _accept(self, sample: int, offset: float) -> bool:
        if self._window and self._ms(sample - self._window[0][0]) >= _WINDOW_MS:
            self._close_window()
        self._window.append((sample, offset))
        self._live = median(seen for _, seen in self._window)
        self._last_sample = sample
        self._accepted += 1
        self._refused = 0
        return True

    def _doubt(self, sample: int, offset: float) -> None:
        """Remember an anchor that is off, as long as such anchors agree with each other."""
        if self._doubted:
            slack_ms = _DRIFT * self._ms(sample - self._doubted[-1][0])
            if abs(offset - self._doubted[-1][1]) > _STEP_MS + slack_ms:
                self._doubted.clear()
        self._doubted.append((sample, offset))
        del self._doubted[:-_DOUBTED]

    def _jump(self, sample: int, offset: float) -> None:
        """From ``sample`` on the line runs at ``offset``; up to there it stays as it was."""
        self._close_window()
        if self._samples and self._samples[-1] < sample - 1:
            self._knot(sample - 1, self._offsets[-1])
        self._knot(sample, offset)

    def _close_window(self) -> None:
        """Make a knot of the window: the middle of its samples, the median of its offsets."""
        if self._window:
            self._knot((self._window[0][0] + self._window[-1][0]) // 2, self._live)
            self._window.clear()

    def _knot(self, sample: int, offset: float) -> None:
        if self._samples and sample <= self._samples[-1]:
            return
        self._offsets.append(self._forward(sample, offset))
        self._samples.append(sample)

    def _forward(self, sample: int, offset: float) -> float:
        """``offset`` at ``sample``, raised where time would run backwards from the last knot."""
        if not self._samples:
            return offset
        return max(offset, self._offsets[-1] - (sample - self._samples[-1]) * self._ms_per_sample)

    def _offset(self, sample: float) -> float:
        """Session ms minus counted ms at ``sample``."""
        samples, offsets = self._samples, self._offsets
        if not samples:
            if not self._window:
                raise ValueError("no sample has been paired with the clock yet")
            return self._live
        if sample <= samples[0]:
            return offsets[0]
        if sample >= samples[-1]:
            if not self._window:
                return offsets[-1]
            # The open window's knot-to-be stands at its newest sample.
            end = max(self._window[-1][0], samples[-1] + 1)
            return _between(sample, samples[-1], offsets[-1], end, self._forward(end, self._live))
        place = bisect_right(samples, sample)
        return _between(sample, samples[place - 1], offsets[place - 1], samples[place], offsets[place])


def _between(sample: float, first: int, first_offset: float, last: int, last_offset: float) -> float:
    share = min(1.0, (sample - first) / (last - first))
    return first_offset + (last_offset - first_offset) * share
