"""``kill -9`` in mid-reply: the session opens cleanly and nothing but the last moment is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

from voicetui.events.orders import EndTurn
from voicetui.events.sound import ClockMapped
from voicetui.journal.read import read_journal
from voicetui.sound.wav import read_parts
from voicetui.views.summary import summarise

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.models
def test_a_killed_session_opens_and_lost_nothing_before_its_last_100_ms(tmp_path: Path) -> None:
    config = tmp_path / "voicetui.toml"
    config.write_text(f'[record]\nfolder = "{tmp_path}/kept"\n')
    command = [sys.executable, "-m", "tests.sessions.killed", str(config), "2"]
    killed = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    killed_ms = float(killed.stdout)
    (folder,) = (tmp_path / "kept").iterdir()
    journal = read_journal(folder)
    assert not journal.problems
    assert [entry.body.outcome for entry in journal.entries if isinstance(entry.body, EndTurn)] == ["completed"]
    summary = summarise(journal.entries)
    assert summary["turns"][0]["heard_text"] == "The capital of France is Paris."
    mapped = next(entry for entry in journal.entries if isinstance(entry.body, ClockMapped))
    for stem in ("user", "reply"):
        whole, _ = read_parts(folder, stem)
        with wave.open(str(folder / f"{stem}.wav")) as plain:  # as programs read it that know nothing of kills
            assert plain.getparams()[:3] == (1, 2, 16_000)
            believed = np.frombuffer(plain.readframes(plain.getnframes()), "<i2")
        assert np.array_equal(believed, whole[: len(believed)])
        for samples in (len(believed), len(whole)):
            assert mapped.at + (samples - mapped.body.sample) / 16 >= killed_ms - 100, stem
    loud = abs(whole.astype(int)) > 300
    assert loud[-16 * 400 :].any(), "the reply that was being heard is on its track up to the end"
