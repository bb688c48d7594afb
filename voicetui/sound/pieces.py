"""Sound files as they are: piece by piece, every channel kept, whatever the header says."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from voicetui.ports import SoundError
from voicetui.sound.rates import check_rate
from voicetui.sound.wav_layout import MOST_CHANNELS, WavLayout, wav_layout

_PIECE_FRAMES: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class SoundFile:
    """An open sound file. ``note`` is a sentence about a mended fault, or "".

    ``frames`` is how many there are, None where only reading tells. ``pieces`` are float32 or float64 [n, channels] in
    -1..1, each up to 2^18 frames; taking the next one raises ``SoundError`` where the file cannot be read on, or holds
    values that are not numbers.
    """

    path: Path
    rate_hz: int
    channels: int
    frames: int | None
    note: str
    pieces: Iterator[NDArray[Any]]


@contextmanager
def open_sound(path: Path) -> Iterator[SoundFile]:
    """Open a WAV, FLAC or other sound file of any length.

    A WAV whose header is stale, cut or a lie gives the whole frames that are there. Raises ``SoundError``, naming the
    file, what is wrong and what to do.
    """
    with _opened(path) as file:
        with _telling(path):
            layout = wav_layout(path, file, path.stat().st_size)
        if layout is not None:
            pieces = _checked(path, layout.rate_hz, _wav_pieces(file, layout))
            yield SoundFile(path, layout.rate_hz, layout.channels, layout.frames, layout.note, pieces)
            return
    with _other(path) as (rate_hz, channels, other):
        yield SoundFile(path, rate_hz, channels, None, "", _checked(path, rate_hz, other))


def wav_in_memory(data: bytes, name: str) -> tuple[NDArray[Any], int]:
    """float [n, channels] in -1..1 of a WAV file's bytes, and its rate. ``name`` stands for it in a ``SoundError``."""
    file = io.BytesIO(data)
    layout = wav_layout(Path(name), file, len(data))
    if layout is None:
        raise SoundError(f"{name} is a WAV file of a kind that cannot be read: its samples are compressed")
    pieces = list(_wav_pieces(file, layout))
    return np.concatenate(pieces) if pieces else np.zeros((0, layout.channels)), layout.rate_hz


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with _telling(path):
        if path.is_dir():
            raise SoundError(f"{path} is a folder, not a sound file. Name a WAV or FLAC file inside it")
        if not path.exists():
            raise SoundError(f"{path} does not exist. Check the name, and the folder you are in")
        if not path.is_file():
            raise SoundError(f"{path} is not an ordinary file. Name a WAV or FLAC file")
        if path.stat().st_size == 0:
            raise SoundError(f"{path} is empty (0 bytes). Record it again, or choose another file")
        file = path.open("rb")
    with file:
        yield file


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    """What the system says about the file, in words. Only ever around reading: a writer's trouble is not the file's."""
    try:
        yield
    except PermissionError as error:
        raise SoundError(f"{path} may not be read by you. Change its permissions (chmod u+r), or copy it") from error
    except OSError as error:
        raise SoundError(f"{path} cannot be read: {error.strerror or error}. Copy it elsewhere and try that") from error


def _checked(path: Path, rate_hz: int, pieces: Iterator[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    frames = 0
    while True:
        with _telling(path):
            piece = next(pieces, None)
        if piece is None:
            return
        bad = np.flatnonzero(~np.isfinite(piece).all(axis=1))
        if len(bad):
            raise SoundError(
                f"{path} holds values that are not numbers (NaN or infinite), the first at "
                f"{(frames + int(bad[0])) / rate_hz:.3f} s. Export it again, as 16-bit PCM"
            )
        frames += len(piece)
        yield piece


def _wav_pieces(file: BinaryIO, layout: WavLayout) -> Iterator[NDArray[Any]]:
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


def _decode(data: bytes, layout: WavLayout) -> NDArray[Any]:
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


@contextmanager
def _other(path: Path) -> Iterator[tuple[int, int, Iterator[NDArray[Any]]]]:
    """Rate, channels and pieces of everything that is not plain PCM WAV, through libsndfile."""
    try:
        import soundfile
    except (ImportError, OSError) as error:
        raise SoundError(
            f"{path} is no plain WAV file, and the library that reads others (soundfile) is missing. Convert it to WAV"
        ) from error

    def pieces(file: Any) -> Iterator[NDArray[Any]]:
        try:
            while len(piece := file.read(_PIECE_FRAMES, dtype="float32", always_2d=True)):
                yield piece
        except soundfile.LibsndfileError as error:
            raise unreadable(error) from error

    def unreadable(error: Any) -> SoundError:
        why = str(error.error_string).rstrip(".")
        return SoundError(f"{path} is not a sound file that can be read ({why}). Use WAV or FLAC")

    try:
        opened = soundfile.SoundFile(path)
    except soundfile.LibsndfileError as error:
        raise unreadable(error) from error
    except TypeError as error:  # it takes the name's end for a sign that there is no header
        raise SoundError(f"{path} is raw sound, which says nothing of its rate. Convert it to WAV") from error
    with opened as file:
        try:
            rate_hz = check_rate(file.samplerate)
        except SoundError as error:
            raise SoundError(f"{path}: {error}. Export it again") from error
        if not 1 <= file.channels <= MOST_CHANNELS:
            raise SoundError(f"{path}: {file.channels} channels cannot be. Export it again")
        yield rate_hz, file.channels, pieces(file)
