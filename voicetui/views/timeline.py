"""The session as spans on lanes: who spoke, what was worked on when, and what was thrown away."""

from __future__ import annotations

from collections.abc import Iterable

from voicetui.events import Entry
from voicetui.views.breakdown import finite
from voicetui.views.session_state import fault_of
from voicetui.views.spans import LANES, Lane, Mark, MarkKind, Span, SpanBoard, SpanKind, Timeline
from voicetui.views.timeline_ahead import AheadLanes
from voicetui.views.timeline_reply import ReplyLanes
from voicetui.views.timeline_user import UserLanes

__all__ = ["LANES", "Lane", "Mark", "MarkKind", "Span", "SpanKind", "Timeline", "TimelineView", "fold_timeline"]


class TimelineView:
    """Folds a journal to its timeline, O(1) an entry amortised.

    With ``keep_ms`` only about that much of the newest time is kept, for sessions that last hours.
    """

    def __init__(self, keep_ms: float | None = None) -> None:
        self._board = SpanBoard(keep_ms)
        self._user = UserLanes(self._board)
        self._ahead = AheadLanes(self._board)
        self._reply = ReplyLanes(self._board, self._user.user_end_ms)

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order. One whose time is unknown is left out."""
        if finite(entry.at) is None:
            return
        self._board.reach(entry.at)
        self._user.feed(entry)
        self._ahead.feed(entry)
        self._reply.feed(entry)
        fault = fault_of(entry)
        if fault is not None:
            self._board.mark(fault.at_ms, "fault", f"{fault.stage}: {fault.message}" if fault.stage else fault.message)

    def snapshot(self) -> Timeline:
        """The timeline so far. The same object as before when nothing changed."""
        return self._board.snapshot()


def fold_timeline(entries: Iterable[Entry]) -> Timeline:
    """The timeline of ``entries``."""
    view = TimelineView()
    for entry in entries:
        view.feed(entry)
    return view.snapshot()
