"""What is worked on ahead of a turn, on the timeline: prefill on the lane of the tier."""

from __future__ import annotations

from voicetui.events import Entry
from voicetui.events.reply import PrewarmEnded
from voicetui.views.breakdown import finite
from voicetui.views.prewarm import PrewarmFold
from voicetui.views.spans import GrowingSpan, SpanBoard


class AheadLanes:
    """Draws on a board what is done before there is a reply to do it for."""

    def __init__(self, board: SpanBoard) -> None:
        self._board = board
        self._fold = PrewarmFold()
        self._prefills: dict[int, GrowingSpan] = {}

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order, whose time is known."""
        for prefill in self._fold.feed(entry):
            span = self._prefills.pop(prefill.number, None)
            if span is not None and prefill.tokens:
                span.kind = "discarded"
                self._board.changed(span)
        body = entry.body
        if isinstance(body, PrewarmEnded):
            self._prefill(body, entry.at)

    def _prefill(self, body: PrewarmEnded, at_ms: float) -> None:
        started_ms = finite(body.started_ms)
        if started_ms is None or not (body.new_tokens or body.connection == "new"):
            return
        label = f"prefill {body.new_tokens}" if body.new_tokens else "connect"
        self._prefills[body.prewarm] = self._board.begin(
            "llm", started_ms, "speculative", end_ms=at_ms, label=label, turn=body.turn
        )
        for number in [number for number in self._prefills if number < body.prewarm - 64]:
            del self._prefills[number]
