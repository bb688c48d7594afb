"""Going back in a session: folds cannot be unfed, so copies of them are kept along the way."""

from __future__ import annotations

import logging
import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence

from voicetui.events import Entry
from voicetui.tui.folds import Folds
from voicetui.views.landmarks import Landmarks, LandmarksView

_log = logging.getLogger(__name__)

EVERY = 400
"""As many entries lie between two copies, at least: folding that many takes about 20 ms."""
MOST = 64
"""As many copies there are, at most (of a session that is not written any more)."""
AT_ONCE = 200
"""So few new entries are folded where they are seen; for more there is a thread."""


class Checkpoints:
    """Folds a whole session once, ahead of its viewer, and keeps a copy every so often."""

    def __init__(self, entries: Callable[[], Sequence[Entry]], apart: bool = True) -> None:
        """``entries`` gives all there are so far. ``apart``: what is long is folded on a thread of its own."""
        self._entries = entries
        self._apart = apart
        self._every = max(EVERY, len(entries()) // MOST)
        self._ahead = Folds()
        self._marks = LandmarksView(self._ahead.latency)
        self._kept: list[Folds] = []
        self._places: list[int] = []
        self._thread: threading.Thread | None = None
        self.landmarks = Landmarks()
        """Where there is something to go to, as far as the session is folded."""

    @property
    def taken(self) -> int:
        """How many entries are folded."""
        return self._ahead.taken

    def catch_up(self) -> None:
        """Fold what has come. Called again and again; returns soon."""
        if self._thread is not None and self._thread.is_alive():
            return
        missing = len(self._entries()) - self.taken
        if missing > AT_ONCE and self._apart:
            self._thread = threading.Thread(target=self._fold, name="checkpoints", daemon=True)
            self._thread.start()
        elif missing:
            self._fold()

    def before(self, count: int) -> Folds:
        """Folds of at most ``count`` entries, as many as there is a copy of; to be fed on by the caller."""
        place = bisect_right(self._places, count)
        return self._kept[place - 1].copy() if place else Folds()

    def reach(self, count: int) -> int:
        """How many entries ``before(count)`` would have taken."""
        place = bisect_right(self._places, count)
        return self._places[place - 1] if place else 0

    def _fold(self) -> None:
        entries, ahead = self._entries(), self._ahead
        while ahead.taken < len(entries):
            due = (self._places[-1] if self._places else 0) + self._every
            part = entries[ahead.taken : min(due, ahead.taken + AT_ONCE)]
            ahead.take(part)
            for entry in part:
                self._marks.feed(entry)
            if ahead.taken == due:
                self._keep(due)
        self.landmarks = self._marks.snapshot()

    def _keep(self, place: int) -> None:
        """Keep a copy. Without copies going back takes longer, and is as right."""
        self._ahead.settle()
        try:
            self._kept.append(self._ahead.copy())
        except TypeError:
            _log.exception("no copy of the folds could be made")
            self._every = len(self._entries()) + 1
            return
        self._places.append(place)
        self.landmarks = self._marks.snapshot()
