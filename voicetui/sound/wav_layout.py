"""Where the samples of a WAV file are, whatever its header claims."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from voicetui.ports import SoundError
from voicetui.sound.rates import check_rate

MOST_CHANNELS: Final = 64
_IN_DS64: Final = 0xFFFF_FFFF
"""The size of an RF64 file's samples that says: look into the chunk ds64 (EBU Tech 3306)."""


@dataclass(frozen=True, slots=True)
class WavLayout:
    """Where the frames of a WAV file are, and what they look like.

    ``frames`` of ``channels`` values, each ``width`` bytes ("int" or "float" by ``kind``), from byte ``start`` on.
    ``note`` is a sentence about a mended fault, or "". ``grown``: there is more than the header says, as while the file
    is being written.
    """

    rate_hz: int
    channels: int
    kind: str
    width: int
    start: int
    frames: int
    note: str
    grown: bool = False


def wav_layout(path: Path, file: BinaryIO, size: int) -> WavLayout | None:
    """The layout of a file of ``size`` bytes; None when it is no WAV file, or one of a kind that soundfile has to read.

    A header that is stale, cut or a lie gives the whole frames that are there. Raises ``SoundError``.
    """
    head = file.read(12)
    if head[:4] not in (b"RIFF", b"RF64", b"BW64") or head[8:12] != b"WAVE":
        return None
    form = b""
    large = 0
    place = 12
    while place + 8 <= size:
        file.seek(place)
        name, length = struct.unpack("<4sI", file.read(8))
        if name == b"data":
            if not form:
                raise SoundError(f"{path} is a damaged WAV file: its samples come before their format. Export it again")
            return _frames(path, file, size, form, place + 8, large if length == _IN_DS64 and large else length)
        if name == b"fmt ":
            form = file.read(min(length, 40))
        if name == b"ds64" and length >= 16:
            large = struct.unpack("<8xQ", file.read(16))[0]
        place = _next_chunk(file, place + 8 + length)
    if form:
        _format(path, form)
    raise SoundError(f"{path} holds no sound: a WAV header without samples. Record it again, or choose another file")


def _next_chunk(file: BinaryIO, end: int) -> int:
    """Where the chunk after one that ends at ``end`` begins: at an even place, but some writers forget the pad."""
    if end & 1:
        file.seek(end)
        following = file.read(9)
        if following[:1] != b"\0" and _is_name(following[:4]) and not _is_name(following[1:5]):
            return end
        if following[:4] in (b"fmt ", b"data", b"LIST"):
            return end
    return end + (end & 1)


def _is_name(name: bytes) -> bool:
    return len(name) == 4 and all(32 <= byte < 127 for byte in name)


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
    if not 1 <= channels <= MOST_CHANNELS:
        raise SoundError(f"{path}: its header claims {channels} channels. Export it again as mono or stereo")
    return tag, channels, rate_hz, frame_bytes, bits


def _frames(path: Path, file: BinaryIO, size: int, form: bytes, start: int, claimed: int) -> WavLayout | None:
    tag, channels, rate_hz, frame_bytes, bits = _format(path, form)
    width = frame_bytes // channels
    kind = {1: "int", 3: "float"}.get(tag, "")
    if not kind:
        return None
    widths = (4, 8) if kind == "float" else (1, 2, 3, 4)
    fits = bits == 0 or width == -(-bits // 8) or (width == 4 and bits > 16)  # 20 or 24 bits may lie in four bytes
    if frame_bytes != width * channels or width not in widths or bits > 8 * width or not fits:
        raise SoundError(
            f"{path}: its header contradicts itself ({channels} channels of {bits} bits in {frame_bytes} bytes). "
            "Export it again as 16-bit PCM"
        )
    there = size - start
    note, grown = "", False
    if claimed > there:
        if claimed < 0xFFFF_0000:
            promised_s, there_s = claimed / frame_bytes / rate_hz, there / frame_bytes / rate_hz
            note = f"the header promises {promised_s:.1f} s, the file ends after {there_s:.1f} s"
        used = there
    elif claimed == there or _chunks_follow(file, start + claimed, size):
        used = claimed
    else:
        used, grown = there, True
        note = "the header was never finished; everything up to the end of the file is taken"
    return WavLayout(rate_hz, channels, kind, width, start, used // frame_bytes, note, grown)


def _chunks_follow(file: BinaryIO, place: int, size: int) -> bool:
    """Whether well-formed chunks or a known tag follow up to the end: then the header is right about the samples."""
    place = _next_chunk(file, place)
    file.seek(place)
    if file.read(3) in (b"TAG", b"ID3"):
        return True
    while place < size:
        file.seek(place)
        head = file.read(8)
        if len(head) < 8:
            return size - place <= 1
        name, length = struct.unpack("<4sI", head)
        if not _is_name(name) or place + 8 + length > size:
            return False
        place = _next_chunk(file, place + 8 + length)
    return True
