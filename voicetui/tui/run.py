"""The screen from start to end: quiet descriptors, signals, a deadline for leaving."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

from rich.console import Console

from voicetui.tui.app import VoiceTui
from voicetui.tui.feed import Session
from voicetui.tui.leaving import LEAVE_S, Deadline, TerminalGuard, on_signals
from voicetui.tui.options import ScreenOptions
from voicetui.tui.quiet import quiet, takes_output
from voicetui.tui.session_app import SessionApp

SWITCH_S = 0.0005
"""How long the screen may keep the interpreter from the engine's thread; Python's own 5 ms would be heard."""


class MakesApp(Protocol):
    """Makes the app: what to call when it is to go, and whether the terminal reads."""

    def __call__(self, leaving: Callable[[], None], takes_output: Callable[[], bool], /) -> SessionApp: ...


def run_screen(
    engine: Session, options: ScreenOptions, log: Path | None = None, make_app: MakesApp | None = None
) -> int:
    """Show a running session until its user leaves or it is told to; the exit status.

    Standard input and output must be a terminal.  What native libraries print meanwhile goes to ``log``.  From the
    wish to leave on the process ends within two seconds, even if engine or terminal hang: then without returning from
    here.
    """
    guard = TerminalGuard()
    deadline = Deadline(engine.stop, engine.join, guard)
    caught: list[int] = []

    def handle(number: int) -> None:
        caught.append(number)
        deadline.start(128 + number)
        app.leave_soon()

    with quiet(log) as terminal, engine_first():
        make = make_app or partial(VoiceTui, engine, options)
        app = make(lambda: deadline.start(1), lambda: takes_output(terminal))
        app.error_console = Console(file=terminal, markup=False, highlight=False)
        with on_signals(handle):
            app.run()
    deadline.start(1)
    if engine.join(LEAVE_S):
        deadline.met()
    if caught:
        return 128 + caught[0]
    return 1 if app.return_code or engine.failure is not None else 0


@contextmanager
def engine_first() -> Iterator[None]:
    """While inside, a thread that wants the interpreter has it within ``SWITCH_S``."""
    usual_s = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(usual_s)
