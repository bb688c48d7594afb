"""What every app of the program has in common: its themes, and leaving when a signal says so."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from textual.app import App, ReturnType, SystemCommand
from textual.screen import Screen

from voicetui.tui.themes import DARK, THEMES


class ThemedApp(App[ReturnType]):
    """Has the program's own themes."""

    ESCAPE_TO_MINIMIZE = False

    def __init__(self, theme: str = DARK.name) -> None:
        """``theme`` is the one to begin with; an unknown one is the dark one."""
        super().__init__()
        self._told_to_leave = False
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide"), (160, "-huge")]
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall"), (46, "-lofty")]
        for each in THEMES:
            self.register_theme(each)
        self.theme = theme if theme in self.available_themes else DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Inks for themes that do not bring their own."""
        return DARK.variables

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette's entries: each theme by name, whatever the screen."""
        del screen
        for theme in THEMES:
            choose = partial(setattr, self, "theme", theme.name)
            yield SystemCommand(f"Theme: {theme.name}", "What the screen looks like", choose)

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
        self.deliver_screenshot(path=str(Path.cwd()))
