"""What went wrong, where, and what to do about it; or what there is to know at the start."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from voicetui.tui.ink import Row, Run, spread, wrap_runs
from voicetui.tui.literal import literal
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.panel import Panel

_MOST_ROWS = 4


class NoticeBar(Panel):
    """Takes no room while there is nothing to say."""

    DEFAULT_CSS = "NoticeBar { height: auto; max-height: 4; background: $surface; display: none; }"

    def __init__(self, notice: str = "", id: str | None = None, lasting: bool = False) -> None:
        """A ``lasting`` notice is not pushed aside by a fault."""
        super().__init__(id=id)
        self._notice = literal(notice)
        self._lasting = lasting

    def show(self, view: ScreenView, selected: int | None = None) -> bool:
        """Appear with what there is to say, or go; whether there is any."""
        self.view, self.selected = view, selected
        runs, _ = self._runs()
        self.display = bool(runs)
        if runs:
            self.styles.height = min(_MOST_ROWS, len(_wrapped(runs, self.app.size.width)))
            self.redraw()
        return bool(runs)

    def put_away(self) -> None:
        """The opening notice was read."""
        self._notice = ""

    def draw(self, size: Size) -> Sequence[Row]:
        """The words, wrapped; at the right of the first line how to put them away."""
        runs, away = self._runs()
        if not runs:
            return []
        first, *rest = _wrapped(runs, size.width)
        rows = [Row(spread((Run("  "), *first), (Run(away, "faint"), Run("  ")), size.width))]
        return rows + [Row((Run("    "), *line)) for line in rest]

    def _runs(self) -> tuple[list[Run], str]:
        """What to say, and how to be rid of it."""
        view = self.view
        if view is None:
            return [], ""
        if view.failure:
            said = [Run("✖ the session failed: ", "alert"), Run(literal(view.failure))]
            return [*said, Run("  → its log tells more", "notice")], "q leaves"
        if view.fault is not None and not (self._lasting and self._notice):
            stage = f"{literal(view.fault.stage)}: " if view.fault.stage else ""
            said = [Run(f"✖ {stage}", "alert"), Run(literal(view.fault.message))]
            remedy = f"  → {literal(view.fault.remedy)}" if view.fault.remedy else ""
            return [*said, Run(remedy, "notice")], "x puts this away"
        if not self._lasting and not view.running:
            again = " Again: `voicetui replay latest`." if view.recording else ""
            over = f"The session is over: ↑ ↓ its turns, n their work, q leaves.{again}"
            return [Run("□ ", "accent"), Run(over, "notice")], ""
        if self._notice:
            return [Run("ℹ ", "accent"), Run(self._notice, "notice")], "x puts this away"
        return [], ""


def _wrapped(runs: list[Run], width: int) -> list[tuple[Run, ...]]:
    return wrap_runs(runs, width - 6, width - 24)
