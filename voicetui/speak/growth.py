"""Making a clause that grows: trimming each sentence as its parts come, placing the words, telling the facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from voicetui.events.orders import Synthesize
from voicetui.events.speak import ClauseBegun, ClauseSynthesized
from voicetui.ports import Clock, PcmFloat
from voicetui.speak.growing import GrowingClause
from voicetui.speak.seams import SeamTrim
from voicetui.speak.timing import Group, GrowingPiece, estimated_spans, moved, spans_from_groups
from voicetui.speak.words import Span

LEAD_MS: Final = 30.0
TRAIL_MS: Final = 120.0
"""Silence kept before and after what is audible. Together they bound the silence at a seam to 150 ms."""

FIRST_LEAD_MS: Final = 10.0
"""Silence kept before a reply's first audible sample: room for the fade-in, in whole hops, and no more to wait for."""

FADE_MS: Final = 5.0


def lead_ms(order: Synthesize, sentence: int) -> float:
    """The silence kept before the ``sentence``-th sentence of a clause."""
    return FIRST_LEAD_MS if order.clause == sentence == 0 else LEAD_MS


class Growth:
    """One clause on the worker that makes it. ``clause`` is what the speaker gets; None before its first samples."""

    def __init__(
        self,
        order: Synthesize,
        rate_hz: int,
        clock: Clock,
        waited_ms: float,
        begun: Callable[[GrowingClause], None],
    ) -> None:
        self.clause: GrowingClause | None = None
        self._order = order
        self._rate_hz = rate_hz
        self._clock = clock
        self._waited_ms = waited_ms
        self._begun = begun
        self._started_ms = clock.now_ms()
        self._pieces: list[GrowingPiece] = []
        self._spans: list[Span] = []
        self._trim = SeamTrim(rate_hz, lead_ms(order, 0), TRAIL_MS, FADE_MS)
        self._made = 0
        self._kept: list[PcmFloat] = []

    @property
    def withheld(self) -> int:
        """Samples that were made but not handed out."""
        return self._made - (self.clause.frames if self.clause else 0)

    def foresee(self, pieces: list[GrowingPiece]) -> None:
        """These are the clause's sentences: from all of them the words' times are foreseen."""
        self._pieces = pieces

    def feed(self, part: PcmFloat) -> None:
        """The next samples of the current sentence, float32 [n]."""
        self._made += len(part)
        self._give(self._trim.feed(part))

    def end_piece(self) -> None:
        """The current sentence is whole."""
        self._give(self._trim.finish())
        self._spans.append((self._trim.first, self._trim.given))
        self._trim = SeamTrim(self._rate_hz, lead_ms(self._order, len(self._spans)), TRAIL_MS, FADE_MS)

    def finish(self) -> GrowingClause | None:
        """The clause is whole; None if it has no sound at all."""
        clause, now_ms = self.clause, self._clock.now_ms()
        if clause is None:
            return None
        fact = ClauseSynthesized(
            clause.basis,
            clause.clause,
            started_ms=self._started_ms,
            first_audio_ms=clause.begun_at_ms,
            waited_ms=self._waited_ms,
            lead_ms=clause.begun.lead_ms,
            duration_ms=clause.duration_ms,
        )
        clause.finish(self._words(), fact, now_ms)
        return clause

    def break_off(self) -> None:
        """The voice failed: what there is of the clause is faded out and stands.

        Its words keep the times they were foreseen at: those beyond the sound are not heard.
        """
        self._give(self._trim.finish())
        if self.clause is not None:
            self.clause.finish(self.clause.words, None, self._clock.now_ms())

    def joined(self) -> PcmFloat:
        """All samples handed out so far, float32 [n], read-only."""
        samples = np.concatenate(self._kept)
        samples.setflags(write=False)
        return samples

    def _give(self, samples: PcmFloat) -> None:
        if not len(samples):
            return
        self._kept.append(samples)
        if self.clause is not None:
            self.clause.give(samples)
            return
        now_ms = self._clock.now_ms()
        kept_ms = self._trim.lead / self._rate_hz * 1e3
        begun = ClauseBegun(self._order.basis, self._order.clause, self._started_ms, self._waited_ms, kept_ms)
        self.clause = GrowingClause(begun, now_ms, self._order.spoken, self._words(), self._rate_hz)
        self.clause.give(samples)
        self._begun(self.clause)

    def _words(self) -> tuple[Span, ...]:
        """The frames of each word, the silence of sentences that are not whole yet taken as kept."""
        groups: list[Group] | None = []
        length = 0
        for number, piece in enumerate(self._pieces):
            whole = number < len(self._spans)
            first, end = self._spans[number] if whole else (0, piece.frames)
            if number == len(self._spans):
                first = self._trim.first
            if groups is not None and piece.groups is not None:
                groups += [moved(group, first, end, length) for group in piece.groups]
            else:
                groups = None
            length += end - first
        words = spans_from_groups(self._order.spoken, groups) if groups else None
        return estimated_spans(self._order.spoken, 0, length) if words is None else words
