"""The ear: the microphone track, its times, and the detector that listens to it."""

from __future__ import annotations

import numpy as np

from voicetui.ports import RATE_HZ, Block, Pcm16, VoiceDetector, VoiceEdge
from voicetui.sound.track import ClockLine, Track


class Ear:
    """Keeps the newest two minutes of the microphone, and feeds the detector with the same sample numbers."""

    def __init__(self, detector: VoiceDetector) -> None:
        self._detector = detector
        self._track = Track()
        self._line = ClockLine()

    @property
    def end(self) -> int:
        """One past the newest sample."""
        return self._track.end

    def hear(self, block: Block, gated: bool, muted: bool) -> list[VoiceEdge]:
        """Append a block to the track; the edges found.

        Muted sound is kept as silence.  Gated sound is kept, but the detector gets silence in its place, so that
        sample numbers go on.
        """
        edges = self._detector.feed(np.zeros(block.lost, np.int16)) if block.lost else []
        self._track.fill(block.sample - self._track.end)
        self._line.add(block.sample, block.at_ms)
        silence = np.zeros_like(block.samples) if muted or gated else None
        self._track.append(block.samples if not muted or silence is None else silence)
        return [*edges, *self._detector.feed(block.samples if silence is None else silence)]

    def quicken(self, on: bool) -> None:
        """Let the detector announce pauses sooner and with less certainty, or as usual again."""
        self._detector.quicken(on)

    def stop_listening(self) -> VoiceEdge | None:
        """Forget the running speech: the edge that closes it, if there was any."""
        return self._detector.drop()

    def at_ms(self, sample: int) -> float:
        """When ``sample`` was at the ADC; nominal before the first block."""
        return self._line.at_ms(sample) if self._line.anchored else sample * 1e3 / RATE_HZ

    def sample_at(self, at_ms: float) -> int:
        """The sample that was, or will be, at the ADC at ``at_ms``."""
        return self._line.sample_at(at_ms) if self._line.anchored else max(0, round(at_ms * RATE_HZ / 1e3))

    def read(self, start_sample: int, end_sample: int | None) -> tuple[Pcm16, int]:
        """int16 [n] from ``start_sample`` to ``end_sample`` (None: the newest), as far as kept and there; and where it
        starts.
        """
        end = self._track.end if end_sample is None else min(end_sample, self._track.end)
        start = min(max(start_sample, self._track.start), end)
        return self._track.read(start, end), start
