"""The one table of what hands can do. Keys, footer, help and command palette all come from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType


@dataclass(frozen=True, slots=True)
class Action:
    """One command.

    ``name`` is the app's ``action_<name>``; ``keys`` as Textual spells them, ``shown`` as a person reads them;
    ``label`` for the footer, ``help`` for the help screen and the palette.  ``footer`` is its place there, 0 for
    none: the lower, the longer it stays on narrow screens.  ``everywhere`` are those of its keys that work while text
    is typed or a dialog is open, too.  ``where`` it can be done: in a session that goes on, in a recorded one, or both.
    """

    name: str
    keys: tuple[str, ...]
    shown: str
    label: str
    help: str
    footer: int = 0
    everywhere: tuple[str, ...] = ()
    where: Literal["both", "live", "replay"] = "both"

    @property
    def brief(self) -> str:
        """One or two words for tight places."""
        return self.label or self.name.replace("_", " ")


_TABLE: tuple[Action, ...] = (
    Action("play", ("space",), "space", "play/pause", "Play, or stand still", 3, where="replay"),
    Action("skip_back", ("left",), "←", "−5 s", "Back 5 s", where="replay"),
    Action("skip_on", ("right",), "→", "5 s", "On 5 s", 8, where="replay"),
    Action("skip_far_back", ("shift+left",), "⇧←", "−1 min", "Back 1 min", where="replay"),
    Action("skip_far_on", ("shift+right",), "⇧→", "+1 min", "On 1 min", where="replay"),
    Action("to_start", ("home",), "home", "start", "Beginning", where="replay"),
    Action("to_end", ("end",), "end", "", "End", where="replay"),
    Action("turn_back", ("left_square_bracket",), "[", "", "Turn before", where="replay"),
    Action("turn_on", ("right_square_bracket",), "]", "turn", "Next turn", 4, where="replay"),
    Action("event_back", ("comma",), ",", "", "Event back", where="replay"),
    Action("event_on", ("full_stop",), ".", "event", "Event on", 7, where="replay"),
    Action("slower", ("less_than_sign",), "<", "", "Slower", where="replay"),
    Action("faster", ("greater_than_sign",), ">", "speed", "Faster", 9, where="replay"),
    Action("slowest", ("s",), "s", "slowest", "Slowest turn", 5, where="replay"),
    Action("next_barge_in", ("b",), "b", "barge-in", "Next barge-in", 10, where="replay"),
    Action("next_fault", ("exclamation_mark",), "!", "fault", "Next fault", 11, where="replay"),
    Action("events", ("e",), "e", "events", "Look into every event", 6, where="replay"),
    Action("mute_user", ("1",), "1", "", "User's track on or off", where="replay"),
    Action("mute_reply", ("2",), "2", "mute", "Reply's track on or off", 12, where="replay"),
    Action("problems", ("w",), "w", "", "What could not be read", where="replay"),
    Action("talk", ("space",), "space", "talk on/off", "Press to talk, press again to hand over", 3, where="live"),
    Action("interrupt", ("i", "escape"), "i, esc", "interrupt", "Silence the reply", 4, where="live"),
    Action("mute", ("m",), "m", "mute", "Microphone off or on", 5, where="live"),
    Action("type", ("slash",), "/", "type", "Type a turn instead", 6, where="live"),
    Action("tier", ("t",), "t", "tier", "Who answers the next turn", 7, where="live"),
    Action("overlap", ("o",), "o", "overlap", "Overlap in the next turn", 8, where="live"),
    Action("gap", ("g",), "g", "gap", "Stage a gap: hear what 200 ms or 1.5 s feels like", 13, where="live"),
    Action("devices", ("d",), "d", "devices", "Choose microphone, speaker", 14, where="live"),
    Action("turn_before", ("up",), "↑", "", "Select the turn before"),
    Action("turn_after", ("down",), "↓", "turns", "Select the turn after", 10),
    Action("span_before", ("N",), "N", "", "Work before: its numbers"),
    Action("span_after", ("n",), "n", "span", "Next work: its numbers", 15),
    Action("read_back", ("pageup",), "pgup", "", "Read back"),
    Action("read_on", ("pagedown",), "pgdn", "", "Read on"),
    Action("zoom_in", ("plus", "equals_sign"), "+", "", "Timeline: closer"),
    Action("zoom_out", ("minus",), "-", "zoom", "Timeline: farther", 11),
    Action("earlier", ("left",), "←", "", "Timeline: earlier", where="live"),
    Action("later", ("right",), "→", "", "Timeline: later", where="live"),
    Action("follow", ("f", "end"), "f", "follow", "Follow the session again", 12, where="live"),
    Action("see_now", ("f",), "f", "follow", "Follow the position again", 13, where="replay"),
    Action("present", ("p",), "p", "present", "Presenter: one huge gap", 9),
    Action("ledger", ("l",), "l", "ledger", "Is speculation worth it?", 14),
    Action("look", ("T",), "T", "theme", "Next theme"),
    Action("copy", ("c",), "c", "copy", "Copy the selected turn"),
    Action("picture", ("S",), "S", "picture", "Save a picture (SVG)"),
    Action("dismiss", ("x",), "x", "", "Put a message away"),
    Action("command_palette", (), "ctrl+p", "commands", "Find a command by name"),
    Action("help", ("question_mark", "f1"), "?", "help", "What everything means", 2),
    Action("leave", ("q",), "q", "quit", "End the session and leave", 1, where="live"),
    Action("leave", ("q", "ctrl+c"), "q", "quit", "Leave", 1, where="replay"),
    Action("leave_now", ("ctrl+q", "ctrl+c"), "ctrl+q", "", "The same, from anywhere", everywhere=("ctrl+q",),
           where="live"),
    Action("leave_now", ("ctrl+q",), "ctrl+q", "", "The same, from anywhere", everywhere=("ctrl+q",), where="replay"),
)  # fmt: skip

ACTIONS: tuple[Action, ...] = tuple(each for each in _TABLE if each.where != "replay")
"""What can be done while a session goes on."""
REPLAY_ACTIONS: tuple[Action, ...] = tuple(each for each in _TABLE if each.where != "live")
"""What can be done in a recorded one: nothing of it reaches the session."""


def bindings(actions: tuple[Action, ...]) -> list[BindingType]:
    """The keys of these, for the app."""
    return [
        Binding(key, each.name, each.label, show=False, priority=key in each.everywhere)
        for each in actions
        for key in each.keys
    ]
