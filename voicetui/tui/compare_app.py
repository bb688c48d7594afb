"""The screen of a comparison, from start to end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from voicetui.tui.compared import ComparedView
from voicetui.tui.screens.compare import CompareScreen, RowsFor
from voicetui.tui.still_app import StillApp, run_still


class CompareApp(StillApp[None]):
    """Shows comparisons of one session with others."""

    TITLE = "voicetui compare"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,escape", "quit", show=False)]

    def __init__(self, views: Sequence[ComparedView], details: RowsFor) -> None:
        """``views`` are the comparisons, one for each session beside the base; ``details`` all figures as rows."""
        self.compare = CompareScreen(views, details)
        super().__init__(self.compare)


def run_compare(views: Sequence[ComparedView], details: RowsFor) -> int:
    """Show comparisons until their user leaves; the exit status. Ends as ``run_still`` says."""
    return run_still(CompareApp(views, details))[0]
