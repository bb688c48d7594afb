"""Prints what the screen costs, as a table in Markdown: ``python -m tests.tui.cost [talking] [silent] [frames]
[stalled] [scrub]``.

Each part takes less than two and a half minutes.  Its figures hold for an idle machine: the load of each is shown, and
beside the frames how evenly this machine does the same small piece of work again and again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from tests.acoustic.conftest import SCRIPT
from tests.tui.cost.process import load_average
from tests.tui.cost.scrub import make as make_hour
from tests.tui.cost.session import CELLS, Ran, Reading, silent, talking
from tests.tui.terminal import Terminal
from voicetui.views.statistics import quantile

SILENT_S = 20.0
FRAMES = 1200
JUMPS = 200
TALKING_BAR, SILENT_BAR, FRAME_BAR_MS = 30.0, 15.0, 10.0
Row = tuple[str, str, str, str, str]


def talk() -> Iterator[Row]:
    """The demo without and with a screen: CPU from the first onset to the end of the last turn."""
    headless, screen = _demo("--headless"), _demo()
    yield _cpu("talking, headless", headless)
    yield _cpu("talking, screen", screen)
    yield _difference("talking, the screen's part", headless, screen, TALKING_BAR)
    yield _lag("loop lag, headless", headless)
    yield _lag("loop lag, screen", screen)


def be_silent() -> Iterator[Row]:
    """A live session on the virtual sound card, nobody talking."""
    with _rig() as environment:
        headless, screen = _live(environment, "--headless"), _live(environment)
    yield _cpu("silent, headless", headless)
    yield _cpu("silent, screen", screen)
    yield _difference("silent, the screen's part", headless, screen, SILENT_BAR)


def draw() -> Iterator[Row]:
    """One frame with an hour of conversation behind it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frames.json"
        terminal = Terminal("tests.tui.cost.hour", str(path), str(FRAMES), cells=CELLS)
        try:
            while terminal.process.poll() is None:
                terminal.watch(0.05)
        finally:
            terminal.close()
        told = json.loads(path.read_text("utf-8"))
    load = load_average()
    behind = f"{told['turns']} turns, {told['entries']} entries"
    yield _spread(f"frame ({behind})", told["frames_ms"], load, f"p95 < {FRAME_BAR_MS:.0f} ms")
    yield _spread("… its CPU alone", told["cpu_ms"], load)
    yield _spread("… while the hour was read", told["opening_ms"], load)
    yield _spread("the same work, 400 times", _yardstick(), load)


def stall() -> Iterator[Row]:
    """The demo without a screen, with one, and with one whose terminal takes no output while they talk."""
    runs: list[tuple[str, tuple[str, ...], Reading]] = [
        ("headless", ("--headless",), "always"),
        ("screen, read", (), "always"),
        ("screen, stalled", (), "not while they talk"),
    ]
    for name, words, reading in runs:
        ran = _demo(*words, reading=reading)
        full = f", terminal full for {ran.full_s:.0f} s" if ran.full_s else ""
        yield _lag(f"loop lag, {name}{full}", ran)
        gaps = f"median {median(ran.gaps_ms):.0f} ms, max {max(ran.gaps_ms):.0f} ms" if ran.gaps_ms else "none"
        yield (f"turn gaps, {name}", gaps, str(len(ran.gaps_ms)), f"{ran.load:.1f}", "unchanged")


def scrub() -> Iterator[Row]:
    """A recorded hour is opened, and jumped about in."""
    with tempfile.TemporaryDirectory() as folder:
        make_hour(Path(folder))
        path = Path(folder) / "scrub.json"
        terminal = Terminal("tests.tui.cost.scrub", str(path), folder, str(JUMPS), cells=CELLS)
        try:
            while terminal.process.poll() is None:
                terminal.watch(0.05)
        finally:
            terminal.close()
        told = json.loads(path.read_text("utf-8"))
    load = f"{load_average():.1f}"
    opened = f"{told['opened_ms']:.0f} ms, all of it read after {told['read_ms']:.0f} ms"
    yield (f"a recorded hour ({told['entries']} entries): first picture", opened, "1", load, "< 2000 ms")
    yield _spread("… a jump to its picture", told["jumps_ms"], load_average(), "< 150 ms")
    yield ("… memory", f"{told['memory_mb']:.0f} MB", "1", load, "")


PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "talking": talk,
    "silent": be_silent,
    "frames": draw,
    "stalled": stall,
    "scrub": scrub,
}


def _demo(*words: str, reading: Reading = "always") -> Ran:
    with tempfile.TemporaryDirectory() as folder:
        return talking(Path(folder), ("demo", *words), reading)


def _live(environment: dict[str, str], *words: str) -> Ran:
    with tempfile.TemporaryDirectory() as folder:
        return silent(Path(folder), ("live", *words), SILENT_S, environment)


@contextmanager
def _rig() -> Iterator[dict[str, str]]:
    """A virtual sound card; what a program must have in its environment to find it."""
    folder = tempfile.mkdtemp(prefix="rig")

    def rig(word: str) -> str:
        environment = {**os.environ, "RIG_DIR": folder}
        return subprocess.run(
            ["bash", str(SCRIPT), word], capture_output=True, text=True, check=True, timeout=60, env=environment
        ).stdout

    try:
        rig("start")
        lines = [line.removeprefix("export ").partition("=") for line in rig("env").splitlines()]
        yield {name: value for name, _, value in lines}
    finally:
        rig("stop")
        shutil.rmtree(folder, ignore_errors=True)


def _yardstick() -> list[float]:
    """CPU of a piece of work that is always the same: what it varies by is the machine's."""
    took_ms = []
    for _ in range(400):
        before_s = time.thread_time()
        sum(range(150_000))
        took_ms.append((time.thread_time() - before_s) * 1e3)
    return took_ms


def _cpu(name: str, ran: Ran) -> Row:
    main = f"{ran.percent:.1f}% of a core (main thread {ran.main_percent:.1f}%)"
    return (name, main, f"{ran.seconds:.0f} s", f"{ran.load:.1f}", "")


def _difference(name: str, without: Ran, with_it: Ran, bar: float) -> Row:
    """The screen's part in two ways: what the process takes more, and what the screen's own thread takes."""
    more = f"{with_it.percent - without.percent:.1f}% more, its own thread {with_it.main_percent:.1f}%"
    load = max(without.load, with_it.load)
    return (name, more, "1 run each", f"{load:.1f}", f"< {bar:.0f}%")


def _lag(name: str, ran: Ran) -> Row:
    if ran.lag is None:
        return (name, "not told", "0", f"{ran.load:.1f}", "")
    figures = f"p50 {ran.lag.p50_ms:.2f} ms, p99 {ran.lag.p99_ms:.2f} ms"
    return (name, figures, str(ran.lag.n), f"{ran.load:.1f}", "unchanged")


def _spread(name: str, values_ms: list[float], load: float, bar: str = "") -> Row:
    p50_ms, p95_ms = quantile(values_ms, 0.5), quantile(values_ms, 0.95)
    figures = f"p50 {p50_ms:.1f} ms, p95 {p95_ms:.1f} ms, max {max(values_ms):.1f} ms"
    return (name, figures, str(len(values_ms)), f"{load:.1f}", bar)


def main() -> None:
    """Measure the parts asked for, all of them if none is, and print each row as soon as it is known."""
    parser = argparse.ArgumentParser(prog="python -m tests.tui.cost", description="What the screen costs.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parts = parser.parse_args().parts or list(PARTS)
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"{unknown[0]} is no part. Allowed: {', '.join(PARTS)}.")
    print("| what | value | n | load | bar |\n|---|---|---|---|---|")
    for part in parts:
        for row in PARTS[part]():
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    if not sys.platform.startswith("linux"):
        sys.exit("python -m tests.tui.cost reads /proc: it needs Linux.")
    main()
