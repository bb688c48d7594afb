"""A session on a real terminal: ``python -m tests.tui.on_terminal LOG [hang] [chatter] [crash] [converse]``."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from tests.sessions.stage import Stage
from tests.tui.fake_engine import FakeEngine
from tests.tui.scenes import conversation
from voicetui.events.orders import EndTurn
from voicetui.events.session import Ready, Said
from voicetui.listen.scripted import EnergyDetector
from voicetui.reply.simulated_tier import SimulatedTier
from voicetui.runtime.clock import SystemClock
from voicetui.runtime.engine import Engine, Levels
from voicetui.tui.app import VoiceTui
from voicetui.tui.options import ScreenOptions
from voicetui.tui.run import run_screen
from voicetui.tui.session_app import SessionApp

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


def conversing(folder: Path) -> Engine:
    """A real engine: one typed turn after the other, each answered by a scripted voice, its journal in ``folder``."""
    clock = SystemClock()
    tier = SimulatedTier(clock, "twin", ttft_p50_ms=20, ttft_p95_ms=21, tokens_per_second=500, replies=("Yes.",))
    stage = Stage(clock=clock, tier=tier, detector=EnergyDetector(), folder=folder)
    told = 0

    def go_on() -> None:
        nonlocal told
        entries = stage.journal.entries_since(told)
        told += len(entries)
        if any(isinstance(entry.body, Ready | EndTurn) for entry in entries):
            stage.session.post(Said("Shall we go on?"))

    stage.session.on_entries = go_on
    return Engine(stage.session.run, stage.session.post, stage.journal.entries_since, clock.now_ms)


def chatter() -> None:
    """What native libraries, children and careless prints do."""
    while True:
        os.write(1, UNDERRUN)
        os.write(2, UNDERRUN)
        subprocess.run([sys.executable, "-c", "import os; os.write(2, b'from a child\\n')"], check=False)
        threading.Event().wait(0.05)


if __name__ == "__main__":
    words = sys.argv[2:]
    log = Path(sys.argv[1])
    options = ScreenOptions("voicetui", close_when_finished=False)
    if "converse" in words:
        engine = conversing(log.parent / "session")
        engine.start()
        sys.exit(run_screen(engine, options, log))
    replayed = RealTimeEngine("hang" in words, "crash" in words)

    def make(leaving: Callable[[], None], takes_output: Callable[[], bool], /) -> SessionApp:
        if "chatter" in words:  # a child that began before would still have the terminal
            threading.Thread(target=chatter, daemon=True).start()
        return VoiceTui(replayed, options, leaving, takes_output)

    status = run_screen(replayed, options, log, make)
    print(f"stopped {replayed.stopped}, status {status}")
    sys.exit(status)
