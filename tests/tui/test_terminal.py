"""On a real terminal: chatter stays off the screen, leaving is quick, and the terminal is always as it was."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tui.on_terminal import UNDERRUN
from tests.tui.terminal import Terminal
from voicetui.events.orders import EndTurn
from voicetui.events.session import SessionClosed
from voicetui.journal.read import JournalReader

MAIN_SCREEN, CURSOR, NO_MOUSE = b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1003l"
START = b"conversation"
Start = Callable[..., Terminal]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the screen in a terminal and waits until it is seen."""
    running: list[Terminal] = []

    def begin(*words: str, wait_for: bytes = START) -> Terminal:
        terminal = Terminal("tests.tui.on_terminal", str(tmp_path / "log.txt"), *words)
        running.append(terminal)
        assert terminal.read_until(wait_for), terminal.output[-2000:]
        return terminal

    yield begin
    for terminal in running:
        terminal.close()


def assert_restored(terminal: Terminal) -> None:
    after = terminal.output[terminal.output.rindex(b"\x1b[?1049h") :]
    assert MAIN_SCREEN in after and CURSOR in after and NO_MOUSE in after
    assert terminal.modes() == terminal.modes_before


def test_chatter_goes_to_the_log_and_descriptors_come_back(start: Start, tmp_path: Path) -> None:
    terminal = start("chatter")
    assert terminal.read_until(b"Hello there")
    terminal.press(b"q")
    terminal.wait(5)
    shown = terminal.output[terminal.output.index(b"\x1b[?1049h") : terminal.output.rindex(MAIN_SCREEN)]
    assert b"ALSA" not in shown and b"from a child" not in shown
    log = (tmp_path / "log.txt").read_bytes()
    assert log.count(UNDERRUN) >= 2 and b"from a child" in log
    assert b"stopped 1, status 0" in terminal.output
    assert (tmp_path / "log.txt").stat().st_mode & 0o077 == 0
    assert_restored(terminal)


def test_a_crash_report_reaches_the_user(start: Start, tmp_path: Path) -> None:
    terminal = start("crash")
    terminal.wait(10)
    told = terminal.output[terminal.output.rindex(MAIN_SCREEN) :]
    assert b"levels went" in told and b"[/wrong]" in told
    assert b"status 1" in told
    assert terminal.process.returncode == 1
    assert_restored(terminal)


def test_q_leaves_within_two_seconds_though_the_engine_hangs(start: Start) -> None:
    terminal = start("hang")
    terminal.press(b"q")
    assert terminal.wait(4) < 2.5
    assert_restored(terminal)


@pytest.mark.parametrize(
    ("number", "words"),
    [(signal.SIGTERM, ()), (signal.SIGHUP, ("hang",)), (signal.SIGINT, ()), (signal.SIGQUIT, ("hang",))],
    ids=["TERM", "HUP, hang", "INT", "QUIT, hang"],
)
def test_a_signal_ends_it_and_restores_the_terminal(
    start: Start, number: signal.Signals, words: tuple[str, ...]
) -> None:
    terminal = start(*words)
    terminal.process.send_signal(number)
    assert terminal.wait(4) < 2.5
    assert terminal.process.returncode == 128 + number
    assert_restored(terminal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_terminal_that_takes_no_more_output_does_not_keep_it(start: Start, number: signal.Signals) -> None:
    terminal = start()
    terminal.look_away(4)
    terminal.process.send_signal(number)
    assert terminal.wait(4, reading=False) < 2.5
    assert terminal.process.returncode == 128 + number
    assert terminal.modes() == terminal.modes_before


@pytest.mark.parametrize("leave", ["q", "SIGTERM"])
def test_turns_go_on_and_leaving_is_quick_while_the_terminal_takes_no_output(
    start: Start, tmp_path: Path, leave: str
) -> None:
    terminal = start("converse", wait_for=b"Shall we go on?")
    journal = JournalReader(tmp_path / "session")

    def ended() -> int:
        return sum(isinstance(entry.body, EndTurn) for entry in journal.poll())

    assert until(terminal, terminal.full), "the screen goes on drawing, so the terminal must fill up"
    ended()
    turns = [0]

    def eight_more() -> bool:
        turns[0] += ended()
        return turns[0] >= 8

    assert until(terminal, eight_more), "the conversation must not wait for the screen"
    assert terminal.full()
    if leave == "q":
        terminal.press(b"q")
    else:
        terminal.process.send_signal(signal.SIGTERM)
    assert terminal.wait(4, reading=False) < 2.5
    assert terminal.process.returncode == (128 + signal.SIGTERM if leave == "SIGTERM" else 1)
    assert terminal.modes() == terminal.modes_before
    assert any(isinstance(entry.body, SessionClosed) for entry in journal.poll()), "the session was closed in order"


def until(terminal: Terminal, wanted: Callable[[], bool], looks: int = 300) -> bool:
    """Read nothing until ``wanted``; whether it came within so many looks."""
    for _ in range(looks):
        if wanted():
            return True
        terminal.look_away(0.05)
    return False
