"""Real devices on the rig: what is played is heard at the time its stamps say, both ways.

The judge is a recording of the bus: what the speaker plays and what the microphone gets stand in the same frames there.
"""

from __future__ import annotations

import asyncio
import sys
import wave
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.acoustic.bus import RATE_HZ as BUS_HZ
from tests.acoustic.bus import Bus, speak
from tests.acoustic.conftest import Rig
from voicetui.ports import Block, PcmFloat, SoundError
from voicetui.runtime.clock import SystemClock
from voicetui.sound.devices import list_devices
from voicetui.sound.microphone import DeviceMicrophone
from voicetui.sound.speaker import DeviceSpeaker

pytestmark = [pytest.mark.acoustic, pytest.mark.anyio]

CHIRPS = 10
APART_S = 0.75
TOLERANCE_MS = 15.0


def chirp(rate_hz: int) -> NDArray[np.float32]:
    """float32 [20 ms]: a sweep from 0.5 to 4 kHz, whose beginning is found to a fraction of a sample."""
    at_s = np.arange(rate_hz // 50) / rate_hz
    sweep = 0.5 * np.sin(2 * np.pi * (500 * at_s + 3_500 / 0.04 * at_s**2)) * np.hanning(len(at_s))
    return sweep.astype(np.float32)


def starts_ms(sound: NDArray[np.int16] | NDArray[np.float32], rate_hz: int) -> NDArray[np.float64]:
    """Where the chirps begin, ms from the beginning: peaks of the correlation, at least 0.4 s apart."""
    like = chirp(rate_hz)
    size = 1 << (len(sound) + len(like)).bit_length()
    spectrum = np.fft.rfft(sound.astype(np.float64), size) * np.conj(np.fft.rfft(like, size))
    match = np.fft.irfft(spectrum, size)[: len(sound)]
    left = match.copy()
    found = []
    while left.max() > 0.4 * match.max():
        peak = int(np.argmax(left))
        found.append(peak * 1e3 / rate_hz)
        left[max(0, peak - rate_hz * 2 // 5) : peak + rate_hz * 2 // 5] = 0
    return np.array(sorted(found))


class Chirping:
    """A renderer that chirps, and notes when the first sample of each chirp is at the DAC."""

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self._chirp = chirp(rate_hz)
        # Not a whole number of callbacks apart.
        self._starts = [round((0.5 + number * (APART_S + 0.0037)) * rate_hz) for number in range(CHIRPS)]
        self._frames = 0
        self.dac_ms: list[float] = []

    def render(self, out: PcmFloat, dac_ms: float) -> None:
        out[:] = 0
        first, last = self._frames, self._frames + len(out)
        for start in self._starts:
            head, tail = max(first, start), min(last, start + len(self._chirp))
            if head < tail:
                out[head - first : tail - first] = self._chirp[head - start : tail - start]
            if first <= start < last:
                self.dac_ms.append(dac_ms + (start - first) * 1e3 / self.rate_hz)
        self._frames = last

    def underflow(self) -> None:
        pass


class Ear:
    """Collects a microphone's blocks."""

    def __init__(self, microphone: DeviceMicrophone) -> None:
        self._microphone = microphone
        self.blocks: list[Block] = []
        self.error: SoundError | None = None

    async def listen(self) -> None:
        try:
            async for block in self._microphone.blocks():
                self.blocks.append(block)
        except SoundError as error:
            self.error = error

    @property
    def track(self) -> NDArray[np.int16]:
        last = self.blocks[-1]
        track = np.zeros(last.sample + len(last.samples), np.int16)
        for block in self.blocks:
            track[block.sample : block.sample + len(block.samples)] = block.samples
        return track

    def adc_ms(self) -> NDArray[np.float64]:
        """When the chirps began at the ADC, by the blocks' own times."""
        firsts = np.array([block.sample for block in self.blocks])
        samples = starts_ms(self.track, 16_000) * 16
        places = np.searchsorted(firsts, samples, side="right") - 1
        times = np.array([block.at_ms for block in self.blocks])
        return np.asarray(times[places] + (samples - firsts[places]) / 16)


async def alongside(
    clock: SystemClock, ear: Ear, microphone: DeviceMicrophone, act: Callable[[], Awaitable[None]]
) -> None:
    """Listen while ``act`` runs, then close."""
    listening = asyncio.ensure_future(ear.listen())
    try:
        await act()
    finally:
        await microphone.close()
        await asyncio.wait_for(listening, 5)


async def test_the_rig_is_found_as_a_device(rig: Rig) -> None:
    assert any(device.default_input and device.default_output for device in list_devices(refresh=True))


async def test_a_chirp_is_heard_when_the_stamps_say_it_was_played(
    rig: Rig, record_property: Callable[..., None]
) -> None:
    clock = SystemClock()
    microphone, speaker = DeviceMicrophone(clock), DeviceSpeaker(clock)
    ear = Ear(microphone)
    renderer = Chirping(await speaker.prepare())
    rig.echo(True)

    async def play() -> None:
        await speaker.open(renderer)
        await clock.sleep_until(clock.now_ms() + CHIRPS * APART_S * 1e3 + 1_500)
        await speaker.close()

    try:
        with Bus() as bus:
            await microphone.open()
            await alongside(clock, ear, microphone, play)
    finally:
        rig.echo(False)
    heard = bus.sound()
    said_ms, echoed_ms = starts_ms(heard[:, 0], BUS_HZ), starts_ms(heard[:, 1], BUS_HZ)
    dac_ms, adc_ms = np.array(renderer.dac_ms), ear.adc_ms()
    assert len(said_ms) == len(echoed_ms) == len(dac_ms) == len(adc_ms) == CHIRPS
    residual_ms = (adc_ms - dac_ms) - (echoed_ms - said_ms)
    record_property("residual_ms", residual_ms.round(2).tolist())
    print(f"adc - dac against the bus: median {np.median(residual_ms):.2f}, worst {np.abs(residual_ms).max():.2f} ms")
    assert np.abs(residual_ms).max() < TOLERANCE_MS
    assert np.ptp(dac_ms - said_ms) < TOLERANCE_MS


async def test_what_is_said_to_the_microphone_arrives_whole_and_on_time(rig: Rig, tmp_path: Path) -> None:
    clock = SystemClock()
    microphone = DeviceMicrophone(clock)
    ear = Ear(microphone)
    starts_s = [0.5 + number * (APART_S + 0.0037) for number in range(CHIRPS)]
    sound = np.zeros(BUS_HZ * 9, np.float32)
    for start_s in starts_s:
        sound[round(start_s * BUS_HZ) : round(start_s * BUS_HZ) + BUS_HZ // 50] = chirp(BUS_HZ)
    with wave.open(str(tmp_path / "chirps.wav"), "wb") as file:
        file.setparams((1, 2, BUS_HZ, 0, "NONE", ""))
        file.writeframes((sound * 32_767).astype("<i2").tobytes())

    async def say() -> None:
        playing = speak(tmp_path / "chirps.wav")
        await clock.sleep_until(clock.now_ms() + 9_500)
        playing.wait(10)

    with Bus() as bus:
        await microphone.open()
        await alongside(clock, ear, microphone, say)
    heard = bus.sound()
    bus_ms, samples_ms, adc_ms = starts_ms(heard[:, 1], BUS_HZ), starts_ms(ear.track, 16_000), ear.adc_ms()
    assert len(bus_ms) == len(samples_ms) == CHIRPS
    assert sum(block.lost for block in ear.blocks) == 0
    assert np.ptp(samples_ms - bus_ms) < 0.5, "samples were lost or repeated"
    # The line settles in the first two seconds.
    settled_ms = (adc_ms - bus_ms)[2:]
    print(f"adc against the bus: spread {np.ptp(settled_ms):.2f} ms")
    assert np.ptp(settled_ms) < TOLERANCE_MS


async def test_devices_that_stop_are_noticed_within_a_second_and_close(rig: Rig) -> None:
    clock = SystemClock()
    lost: list[float] = []
    microphone = DeviceMicrophone(clock)
    speaker = DeviceSpeaker(clock, on_lost=lambda _: lost.append(clock.now_ms()))
    ear = Ear(microphone)
    await microphone.open()
    await speaker.open(Chirping(await speaker.prepare()))

    async def unplug() -> None:
        await clock.sleep_until(clock.now_ms() + 500)
        assert ear.blocks
        stopped_ms = clock.now_ms()
        rig.run("pactl", "suspend-sink", "speaker", "1")
        rig.run("pactl", "suspend-source", "mic", "1")
        await clock.sleep_until(stopped_ms + 2_000)
        assert ear.error is not None
        assert "input lost" in str(ear.error)
        assert lost
        assert lost[0] - stopped_ms < 1_300
        await speaker.close()

    try:
        await alongside(clock, ear, microphone, unplug)
    finally:
        rig.run("pactl", "suspend-sink", "speaker", "0")
        rig.run("pactl", "suspend-source", "mic", "0")
    assert clock.now_ms() < 20_000


FORGET = """
import asyncio, gc
from voicetui.runtime.clock import SystemClock
from voicetui.sound.microphone import DeviceMicrophone

async def main():
    clock = SystemClock()
    await DeviceMicrophone(clock).open()
    gc.collect()
    await clock.sleep_until(clock.now_ms() + 300)
    print("still here", flush=True)

asyncio.run(main())
"""


async def test_a_microphone_that_was_forgotten_open_does_not_end_the_process(rig: Rig) -> None:
    assert "still here" in rig.run(sys.executable, "-c", FORGET)


async def test_a_device_that_is_not_there_is_refused_by_name(rig: Rig) -> None:
    with pytest.raises(SoundError, match="'No Such Headset' is not there"):
        await DeviceMicrophone(SystemClock(), "No Such Headset").open()
