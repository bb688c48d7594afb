"""The ring the audio callback plays from."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicetui.ports import PcmFloat
from voicetui.speak.output import BACK_FADE_MS, DUCK_FADE_MS, STOP_FADE_MS, Change, Kind, Mark, OutputRing

RATE_HZ = 8_000
UNIT = 1.0 / (1 << 20)


def numbered(first: int, count: int) -> PcmFloat:
    """float32 [count]: each frame's value tells its number, exactly."""
    return (np.arange(first + 1, first + 1 + count) * UNIT).astype(np.float32)


def numbers(sound: PcmFloat) -> list[int]:
    """The frame numbers in what was rendered at full level."""
    return [round(float(value) / UNIT) - 1 for value in sound if value]


class Device:
    """Pulls blocks from a ring; the DAC's time goes on by what was pulled."""

    def __init__(self, ring: OutputRing) -> None:
        self.ring = ring
        self.dac_ms = 0.0

    def pull(self, frames: int, block: int = 80) -> PcmFloat:
        """The next ``frames`` frames, in blocks."""
        out = np.full(frames, np.nan, np.float32)
        for start in range(0, frames, block):
            piece = out[start : start + block]
            self.ring.render(piece, self.dac_ms)
            self.dac_ms += len(piece) * 1e3 / self.ring.rate_hz
        return out


def frames(ms: float) -> int:
    return round(ms * RATE_HZ / 1e3)


def marks(ring: OutputRing, *kinds: Kind) -> list[Mark]:
    return [mark for mark in ring.drain_marks() if not kinds or mark.kind in kinds]


@pytest.mark.parametrize("block", [1, 7, 64, 160, 441, 5000])
def test_every_frame_is_played_once_whatever_the_block_size(block: int) -> None:
    ring = OutputRing(RATE_HZ)
    device = Device(ring)
    assert ring.write(numbered(0, 1000)) == 1000
    early = device.pull(600, block)
    assert ring.write(numbered(1000, 500)) == 500
    late = device.pull(1200, block)
    assert numbers(np.concatenate((early, late))) == list(range(1500))
    assert not late[-100:].any()


def test_an_empty_ring_plays_silence_and_counts_it() -> None:
    ring = OutputRing(RATE_HZ)
    device = Device(ring)
    assert not device.pull(240).any()
    ring.write(numbered(0, 10))
    device.pull(80)
    assert marks(ring)[0].idle == 240


def test_what_does_not_fit_is_left_to_the_writer() -> None:
    ring = OutputRing(RATE_HZ, capacity_s=0.1, history_s=0.05)
    device = Device(ring)
    sound, heard = numbered(0, 5000), []
    while len(sound) or ring.written > len(np.concatenate(heard)):
        sound = sound[ring.write(sound) :]
        heard.append(device.pull(333))
    assert numbers(np.concatenate(heard)) == list(range(5000))


def test_marks_give_position_and_dac_time_of_everything_played() -> None:
    ring = OutputRing(RATE_HZ)
    device = Device(ring)
    ring.write(numbered(0, 400))
    device.pull(500, 160)
    played = marks(ring, Kind.PLAYED)
    assert [(mark.position, mark.frames) for mark in played] == [(0, 160), (160, 160), (320, 80)]
    assert [mark.dac_ms for mark in played] == [0.0, 20.0, 40.0]


def test_ducking_takes_ten_milliseconds_and_fifteen_decibels() -> None:
    ring = OutputRing(RATE_HZ)
    device = Device(ring)
    ring.write(np.full(4000, 0.5, np.float32))
    device.pull(400)
    ring.ask(Change.DUCK)
    ducked = device.pull(400)
    level_db = 20 * np.log10(ducked / 0.5)
    assert level_db[frames(DUCK_FADE_MS) - 1 :] == pytest.approx(-15.0, abs=0.01)
    (mark,) = marks(ring, Kind.DUCKED)
    assert mark.dac_ms == pytest.approx(50.0 + DUCK_FADE_MS)
    ring.ask(Change.BACK)
    assert device.pull(400)[frames(BACK_FADE_MS) - 1 :] == pytest.approx(0.5)


def test_holding_fades_in_fifteen_milliseconds_and_keeps_the_place() -> None:
    ring = OutputRing(RATE_HZ)
    device = Device(ring)
    ring.write(numbered(0, 4000))
    device.pull(400)
    serial = ring.ask(Change.HOLD)
    held = device.pull(800)
    assert held[: frames(STOP_FADE_MS) - 1].all() and not held[frames(STOP_FADE_MS) :].any()
    (mark,) = marks(ring, Kind.HELD)
    assert (mark.serial, mark.position, mark.frames) == (serial, 400 + frames(STOP_FADE_MS), frames(STOP_FADE_MS))
    assert mark.dac_ms == pytest.approx(50.0 + STOP_FADE_MS)
    ring.ask(Change.BACK)
    back = device.pull(400)
    assert numbers(back[frames(BACK_FADE_MS) - 1 :])[0] == 400 + frames(STOP_FADE_MS) + frames(BACK_FADE_MS) - 1


def test_coming_back_can_start_earlier() -> None:
    ring = OutputRing(RATE_HZ, capacity_s=0.5, history_s=0.25)
    device = Device(ring)
    sound = numbered(0, 20_000)
    sound = sound[ring.write(sound) :]
    for _ in range(40):
        device.pull(400)
        sound = sound[ring.write(sound) :]
    ring.ask(Change.HOLD)
    device.pull(400)
    position = marks(ring, Kind.HELD)[0].position
    sound = sound[ring.write(sound) :]
    ring.ask(Change.BACK, position - frames(240.0))
    back = device.pull(2000)
    start = frames(BACK_FADE_MS)
    assert numbers(back[start:]) == list(range(position - frames(240.0) + start, position - frames(240.0) + 2000))


def test_dropping_fades_and_then_nothing_of_the_old_is_left() -> None:
    ring = OutputRing(RATE_HZ)
    device = Device(ring)
    ring.write(np.full(4000, 0.5, np.float32))
    device.pull(400)
    ring.ask(Change.DROP)
    out = device.pull(800)
    assert not out[frames(STOP_FADE_MS) :].any()
    assert marks(ring, Kind.DROPPED)[0].position == 400 + frames(STOP_FADE_MS)
    ring.write(np.full(100, 0.25, np.float32))
    assert device.pull(200)[:100] == pytest.approx(0.25)


@pytest.mark.parametrize("before", [Change.HOLD, Change.DUCK, Change.DROP])
def test_hushing_is_silence_from_the_next_frame_on(before: Change) -> None:
    ring = OutputRing(RATE_HZ)
    device = Device(ring)
    ring.write(np.full(4000, 0.5, np.float32))
    device.pull(400)
    ring.ask(before)
    ring.ask(Change.HUSH)
    assert not device.pull(800).any()


def test_hold_and_back_between_two_blocks_lose_nothing() -> None:
    ring = OutputRing(RATE_HZ)
    device = Device(ring)
    ring.write(np.full(1000, 0.5, np.float32))
    ring.ask(Change.HOLD)
    ring.ask(Change.BACK)
    assert device.pull(1000) == pytest.approx(0.5)
    assert [mark.kind for mark in marks(ring, Kind.HELD, Kind.BACK)] == [Kind.BACK]


def test_a_change_that_is_overtaken_is_still_told() -> None:
    ring = OutputRing(RATE_HZ)
    device = Device(ring)
    ring.write(np.full(1000, 0.5, np.float32))
    ring.ask(Change.DUCK)
    device.pull(8, 8)
    ring.ask(Change.HOLD)
    device.pull(400, 8)
    told = [mark.kind for mark in marks(ring) if mark.kind is not Kind.PLAYED]
    assert told == [Kind.DUCKED, Kind.HELD]


def test_changes_asked_while_nothing_sounds_are_done_at_once() -> None:
    ring = OutputRing(RATE_HZ)
    device = Device(ring)
    ring.ask(Change.DUCK)
    ring.ask(Change.HOLD)
    device.pull(8)
    assert [mark.kind for mark in marks(ring)] == [Kind.DUCKED, Kind.HELD]
    ring.ask(Change.DROP)
    device.pull(8)
    assert [mark.kind for mark in marks(ring)] == [Kind.DROPPED]


def test_what_was_played_is_kept_with_its_dac_time_gain_applied_and_silence_left_out() -> None:
    ring = OutputRing(RATE_HZ)
    device = Device(ring)
    device.pull(160)
    ring.write(np.full(400, 0.5, np.float32))
    ring.ask(Change.DUCK)
    first = device.pull(800)
    ring.write(np.full(80, 0.25, np.float32))
    second = device.pull(160)
    played = ring.drain_played()
    assert [at_ms for at_ms, _ in played] == [pytest.approx(20.0), pytest.approx(120.0)]
    np.testing.assert_array_equal(played[0][1], first[:400])
    np.testing.assert_array_equal(played[1][1], second[:80])
    assert ring.drain_played() == []


def test_a_recorder_that_comes_late_gets_the_newest_sound() -> None:
    ring = OutputRing(RATE_HZ, tap_s=0.1)
    device = Device(ring)
    ring.write(numbered(0, 2000))
    device.pull(2000)
    ((at_ms, sound),) = ring.drain_played()
    assert numbers(sound) == list(range(1200, 2000))
    assert at_ms == pytest.approx(150.0)


def test_a_block_longer_than_the_tap_is_kept_as_far_as_it_goes() -> None:
    ring = OutputRing(RATE_HZ, tap_s=0.01)
    ring.write(numbered(0, 400))
    Device(ring).pull(400, 400)
    assert numbers(ring.drain_played()[0][1]) == list(range(320, 400))


def test_marks_that_nobody_fetched_for_long_lose_only_the_oldest() -> None:
    ring = OutputRing(RATE_HZ, capacity_s=4.0)
    device = Device(ring)
    ring.write(numbered(0, 10_000))
    device.pull(10_000, 1)
    left = ring.drain_marks()
    assert left[-1].position == 9_999
    assert [mark.position for mark in left] == list(range(10_000 - len(left), 10_000))


def test_rendering_allocates_no_arrays() -> None:
    ring = OutputRing(48_000)
    ring.write(np.full(48_000 * 4, 0.5, np.float32))
    out = np.zeros(4_800, np.float32)
    changes = [Change.DUCK, Change.BACK, Change.HOLD, Change.BACK]
    ring.render(out, 0.0)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for block in range(40):
            if block % 4 == 0:
                ring.ask(changes[block // 4 % 4])
            ring.render(out, block * 100.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - before < out.nbytes / 2


def test_underflows_are_counted() -> None:
    ring = OutputRing(RATE_HZ)
    ring.underflow()
    ring.underflow()
    assert ring.underflows == 2


STEP = 0.5 / (min(DUCK_FADE_MS, STOP_FADE_MS, BACK_FADE_MS) * RATE_HZ / 1e3) * 1.01
ACTIONS = st.one_of(
    st.tuples(st.just("pull"), st.integers(1, 700)),
    st.tuples(st.just("write"), st.integers(1, 900)),
    st.tuples(st.sampled_from([Change.DUCK, Change.HOLD, Change.BACK, Change.DROP]), st.just(0)),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(ACTIONS, max_size=60))
def test_no_order_of_changes_clicks_or_sounds_what_was_dropped(actions: list[tuple[object, int]]) -> None:
    """Steps come only where written sound itself begins or ends: there the writer fades."""
    ring = OutputRing(RATE_HZ, capacity_s=1.0, history_s=0.2)
    device = Device(ring)
    heard: list[PcmFloat] = []
    drops: dict[int, int] = {}
    for action, count in actions:
        if action == "pull":
            heard.append(device.pull(count, 97))
        elif action == "write":
            ring.write(np.full(count, 0.5, np.float32))
        else:
            assert isinstance(action, Change)
            drops[ring.ask(action)] = ring.written if action is Change.DROP else 0
    out = np.concatenate(heard) if heard else np.zeros(0, np.float32)
    assert not np.isnan(out).any() and np.abs(out).max(initial=0.0) <= 0.5
    told = ring.drain_marks()
    position, gain, end_ms = 0, 1.0, 0.0
    for mark in told:
        if mark.kind is Kind.DROPPED:
            position, gain, end_ms = max(mark.position, drops[mark.serial]), 1.0, -1.0
            drops = {serial: at for serial, at in drops.items() if serial > mark.serial}
        if mark.kind is not Kind.PLAYED:
            continue
        assert mark.position == position
        if mark.dac_ms == pytest.approx(end_ms):
            assert mark.gain_from == pytest.approx(gain)
        at = frames(mark.dac_ms)
        piece = out[at : at + mark.frames]
        assert np.abs(np.diff(piece)).max(initial=0.0) <= STEP
        assert abs(piece[0] - 0.5 * mark.gain_from) <= STEP and abs(piece[-1] - 0.5 * mark.gain_to) <= STEP
        position, gain, end_ms = position + mark.frames, mark.gain_to, mark.dac_ms + mark.frames * 1e3 / RATE_HZ
    kept = sum(len(sound) for _, sound in ring.drain_played())
    assert kept == sum(mark.frames for mark in told if mark.kind is Kind.PLAYED)
