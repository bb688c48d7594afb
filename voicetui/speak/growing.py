"""A clause that can be played while the rest of it is being made."""

from __future__ import annotations

from collections import deque

from voicetui.events.base import Basis
from voicetui.events.speak import ClauseBegun, ClauseSynthesized
from voicetui.ports import PcmFloat
from voicetui.speak.words import Span


class GrowingClause:
    """A clause's sound, float32 at ``rate_hz``, as it grows: one thread gives, another takes; they share no lock.

    ``words`` are the frames of each word of ``spoken``: foreseen by the voice while it grows, exact once it is whole.
    ``begun`` tells that its first samples exist, at ``begun_at_ms``; ``fact`` that it is ``whole``, at ``at_ms``.
    """

    def __init__(
        self, begun: ClauseBegun, begun_at_ms: float, spoken: str, words: tuple[Span, ...], rate_hz: int
    ) -> None:
        self.begun = begun
        self.begun_at_ms = begun_at_ms
        self.spoken = spoken
        self.words = words
        self.rate_hz = rate_hz
        self.frames = 0
        self.whole = False
        self.at_ms = begun_at_ms
        self._fact: ClauseSynthesized | None = None
        self._parts: deque[PcmFloat] = deque()

    @property
    def basis(self) -> Basis:
        """What it was made for."""
        return self.begun.basis

    @property
    def clause(self) -> int:
        """Its number in its reply."""
        return self.begun.clause

    @property
    def duration_ms(self) -> float:
        """The length of what was made so far."""
        return self.frames / self.rate_hz * 1e3

    @property
    def broke_off(self) -> bool:
        """Whether the voice failed before its end."""
        return self.whole and self._fact is None

    @property
    def fact(self) -> ClauseSynthesized:
        """What tells that it is whole. Raises ``ValueError`` before."""
        if self._fact is None:
            raise ValueError("the clause is still being made")
        return self._fact

    @property
    def made_ms(self) -> float:
        """How long making it took; 0 while it is being made: then whoever makes it tells what was in vain."""
        fact = self._fact
        return self.at_ms - fact.started_ms if fact is not None else 0.0

    def give(self, samples: PcmFloat) -> None:
        """Add the next samples, float32 [n]."""
        if len(samples):
            self.frames += len(samples)
            self._parts.append(samples)

    def finish(self, words: tuple[Span, ...], fact: ClauseSynthesized | None, at_ms: float) -> None:
        """No more comes. ``fact`` is None where the voice broke off."""
        self.words, self._fact, self.at_ms = words, fact, at_ms
        self.whole = True

    def take(self) -> tuple[list[PcmFloat], bool]:
        """What was given since the last call, and whether that was all of it."""
        whole = self.whole  # read first: what is given before it is set is then among the parts
        parts = []
        while self._parts:
            parts.append(self._parts.popleft())
        return parts, whole
