"""Something is heard: by its energy alone, sooner than any detector can tell whether it is speech. Pure."""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np

from voicetui.listen.levels import HOP_SAMPLES, SILENCE_DBFS, LevelTrack
from voicetui.ports import Pcm16, VoiceEdge

ABOVE_ROOM_DB: Final = 15.0
"""A hop is loud from so much above the room on."""
LEAST_DBFS: Final = -50.0
"""Quieter than this nobody speaks to a microphone."""
ABOVE_ECHO_DB: Final = 18.0
"""A hop of speech is seldom so much louder than the median of its 200 ms pieces."""
TOLD_AFTER_MS: Final = (30.0, 110.0)
"""A rise is told once it has lasted so long, and again: longer than clicks and keys, as long as a syllable."""

_ROOM_HOPS: Final = 400
_ROOM_SHARE: Final = 0.2
_HOLE_HOPS: Final = 4
_HOP_MS: Final = 5.0


class RiseFinder:
    """Finds where the level rises above the room's. One per stream.

    The room is the level that a fifth of the last 2 s were quieter than. A rise goes on across holes of at most 20 ms.
    """

    def __init__(self) -> None:
        self._track = LevelTrack(_ROOM_HOPS)
        self._room: deque[float] = deque(maxlen=_ROOM_HOPS)
        self._fed = 0
        self._hops = 0
        self._begun = 0
        self._quiet_hops = _HOLE_HOPS + 1
        self._told = 0
        self._least_dbfs = LEAST_DBFS

    def beside(self, echo_dbfs: float) -> None:
        """From now on the stream holds an echo of this level (the median of its pieces): what rises is louder."""
        self._least_dbfs = max(LEAST_DBFS, echo_dbfs + ABOVE_ECHO_DB)

    @property
    def heard_samples(self) -> int:
        """How many it was fed."""
        return self._fed

    def feed(self, samples: Pcm16) -> list[VoiceEdge]:
        """What rises in the next ``samples`` (int16 [n], any n): edges "rose", ``sample`` where it began."""
        self._fed += samples.size
        found = []
        for level in self._track.feed(samples):
            edge = self._hop(float(level))
            if edge is not None:
                found.append(edge)
        return found

    def _hop(self, level: float) -> VoiceEdge | None:
        self._hops += 1
        self._room.append(level)
        if level < self._least_dbfs or level < self._room_dbfs() + ABOVE_ROOM_DB:
            self._quiet_hops += 1
            return None
        if self._quiet_hops > _HOLE_HOPS:
            self._begun, self._told = self._hops - 1, 0
        self._quiet_hops = 0
        if self._told == len(TOLD_AFTER_MS) or (self._hops - self._begun) * _HOP_MS < TOLD_AFTER_MS[self._told]:
            return None
        self._told += 1
        room_dbfs = self._room_dbfs()
        return VoiceEdge("rose", self._begun * HOP_SAMPLES, self._hops * HOP_SAMPLES, _HOP_MS / 2, level, room_dbfs)

    def _room_dbfs(self) -> float:
        return float(np.quantile(self._room, _ROOM_SHARE)) if self._room else SILENCE_DBFS
