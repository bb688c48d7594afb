"""A recorded session: the live screen, and below it the bar to move in time."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from voicetui.tui.actions import REPLAY_ACTIONS
from voicetui.tui.play_view import PlayPanel, PlayView
from voicetui.tui.screens.live import LiveScreen
from voicetui.tui.widgets.scrub_bar import ScrubBar


class ReplayScreen(LiveScreen):
    """Everything that was seen while the session went on."""

    LIVE = False
    DEFAULT_CSS = "ReplayScreen { &.-tall ScrubBar, &.-lofty ScrubBar { height: 4; } }"

    def __init__(self, title: str, notice: str) -> None:
        super().__init__(title, notice, actions=REPLAY_ACTIONS)

    def below(self) -> Iterable[Widget]:
        """The bar."""
        yield ScrubBar(id="scrub")

    def show_play(self, play: PlayView) -> None:
        """Hand the picture to the bar."""
        for panel in self.query(PlayPanel):
            panel.show_play(play)
