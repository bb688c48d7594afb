"""A growing clause on its way to the speaker: at the device's rate, as far as it is made."""

from __future__ import annotations

import numpy as np

from voicetui.ports import PcmFloat
from voicetui.sound.rates import ResampleStream, resampled_count
from voicetui.speak.growing import GrowingClause
from voicetui.speak.words import Span


class Inflow:
    """Pulls what a ``GrowingClause`` has, float32 at ``rate_hz``. Belongs to the player."""

    def __init__(self, clause: GrowingClause, rate_hz: int) -> None:
        self.over = False
        self._clause = clause
        self._rates = ResampleStream(clause.rate_hz, rate_hz)

    @property
    def spoken(self) -> str:
        """The words the voice says."""
        return self._clause.spoken

    @property
    def broke_off(self) -> bool:
        """Whether the clause ended before its words did."""
        return self.over and self._clause.broke_off

    def take(self) -> tuple[PcmFloat, tuple[Span, ...]]:
        """float32 [n], what came since the last call; and each word's frames in the whole clause, as known by now."""
        parts, self.over = self._clause.take()
        pieces = [self._rates.feed(part) for part in parts]
        if self.over:
            pieces.append(self._rates.flush())
        samples = np.clip(np.concatenate(pieces), -1.0, 1.0) if pieces else np.zeros(0, np.float32)
        return samples, spans_at_rate(self._clause.words, self._rates.from_hz, self._rates.to_hz)


def spans_at_rate(spans: tuple[Span, ...], from_hz: int, to_hz: int) -> tuple[Span, ...]:
    """The same spans of time in frames of another rate."""
    return tuple((resampled_count(first, from_hz, to_hz), resampled_count(end, from_hz, to_hz)) for first, end in spans)
