"""One line: how loud both sides are now."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from voicetui.runtime.engine import Levels
from voicetui.tui.figures import decibels
from voicetui.tui.ink import Ink, Row, Run
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.panel import Panel

_FLOOR_DBFS, _HOT_DBFS = -60.0, -3.0


class Meters(Panel):
    """Two level meters side by side."""

    DEFAULT_CSS = "Meters { height: 1; }"

    def depends_on(self, view: ScreenView) -> tuple[object, ...]:
        """What the rows are made from."""
        return (round(view.levels.user_dbfs), round(view.levels.reply_dbfs))

    def draw(self, size: Size) -> Sequence[Row]:
        """The one row."""
        width = size.width
        half = (width - 4) // 2
        levels = self.view.levels if self.view is not None else Levels()
        return [
            Row(
                (
                    Run("  "),
                    *meter("you", levels.user_dbfs, "sound-you", half),
                    Run("  "),
                    *meter("reply", levels.reply_dbfs, "sound-reply", width - half - 6),
                )
            )
        ]


def meter(name: str, dbfs: float, ink: Ink, cells: int) -> tuple[Run, ...]:
    """A level meter of ``cells`` cells: its name, a bar from -60 dBFS to full scale, the level."""
    figure = ("clips" if dbfs >= _HOT_DBFS else decibels(dbfs)).rjust(7)
    bar = cells - len(figure) - 6
    if bar < 4:
        return (Run(f"{name:<6}", ink), Run(figure, "dim"))
    share = min(max((dbfs - _FLOOR_DBFS) / -_FLOOR_DBFS, 0.0), 1.0)
    halves = round(share * bar * 2)
    full = "━" * (halves // 2) + ("╸" if halves % 2 else "")
    return (
        Run(f"{name:<6}", "dim"),
        Run(full, "alert" if dbfs >= _HOT_DBFS else ink),
        Run("─" * (bar - len(full)), "guide"),
        Run(figure, "alert" if dbfs >= _HOT_DBFS else "dim"),
    )
