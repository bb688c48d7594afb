"""The two tracks of a session as files: their parts, how long they are, where their samples lie."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from voicetui.events.sound import RATE_HZ
from voicetui.journal.read import Problem
from voicetui.ports import SoundError
from voicetui.sound.wav import part_paths
from voicetui.sound.wav_layout import WavLayout, wav_layout

STEMS: Final = ("user", "reply")
"""What the microphone heard, and what the speaker played."""


class Part(msgspec.Struct, frozen=True):
    """One file of a track: ``samples`` at 16 kHz from sample ``start`` of the track on, laid out as ``layout`` says."""

    path: Path
    start: int
    samples: int
    layout: WavLayout


class Track(msgspec.Struct, frozen=True):
    """One track. ``samples`` is its length at 16 kHz, None where there is no file of it; ``incomplete``: parts are
    missing or cannot be read.
    """

    stem: str
    samples: int | None
    parts: tuple[Part, ...]
    problems: tuple[Problem, ...]
    incomplete: bool = False


def read_track(folder: Path, stem: str) -> Track:
    """What there is of a track, by its headers; no sample is read. Never raises for what is in the files."""
    parts: list[Part] = []
    problems: list[Problem] = []
    end, incomplete = 0, False
    paths = part_paths(folder, stem)
    for path in paths:
        try:
            layout = _layout(path)
        except FileNotFoundError:
            what = "is missing" if len(paths) == 1 else "is missing: the track has a hole"
            problems.append(Problem(0, "track", what, path.name))
            incomplete = True
            continue
        except (OSError, SoundError) as error:
            problems.append(Problem(0, "track", _told(error, path), path.name))
            incomplete = True
            continue
        samples = round(layout.frames * RATE_HZ / layout.rate_hz)
        parts.append(Part(path, end, samples, layout))
        end += samples
        if layout.note:
            problems.append(Problem(0, "unfinished" if layout.grown else "track", layout.note, path.name))
    return Track(stem, end if parts else None, tuple(parts), tuple(problems), incomplete)


def _layout(path: Path) -> WavLayout:
    size = path.stat().st_size
    if size == 0:
        raise SoundError(f"{path} is empty (0 bytes)")
    with path.open("rb") as file:
        layout = wav_layout(path, file, size)
    if layout is None:
        raise SoundError(f"{path} is no WAV file of samples")
    return layout


def _told(error: OSError | SoundError, path: Path) -> str:
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or error}"
    return str(error).removeprefix(str(path)).lstrip(": ")
