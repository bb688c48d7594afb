"""The desk without a desk: a private PulseAudio with a speaker and a microphone that can be recorded and unplugged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

SCRIPT = Path(__file__).parent / "rig.sh"
BUS_HZ = 48_000
"""The rate of the rig's one clock, and of its recordings."""


class Recording:
    """A running recording of the bus. Left: what the program said. Right: what its microphone heard."""

    def __init__(self) -> None:
        self._parec = subprocess.Popen(
            [
                "parec",
                "--latency-msec=20",
                "--device=bus.monitor",
                "--channels=2",
                f"--rate={BUS_HZ}",
                "--format=s16le",
            ],
            stdout=subprocess.PIPE,
        )
        self._heard: list[bytes] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._parec.stdout is not None
        while data := self._parec.stdout.read(4_096):
            self._heard.append(data)

    def stop(self) -> NDArray[np.int16]:
        """int16 [n, 2] at ``BUS_HZ``."""
        self._parec.terminate()
        self._thread.join(10)
        self._parec.wait(10)
        if self._parec.stdout is not None:
            self._parec.stdout.close()
        heard = b"".join(self._heard)
        return np.frombuffer(heard[: len(heard) // 4 * 4], "<i2").reshape(-1, 2)


class Rig:
    """A running rig, whose environment is that of this process."""

    def run(self, *words: str) -> str:
        """Run a program of the rig's (``pactl`` ...) and return what it says."""
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=30).stdout

    def echo(self, on: bool, delay_ms: int = 120, percent: int = 60) -> None:
        """Let the microphone hear the speaker, or not."""
        words = ("on", str(delay_ms), str(percent)) if on else ("off",)
        self.run("bash", str(SCRIPT), "echo", *words)

    def record(self) -> Recording:
        """Start to record the bus."""
        return Recording()

    def speak(self, path: Path) -> subprocess.Popen[bytes]:
        """Start to play a WAV file into the microphone."""
        return subprocess.Popen(["paplay", "--latency-msec=50", "--device=micfeed", str(path)])


def _missing() -> str:
    for name in ("pulseaudio", "pactl", "parec", "paplay"):
        if shutil.which(name) is None:
            return f"{name} is not installed (apt install pulseaudio pulseaudio-utils libasound2-plugins)"
    return ""


@pytest.fixture(scope="session")
def rig() -> Iterator[Rig]:
    """The rig, started once and stopped at the end. Without PulseAudio: skipped, but a failure where ``CI`` is true."""
    if why := _missing():
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)
    folder = tempfile.mkdtemp(prefix="rig")  # short: the path of a socket has at most 107 characters
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RIG_DIR", folder)
        started = subprocess.run(["bash", str(SCRIPT), "start"], capture_output=True, text=True, timeout=60)
        try:
            if started.returncode != 0:
                pytest.fail(f"the rig does not start: {started.stdout}{started.stderr}")
            printed = subprocess.run(["bash", str(SCRIPT), "env"], capture_output=True, text=True, check=True).stdout
            for line in printed.splitlines():
                name, _, value = line.removeprefix("export ").partition("=")
                patch.setenv(name, value)
            _look_again()
            yield Rig()
        finally:
            subprocess.run(["bash", str(SCRIPT), "stop"], capture_output=True, timeout=30)
            shutil.rmtree(folder, ignore_errors=True)


def _look_again() -> None:
    """PortAudio asks what there is when it is imported: that may have been before the rig was there."""
    if "sounddevice" in sys.modules:
        from voicetui.sound.devices import PortAudio

        PortAudio().refresh()
