"""A recording's times come from its samples and the session's own clock, whatever the wall clock or its reader does."""

from __future__ import annotations

import time
import wave
from pathlib import Path

import numpy as np
import pytest

from tests.adapters.test_damaged import conversation, session
from voicetui.events.session import SessionOpened
from voicetui.journal.listing import read_row
from voicetui.journal.recorded import open_recorded
from voicetui.listen.ear import Ear
from voicetui.listen.scripted import EnergyDetector
from voicetui.ports import Block
from voicetui.runtime.clock import SystemClock
from voicetui.sound.wav import WavWriter

FRAME_SAMPLES = 512
MARKS_S = (6.0, 12.0, 18.0)


@pytest.mark.parametrize("jump_s", [-90.0, 3600.0])
def test_a_wall_clock_that_jumps_moves_nothing_but_the_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump_s: float
) -> None:
    clock = SystemClock()
    before_ms = clock.now_ms()
    wall_s = time.time() + jump_s
    monkeypatch.setattr(time, "time", lambda: wall_s)
    assert 0 <= clock.now_ms() - before_ms < 1000
    folder = session(tmp_path / "s")
    row = read_row(folder)
    path = folder / "journal.jsonl"
    path.write_bytes(path.read_bytes().replace(b"2030-01-01T00:00:00Z", b"2029-12-31T22:58:30Z"))
    (opened,) = [entry.body for entry in open_recorded(folder).entries if isinstance(entry.body, SessionOpened)]
    later = read_row(folder)
    assert opened.started_utc != "2030-01-01T00:00:00Z" and later.started_utc != row.started_utc
    assert (later.length_s, later.gap_ms, later.state) == (row.length_s, row.gap_ms, "finished")
    assert row.length_s is not None and row.length_s >= 0 and conversation().now_ms == row.length_s * 1e3


def marked() -> np.ndarray:
    """25 s with half a second of tone at each mark."""
    sound = np.zeros(25 * 16_000, np.int16)
    tone = (9000 * np.sin(np.arange(8000) * 2 * np.pi * 440 / 16_000)).astype(np.int16)
    for mark_s in MARKS_S:
        sound[int(mark_s * 16_000) :][: len(tone)] = tone
    return sound


def onsets(block_samples: int, speed: float) -> list[int]:
    """Where speech is found in the same sound, fed in such blocks and told to be so many times faster."""
    ear, sound, found = Ear(EnergyDetector()), marked(), []
    for first in range(0, len(sound), block_samples):
        block = Block(sound[first : first + block_samples], first, first / 16 / speed, 0)
        found += [edge.sample for edge in ear.hear(block, False, False) if edge.kind == "started"]
    return found


def test_a_recording_has_the_same_turns_however_fast_it_is_read() -> None:
    slow, fast = onsets(320, 1.0), onsets(16_000, 50.0)
    assert len(slow) == len(fast) == len(MARKS_S)
    for one, other, mark_s in zip(slow, fast, MARKS_S, strict=True):
        assert abs(one - other) <= FRAME_SAMPLES
        assert abs(one - mark_s * 16_000) <= FRAME_SAMPLES
    assert abs((slow[2] - slow[0]) - 12 * 16_000) <= 16, "no offset grows with earlier turns"


@pytest.mark.parametrize("block", [160, 320, 441, 1024])
def test_while_it_grows_a_track_is_at_most_50_ms_longer_than_its_header_says(tmp_path: Path, block: int) -> None:
    writer = WavWriter(tmp_path / "user.wav")
    for number in range(1, 60):
        writer.append(np.ones(block, np.int16))
        with wave.open(str(tmp_path / "user.wav")) as plain:
            assert 0 <= number * block - plain.getnframes() < 800
    writer.close()
