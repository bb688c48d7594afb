"""The one table of what hands can do. Keys, footer, help and command palette all come from it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Action:
    """One command.

    ``name`` is the app's ``action_<name>``; ``keys`` as Textual spells them, ``shown`` as a person reads them;
    ``label`` for the footer, ``help`` for the help screen and the palette.  ``footer`` is its place there, 0 for
    none: the lower, the longer it stays on narrow screens.  ``everywhere`` are those of its keys that work while text
    is typed or a dialog is open, too.
    """

    name: str
    keys: tuple[str, ...]
    shown: str
    label: str
    help: str
    footer: int = 0
    everywhere: tuple[str, ...] = ()

    @property
    def brief(self) -> str:
        """One or two words for tight places."""
        return self.label or self.name.replace("_", " ")


ACTIONS: tuple[Action, ...] = (
    Action("talk", ("space",), "space", "talk on/off", "Press to talk, press again to hand over", 3),
    Action("interrupt", ("i", "escape"), "i, esc", "interrupt", "Silence the reply", 4),
    Action("mute", ("m",), "m", "mute", "Microphone off or on", 5),
    Action("type", ("slash",), "/", "type", "Type a turn instead", 6),
    Action("tier", ("t",), "t", "tier", "Who answers the next turn", 7),
    Action("overlap", ("o",), "o", "overlap", "How much overlaps in the next turn", 8),
    Action("gap", ("g",), "g", "gap", "Stage a gap: hear what 200 ms or 1.5 s feels like", 13),
    Action("devices", ("d",), "d", "devices", "Choose microphone, speaker", 14),
    Action("turn_before", ("up",), "↑", "", "Select the turn before"),
    Action("turn_after", ("down",), "↓", "turns", "Select the turn after", 10),
    Action("read_back", ("pageup",), "pgup", "", "Read back"),
    Action("read_on", ("pagedown",), "pgdn", "", "Read on"),
    Action("zoom_in", ("plus", "equals_sign"), "+", "", "Timeline: closer"),
    Action("zoom_out", ("minus",), "-", "zoom", "Timeline: farther", 11),
    Action("earlier", ("left",), "←", "", "Timeline: earlier"),
    Action("later", ("right",), "→", "", "Timeline: later"),
    Action("follow", ("f", "end"), "f", "follow", "Follow the session again", 12),
    Action("present", ("p",), "p", "present", "Presenter mode: one huge gap", 9),
    Action("ledger", ("l",), "l", "ledger", "What speculation saves and wastes", 14),
    Action("look", ("T",), "T", "theme", "Next theme"),
    Action("copy", ("c",), "c", "copy", "Copy the selected turn"),
    Action("picture", ("S",), "S", "picture", "Save a picture (SVG)"),
    Action("dismiss", ("x",), "x", "", "Put a message away"),
    Action("command_palette", (), "ctrl+p", "", "Find a command by name"),
    Action("help", ("question_mark", "f1"), "?", "help", "What everything means", 2),
    Action("leave", ("q",), "q", "quit", "End the session and leave", 1),
    Action("leave_now", ("ctrl+q", "ctrl+c"), "ctrl+q", "", "The same, from anywhere", everywhere=("ctrl+q",)),
)


def action(name: str) -> Action:
    """The action of this name."""
    return next(each for each in ACTIONS if each.name == name)
