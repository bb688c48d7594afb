"""How much of what was played comes back: when, how loud, and how much of it is left after cancelling."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
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
_ENOUGH: Final = _CHUNK_FRAMES // 2
"""A piece counts if so many of its frames were played audibly, and so many heard: a muted microphone and lost sound are
zeros, which hear nothing."""
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


@dataclass(frozen=True, slots=True)
class _Reply:
    """int16 [n] of the microphone and of what was played meanwhile; float64 [frames, 2]: powers raw and cleaned."""

    raw: Pcm16
    played: Pcm16
    powers: NDArray[np.float64]


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

    def measuring(self, reference: Track, turn: int) -> Callable[[], EchoMeasured | None]:
        """What measures how much came back since the last call, by what was played (``reference``, on the same sample
        numbers): blocking, for any thread, but no two at once.

        It returns None for less than half a second of audible sound that the microphone could hear.
        """
        end = self._raw.end
        first = max(self._since, end - len(self._powers) * FRAME_SAMPLES)
        frames = (end - first) // FRAME_SAMPLES
        first = end - frames * FRAME_SAMPLES
        self._since = end
        powers = np.array(self._powers).reshape(-1, 2)[len(self._powers) - frames :]
        reply = _Reply(self._raw.read(first, end), reference.read(first, end), powers)
        return lambda: self._measured(reply, turn)

    def _measured(self, reply: _Reply, turn: int) -> EchoMeasured | None:
        frames, powers, played = len(reply.powers), reply.powers, _powers(reply.played)
        hearing = powers[:, 0] > 0.0
        audible = played >= _AUDIBLE_POWER
        self._learn_room(audible, hearing, powers[:, 1])
        if np.count_nonzero(audible & hearing) < _LEAST_FRAMES:
            return None
        last = (int(np.flatnonzero(audible & hearing)[-1]) + 1) * FRAME_SAMPLES
        start = max(0, last - _LOOKED_AT)
        delay = echo_delay(reply.raw[start : last + _LATEST], reply.played[start:last])
        late = _USUAL_DELAY if delay is None else max(0, round(delay / FRAME_SAMPLES))
        heard, left, loud = [], [], []
        for at in range(0, frames - late - _CHUNK_FRAMES + 1, _CHUNK_FRAMES):
            then = slice(at + late, at + late + _CHUNK_FRAMES)
            if min(np.count_nonzero(audible[at : at + _CHUNK_FRAMES]), np.count_nonzero(hearing[then])) < _ENOUGH:
                continue
            raw, cleaned = powers[then][hearing[then]].mean(axis=0).tolist()
            loud.append(_dbfs(float(played[at : at + _CHUNK_FRAMES].mean())))
            heard.append(_dbfs(raw))
            left.append(_dbfs(cleaned))
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

    def _learn_room(self, audible: NDArray[np.bool_], hearing: NDArray[np.bool_], left: NDArray[np.float64]) -> None:
        """The quiet fifth of the frames that were heard long after anything was played."""
        last = np.maximum.accumulate(np.where(audible, np.arange(len(audible)), -_QUIET_FRAMES - 1))
        idle = left[hearing & (np.arange(len(audible)) - last > _QUIET_FRAMES)]
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
    usual = math.sqrt(float(np.mean(np.square(near))))
    if usual == 0.0 or near[peak] < _LEAST_PEAK * usual:  # of silence all is 0
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
