"""Sample rates, sample formats, levels.

Live sound goes through :class:`ResampleStream`, a polyphase windowed-sinc filter: it holds back about 1 ms and hands
out a steady number of samples. (soxr's streams hold back 2 to 20 ms, in lumps, wherever they filter aliases out.)
Whole arrays go through soxr's high quality.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
import soxr
from numpy.typing import NDArray

from voicetui.ports import RATE_HZ, Pcm16, PcmFloat, SoundError

LOWEST_HZ: Final = 4_000
HIGHEST_HZ: Final = 384_000
"""Rates outside these are taken for a mistake in a header or a device's report."""

SILENCE_DBFS: Final = -120.0
"""The level of digital silence, so that levels stay finite."""

_STOP_DB: Final = 70.0
"""How far aliases are pushed down."""

_SLOPE: Final = 0.12
"""Width of the filter's slope as a part of the lower of the two rates: a delay of about 1.2 ms at 16 kHz."""

_OVER: Final = 0.03
"""How far the slope reaches beyond half the lower rate, as a part of it: from 6.6 to 8.5 kHz at 16 kHz."""


def check_rate(rate_hz: float) -> int:
    """``rate_hz`` as an int. Raises ``SoundError`` when it is no sane sample rate."""
    if not math.isfinite(rate_hz) or not LOWEST_HZ <= rate_hz <= HIGHEST_HZ:
        raise SoundError(f"a sample rate of {rate_hz:,.0f} Hz, where {LOWEST_HZ:,} to {HIGHEST_HZ:,} Hz make sense")
    return round(rate_hz)


def resampled_count(count: int, from_hz: int, to_hz: int) -> int:
    """How many samples ``count`` samples become: ``round(count * to_hz / from_hz)``, halves up."""
    return (2 * count * to_hz + from_hz) // (2 * from_hz)


class ResampleStream:
    """Mono float32 sound from one rate to another, piece by piece.

    Output sample ``k`` is the input at time ``k / to_hz``: its delay is taken out, so sample numbers stay true.
    What cannot be known yet is held back (about 1 ms); :meth:`flush` hands it out, and the total is then
    :func:`resampled_count`.
    """

    def __init__(self, from_hz: int, to_hz: int = RATE_HZ) -> None:
        """Both rates in Hz. Raises ``SoundError`` for rates outside 4 to 384 kHz."""
        self.from_hz = check_rate(from_hz)
        self.to_hz = check_rate(to_hz)
        divisor = math.gcd(self.from_hz, self.to_hz)
        self._up = self.to_hz // divisor
        self._down = self.from_hz // divisor
        self._taps = _filter_bank(self.from_hz, self.to_hz, self._up)
        self._before = self._taps.shape[1] // 2 - 1
        """Input samples before the one at or just below an output's instant that its filter needs."""
        self._held: PcmFloat = np.zeros(self._before, np.float32)
        self._held_from = -self._before
        self._taken = 0
        self._given = 0

    @property
    def delay_ms(self) -> float:
        """How much of the newest input is held back, at most."""
        return float(self._taps.shape[1]) / 2 / self.from_hz * 1e3

    def feed(self, samples: PcmFloat) -> PcmFloat:
        """float32 [n] at ``from_hz`` (any n >= 0) to the float32 [m] at ``to_hz`` that can be known so far."""
        if self.from_hz == self.to_hz:
            self._taken += len(samples)
            self._given = self._taken
            return samples.astype(np.float32, copy=True)
        self._held = np.concatenate((self._held, samples.astype(np.float32, copy=False)))
        self._taken += len(samples)
        after = self._taps.shape[1] - 1 - self._before
        # Output k needs input up to floor(k * down / up) + after.
        known = ((self._taken - after) * self._up - 1) // self._down + 1 if self._taken > after else 0
        return self._make(max(known, self._given))

    def flush(self) -> PcmFloat:
        """float32 [m]: the rest, as if silence followed. The stream is then as new."""
        total = resampled_count(self._taken, self.from_hz, self.to_hz)
        if self.from_hz == self.to_hz:
            rest: PcmFloat = np.zeros(0, np.float32)
        else:
            self._held = np.concatenate((self._held, np.zeros(self._taps.shape[1] + 1, np.float32)))
            rest = self._make(max(total, self._given))
        self._held = np.zeros(self._before, np.float32)
        self._held_from = -self._before
        self._taken = self._given = 0
        return rest

    def _make(self, until: int) -> PcmFloat:
        """Outputs ``_given`` to ``until``."""
        if until <= self._given:
            return np.zeros(0, np.float32)
        position = np.arange(self._given, until, dtype=np.int64) * self._down
        first = position // self._up - self._before - self._held_from
        windows = np.lib.stride_tricks.sliding_window_view(self._held, self._taps.shape[1])
        made: PcmFloat = np.einsum("ij,ij->i", windows[first], self._taps[position % self._up])
        self._given = until
        keep_from = (until * self._down) // self._up - self._before
        drop = min(max(0, keep_from - self._held_from), len(self._held))
        self._held = self._held[drop:]
        self._held_from += drop
        return made


@lru_cache(maxsize=16)
def _filter_bank(from_hz: int, to_hz: int, phases: int) -> NDArray[np.float32]:
    """float32 [phases, taps]: a Kaiser-windowed sinc low-pass, one row for each position between two inputs.

    Kaiser's formulas for the window's shape and length: Oppenheim & Schafer, Discrete-Time Signal Processing, 7.6.
    """
    lower_hz = min(from_hz, to_hz)
    slope_hz = _SLOPE * lower_hz
    cutoff_hz = lower_hz * (0.5 + _OVER) - slope_hz / 2
    beta = 0.1102 * (_STOP_DB - 8.7)
    half = math.ceil((_STOP_DB - 8.0) / (2.285 * 2 * math.pi * slope_hz / from_hz) / 2)
    offsets = np.arange(1 - half, half + 1)[None, :] - (np.arange(phases) / phases)[:, None]
    shape = np.i0(beta * np.sqrt(np.clip(1 - (offsets / half) ** 2, 0, 1))) / np.i0(beta)
    bank = np.sinc(2 * cutoff_hz / from_hz * offsets) * shape
    bank /= bank.sum(axis=1, keepdims=True)
    narrow: NDArray[np.float32] = bank.astype(np.float32)
    narrow.setflags(write=False)  # it is shared
    return narrow


def to_mono(samples: NDArray[np.floating] | NDArray[np.integer]) -> PcmFloat:
    """float32 [n] in -1..1 from [n] or [n, channels] (float, or int16/int32 at full scale): channels are averaged."""
    scale = 1.0 if samples.dtype.kind == "f" else 0.5 ** (8 * samples.dtype.itemsize - 1)
    mono = samples if samples.ndim == 1 else samples.mean(axis=1, dtype=np.float64)
    scaled: PcmFloat = (mono * scale).astype(np.float32)
    return scaled


def to_mono16k(samples: NDArray[np.floating] | NDArray[np.integer], rate_hz: float) -> Pcm16:
    """int16 [round(n * 16000 / rate_hz)], 16 kHz mono, from a whole [n] or [n, channels] at ``rate_hz``.

    Raises ``SoundError`` for an insane rate.
    """
    from_hz = check_rate(rate_hz)
    mono = to_mono(samples)
    count = resampled_count(len(mono), from_hz, RATE_HZ)
    if from_hz != RATE_HZ and len(mono):
        mono = soxr.resample(mono, from_hz, RATE_HZ, quality="HQ")
    return to_int16(fit_length(mono, count))


def fit_length(samples: PcmFloat, count: int) -> PcmFloat:
    """``samples`` float32 [n] cut, or filled up with silence, to [count]."""
    if len(samples) >= count:
        return samples[:count]
    return np.concatenate((samples, np.zeros(count - len(samples), np.float32)))


def to_int16(samples: PcmFloat) -> Pcm16:
    """int16 [n] from float32 [n] in -1..1; what is louder is clipped."""
    whole: Pcm16 = np.clip(np.rint(samples * np.float32(32768.0)), -32768, 32767).astype(np.int16)
    return whole


def to_float(samples: Pcm16) -> PcmFloat:
    """float32 [n] in -1..1 from int16 [n]."""
    return samples.astype(np.float32) / np.float32(32768.0)


def level_dbfs(samples: Pcm16 | PcmFloat) -> float:
    """RMS level of int16 or float32 [n] in dB (full-scale square wave 0, sine -3); silence and n = 0 are -120."""
    if len(samples) == 0:
        return SILENCE_DBFS
    scale = 32768.0 if samples.dtype == np.int16 else 1.0
    power = float(np.mean(np.square(samples.astype(np.float64) / scale)))
    return max(SILENCE_DBFS, 10 * math.log10(power)) if power > 0 else SILENCE_DBFS


def peaks_dbfs(pieces: Pcm16) -> tuple[float, ...]:
    """The largest sample of each row of int16 [m, n] in dB (full scale 0); silence is -120."""
    peaks = np.max(np.abs(pieces.astype(np.float32)), axis=1, initial=1e-6 * 32768)
    return tuple((20 * np.log10(peaks / 32768)).tolist())


def levels_dbfs(pieces: Pcm16) -> tuple[float, ...]:
    """``level_dbfs`` of each row of int16 [pieces, n], n > 0."""
    power = np.mean(np.square(pieces.astype(np.float64) / 32768.0), axis=1)
    levels: list[float] = (10 * np.log10(np.maximum(power, 10 ** (SILENCE_DBFS / 10)))).tolist()
    return tuple(levels)
