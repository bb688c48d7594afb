"""Every fold that the screen shows, fed together."""

from __future__ import annotations

from collections.abc import Iterable

from voicetui.events import Entry
from voicetui.events.orders import EndTurn
from voicetui.events.session import SessionClosed, SessionOpened
from voicetui.tui.copying import duplicate
from voicetui.views.barge_in import BargeInView
from voicetui.views.latency import LatencyView
from voicetui.views.ledger import LedgerView
from voicetui.views.session_state import FaultSeen, SessionStateView, fault_of
from voicetui.views.summary import SummaryView
from voicetui.views.timeline import TimelineView
from voicetui.views.transcript import TranscriptView

KEEP_MS = 180_000.0
"""How much of the newest time the timeline keeps."""
KEEP_LINES = 400
"""How many of the newest lines the transcript keeps."""


class Folds:
    """The views of one session, each fed once with each of its first ``taken`` entries."""

    def __init__(self, keep_ms: float = KEEP_MS, keep_lines: int = KEEP_LINES) -> None:
        self.taken = 0
        self.state = SessionStateView()
        self.transcript = TranscriptView(keep_lines)
        self.timeline = TimelineView(keep_ms)
        self.latency = LatencyView()
        self.barge_in = BargeInView()
        self.ledger = LedgerView()
        self.summary = SummaryView((self.latency, self.transcript, self.barge_in, self.ledger))
        self.fault: FaultSeen | None = None
        """The one to show: the newest, until a turn is completed after it."""
        self.recording: bool | None = None
        """Whether the session is recorded, as far as its configuration says."""
        self.closed_ms: float | None = None
        """When the session ended, once it has."""

    def take(self, entries: Iterable[Entry]) -> None:
        """Feed the next entries, in journal order."""
        views = (
            self.state, self.transcript, self.timeline, self.latency, self.barge_in, self.ledger, self.summary,
        )  # fmt: skip
        for entry in entries:
            for view in views:
                view.feed(entry)
            self._notice(entry)
            self.taken += 1

    def copy(self) -> Folds:
        """One that can be fed on apart from this one."""
        return duplicate(self)

    def settle(self) -> None:
        """Work out what the first look at each view would have to."""
        for view in (self.state, self.transcript, self.timeline, self.latency, self.barge_in, self.ledger):
            view.snapshot()
        self.summary.figures()

    def _notice(self, entry: Entry) -> None:
        """What no view tells."""
        body = entry.body
        self.fault = fault_of(entry) or self.fault
        if isinstance(body, SessionOpened):
            self.recording = _records(body)
        elif isinstance(body, SessionClosed):
            self.closed_ms = entry.at
        elif isinstance(body, EndTurn) and body.outcome == "completed" and self.fault is not None:
            self.fault = None if self.fault.at_ms < entry.at else self.fault


def _records(opened: SessionOpened) -> bool | None:
    """Whether the effective configuration says that the session is recorded."""
    record = opened.config.get("record")
    on = record.get("on") if isinstance(record, dict) else None
    return on if isinstance(on, bool) else None
