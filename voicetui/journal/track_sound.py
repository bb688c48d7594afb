"""The sound of a session's track, read piece by piece where it lies: an hour is opened without reading it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import numpy as np

from voicetui.events.sound import RATE_HZ
from voicetui.journal.tracks import Part, Track, read_track
from voicetui.ports import Pcm16, SoundError
from voicetui.sound.wav import read_audio

_PLAIN: Final = (RATE_HZ, 1, "int", 2)


class TrackSound:
    """``user.wav`` or ``reply.wav`` with all further parts, 16 kHz mono int16. It may still be growing.

    What is missing or cannot be read is silent. ``read`` is safe to call from any thread.
    """

    def __init__(self, folder: Path, stem: str) -> None:
        self._folder = folder
        self._stem = stem
        self._track: Track = read_track(folder, stem)
        self._whole: dict[Path, Pcm16] = {}

    @property
    def end(self) -> int:
        """How many samples there are."""
        return self._track.samples or 0

    def refresh(self) -> bool:
        """Look again how much there is; whether there is more."""
        before, self._track = self.end, read_track(self._folder, self._stem)
        return self.end > before

    def read(self, first: int, count: int) -> Pcm16:
        """int16 [count] from sample ``first`` on; silence where there is no sound, before the beginning too."""
        out = np.zeros(count, np.int16)
        for part in self._track.parts:
            low, high = max(first, part.start), min(first + count, part.start + part.samples)
            if low < high:
                sound = self._samples(part, low - part.start, high - low)
                out[low - first : low - first + len(sound)] = sound
        return out

    def _samples(self, part: Part, first: int, count: int) -> Pcm16:
        """int16 [up to count]: fewer where the file has become shorter meanwhile."""
        layout = part.layout
        try:
            if (layout.rate_hz, layout.channels, layout.kind, layout.width) != _PLAIN:
                if part.path not in self._whole:
                    self._whole[part.path] = read_audio(part.path)[0]
                return self._whole[part.path][first : first + count]
            with part.path.open("rb", buffering=0) as file:
                data = os.pread(file.fileno(), 2 * count, layout.start + 2 * first)
        except (OSError, SoundError):
            return np.zeros(0, np.int16)
        return np.frombuffer(data[: len(data) // 2 * 2], "<i2")
