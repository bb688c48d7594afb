"""Choosing the microphone and the speaker, and trying the microphone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from voicetui.events import Fact
from voicetui.events.session import DeviceChosen, MicTested
from voicetui.events.sound import Role
from voicetui.runtime.engine import DeviceList, DeviceSeen
from voicetui.tui.drawn import Drawn
from voicetui.tui.ink import BLANK, Ink, Row, Run, row, wrap_runs
from voicetui.tui.literal import fit, literal
from voicetui.tui.mic_test import MicTest, Verdict
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.meters import meter
from voicetui.tui.widgets.panel import Panel
from voicetui.views.session_state import Device

_TITLES: dict[Role, str] = {"input": "Microphone", "output": "Speaker"}
_TEST, _LOOK, _BACK = range(3)
"""What a click on a row of the panel does."""
_SPEAK = Verdict("Speak as you will in the conversation.")
_LOOKING = Verdict("Looking what is plugged in …")


class DevicesScreen(ModalScreen[None]):
    """What is plugged in; choosing one uses it at once. Below: the microphone's level, and what a test of it found."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,d", "go_back", "Back", show=False),
        Binding("t", "test", "Test the microphone", show=False),
        Binding("r", "look", "Look again", show=False),
        Binding("ctrl+c", "app.leave_now", show=False),
    ]
    DEFAULT_CSS = """
    DevicesScreen {
        align: center middle;
        background: $background 60%;
        &> Vertical {
            width: 94%; max-width: 100; height: auto; max-height: 96%;
            background: $surface; border: round $ink-faint; padding: 0 1;
        }
        OptionList, OptionList:focus {
            width: 1fr; height: auto; max-height: 60vh; background: $surface; border: none; padding: 0;
            &> .option-list--option-disabled { color: $ink-dim; }
            &> .option-list--option-highlighted { background: $primary 26%; color: $foreground; text-style: bold; }
        }
        OptionList:ansi > .option-list--option-highlighted { background: ansi_blue; color: ansi_bright_white; }
    }
    DevicesScreen.-short OptionList, DevicesScreen.-short OptionList:focus { max-height: 12; }
    """

    class Found(Message):
        """What is plugged in."""

        def __init__(self, devices: DeviceList) -> None:
            super().__init__()
            self.devices = devices

    def __init__(self, look: Callable[[], DeviceList], post: Callable[[Fact], None]) -> None:
        """``look`` may take a while; ``post`` gets what was chosen."""
        super().__init__()
        self._look_up = look
        self._post = post
        self._view: ScreenView | None = None
        self._devices: DeviceList | None = None
        self._rows: list[tuple[Role, DeviceSeen] | None] = []
        self._listed: tuple[object, ...] = ()
        self._test: MicTest | None = None
        self._asked: tuple[DeviceChosen, float] | None = None

    def compose(self) -> ComposeResult:
        """The list and the panel below it."""
        with Vertical():
            yield OptionList()
            yield TryPanel()

    def on_mount(self) -> None:
        """Look what there is."""
        self.query_one(Vertical).border_title = "microphone and speaker"
        self._list()
        self.action_look()

    def action_look(self) -> None:
        """Look (again) what is plugged in."""
        if self._devices is not None:
            self._panel.say(_LOOKING)
        self.run_worker(self._look, thread=True, exclusive=True, group="devices")

    def _look(self) -> None:
        self.post_message(self.Found(self._look_up()))

    def on_devices_screen_found(self, event: Found) -> None:
        """Show what was found."""
        self._devices = event.devices
        if self._panel.verdict is _LOOKING:
            self._panel.say(Verdict(""))
        self._list()

    def show(self, view: ScreenView) -> None:
        """Take the picture: what is in use, how loud it is, how a choice turned out."""
        self._view = view
        if not self.query(TryPanel):
            return
        self._list()
        if self._test is not None:
            self._test.take(view.now_ms, view.levels)
            if not self._test.left_ms(view.now_ms):
                self._end_test(self._test.verdict())
        self._follow_choice(view)
        self._panel.test = self._test
        self._panel.show(view)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Use that one."""
        event.stop()
        chosen, view = self._rows[event.option_index], self._view
        if chosen is None or view is None:
            return
        role, device = chosen
        used = _used(view, role)
        if used is not None and not used.lost and _is_used(device, used):
            self._say(Verdict(f"'{literal(device.name)}' is in use already."))
            return
        self._stop_test()
        fact = DeviceChosen(role, device.name, device.host, device.renew)
        self._asked = (fact, view.now_ms)
        self._say(Verdict(f"Opening '{literal(device.name)}' …"))
        self._post(fact)

    def action_test(self) -> None:
        """Listen for three seconds and judge."""
        view = self._view
        if view is None or self._test is not None:
            return
        used = view.state.input
        if self._devices is not None and self._devices.scripted:
            self._say(Verdict("A scripted person is heard here: there is no microphone to test."))
        elif used is None or used.lost:
            self._say(Verdict("No microphone is open. Choose one above.", ink="alert"))
        elif view.state.muted:
            self._say(Verdict("The microphone is muted in this program: esc, then m, opens it.", ink="alert"))
        else:
            self._test = MicTest(view.now_ms)
            self._say(_SPEAK)
            self._post(MicTested(True))

    def action_go_back(self) -> None:
        """Leave the dialog."""
        self._stop_test()
        self.dismiss()

    def on_drawn_selected(self, event: Drawn.Selected) -> None:
        """A row of the panel was clicked."""
        event.stop()
        (self.action_test, self.action_look, self.action_go_back)[event.turn]()

    @property
    def _panel(self) -> TryPanel:
        return self.query_one(TryPanel)

    def _say(self, verdict: Verdict) -> None:
        self._panel.say(verdict)

    def _stop_test(self) -> None:
        if self._test is not None:
            self._end_test(Verdict("The test was not finished."))

    def _end_test(self, verdict: Verdict) -> None:
        self._test = None
        self._say(verdict)
        self._post(MicTested(False))

    def _follow_choice(self, view: ScreenView) -> None:
        """Say how the last choice turned out, once that is known."""
        if self._asked is None:
            return
        chosen, asked_ms = self._asked
        used = _used(view, chosen.role)
        fault = view.fault
        if fault is not None and fault.at_ms >= asked_ms and fault.stage == _TITLES[chosen.role].lower():
            self._asked = None
            self._say(Verdict(f"✖ {literal(fault.message)}", literal(fault.remedy), "alert"))
        elif used is not None and not used.lost and (used.name, used.host) == (chosen.name, chosen.host):
            self._asked = None
            rate = f"{used.rate_hz} Hz, latency {used.latency_ms:.0f} ms"
            self._say(Verdict(f"'{literal(used.name)}' is in use: {rate}.", ink="text"))
            if chosen.renew:  # no longer new
                self.run_worker(self._look, thread=True, exclusive=True, group="devices")

    def _list(self) -> None:
        """Draw the list anew, if anything in it changed; the same row stays chosen."""
        state = self._view.state if self._view is not None else None
        used = (state.input, state.output) if state is not None else (None, None)
        width = self.query_one(OptionList).content_size.width
        listed = (self._devices, used, width)
        if listed == self._listed:
            return
        self._listed = listed
        options = self.query_one(OptionList)
        place = options.highlighted
        kept = self._rows[place] if place is not None else None
        lines = list(self._lines(*used))
        self._rows = [chosen for chosen, _ in lines]
        options.clear_options()
        options.add_options(Option(Content.assemble(*text), disabled=chosen is None) for chosen, text in lines)
        options.highlighted = self._place(kept, used)
        self._panel.note = _note(self._devices)

    def _place(self, kept: tuple[Role, DeviceSeen] | None, used: tuple[Device | None, ...]) -> int | None:
        """The row to stand on: where the same device is now, else the first list's one in use, else its first."""
        choices = [(at, *chosen) for at, chosen in enumerate(self._rows) if chosen is not None]
        for at, role, device in choices:
            if kept is not None and (role, device.name, device.host) == (kept[0], kept[1].name, kept[1].host):
                return at
        first = [(at, device) for at, role, device in choices if role == choices[0][1]]
        in_use = [at for at, device in first if any(_is_used(device, each) for each in used)]
        return next(iter([*in_use, *(at for at, _ in first)]), None)

    def _lines(
        self, microphone: Device | None, speaker: Device | None
    ) -> Iterator[tuple[tuple[Role, DeviceSeen] | None, list[tuple[str, str]]]]:
        """Each row of the list with the device it stands for."""
        found = self._devices
        both: tuple[tuple[Role, Device | None], ...] = (("input", microphone), ("output", speaker))
        for role, used in both:
            yield None, [(_TITLES[role], "bold $ink-dim")]
            if found is None:
                yield None, [("  looking what is plugged in …", "$ink-dim")]
                continue
            seen = found.inputs if role == "input" else found.outputs
            if role == "input" and found.scripted:
                yield None, [("● ", "$ink-you"), ("the scripted person; no microphone is heard in a demo", "$ink-dim")]
                continue
            if used is not None and not any(_is_used(each, used) for each in seen):
                seen = (DeviceSeen(used.name, used.host), *seen)
            for device in seen:
                yield (role, device), self._line(device, used)
            if not seen:
                yield None, [("  none is plugged in", "$ink-dim")]

    def _line(self, device: DeviceSeen, used: Device | None) -> list[tuple[str, str]]:
        width = max(40, self.query_one(OptionList).content_size.width)
        in_use = _is_used(device, used)
        lost = in_use and used is not None and bool(used.lost)
        notes = ["lost" if lost else "in use"] if in_use else []
        notes += ["default"] if device.default else []
        notes += ["new"] if device.renew else []
        silent = in_use and device.host == "paced"
        name = fit("silent: nothing is heard" if silent else literal(device.name) or "unnamed", width - 34)
        return [
            ("● " if in_use else "  ", "$ink-alert" if lost else "$ink-you"),
            (name, "bold" if in_use else ""),
            (f"  {fit(literal(device.host), 10)}  ", "$ink-dim"),
            (", ".join(notes), "$ink-alert" if lost else "$ink-notice"),
        ]


class TryPanel(Panel):
    """The microphone's level, what is to be said, and what can be done."""

    DEFAULT_CSS = "TryPanel { height: 8; }"

    def __init__(self) -> None:
        super().__init__()
        self.test: MicTest | None = None
        self.note = ""
        self.verdict = Verdict("")

    def say(self, verdict: Verdict) -> None:
        """Show this from now on."""
        self.verdict = verdict
        self.redraw()

    def depends_on(self, view: ScreenView) -> tuple[object, ...]:
        """What the rows are made from."""
        left = round(self.test.left_ms(view.now_ms), -2) if self.test is not None else None
        return (round(view.levels.user_dbfs), left, self.verdict.words, self.verdict.figures, self.note)

    def draw(self, size: Size) -> Sequence[Row]:
        """Level, words, keys."""
        view, width = self.view, size.width
        level = view.levels.user_dbfs if view is not None else -120.0
        said: tuple[str, Ink] = (self.verdict.words, self.verdict.ink)
        if self.test is not None and view is not None:
            said = (f"Listening, {self.test.left_ms(view.now_ms) / 1e3:.1f} s left. {self.verdict.words}", "you")
        elif not self.verdict.words and self.note:
            said = (literal(self.note), "notice")
        words = [Row(line) for line in wrap_runs([Run(*said)], width)][:2]
        figures = [Row(line) for line in wrap_runs([Run(self.verdict.figures, "strong")], width)][: 3 - len(words)]
        spoken = [*words, *figures, BLANK, BLANK][:3]
        return [
            BLANK,
            Row(meter("level", level, "sound-you", width)),
            *spoken,
            row(
                ("t ", "key"),
                ("test the microphone for 3 s; what you say meanwhile is not answered", "dim"),
                target=_TEST,
            ),
            row(("r ", "key"), ("look again what is plugged in", "dim"), target=_LOOK),
            row(("enter ", "key"), ("use it   ", "dim"), ("esc ", "key"), ("back", "dim"), target=_BACK),
        ]


def _used(view: ScreenView, role: Role) -> Device | None:
    return view.state.input if role == "input" else view.state.output


def _is_used(device: DeviceSeen, used: Device | None) -> bool:
    return used is not None and (device.name, device.host) == (used.name, used.host)


def _note(devices: DeviceList | None) -> str:
    """What there is to know about the list."""
    if devices is None:
        return ""
    if devices.note:
        return devices.note
    if any(device.renew for device in (*devices.inputs, *devices.outputs)):
        return "new: plugged in since the start. Choosing it closes both devices for a moment, and cuts a reply."
    return ""
