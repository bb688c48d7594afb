"""The doctor's chirps over the rig, with the speaker led into the microphone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acoustic.conftest import Rig

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.acoustic


def doctor() -> str:
    command = [sys.executable, "-m", "voicetui", "doctor", "--loopback"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout


def test_the_doctor_hears_its_chirps_and_says_how_far_the_times_are_apart(rig: Rig) -> None:
    rig.echo(True, 120, 60)
    try:
        said = doctor()
    finally:
        rig.echo(False)
    found = re.search(r"loopback: (\d) of 5 chirps heard, residual (-?[\d.]+) ms, spread ([\d.]+) ms", said)
    assert found, said
    assert int(found[1]) >= 4
    assert 60 <= float(found[2]) <= 260, "the rig's own delay is about 120 ms"


def test_without_a_way_from_speaker_to_microphone_the_doctor_says_so(rig: Rig) -> None:
    assert "0 of 5 chirps heard" in doctor()
