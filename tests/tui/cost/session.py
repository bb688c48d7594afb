"""One session in a terminal of 120x36 cells: what it cost while people talked or were silent, and what it measured."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.tui.cost.process import CpuTime, cpu_time, load_average
from tests.tui.terminal import Terminal
from voicetui.config import assets
from voicetui.events import Entry
from voicetui.events.orders import EndTurn, OpenUtterance
from voicetui.events.session import Ready, SessionClosed
from voicetui.journal.append import JOURNAL_NAME
from voicetui.journal.read import JournalReader
from voicetui.views.summary import summarise

CELLS = (120, 36)
LOOK_S = 0.05
_LAG = re.compile(r"engine loop lag: p50 ([\d.]+) ms, p99 ([\d.]+) ms, n = (\d+)")
Reading = Literal["always", "not while they talk"]


@dataclass(frozen=True)
class Lag:
    """Lateness of the engine's heartbeat over a whole session."""

    p50_ms: float
    p99_ms: float
    n: int


@dataclass
class Ran:
    """One session. ``percent`` is of one core; ``main_percent`` that of its main thread alone."""

    seconds: float
    percent: float
    main_percent: float
    load: float
    full_s: float = 0.0
    """How long the terminal took no output."""
    gaps_ms: tuple[float, ...] = ()
    lag: Lag | None = None


@dataclass
class Watched:
    """A running session, followed through its journal."""

    terminal: Terminal
    recordings: Path
    reads: bool = True
    full_s: float = 0.0
    entries: list[Entry] = field(default_factory=list)
    turn_ended: tuple[CpuTime, float] | None = None
    """What was used by the end of the newest turn, and when that was."""
    _tail: JournalReader | None = None

    def until(self, wanted: Callable[[], bool], seconds: float) -> CpuTime:
        """Look on until ``wanted``; what was used by then. Raises ``TimeoutError``."""
        clock = self.terminal.clock
        end_ms = clock.now_ms() + seconds * 1e3
        while True:
            self._look()
            if wanted():
                return cpu_time(self.terminal.process.pid)
            if clock.now_ms() > end_ms or self.terminal.process.poll() is not None:
                raise TimeoutError(f"it did not come so far: {self.terminal.output[-500:]!r}")

    def until_over(self) -> None:
        """Take what is left of the journal."""
        self.entries += self._tail.finish() if self._tail is not None else []

    def has(self, kind: type) -> bool:
        """Whether the journal has such an entry."""
        return any(isinstance(entry.body, kind) for entry in self.entries)

    def _look(self) -> None:
        if self.reads:
            self.terminal.watch(LOOK_S)
        else:
            self.terminal.look_away(LOOK_S)
            self.full_s += LOOK_S if self.terminal.full() else 0.0
        found = next(self.recordings.glob(f"*/{JOURNAL_NAME}"), None)
        if self._tail is None and found is not None:
            self._tail = JournalReader(found)
        new = self._tail.poll() if self._tail is not None else []
        self.entries += new
        if any(isinstance(entry.body, EndTurn) for entry in new):
            self.turn_ended = cpu_time(self.terminal.process.pid), self.terminal.clock.now_ms()


def talking(folder: Path, words: Sequence[str], reading: Reading = "always") -> Ran:
    """``voicetui WORDS`` from the first onset to the end of the last turn."""
    watched = _start(folder, words)
    terminal, clock = watched.terminal, watched.terminal.clock
    try:
        before = watched.until(lambda: watched.has(OpenUtterance), 60)
        start_ms, load = clock.now_ms(), load_average()
        watched.reads = reading == "always"
        watched.until(lambda: watched.has(SessionClosed), 120)
        after, end_ms = watched.turn_ended or (before, start_ms)
        watched.reads = True
        terminal.press(b"q")
        terminal.wait(10)
    finally:
        terminal.close()
    return _ran(watched, before, after, (end_ms - start_ms) / 1e3, max(load, load_average()))


def silent(folder: Path, words: Sequence[str], seconds: float, environment: Mapping[str, str]) -> Ran:
    """``voicetui WORDS`` while it listens and nobody speaks."""
    watched = _start(folder, words, environment)
    terminal, clock = watched.terminal, watched.terminal.clock
    try:
        watched.until(lambda: watched.has(Ready), 60)
        settled_ms = clock.now_ms() + 3000
        before = watched.until(lambda: clock.now_ms() >= settled_ms, 10)
        start_ms, load = clock.now_ms(), load_average()
        after = watched.until(lambda: clock.now_ms() >= start_ms + seconds * 1e3, seconds + 10)
        end_ms = clock.now_ms()
        terminal.process.send_signal(signal.SIGTERM)
        terminal.wait(10)
    finally:
        terminal.close()
    return _ran(watched, before, after, (end_ms - start_ms) / 1e3, max(load, load_average()))


def _start(folder: Path, words: Sequence[str], environment: Mapping[str, str] | None = None) -> Watched:
    """Start it with recordings in ``folder``, which must be empty."""
    recordings = folder / "recordings"
    config = folder / "voicetui.toml"
    built_in = (assets() / "voicetui.toml").read_text("utf-8")
    config.write_text(built_in.replace("[record]\n", f'[record]\nfolder = "{recordings}"\n'), "utf-8")
    terminal = Terminal("voicetui", "--config", str(config), *words, cells=CELLS, environment=environment)
    return Watched(terminal, recordings)


def _ran(watched: Watched, before: CpuTime, after: CpuTime, seconds: float, load: float) -> Ran:
    watched.until_over()
    gaps_ms = [turn["gap_ms"] for turn in summarise(watched.entries)["turns"] if turn["gap_ms"] is not None]
    return Ran(
        seconds,
        100 * (after.whole_s - before.whole_s) / seconds,
        100 * (after.main_s - before.main_s) / seconds,
        load,
        watched.full_s,
        tuple(gaps_ms),
        _lag(watched.recordings),
    )


def _lag(recordings: Path) -> Lag | None:
    """What the session's log says of its loop."""
    for log in recordings.glob("*/log.txt"):
        found = _LAG.search(log.read_text("utf-8", "replace"))
        if found is not None:
            return Lag(float(found[1]), float(found[2]), int(found[3]))
    return None
