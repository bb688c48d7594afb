"""An app on which nothing moves but what its user does, from start to end."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from textual.app import ReturnType
from textual.binding import Binding, BindingType
from textual.screen import Screen

from voicetui.tui.leaving import Deadline, TerminalGuard, on_signals
from voicetui.tui.themed_app import ThemedApp

LOOK_S = 0.1
"""How often it is looked whether a signal came."""


class StillApp(ThemedApp[ReturnType]):
    """Shows one screen, and what its user opens from there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q,ctrl+c", "quit", show=False, priority=True),
        Binding("T", "look", show=False),
        Binding("S", "picture", show=False),
    ]

    def __init__(self, first: Screen[Any]) -> None:
        super().__init__()
        self._first = first

    async def on_mount(self) -> None:
        """Show the screen."""
        await self.push_screen(self._first)
        self.set_interval(LOOK_S, self._leave_if_told)

    def _leave_if_told(self) -> None:
        if self._told_to_leave:
            self.exit()


def run_still(app: StillApp[ReturnType]) -> tuple[int, ReturnType | None]:
    """Show it until its user leaves: the exit status, and the app's answer.

    Standard input and output must be a terminal. After a signal that ends programs the process ends within two
    seconds, the terminal as it was.
    """
    over = threading.Event()
    deadline = Deadline(lambda: None, over.wait, TerminalGuard())
    caught: list[int] = []

    def handle(number: int) -> None:
        caught.append(number)
        deadline.start(128 + number)
        app.leave_soon()

    with on_signals(handle):
        answer = app.run()
    over.set()
    deadline.met()
    if caught:
        return 128 + caught[0], None
    return 1 if app.return_code else 0, answer
