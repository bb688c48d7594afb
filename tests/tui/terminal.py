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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from voicetui.runtime.clock import SystemClock

ROOT = Path(__file__).resolve().parents[2]
KEPT_BYTES = 4096
"""How much of what is only watched is kept."""


class Terminal:
    """Runs a module in a new pseudo-terminal; ``output`` is all it wrote, but for what was only watched."""

    def __init__(
        self,
        module: str,
        *arguments: str,
        cells: tuple[int, int] = (100, 30),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """``environment`` is added to that of this process."""
        self._leader, self._follower = pty.openpty()
        fcntl.ioctl(self._leader, termios.TIOCSWINSZ, struct.pack("HHHH", cells[1], cells[0], 0, 0))
        self.modes_before = self.modes()
        self.output = b""
        self.clock = SystemClock()
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            stdin=self._follower,
            stdout=self._follower,
            stderr=self._follower,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "", "LINES": "", **(environment or {})},
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

    def watch(self, seconds: float) -> None:
        """Read for so long, and keep only the newest of it."""
        end_ms = self.clock.now_ms() + seconds * 1000
        while (left_ms := end_ms - self.clock.now_ms()) > 0:
            self._read_some(left_ms / 1000)
            self.output = self.output[-KEPT_BYTES:]

    def full(self) -> bool:
        """Whether the terminal takes no more output now."""
        return not select.select([], [self._follower], [], 0)[1]

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
