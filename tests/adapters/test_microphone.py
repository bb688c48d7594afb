"""The device microphone on stub devices, and the scripted person."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import numpy as np
import pytest

from tests.adapters.stub_audio import WALL_S, StallingClock, StubAudio, at_desk, device, noise, pitch_hz, tone, until
from voicetui.ports import Block, SoundError
from voicetui.runtime.clock import ManualClock, settle
from voicetui.sound.devices import BUSY, SavedDevice
from voicetui.sound.microphone import DeviceMicrophone, FileMicrophone
from voicetui.sound.rates import level_dbfs

pytestmark = pytest.mark.anyio


def card(clock: ManualClock, inputs: int = 1, rate_hz: float = 48_000, **how: Any) -> StubAudio:
    """A sound system with one card."""
    return StubAudio(clock, [device("card", inputs=inputs, rate_hz=rate_hz)], **how)


def contiguous(blocks: list[Block]) -> bool:
    """Whether every block follows the one before, but for what is declared lost."""
    ends = [0, *(block.sample + len(block.samples) for block in blocks)]
    return all(block.sample == end + block.lost for block, end in zip(blocks, ends, strict=False))


async def test_a_device_without_16_khz_is_opened_at_its_rate_and_no_sample_is_lost() -> None:
    clock = ManualClock()
    async with at_desk(card(clock, rate_hz=48_000, rates={44_100, 192_000}), clock) as desk:
        assert desk.opened.rate_hz == 44_100
        start = desk.frames
        for first in range(0, 44_100, 441):
            await desk.hear(tone(441, 44_100, start=first))
    heard = desk.samples[round(start * 160 / 441) :]
    assert contiguous(desk.blocks)
    assert 16_000 - 40 - 160 <= len(heard) <= 16_000
    assert np.abs(heard[200:] / 32_768 - tone(len(heard), 16_000)[200:]).max() < 0.002


@pytest.mark.parametrize("size", [1, 32, 160, 320, 441, 480, 720, 1_024, 4_096, 20_805])
async def test_callbacks_of_any_size_are_used_once(size: int) -> None:
    clock = ManualClock()
    sound = tone(max(size * 3, 9_600), 48_000) if size > 1 else tone(600, 48_000)
    async with at_desk(card(clock), clock) as desk:
        begin = desk.frames // 3
        for first in range(0, len(sound), size):
            await desk.hear(sound[first : first + size])
    assert contiguous(desk.blocks)
    assert all(160 <= len(block.samples) <= 640 for block in desk.blocks)
    total = desk.blocks[-1].sample + len(desk.blocks[-1].samples)
    assert desk.frames / 3 - 160 - 20 <= total <= desk.frames / 3
    heard = desk.samples[begin:]
    assert np.abs(heard[60:] / 32_768 - tone(len(heard), 16_000)[60:]).max() < 0.002


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 16_000, 44_100, 96_000])
async def test_a_second_at_any_rate_is_a_second(rate_hz: int) -> None:
    clock = ManualClock()
    async with at_desk(card(clock, rate_hz=rate_hz), clock) as desk:
        for first in range(0, rate_hz, rate_hz // 100):
            await desk.hear(tone(rate_hz // 100, rate_hz, start=first))
    last = desk.blocks[-1]
    assert last.sample + len(last.samples) == pytest.approx(desk.frames * 16_000 / rate_hz, abs=200)
    assert pitch_hz(desk.samples[1_000:]) == pytest.approx(440, abs=2)
    assert last.at_ms == pytest.approx(last.sample / 16, abs=2)


@pytest.mark.parametrize(("most", "channels"), [(2, {2}), (8, {8}), (2, None)])
async def test_channels_are_averaged_never_read_as_mono(most: int, channels: set[int] | None) -> None:
    clock = ManualClock()
    async with at_desk(card(clock, inputs=most, channels=channels), clock) as desk:
        count = desk.opened.channels
        assert count == (min(channels) if channels else 1)
        for first in range(0, 24_000, 480):
            sound = np.zeros((480, count), np.float32)
            sound[:, 0] = tone(480, 48_000, start=first)
            await desk.hear(sound)
    assert pitch_hz(desk.samples[600:]) == pytest.approx(440, abs=2)
    assert level_dbfs(desk.samples[600:]) == pytest.approx(-9.03 - 20 * np.log10(count), abs=0.2)


async def test_a_card_without_inputs_is_refused_in_words() -> None:
    with pytest.raises(SoundError, match="there is no microphone"):
        await DeviceMicrophone(ManualClock(), backend=card(ManualClock(), inputs=0)).open()


async def test_a_busy_card_is_named_and_may_be_tried_again() -> None:
    clock = ManualClock()
    audio = StubAudio(clock, [device("card", inputs=1), device("other", inputs=1)], refuse=BUSY)
    microphone = DeviceMicrophone(clock, backend=audio)
    with pytest.raises(SoundError, match=r"'card' \(ALSA\) is in use.*'other'"):
        await microphone.open()
    audio.refuse = 0
    async with at_desk(audio, clock, microphone) as desk:
        assert desk.opened.name == "card"


async def test_a_device_that_opens_but_never_calls_is_given_up_after_two_seconds() -> None:
    clock = ManualClock()
    audio = card(clock)
    opening = asyncio.ensure_future(DeviceMicrophone(clock, backend=audio).open())
    await until(lambda: audio.streams and audio.stream.started)
    await settle()
    await clock.advance(1_990)
    assert not opening.done()
    await clock.advance(20)
    await until(opening.done)
    with pytest.raises(SoundError, match="opened, but sent nothing for 2 s"):
        await opening
    assert audio.stream.closed


async def test_a_device_that_stops_calling_is_lost_within_a_second() -> None:
    clock = ManualClock()
    async with at_desk(card(clock), clock) as desk:
        for number in range(300):
            await desk.hear(noise(480, number))
        stopped_ms = clock.now_ms()
        await clock.advance(800)
        assert desk.error is None
        await clock.advance(200)
        assert str(desk.error).startswith("input lost: the microphone 'card' has sent nothing")
        assert clock.now_ms() - stopped_ms <= 1_000
    assert len(desk.samples) == pytest.approx(desk.frames / 3, abs=200)


async def test_a_stream_that_ends_by_itself_is_lost_at_once() -> None:
    clock = ManualClock()
    async with at_desk(card(clock), clock) as desk:
        desk.audio.stream.finished()
        await settle()
        assert "input lost: the microphone 'card' stopped by itself" in str(desk.error)


@pytest.mark.parametrize("buffers", [1, 2, 4])
async def test_a_device_that_sends_the_same_buffers_for_ever_is_frozen(buffers: int) -> None:
    clock = ManualClock()
    async with at_desk(card(clock), clock) as desk:
        for number in range(60):
            await desk.hear(noise(480, number))
        for number in range(110):
            await desk.hear(noise(480, number % buffers))
        assert str(desk.error).startswith(f"input frozen: the microphone 'card' sends the same {buffers}0 ms")


async def test_sound_that_comes_again_out_of_step_is_not_frozen() -> None:
    clock = ManualClock()
    async with at_desk(card(clock), clock) as desk:
        for number in range(150):
            await desk.hear(noise(480, (7, 7, 8)[number % 3]))
        assert desk.error is None


async def test_a_pure_tone_that_fits_several_blocks_is_not_frozen() -> None:
    clock = ManualClock()
    four = tone(1920, 48_000, 275.0)
    async with at_desk(card(clock), clock) as desk:
        for number in range(160):
            await desk.hear(four[number % 4 * 480 :][:480])
        assert desk.error is None


@pytest.mark.parametrize("hz", [200, 1_000, 4_000])
async def test_a_pure_tone_that_fits_the_blocks_is_not_frozen(hz: int) -> None:
    clock = ManualClock()
    block = np.tile(tone(48_000 // hz, 48_000, hz), hz // 100)
    async with at_desk(card(clock), clock) as desk:
        for _ in range(150):
            await desk.hear(block)
        assert desk.error is None


@pytest.mark.parametrize("value", [0.0, 0.25])
async def test_nothing_but_one_value_is_reported_once_and_goes_on(value: float) -> None:
    clock = ManualClock()
    told: list[str] = []
    audio = card(clock)
    microphone = DeviceMicrophone(clock, backend=audio, on_fault=told.append)
    async with at_desk(audio, clock, microphone) as desk:
        for _ in range(299):
            await desk.hear(np.full(480, value, np.float32))
        assert told == []
        for _ in range(200):
            await desk.hear(np.full(480, value, np.float32))
        assert len(told) == 1
        assert told[0].startswith("input silent: the microphone 'card'")
        await desk.hear(noise(480))
        for _ in range(310):
            await desk.hear(np.full(480, value, np.float32))
        assert len(told) == 1
        assert desk.error is None


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
async def test_what_is_no_number_is_silence_and_nothing_else_ends_the_session(bad: float) -> None:
    clock = ManualClock()
    told: list[str] = []
    audio = card(clock)
    async with at_desk(audio, clock, DeviceMicrophone(clock, backend=audio, on_fault=told.append)) as desk:
        for number in range(60):
            sound = noise(480, number, 0.1)
            sound[100 : 480 if number == 30 else 101] = bad
            await desk.hear(sound)
        await desk.hear(noise(4800, 99, 0.1))
        assert np.std(desk.samples[-1000:]) == pytest.approx(0.1 / 3**0.5 * 32768, rel=0.1), "it leaves no trace"
        for _ in range(310):
            await desk.hear(np.full(480, bad, np.float32))
        assert [text.split(":")[0] for text in told] == ["input silent"] and desk.error is None


@pytest.mark.parametrize("latency_s", [-0.02, float("nan"), float("inf"), 1e9])
async def test_a_latency_that_cannot_be_is_the_one_that_was_asked_for(latency_s: float) -> None:
    clock = ManualClock()
    async with at_desk(card(clock, latency_s=latency_s), clock, lead_ms=None) as desk:
        assert desk.opened.latency_ms == 25.0
        await desk.hear(noise(480), lead_ms=None)
        last = desk.blocks[-1]
        assert last.at_ms + len(last.samples) / 16 == pytest.approx(clock.now_ms() - 15, abs=2)


async def test_overflows_are_counted_and_what_is_missing_is_declared() -> None:
    clock = ManualClock()
    async with at_desk(card(clock), clock) as desk:
        for number in range(3, 100):
            if number == 5:
                await clock.advance(50)
            await desk.hear(noise(480, number), overflow=number in (5, 6))
        assert desk.microphone.overflows == 2
    assert contiguous(desk.blocks)
    assert sum(block.lost for block in desk.blocks) == pytest.approx(800, abs=32)
    for block in desk.blocks[20:]:
        assert block.at_ms == pytest.approx(block.sample / 16, abs=2)


async def test_a_false_alarm_is_counted_and_nothing_is_filled_in() -> None:
    clock = ManualClock()
    async with at_desk(card(clock), clock) as desk:
        for number in range(3, 60):
            await desk.hear(noise(480, number), overflow=number in (5, 6, 30))
        assert desk.microphone.overflows == 3
    assert sum(block.lost for block in desk.blocks) == 0


@pytest.mark.parametrize("lead_ms", [-10.0, None])
async def test_sound_that_is_missing_without_a_flag_is_found_by_the_clock(lead_ms: float | None) -> None:
    clock = ManualClock()
    async with at_desk(card(clock), clock, lead_ms=lead_ms) as desk:
        for number in range(200):
            if number == 100:
                await clock.advance(300)
            await desk.hear(noise(480, number), lead_ms=lead_ms)
    assert contiguous(desk.blocks)
    assert sum(block.lost for block in desk.blocks) == pytest.approx(4_800, abs=32)
    assert desk.blocks[-1].at_ms == pytest.approx(desk.blocks[-1].sample / 16, abs=12)


async def test_late_callbacks_that_catch_up_lose_nothing_and_keep_their_times() -> None:
    clock = ManualClock()
    async with at_desk(card(clock), clock) as desk:
        for number in range(200):
            if number % 50 == 49:
                await clock.advance(100)
                for back in range(10):
                    desk.frames += 480
                    desk.audio.stream.feed(noise(480, number + back), lead_ms=-100.0 + 10 * back)
                await settle()
            else:
                await desk.hear(noise(480, number))
    assert sum(block.lost for block in desk.blocks) == 0
    for block in desk.blocks[3:]:
        assert block.at_ms == pytest.approx(block.sample / 16, abs=1)


async def test_a_loop_that_was_away_too_long_loses_a_counted_number_of_samples() -> None:
    clock = StallingClock()
    async with at_desk(card(clock), clock) as desk:
        for _ in range(1_000):
            clock.stall(10)
            desk.frames += 480
            desk.audio.stream.feed(noise(480, 1))
        await desk.hear(noise(480, 2))
    assert contiguous(desk.blocks)
    lost = sum(block.lost for block in desk.blocks)
    assert 16_000 * 6 < lost < 16_000 * 9
    last = desk.blocks[-1]
    assert last.sample + len(last.samples) == pytest.approx(desk.frames / 3, abs=200)
    assert last.at_ms == pytest.approx(last.sample / 16, abs=12)


async def test_a_wall_clock_that_jumps_moves_no_times() -> None:
    clock = ManualClock()
    async with at_desk(card(clock), clock) as desk:
        for number in range(200):
            desk.audio.stream.wall_s = WALL_S + (-90 if number > 60 else 0) + (3_600 if number > 120 else 0)
            await desk.hear(noise(480, number))
    assert contiguous(desk.blocks)
    for block in desk.blocks:
        assert block.at_ms == pytest.approx(block.sample / 16, abs=1)


@pytest.mark.parametrize("lead_ms", [None, -900.0, -40_000.0, 700.0])
async def test_implausible_stamps_fall_back_to_counting_and_say_so(lead_ms: float | None) -> None:
    clock = ManualClock()
    audio = card(clock, latency_s=0.01)
    async with at_desk(audio, clock, lead_ms=lead_ms) as desk:
        assert desk.opened.clock == "counted"
        for number in range(100):
            await desk.hear(noise(480, number), lead_ms=lead_ms)
    for block in desk.blocks:
        assert block.at_ms == pytest.approx(block.sample / 16, abs=1)


async def test_the_session_learns_the_devices_own_values() -> None:
    clock = ManualClock()
    audio = StubAudio(clock, [device("a", outputs=2), device("Mic", inputs=4, rate_hz=44_100)], default=(1, 0))
    async with at_desk(audio, clock) as desk:
        opened = desk.opened
        assert (opened.role, opened.name, opened.host) == ("input", "Mic", "ALSA")
        assert (opened.rate_hz, opened.channels, opened.latency_ms, opened.clock) == (44_100, 1, 20.0, "stream")
        assert audio.stream.settings.blocksize == 441
        assert audio.stream.settings.latency_s == pytest.approx(0.025)


async def test_a_device_found_under_another_host_is_said() -> None:
    clock, told = ManualClock(), []
    audio = card(clock, hosts=("JACK",))
    microphone = DeviceMicrophone(clock, SavedDevice("card", "ALSA"), backend=audio, on_fault=told.append)
    async with at_desk(audio, clock, microphone):
        assert "is now under JACK" in told[0]


async def test_closing_ends_the_blocks_and_may_be_done_twice() -> None:
    clock = ManualClock()
    audio = card(clock)
    async with at_desk(audio, clock) as desk:
        await desk.microphone.close()
        await settle()
        assert desk.over
        assert desk.error is None
        await desk.microphone.close()
    assert audio.stream.stopped
    assert audio.stream.closed
    audio.stream.finished()
    await settle()


async def test_closing_does_not_wait_for_a_driver_that_hangs() -> None:
    clock, go = ManualClock(), threading.Event()
    audio = card(clock)
    async with at_desk(audio, clock):
        audio.stream.hang = lambda: go.wait(30)
    go.set()


async def test_a_reopened_microphone_goes_on_where_the_track_stands() -> None:
    clock = ManualClock()
    audio = card(clock)
    microphone = DeviceMicrophone(clock, backend=audio, first_sample=48_000)
    async with at_desk(audio, clock, microphone) as desk:
        for number in range(20):
            await desk.hear(noise(480, number))
    assert desk.blocks[0].sample == 48_000


async def test_blocks_before_opening_are_an_error_in_words() -> None:
    with pytest.raises(SoundError, match="not open"):
        async for _ in DeviceMicrophone(ManualClock(), backend=card(ManualClock())).blocks():
            pass
    with pytest.raises(SoundError, match="not open"):
        FileMicrophone(ManualClock()).play(np.zeros(1, np.int16))


async def listen(microphone: FileMicrophone, blocks: list[Block]) -> None:
    """Collect blocks until the end."""
    async for block in microphone.blocks():
        blocks.append(block)  # noqa: PERF401 - each as it comes


def track(blocks: list[Block]) -> np.ndarray:
    """Everything that was heard, as one array."""
    return np.concatenate([block.samples for block in blocks])


async def test_the_scripted_person_is_heard_at_the_sample_asked_for() -> None:
    clock, blocks = ManualClock(), []
    await clock.advance(123.0)
    microphone = FileMicrophone(clock, noise_dbfs=None)
    opened = await microphone.open()
    assert (opened.clock, opened.rate_hz) == ("paced", 16_000)
    listening = asyncio.ensure_future(listen(microphone, blocks))
    clip = np.arange(1, 1_001).astype(np.int16)
    assert microphone.play(clip, at_ms=623.0625) == pytest.approx(623.0625)
    await clock.advance(1_000)
    microphone.end()
    await clock.advance(20)
    assert listening.done()
    heard = track(blocks)
    assert np.flatnonzero(heard)[0] == 8_001
    assert np.array_equal(heard[8_001:9_001], clip)
    assert [block.at_ms for block in blocks[:3]] == [123.0, 133.0, 143.0]
    assert all(block.sample == 160 * number for number, block in enumerate(blocks))


async def test_speaking_now_starts_now_even_when_the_loop_is_behind() -> None:
    clock, blocks = StallingClock(), []
    microphone = FileMicrophone(clock, noise_dbfs=None)
    await microphone.open()
    clock.stall(5_007.0)
    assert microphone.play(np.full(16, 9, np.int16)) == 5_007.0
    listening = asyncio.ensure_future(listen(microphone, blocks))
    await until(lambda: len(blocks) == 500)
    await clock.advance(100)
    assert np.flatnonzero(track(blocks))[0] == 5_007 * 16
    assert blocks[-1].sample + 160 == pytest.approx(5_107 * 16, abs=160)
    assert microphone.play(np.full(16, 9, np.int16), at_ms=0.0) >= 5_100
    await microphone.close()
    await clock.advance(20)
    assert listening.done()


async def test_a_block_comes_when_its_last_sample_is_over_and_pace_does_not_drift() -> None:
    clock, arrived = ManualClock(), []
    microphone = FileMicrophone(clock)
    await microphone.open()

    async def note() -> None:
        async for block in microphone.blocks():
            arrived.append((clock.now_ms(), block.at_ms))  # noqa: PERF401 - each as it comes

    noting = asyncio.ensure_future(note())
    for step_ms in (7, 13, 50, 1, 200, 33, 999):
        await clock.advance(step_ms)
    assert all(now_ms == at_ms + 10 for now_ms, at_ms in arrived)
    assert len(arrived) == int(clock.now_ms() // 10)
    noting.cancel()


async def test_clips_overlap_and_clip_instead_of_wrapping() -> None:
    clock, blocks = ManualClock(), []
    microphone = FileMicrophone(clock, [(0.0, np.full(320, 30_000, np.int16))], noise_dbfs=None)
    await microphone.open()
    microphone.play(np.full(160, 30_000, np.int16), at_ms=5.0)
    listening = asyncio.ensure_future(listen(microphone, blocks))
    await clock.advance(20)
    assert track(blocks).tolist() == [30_000] * 80 + [32_767] * 160 + [30_000] * 80
    listening.cancel()


async def test_the_room_is_never_digital_silence_and_the_same_every_time() -> None:
    rooms = []
    for _ in range(2):
        clock, blocks = ManualClock(), []
        microphone = FileMicrophone(clock, seed=3)
        await microphone.open()
        listening = asyncio.ensure_future(listen(microphone, blocks))
        await clock.advance(1_000)
        listening.cancel()
        rooms.append(track(blocks))
    assert np.array_equal(*rooms)
    assert level_dbfs(rooms[0]) == pytest.approx(-70, abs=0.5)


async def test_the_stream_ends_at_the_time_asked_for() -> None:
    clock, blocks = ManualClock(), []
    microphone = FileMicrophone(clock)
    await microphone.open()
    microphone.end(at_ms=1_000.0)
    listening = asyncio.ensure_future(listen(microphone, blocks))
    await clock.advance(2_000)
    assert listening.done()
    assert len(track(blocks)) == 16_000
