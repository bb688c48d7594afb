"""Where a recorded session is, for the widgets that move in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voicetui.events import Entry
from voicetui.events.session import SessionOpened
from voicetui.tui.drawn import Drawn
from voicetui.tui.transport import State, Transport
from voicetui.views.landmarks import Landmarks


@dataclass(frozen=True, slots=True)
class PlayView:
    """One immutable picture of it.

    ``shown`` entries lie before the position, of which the newest ``behind`` are not in the picture yet.  ``entries``
    are all there are; those that were there do not change.  ``silent`` says why nothing is heard, ``said`` answers
    what was asked for last ("" mostly).
    """

    name: str
    position_ms: float
    length_ms: float
    state: State
    speed: float
    muted: frozenset[str]
    silent: str
    growing: bool
    closed: bool
    redacted: bool
    shown: int
    behind: int
    entries: Sequence[Entry]
    total: int
    problems: tuple[str, ...]
    landmarks: Landmarks
    opened: SessionOpened | None
    said: str = ""

    @property
    def current(self) -> Entry | None:
        """The newest entry before the position."""
        return self.entries[self.shown - 1] if self.shown else None


def play_view(
    name: str, tape: Transport, behind: int, landmarks: Landmarks, opened: SessionOpened | None, said: str
) -> PlayView:
    """What ``tape`` is like now."""
    return PlayView(
        name=name,
        position_ms=tape.now_ms(),
        length_ms=tape.length_ms,
        state=tape.state,
        speed=tape.speed,
        muted=tape.muted,
        silent=tape.silent,
        growing=tape.growing,
        closed=tape.closed,
        redacted=tape.redacted,
        shown=tape.shown,
        behind=behind,
        entries=tape.entries,
        total=len(tape.entries),
        problems=tape.problems,
        landmarks=landmarks,
        opened=opened,
        said=said,
    )


class PlayPanel(Drawn):
    """A widget that draws from such a picture. Draws when what it shows changed."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.play: PlayView | None = None
        self._drawn_from: tuple[object, ...] | None = None

    def depends_on(self, play: PlayView) -> tuple[object, ...]:
        """What the drawing is made from, as values that are quick to compare."""
        raise NotImplementedError

    def show_play(self, play: PlayView) -> None:
        """Draw this picture, if it differs in what matters here."""
        self.play = play
        sources = self.depends_on(play)
        if sources != self._drawn_from:
            self.redraw()
            self._drawn_from = sources if self.content_size.width > 0 else None
