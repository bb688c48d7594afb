"""Trimming and fading a sentence's edges, also while it is still being made."""

from __future__ import annotations

import numpy as np

from voicetui.ports import PcmFloat
from voicetui.speak.audible import AUDIBLE_RMS, frames_of, hop_frames, hop_levels


class SeamTrim:
    """A sentence's edges, piece by piece or all at once.

    Silence is cut to ``lead_ms`` before and ``trail_ms`` after what is audible; the edges rise from and fall to zero
    over ``fade_ms``.  What may yet turn out to be the trailing silence is held back.  Of a sentence that is silent all
    through, ``trail_ms`` are left.
    """

    def __init__(self, rate_hz: int, lead_ms: float, trail_ms: float, fade_ms: float) -> None:
        self._rate_hz = rate_hz
        self._lead, self._trail, self._fade = (frames_of(ms, rate_hz) for ms in (lead_ms, trail_ms, fade_ms))
        self._held: PcmFloat = np.zeros(0, np.float32)
        self._given = 0
        self._measured = 0
        self._audible: tuple[int, int] | None = None

    @property
    def first(self) -> int:
        """The sentence's first frame that is kept; 0 while nothing audible came."""
        return max(0, self._audible[0] - self._lead) if self._audible else 0

    @property
    def lead(self) -> int:
        """Frames of silence kept before the first audible one."""
        return self._audible[0] - self.first if self._audible else 0

    @property
    def given(self) -> int:
        """The sentence's frame up to which the sound was given out."""
        return max(self._given, self.first)

    def feed(self, samples: PcmFloat) -> PcmFloat:
        """float32 [n], the sentence's next, to the float32 [m] that is sure to be kept and not given out before."""
        self._held = np.concatenate((self._held, samples))
        total = self._given + len(self._held)
        hop = hop_frames(self._rate_hz)
        self._measure(total // hop * hop)
        if self._audible is None:
            return np.zeros(0, np.float32)
        return self._give(min(total, self._audible[1] + self._trail) - self._fade)

    def finish(self) -> PcmFloat:
        """float32 [m]: the rest of the sentence, faded out."""
        total = self._given + len(self._held)
        self._measure(total)
        end = min(total, (self._audible[1] if self._audible else 0) + self._trail)
        rest = self._give(end)
        count = min(self._fade, len(rest))
        if count:
            rest[-count:] *= np.arange(count, dtype=np.float32)[::-1] / np.float32(count)
        return rest

    def _measure(self, until: int) -> None:
        """Look for audible hops up to the frame ``until``."""
        if until <= self._measured:
            return
        begin = self._measured - self._given
        loud = np.flatnonzero(hop_levels(self._held[begin : until - self._given], self._rate_hz) >= AUDIBLE_RMS)
        if len(loud):
            hop = hop_frames(self._rate_hz)
            first = self._measured + int(loud[0]) * hop
            end = min(until, self._measured + (int(loud[-1]) + 1) * hop)
            self._audible = (self._audible[0] if self._audible else first, end)
        self._measured = until

    def _give(self, until: int) -> PcmFloat:
        """Frames up to ``until``, but for those given before and those cut off the beginning, which is faded in."""
        begin = self.given
        if until <= begin:
            return np.zeros(0, np.float32)
        kept: PcmFloat = self._held[begin - self._given : until - self._given].astype(np.float32, copy=True)
        ramp_end = min(until, self.first + self._fade)
        if begin < ramp_end:
            at = np.arange(begin, ramp_end, dtype=np.float32) - np.float32(self.first)
            kept[: ramp_end - begin] *= at / np.float32(self._fade)
        self._held = self._held[until - self._given :]
        self._given = until
        return kept
