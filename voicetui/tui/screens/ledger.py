"""The whole ledger on a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen

from voicetui.tui.drawn import Drawn
from voicetui.tui.ink import Row
from voicetui.tui.widgets.ledger import ledger_page
from voicetui.views.ledger import Ledger


class LedgerPage(Drawn):
    """As it was when the page was opened."""

    DEFAULT_CSS = "LedgerPage { height: 1fr; width: 1fr; }"

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger

    def draw(self, size: Size) -> Sequence[Row]:
        """As much as there is room for; the newest turns come first."""
        return ledger_page(self._ledger, size.width)[: size.height]


class LedgerScreen(ModalScreen[None]):
    """Any of its keys goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,l,q,enter,space", "dismiss", "Back", show=False),
        Binding("ctrl+c", "app.leave_now", show=False),
    ]
    DEFAULT_CSS = "LedgerScreen { background: $background; }"

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger

    def compose(self) -> ComposeResult:
        """The page."""
        yield LedgerPage(self._ledger)

    def on_click(self) -> None:
        """A click goes back, too."""
        self.dismiss()
