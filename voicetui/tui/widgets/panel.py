"""A widget that draws from a picture of the session."""

from __future__ import annotations

from voicetui.tui.drawn import Drawn
from voicetui.tui.view import ScreenView

_PLAIN = (int, float, str, type(None))


class Panel(Drawn):
    """Keeps the newest picture, and which turn is selected (None: the newest). Draws when what it shows changed."""

    def __init__(self, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.view: ScreenView | None = None
        self.selected: int | None = None
        self._drawn_from: tuple[object, ...] | None = None

    def depends_on(self, view: ScreenView) -> tuple[object, ...]:
        """What the drawing is made from; the parts of a picture that did not change are the same objects as before."""
        return (view,)

    def show(self, view: ScreenView, selected: int | None = None) -> bool:
        """Draw this picture, if it differs in what matters here; whether it did."""
        self.view, self.selected = view, selected
        sources = (selected, *self.depends_on(view))
        if self._drawn_from is not None and all(map(_same, sources, self._drawn_from)):
            return False
        self._drawn_from = sources if self.redraw() else None
        return True


def _same(new: object, old: object) -> bool:
    """The same object, or an equal plain value: comparing large pictures would cost more than drawing."""
    return new is old or (isinstance(new, _PLAIN) and new == old)
