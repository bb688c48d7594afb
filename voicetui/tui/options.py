"""What the screen is told from outside: plain values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """``title`` stands in the status line until the session has opened; ``notice`` is shown until it is put away.

    ``typed_only``: there is no microphone.  ``present`` starts in presenter mode.  ``theme`` is a theme's name (""
    for the own dark one).  ``tiers`` can be chosen from (empty: those the session knows).  ``close_when_finished``
    leaves when the session ends.  ``recorded`` says whether the session is (None: what its configuration says).
    """

    title: str
    notice: str = ""
    typed_only: bool = False
    present: bool = False
    theme: str = ""
    tiers: tuple[str, ...] = ()
    close_when_finished: bool = False
    recorded: bool | None = None
