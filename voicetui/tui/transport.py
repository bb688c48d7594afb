"""What the screen needs to move in a recorded session, beside what it needs of any session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from voicetui.events import Entry
from voicetui.tui.feed import Session

State = Literal["playing", "paused", "waiting", "end"]
Side = Literal["user", "reply"]


class Transport(Session, Protocol):
    """A recorded session at a position. ``now_ms`` is that; every time is one of the session's clock, but ``clock_ms``
    is the viewer's.
    """

    muted: frozenset[str]
    redacted: bool
    """Whether words or sound were taken out of it."""

    def clock_ms(self) -> float:
        """The time of the one who watches."""

    @property
    def shown(self) -> int:
        """How many entries lie before the position."""

    @property
    def entries(self) -> Sequence[Entry]:
        """All there are so far."""

    @property
    def length_ms(self) -> float:
        """Where the session ends, so far."""

    @property
    def closed(self) -> bool:
        """Whether it ended in order."""

    @property
    def growing(self) -> bool:
        """Whether it is still being written."""

    @property
    def state(self) -> State:
        """``waiting``: for more to be written."""

    @property
    def speed(self) -> float:
        """Session time for each unit of the viewer's."""

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read, a sentence each."""

    @property
    def silent(self) -> str:
        """Why nothing is heard while it plays; "" where something is."""

    def due_ms(self, index: int) -> float:
        """When an entry is shown."""

    def play(self) -> None:
        """Go on; from the end, at the beginning."""

    def pause(self) -> None:
        """Stand."""

    def seek(self, position_ms: float) -> None:
        """Go to a time."""

    def step(self, entries: int) -> None:
        """Go so many entries on or back, and stand."""

    def quicken(self, steps: int) -> None:
        """Faster or slower."""

    def mute(self, side: Side) -> None:
        """Mute a track, or let it be heard again."""
