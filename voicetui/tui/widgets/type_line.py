"""Where a turn is typed instead of spoken."""

from __future__ import annotations

from typing import ClassVar

from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class TypeLine(Input):
    """Hidden until it is wanted. Enter says the text, escape goes away; every letter is a letter here."""

    DEFAULT_CSS = """
    TypeLine, TypeLine:focus {
        display: none; height: 1; border: none; padding: 0 1; background: $panel; color: $foreground;
        &.-open { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "go_away", "Stop typing", show=False)]

    class Typed(Message):
        """A whole turn."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, id: str | None = None) -> None:
        super().__init__(placeholder="Type a turn, enter says it, esc goes back", id=id, select_on_focus=False)
        self.cursor_blink = False

    def open(self) -> None:
        """Appear and take the keys."""
        self.add_class("-open")
        self.focus()

    def action_go_away(self) -> None:
        """Give the keys back."""
        self.value = ""
        self.remove_class("-open")
        self.screen.set_focus(None)

    def action_copy(self) -> None:
        """Copy what is selected; with nothing selected the key means what it means everywhere: leave."""
        if self.selected_text:
            super().action_copy()
        else:
            raise SkipAction()

    async def action_submit(self) -> None:
        """Say what was typed, and stay for more."""
        text = self.value.strip()
        self.value = ""
        if text:
            self.post_message(self.Typed(text))
        else:
            self.action_go_away()
