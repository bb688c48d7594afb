"""The device speaker on stub devices, and the speaker that is only a clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from tests.adapters.stub_audio import WALL_S, StallingClock, StubAudio, device, until
from voicetui.events.sound import DeviceOpened
from voicetui.ports import PcmFloat, SoundError
from voicetui.runtime.clock import ManualClock, settle
from voicetui.sound.devices import BUSY, SavedDevice
from voicetui.sound.speaker import LATENCY_MS, DeviceSpeaker, NullSpeaker

pytestmark = pytest.mark.anyio


class Ramp:
    """A renderer whose sample number n has the value n / 2**20; it notes when each block is to be heard."""

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self.frames = 0
        self.heard: list[tuple[float, int]] = []
        self.dry = 0

    def render(self, out: PcmFloat, dac_ms: float) -> None:
        self.heard.append((dac_ms, self.frames))
        out[:] = (self.frames + np.arange(len(out))) / 2**20
        self.frames += len(out)

    def underflow(self) -> None:
        self.dry += 1


def card(clock: ManualClock, outputs: int = 2, rate_hz: float = 48_000, **how: Any) -> StubAudio:
    """A sound system with one card."""
    return StubAudio(clock, [device("card", outputs=outputs, rate_hz=rate_hz)], **how)


@asynccontextmanager
async def playing(
    audio: StubAudio, clock: ManualClock, lead_ms: float | None = 35.0, **how: Any
) -> AsyncIterator[tuple[DeviceSpeaker, Ramp, DeviceOpened]]:
    """An open speaker: its first three callbacks fill the buffer at once."""
    speaker = DeviceSpeaker(clock, backend=audio, **how)
    ramp = Ramp(await speaker.prepare())
    before = len(audio.streams)
    opening = asyncio.ensure_future(speaker.open(ramp))
    await until(lambda: len(audio.streams) > before and audio.stream.started)
    for number in range(3):
        audio.stream.pull(480, None if lead_ms is None else lead_ms - 20 + 10 * number)
    await settle()
    if lead_ms is None:
        await clock.advance(500)
    await until(opening.done)
    try:
        yield speaker, ramp, await opening
    finally:
        await speaker.close()


async def test_every_frame_is_rendered_once_and_told_when_it_is_heard() -> None:
    clock = ManualClock()
    audio = card(clock)
    async with playing(audio, clock) as (_, ramp, opened):
        assert (opened.rate_hz, opened.channels, opened.clock, opened.role) == (48_000, 1, "stream", "output")
        assert audio.stream.settings.blocksize == 480, "with blocks of the host's choice the stamps cannot be trusted"
        for _ in range(100):
            await clock.advance(10)
            out = audio.stream.pull(480)
            assert out[0, 0] == np.float32((ramp.frames - 480) / 2**20)
        for dac_ms, frame in ramp.heard:
            assert dac_ms == pytest.approx(15 + frame / 48, abs=0.01)


@pytest.mark.parametrize(("most", "channels"), [(2, {2}), (8, {8}), (2, None)])
async def test_every_channel_gets_the_voice(most: int, channels: set[int] | None) -> None:
    clock = ManualClock()
    audio = card(clock, outputs=most, channels=channels)
    async with playing(audio, clock) as (_, ramp, opened):
        out = audio.stream.pull(480)
        assert out.shape == (480, opened.channels)
        assert (out == out[:, :1]).all()
        assert out[-1, 0] == np.float32((ramp.frames - 1) / 2**20)


@pytest.mark.parametrize("frames", [1, 104, 441, 1_024, 8_192, 8_193, 30_000])
async def test_callbacks_of_any_size_are_filled_whole(frames: int) -> None:
    clock = ManualClock()
    audio = card(clock)
    async with playing(audio, clock, lead_ms=20.0) as (_, ramp, _opened):
        first = ramp.frames
        for _ in range(3):
            out = audio.stream.pull(frames, lead_ms=50.0)
            assert np.array_equal(out[:, 0], ((first + np.arange(frames)) / 2**20).astype(np.float32))
            first += frames


async def test_the_rate_is_settled_before_the_renderer_is_made() -> None:
    clock = ManualClock()
    speaker = DeviceSpeaker(clock, backend=card(clock, rates={44_100, 192_000}))
    assert await speaker.prepare() == 44_100
    with pytest.raises(SoundError, match="runs at 44100 Hz, its renderer at 48000 Hz"):
        await speaker.open(Ramp(48_000))


async def test_without_stamps_the_reported_latency_is_added_however_long() -> None:
    clock = ManualClock()
    audio = card(clock, latency_s=15.0)
    async with playing(audio, clock, lead_ms=None) as (_, ramp, opened):
        assert (opened.latency_ms, opened.clock) == (15_000.0, "counted")
        for _ in range(300):
            await clock.advance(10)
            audio.stream.pull(480, None)
        assert ramp.heard[-1][0] == pytest.approx(clock.now_ms() + 15_000, abs=2)


@pytest.mark.parametrize("latency_s", [-0.02, float("nan"), 1e9])
async def test_a_latency_that_cannot_be_is_the_one_that_was_asked_for(latency_s: float) -> None:
    clock = ManualClock()
    audio = card(clock, latency_s=latency_s)
    async with playing(audio, clock, lead_ms=None) as (_, ramp, opened):
        assert opened.latency_ms == LATENCY_MS
        for _ in range(300):
            await clock.advance(10)
            audio.stream.pull(480, None)
        assert ramp.heard[-1][0] == pytest.approx(clock.now_ms() + LATENCY_MS, abs=2)


async def test_running_dry_is_counted_and_moves_the_times_on() -> None:
    clock = ManualClock()
    audio = card(clock)
    async with playing(audio, clock) as (speaker, ramp, _):
        for number in range(3, 60):
            await clock.advance(60 if number == 9 else 10)
            audio.stream.pull(480, underflow=number == 9)
            assert ramp.heard[-1][0] == pytest.approx(clock.now_ms() + 35, abs=0.1)
        assert (speaker.underflows, ramp.dry) == (1, 1)


async def test_a_wall_clock_that_jumps_moves_no_times() -> None:
    clock = ManualClock()
    audio = card(clock)
    async with playing(audio, clock) as (_, ramp, _opened):
        for number in range(200):
            audio.stream.wall_s = WALL_S + (-90 if number > 60 else 0) + (3_600 if number > 120 else 0)
            await clock.advance(10)
            audio.stream.pull(480)
        for dac_ms, frame in ramp.heard:
            assert dac_ms == pytest.approx(15 + frame / 48, abs=0.1)


async def test_a_device_that_takes_nothing_is_given_up_after_two_seconds() -> None:
    clock = ManualClock()
    audio = card(clock)
    speaker = DeviceSpeaker(clock, backend=audio)
    opening = asyncio.ensure_future(speaker.open(Ramp(48_000)))
    await until(lambda: audio.streams and audio.stream.started)
    await settle()
    await clock.advance(2_010)
    await until(opening.done)
    with pytest.raises(SoundError, match=r"the speaker 'card' .* opened, but took nothing for 2 s"):
        await opening
    assert audio.stream.closed


async def test_a_device_that_stops_taking_sound_is_reported_once_within_a_second() -> None:
    clock, told = ManualClock(), []
    audio = card(clock)
    async with playing(audio, clock, on_lost=told.append):
        for _ in range(300):
            await clock.advance(10)
            audio.stream.pull(480)
        await clock.advance(890)
        assert told == []
        await clock.advance(110)
        assert len(told) == 1
        assert told[0].startswith("output lost: the speaker 'card' has taken nothing")
        await clock.advance(10_000)
        audio.stream.finished()
        await settle()
        assert len(told) == 1


async def test_a_stream_that_ends_by_itself_is_reported_but_not_one_that_is_closed() -> None:
    clock, told = ManualClock(), []
    audio = card(clock)
    async with playing(audio, clock, on_lost=told.append) as (speaker, _, _opened):
        await speaker.close()
        audio.stream.finished()
        await settle()
        assert told == []
    async with playing(audio, clock, on_lost=told.append):
        audio.stream.finished()
        await settle()
        assert "stopped by itself" in told[0]


async def test_a_busy_speaker_is_named_with_what_else_there_is() -> None:
    clock = ManualClock()
    audio = StubAudio(clock, [device("card", outputs=2), device("HDMI", outputs=8)], refuse=BUSY)
    with pytest.raises(SoundError, match=r"'card' \(ALSA\) is in use by another program.*'HDMI'"):
        await DeviceSpeaker(clock, backend=audio).prepare()


async def test_the_voice_never_goes_to_another_device_than_the_one_chosen() -> None:
    clock = ManualClock()
    audio = StubAudio(clock, [device("HDMI", outputs=8)])
    speaker = DeviceSpeaker(clock, SavedDevice("USB Headset", "ALSA"), backend=audio)
    with pytest.raises(SoundError, match=r"'USB Headset' \(ALSA\) is not there.*'HDMI'"):
        await speaker.prepare()
    assert audio.streams == []


async def test_a_closed_speaker_may_be_opened_again() -> None:
    clock = ManualClock()
    audio = card(clock)
    async with playing(audio, clock) as (speaker, _, _opened):
        await speaker.close()
        await speaker.close()
        assert audio.stream.closed
        opening = asyncio.ensure_future(speaker.open(Ramp(48_000)))
        await until(lambda: len(audio.streams) == 2 and audio.stream.started)
        for _ in range(3):
            audio.stream.pull(480)
        await until(opening.done)
        assert (await opening).name == "card"


async def test_the_null_speaker_renders_on_the_clock() -> None:
    clock = ManualClock()
    await clock.advance(77)
    speaker = NullSpeaker(clock, 24_000, latency_ms=30)
    ramp = Ramp(await speaker.prepare())
    opened = await speaker.open(ramp)
    assert (opened.clock, opened.rate_hz, opened.latency_ms) == ("paced", 24_000, 30)
    for step_ms in (5, 10, 85, 1_000):
        await clock.advance(step_ms)
    await speaker.close()
    await speaker.close()
    assert ramp.heard == [(107.0 + 10 * number, 240 * number) for number in range(111)]
    await clock.advance(100)
    assert ramp.frames == 240 * 111


@pytest.mark.parametrize("rate_hz", [11_025, 16_000, 22_050, 44_100])
async def test_the_null_speaker_keeps_its_rate_for_hours(rate_hz: int) -> None:
    clock = ManualClock()
    speaker, ramp = NullSpeaker(clock, rate_hz), Ramp(rate_hz)
    await speaker.open(ramp)
    await clock.advance(5_000)
    await speaker.close()
    dac_ms, frame = ramp.heard[-1]
    assert dac_ms == pytest.approx(30 + frame * 1e3 / rate_hz, abs=1e-6)


async def test_the_null_speaker_catches_up_but_never_renders_the_past() -> None:
    clock = StallingClock()
    speaker, ramp = NullSpeaker(clock, 16_000, latency_ms=30), Ramp(16_000)
    await speaker.open(ramp)
    await clock.advance(100)
    rendered = len(ramp.heard)
    clock.stall(25)
    await clock.advance(0)
    assert len(ramp.heard) == rendered + 2
    assert ramp.dry == 0
    clock.stall(500)
    await clock.advance(0)
    assert ramp.dry == 1
    late = [dac_ms for dac_ms, _ in ramp.heard[rendered + 2 :]]
    assert late
    assert all(dac_ms >= clock.now_ms() for dac_ms in late)
    assert all(dac_ms % 10 == 0 for dac_ms, _ in ramp.heard)


async def test_a_program_that_stood_still_does_not_take_its_device_for_lost() -> None:
    """While a model is loaded neither the callbacks nor the watch may come to run."""
    clock, told = StallingClock(), []
    audio = card(clock)
    async with playing(audio, clock, on_lost=told.append):
        for _ in range(100):
            await clock.advance(10)
            audio.stream.pull(480)
        clock.stall(1_500)
        await clock.advance(20)
        assert told == []
        for _ in range(200):
            await clock.advance(10)
            audio.stream.pull(480)
        assert told == []
        await clock.advance(1_000)
        assert len(told) == 1
