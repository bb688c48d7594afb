"""Both voices of a session as one compressed file that a page can hold."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec

from voicetui.ports import RATE_HZ, SoundError
from voicetui.share.stereo import Tracks

_FORMS = (
    ("OGG", "VORBIS", "audio/ogg", "Ogg Vorbis"),
    ("FLAC", "PCM_16", "audio/flac", "FLAC"),
    ("WAV", "PCM_16", "audio/wav", "WAV, not compressed"),
)
"""Format and subtype for libsndfile, media type and name, the smallest first. Its MP3 mixes the two voices."""


class Sound(msgspec.Struct, frozen=True):
    """Both tracks of a session as one file: its media type, its bytes, and what it is in words."""

    mime: str
    data: bytes
    says: str


def session_sound(folder: Path) -> Sound:
    """The person on the left, the reply on the right, 16 kHz, as long as the longer track.

    Raises ``SoundError`` for a session without sound, or whose sound cannot be read.
    """
    tracks = Tracks(folder)
    if not tracks.frames:
        raise SoundError(f"{folder}: its recording holds no sound. Leave out --audio")
    mime, name, data = _encoded(tracks)
    sides = (("person", "left"), ("answer", "right"))
    silent = [f" The track of the {who} is missing: the {side} is silent." for (who, side), paths in
              zip(sides, tracks.paths, strict=True) if not paths]  # fmt: skip
    length = f"{tracks.frames / RATE_HZ:.0f} s, {name}, {len(data) / 1e6:.1f} MB"
    return Sound(mime, data, f"Left: the person; right: the answer. {length}.{''.join(silent)}")


def _encoded(tracks: Tracks) -> tuple[str, str, bytes]:
    import soundfile

    for form, subtype, mime, name in _FORMS:
        if subtype in soundfile.available_subtypes(form):
            file = io.BytesIO()
            with soundfile.SoundFile(file, "w", RATE_HZ, 2, subtype, format=form) as out:
                for piece in tracks.sound():
                    out.write(piece)
            return mime, name, file.getvalue()
    raise SoundError("This libsndfile can write neither Ogg Vorbis, FLAC nor WAV. Leave out --audio")
