"""The desk without a desk: a private PulseAudio with a speaker and a microphone that can be recorded and unplugged."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.absent import absent

SCRIPT = Path(__file__).parent / "rig.sh"


class Rig:
    """A running rig, whose environment is that of this process."""

    def run(self, *words: str) -> str:
        """Run a program of the rig's (``pactl`` ...) and return what it says."""
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=30).stdout

    def echo(self, on: bool, delay_ms: int = 120, percent: int = 60) -> None:
        """Let the microphone hear the speaker, or not."""
        words = ("on", str(delay_ms), str(percent)) if on else ("off",)
        self.run("bash", str(SCRIPT), "echo", *words)


def _missing() -> str:
    for name in ("pulseaudio", "pactl", "parec", "paplay"):
        if shutil.which(name) is None:
            return f"{name} is not installed (apt install pulseaudio pulseaudio-utils libasound2-plugins)"
    return ""


@pytest.fixture(scope="session")
def rig() -> Iterator[Rig]:
    """The rig, started once and stopped at the end. Without PulseAudio: skipped, but a failure where ``CI`` is true."""
    if why := _missing():
        absent(why)
    with running_rig() as running:
        yield running


@contextmanager
def running_rig() -> Iterator[Rig]:
    """A rig for as long as this lasts; its environment is this process's meanwhile."""
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
