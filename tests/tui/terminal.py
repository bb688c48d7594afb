"""A pseudo-terminal with a program in it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

from voicetui.runtime.clock import SystemClock

ROOT = Path(__file__).resolve().parents[2]


class Terminal:
    """Runs a module of the tests in a new pseudo-terminal of 100x30 cells; ``output`` is all it wrote."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._leader, self._follower = pty.openpty()
        fcntl.ioctl(self._leader, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.modes_before = self.modes()
        self.output = b""
        self.clock = SystemClock()
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            stdin=self._follower,
            stdout=self._follower,
            stderr=self._follower,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "", "LINES": ""},
            start_new_session=True,
        )

    def modes(self) -> list[Any]:
        """The terminal's modes: echo, line mode and so on."""
        return termios.tcgetattr(self._follower)

    def press(self, keys: bytes) -> None:
        """Type."""
        os.write(self._leader, keys)

    def read_until(self, wanted: bytes, seconds: float = 20) -> bool:
        """Read until ``wanted`` was written since the start; whether it was in time."""
        end_ms = self.clock.now_ms() + seconds * 1000
        while wanted not in self.output and self.clock.now_ms() < end_ms:
            if not self._read_some(0.05) and self.process.poll() is not None:
                break
        return wanted in self.output

    def look_away(self, seconds: float) -> None:
        """Read nothing for a while: the terminal's buffer fills up."""
        select.select([], [], [], seconds)

    def wait(self, seconds: float, reading: bool = True) -> float:
        """Wait for the program's end; how many seconds that took. Raises if it takes longer than ``seconds``."""
        start_ms = self.clock.now_ms()
        while self.process.poll() is None:
            if reading:
                self._read_some(0.02)
            else:
                select.select([], [], [], 0.02)
            if self.clock.now_ms() - start_ms > seconds * 1000:
                raise TimeoutError(f"still running after {seconds} s")
        while self._read_some(0.05):
            pass
        return (self.clock.now_ms() - start_ms) / 1000

    def close(self) -> None:
        """End what may still run, and the terminal."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._follower)
        os.close(self._leader)

    def _read_some(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._leader], [], [], seconds)
        if not ready:
            return False
        try:
            self.output += os.read(self._leader, 65536)
        except OSError:
            return False
        return True
