"""A session on a real terminal: ``python -m tests.tui.on_terminal LOG [hang] [chatter] [crash]``."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.tui.fake_engine import FakeEngine
from tests.tui.scenes import conversation
from voicetui.runtime.clock import SystemClock
from voicetui.runtime.engine import Levels
from voicetui.tui.options import ScreenOptions
from voicetui.tui.run import run_screen

UNDERRUN = b"ALSA lib pcm.c: underrun\n"


class RealTimeEngine(FakeEngine):
    """The golden conversation in real time."""

    def __init__(self, hangs: bool, crashes: bool) -> None:
        super().__init__(conversation().entries, hangs=hangs)
        self._clock = SystemClock()
        self._crashes = crashes

    def now_ms(self) -> float:
        """Real time."""
        self._now_ms = self._clock.now_ms()
        return self._now_ms

    def levels(self) -> Levels:
        """Levels, until it is time to crash."""
        if self._crashes and self._now_ms > 700:
            raise RuntimeError("levels went [/wrong]")
        return super().levels()

    def join(self, seconds: float) -> bool:
        """Wait as long as it may, if it hangs."""
        if self.hangs:
            threading.Event().wait(seconds)
        return super().join(seconds)


def chatter() -> None:
    """What native libraries, children and careless prints do."""
    while True:
        os.write(1, UNDERRUN)
        os.write(2, UNDERRUN)
        subprocess.run([sys.executable, "-c", "import os; os.write(2, b'from a child\\n')"], check=False)
        threading.Event().wait(0.05)


if __name__ == "__main__":
    words = sys.argv[2:]
    engine = RealTimeEngine("hang" in words, "crash" in words)
    if "chatter" in words:
        threading.Thread(target=chatter, daemon=True).start()
    status = run_screen(engine, ScreenOptions("voicetui", close_when_finished=False), Path(sys.argv[1]))
    print(f"stopped {engine.stopped}, status {status}")
    sys.exit(status)
