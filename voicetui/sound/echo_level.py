"""How much of what was played comes back: when, how loud, and how much of it is left after cancelling."""

from __future__ import annotations

import math
from collections import deque
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voicetui.events.sound import EchoMeasured
from voicetui.ports import RATE_HZ, Pcm16
from voicetui.sound.rates import SILENCE_DBFS
from voicetui.sound.track import Track

FRAME_SAMPLES: Final = RATE_HZ // 100
"""10 ms, the canceller's frame."""

_KEPT_FRAMES: Final = 1000
_AUDIBLE_POWER: Final = 10.0 ** (-50 / 10)
_LEAST_FRAMES: Final = 50
_CHUNK_FRAMES: Final = 20
_QUIET_FRAMES: Final = 60
"""So long after the last sound of the reply nothing of it is left in the room."""

_LOOKED_AT: Final = 5 * RATE_HZ // 2
_EARLIEST: Final = -RATE_HZ // 10
_LATEST: Final = 6 * RATE_HZ // 10
"""An echo is looked for from 100 ms before its DAC stamp (which may be wrong) to 600 ms after it."""

_LOW_HZ, _HIGH_HZ = 300.0, 4000.0
_LEAST_PEAK: Final = 12.0
"""A peak this many times the root mean square of the correlation is an echo that was found: of noise the greatest of
11,000 values is 4 times."""

_USUAL_DELAY: Final = 6


class EchoMeter:
    """Keeps 10 s of levels before and after cancelling, and of the microphone's sound."""

    def __init__(self) -> None:
        self._raw = Track(_KEPT_FRAMES * FRAME_SAMPLES / RATE_HZ)
        self._powers: deque[tuple[float, float]] = deque(maxlen=_KEPT_FRAMES)
        self._since = 0
        self._room_dbfs = SILENCE_DBFS

    def hear(self, first: int, raw: Pcm16, cleaned: Pcm16) -> None:
        """int16 [n] before and after cancelling, from sample ``first`` on; n a multiple of a frame."""
        if first > self._raw.end:
            self._powers.clear()
            self._raw.fill(first - self._raw.end)
        self._raw.append(raw)
        self._powers.extend(zip(_powers(raw).tolist(), _powers(cleaned).tolist(), strict=True))

    def take(self, reference: Track, turn: int) -> EchoMeasured | None:
        """What came back since the last call, by what was played (``reference``, on the same sample numbers).

        None for less than half a second of audible sound.
        """
        end = self._raw.end
        first = max(self._since, end - len(self._powers) * FRAME_SAMPLES)
        frames = (end - first) // FRAME_SAMPLES
        first = end - frames * FRAME_SAMPLES
        self._since = end
        played = _powers(reference.read(first, end))
        audible = played >= _AUDIBLE_POWER
        powers = np.array(self._powers).reshape(-1, 2)[len(self._powers) - frames :]
        self._learn_room(audible, powers[:, 1])
        if np.count_nonzero(audible) < _LEAST_FRAMES:
            return None
        last = first + (int(np.flatnonzero(audible)[-1]) + 1) * FRAME_SAMPLES
        start = max(first, last - _LOOKED_AT)
        delay = echo_delay(self._raw.read(start, max(last, min(end, last + _LATEST))), reference.read(start, last))
        late = _USUAL_DELAY if delay is None else max(0, round(delay / FRAME_SAMPLES))
        heard, left, loud = [], [], []
        for at in range(0, frames - late - _CHUNK_FRAMES + 1, _CHUNK_FRAMES):
            if np.count_nonzero(audible[at : at + _CHUNK_FRAMES]) < _CHUNK_FRAMES // 2:
                continue
            then = powers[at + late : at + late + _CHUNK_FRAMES].mean(axis=0)
            loud.append(_dbfs(float(played[at : at + _CHUNK_FRAMES].mean())))
            heard.append(_dbfs(float(then[0])))
            left.append(_dbfs(float(then[1])))
        if not loud:
            return None
        return EchoMeasured(
            turn=turn,
            delay_ms=None if delay is None else round(delay / RATE_HZ * 1e3, 1),
            played_dbfs=_middle(loud),
            heard_dbfs=_middle(heard),
            left_dbfs=_middle(left),
            room_dbfs=round(self._room_dbfs, 1),
        )

    def _learn_room(self, audible: NDArray[np.bool_], left: NDArray[np.float64]) -> None:
        """The quiet fifth of the frames long after anything was played."""
        last = np.maximum.accumulate(np.where(audible, np.arange(len(audible)), -_QUIET_FRAMES - 1))
        idle = left[np.arange(len(audible)) - last > _QUIET_FRAMES]
        if idle.size:
            self._room_dbfs = _dbfs(float(np.percentile(idle, 20)))


def echo_delay(heard: Pcm16, played: Pcm16) -> int | None:
    """How many samples after it was ``played`` the sound is ``heard`` (int16, beginning at the same instant).

    Negative if before; None if it is not found in there. Generalised cross-correlation with phase transform (Knapp &
    Carter 1976), from 300 to 4000 Hz.
    """
    size = 1 << (len(heard) + len(played)).bit_length()
    spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(played, size))
    frequencies = np.fft.rfftfreq(size, 1 / RATE_HZ)
    spectrum /= np.abs(spectrum) + 1e-9
    spectrum[(frequencies < _LOW_HZ) | (frequencies > _HIGH_HZ)] = 0.0
    match = np.fft.irfft(spectrum, size)
    near = np.concatenate((match[_EARLIEST:], match[:_LATEST]))
    peak = int(np.argmax(near))
    if near[peak] < _LEAST_PEAK * math.sqrt(float(np.mean(np.square(near)))):
        return None
    return peak + _EARLIEST


def _powers(samples: Pcm16) -> NDArray[np.float64]:
    """float64 [frames]: the power of each whole frame, full scale 1."""
    frames = samples[: len(samples) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)
    powers: NDArray[np.float64] = np.mean(np.square(frames / 32768.0), axis=1)
    return powers


def _dbfs(power: float) -> float:
    return max(SILENCE_DBFS, 10 * math.log10(power)) if power > 0 else SILENCE_DBFS


def _middle(levels: list[float]) -> float:
    return round(float(np.median(levels)), 1)
