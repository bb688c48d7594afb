"""The terminal screen of a session that goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import BindingType

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
from voicetui.tui.actions import ACTIONS, bindings
from voicetui.tui.feed import Feed, Session
from voicetui.tui.figures import STAGES, gaps_of, gaps_text
from voicetui.tui.options import ScreenOptions
from voicetui.tui.screens.choose import ChooseScreen
from voicetui.tui.screens.devices import DevicesScreen
from voicetui.tui.screens.live import LiveScreen
from voicetui.tui.session_app import LEAVE_TICKS, PICTURES_PER_S, SessionApp
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.type_line import TypeLine

__all__ = ["LEAVE_TICKS", "PICTURES_PER_S", "ScreenOptions", "VoiceTui"]

OVERLAPS: dict[Overlap, str] = {
    "none": "one stage after the other",
    "clause": "speak while the rest is written",
    "full": "begin before you have finished",
}


class VoiceTui(SessionApp):
    """Shows a session that goes on, and passes on what its user wants."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    def __init__(
        self,
        engine: Session,
        options: ScreenOptions,
        leaving: Callable[[], None] | None = None,
        takes_output: Callable[[], bool] = lambda: True,
    ) -> None:
        """As in ``SessionApp``."""
        screen = LiveScreen(options.title, options.notice, options.typed_only)
        super().__init__(engine, options, (Feed(engine, options.recorded), screen, ACTIONS), leaving, takes_output)

    def _show(self, view: ScreenView) -> None:
        super()._show(view)
        for screen in self.seen_screens():
            if isinstance(screen, DevicesScreen):
                screen.show(view)

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

    def action_earlier(self) -> None:
        """Look back on the timeline."""
        self.live.timeline.scroll_pages(-0.25)

    def action_later(self) -> None:
        """Look forward on the timeline."""
        self.live.timeline.scroll_pages(0.25)

    def action_follow(self) -> None:
        """Newest turn, newest time."""
        self.live.follow()

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


def _tier_note(tier: TierFacts | None) -> str:
    if tier is None:
        return ""
    return f"{tier.kind}, simulated" if tier.simulated else f"{tier.kind}, {tier.model}" if tier.model else tier.kind
