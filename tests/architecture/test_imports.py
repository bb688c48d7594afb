"""Who may import what, and that the engine runs without the screen's library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_import_contracts_hold() -> None:
    lint = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "module", ["voicetui.wiring", "voicetui.headless", "voicetui.doctor", "voicetui.views.summary"]
)
def test_the_engine_runs_with_textual_uninstalled(module: str) -> None:
    code = f"import sys; sys.modules['textual'] = None; import {module}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_rules_and_views_load_nothing_heavy() -> None:
    code = (
        "import sys, voicetui.conversation.decide, voicetui.views.summary\n"
        "heavy = {'asyncio', 'numpy', 'textual', 'httpx', 'anyio'} & set(sys.modules)\n"
        "sys.exit(' '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_only_the_clock_reads_time_or_sleeps() -> None:
    words = (
        "time.time(",
        "time.sleep(",
        "time.monotonic",
        "perf_counter",
        "asyncio.sleep(",
        "anyio.sleep(",
        "datetime.now",
    )
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "voicetui").rglob("*.py"))
        if path.name != "clock.py"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if any(word in line for word in words) and "asyncio.sleep(0)" not in line
    ]
    assert not found
