"""The two tracks of a session as one stereo file: the user on the left, the reply on the right."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voicetui.ports import RATE_HZ, Pcm16, SoundError
from voicetui.sound.pieces import open_sound
from voicetui.sound.rates import ResampleStream, resampled_count, to_int16
from voicetui.sound.wav import parts_of

_HEADER: Final = 44
_FRAME_BYTES: Final = 4
_MOST_FRAMES: Final = (2**32 - 2**16 - _HEADER) // _FRAME_BYTES
"""Sizes in a WAV header have 32 bits: 18.6 hours of stereo."""
_PIECE: Final = 1 << 16


class Tracks:
    """The tracks of a session's folder, as far as they are there. ``notes`` are sentences about what is not."""

    def __init__(self, folder: Path) -> None:
        """Raises ``SoundError`` when there is neither, a part is missing, or they are too long for one file."""
        self.notes: list[str] = []
        self.paths: list[list[Path]] = []
        counts = []
        for stem, side in (("user", "left"), ("reply", "right")):
            there = any(folder.glob(f"{stem}.wav")) or any(folder.glob(f"{stem}.*.wav"))
            paths = parts_of(folder, stem) if there else []
            if not there:
                self.notes.append(f"{folder / f'{stem}.wav'} is not there: the {side} channel is silent.")
            self.paths.append(paths)
            counts.append(sum(_frames(path) for path in paths))
        if not any(self.paths):
            raise SoundError(f"{folder} holds neither user.wav nor reply.wav: the session was recorded without sound")
        self.frames = max(counts)
        if self.frames > _MOST_FRAMES:
            hours = self.frames / RATE_HZ / 3600
            raise SoundError(
                f"{folder}: its tracks last {hours:.1f} h, and a stereo WAV file can hold 18.6 h (4 GiB). "
                "Use user.wav and reply.wav, and their further parts, as they are"
            )

    def pieces(self) -> Iterator[bytes]:
        """A WAV of int16 [frames, 2] at 16 kHz; the shorter track ends in silence. Raises ``SoundError``.

        Never holds more than a few seconds of sound, however long the session was.
        """
        size = self.frames * _FRAME_BYTES
        yield struct.pack(
            "<4sI4s4sIHHIIHH4sI", b"RIFF", size + _HEADER - 8, b"WAVE", b"fmt ", 16, 1, 2, RATE_HZ,
            RATE_HZ * _FRAME_BYTES, _FRAME_BYTES, 16, b"data", size,
        )  # fmt: skip
        for sound in self.sound():
            yield sound.astype("<i2", copy=False).tobytes()

    def sound(self) -> Iterator[NDArray[np.int16]]:
        """The sound as int16 [n, 2] after int16 [n, 2], ``frames`` in all. Raises ``SoundError``."""
        sides = [_Side(paths) for paths in self.paths]
        for at in range(0, self.frames, _PIECE):
            count = min(_PIECE, self.frames - at)
            yield np.stack([side.take(count) for side in sides], axis=1)


class _Side:
    """One track, taken piece by piece; silence once it is over."""

    def __init__(self, paths: list[Path]) -> None:
        self._pieces = _sound(paths)
        self._rest: Pcm16 = np.zeros(0, np.int16)

    def take(self, count: int) -> Pcm16:
        """The next int16 [count]."""
        while len(self._rest) < count and (piece := next(self._pieces, None)) is not None:
            self._rest = np.concatenate((self._rest, piece))
        taken, self._rest = self._rest[:count], self._rest[count:]
        return np.concatenate((taken, np.zeros(count - len(taken), np.int16)))


def _sound(paths: list[Path]) -> Iterator[Pcm16]:
    for path in paths:
        with open_sound(path) as file:
            stream = ResampleStream(file.rate_hz)
            for piece in file.pieces:
                yield to_int16(stream.feed(piece.mean(axis=1, dtype=np.float64).astype(np.float32)))
            yield to_int16(stream.flush())


def _frames(path: Path) -> int:
    """How many samples at 16 kHz a part has."""
    with open_sound(path) as file:
        frames = file.frames if file.frames is not None else sum(len(piece) for piece in file.pieces)
        return resampled_count(frames, file.rate_hz, RATE_HZ)
