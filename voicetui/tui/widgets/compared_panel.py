"""A widget that draws from a comparison."""

from __future__ import annotations

from voicetui.tui.compared import ComparedView
from voicetui.tui.drawn import Drawn


class ComparedPanel(Drawn):
    """Keeps the comparison it shows, and the pair of turns that is looked at."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view: ComparedView | None = None

    def show(self, view: ComparedView) -> None:
        """Show this comparison and pair."""
        self.view = view
        self.redraw()
