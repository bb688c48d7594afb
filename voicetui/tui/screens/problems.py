"""What could not be read of a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen

from voicetui.tui.canvas import rule
from voicetui.tui.drawn import Drawn
from voicetui.tui.ink import BLANK, Row, Run, wrap_runs
from voicetui.tui.literal import literal


class ProblemsPage(Drawn):
    """One after the other, as many as there is room for."""

    DEFAULT_CSS = "ProblemsPage { height: 1fr; width: 1fr; }"

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__()
        self._problems = tuple(problems)

    def draw(self, size: Size) -> Sequence[Row]:
        """A heading, and the sentences."""
        width, height = size
        rows = [Row(rule(width, "what could not be read", "esc goes back")), BLANK]
        if not self._problems:
            return [*rows, Row((Run("  Everything could be read."),))]
        for problem in self._problems:
            lines = wrap_runs([Run(literal(problem))], width - 6)
            rows.append(Row((Run("  ✖ ", "alert"), *lines[0])))
            rows += [Row((Run("    "), *line)) for line in lines[1:]]
        if len(rows) > height - 2:
            hidden = len(rows) - (height - 3)
            rows = [*rows[: height - 3], Row((Run(f"    and {hidden} lines more", "dim"),))]
        return [*rows, BLANK, Row((Run("  Everything else is shown; the files were not changed.", "dim"),))]


class ProblemsScreen(ModalScreen[None]):
    """Any of its keys goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,w,q,enter,space", "dismiss", "Back", show=False),
        Binding("ctrl+c", "app.leave_now", show=False),
    ]
    DEFAULT_CSS = "ProblemsScreen { background: $background; }"

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__()
        self._problems = problems

    def compose(self) -> ComposeResult:
        """The page."""
        yield ProblemsPage(self._problems)

    def on_click(self) -> None:
        """A click goes back, too."""
        self.dismiss()
