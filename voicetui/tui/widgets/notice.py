"""What went wrong, where, and what to do about it; or what there is to know at the start."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from voicetui.tui.ink import Row, Run, wrap_runs
from voicetui.tui.literal import literal
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.panel import Panel

_MOST_ROWS = 4


class NoticeBar(Panel):
    """Takes no room while there is nothing to say."""

    DEFAULT_CSS = "NoticeBar { height: auto; max-height: 4; background: $surface; display: none; }"

    def __init__(self, notice: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self._notice = literal(notice)

    def show(self, view: ScreenView, selected: int | None = None) -> None:
        """Appear with what there is to say, or go."""
        self.view, self.selected = view, selected
        runs = self._runs()
        self.display = bool(runs)
        lines = len(wrap_runs(runs, max(20, self.app.size.width - 4))) if runs else 0
        self.styles.height = min(_MOST_ROWS, max(1, lines))
        self.redraw()

    def put_away(self) -> None:
        """The opening notice was read."""
        self._notice = ""

    def draw(self, size: Size) -> Sequence[Row]:
        """The words, wrapped."""
        width = size.width
        runs = self._runs()
        if not runs:
            return []
        return [
            Row((Run(" " if number == 0 else "   "), *line)) for number, line in enumerate(wrap_runs(runs, width - 4))
        ]

    def _runs(self) -> list[Run]:
        view = self.view
        if view is None:
            return []
        if view.failure:
            return [
                Run("✖ the session failed: ", "alert"), Run(literal(view.failure)),
                Run("  → the log of this session tells more; q leaves", "notice"),
            ]  # fmt: skip
        if view.fault is not None:
            stage = f"{literal(view.fault.stage)}: " if view.fault.stage else ""
            remedy = f"  → {literal(view.fault.remedy)}" if view.fault.remedy else ""
            return [
                Run(f"✖ {stage}", "alert"), Run(literal(view.fault.message)), Run(remedy, "notice"), Run("  x puts this away", "faint")
            ]  # fmt: skip
        if self._notice:
            return [Run("ℹ ", "accent"), Run(self._notice, "notice"), Run("  x puts this away", "faint")]
        return []
