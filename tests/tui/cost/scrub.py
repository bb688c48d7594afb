"""An hour's recorded session on the screen, in a terminal of its own: ``python -m tests.tui.cost.scrub FILE FOLDER
JUMPS`` writes how long it took to open the session in FOLDER, and from each jump in it to its picture.

``python -m tests.tui.cost.scrub FOLDER`` makes such a session: journal and both tracks, 240 MB.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import time
from pathlib import Path

import numpy as np

from tests.tui.cost.hour import HOUR_MS
from tests.tui.scenes import go_on_talking
from voicetui.rehearse.open_tape import open_tape
from voicetui.rehearse.replay_tape import Tape
from voicetui.runtime.clock import SystemClock
from voicetui.runtime.heap import settled
from voicetui.sound.wav import WavWriter
from voicetui.tui.options import ScreenOptions
from voicetui.tui.replay_app import ReplayTui


class JumpingTui(ReplayTui):
    """Jumps about as soon as the session is read: near and far, and back."""

    def __init__(self, tape: Tape, jumps: int) -> None:
        super().__init__(tape, ScreenOptions("an hour"), plays=False)
        self._chance = random.Random(3)
        self._left = jumps
        self._jumped_s = 0.0
        self.opened_ms = self.read_ms = 0.0
        self.jumps_ms: list[float] = []

    async def on_mount(self) -> None:
        """Note when the first picture is there."""
        await super().on_mount()
        self.call_after_refresh(self._seen)

    def _seen(self) -> None:
        self.opened_ms = age_ms()
        self.set_timer(0.1, self._wait)

    def _wait(self) -> None:
        """Until all of the session is read."""
        if self._checkpoints.taken < len(self._tape.entries):
            self.set_timer(0.02, self._wait)
        else:
            self.read_ms = age_ms()
            self._jump()

    def _jump(self) -> None:
        if not self._left:
            self.exit()
            return
        self._left -= 1
        far = self._chance.random() < 0.5
        length_ms = self._tape.length_ms
        there_ms = self._chance.uniform(0, length_ms) if far else self._tape.now_ms() + self._chance.gauss(0, 30_000)
        self._jumped_s = time.perf_counter()
        self._go(there_ms)
        self.call_after_refresh(self._landed)

    def _landed(self) -> None:
        if self._replay_feed.behind:
            self.look_again()
            self.call_after_refresh(self._landed)
            return
        self.jumps_ms.append((time.perf_counter() - self._jumped_s) * 1e3)
        self.set_timer(0.02, self._jump)


def age_ms() -> float:
    """How long this process has lived: field 22 of proc(5)."""
    started = int(Path("/proc/self/stat").read_text("ascii").rpartition(")")[2].split()[19])
    return (time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")) * 1e3


def make(folder: Path) -> None:
    """An hour of conversation, with noise on both tracks."""
    journal = go_on_talking(HOUR_MS)
    journal.closed().write(folder / "journal.jsonl")
    noise = np.random.default_rng(1)
    for stem in ("user", "reply"):
        track = WavWriter(folder / f"{stem}.wav")
        for second in range(int(journal.now_ms / 1000) + 1):
            track.append(noise.normal(0, 4000 if second % 5 else 300, 16_000).astype(np.int16))
        track.close()


def main(to: Path, folder: Path, jumps: int) -> None:
    """Open it, jump about, and write the figures."""
    tape = open_tape(folder, SystemClock().now_ms)
    app = JumpingTui(tape, jumps)
    with settled():
        app.run()
    told = {
        "entries": len(tape.entries),
        "opened_ms": app.opened_ms,
        "read_ms": app.read_ms,
        "jumps_ms": app.jumps_ms,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    to.write_text(json.dumps(told), "utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        make(Path(sys.argv[1]))
    else:
        main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
