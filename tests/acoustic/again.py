"""A virtual sound card stumbles when its machine stands still: then what was said into it did not get through whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

from tests.acoustic.bus import HOP, ONE_CLIP_HOPS, RATE_HZ, clips_said
from voicetui.sound.wav import read_audio

WHOLE = 0.998
"""How much a clip and its recording are alike, at least, as a correlation coefficient. Whole ones measured 0.9995 and
more; with a hole of 40 ms half of them have less than 0.99.
"""


class StumbledError(AssertionError):
    """The recording of the bus is not what was said into it: nothing can be judged by it."""


_TRIES = ("first", "again", "last")


def once_more(check: Callable[[Path], None], folder: Path) -> None:
    """Run ``check`` in a folder of its own; only if the sound card stumbled, and only twice, again in another."""
    for name in _TRIES:
        own = folder / name
        own.mkdir(parents=True)
        try:
            check(own)
            return
        except StumbledError as error:
            if name == _TRIES[-1]:
                raise
            print("once more:", error)


def carried(user: NDArray[np.float32], clips: Sequence[Path]) -> None:
    """Every clip, in order, got through whole: ``user`` is the user's side of the bus, float32 [n].

    Raises ``StumbledError``.
    """
    said = clips_said(user)
    if len(said) != len(clips):
        raise StumbledError(f"{len(said)} of {len(clips)} clips were on the bus")
    for clip, (first, last) in zip(clips, said, strict=True):
        stretch = user[max(0, first - ONE_CLIP_HOPS // 2) * HOP : (last + ONE_CLIP_HOPS // 2) * HOP]
        alike = _alike(stretch, soxr.resample(read_audio(clip)[0].astype(np.float32) / 32768, 16_000, RATE_HZ))
        if alike < WHOLE:
            raise StumbledError(f"{clip.stem} got through to {alike:.0%} only")


def _alike(stretch: NDArray[np.float32], said: NDArray[np.float32]) -> float:
    """The correlation of ``said`` with the part of ``stretch`` that is most like it; 0 where it is not all in there."""
    size = 1 << (len(stretch) + len(said)).bit_length()
    heard = stretch.astype(np.float64)
    match = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(said, size)), size)[: len(heard)]
    place = int(np.argmax(match))
    power = float(np.linalg.norm(heard[place : place + len(said)]) * np.linalg.norm(said))
    return float(match[place]) / power if power else 0.0
