"""A staged gap is as long as was asked for, by ear: judged by a recording of the bus and nothing of the program's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import median

import numpy as np
import pytest
import soxr
from numpy.typing import NDArray

from tests.acoustic.again import once_more
from tests.acoustic.bus import AUDIBLE, HOP, RATE_HZ, Bus, clips_said, levels, speech_end
from tests.acoustic.test_conversation import AGREE_MS, ROOT, Line, hold
from voicetui.config import assets
from voicetui.rehearse.scenario import load_scenario
from voicetui.sound.wav import read_audio

pytestmark = [pytest.mark.acoustic, pytest.mark.models, pytest.mark.timeout(900)]

CLIPS = ("capital-of-france", "capital-of-italy", "einstein")
"""They do not pause inside, and end sharply: another threshold would put their end within 5 ms of the same place."""
EXACT_MS = 10.0
PHASES = tuple(range(0, HOP, HOP // 5))
"""5 ms hops can begin at any of these frames; what they say on average does not depend on where they do."""


def gaps_by_ear(sound: NDArray[np.float32]) -> list[float]:
    """The gap after each thing the user said, ms."""
    return [float(gap_ms) for gap_ms in np.mean([_gaps_at(sound[phase:]) for phase in PHASES], axis=0)]


def _gaps_at(sound: NDArray[np.float32]) -> list[float]:
    voice = np.flatnonzero(levels(sound[:, 0]) >= AUDIBLE)
    gaps_ms = []
    for first, last in clips_said(sound[:, 1]):
        end = speech_end(sound[:, 1], first, last) + 1
        gaps_ms.append((int(voice[voice >= end][0]) - end) * HOP * 1e3 / RATE_HZ)
    return gaps_ms


def differences(asked_ms: Sequence[float], turns: int, folder: Path) -> tuple[list[float], list[float]]:
    """Hold a conversation of so many turns with these gaps: what was heard minus what was asked, and minus what the
    program told, ms.
    """
    lines = [Line(clip) for clip in islice(cycle(CLIPS), turns)]
    summary, sound = hold(lines, folder, "--headphones", "--gap", ",".join(f"{gap_ms:g}" for gap_ms in asked_ms))
    heard_ms = gaps_by_ear(sound)
    told = summary["turns"]
    assert isinstance(told, list)
    assert len(heard_ms) == len(told) == turns
    assert all(turn["staged"] and turn["outcome"] == "completed" for turn in told)
    assert summary["gap_ms"]["n"] == 0 and summary["staged_gap_ms"]["n"] == turns  # type: ignore[index]
    off_ms = [heard - asked for heard, asked in zip(heard_ms, cycle(asked_ms), strict=False)]
    untrue_ms = [heard - turn["gap_ms"] for heard, turn in zip(heard_ms, told, strict=True)]
    name = "/".join(f"{gap_ms:g}" for gap_ms in asked_ms)
    print("told - asked", [round(t["gap_ms"] - a, 1) for t, a in zip(told, cycle(asked_ms), strict=False)])
    print("heard - asked", [round(off, 1) for off in off_ms])
    print(f"staged {name} ms by ear: n = {turns}, median {median(off_ms):+.1f}, largest {max(off_ms, key=abs):+.1f} ms")
    return off_ms, untrue_ms


@pytest.mark.parametrize("gap_ms", [200.0, 700.0])
def test_three_turns_are_answered_after_the_gap_that_was_asked_for(rig: object, tmp_path: Path, gap_ms: float) -> None:
    """A machine that stands still for a moment makes a reply late; then the program says by how much."""

    def check(folder: Path) -> None:
        off_ms, untrue_ms = differences((gap_ms,), 3, folder)
        assert min(map(abs, off_ms)) <= EXACT_MS, "none was on time: the machine is not to blame"
        assert max(map(abs, untrue_ms)) <= AGREE_MS

    once_more(check, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("gaps_ms", [(200.0,), (700.0,), (1500.0,), (200.0, 1400.0)])
def test_twenty_turns_each_are_answered_exactly_then(rig: object, tmp_path: Path, gaps_ms: tuple[float, ...]) -> None:
    off_ms, _ = differences(gaps_ms, 20, tmp_path)
    assert max(map(abs, off_ms)) <= EXACT_MS


@pytest.mark.long
@pytest.mark.parametrize("gap_ms", [200.0, 700.0])
def test_the_demo_lets_both_voices_be_heard_and_the_gap_between_them(
    rig: object, tmp_path: Path, gap_ms: float
) -> None:
    """Caller and answer come from one speaker here: what lies between them is what everybody hears."""
    command = [sys.executable, "-m", "voicetui", "demo", "--headless", "--no-record", "--gap", f"{gap_ms:g}"]
    with Bus() as bus:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200)
        bus.wait_hops(20)
        sound = bus.sound()[:, 0]
    assert done.returncode == 0, done.stderr
    lines = load_scenario(assets() / "scenarios" / "staged.toml").lines
    off_ms, place = [], 0
    for line in lines:
        (name,) = line.say
        said = soxr.resample(read_audio(Path(str(name)))[0].astype(np.float32) / 32768, 16_000, RATE_HZ)
        place += found_at(sound[place : place + 15 * RATE_HZ], said)
        end = place + np.mean([phase + speech_end_frame(sound[place + phase : place + len(said)]) for phase in PHASES])
        place += len(said)
        voice = [phase + first_audible_frame(sound[place + phase :]) for phase in PHASES]
        off_ms.append((place + float(np.mean(voice)) - end) * 1e3 / RATE_HZ - gap_ms)
    print("demo, heard - asked", [round(float(off), 1) for off in off_ms])
    assert max(map(abs, off_ms)) <= EXACT_MS


def found_at(sound: NDArray[np.float32], said: NDArray[np.float32]) -> int:
    """Where in ``sound`` a clip begins."""
    size = 1 << (len(sound) + len(said)).bit_length()
    match = np.fft.irfft(np.fft.rfft(sound, size) * np.conj(np.fft.rfft(said, size)), size)
    return int(np.argmax(match[: len(sound)]))


def speech_end_frame(sound: NDArray[np.float32]) -> int:
    return (speech_end(sound, 0, len(sound) // HOP) + 1) * HOP


def first_audible_frame(sound: NDArray[np.float32]) -> int:
    return int(np.flatnonzero(levels(sound) >= AUDIBLE)[0]) * HOP
