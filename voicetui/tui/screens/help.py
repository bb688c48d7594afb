"""Help that teaches: one screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen

from voicetui.tui.actions import Action
from voicetui.tui.canvas import rule
from voicetui.tui.drawn import Drawn
from voicetui.tui.ink import BLANK, Row
from voicetui.tui.lessons import beside, gap_lesson, key_lesson, stage_lesson


class Lessons(Drawn):
    """Gap, stages and keys, in as many columns as there is room for."""

    DEFAULT_CSS = "Lessons { height: 1fr; width: 1fr; }"

    def __init__(self, actions: Sequence[Action]) -> None:
        super().__init__()
        self._actions = actions

    def draw(self, size: Size) -> Sequence[Row]:
        """The whole page."""
        width, height = size
        head = [Row(rule(width, "help", "esc goes back"))]
        if width < 110 or height < 30:
            cells = (width - 7) // 2
            upper = beside([gap_lesson(cells, False), stage_lesson(cells, False)], cells, 3)
            lower = beside([key_lesson(self._actions, width - 4, False)], width - 4, 0)
            return [*head, *upper, *([BLANK] if height > 1 + len(upper) + len(lower) else []), *lower]
        cells = min(56, (width - 12) // 3)
        columns = [
            gap_lesson(cells, True),
            stage_lesson(cells, True),
            key_lesson(self._actions, cells, True, height - 2),
        ]
        return [*head, BLANK, *beside(columns, cells, 4)]


class HelpScreen(ModalScreen[None]):
    """Any of its keys goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,f1,q,enter,space", "dismiss", "Back", show=False),
        Binding("ctrl+c", "app.leave_now", show=False),
    ]
    DEFAULT_CSS = "HelpScreen { background: $background; }"

    def __init__(self, actions: Sequence[Action]) -> None:
        """``actions`` are what can be done."""
        super().__init__()
        self._actions = actions

    def compose(self) -> ComposeResult:
        """The page."""
        yield Lessons(self._actions)

    def on_click(self) -> None:
        """A click goes back, too."""
        self.dismiss()
