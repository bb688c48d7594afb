"""The screen of a comparison, from start to end."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from voicetui.tui.compared import ComparedView
from voicetui.tui.leaving import Deadline, TerminalGuard, on_signals
from voicetui.tui.screens.compare import CompareScreen, RowsFor
from voicetui.tui.themes import DARK, THEMES

LOOK_S = 0.1
"""How often it is looked whether a signal came."""


class CompareApp(App[None]):
    """Shows comparisons of one session with others. Nothing on it changes but what its user does."""

    TITLE = "voicetui compare"
    ESCAPE_TO_MINIMIZE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "quit", show=False),
        Binding("ctrl+q,ctrl+c", "quit", show=False, priority=True),
        Binding("T", "look", show=False),
        Binding("S", "picture", show=False),
    ]

    def __init__(self, views: Sequence[ComparedView], details: RowsFor) -> None:
        """``views`` are the comparisons, one for each session beside the base; ``details`` all figures as rows."""
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide"), (160, "-huge")]
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall"), (46, "-lofty")]
        self._told_to_leave = False
        self.compare = CompareScreen(views, details)
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
        await self.push_screen(self.compare)
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


def run_compare(views: Sequence[ComparedView], details: RowsFor) -> int:
    """Show comparisons until their user leaves; the exit status.

    Standard input and output must be a terminal. After SIGTERM or SIGHUP the process ends within two seconds, the
    terminal as it was.
    """
    over = threading.Event()
    deadline = Deadline(lambda: None, over.wait, TerminalGuard())
    caught: list[int] = []
    app = CompareApp(views, details)

    def handle(number: int) -> None:
        caught.append(number)
        deadline.start(128 + number)
        app.leave_soon()

    with on_signals(handle):
        app.run()
    over.set()
    deadline.met()
    return 128 + caught[0] if caught else 1 if app.return_code else 0
