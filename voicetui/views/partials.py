"""How the transcripts did while the person spoke: how fast they were made, and how much of them was taken back."""

from __future__ import annotations

import msgspec

from voicetui.events import Entry
from voicetui.events.listen import Transcribed
from voicetui.events.sound import RATE_HZ
from voicetui.events.words import normalise_words
from voicetui.views.statistics import quantile

_KEPT = 500


class Partials(msgspec.Struct, frozen=True, gc=False):
    """Partial transcripts of a session.

    ``real_time_factor`` is decoding time over the sound decoded, the median of the newest 500; ``churn`` the share of
    partial words that the next transcript of the same utterance did not keep in their place. None without any.
    """

    n: int = 0
    real_time_factor: float | None = None
    churn: float | None = None


class PartialsFold:
    """Follows partial transcripts to what came after them."""

    def __init__(self) -> None:
        self._n = 0
        self._factors: list[float] = []
        self._words = 0
        self._revised = 0
        self._last: tuple[int, tuple[str, ...]] = (0, ())

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        fact = entry.body
        if not isinstance(fact, Transcribed):
            return
        words = tuple(normalise_words(fact.text))
        utterance, before = self._last
        if utterance == fact.utterance and before:
            kept = next((n for n, pair in enumerate(zip(before, words, strict=False)) if pair[0] != pair[1]), None)
            kept = min(len(before), len(words)) if kept is None else kept
            self._words += len(before)
            self._revised += len(before) - kept
        self._last = (0, ()) if fact.final else (fact.utterance, words)
        if fact.final:
            return
        self._n += 1
        sound_ms = (fact.end_sample - fact.start_sample) / RATE_HZ * 1000
        if sound_ms > 0 and entry.at >= fact.started_ms:
            self._factors = [*self._factors[1 - _KEPT :], (entry.at - fact.started_ms) / sound_ms]

    def snapshot(self) -> Partials:
        """What is known so far."""
        factor = round(quantile(self._factors, 0.5), 3) if self._factors else None
        churn = round(self._revised / self._words, 3) if self._words else None
        return Partials(self._n, factor, churn)
