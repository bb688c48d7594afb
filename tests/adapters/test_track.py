"""Tracks by sample number, sample numbers by time, times by a device's callbacks."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicetui.sound.timing import InputTimer, OutputTimer, stamp_lead_ms
from voicetui.sound.track import ClockLine, Track

RATE_HZ = 16_000


def ramp(first: int, count: int) -> np.ndarray:
    """int16 [count] that tells sample numbers apart."""
    return ((np.arange(first, first + count) * 7) % 30_011).astype(np.int16)


@given(
    sizes=st.lists(st.integers(0, 70), max_size=40), silence=st.integers(0, 60), capacity=st.sampled_from([1, 16, 50])
)
def test_a_track_keeps_the_newest_samples(sizes: list[int], silence: int, capacity: int) -> None:
    track = Track(kept_s=capacity / RATE_HZ)
    everything = np.zeros(0, np.int16)
    for size in sizes:
        block = ramp(len(everything), size) + np.int16(1)
        assert track.append(block) == len(everything)
        everything = np.concatenate([everything, block])
    assert track.fill(silence) == len(everything)
    everything = np.concatenate([everything, np.zeros(silence, np.int16)])
    assert track.end == len(everything)
    assert track.start == max(0, len(everything) - capacity)
    assert np.array_equal(track.read(track.start, track.end), everything[track.start :])


def test_what_is_not_kept_reads_as_silence_of_the_right_length() -> None:
    track = Track(kept_s=10 / RATE_HZ)
    track.append(np.arange(1, 16).astype(np.int16))
    assert track.read(3, 8).tolist() == [0, 0, 6, 7, 8]
    assert track.read(13, 18).tolist() == [14, 15, 0, 0, 0]
    assert track.read(-4, -1).tolist() == [0, 0, 0]
    assert track.read(20, 20).tolist() == []
    assert track.covers(5, 15)
    assert not track.covers(4, 15)
    assert not track.covers(5, 16)


def test_a_track_refuses_to_read_backwards_or_more_than_it_can_keep() -> None:
    track = Track(kept_s=10 / RATE_HZ)
    with pytest.raises(ValueError, match="backwards"):
        track.read(3, 2)
    with pytest.raises(ValueError, match="keeps 10"):
        track.read(0, 11)


def test_what_was_read_does_not_change_later() -> None:
    track = Track(kept_s=4 / RATE_HZ)
    track.append(np.array([1, 2, 3, 4], np.int16))
    read = track.read(0, 4)
    track.append(np.array([9, 9, 9, 9], np.int16))
    assert read.tolist() == [1, 2, 3, 4]


def anchored(truth: Callable[[int], float], every: int, until: int, noise_ms: float = 0.0) -> ClockLine:
    """A line with anchors every ``every`` samples, late by up to ``noise_ms``."""
    line = ClockLine()
    chance = random.Random(1)
    for sample in range(0, until, every):
        line.add(sample, truth(sample) + chance.uniform(0, noise_ms))
    return line


@pytest.mark.parametrize("every", [160, 16_000, 160_000])
def test_two_clocks_that_drift_stay_together(every: int) -> None:
    """48,000 against 48,010 Hz: after 600 s a count of samples is 125 ms off."""
    fast = 48_010 / 48_000

    def truth(sample: int) -> float:
        return 250.0 + sample / RATE_HZ / fast * 1e3

    end = round(600 * RATE_HZ * fast)
    line = anchored(truth, every, end + 1)
    assert abs(end / RATE_HZ * 1e3 - 600_000) == pytest.approx(125.0, abs=0.1)
    for sample in range(0, end, 33_333):
        assert line.at_ms(sample) == pytest.approx(truth(sample), abs=3)
        assert line.sample_at(truth(sample)) == pytest.approx(sample, abs=48)
    assert line.trusted


def test_jitter_in_the_anchors_is_smoothed() -> None:
    line = anchored(lambda sample: sample / 16, 160, 60 * RATE_HZ, noise_ms=8.0)
    errors = [line.at_ms(sample) - sample / 16 - 4.0 for sample in range(0, 60 * RATE_HZ, 1_234)]
    assert max(abs(error) for error in errors) < 2.5


def test_a_line_never_runs_backwards_and_inverts() -> None:
    chance = random.Random(2)
    wild_ms = [0, 0, 0, 25, -25, 400, -400]
    line = anchored(lambda sample: 100 + sample / 16 + chance.choice(wild_ms), 160, 20 * RATE_HZ)
    times = [line.at_ms(sample) for sample in range(0, 21 * RATE_HZ, 160)]
    assert all(later >= earlier for earlier, later in pairwise(times))
    assert all(abs(line.at_ms(line.sample_at(at_ms)) - at_ms) < 0.1 for at_ms in range(200, 20_000, 777))


@pytest.mark.parametrize("bad_ms", [0.0, -5.0, math.nan, math.inf, 1_000.0, 1_700_000_000_000.0])
def test_an_implausible_anchor_is_refused_and_moves_nothing(bad_ms: float) -> None:
    line = anchored(lambda sample: 3_000 + sample / 16, 160, RATE_HZ)
    before = line.at_ms(20_000)
    assert not line.add(RATE_HZ + 160, bad_ms)
    assert line.rejected == 1
    assert line.at_ms(20_000) == before
    assert line.trusted


def test_an_anchor_for_an_older_sample_is_refused() -> None:
    line = anchored(lambda sample: sample / 16, 160, RATE_HZ)
    assert not line.add(160, 10.0)


@pytest.mark.parametrize("bad", [lambda n: 0.0, lambda n: 90_000.0 - n, lambda n: 5_000.0 + 600 * n])
def test_anchors_that_stay_implausible_say_so(bad: Callable[[int], float]) -> None:
    line = anchored(lambda sample: sample / 16, 160, RATE_HZ)
    for number in range(30):
        line.add(RATE_HZ + 160 * number, bad(number))
    assert not line.trusted
    assert line.at_ms(2 * RATE_HZ) == pytest.approx(2_000, abs=1)
    assert line.add(2 * RATE_HZ, 2_000.0)
    assert line.trusted


def test_a_lasting_step_is_followed_and_the_past_stays() -> None:
    line = anchored(lambda sample: sample / 16 + (200 if sample >= 5 * RATE_HZ else 0), 160, 10 * RATE_HZ)
    assert line.at_ms(4 * RATE_HZ) == pytest.approx(4_000, abs=1)
    assert line.at_ms(5 * RATE_HZ - 400) == pytest.approx(4_975, abs=1)
    assert line.at_ms(5 * RATE_HZ + 160) == pytest.approx(5_210, abs=1)
    assert line.at_ms(9 * RATE_HZ) == pytest.approx(9_200, abs=1)


def test_a_wrong_first_anchor_is_forgotten() -> None:
    line = ClockLine()
    line.add(0, 123_456.0)
    for sample in range(160, RATE_HZ, 160):
        line.add(sample, sample / 16)
    assert line.at_ms(RATE_HZ) == pytest.approx(1_000, abs=1)


def test_a_reopened_device_starts_a_new_piece() -> None:
    line = anchored(lambda sample: sample / 16, 160, RATE_HZ)
    line.restart(RATE_HZ, 8_000.0)
    assert line.at_ms(RATE_HZ // 2) == pytest.approx(500, abs=1)
    assert line.at_ms(2 * RATE_HZ) == pytest.approx(9_000, abs=1)
    assert line.sample_at(4_000.0) == pytest.approx(RATE_HZ, abs=1)


def test_a_line_without_anchors_says_so() -> None:
    assert not ClockLine().anchored
    assert not ClockLine().trusted
    with pytest.raises(ValueError, match="paired"):
        ClockLine().at_ms(0)


def test_a_session_may_start_at_time_zero() -> None:
    line = ClockLine()
    assert line.add(0, 0.0)
    assert line.at_ms(160) == 10.0
    assert line.sample_at(-50.0) == 0


@pytest.mark.parametrize(
    ("current_s", "buffer_s"), [(10.0, 0.0), (0.0, 5.0), (10.0, 8.0), (10.0, 11.0), (1.7e9, 12.0), (math.nan, 1.0)]
)
def test_stamps_that_cannot_be_are_no_stamps(current_s: float, buffer_s: float) -> None:
    assert math.isnan(stamp_lead_ms(current_s, buffer_s))


def test_stamps_of_a_wall_clock_are_as_good_as_any() -> None:
    assert stamp_lead_ms(1_700_000_000.0, 1_699_999_999.98) == pytest.approx(-20, abs=0.01)


def capture(
    timer: InputTimer, count: int, late_ms: Callable[[int], float], lead_ms: Callable[[int], float]
) -> list[float]:
    """The errors of ``count`` callbacks of 10 ms whose frames were at the ADC 10 ms per block after 1000 ms."""
    errors = []
    for number in range(count):
        callback_ms = 1_010.0 + 10 * number + late_ms(number)
        timer.time(480 * number, 480, callback_ms, lead_ms(number))
        errors.append(timer.at_ms(480 * number) - (1_000.0 + 10 * number))
    return errors


def test_late_callbacks_do_not_move_the_stamped_times() -> None:
    chance = random.Random(3)
    late = [chance.choice([0.0, 0.0, 1.0, 3.0, 12.0, 30.0]) for _ in range(1_000)]
    errors = capture(InputTimer(48_000, 20.0), 1_000, late.__getitem__, lambda number: -10.0 - late[number])
    assert max(abs(error) for error in errors[20:]) < 1.0


def test_without_stamps_the_earliest_callbacks_and_the_reported_latency_count() -> None:
    chance = random.Random(4)
    timer = InputTimer(48_000, 10.0)
    errors = capture(timer, 1_000, lambda _: chance.uniform(0, 9), lambda _: math.nan)
    assert timer.source == "counted"
    assert max(abs(error) for error in errors[100:]) < 2.0


def test_stamps_that_stop_are_replaced_by_counting_without_a_step() -> None:
    timer = InputTimer(48_000, 40.0)
    errors = capture(timer, 400, lambda _: 0.0, lambda number: -10.0 if number < 200 else math.nan)
    assert timer.source == "counted"
    assert max(abs(error) for error in errors[20:]) < 1.0


def test_a_single_wild_stamp_moves_nothing() -> None:
    timer = InputTimer(48_000, 20.0)
    errors = capture(timer, 400, lambda _: 0.0, lambda number: -400.0 if number % 50 == 49 else -10.0)
    assert timer.source == "stream"
    assert max(abs(error) for error in errors[20:]) < 1.0


def test_stamps_that_wander_count_less_than_a_steady_line() -> None:
    errors = capture(InputTimer(48_000, 20.0), 2_000, lambda _: 0.0, lambda n: -20.0 + 12 * math.sin(n / 150))
    assert max(errors[500:]) - min(errors[500:]) < 6.0


def test_a_device_clock_that_drifts_is_followed() -> None:
    timer, fast = InputTimer(48_000, 20.0), 48_010 / 48_000
    for number in range(60_000):
        timer.time(480 * number, 480, 1_010.0 + 10 * number / fast, -10.0)
    assert timer.at_ms(480 * 60_000) == pytest.approx(1_000 + 600_000 / fast, abs=1.0)


def test_missing_sound_shows_as_callbacks_that_stay_late() -> None:
    timer, lost_ms = InputTimer(48_000, 20.0), 0.0
    for number in range(300):
        gap_ms = 70.0 if number >= 150 else 0.0
        lost_ms += timer.time(480 * number, 480, 1_010.0 + 10 * number + gap_ms, -10.0)
    assert lost_ms == pytest.approx(70, abs=1)
    assert timer.at_ms(480 * 300) == pytest.approx(1_000 + 3_000 + 70, abs=1)


def test_a_stall_that_is_caught_up_with_is_no_loss() -> None:
    timer, lost_ms = InputTimer(48_000, 20.0), 0.0
    for number in range(300):
        late_ms = max(0.0, 300.0 - 10 * (number - 100)) if number >= 100 else 0.0
        lost_ms += timer.time(480 * number, 480, 1_010.0 + 10 * number + late_ms, -10.0 - late_ms)
    assert lost_ms == 0
    assert timer.at_ms(480 * 300) == pytest.approx(4_000, abs=1)


def playback(
    timer: OutputTimer, count: int, lead_ms: Callable[[int], float], late_ms: Callable[[int], float]
) -> list[float]:
    """The errors of ``count`` callbacks of 10 ms whose frames are at the DAC 10 ms per block after 1000 ms."""
    errors = []
    for number in range(count):
        dac_ms = 1_000.0 + 10 * number
        errors.append(timer.time(480 * number, 480, dac_ms - 50 + late_ms(number), lead_ms(number)) - dac_ms)
    return errors


def test_a_burst_of_callbacks_that_fills_the_buffer_does_not_shift_the_dac_times() -> None:
    def late_ms(number: int) -> float:
        return -10.0 * number + 40 if number < 5 else 0.0

    errors = playback(OutputTimer(48_000, 20.0), 300, lambda number: 50 - late_ms(number), late_ms)
    assert max(abs(error) for error in errors) < 0.1


def test_jitter_of_the_dac_stamps_is_smoothed() -> None:
    chance = random.Random(5)
    errors = playback(OutputTimer(48_000, 20.0), 1_000, lambda _: 50 + chance.uniform(-5, 5), lambda _: 0.0)
    assert max(abs(error) for error in errors[100:]) < 2.5


def test_a_latency_of_many_seconds_is_added_to_the_dac_times() -> None:
    timer = OutputTimer(48_000, 15_000.0)
    dac_ms = [timer.time(480 * number, 480, 10.0 * number, math.nan) for number in range(100)]
    assert timer.source == "counted"
    assert dac_ms[-1] == pytest.approx(990 + 15_000, abs=1)


def test_a_speaker_that_ran_dry_plays_later_from_then_on() -> None:
    timer = OutputTimer(48_000, 20.0)
    for number in range(200):
        gap_ms = 35.0 if number >= 100 else 0.0
        dac_ms = timer.time(480 * number, 480, 10.0 * number + gap_ms, 50.0, flagged=number == 100)
        assert dac_ms == pytest.approx(10 * number + gap_ms + 50, abs=0.1)
