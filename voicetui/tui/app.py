"""The terminal screen of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from voicetui.events.session import (
    GapStaged,
    InterruptAsked,
    Muted,
    Overlap,
    OverlapChosen,
    Said,
    TalkKey,
    TierChosen,
    TierFacts,
)
from voicetui.tui.actions import ACTIONS
from voicetui.tui.feed import Feed, Session
from voicetui.tui.figures import STAGES, gaps_of, gaps_text
from voicetui.tui.options import ScreenOptions
from voicetui.tui.screens.choose import ChooseScreen
from voicetui.tui.screens.devices import DevicesScreen
from voicetui.tui.screens.help import HelpScreen
from voicetui.tui.screens.ledger import LedgerScreen
from voicetui.tui.screens.live import LiveScreen
from voicetui.tui.screens.presenter import PresenterScreen
from voicetui.tui.themes import DARK, THEMES
from voicetui.tui.turn_facts import turn_text
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.type_line import TypeLine

__all__ = ["ScreenOptions", "VoiceTui"]

PICTURES_PER_S = 20
"""How often the screen looks at the journal."""
DRAWING_MS = 2.5
"""How long after its beginning a picture may still be drawn at; the terminal's share of the work comes after that."""
LEAVE_TICKS = 30
"""How many ticks leaving waits for the engine: 1.5 s."""
OVERLAPS: dict[Overlap, str] = {
    "none": "one stage after the other",
    "clause": "speak while the rest is written",
    "full": "begin before you have finished",
}


class VoiceTui(App[None]):
    """Shows a session and passes on what its user wants. Owns no part of the session."""

    TITLE = "voicetui"
    ENABLE_COMMAND_PALETTE = True
    ESCAPE_TO_MINIMIZE = False
    CSS = "SearchIcon { display: none; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, each.name, each.label, show=False, priority=key in each.everywhere)
        for each in ACTIONS
        for key in each.keys
    ]

    def __init__(
        self,
        engine: Session,
        options: ScreenOptions,
        leaving: Callable[[], None] | None = None,
        takes_output: Callable[[], bool] = lambda: True,
    ) -> None:
        """``leaving`` is called once when the screen is to go, and stops the engine; without it the screen does.

        ``takes_output`` tells whether the terminal reads: while it does not, nothing is drawn.
        """
        super().__init__()
        self._ask_to_stop = leaving or engine.stop
        self._takes_output = takes_output
        self._told_to_leave = False
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide"), (160, "-huge")]
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall"), (46, "-lofty")]
        self._engine = engine
        self._options = options
        self._feed = Feed(engine, options.recorded)
        self._view: ScreenView | None = None
        self._leaving: int | None = None
        self.live = LiveScreen(options.title, options.notice, options.typed_only)
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = options.theme if options.theme in self.available_themes else DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Inks for themes that do not bring their own."""
        return DARK.variables

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette's entries: the action table, and each theme by name, whatever the screen."""
        del screen
        for each in ACTIONS:
            if each.keys:
                yield SystemCommand(each.help, f"Key: {each.shown}", partial(self.run_action, each.name))
        for theme in THEMES:
            yield SystemCommand(
                f"Theme: {theme.name}", "What the screen looks like", partial(setattr, self, "theme", theme.name)
            )

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
        for screen in self.screen_stack:
            if isinstance(screen, LiveScreen | PresenterScreen | DevicesScreen) and not _covered(
                screen, self.screen_stack
            ):
                if isinstance(screen, LiveScreen):
                    screen.show(view, lambda: self._engine.now_ms() - view.now_ms > DRAWING_MS)
                else:
                    screen.show(view)

    @property
    def view(self) -> ScreenView | None:
        """The newest picture."""
        return self._view

    def leave_soon(self) -> None:
        """Leave at the next look. May be called from a signal handler."""
        self._told_to_leave = True

    def action_talk(self) -> None:
        """Press or release the talk key: a terminal tells of no key that is let go, so the next press releases it."""
        if self._view is not None:
            self._engine.post(TalkKey(not self._view.state.talk_key))

    def action_interrupt(self) -> None:
        """Silence the reply."""
        self._engine.post(InterruptAsked())

    def action_mute(self) -> None:
        """Microphone off or on."""
        if self._view is not None:
            self._engine.post(Muted(not self._view.state.muted))

    def action_type(self) -> None:
        """Let the user type a turn."""
        self.live.query_one(TypeLine).open()

    def on_type_line_typed(self, event: TypeLine.Typed) -> None:
        """A turn was typed."""
        self._engine.post(Said(event.text))

    def action_tier(self) -> None:
        """Ask which tier answers the next turn."""
        if self._view is None:
            return
        known = {tier.name: tier for tier in self._view.state.tiers}
        choices = [(name, _tier_note(known.get(name))) for name in self._options.tiers or tuple(known)]
        self._choose("Who answers the next turn?", choices, self._view.state.tier.name, TierChosen)

    def action_overlap(self) -> None:
        """Ask how much may run at the same time."""
        if self._view is not None:
            modes = {str(mode): mode for mode in OVERLAPS}
            self._choose(
                "What may overlap in the next turn?",
                list(OVERLAPS.items()),
                self._view.state.overlap,
                lambda chosen: OverlapChosen(modes[chosen]),
            )

    def action_gap(self) -> None:
        """Ask which gap to stage."""
        if self._view is not None:
            present = gaps_text(self._view.state.staged_gaps_ms)
            self._choose(
                "Which gap shall be staged?", list(STAGES.items()), present, lambda chosen: GapStaged(gaps_of(chosen))
            )

    def action_devices(self) -> None:
        """Show the microphones and speakers that can be used."""
        self.push_screen(DevicesScreen(self._engine.devices, self._engine.post))
        self.call_after_refresh(self.look_again)

    def action_turn_before(self) -> None:
        """Select the turn before."""
        self._select(-1)

    def action_turn_after(self) -> None:
        """Select the turn after."""
        self._select(1)

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

    def action_earlier(self) -> None:
        """Look back on the timeline."""
        self.live.timeline.scroll_pages(-0.25)

    def action_later(self) -> None:
        """Look forward on the timeline."""
        self.live.timeline.scroll_pages(0.25)

    def action_follow(self) -> None:
        """Newest turn, newest time."""
        self.live.follow()

    def action_present(self) -> None:
        """Presenter mode, or back from it."""
        if isinstance(self.screen, PresenterScreen):
            self.pop_screen()
        elif isinstance(self.screen, LiveScreen):
            self.push_screen(PresenterScreen())
        self.call_after_refresh(self.look_again)

    def action_look(self) -> None:
        """The next of the own themes."""
        names = [theme.name for theme in THEMES]
        place = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(place + 1) % len(names)]

    def action_copy(self) -> None:
        """Copy the selected turn, else the newest."""
        if self._view is None or not self._view.turns:
            return
        turn = self._view.turn(self.live.selected) or self._view.turns[-1]
        self.copy_to_clipboard(turn_text(self._view, turn))
        self.notify(f"Turn {turn.turn} is in the clipboard.", markup=False, timeout=3)

    def action_picture(self) -> None:
        """Save the screen as an SVG file where the program was started."""
        self.deliver_screenshot()

    def action_help(self) -> None:
        """Show what everything means."""
        self.push_screen(HelpScreen())

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

    def _choose(
        self,
        question: str,
        choices: Sequence[tuple[str, str]],
        present: str,
        fact: Callable[[str], TierChosen | OverlapChosen | GapStaged],
    ) -> None:
        """Ask; what was chosen becomes a fact, unless it is what there is already."""

        def answered(chosen: str | None) -> None:
            if chosen and chosen != present:
                self._engine.post(fact(chosen))

        self.push_screen(ChooseScreen(question, choices, present), answered)


def _covered(screen: Screen[Any], stack: Sequence[Screen[Any]]) -> bool:
    """Whether a screen that fills the terminal lies above."""
    return any(
        isinstance(above, PresenterScreen | HelpScreen | LedgerScreen) for above in stack[stack.index(screen) + 1 :]
    )


def _tier_note(tier: TierFacts | None) -> str:
    if tier is None:
        return ""
    return f"{tier.kind}, simulated" if tier.simulated else f"{tier.kind}, {tier.model}" if tier.model else tier.kind
