"""Sound files: a writer whose files survive ``kill -9``, and a reader that takes what is really there."""

from __future__ import annotations

import errno
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from voicetui.ports import RATE_HZ, Pcm16, PcmFloat, SoundError
from voicetui.sound.rates import ResampleStream, check_rate, to_int16

LIMIT_BYTES: Final = 2**32 - 2**16
"""A part of a recording is kept below this; sizes in a WAV header have 32 bits."""

_HEADER: Final = 44
_HEADER_EVERY_BYTES: Final = RATE_HZ // 5
"""How much may be written before the header is brought up to date: 100 ms."""
_PIECE_FRAMES: Final = 1 << 18
_MOST_CHANNELS: Final = 64
_SILENCE: Final = bytes(2 * RATE_HZ)


class WavWriter:
    """Writes 16 kHz mono int16, every ``append`` straight to the file (mode 0600, never over an existing one).

    After ``kill -9`` every sample appended is in the file; only the header may be 0.1 s old, which
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
    folder = Path(folder)
    numbers = {1} if (folder / f"{stem}.wav").exists() else set()
    for path in folder.glob(f"{stem}.*.wav"):
        if match := re.fullmatch(re.escape(stem) + r"\.([1-9]\d*)\.wav", path.name):
            numbers.add(int(match[1]))
    last = max(numbers, default=1)
    for number in range(1, last + 1):
        if number not in numbers:
            missing = part_path(folder / f"{stem}.wav", number)
            raise SoundError(f"{missing} is missing; the recording cannot be put together without it")
    parts = [_read(part_path(folder / f"{stem}.wav", number)) for number in range(1, last + 1)]
    return np.concatenate([samples for samples, _ in parts]), [info for _, info in parts]


def _read(path: Path) -> tuple[Pcm16, AudioInfo]:
    try:
        if path.is_dir():
            raise SoundError(f"{path} is a folder, not a sound file. Name a WAV or FLAC file inside it")
        if not path.exists():
            raise SoundError(f"{path} does not exist. Check the name, and the folder you are in")
        if not path.is_file():
            raise SoundError(f"{path} is not an ordinary file. Name a WAV or FLAC file")
        size = path.stat().st_size
        if size == 0:
            raise SoundError(f"{path} is empty (0 bytes). Record it again, or choose another file")
        with path.open("rb") as file:
            layout = _wav_layout(path, file, size)
            if layout is not None:
                return _collect(path, layout.rate_hz, layout.channels, _wav_pieces(file, layout), layout.note)
        return _read_other(path)
    except PermissionError as error:
        raise SoundError(f"{path} may not be read by you. Change its permissions (chmod u+r), or copy it") from error
    except OSError as error:
        raise SoundError(f"{path} cannot be read: {error.strerror or error}. Copy it elsewhere and try that") from error


def _collect(
    path: Path, rate_hz: int, channels: int, pieces: Iterator[NDArray[Any]], note: str
) -> tuple[Pcm16, AudioInfo]:
    """Average, resample and join float32/float64 [n, channels] pieces."""
    stream = ResampleStream(rate_hz)
    made: list[Pcm16] = []
    frames = 0
    for piece in pieces:
        mono: PcmFloat = piece.mean(axis=1, dtype=np.float64).astype(np.float32)
        bad = np.flatnonzero(~np.isfinite(mono))
        if len(bad):
            raise SoundError(
                f"{path} holds values that are not numbers (NaN or infinite), the first at "
                f"{(frames + int(bad[0])) / rate_hz:.3f} s. Export it again, as 16-bit PCM"
            )
        frames += len(mono)
        made.append(to_int16(stream.feed(mono)))
    made.append(to_int16(stream.flush()))
    return np.concatenate(made), AudioInfo(path, rate_hz, channels, frames, note)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the frames of a WAV file are, and what they look like."""

    rate_hz: int
    channels: int
    kind: str
    width: int
    start: int
    frames: int
    note: str


def _wav_layout(path: Path, file: BinaryIO, size: int) -> _Layout | None:
    """The layout, None when it is no WAV file, or one of a kind that soundfile has to read."""
    head = file.read(12)
    if head[:4] not in (b"RIFF", b"RF64", b"BW64") or head[8:12] != b"WAVE":
        return None
    form = b""
    place = 12
    while place + 8 <= size:
        file.seek(place)
        name, length = struct.unpack("<4sI", file.read(8))
        if name == b"data":
            if not form:
                raise SoundError(f"{path} is a damaged WAV file: its samples come before their format. Export it again")
            return _frames(path, file, size, form, place + 8, length)
        if name == b"fmt ":
            form = file.read(min(length, 40))
        place += 8 + length + (length & 1)
    if form:
        _format(path, form)
    raise SoundError(f"{path} holds no sound: a WAV header without samples. Record it again, or choose another file")


def _format(path: Path, form: bytes) -> tuple[int, int, int, int, int]:
    """(tag, channels, rate, bytes per frame, bits). Refuses what cannot be true."""
    if len(form) < 16:
        raise SoundError(f"{path} is a damaged WAV file: its format is cut short. Export it again")
    tag, channels, rate_hz, _, frame_bytes, bits = struct.unpack("<HHIIHH", form[:16])
    if tag == 0xFFFE and len(form) >= 26:
        tag = struct.unpack("<H", form[24:26])[0]
    try:
        check_rate(rate_hz)
    except SoundError as error:
        raise SoundError(
            f"{path}: its header claims {error}. It is damaged, or not sound; "
            "if you know the true rate, export it again with that"
        ) from error
    if not 1 <= channels <= _MOST_CHANNELS:
        raise SoundError(f"{path}: its header claims {channels} channels. Export it again as mono or stereo")
    return tag, channels, rate_hz, frame_bytes, bits


def _frames(path: Path, file: BinaryIO, size: int, form: bytes, start: int, claimed: int) -> _Layout | None:
    tag, channels, rate_hz, frame_bytes, bits = _format(path, form)
    width = frame_bytes // channels
    kind = {1: "int", 3: "float"}.get(tag, "")
    if not kind:
        return None
    widths = (4, 8) if kind == "float" else (1, 2, 3, 4)
    if frame_bytes != width * channels or width not in widths or bits > 8 * width:
        raise SoundError(
            f"{path}: its header contradicts itself ({channels} channels of {bits} bits in {frame_bytes} bytes). "
            "Export it again as 16-bit PCM"
        )
    there = size - start
    note = ""
    if claimed > there:
        if claimed < 0xFFFF_0000:
            promised_s, there_s = claimed / frame_bytes / rate_hz, there / frame_bytes / rate_hz
            note = f"the header promises {promised_s:.1f} s, the file ends after {there_s:.1f} s"
        used = there
    elif claimed == there or _chunks_follow(file, start + claimed, size):
        used = claimed
    else:
        used = there
        note = "the header was never finished; everything up to the end of the file is taken"
    return _Layout(rate_hz, channels, kind, width, start, used // frame_bytes, note)


def _chunks_follow(file: BinaryIO, place: int, size: int) -> bool:
    """Whether well-formed chunks or a known tag follow up to the end: then the header is right about the samples."""
    place += place & 1
    file.seek(place)
    if file.read(3) in (b"TAG", b"ID3"):
        return True
    while place < size:
        file.seek(place)
        head = file.read(8)
        if len(head) < 8:
            return size - place <= 1
        name, length = struct.unpack("<4sI", head)
        if not all(32 <= byte < 127 for byte in name) or place + 8 + length > size:
            return False
        place += 8 + length + (length & 1)
    return True


def _wav_pieces(file: BinaryIO, layout: _Layout) -> Iterator[NDArray[Any]]:
    """float [n, channels] in -1..1."""
    frame_bytes = layout.width * layout.channels
    file.seek(layout.start)
    left = layout.frames
    while left > 0:
        data = file.read(min(left, _PIECE_FRAMES) * frame_bytes)
        data = data[: len(data) // frame_bytes * frame_bytes]
        if not data:
            return
        left -= len(data) // frame_bytes
        yield _decode(data, layout).reshape(-1, layout.channels)


def _decode(data: bytes, layout: _Layout) -> NDArray[Any]:
    if layout.kind == "float":
        return np.frombuffer(data, np.dtype(f"<f{layout.width}"))
    if layout.width == 1:
        return (np.frombuffer(data, np.uint8).astype(np.float32) - 128) / 128
    if layout.width == 3:
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        data = wide.tobytes()
    width = 4 if layout.width == 3 else layout.width
    return np.frombuffer(data, np.dtype(f"<i{width}")).astype(np.float64) / 2.0 ** (8 * width - 1)


def _read_other(path: Path) -> tuple[Pcm16, AudioInfo]:
    """Everything that is not plain PCM WAV, through libsndfile."""
    try:
        import soundfile
    except (ImportError, OSError) as error:
        raise SoundError(
            f"{path} is no plain WAV file, and the library that reads others (soundfile) is missing. Convert it to WAV"
        ) from error
    try:
        with soundfile.SoundFile(path) as file:
            rate_hz = check_rate(file.samplerate)
            if not 1 <= file.channels <= _MOST_CHANNELS:
                raise SoundError(f"{file.channels} channels cannot be")
            return _collect(path, rate_hz, file.channels, _other_pieces(file), "")
    except soundfile.LibsndfileError as error:
        why = str(error.error_string).rstrip(".")
        raise SoundError(f"{path} is not a sound file that can be read ({why}). Use WAV or FLAC") from error
    except SoundError as error:
        if str(error).startswith(str(path)):
            raise
        raise SoundError(f"{path}: {error}. Export it again") from error


def _other_pieces(file: Any) -> Iterator[NDArray[Any]]:
    while len(piece := file.read(_PIECE_FRAMES, dtype="float32", always_2d=True)):
        yield piece
