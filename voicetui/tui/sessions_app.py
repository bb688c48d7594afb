"""The screen of the recorded sessions, from start to end."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from voicetui.journal.library import Listed
from voicetui.journal.sift import Order
from voicetui.tui.leaving import Deadline, TerminalGuard, on_signals
from voicetui.tui.screens.sessions import SessionsScreen, Shelf
from voicetui.tui.themes import DARK, THEMES

LOOK_S = 0.1
"""How often it is looked whether a signal came."""


class SessionsApp(App[Listed]):
    """Shows the recorded sessions; its answer is the one to be opened."""

    TITLE = "voicetui sessions"
    ESCAPE_TO_MINIMIZE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q,ctrl+c", "quit", show=False, priority=True),
        Binding("T", "look", show=False),
        Binding("S", "picture", show=False),
    ]

    def __init__(self, shelf: Shelf, order: Order = "date", chosen: str = "") -> None:
        """``chosen`` is the name of the session the cursor begins at."""
        super().__init__()
        self._told_to_leave = False
        self.sessions = SessionsScreen(shelf, order, chosen)
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Inks for themes that do not bring their own."""
        return DARK.variables

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette's entries: each theme by name."""
        del screen
        for theme in THEMES:
            choose = partial(setattr, self, "theme", theme.name)
            yield SystemCommand(f"Theme: {theme.name}", "What the screen looks like", choose)

    async def on_mount(self) -> None:
        """Show the screen."""
        await self.push_screen(self.sessions)
        self.set_interval(LOOK_S, self._leave_if_told)

    def leave_soon(self) -> None:
        """Leave at the next look. May be called from a signal handler."""
        self._told_to_leave = True

    def action_look(self) -> None:
        """The next of the own themes."""
        names = [theme.name for theme in THEMES]
        place = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(place + 1) % len(names)]

    def action_picture(self) -> None:
        """Save the screen as an SVG file where the program was started."""
        self.deliver_screenshot()

    def _leave_if_told(self) -> None:
        if self._told_to_leave:
            self.exit()


def run_sessions(shelf: Shelf, order: Order, chosen: str = "") -> tuple[int, Listed | None]:
    """Show the sessions until their user leaves or opens one: the exit status, and which.

    Standard input and output must be a terminal. After SIGTERM or SIGHUP the process ends within two seconds, the
    terminal as it was.
    """
    over = threading.Event()
    deadline = Deadline(lambda: None, over.wait, TerminalGuard())
    caught: list[int] = []
    app = SessionsApp(shelf, order, chosen)

    def handle(number: int) -> None:
        caught.append(number)
        deadline.start(128 + number)
        app.leave_soon()

    with on_signals(handle):
        opened = app.run()
    over.set()
    deadline.met()
    if caught:
        return 128 + caught[0], None
    return 1 if app.return_code else 0, opened
