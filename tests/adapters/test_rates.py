"""Resampling: lengths, pitch, truth of sample numbers; levels and formats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adapters.stub_audio import noise, pitch_hz, tone
from voicetui.ports import SoundError
from voicetui.sound.rates import (
    ResampleStream,
    check_rate,
    fit_length,
    level_dbfs,
    levels_dbfs,
    resampled_count,
    to_float,
    to_int16,
    to_mono,
    to_mono16k,
)

RATES_HZ = (4_000, 8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000, 192_000, 384_000)


def stream_all(sound: np.ndarray, from_hz: int, to_hz: int, block: int) -> np.ndarray:
    """The whole of ``sound``, fed in blocks."""
    stream = ResampleStream(from_hz, to_hz)
    pieces = [stream.feed(sound[first : first + block]) for first in range(0, len(sound), block)]
    return np.concatenate([*pieces, stream.flush()])


def test_a_rate_is_not_taken_for_a_length() -> None:
    made = to_mono16k(tone(40_000, 8_000), 8_000)
    assert len(made) == 80_000
    assert pitch_hz(made) == pytest.approx(440, abs=2)


@pytest.mark.parametrize("rate_hz", RATES_HZ)
@pytest.mark.parametrize("channels", [1, 2, 6])
def test_a_second_is_sixteen_thousand_samples_at_the_same_pitch(rate_hz: int, channels: int) -> None:
    sound = np.repeat(tone(rate_hz, rate_hz)[:, None], channels, axis=1)
    made = to_mono16k(sound, rate_hz)
    assert made.dtype == np.int16
    assert len(made) == 16_000
    assert pitch_hz(made) == pytest.approx(440, abs=1)


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_a_stream_puts_every_sample_at_its_true_time(rate_hz: int) -> None:
    made = stream_all(tone(rate_hz, rate_hz), rate_hz, 16_000, rate_hz // 100)
    assert len(made) == 16_000
    truth = tone(16_000, 16_000)
    assert np.abs(made - truth)[200:-200].max() < 0.001


@pytest.mark.parametrize("block", [1, 160, 441, 480, 720, 1_024, 20_805])
@pytest.mark.parametrize("rate_hz", [8_000, 44_100, 48_000])
def test_blocks_of_any_length_make_the_same_sound(rate_hz: int, block: int) -> None:
    sound = noise(rate_hz // 4, level=0.3)
    whole = stream_all(sound, rate_hz, 16_000, len(sound))
    assert np.array_equal(stream_all(sound, rate_hz, 16_000, block), whole)


@given(count=st.integers(0, 3_000), rate_hz=st.sampled_from([8_000, 11_025, 22_050, 44_100, 48_000, 37_800]))
@settings(max_examples=60, deadline=None)
def test_a_flushed_stream_has_exactly_the_rounded_number_of_samples(count: int, rate_hz: int) -> None:
    made = stream_all(np.zeros(count, np.float32), rate_hz, 16_000, 97)
    assert len(made) == resampled_count(count, rate_hz, 16_000) == int(count * 16_000 / rate_hz + 0.5)


def test_a_stream_holds_back_little_more_than_a_millisecond() -> None:
    stream = ResampleStream(48_000)
    made = sum(len(stream.feed(noise(480, number))) for number in range(100))
    assert 16_000 - made <= 0.0013 * 16_000
    assert stream.delay_ms < 1.3


def test_a_stream_is_as_new_after_a_flush() -> None:
    stream = ResampleStream(44_100)
    sound = noise(5_000)
    first = np.concatenate([stream.feed(sound), stream.flush()])
    assert np.array_equal(np.concatenate([stream.feed(sound), stream.flush()]), first)


@pytest.mark.parametrize("hz", [9_000, 12_000, 15_000, 20_000])
def test_what_is_above_half_the_new_rate_does_not_come_back_as_an_alias(hz: float) -> None:
    made = stream_all(tone(48_000, 48_000, hz), 48_000, 16_000, 480)
    assert level_dbfs(made[200:-200]) < -70


@pytest.mark.parametrize("to_hz", [22_050, 44_100, 48_000])
def test_a_voice_goes_up_to_the_rate_of_the_device(to_hz: int) -> None:
    made = stream_all(tone(22_050, 22_050), 22_050, to_hz, 1_000)
    assert len(made) == to_hz
    assert pitch_hz(made, to_hz) == pytest.approx(440, abs=1)


@pytest.mark.parametrize("rate_hz", [0, -1, 3_999, 384_001, 1_092_681, float("nan"), float("inf")])
def test_an_insane_rate_is_refused(rate_hz: float) -> None:
    with pytest.raises(SoundError, match="sample rate"):
        check_rate(rate_hz)


@pytest.mark.parametrize("count", [0, 1, 159, 511, 1_599])
def test_tiny_sounds_are_no_trouble(count: int) -> None:
    assert len(to_mono16k(np.zeros(count, np.float32), 16_000)) == count
    assert len(to_mono16k(np.zeros(count, np.int16), 48_000)) == int(count / 3 + 0.5)
    assert level_dbfs(np.zeros(count, np.int16)) == -120


def test_stereo_is_averaged_not_read_as_mono() -> None:
    left, right = tone(48_000, 48_000), np.zeros(48_000, np.float32)
    made = to_mono16k(np.stack([left, right], axis=1), 48_000)
    assert pitch_hz(made) == pytest.approx(440, abs=1)
    assert level_dbfs(made) == pytest.approx(level_dbfs(left) - 6.02, abs=0.1)


def test_integers_become_full_scale_floats() -> None:
    assert to_mono(np.array([-32_768, 16_384], np.int16)).tolist() == [-1.0, 0.5]
    assert to_mono(np.array([[-(2**31), -(2**31)]], np.int32)).tolist() == [-1.0]


def test_formats_go_there_and_back_and_clip() -> None:
    every = np.arange(-32_768, 32_768).astype(np.int16)
    assert np.array_equal(to_int16(to_float(every)), every)
    assert to_int16(np.array([-9.0, 9.0], np.float32)).tolist() == [-32_768, 32_767]


def test_levels_are_rms_below_full_scale() -> None:
    assert level_dbfs(tone(16_000, 16_000, level=1.0)) == pytest.approx(-3.01, abs=0.05)
    assert level_dbfs(np.full(100, 3_277, np.int16)) == pytest.approx(-20, abs=0.05)


def test_lengths_are_cut_and_filled() -> None:
    assert fit_length(np.ones(3, np.float32), 2).tolist() == [1, 1]
    assert fit_length(np.ones(2, np.float32), 3).tolist() == [1, 1, 0]


def test_levels_of_many_pieces_are_those_of_each() -> None:
    pieces = np.stack([np.zeros(320), tone(320, 16_000) * 32767, np.full(320, 32767)]).astype(np.int16)
    assert levels_dbfs(pieces) == pytest.approx([level_dbfs(piece) for piece in pieces])
    assert levels_dbfs(np.zeros((0, 320), np.int16)) == ()
