"""What a person in the room would hear: the rig's bus, recorded and judged by code that shares nothing with the
program.

Left is the program's voice, right the user's, in the same frames.
"""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 48_000
HOP = RATE_HZ // 200
"""5 ms."""
ONE_CLIP_HOPS = 240
AUDIBLE = 10 ** (-50 / 20)


class Bus:
    """Records the bus, or another source, and can be waited on. Use as a context manager."""

    def __init__(self, source: str = "bus.monitor") -> None:
        self._pieces: list[NDArray[np.float32]] = []
        self._levels: list[tuple[float, float]] = []
        self._grew = threading.Condition()
        command = [
            "parec",
            "--latency-msec=20",
            f"--device={source}",
            "--channels=2",
            f"--rate={RATE_HZ}",
            "--format=s16le",
        ]
        self._recorder = subprocess.Popen(command, stdout=subprocess.PIPE)
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Bus:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._recorder.terminate()
        self._recorder.wait()
        self._thread.join()
        assert self._recorder.stdout is not None
        self._recorder.stdout.close()

    def _read(self) -> None:
        stream = self._recorder.stdout
        assert stream is not None
        size = HOP * 4
        while len(block := stream.read(size)) == size:
            samples = np.frombuffer(block, "<i2").reshape(-1, 2).astype(np.float32) / 32768
            with self._grew:
                self._pieces.append(samples)
                self._levels.append(tuple(np.sqrt(np.mean(samples**2, axis=0))))
                self._grew.notify_all()

    def hops(self) -> int:
        """How many 5 ms hops there are."""
        return len(self._levels)

    def sound(self) -> NDArray[np.float32]:
        """float32 [n, 2]: everything so far, left the program, right the user."""
        with self._grew:
            return np.concatenate(self._pieces) if self._pieces else np.zeros((0, 2), np.float32)

    def wait_hops(self, count: int) -> None:
        """Wait for this many more hops: time, as the bus tells it."""
        end = self.hops() + count
        with self._grew:
            assert self._grew.wait_for(lambda: self.hops() >= end, timeout=30 + count / 100), "the bus stands still"

    def wait_voice(self, since: int, channel: int = 0, timeout_s: float = 30) -> int:
        """Wait until a channel is audible at or after hop ``since``; that hop."""

        def find() -> int | None:
            return next((hop for hop in range(since, self.hops()) if self._levels[hop][channel] >= AUDIBLE), None)

        with self._grew:
            assert self._grew.wait_for(lambda: find() is not None, timeout=timeout_s), "nothing was heard"
        found = find()
        assert found is not None
        return found

    def wait_quiet(self, since: int, hops: int = 160, channel: int = 0, timeout_s: float = 60) -> int:
        """Wait until a channel was silent for ``hops`` after its voice; the last audible hop."""
        first = self.wait_voice(since, channel, timeout_s)

        def over() -> bool:
            newest = [level[channel] for level in self._levels[max(first, self.hops() - hops) :]]
            return self.hops() - first > hops and len(newest) >= hops and max(newest) < AUDIBLE

        with self._grew:
            assert self._grew.wait_for(over, timeout=timeout_s), "the voice did not end"
        return max(hop for hop in range(first, self.hops()) if self._levels[hop][channel] >= AUDIBLE)


def levels(channel: NDArray[np.float32]) -> NDArray[np.float64]:
    """RMS of each 5 ms hop of one channel, float64 [hops]."""
    whole = channel[: len(channel) // HOP * HOP].astype(np.float64).reshape(-1, HOP)
    return np.sqrt(np.mean(whole**2, axis=1))


def bursts(channel: NDArray[np.float32], floor: float, gap_hops: int) -> list[tuple[int, int]]:
    """[first, last] hop of every stretch louder than ``floor`` RMS; stretches closer than ``gap_hops`` are one."""
    loud = np.flatnonzero(levels(channel) >= floor)
    found: list[tuple[int, int]] = []
    for hop in loud.tolist():
        if found and hop - found[-1][1] <= gap_hops:
            found[-1] = (found[-1][0], hop)
        else:
            found.append((hop, hop))
    return found


def clips_said(user: NDArray[np.float32]) -> list[tuple[int, int]]:
    """[first, last] hop of each thing the user said; pauses up to 1.2 s inside belong to it."""
    return bursts(user, 10 ** (-45 / 20), ONE_CLIP_HOPS)


def speech_end(channel: NDArray[np.float32], first: int, last: int) -> int:
    """The acoustic end of a user's burst: its last hop above (speech level - 25 dB)."""
    level = levels(channel)[first : last + 1]
    speech = np.sqrt(np.mean(level[level >= np.median(level)] ** 2))
    return first + int(np.flatnonzero(level >= speech * 10 ** (-25 / 20))[-1])


def speak(path: Path, ahead_ms: int = 20) -> subprocess.Popen[bytes]:
    """The user says a clip into the virtual microphone, handed over ``ahead_ms`` before its time.

    It begins at once all the same. With less than a busy machine takes to wake ``paplay`` there are holes in it.
    """
    return subprocess.Popen(["paplay", "--device=micfeed", f"--latency-msec={ahead_ms}", str(path)])
