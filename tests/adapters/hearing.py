"""Sound to listen to: two synthesizers, noises, and the recordings kept beside the checkout."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import soxr
from numpy.typing import NDArray

from tests.absent import absent
from voicetui.ports import RATE_HZ, Pcm16, VoiceDetector, VoiceEdge

RECORDINGS = Path(__file__).resolve().parents[3] / "shared" / "audio"
BLOCKS = (1, 160, 320, 441, 480, 720, 1024, 20805)
"""Block lengths that devices deliver."""


def read(path: Path) -> Pcm16:
    """A sound file as int16 [n], mono, 16 kHz."""
    sound, rate_hz = soundfile.read(path, dtype="float32", always_2d=True)
    mono = soxr.resample(sound.mean(axis=1), rate_hz, RATE_HZ)
    return as_pcm(mono * 32767)


def as_pcm(steps: NDArray[np.floating[Any]]) -> Pcm16:
    """Rounded and clipped to int16 [n]."""
    return np.asarray(np.clip(np.round(steps), -32768, 32767), dtype=np.int16)


@cache
def say(text: str, voice: str = "slt", words_per_minute: int = 175) -> Pcm16:
    """``text`` spoken by flite ("slt", "rms", "awb", "kal") or by espeak-ng ("en", "ru", ...), int16 [n] 16 kHz."""
    flite = voice in ("slt", "rms", "awb", "kal")
    program = "flite" if flite else "espeak-ng"
    if shutil.which(program) is None:
        absent(f"{program} is not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.wav"
        by_flite = ["flite", "-voice", voice, "-t", text, "-o", str(path)]
        by_espeak = ["espeak-ng", "-v", voice, "-s", str(words_per_minute), "-w", str(path), text]
        subprocess.run(by_flite if flite else by_espeak, check=True, capture_output=True)
        return read(path)


def recording(name: str) -> Pcm16:
    """One of the recordings beside the checkout; skips where there are none."""
    return read(recording_file(name))


def recording_file(name: str) -> Path:
    """Where it is."""
    path = RECORDINGS / name
    if not path.is_file():
        pytest.skip(f"{path.name} is not beside the checkout")
    return path


def silence(seconds: float) -> Pcm16:
    """Digital silence."""
    return np.zeros(round(seconds * RATE_HZ), np.int16)


def noise(seconds: float, dbfs: float, seed: int = 0) -> Pcm16:
    """White noise of that RMS level."""
    steps = np.random.default_rng(seed).standard_normal(round(seconds * RATE_HZ)) * 32768 * 10 ** (dbfs / 20)
    return as_pcm(steps)


def tone(seconds: float, hz: float, dbfs: float) -> Pcm16:
    """A sine of that RMS level."""
    phase = 2 * np.pi * hz * np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return as_pcm(np.sin(phase) * np.sqrt(2) * 32768 * 10 ** (dbfs / 20))


def join(*parts: Pcm16) -> Pcm16:
    """The parts one after another."""
    return np.concatenate(parts)


def over(sound: Pcm16, room_dbfs: float, seed: int = 0) -> Pcm16:
    """``sound`` in a room with white noise of that level."""
    room = noise(sound.size / RATE_HZ, room_dbfs, seed)
    return as_pcm(sound.astype(np.float64) + room)


def without_edges(sound: Pcm16, below_dbfs: float = -40.0) -> Pcm16:
    """``sound`` without what is quieter than ``below_dbfs`` before its first and after its last loud sample."""
    loud = np.flatnonzero(np.abs(sound.astype(np.int32)) > 32768 * 10 ** (below_dbfs / 20))
    return sound[loud[0] : loud[-1] + 1]


def edges_of(detector: VoiceDetector, sound: Pcm16, block: int = 512) -> list[VoiceEdge]:
    """What ``detector`` finds in ``sound``, fed in blocks."""
    found = []
    for at in range(0, sound.size, block):
        found += detector.feed(sound[at : at + block])
    return found
