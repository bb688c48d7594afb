"""One track from several microphones: numbers, times and edges go on."""

from __future__ import annotations

import numpy as np
import pytest

from voicetui.listen.ear import Ear
from voicetui.listen.scripted import EnergyDetector
from voicetui.ports import Block, Pcm16, VoiceEdge
from voicetui.runtime.meter import Meter
from voicetui.sound.echo import EchoCanceller
from voicetui.wiring_sound import levels

HOUR_MS = 3_600_000.0


def tone(ms: float) -> Pcm16:
    return np.round(9000 * np.sin(2 * np.pi * 440 * np.arange(int(ms * 16)) / 16_000)).astype(np.int16)


def hear(ear: Ear, sound: Pcm16, sample: int, at_ms: float, lost: int = 0) -> list[VoiceEdge]:
    """Sound in blocks of 20 ms; the edges of speech found."""
    edges = []
    for first in range(0, len(sound), 320):
        block = Block(sound[first : first + 320], sample + first, at_ms + first / 16, lost if first == 0 else 0)
        edges += ear.hear(block, False, False)
    return [edge for edge in edges if edge.kind != "rose"]


@pytest.mark.parametrize(
    ("cancelled", "echo_dbfs", "told"),
    [(False, None, 2), (True, None, 0), (True, -56.0, 2), (True, -25.0, 0)],
)
def test_what_rises_above_the_echo_is_told_in_the_track_s_numbers_also_after_a_loss(
    cancelled: bool, echo_dbfs: float | None, told: int
) -> None:
    ear = Ear(EnergyDetector(), EchoCanceller(Hushing) if cancelled else None)
    if echo_dbfs is not None:
        ear.expect_echo(echo_dbfs)
    ear.hear(Block(np.zeros(320, np.int16), 0, 0.0, 0), False, False)
    quiet = Block(np.zeros(12_800, np.int16), 3200, 200.0, 2880)
    edges = [*ear.hear(quiet, False, False), *ear.hear(Block(tone(200), 16_000, 1000.0, 0), False, False)]
    assert [edge.sample for edge in edges if edge.kind == "rose"] == [16_000] * told


def test_an_hour_without_a_microphone_is_silence_on_the_track_and_speech_after_it_is_found_where_it_is() -> None:
    ear = Ear(EnergyDetector())
    quiet = np.zeros(16_000, np.int16)
    hear(ear, quiet, 0, 500.0)
    end = ear.end
    sample = ear.go_on(HOUR_MS)
    assert sample == pytest.approx((HOUR_MS - 500) * 16, abs=16)
    sound = np.concatenate([quiet, tone(1000), quiet])
    started, paused = hear(ear, sound, sample, HOUR_MS, sample - end)
    assert ear.at_ms(started.sample) == pytest.approx(HOUR_MS + 1000, abs=40)
    assert ear.at_ms(paused.sample) == pytest.approx(HOUR_MS + 2000, abs=40)
    assert np.abs(ear.read(sample + 16_000, sample + 32_000)[0]).max() > 8000
    assert not ear.read(sample - 16_000, sample)[0].any()


def test_speech_that_runs_when_the_microphone_goes_is_closed_where_it_went() -> None:
    ear = Ear(EnergyDetector())
    (started,) = hear(ear, np.concatenate([np.zeros(8000, np.int16), tone(1000)]), 0, 0.0)
    assert started.kind == "started"
    end = ear.end
    sample = ear.go_on(5000.0)
    paused, *_ = hear(ear, np.zeros(3200, np.int16), sample, 5000.0, sample - end)
    assert paused.kind == "paused" and paused.sample <= end


def test_a_microphone_whose_clock_says_earlier_than_the_track_does_not_run_backwards() -> None:
    ear = Ear(EnergyDetector())
    hear(ear, np.zeros(16_000, np.int16), 0, 0.0)
    sample = ear.go_on(940.0)
    assert sample == 16_000
    hear(ear, np.zeros(32_000, np.int16), sample, 940.0)
    assert ear.at_ms(sample + 16_000) == pytest.approx(1940, abs=70)
    times = [ear.at_ms(each) for each in range(15_000, 40_000, 50)]
    assert times == sorted(times)


class Hushing:
    """A canceller that takes everything away."""

    def process(self, near: Pcm16, far: Pcm16, /) -> Pcm16:
        return near * 0


def test_a_microphone_is_judged_by_what_it_hears_whatever_cancelling_takes_away() -> None:
    ear = Ear(EnergyDetector(), EchoCanceller(Hushing))
    hear(ear, tone(3000), 0, 0.0)
    shown = levels(ear, Meter(), 3000.0)
    assert max(shown.user_wave) == -120.0, "cancelled"
    assert min(shown.raw_wave) == pytest.approx(-14.2, abs=0.2) and len(shown.raw_wave) == 100
    assert max(shown.raw_peaks) == pytest.approx(-11.2, abs=0.2) and len(shown.raw_peaks) == 25


def test_sound_that_was_lost_or_muted_is_silence_in_what_it_hears_too() -> None:
    ear = Ear(EnergyDetector(), EchoCanceller(Hushing))
    hear(ear, tone(1000), 0, 0.0)
    hear(ear, tone(1000), 32_000, 2000.0, 16_000)
    assert ear.raw_end == 48_000
    raw = ear.newest_raw(40_000)
    assert not raw[8000:24_000].any() and raw[:8000].any() and raw[24_000:].any()
    ear.hear(Block(tone(1000), 48_000, 3000.0, 0), False, True)
    assert not ear.newest_raw(16_000).any()


def test_cleaned_sample_numbers_are_the_microphones_after_a_change_of_it() -> None:
    canceller = EchoCanceller(Hushing)
    ear = Ear(EnergyDetector(), canceller)
    hear(ear, tone(1010), 0, 0.0)
    assert canceller.held and ear.raw_end == ear.end + canceller.held == 1010 * 16
    sample = ear.go_on(1000.0)
    assert sample == ear.raw_end
    hear(ear, tone(500), sample, 1010.0)
    assert ear.raw_end == ear.end + canceller.held == 1510 * 16
