"""A widget that draws from a picture of the session."""

from __future__ import annotations

from voicetui.tui.drawn import Drawn
from voicetui.tui.view import ScreenView


class Panel(Drawn):
    """Keeps the newest picture, and which turn is selected (None: the newest)."""

    def __init__(self, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.view: ScreenView | None = None
        self.selected: int | None = None

    def show(self, view: ScreenView, selected: int | None = None) -> None:
        """Draw this picture."""
        self.view, self.selected = view, selected
        self.redraw()
