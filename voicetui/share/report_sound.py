"""Both voices of a session as one compressed file that a page can hold."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import numpy as np

from voicetui.ports import RATE_HZ, Pcm16, SoundError
from voicetui.sound.wav import read_parts

_FORMS = (
    ("OGG", "VORBIS", "audio/ogg", "Ogg Vorbis"),
    ("FLAC", "PCM_16", "audio/flac", "FLAC"),
    ("WAV", "PCM_16", "audio/wav", "WAV, not compressed"),
)
"""Format and subtype for libsndfile, media type and name, the smallest first. MP3 mixes the two voices there."""
_PIECE = RATE_HZ * 10
"""Samples encoded at a time: libsndfile's Vorbis cannot take minutes at once."""


class Sound(msgspec.Struct, frozen=True):
    """Both tracks of a session as one file: its media type, its bytes, and what it is in words."""

    mime: str
    data: bytes
    says: str


def session_sound(folder: Path) -> Sound:
    """The person on the left, the reply on the right, 16 kHz, as long as the longer track.

    Raises ``SoundError`` for a session without sound, or whose sound cannot be read.
    """
    tracks, lost = [], ""
    for stem, name in (("user", "the person"), ("reply", "the reply")):
        if any(folder.glob(f"{stem}*.wav")):
            tracks.append(read_parts(folder, stem)[0])
        else:
            tracks.append(np.zeros(0, np.int16))
            lost = f" The track of {name} is missing, so it is silent."
    length = max(map(len, tracks))
    if not length:
        raise SoundError(f"{folder} holds no recorded sound. Make the report without --audio")
    mime, name, data = _encoded(tracks[0], tracks[1], length)
    seconds = length / RATE_HZ
    says = f"Left: the person; right: the answer. {seconds:.0f} s, {name}, {len(data) / 1e6:.1f} MB.{lost}"
    return Sound(mime, data, says)


def _encoded(left: Pcm16, right: Pcm16, length: int) -> tuple[str, str, bytes]:
    import soundfile

    for form, subtype, mime, name in _FORMS:
        if subtype not in soundfile.available_subtypes(form):
            continue
        file = io.BytesIO()
        with soundfile.SoundFile(file, "w", RATE_HZ, 2, subtype, format=form) as out:
            for start in range(0, length, _PIECE):
                piece = np.zeros((min(_PIECE, length - start), 2), np.int16)
                for place, track in enumerate((left, right)):
                    part = track[start : start + len(piece)]
                    piece[: len(part), place] = part
                out.write(piece)
        return mime, name, file.getvalue()
    raise SoundError("this libsndfile can write neither Ogg Vorbis, FLAC nor WAV. Make the report without --audio")
