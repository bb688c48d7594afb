"""Pictures of a recorded session at whatever position it is."""

from __future__ import annotations

from dataclasses import replace

from voicetui.tui.checkpoints import Checkpoints
from voicetui.tui.feed import Feed
from voicetui.tui.transport import Transport
from voicetui.tui.view import ScreenView

CATCH_UP_MS = 60.0
"""How long one look may go on folding."""
FAR = 600
"""A checkpoint this many entries further on is worth going to; up to there folding on is as quick."""


class ReplayFeed(Feed):
    """Follows the position on, as a live session's feed does; back, and far ahead, from the nearest checkpoint."""

    def __init__(self, tape: Transport, checkpoints: Checkpoints) -> None:
        super().__init__(tape, busy_ms=tape.clock_ms)
        self._tape = tape
        self._checkpoints = checkpoints

    @property
    def behind(self) -> int:
        """How many entries before the position are not folded yet: the picture is that much older."""
        return max(0, self._tape.shown - self._folds.taken)

    def drain(self) -> bool:
        """Come to the position; whether there is more to take until it is reached."""
        self._checkpoints.catch_up()
        shown, taken = self._tape.shown, self._folds.taken
        if shown < taken or self._checkpoints.reach(shown) > taken + FAR:
            self._begin_again(self._checkpoints.before(shown))
        begun_ms, taken = self._busy_ms(), self._folds.taken
        more = super().drain()
        while more and self._busy_ms() - begun_ms < CATCH_UP_MS:
            more = super().drain()
        if self._folds.taken != taken:
            self._renew_all()
        return more

    def picture(self) -> ScreenView:
        """The session at the position. What is looked at is not being recorded."""
        return replace(super().picture(), recording=None)
