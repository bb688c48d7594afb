"""The screen of the recorded sessions, from start to end."""

from __future__ import annotations

from voicetui.journal.listing import Listed
from voicetui.journal.sift import Order
from voicetui.tui.screens.sessions import SessionsScreen, Shelf
from voicetui.tui.still_app import StillApp, run_still


class SessionsApp(StillApp[Listed]):
    """Shows the recorded sessions; its answer is the one to be opened."""

    TITLE = "voicetui sessions"

    def __init__(self, shelf: Shelf, order: Order = "date", chosen: str = "") -> None:
        """``chosen`` is the name of the session the cursor begins at."""
        self.sessions = SessionsScreen(shelf, order, chosen)
        super().__init__(self.sessions)


def run_sessions(shelf: Shelf, order: Order, chosen: str = "") -> tuple[int, Listed | None]:
    """Show the sessions until their user leaves or opens one: the exit status, and which. As ``run_still`` ends."""
    return run_still(SessionsApp(shelf, order, chosen))
