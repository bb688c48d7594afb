"""How loud it is, hop by hop: the 5 ms energy track that onsets, ends and the noise floor are read from. Pure."""

from __future__ import annotations

from collections import deque
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voicetui.ports import RATE_HZ, Pcm16

Levels: TypeAlias = NDArray[np.float64]

HOP_SAMPLES: Final = 80
"""Samples in one hop: 5 ms at 16 kHz."""
SILENCE_DBFS: Final = -120.0
"""The level given to digital silence."""

_FULL_SCALE: Final = 32768.0
_OFFSET_MEMORY_S: Final = 1.0


def hop_levels(samples: Pcm16, offset: float = 0.0) -> Levels:
    """RMS level in dBFS of each whole hop of ``samples`` (int16 [n]), ``offset`` (in int16 steps) taken off first.

    Full scale is 32768, so a full-scale sine reads -3.01. Returns float64 [n // 80], never below ``SILENCE_DBFS``.
    """
    hops = samples[: samples.size // HOP_SAMPLES * HOP_SAMPLES].astype(np.float64).reshape(-1, HOP_SAMPLES)
    power = np.mean(np.square((hops - offset) / _FULL_SCALE), axis=1)
    return np.asarray(10.0 * np.log10(np.maximum(power, 10.0 ** (SILENCE_DBFS / 10.0))), dtype=np.float64)


def mean_level(levels: Levels, range_db: float = 30.0) -> float:
    """The power mean in dBFS of the ``levels`` (float64 [n]) within ``range_db`` of the loudest; silence for none."""
    if not levels.size:
        return SILENCE_DBFS
    loud = levels[levels >= levels.max() - range_db]
    return float(10.0 * np.log10(np.mean(10.0 ** (loud / 10.0))))


class LevelTrack:
    """The newest hop levels of a stream fed in pieces of any length, addressed by sample number.

    A constant offset (a cheap card's DC) is estimated over about a second and taken off.  Zeros are a gate or a mute
    and not the card: they are silent, and say nothing of its offset.
    """

    def __init__(self, kept_hops: int) -> None:
        self._levels: deque[float] = deque(maxlen=kept_hops)
        self._rest: Pcm16 = np.zeros(0, np.int16)
        self._samples = 0
        self._offset = 0.0
        self._offset_samples = 0

    def feed(self, samples: Pcm16) -> Levels:
        """Take the next ``samples`` (int16 [n]); the levels of the hops they completed, float64 [m]."""
        if samples.any():
            self._offset_samples = min(self._offset_samples + samples.size, int(_OFFSET_MEMORY_S * RATE_HZ))
            share = min(1.0, samples.size / self._offset_samples)
            self._offset += share * (float(np.mean(samples)) - self._offset)
        whole = np.concatenate((self._rest, samples))
        levels = hop_levels(whole, self._offset)
        levels[~whole[: levels.size * HOP_SAMPLES].reshape(-1, HOP_SAMPLES).any(axis=1)] = SILENCE_DBFS
        self._rest = whole[levels.size * HOP_SAMPLES :]
        self._samples += samples.size
        self._levels.extend(levels)
        return levels

    def clear(self) -> None:
        """Forget every level; sample numbers go on, and the next hop begins with the next sample."""
        self._levels.clear()
        self._rest = self._rest[:0]

    def between(self, start_sample: int, end_sample: int) -> tuple[Levels, int]:
        """The kept hops from ``start_sample`` to ``end_sample``: levels, float64 [m], and the first one's sample."""
        newest = self._samples - self._rest.size
        oldest = newest - len(self._levels) * HOP_SAMPLES
        first = max(0, -((oldest - start_sample) // HOP_SAMPLES))
        last = max(first, (min(end_sample, newest) - oldest) // HOP_SAMPLES)
        return np.array(self._levels, dtype=np.float64)[first:last], oldest + first * HOP_SAMPLES
