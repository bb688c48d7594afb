"""Sound files: a writer whose files survive ``kill -9``, and a reader that takes what is really there."""

from __future__ import annotations

import errno
import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from voicetui.ports import RATE_HZ, Pcm16, SoundError
from voicetui.sound.pieces import open_sound
from voicetui.sound.rates import ResampleStream, to_int16

LIMIT_BYTES: Final = 2**32 - 2**16
"""A part of a recording is kept below this; sizes in a WAV header have 32 bits."""

_HEADER: Final = 44
_HEADER_EVERY_BYTES: Final = RATE_HZ // 10
"""How much may be written before the header is brought up to date: 50 ms. Programs that believe a header lose that."""
_SILENCE: Final = bytes(2 * RATE_HZ)


class WavWriter:
    """Writes 16 kHz mono int16, every ``append`` straight to the file (mode 0600, never over an existing one).

    After ``kill -9`` every sample appended is in the file; only the header may be 50 ms old, which
    :func:`read_audio` mends. Before a part reaches ``limit_bytes`` it goes on in a new one: ``user.wav``,
    ``user.2.wav``, ``user.3.wav``.
    """

    def __init__(self, path: Path, limit_bytes: int = LIMIT_BYTES) -> None:
        """Create ``path``. Raises ``SoundError`` when that cannot be done, or something is there already."""
        if not _HEADER + 2 <= limit_bytes <= 2**32 - 1:
            raise ValueError(f"a WAV file cannot be limited to {limit_bytes} bytes")
        self._path = path
        self._limit = (limit_bytes - _HEADER) // 2 * 2
        self._parts: list[Path] = []
        self._end = 0
        self._written = 0
        self._described = 0
        self._file = -1
        self._open_part()

    @property
    def end(self) -> int:
        """How many samples there are, over all parts."""
        return self._end

    @property
    def parts(self) -> list[Path]:
        """The files so far, in order."""
        return list(self._parts)

    def append(self, samples: Pcm16) -> None:
        """Add int16 [n]. Raises ``SoundError`` (disk full, closed); whole samples written until then stay."""
        self._append(memoryview(samples.astype("<i2", copy=False).tobytes()))

    def pad_to(self, sample: int) -> int:
        """Add silence until sample number ``sample`` is next. How many were added: 0 when it is reached already."""
        added = max(0, sample - self._end)
        left = 2 * added
        while left > 0:
            self._append(memoryview(_SILENCE)[:left])
            left -= len(_SILENCE)
        return added

    def close(self) -> None:
        """Bring the header up to date and close. Idempotent."""
        if self._file >= 0:
            try:
                self._describe()
            finally:
                os.close(self._file)
                self._file = -1

    def _append(self, data: memoryview) -> None:
        if self._file < 0:
            raise SoundError(f"{self._path} is closed, nothing can be added to it")
        while len(data):
            if self._written >= self._limit:
                self.close()
                self._open_part()
            now = data[: self._limit - self._written]
            self._write(now)
            data = data[len(now) :]
        if self._written - self._described >= _HEADER_EVERY_BYTES or self._written == 0:
            self._describe()

    def _write(self, data: memoryview) -> None:
        done = 0
        try:
            while done < len(data):
                done += os.write(self._file, data[done:])
        except OSError as error:
            raise self._failed(error) from error
        finally:
            whole = done // 2 * 2
            if whole != done:
                # Half a sample would shift everything after it.
                os.ftruncate(self._file, _HEADER + self._written + whole)
                os.lseek(self._file, 0, os.SEEK_END)
            self._written += whole
            self._end += whole // 2

    def _open_part(self) -> None:
        number = len(self._parts) + 1
        path = part_path(self._path, number)
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
        except FileExistsError as error:
            raise SoundError(f"{path} exists, and a recording is never written over. Record elsewhere") from error
        except OSError as error:
            raise self._failed(error) from error
        self._parts.append(path)
        self._written = self._described = 0
        try:
            os.write(self._file, _header(0))
        except OSError as error:
            raise self._failed(error) from error

    def _describe(self) -> None:
        try:
            os.pwrite(self._file, _header(self._written), 0)
        except OSError as error:
            raise self._failed(error) from error
        self._described = self._written

    def _failed(self, error: OSError) -> SoundError:
        advice = "Free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Record into another folder"
        return SoundError(f"{self._path} cannot be written: {error.strerror or error}. {advice}, or record nothing")


def part_path(path: Path, number: int) -> Path:
    """The file of part ``number`` (from 1) of a recording: ``user.wav``, ``user.2.wav``."""
    return path if number == 1 else path.with_name(f"{path.stem}.{number}{path.suffix}")


def _header(data_bytes: int) -> bytes:
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF", data_bytes + _HEADER - 8, b"WAVE", b"fmt ", 16, 1, 1, RATE_HZ, 2 * RATE_HZ, 2, 16, b"data", data_bytes,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """What a file said about itself, and what was really in it. ``note`` is a sentence about a mended fault, or ""."""

    path: Path
    rate_hz: int
    channels: int
    frames: int
    note: str = ""

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.frames / self.rate_hz


def read_audio(path: Path | str) -> tuple[Pcm16, AudioInfo]:
    """int16 [n] 16 kHz mono of a WAV, FLAC or other file; n = round(frames * 16000 / rate), channels are averaged.

    A WAV whose header is stale, cut or a lie gives the whole frames that are there. Raises ``SoundError``, naming the
    file, what is wrong and what to do.
    """
    path = Path(path)
    samples, info = _read(path)
    if info.frames == 0:
        raise SoundError(f"{path} holds no sound: a header without one sample. Record it again, or choose another file")
    return samples, info


def read_parts(folder: Path | str, stem: str) -> tuple[Pcm16, list[AudioInfo]]:
    """int16 [n] of all parts of a recording joined (``stem`` "user": user.wav, user.2.wav ...), and what each was.

    A recording of nothing is [0]. Raises ``SoundError`` when there is none, or a part in the middle is missing.
    """
    parts = [_read(path) for path in parts_of(folder, stem)]
    return np.concatenate([samples for samples, _ in parts]), [info for _, info in parts]


def parts_of(folder: Path | str, stem: str) -> list[Path]:
    """The files of a recording in order.

    Raises ``SoundError`` when there is none, or a part in the middle is missing.
    """
    found = part_paths(Path(folder), stem)
    for path in found:
        if not path.exists():
            raise SoundError(f"{path} is missing; the recording cannot be put together without it")
    return found


def part_paths(folder: Path, stem: str) -> list[Path]:
    """The files of a recording in order. Where some are missing before its last, the first of these is named, too."""
    name = re.compile(re.escape(stem) + r"\.([1-9]\d{0,8})\.wav")
    numbers = {int(match[1]) for path in folder.glob(f"{stem}.*.wav") if (match := name.fullmatch(path.name))}
    if (folder / f"{stem}.wav").exists() or not numbers:
        numbers.add(1)
    missing = {number + 1 for number in {0, *numbers} if number + 1 not in numbers and number < max(numbers)}
    return [part_path(folder / f"{stem}.wav", number) for number in sorted(numbers | missing)]


def _read(path: Path) -> tuple[Pcm16, AudioInfo]:
    """Average, resample and join."""
    with open_sound(path) as file:
        stream = ResampleStream(file.rate_hz)
        made: list[Pcm16] = []
        frames = 0
        for piece in file.pieces:
            frames += len(piece)
            made.append(to_int16(stream.feed(piece.mean(axis=1, dtype=np.float64).astype(np.float32))))
        made.append(to_int16(stream.flush()))
        return np.concatenate(made), AudioInfo(path, file.rate_hz, file.channels, frames, file.note)
