"""One line: the keys worth knowing now."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from voicetui.tui.actions import Action
from voicetui.tui.drawn import Drawn
from voicetui.tui.ink import Row, Run


class KeysLine(Drawn):
    """The footer. On a narrow screen the less needed keys give way; with the class ``-typing``, those for typing."""

    DEFAULT_CSS = "KeysLine { height: 1; }"

    def __init__(self, actions: Sequence[Action], id: str | None = None) -> None:
        super().__init__(id=id)
        self._actions = actions

    def draw(self, size: Size) -> Sequence[Row]:
        """The one row."""
        width = size.width
        if self.has_class("-typing"):
            return [_keys([("enter", "say it"), ("esc", "back to the keys"), ("ctrl+q", "quit")])]
        wanted = sorted((each for each in self._actions if each.footer), key=lambda each: each.footer)
        kept, used = [], 2
        for each in wanted:
            cells = len(each.shown) + 1 + len(each.label) + 2
            if used + cells <= width:
                kept.append(each)
                used += cells
        return [_keys([(each.shown, each.label) for each in self._actions if each in kept])]


def _keys(pairs: Sequence[tuple[str, str]]) -> Row:
    runs = [Run("  ")]
    for shown, label in pairs:
        runs += [Run(shown, "key"), Run(f" {label}  ", "dim")]
    return Row(tuple(runs))
