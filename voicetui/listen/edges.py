"""When speech starts, pauses and resumes: from frame probabilities and the sound itself to edges in time. Pure.

The probabilities say *that* someone speaks, and late: a soft onset by some hundred ms, an end by 30-60 ms.  *When* is
read from the energy of 5 ms hops around the place the probabilities point to.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from voicetui.listen.levels import HOP_SAMPLES, SILENCE_DBFS, Levels, LevelTrack, mean_level
from voicetui.ports import RATE_HZ, Pcm16, VoiceEdge

FRAME_SAMPLES: Final = 512
"""Samples in one frame of the detector: 32 ms at 16 kHz."""

_MS_SAMPLES: Final = RATE_HZ // 1000
_KEPT_HOPS: Final = 2000
_FLOOR_HOPS: Final = 600
_SOLID_FLOOR_HOPS: Final = 60
_NO_ROOM_DBFS: Final = -100.0
_ABOVE_FLOOR_DB: Final = 10.0
_BELOW_SPEECH_DB: Final = 25.0

_DOUBT_DB: Final = 5.0
_EDGE_SAMPLES: Final = FRAME_SAMPLES
_END_BACK_SAMPLES: Final = 250 * _MS_SAMPLES
_FRAME_LAG_SAMPLES: Final = 48 * _MS_SAMPLES


@dataclass(frozen=True, slots=True)
class EdgeLimits:
    """When an edge is announced.

    A frame whose probability is at least ``threshold`` is speech, one below ``end_threshold`` (by default 0.15 less, at
    least 0.01) is not, one between continues what was.  Speech is announced after ``min_speech_ms`` of it; a pause once
    the sound has been quiet for ``pause_ms`` and two frames agree, or when the frames alone have said so for
    ``slow_pause_ms`` (a room too loud for its energy to tell).  A quick finder takes one frame and ``quick_pause_ms``
    for a pause: some 55 ms sooner (median 64 instead of 119 ms after the sound's end), at the price of 7 more pauses in
    60 sentences.  An onset is looked for at most
    ``onset_back_ms`` before the first speech frame, across dips of at most ``onset_gap_ms``.
    """

    threshold: float = 0.5
    end_threshold: float | None = None
    min_speech_ms: float = 64.0
    pause_ms: float = 100.0
    slow_pause_ms: float = 128.0
    quick_pause_ms: float = 48.0
    onset_back_ms: float = 480.0
    onset_gap_ms: float = 120.0

    def __post_init__(self) -> None:
        if not 0.0 < self.threshold < 1.0:
            raise ValueError(f"threshold must lie between 0 and 1, not be {self.threshold}")
        if self.end_threshold is not None and not 0.0 < self.end_threshold <= self.threshold:
            raise ValueError(f"end_threshold must lie between 0 and {self.threshold}, not be {self.end_threshold}")

    @property
    def end(self) -> float:
        """The probability below which a frame counts as silence."""
        return max(0.01, self.threshold - 0.15) if self.end_threshold is None else self.end_threshold


class EdgeFinder:
    """Turns frames and their probabilities into edges. One per stream; holds 10 s of hop levels and no sound."""

    def __init__(self, limits: EdgeLimits | None = None) -> None:
        self.limits = limits or EdgeLimits()
        self.quick = False
        self._track = LevelTrack(_KEPT_HOPS)
        self._floor: deque[float] = deque(maxlen=_FLOOR_HOPS)
        self._room: deque[tuple[int, float]] = deque()
        self._samples = 0
        self._previous = 0
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._speaking = False
        self._loud_samples = 0
        self._quiet_samples = 0
        self._first_voice = self._samples
        self._last_voice = self._samples
        self._onset = self._samples

    @property
    def speaking(self) -> bool:
        """Whether speech has started and not paused since."""
        return self._speaking

    @property
    def fading(self) -> bool:
        """Whether speech is running whose newest frames hold none: a pause may be near."""
        return self._speaking and self._quiet_samples > 0

    @property
    def quiet_ms(self) -> float:
        """For how long every frame has been below the end threshold."""
        return self._quiet_samples / _MS_SAMPLES

    @property
    def noise_dbfs(self) -> float:
        """The room: the median level of the last 3 s of hops that were not speech; ``SILENCE_DBFS`` while unknown."""
        return float(np.median(self._floor)) if self._floor else SILENCE_DBFS

    def feed(self, probability: float, frame: Pcm16) -> VoiceEdge | None:
        """The edge, if any, that ``frame`` brings (int16 [n], the next n samples), speech with ``probability``."""
        begin = self._samples
        self._samples += frame.size
        hops = self._track.feed(frame)
        if probability < self.limits.end:
            self._quiet_samples += frame.size
            self._loud_samples = 0
            if self._speaking:
                return self._maybe_pause()
            self._hear_room(hops, self._samples)
            return None
        self._quiet_samples = 0
        self._last_voice = self._samples
        if not self._speaking and probability >= self.limits.threshold:
            if self._loud_samples == 0:
                self._first_voice = begin
            self._loud_samples += frame.size
            if self._loud_samples >= self.limits.min_speech_ms * _MS_SAMPLES:
                return self._start()
        return None

    def drop(self, rest: Pcm16 | None = None) -> VoiceEdge | None:
        """Forget the running speech; its closing edge if there was one. Sample numbers and the noise floor go on.

        ``rest`` (int16 [n]) are samples of the stream that did not fill a frame: they are counted, and end here.
        """
        if rest is not None:
            self._samples += rest.size
            self._track.feed(rest)
        edge = self._pause(*self._acoustic_end()) if self._speaking else None
        self._track.clear()
        self._previous = self._samples
        self._begin_anew()
        return edge

    def _start(self) -> VoiceEdge:
        self._speaking = True
        self._onset = self._previous = self._acoustic_onset()
        self._learn_room(self._onset)
        self._room.clear()
        return self._edge("started", self._onset)

    def _maybe_pause(self) -> VoiceEdge | None:
        if self._quiet_samples < (1 if self.quick else 2) * FRAME_SAMPLES:
            return None
        end, uncertainty_ms = self._acoustic_end()
        pause_ms = self.limits.quick_pause_ms if self.quick else self.limits.pause_ms
        by_energy = self._samples - end >= pause_ms * _MS_SAMPLES
        by_frames = self.quiet_ms >= self.limits.slow_pause_ms
        return self._pause(end, uncertainty_ms) if by_energy or by_frames else None

    def _pause(self, end: int, uncertainty_ms: float) -> VoiceEdge:
        edge = self._edge("paused", end, uncertainty_ms)
        self._previous = end
        after = self._track.between(self._samples - self._quiet_samples + _EDGE_SAMPLES, self._samples)[0]
        self._hear_room(after, self._samples)
        self._begin_anew()
        return edge

    def _hear_room(self, levels: Levels, end_sample: int) -> None:
        """Keep the hops up to ``end_sample``, in which nobody seems to speak, until it is known that they are the room.

        A voice begins before the frames know; and what fades into digital silence was no room, for a room has none.
        """
        if levels.size and levels.min() <= _NO_ROOM_DBFS:
            self._room.clear()
            return
        first = end_sample - levels.size * HOP_SAMPLES
        self._room.extend((first + place * HOP_SAMPLES, float(level)) for place, level in enumerate(levels))
        self._learn_room(end_sample - round(self.limits.onset_back_ms * _MS_SAMPLES))

    def _learn_room(self, end_sample: int) -> None:
        while self._room and self._room[0][0] < end_sample:
            self._floor.append(self._room.popleft()[1])

    def _edge(self, kind: Literal["started", "paused"], sample: int, uncertainty_ms: float = 0.0) -> VoiceEdge:
        level = self._speech_level()
        return VoiceEdge(kind, sample, self._samples, uncertainty_ms, level, self.noise_dbfs)

    def _speech_level(self) -> float:
        return mean_level(self._track.between(self._onset, self._last_voice)[0])

    def _floor_near(self) -> float:
        """The noise floor; while little of the room is known, the quiet end of that and of the hops since the voice."""
        if len(self._floor) >= _SOLID_FLOOR_HOPS:
            return self.noise_dbfs
        recent = self._track.between(self._last_voice, self._samples)[0]
        known = np.concatenate((np.array(self._floor), recent))
        return float(np.percentile(known, 20)) if known.size else SILENCE_DBFS

    def _acoustic_onset(self) -> int:
        """The first sample of the energy rise that leads to the first speech frame."""
        earliest = max(self._previous, self._first_voice - round(self.limits.onset_back_ms * _MS_SAMPLES))
        levels, first = self._track.between(earliest, self._samples)
        voiced = (self._first_voice - first) // HOP_SAMPLES
        limit = max(self._floor_near() + _ABOVE_FLOOR_DB, mean_level(levels[voiced:]) - _BELOW_SPEECH_DB)
        loud = np.flatnonzero(levels >= limit)
        if not loud.size:
            return max(self._previous, self._first_voice)
        gap_hops = self.limits.onset_gap_ms * _MS_SAMPLES / HOP_SAMPLES
        anchor = max(int(np.searchsorted(loud, voiced)), 1)
        onset = int(loud[min(anchor, loud.size - 1)])
        for hop in loud[:anchor][::-1]:
            if onset - hop > gap_hops + 1:
                break
            onset = int(hop)
        return first + onset * HOP_SAMPLES

    def _acoustic_end(self) -> tuple[int, float]:
        """The sample after the speech's last loud hop, and its uncertainty in ms.

        Loud is above max(noise floor + 10 dB, speech level - 25 dB); it is looked for from 250 ms before the end of the
        last speech frame to one frame after it.  The uncertainty is half a hop and half of what 5 dB would move it.
        Without such a hop the frames decide: they end about 48 ms late (median of 40 clips).
        """
        edge = min(self._last_voice + _EDGE_SAMPLES, self._samples)
        levels, first = self._track.between(max(self._onset, self._last_voice - _END_BACK_SAMPLES), edge)
        limit = max(self._floor_near() + _ABOVE_FLOOR_DB, self._speech_level() - _BELOW_SPEECH_DB)
        ends = [
            first + (int(loud[-1]) + 1) * HOP_SAMPLES
            for loud in (np.flatnonzero(levels >= limit + shift) for shift in (0.0, -_DOUBT_DB, _DOUBT_DB))
            if loud.size
        ]
        if not ends:
            return max(self._onset, self._last_voice - _FRAME_LAG_SAMPLES), 2 * FRAME_SAMPLES / _MS_SAMPLES
        return ends[0], (HOP_SAMPLES / 2 + (max(ends) - min(ends)) / 2) / _MS_SAMPLES
