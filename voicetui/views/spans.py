"""Spans on lanes and marks in time: what a timeline is drawn from."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal, get_args

import msgspec

from voicetui.events import Basis

Lane = Literal["you", "endpoint", "transcribe", "context", "llm", "clauses", "synthesis", "speaker"]
LANES: tuple[Lane, ...] = get_args(Lane)
SpanKind = Literal["work", "speculative", "discarded", "audio"]
MarkKind = Literal[
    "commit", "first_token", "gap", "barge_in", "duck", "pause", "resume", "cut", "reject", "dry", "fault"
]


class Span(msgspec.Struct, frozen=True, gc=False):
    """Something that took time on a lane, ms on the session clock. ``end_ms`` is None while it goes on.

    ``kind``: "work"; "speculative" (begun before the turn was committed); "discarded" (its result was never used);
    "audio" (sound, on the lanes ``you`` and ``speaker``).
    """

    lane: Lane
    start_ms: float
    end_ms: float | None
    kind: SpanKind
    label: str
    turn: int | None
    basis: Basis | None


class Mark(msgspec.Struct, frozen=True, gc=False):
    """An instant worth seeing."""

    at_ms: float
    kind: MarkKind
    label: str
    turn: int | None


class Timeline(msgspec.Struct, frozen=True):
    """Spans in the order they were learnt of, those of them that still grow, and marks. Older ones than
    ``kept_from_ms`` may be gone.
    """

    spans: tuple[Span, ...]
    growing: tuple[Span, ...]
    marks: tuple[Mark, ...]
    end_ms: float
    kept_from_ms: float


@dataclass(slots=True, eq=False)
class GrowingSpan:
    """A span that may still change. Tell its ``SpanBoard`` of each change. ``place``: its place among the spans shown,
    None once it is no longer kept.
    """

    lane: Lane
    start_ms: float
    end_ms: float | None
    kind: SpanKind
    label: str
    turn: int | None
    basis: Basis | None
    place: int | None = None


class SpanBoard:
    """Keeps spans and marks, and of each span the immutable form last shown: a snapshot costs only what changed."""

    def __init__(self, keep_ms: float | None) -> None:
        self._keep_ms = keep_ms
        self._spans: list[GrowingSpan] = []
        self._shown_spans: list[Span] = []
        self._changed: list[GrowingSpan] = []
        self._growing: list[GrowingSpan] = []
        self._marks: deque[Mark] = deque()
        self._end_ms = 0.0
        self._kept_from_ms = 0.0
        self._shown: Timeline | None = None

    def begin(
        self,
        lane: Lane,
        start_ms: float,
        kind: SpanKind,
        *,
        end_ms: float | None = None,
        label: str = "",
        turn: int | None = None,
        basis: Basis | None = None,
    ) -> GrowingSpan:
        """Add a span, growing unless ``end_ms`` is given."""
        turn = basis.turn if basis is not None else turn
        span = GrowingSpan(lane, start_ms, None, kind, label, turn, basis)
        span.place = len(self._spans)
        self._spans.append(span)
        self._shown_spans.append(_as_now(span))
        self._growing.append(span)
        if end_ms is not None:
            self.end(span, end_ms)
        self.changed(span)
        return span

    def end(self, span: GrowingSpan, end_ms: float) -> None:
        """End a span, unless it has ended; never before it began."""
        if span.end_ms is None:
            span.end_ms = max(span.start_ms, end_ms)
            self._growing.remove(span)
            self._end_ms = max(self._end_ms, span.end_ms)
            self.changed(span)

    def changed(self, span: GrowingSpan) -> None:
        """Show the span anew."""
        self._changed.append(span)
        self._shown = None

    def mark(self, at_ms: float, kind: MarkKind, label: str = "", turn: int | None = None) -> None:
        """Add a mark."""
        self._marks.append(Mark(at_ms, kind, label, turn))
        self._shown = None

    def reach(self, at_ms: float) -> None:
        """The session has come to ``at_ms``: let go of what lies too far back."""
        if at_ms <= self._end_ms:
            return
        self._end_ms = at_ms
        self._shown = None
        if self._keep_ms is None or at_ms - self._kept_from_ms < 2 * self._keep_ms:
            return
        self._kept_from_ms = horizon_ms = at_ms - self._keep_ms
        self._let_go(horizon_ms)
        self._marks = deque(mark for mark in self._marks if mark.at_ms >= horizon_ms)

    def snapshot(self) -> Timeline:
        """What there is. The same object as before when nothing changed."""
        if self._shown is None:
            for span in self._changed:
                if span.place is not None:
                    self._shown_spans[span.place] = _as_now(span)
            self._changed.clear()
            growing = tuple(self._shown_spans[span.place] for span in self._growing if span.place is not None)
            self._shown = Timeline(
                tuple(self._shown_spans), growing, tuple(self._marks), self._end_ms, self._kept_from_ms
            )
        return self._shown

    def _let_go(self, horizon_ms: float) -> None:
        """Keep the spans that reach beyond the horizon."""
        both = list(zip(self._spans, self._shown_spans, strict=True))
        self._spans, self._shown_spans = [], []
        for span, shown in both:
            span.place = None
            if span.end_ms is None or span.end_ms >= horizon_ms:
                span.place = len(self._spans)
                self._spans.append(span)
                self._shown_spans.append(shown)


def _as_now(span: GrowingSpan) -> Span:
    return Span(span.lane, span.start_ms, span.end_ms, span.kind, span.label, span.turn, span.basis)
