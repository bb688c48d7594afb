"""The one table of what hands can do. Keys, footer, help and command palette all come from it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Group = Literal["talk", "look", "session"]


@dataclass(frozen=True, slots=True)
class Action:
    """One command.

    ``name`` is the app's ``action_<name>``; ``keys`` as Textual spells them, ``shown`` as a person reads them; ``label`` for the
    footer, ``help`` for the help screen and the palette.  ``footer`` is its place there, 0 for none: the lower, the longer it stays
    on narrow screens.  ``everywhere`` are those of its keys that work while text is typed or a dialog is open, too.
    """

    name: str
    keys: tuple[str, ...]
    shown: str
    label: str
    help: str
    group: Group
    footer: int = 0
    everywhere: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The first words of its help."""
        return re.split("[:,]", self.help)[0]


ACTIONS: tuple[Action, ...] = (
    Action(
        "talk",
        ("space",),
        "space",
        "talk",
        "Push to talk: press to take the floor, press again to hand it over",
        "talk",
        3,
    ),
    Action("interrupt", ("i", "escape"), "i, esc", "interrupt", "Silence the reply", "talk", 4),
    Action("mute", ("m",), "m", "mute", "Switch the microphone off or on", "talk", 5),
    Action("type", ("slash",), "/", "type", "Type a turn instead of speaking it", "talk", 6),
    Action("tier", ("t",), "t", "tier", "Choose who answers the next turn", "talk", 7),
    Action("overlap", ("o",), "o", "overlap", "Overlap for the next turn: none, clause, full", "talk", 8),
    Action("turn_before", ("up",), "↑", "", "Select the turn before: its numbers and where its gap went", "look"),
    Action("turn_after", ("down",), "↓", "turns", "Select the turn after", "look", 10),
    Action("read_back", ("pageup",), "pgup", "", "Read back in the conversation", "look"),
    Action("read_on", ("pagedown",), "pgdn", "", "Read on", "look"),
    Action("zoom_in", ("plus", "equals_sign"), "+", "", "Timeline: fewer milliseconds per cell", "look"),
    Action("zoom_out", ("minus",), "-", "zoom", "Timeline: more milliseconds per cell", "look", 11),
    Action("earlier", ("left",), "←", "", "Timeline: look back", "look"),
    Action("later", ("right",), "→", "", "Timeline: look forward", "look"),
    Action("follow", ("f", "end"), "f", "follow", "Follow the session again: newest turn, newest time", "look", 12),
    Action(
        "present", ("p",), "p", "present", "Presenter mode: one huge gap, readable from the back of a room", "look", 9
    ),
    Action("look", ("T",), "T", "theme", "Next theme: dark, light, ANSI colours only, colour-blind-safe", "look"),
    Action("copy", ("c",), "c", "copy", "Copy the selected turn and its numbers", "session"),
    Action("picture", ("S",), "S", "picture", "Save the screen as an SVG picture", "session"),
    Action("dismiss", ("x",), "x", "", "Put away the message about a fault", "session"),
    Action("command_palette", (), "ctrl+p", "", "Find a command by name", "session"),
    Action("help", ("question_mark", "f1"), "?", "help", "What a gap is, what each stage does, all keys", "session", 2),
    Action("leave", ("q",), "q", "quit", "End the session and leave", "session", 1),
    Action(
        "leave_now", ("ctrl+q", "ctrl+c"), "ctrl+q", "", "The same, from anywhere", "session", everywhere=("ctrl+q",)
    ),
)


def action(name: str) -> Action:
    """The action of this name."""
    return next(each for each in ACTIONS if each.name == name)
