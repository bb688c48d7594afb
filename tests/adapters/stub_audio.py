"""A sound system without sound: devices with tempers, and streams that tests drive by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicetui.events.sound import DeviceOpened, Role
from voicetui.ports import Block, Clock, SoundError
from voicetui.runtime.clock import ManualClock, settle
from voicetui.sound.devices import BAD_CHANNELS, BAD_RATE, BackendError, StreamCallback, StreamSettings
from voicetui.sound.microphone import DeviceMicrophone

WALL_S = 1_700_000_000.0


class StallingClock(ManualClock):
    """A manual clock that can run on while the loop is stuck."""

    def stall(self, ms: float) -> None:
        """Let ``ms`` pass without waking anyone."""
        self._now_ms += ms


def device(name: str, inputs: int = 0, outputs: int = 0, host: int = 0, rate_hz: float = 48_000.0) -> dict[str, Any]:
    """A device as PortAudio lists it."""
    return {
        "name": name,
        "hostapi": host,
        "max_input_channels": inputs,
        "max_output_channels": outputs,
        "default_samplerate": rate_hz,
    }


class StubStream:
    """An open stream. ``feed`` and ``pull`` are the device; its stamps are wall-clock times, as the pulse plugin's."""

    def __init__(self, clock: Clock, settings: StreamSettings, callback: StreamCallback, finished: Callable[[], None]):
        self._clock = clock
        self._callback = callback
        self.finished = finished
        self.settings = settings
        self.latency = 0.02
        self.started = self.stopped = self.closed = False
        self.hang: Callable[[], None] | None = None
        self.wall_s = WALL_S

    def start(self) -> None:
        self.started = True

    def stop(self) -> None:
        if self.hang:
            self.hang()
        self.stopped = True

    def close(self) -> None:
        self.closed = True

    def feed(self, sound: NDArray[np.float32], lead_ms: float | None = -10.0, overflow: bool = False) -> None:
        """Deliver float32 [n] or [n, channels]. ``lead_ms`` None: the ADC stamp is 0."""
        shape = (len(sound), self.settings.channels)
        data = np.ascontiguousarray(np.broadcast_to(sound.reshape(len(sound), -1), shape))
        buffer_s = 0.0 if lead_ms is None else self._now_s() + lead_ms / 1e3
        times = SimpleNamespace(currentTime=self._now_s(), inputBufferAdcTime=buffer_s, outputBufferDacTime=0.0)
        self._callback(data, len(data), times, SimpleNamespace(input_overflow=overflow, output_underflow=False))

    def pull(self, frames: int, lead_ms: float | None = 35.0, underflow: bool = False) -> NDArray[np.float32]:
        """Take float32 [frames, channels]. ``lead_ms`` None: the DAC stamp is 0."""
        data = np.full((frames, self.settings.channels), 9.0, np.float32)
        buffer_s = 0.0 if lead_ms is None else self._now_s() + lead_ms / 1e3
        times = SimpleNamespace(currentTime=self._now_s(), inputBufferAdcTime=0.0, outputBufferDacTime=buffer_s)
        self._callback(data, frames, times, SimpleNamespace(input_overflow=False, output_underflow=underflow))
        return data

    def _now_s(self) -> float:
        return self.wall_s + self._clock.now_ms() / 1e3


class StubAudio:
    """A ``Backend``. ``rates``, ``channels``: what its devices accept (None: anything). ``refuse``: a code to raise."""

    def __init__(
        self,
        clock: Clock,
        devices: Sequence[dict[str, Any]] = (),
        *,
        rates: set[int] | None = None,
        channels: set[int] | None = None,
        refuse: int = 0,
        default: tuple[int, int] = (0, 0),
        hosts: Sequence[str] = ("ALSA",),
        latency_s: float = 0.02,
    ):
        self._clock = clock
        self.devices = list(devices)
        self._rates = rates
        self._channels = channels
        self.refuse = refuse
        self._default = default
        self._hosts = hosts
        self._latency_s = latency_s
        self.streams: list[StubStream] = []
        self.tried: list[tuple[int, int]] = []
        self.refreshed = 0
        self.broken = ""

    @property
    def stream(self) -> StubStream:
        """The newest stream."""
        return self.streams[-1]

    def query_devices(self) -> Sequence[Mapping[str, Any]]:
        if self.broken:
            raise BackendError(self.broken, -10000)
        return self.devices

    def query_hostapis(self) -> Sequence[Mapping[str, Any]]:
        return [{"name": name} for name in self._hosts]

    def default_index(self, role: Role) -> int:
        return self._default[0 if role == "input" else 1]

    def check(self, role: Role, settings: StreamSettings) -> None:
        self.tried.append((settings.rate_hz, settings.channels))
        if self.refuse:
            raise BackendError("refused", self.refuse)
        if self._channels is not None and settings.channels not in self._channels:
            raise BackendError("Invalid number of channels", BAD_CHANNELS)
        if self._rates is not None and settings.rate_hz not in self._rates:
            raise BackendError("Invalid sample rate", BAD_RATE)

    def open(
        self, role: Role, settings: StreamSettings, callback: StreamCallback, finished: Callable[[], None]
    ) -> StubStream:
        self.check(role, settings)
        stream = StubStream(self._clock, settings, callback, finished)
        stream.latency = self._latency_s
        self.streams.append(stream)
        return stream

    def refresh(self) -> None:
        self.refreshed += 1


async def until(condition: Callable[[], Any]) -> None:
    """Let tasks and threads run, without time passing, until ``condition`` holds."""
    for _ in range(200_000):
        if condition():
            return
        await settle(1)
    raise AssertionError("it never came true")


class Desk:
    """An open ``DeviceMicrophone`` on a stub device, with everything it said."""

    def __init__(self, clock: ManualClock, audio: StubAudio, microphone: DeviceMicrophone):
        self.clock = clock
        self.audio = audio
        self.microphone = microphone
        self.blocks: list[Block] = []
        self.opened: DeviceOpened
        self.error: SoundError | None = None
        self.over = False
        self.frames = 0

    async def read(self) -> None:
        """Collect blocks until the end."""
        try:
            async for block in self.microphone.blocks():
                self.blocks.append(block)
        except SoundError as error:
            self.error = error
        self.over = True

    async def hear(self, sound: NDArray[np.float32], **how: Any) -> None:
        """The device delivers float32 [n] or [n, channels] as soon as it has been spoken."""
        self.frames += len(sound)
        await self.clock.advance(len(sound) * 1e3 / self.audio.stream.settings.rate_hz)
        self.audio.stream.feed(sound, **how)
        await settle()

    @property
    def samples(self) -> NDArray[np.int16]:
        """The whole track, losses as silence."""
        last = self.blocks[-1]
        track = np.zeros(last.sample + len(last.samples), np.int16)
        for block in self.blocks:
            track[block.sample : block.sample + len(block.samples)] = block.samples
        return track


@asynccontextmanager
async def at_desk(
    audio: StubAudio, clock: ManualClock, microphone: DeviceMicrophone | None = None, **how: Any
) -> AsyncIterator[Desk]:
    """Open a microphone on ``audio``: its first callbacks are 10 ms of quiet noise each."""
    microphone = microphone or DeviceMicrophone(clock, backend=audio)
    desk = Desk(clock, audio, microphone)
    opening = asyncio.ensure_future(microphone.open())
    await until(lambda: (audio.streams and audio.stream.started) or opening.done())
    for number in range(60):
        if not opening.done():
            await desk.hear(noise(audio.stream.settings.rate_hz // 100, number), **how)
    desk.opened = await opening
    reading = asyncio.ensure_future(desk.read())
    await settle()
    try:
        yield desk
    finally:
        closing = asyncio.ensure_future(microphone.close())
        await until(lambda: closing.done() or audio.stream.hang)
        await clock.advance(1_500)
        await closing
        await until(reading.done)


def noise(count: int, seed: int = 0, level: float = 0.001) -> NDArray[np.float32]:
    """float32 [count] of white noise."""
    return (np.random.default_rng(seed).standard_normal(count) * level).astype(np.float32)


def tone(count: int, rate_hz: float, hz: float = 440.0, start: int = 0, level: float = 0.5) -> NDArray[np.float32]:
    """float32 [count] of a sine, from frame ``start`` on."""
    return (level * np.sin(2 * np.pi * hz * (start + np.arange(count)) / rate_hz)).astype(np.float32)


def pitch_hz(samples: NDArray[Any], rate_hz: float = 16_000.0) -> float:
    """The strongest frequency, to a fraction of a bin."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    peak = int(np.argmax(spectrum[1:-1])) + 1
    below, at, above = np.log(spectrum[peak - 1 : peak + 2] + 1e-12)
    return float((peak + 0.5 * (below - above) / (below - 2 * at + above)) * rate_hz / len(samples))
