"""The ear: the microphone track, its times, and the detector that listens to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from voicetui.listen.rise import RiseFinder
from voicetui.ports import RATE_HZ, Block, Pcm16, VoiceDetector, VoiceEdge
from voicetui.sound.echo import EchoCanceller
from voicetui.sound.track import ClockLine, Track

SILENCE_FED_SAMPLES: Final = RATE_HZ // 2
"""The silence in place of lost sound that the detector is given, at most: a longer loss would take long to feed."""


_RAW_KEPT_S: Final = 2.5


class Ear:
    """Keeps the newest two minutes of the microphone, and feeds the detector with the same sample numbers.

    With a canceller both get the cleaned sound, up to 18 ms later.
    """

    def __init__(self, detector: VoiceDetector, canceller: EchoCanceller | None = None) -> None:
        self._detector = detector
        self._canceller = canceller
        self._track = Track()
        self._raw = self._track if canceller is None else Track(_RAW_KEPT_S)
        self._line = ClockLine()
        self._rises = RiseFinder()
        self._echo_known = canceller is None
        self._skipped = 0
        """Samples of the track that the detector was not given."""

    @property
    def end(self) -> int:
        """One past the newest sample."""
        return self._track.end

    @property
    def raw_end(self) -> int:
        """One past the newest sample of the microphone, which a canceller may still hold."""
        return self._raw.end

    def hear(self, block: Block, gated: bool, muted: bool) -> list[VoiceEdge]:
        """Append a block to the track; the edges found.

        Muted sound is kept as silence.  Gated sound is kept, but the detector gets silence in its place, so that
        sample numbers go on.
        """
        self._line.add(block.sample, block.at_ms)
        missing = max(0, block.sample - self.raw_end)
        sound = np.zeros_like(block.samples) if muted else block.samples
        if self._canceller is None:
            lost = np.zeros(missing, np.int16)
        else:
            self._raw.fill(missing)
            self._raw.append(sound)
            lost, sound = self._canceller.skip(missing), self._canceller.clean(sound)
        edges = self._lose(lost) if block.lost else []
        self._track.append(lost)
        self._track.append(sound)
        deaf = muted or gated
        rises = self._rising(np.zeros_like(block.samples) if deaf else block.samples)
        return [*edges, *rises, *self._feed(np.zeros_like(sound) if deaf else sound)]

    def expect_echo(self, echo_dbfs: float) -> None:
        """What the microphone gets of the reply, at the median. Until that is known nothing rises beside an echo."""
        self._echo_known = True
        self._rises.beside(echo_dbfs)

    def go_on(self, at_ms: float) -> int:
        """A microphone takes the place of another, its first sample at the ADC at ``at_ms``: that sample's number.

        The time without a microphone is left free; times count anew from here.
        """
        sample = max(self.raw_end, self.sample_at(at_ms))
        self._line.restart(sample, at_ms)
        return sample

    @property
    def fading(self) -> bool:
        """Whether speech is running whose newest frames hold none: a pause may be near."""
        return self._detector.fading

    def quicken(self, on: bool) -> None:
        """Let the detector announce pauses sooner and with less certainty, or as usual again."""
        self._detector.quicken(on)

    def stop_listening(self) -> VoiceEdge | None:
        """Forget the running speech: the edge that closes it, if there was any."""
        edge = self._detector.drop()
        return None if edge is None else self._on_track(edge)

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

    def newest_raw(self, count: int) -> Pcm16:
        """int16 [n], n <= ``count``: the newest of the microphone as it came, before cancelling; at most 2.5 s."""
        return self._raw.read(max(self._raw.start, self._raw.end - count), self._raw.end)

    @property
    def _held(self) -> int:
        """Samples of the microphone that the canceller has not handed out yet."""
        return 0 if self._canceller is None else self._canceller.held

    def _lose(self, silence: Pcm16) -> list[VoiceEdge]:
        """Sound is missing, with ``silence`` in its place. Speech that runs is over if much is."""
        if len(silence) <= SILENCE_FED_SAMPLES:
            return self._feed(silence)
        dropped = self.stop_listening()
        edges = self._feed(silence[:SILENCE_FED_SAMPLES])
        self._skipped += len(silence) - SILENCE_FED_SAMPLES
        return edges if dropped is None else [dropped, *edges]

    def _feed(self, samples: Pcm16) -> list[VoiceEdge]:
        return [self._on_track(edge) for edge in self._detector.feed(samples)]

    def _rising(self, samples: Pcm16) -> list[VoiceEdge]:
        """What rises above the room, and above what an echo can be, in the microphone's sound as it came."""
        first = self.raw_end - samples.size - self._rises.heard_samples
        rises = self._rises.feed(samples) if self._echo_known else []
        return [replace(r, sample=r.sample + first, noticed_sample=r.noticed_sample + first) for r in rises]

    def _on_track(self, edge: VoiceEdge) -> VoiceEdge:
        """The edge in the track's sample numbers; it is noticed only when the canceller hands its sound out."""
        if not self._skipped and self._canceller is None:
            return edge
        noticed = edge.noticed_sample + self._skipped + self._held
        return replace(edge, sample=edge.sample + self._skipped, noticed_sample=noticed)
