"""Presenter mode: one huge gap with its band in words, two waveforms, the lanes, nothing else."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from voicetui.tui.lanes import Tall
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.huge_gap import HugeGap
from voicetui.tui.widgets.panel import Panel
from voicetui.tui.widgets.timeline import TimelinePanel


class PresenterScreen(Screen[None]):
    """Readable from the back of a room. Every key works as on the live screen; p goes back."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("p", "app.present", "Back", show=False)]
    DEFAULT_CSS = """
    PresenterScreen {
        background: $background;
        TimelinePanel { height: 11; }
        &.-tall TimelinePanel { height: 17; }
        &.-lofty TimelinePanel { height: 21; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._panels: list[Panel] = []

    def compose(self) -> ComposeResult:
        """The number above, the lanes below."""
        yield HugeGap()
        lanes = TimelinePanel()
        lanes.tall = Tall(durations=False)
        yield lanes

    def show(self, view: ScreenView) -> None:
        """Hand the picture to both parts."""
        self._panels = self._panels or list(self.query(Panel))
        for panel in self._panels:
            panel.show(view)
