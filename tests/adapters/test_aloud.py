"""A scripted person who is heard: clips on the speaker, in step with the microphone that pretends to hear them."""

from __future__ import annotations

import numpy as np
import pytest

from voicetui.events.sound import DeviceOpened
from voicetui.ports import PcmFloat, Renderer, Speaker
from voicetui.runtime.clock import ManualClock
from voicetui.sound.aloud import Aloud, Mouth
from voicetui.sound.microphone import FileMicrophone

CLIP = np.full(1600, 8192, np.int16)
"""100 ms at a quarter of full scale."""


class Pulled:
    """A speaker that is pulled by hand."""

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self.renderer: Renderer | None = None

    async def prepare(self) -> int:
        return self.rate_hz

    async def open(self, renderer: Renderer) -> DeviceOpened:
        self.renderer = renderer
        return DeviceOpened("output", "hand", "test", self.rate_hz, 1, 0.0, "paced")

    async def close(self) -> None:
        self.renderer = None

    def pull(self, from_ms: float, to_ms: float, block: int = 480, jitter_ms: float = 0.0) -> PcmFloat:
        """What is at the DAC from one time to another, in blocks whose stamps are off by turns."""
        out = np.full(round((to_ms - from_ms) * self.rate_hz / 1e3), np.nan, np.float32)
        assert self.renderer is not None
        for number, start in enumerate(range(0, len(out), block)):
            off_ms = jitter_ms if number % 2 else -jitter_ms
            self.renderer.render(out[start : start + block], from_ms + start * 1e3 / self.rate_hz + off_ms)
        return out


class Hum:
    """A renderer at a constant level."""

    def __init__(self, rate_hz: int, level: float) -> None:
        self.rate_hz = rate_hz
        self.level = level
        self.underflows = 0

    def render(self, out: PcmFloat, dac_ms: float) -> None:
        out.fill(self.level)

    def underflow(self) -> None:
        self.underflows += 1


async def opened(rate_hz: int = 48_000, level: float = 0.0) -> tuple[Aloud, Pulled]:
    speaker = Pulled(rate_hz)
    aloud = Aloud(speaker)
    assert await aloud.prepare() == rate_hz
    await aloud.open(Hum(rate_hz, level))
    return aloud, speaker


pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("block", [1, 100, 441, 5000])
@pytest.mark.parametrize("rate_hz", [16_000, 44_100, 48_000])
async def test_a_clip_is_at_the_dac_when_it_is_said_whole_and_to_the_frame(rate_hz: int, block: int) -> None:
    aloud, speaker = await opened(rate_hz)
    aloud.say(CLIP, 130.0)
    sound = speaker.pull(100.0, 400.0, block)
    loud = np.flatnonzero(np.abs(sound) > 0.1)
    assert loud[0] == pytest.approx(round(30 * rate_hz / 1e3), abs=2)
    assert len(loud) == pytest.approx(rate_hz / 10, abs=4)
    assert not np.isnan(sound).any()


async def test_it_is_mixed_with_what_plays_anyway_and_never_beyond_full_scale() -> None:
    aloud, speaker = await opened(16_000, 0.9)
    aloud.say(CLIP, 0.0)
    sound = speaker.pull(0.0, 200.0)
    assert sound[:1600].max() == pytest.approx(1.0)
    assert sound[1700:].max() == pytest.approx(0.9)


async def test_stamps_that_wander_a_little_do_not_tear_it() -> None:
    aloud, speaker = await opened(16_000)
    aloud.say(np.arange(1, 1601, dtype=np.int16), 0.0)
    sound = speaker.pull(0.0, 200.0, 160, jitter_ms=1.0)
    said = np.rint(sound[np.flatnonzero(sound)] * 32768).astype(int)
    assert (np.diff(said) == 1).all()


async def test_sound_that_was_lost_is_passed_over_so_that_it_ends_in_time() -> None:
    aloud, speaker = await opened(16_000)
    aloud.say(CLIP, 0.0)
    speaker.pull(0.0, 20.0)
    sound = speaker.pull(60.0, 200.0)
    assert len(np.flatnonzero(sound)) == pytest.approx(40 * 16, abs=2)


async def test_asked_for_too_late_it_is_said_whole() -> None:
    aloud, speaker = await opened(16_000)
    aloud.say(CLIP, 0.0)
    assert len(np.flatnonzero(speaker.pull(50.0, 300.0))) == 1600


async def test_clips_follow_each_other_and_the_old_are_forgotten() -> None:
    aloud, speaker = await opened(16_000)
    for number in range(5):
        aloud.say(CLIP, 200.0 * number)
        speaker.pull(200.0 * number, 200.0 * number + 200)
    assert len(aloud.said) == 1


async def test_without_a_speaker_nothing_is_kept() -> None:
    aloud = Aloud(Pulled(16_000))
    aloud.say(CLIP, 0.0)
    assert not aloud.said


async def test_a_mouth_says_the_same_into_the_microphone_and_on_the_speaker() -> None:
    clock = ManualClock()
    aloud, speaker = await opened(16_000)
    microphone = FileMicrophone(clock, noise_dbfs=None)
    await microphone.open()
    begins_ms = Mouth(microphone, lambda: aloud).play(CLIP, 100.0)
    assert begins_ms == 100.0
    assert np.flatnonzero(speaker.pull(0.0, 300.0))[0] == 1600


async def test_a_mouth_speaks_on_whatever_speaker_is_in_use_and_on_a_silent_one_not_at_all() -> None:
    clock = ManualClock()
    (first, one), (second, other) = await opened(16_000), await opened(48_000)
    microphone = FileMicrophone(clock, noise_dbfs=None)
    await microphone.open()
    in_use: list[Speaker] = [first]
    mouth = Mouth(microphone, lambda: in_use[0])
    in_use[0] = second
    mouth.play(CLIP, 100.0)
    in_use[0] = Pulled(16_000)
    assert mouth.play(CLIP, 300.0) == 300.0
    assert not one.pull(0.0, 300.0).any()
    assert np.flatnonzero(other.pull(0.0, 300.0))[0] == pytest.approx(4800, abs=50)
