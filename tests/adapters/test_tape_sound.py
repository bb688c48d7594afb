"""Both tracks of a recorded session are heard at the position, on any device's rate."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tui.replay_stage import FakeTrack, Watch
from voicetui.events import Entry
from voicetui.events.session import SessionClosed
from voicetui.events.sound import ClockMapped
from voicetui.ports import PcmFloat
from voicetui.rehearse.replay_tape import Tape
from voicetui.rehearse.tape_sound import StripRenderer, TapeSound

LATENCY_MS = 35.0
BLOCK_MS = 10


class Listener:
    """A clock, a device that takes 10 ms at a time, and all that it took."""

    def __init__(self, rate_hz: int, user: FakeTrack, reply: FakeTrack, maps: list[Entry] | None = None) -> None:
        self.watch = Watch()
        end = Entry(99, 20_000.0, SessionClosed("user"))
        self.tape = Tape(self.watch.now_ms, [*(maps or []), end], user, reply)
        self.sound = TapeSound(self.tape, self.watch, lambda lost: None)  # type: ignore[arg-type, return-value]
        self.renderer = StripRenderer(rate_hz)
        self.rate_hz = rate_hz

    def hear(self, ms: int) -> tuple[PcmFloat, float]:
        """float32 [n] of so much time, and when its first sample was at the DAC."""
        first_ms = self.watch.ms + LATENCY_MS
        heard = []
        for _ in range(ms // BLOCK_MS):
            self.tape.now_ms()
            self.sound.renew(self.renderer)
            out: PcmFloat = np.empty(self.rate_hz * BLOCK_MS // 1000, np.float32)
            self.renderer.render(out, self.watch.ms + LATENCY_MS)
            heard.append(out)
            self.watch.ms += BLOCK_MS
        return np.concatenate(heard), first_ms


def clicking(*at_ms: float, level: int = 20_000) -> FakeTrack:
    samples = np.zeros(16 * 20_000, np.int16)
    for ms in at_ms:
        samples[int(ms * 16) : int(ms * 16) + 8] = level
    return FakeTrack(samples)


def clicks_ms(heard: PcmFloat, first_ms: float, rate_hz: int) -> list[float]:
    """When each click was at the DAC."""
    loud = np.flatnonzero(np.abs(heard) > 0.2) / rate_hz * 1e3 + first_ms
    return [float(ms) for place, ms in enumerate(loud) if place == 0 or ms - loud[place - 1] > 20]


@pytest.mark.parametrize("rate_hz", [16_000, 44_100, 48_000])
def test_what_is_heard_is_what_is_at_the_position(rate_hz: int) -> None:
    listener = Listener(rate_hz, clicking(1200, 1900), clicking(1500))
    listener.tape.seek(1000)
    listener.hear(300)
    listener.tape.play()
    begun_ms = listener.watch.ms
    heard, first_ms = listener.hear(1200)
    due = [begun_ms + 200, begun_ms + 500, begun_ms + 900]
    assert clicks_ms(heard, first_ms, rate_hz) == pytest.approx(due, abs=1.0)


def test_standing_and_other_speeds_are_silent() -> None:
    listener = Listener(16_000, clicking(*range(0, 20_000, 100)), clicking())
    assert not np.any(listener.hear(500)[0])
    listener.tape.quicken(1)
    listener.tape.play()
    assert not np.any(listener.hear(500)[0])
    listener.tape.quicken(-1)
    assert np.any(listener.hear(500)[0])
    listener.tape.pause()
    listener.hear(20)
    assert not np.any(listener.hear(500)[0])


def test_either_track_can_be_muted_while_it_plays() -> None:
    listener = Listener(16_000, clicking(200, 1200), clicking(400, 1400))
    listener.tape.play()
    listener.hear(100)
    listener.tape.mute("user")
    assert clicks_ms(*listener.hear(500), 16_000) == pytest.approx([400], abs=1)
    listener.tape.mute("user")
    listener.tape.mute("reply")
    assert clicks_ms(*listener.hear(1000), 16_000) == pytest.approx([1200], abs=1)


def test_a_jump_is_heard_at_once() -> None:
    listener = Listener(48_000, clicking(10_200), clicking())
    listener.tape.play()
    listener.hear(500)
    listener.tape.seek(10_000)
    begun_ms = listener.watch.ms
    assert clicks_ms(*listener.hear(500), 48_000) == pytest.approx([begun_ms + 200], abs=1)


def test_a_microphone_clock_that_runs_fast_is_followed() -> None:
    """1 % is far more than any device: after 10 s the track is 100 ms away from the nominal rate."""
    maps = [Entry(0, 0.0, ClockMapped(0)), Entry(1, 10_000.0, ClockMapped(161_600))]
    samples = np.zeros(16 * 20_000, np.int16)
    samples[16_160 * 9 : 16_160 * 9 + 8] = 20_000
    listener = Listener(16_000, FakeTrack(samples), clicking(), maps)
    listener.tape.play()
    heard, first_ms = listener.hear(9500)
    assert clicks_ms(heard, first_ms, 16_000) == pytest.approx([9000], abs=12)
