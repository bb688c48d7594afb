"""What is worked on ahead of a turn, on the timeline: look-ups on the lane ``context``, prefill on that of the tier."""

from __future__ import annotations

from voicetui.events import Entry
from voicetui.events.reply import ContextAssembled, PrewarmEnded
from voicetui.views.breakdown import finite
from voicetui.views.prewarm import PrewarmFold
from voicetui.views.retrieval import RetrievalFold
from voicetui.views.spans import GrowingSpan, SpanBoard

_KEPT = 64
"""Spans whose fate may still change."""


class AheadLanes:
    """Draws on a board what is done before there is a reply to do it for."""

    def __init__(self, board: SpanBoard) -> None:
        self._board = board
        self._fold = PrewarmFold()
        self._retrieval = RetrievalFold()
        self._prefills: dict[int, GrowingSpan] = {}
        self._lookups: dict[int, GrowingSpan] = {}

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order, whose time is known."""
        body = entry.body
        if isinstance(body, PrewarmEnded):
            self._prefill(body, entry.at)
        elif isinstance(body, ContextAssembled):
            self._lookup(body, entry.at)
        for prefill in self._fold.feed(entry):
            if prefill.tokens:
                self._discard(self._prefills.pop(prefill.number, None))
        decided = self._retrieval.feed(entry)
        if decided is not None:
            self._decide(*decided)

    def _prefill(self, body: PrewarmEnded, at_ms: float) -> None:
        started_ms = finite(body.started_ms)
        if started_ms is None or not (body.new_tokens or body.connection == "new"):
            return
        label = f"prefill {body.new_tokens}" if body.new_tokens else "connect"
        self._prefills[body.prewarm] = self._board.begin(
            "llm", started_ms, "speculative", end_ms=at_ms, label=label, turn=body.turn
        )
        self._prefills.pop(body.prewarm - _KEPT, None)

    def _lookup(self, body: ContextAssembled, at_ms: float) -> None:
        started_ms = finite(body.started_ms)
        sources = ", ".join(dict.fromkeys(passage.source for passage in body.passages)) or body.note or "nothing fits"
        self._lookups[body.context] = self._board.begin(
            "context", at_ms if started_ms is None else started_ms, "speculative", end_ms=at_ms, label=sources,
            turn=body.turn,
        )  # fmt: skip
        self._lookups.pop(body.context - _KEPT, None)

    def _decide(self, number: int, fate: str) -> None:
        span = self._lookups.get(number)
        if span is None:
            return
        if fate in ("stale", "failed"):
            self._discard(self._lookups.pop(number))
        elif fate == "adopted":
            span.kind = "work"
            self._board.changed(span)

    def _discard(self, span: GrowingSpan | None) -> None:
        if span is not None:
            span.kind = "discarded"
            self._board.changed(span)
