"""The doctor's chirps over the rig, with the speaker led into the microphone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.acoustic.again import StumbledError, once_more
from tests.acoustic.bus import AUDIBLE, HOP, RATE_HZ, Bus, bursts
from tests.acoustic.conftest import Rig

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.acoustic
AGREE_MS = 25.0
"""As journal and ear do."""
LATEST = RATE_HZ // 2
"""Later than this, it is the next chirp's: one is played every 600 ms."""


def echoes_late_ms(sound: NDArray[np.float32]) -> list[float]:
    """How much later the user's side has each sound of the program's, in a recording of the bus, float32 [n, 2]."""
    late = []
    for first, last in bursts(sound[:, 0], AUDIBLE, 20):
        chirp = sound[first * HOP : (last + 1) * HOP, 0].astype(np.float64)
        heard = sound[first * HOP : (last + 1) * HOP + LATEST, 1].astype(np.float64)
        size = 1 << len(heard).bit_length()
        match = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(chirp, size)), size)[:LATEST]
        late.append(float(np.argmax(match)) * 1e3 / RATE_HZ)
    return late


def doctor() -> str:
    command = [sys.executable, "-m", "voicetui", "doctor", "--loopback"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout


def heard_and_agreed(rig: Rig) -> None:
    """The doctor hears its chirps, and is late by as much as a recording of them says."""
    rig.echo(True, 120, 60)
    try:
        with Bus() as bus:
            said = doctor()
            late_ms = echoes_late_ms(bus.sound())
    finally:
        rig.echo(False)
    found = re.search(r"loopback: (\d) of 5 chirps heard, residual (-?[\d.]+) ms, spread ([\d.]+) ms", said)
    assert found, said
    assert int(found[1]) >= 4
    assert float(found[2]) >= 60, "the rig's own delay is 120 ms and more"
    agreed = bool(late_ms) and abs(float(found[2]) - float(np.median(late_ms))) <= AGREE_MS
    if not agreed and len(late_ms) != int(found[1]):
        raise StumbledError(f"{len(late_ms)} sounds were on the bus and {found[1]} heard")
    assert agreed, f"by the recording the echoes came {late_ms} ms late: {said}"


def test_the_doctor_hears_its_chirps_and_says_how_far_the_times_are_apart(rig: Rig, tmp_path: Path) -> None:
    once_more(lambda _: heard_and_agreed(rig), tmp_path)


def test_without_a_way_from_speaker_to_microphone_the_doctor_says_so(rig: Rig) -> None:
    assert "0 of 5 chirps heard" in doctor()
