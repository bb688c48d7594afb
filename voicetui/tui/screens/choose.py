"""Choosing one of a few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from voicetui.tui.literal import fit, literal, width


class ChooseScreen(ModalScreen[str]):
    """A short list; the answer is what was chosen, "" when nothing was."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "give_up", "Back", show=False),
        Binding("ctrl+c", "app.leave_now", show=False),
    ]
    DEFAULT_CSS = """
    ChooseScreen {
        align: center middle;
        background: $background 60%;
        &> Vertical {
            width: auto; max-width: 90%; height: auto; max-height: 80%;
            background: $surface; border: round $ink-faint; padding: 0 1;
        }
        Static { color: $ink-dim; padding: 0 1 1 1; width: auto; height: auto; }
        OptionList, OptionList:focus {
            width: auto; height: auto; max-height: 100%; background: $surface; border: none; padding: 0 1;
            &> .option-list--option-highlighted { background: $primary 26%; color: $foreground; text-style: bold; }
        }
        OptionList:ansi > .option-list--option-highlighted { background: ansi_blue; color: ansi_bright_white; }
    }
    """

    def __init__(self, question: str, choices: Sequence[tuple[str, str]], present: str = "") -> None:
        super().__init__()
        self._question = literal(question)
        self._choices = [(value, literal(note)) for value, note in choices]
        self._present = present

    def compose(self) -> ComposeResult:
        """The question and the choices; the present one is marked."""
        with Vertical():
            yield Static(Content(self._question))
            yield OptionList(*(self._option(value, note) for value, note in self._choices))

    def on_mount(self) -> None:
        """Begin at the present choice."""
        values = [value for value, _ in self._choices]
        options = self.query_one(OptionList)
        options.highlighted = values.index(self._present) if self._present in values else 0

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """That one."""
        self.dismiss(self._choices[event.option_index][0])

    def action_give_up(self) -> None:
        """None of them."""
        self.dismiss("")

    def _option(self, value: str, note: str) -> Option:
        mark = "●" if value == self._present else " "
        cells = min(28, max(width(literal(name)) for name, _ in self._choices))
        return Option(Content(f"{mark} {fit(literal(value), cells)}   {note}"))
