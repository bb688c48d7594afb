"""Leaving in time, whatever hangs, with the terminal as it was."""

from __future__ import annotations

import os
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

LEAVE_S = 1.5
"""How long the engine gets to end its turn and close its files."""
LAST_S = 0.4
"""How long the screen gets after that."""
_RESTORE = (
    "\x1b[<u"  # the kitty protocol's keys
    "\x1b[?1006l\x1b[?1015l\x1b[?1003l\x1b[?1000l"  # mouse
    "\x1b[?1004l\x1b[?2004l\x1b[?2048l\x1b[?2026l"  # focus, paste, resize reports, held output
    "\x1b[?7h\x1b[?25h\x1b[?1049l\x1b[0m"  # line wrap and cursor back, main screen, plain text
)
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT") if hasattr(signal, name))


class TerminalGuard:
    """Remembers how the terminal was, and can put it back without waiting for anyone."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._modes: list[Any] | None = None
        with suppress(OSError, ValueError, AttributeError, termios.error):
            descriptor = sys.__stdin__.fileno() if sys.__stdin__ is not None else -1
            self._modes = termios.tcgetattr(descriptor)
            self._path = os.ttyname(descriptor)

    def restore(self) -> None:
        """Put it back, even while the terminal takes no more output: what cannot be written is let go."""
        if self._path is None or self._modes is None:
            return
        with suppress(OSError, termios.error):
            terminal = os.open(self._path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            try:
                termios.tcsetattr(terminal, termios.TCSANOW, self._modes)
                os.write(terminal, _RESTORE.encode())
            finally:
                os.close(terminal)


class Deadline:
    """Ends the process if leaving takes longer than it may."""

    def __init__(self, stop: Callable[[], None], join: Callable[[float], bool], guard: TerminalGuard) -> None:
        self._stop = stop
        self._join = join
        self._guard = guard
        self._met = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, status: int) -> None:
        """Ask the engine to stop; within ``LEAVE_S`` + ``LAST_S`` the process ends, by itself or with ``status``."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._wait, args=(status,), name="leaving", daemon=True)
            self._thread.start()

    def met(self) -> None:
        """Engine and screen have ended in good order."""
        self._met.set()

    def _wait(self, status: int) -> None:
        self._stop()
        self._join(LEAVE_S)
        if not self._met.wait(LAST_S):
            self._guard.restore()
            os._exit(status)


@contextmanager
def on_signals(handle: Callable[[int], None]) -> Iterator[None]:
    """While inside, signals that end programs call ``handle`` with their number, in the main thread, anywhere in it."""

    def handler(number: int, frame: FrameType | None) -> None:
        del frame
        handle(number)

    before = {}
    with suppress(ValueError):
        for number in _SIGNALS:
            before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
