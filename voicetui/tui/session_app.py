"""The terminal screen of a session: what is the same for one that goes on and for a recorded one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar

from textual.app import SystemCommand
from textual.screen import Screen

from voicetui.tui.actions import Action
from voicetui.tui.feed import Feed, Session
from voicetui.tui.options import ScreenOptions
from voicetui.tui.screens.help import HelpScreen
from voicetui.tui.screens.ledger import LedgerScreen
from voicetui.tui.screens.live import LiveScreen
from voicetui.tui.screens.presenter import PresenterScreen
from voicetui.tui.themed_app import ThemedApp
from voicetui.tui.turn_facts import turn_text
from voicetui.tui.view import ScreenView

PICTURES_PER_S = 20
"""How often the screen looks at the journal."""
DRAWING_MS = 2.5
"""How long after its beginning, its figures' share included, a picture may still be drawn at; the terminal's share of
the work comes after that.
"""
LEAVE_TICKS = 30
"""How many ticks leaving waits for the engine: 1.5 s."""


class SessionApp(ThemedApp[None]):
    """Shows a session, whichever it is. Owns no part of it."""

    TITLE = "voicetui"
    ENABLE_COMMAND_PALETTE = True
    CSS = "SearchIcon { display: none; }"
    COVERING: ClassVar[tuple[type[Screen[Any]], ...]] = (PresenterScreen, HelpScreen, LedgerScreen)
    """Screens that fill the terminal: what lies below is not drawn."""

    def __init__(
        self,
        engine: Session,
        options: ScreenOptions,
        parts: tuple[Feed, LiveScreen, tuple[Action, ...]],
        leaving: Callable[[], None] | None = None,
        takes_output: Callable[[], bool] = lambda: True,
        busy_ms: Callable[[], float] | None = None,
    ) -> None:
        """``parts``: where pictures come from, the screen they are shown on, and what can be done.

        ``leaving`` is called once when the screen is to go, and stops the engine; without it the screen does.
        ``takes_output`` tells whether the terminal reads: while it does not, nothing is drawn.  ``busy_ms`` is the
        clock that work is measured with, the session's where none is given.
        """
        super().__init__(options.theme)
        self._ask_to_stop = leaving or engine.stop
        self._takes_output = takes_output
        self._busy_ms = busy_ms or engine.now_ms
        self._begun_ms = 0.0
        self._engine = engine
        self._options = options
        self._feed, self.live, self._actions = parts
        self._view: ScreenView | None = None
        self._leaving: int | None = None

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette's entries: the action table, and each theme by name, whatever the screen."""
        for each in self._actions:
            if each.keys:
                yield SystemCommand(each.help, f"Key: {each.shown}", partial(self.run_action, each.name))
        yield from super().get_system_commands(screen)

    async def on_mount(self) -> None:
        """Show the live screen and start looking."""
        await self.push_screen(self.live)
        if self._options.present:
            await self.push_screen(PresenterScreen())
        self.set_interval(1 / PICTURES_PER_S, self.look_again)
        self.look_again()

    def look_again(self) -> None:
        """Take what is new and show it; leave when it is time to.

        A picture that the terminal has no room for would wait in a queue, and the keys behind it: the next one will do.
        """
        self._feed.drain()
        self._begun_ms = self._busy_ms()
        self._view = view = self._feed.picture()
        if self._takes_output():
            self._show(view)
        if self._told_to_leave and self._leaving is None:
            self.action_leave()
        if self._leaving is not None:
            self._leaving += 1
            if not view.running or self._leaving > LEAVE_TICKS:
                self.exit()
        elif self._options.close_when_finished and not view.running:
            self.exit()

    def _show(self, view: ScreenView) -> None:
        for screen in self.seen_screens():
            if isinstance(screen, LiveScreen):
                screen.show(view, lambda: self._busy_ms() - self._begun_ms > DRAWING_MS)
            elif isinstance(screen, PresenterScreen):
                screen.show(view)

    def seen_screens(self) -> list[Screen[Any]]:
        """The screens of which anything can be seen, lowest first."""
        stack = self.screen_stack
        covering = [place for place, screen in enumerate(stack) if isinstance(screen, self.COVERING)]
        return stack[covering[-1] :] if covering else list(stack)

    @property
    def view(self) -> ScreenView | None:
        """The newest picture."""
        return self._view

    def action_turn_before(self) -> None:
        """Select the turn before."""
        self._select(-1)

    def action_turn_after(self) -> None:
        """Select the turn after."""
        self._select(1)

    def action_span_before(self) -> None:
        """Choose the piece of work before the chosen one."""
        self.live.timeline.choose_beside(-1)

    def action_span_after(self) -> None:
        """Choose the piece of work after the chosen one."""
        self.live.timeline.choose_beside(1)

    def action_read_back(self) -> None:
        """Read back in the conversation."""
        self.live.conversation.scroll_rows(6)

    def action_read_on(self) -> None:
        """Read on in the conversation."""
        self.live.conversation.scroll_rows(-6)

    def action_zoom_in(self) -> None:
        """Fewer milliseconds per cell."""
        self.live.timeline.zoom(-1)

    def action_zoom_out(self) -> None:
        """More milliseconds per cell."""
        self.live.timeline.zoom(1)

    def action_present(self) -> None:
        """Presenter mode, or back from it."""
        if isinstance(self.screen, PresenterScreen):
            self.pop_screen()
        elif isinstance(self.screen, LiveScreen):
            self.push_screen(PresenterScreen())
        self.call_after_refresh(self.look_again)

    def action_copy(self) -> None:
        """Copy the selected turn, else the newest."""
        if self._view is None or not self._view.turns:
            return
        turn = self._view.turn(self.live.selected) or self._view.turns[-1]
        self.copy_to_clipboard(turn_text(self._view, turn))
        inside = " tmux keeps that to itself unless `set-clipboard` is on." if "TMUX" in os.environ else ""
        self.notify(f"Turn {turn.turn} was handed to the terminal's clipboard.{inside}", markup=False, timeout=4)

    def action_help(self) -> None:
        """Show what everything means."""
        self.push_screen(HelpScreen(self._actions))

    def action_ledger(self) -> None:
        """Show what speculation saves and wastes."""
        if self._view is not None:
            self.push_screen(LedgerScreen(self._view.ledger))

    def action_dismiss(self) -> None:
        """Put the message away."""
        self._feed.dismiss_fault()
        self.live.put_notice_away()

    def action_leave(self) -> None:
        """End the session, then leave; a second time: leave at once."""
        if self._leaving is not None:
            self.exit()
            return
        self._leaving = 0
        self._ask_to_stop()

    def action_leave_now(self) -> None:
        """The same, from anywhere."""
        self.action_leave()

    async def action_quit(self) -> None:
        """The framework's own way of leaving is ours."""
        self.action_leave()

    def _select(self, step: int) -> None:
        if self._view is not None:
            self.live.select_beside(self._view, step)
