"""Speakers: the device, and one that is only a clock. Both pull from a ``ports.Renderer`` and tell it when its sound is at the DAC."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from voicetui.events.sound import DeviceOpened
from voicetui.ports import RATE_HZ, Clock, PcmFloat, Renderer, SoundError
from voicetui.sound.devices import (
    Backend,
    Device,
    PortAudio,
    SavedDevice,
    Stream,
    StreamSettings,
    call_apart,
    choose,
    settle_on,
)
from voicetui.sound.track import StreamTimer, stamp_lead_ms

LATENCY_MS: Final = 35.0
START_LIMIT_MS: Final = 2_000.0
LOST_AFTER_MS: Final = 900.0
OPEN_LIMIT_MS: Final = 8_000.0
CLOSE_LIMIT_MS: Final = 1_000.0
_LONGEST: Final = 8_192
_PACE_MS: Final = 10.0


class _Playback:
    """PortAudio's output callback: renders mono, copies it to every channel."""

    def __init__(self, clock: Clock, settings: StreamSettings, renderer: Renderer, wake: Callable[[], None]) -> None:
        self._clock = clock
        self._renderer = renderer
        self._wake = wake
        self._mono: PcmFloat = np.zeros(_LONGEST, np.float32)
        self._ms_per_frame = 1e3 / settings.rate_hz
        self.timer = StreamTimer(settings.rate_hz, 0.0)
        self.frames = 0
        self.calls = 0
        self.last_ms = -math.inf
        self.underflows = 0
        self.error: Exception | None = None

    def reported(self, rate_hz: int, latency_ms: float) -> None:
        """The stream's latency, known only once it is open, before it is started."""
        self.timer = StreamTimer(rate_hz, latency_ms)

    def __call__(self, data: NDArray[np.float32], frames: int, times: Any, status: Any) -> None:
        now_ms = self._clock.now_ms()
        dry = bool(status.output_underflow)
        if dry:
            self.underflows += 1
            self._renderer.underflow()
        dac_ms = self.timer.time(self.frames, frames, now_ms, stamp_lead_ms(times.currentTime, times.outputBufferDacTime), dry)
        try:
            for first in range(0, frames, _LONGEST):
                last = min(frames, first + _LONGEST)
                mono = self._mono[: last - first]
                self._renderer.render(mono, dac_ms + first * self._ms_per_frame)
                data[first:last] = mono[:, None]
        except Exception as error:
            # Out of a callback an error can only be carried by hand: silence now, and the watchdog reports it.
            data[:] = 0
            self.error = self.error or error
        self.last_ms = now_ms
        self.frames += frames
        self.calls += 1
        if self.calls <= _SETTLING:
            self._wake()


_SETTLING: Final = 3
"""Callbacks to see before saying where the times come from."""


class DeviceSpeaker:
    """A ``ports.Speaker`` on a sound device."""

    def __init__(
        self,
        clock: Clock,
        wanted: SavedDevice | str | None = None,
        *,
        backend: Backend | None = None,
        on_lost: Callable[[str], None] | None = None,
        on_fault: Callable[[str], None] | None = None,
        latency_ms: float = LATENCY_MS,
    ) -> None:
        """``on_lost`` gets a sentence, once, when the device stops; ``on_fault`` when it is not exactly the one that was saved."""
        self._clock = clock
        self._wanted = wanted
        self._backend = backend or PortAudio()
        self._on_lost = on_lost
        self._on_fault = on_fault
        self._latency_ms = latency_ms
        self._device: Device | None = None
        self._rate_hz = 0
        self._stream: Stream | None = None
        self._playback: _Playback | None = None
        self._watchdog: asyncio.Task[None] | None = None
        self._awake = asyncio.Event()
        self._closing = False

    @property
    def underflows(self) -> int:
        """How many times the device said that it ran dry."""
        return self._playback.underflows if self._playback else 0

    async def prepare(self) -> int:
        """Choose the device and return its rate in Hz. Raises ``SoundError``: no such device, busy, no rate it accepts."""
        device, settings, warning = await call_apart(self._clock, OPEN_LIMIT_MS, "the speaker", self._settle)
        self._device, self._rate_hz = device, settings.rate_hz
        if warning and self._on_fault:
            self._on_fault(warning)
        return settings.rate_hz

    async def open(self, renderer: Renderer) -> DeviceOpened:
        """Start pulling from ``renderer``. Raises ``SoundError``: it does not open, or pulls nothing within 2 s."""
        if self._device is None:
            await self.prepare()
        device = self._device
        assert device is not None
        if renderer.rate_hz != self._rate_hz:
            raise SoundError(f"the speaker '{device.name}' runs at {self._rate_hz} Hz, the renderer at {renderer.rate_hz} Hz")
        loop = asyncio.get_running_loop()
        self._closing = False
        settings, stream, playback = await call_apart(
            self._clock, OPEN_LIMIT_MS, f"the speaker '{device.name}'", lambda: self._start(device, renderer, loop)
        )
        self._stream, self._playback = stream, playback
        if not await self._first_calls(playback):
            await self.close()
            raise SoundError(
                f"the speaker '{device.name}' ({device.host}) opened, but took no sound for {START_LIMIT_MS / 1e3:g} s. "
                "Unplug it and plug it in again, or choose another: voicetui devices lists them."
            )
        self._watchdog = asyncio.create_task(self._watch(playback, device), name="speaker watchdog")
        return DeviceOpened(
            role="output",
            name=device.name,
            host=device.host,
            rate_hz=settings.rate_hz,
            channels=settings.channels,
            latency_ms=stream.latency * 1e3,
            clock=playback.timer.source,
        )

    async def close(self) -> None:
        """Stop. Idempotent; gives up on a driver that hangs."""
        self._closing = True
        if self._watchdog:
            self._watchdog.cancel()
            self._watchdog = None
        stream, self._stream = self._stream, None
        if stream is not None:
            with suppress(Exception):
                await call_apart(self._clock, CLOSE_LIMIT_MS, "the speaker", lambda: _stop(stream))

    def _settle(self) -> tuple[Device, StreamSettings, str]:
        choice = choose("output", self._wanted, self._backend)
        settings, _ = settle_on(self._backend, "output", choice.device, self._latency_ms / 1e3, lambda _: None)
        return choice.device, settings, choice.warning

    def _start(
        self, device: Device, renderer: Renderer, loop: asyncio.AbstractEventLoop
    ) -> tuple[StreamSettings, Stream, _Playback]:
        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._awake.set)

        def finished() -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._finished, device)

        def use(settings: StreamSettings) -> tuple[Stream, _Playback]:
            playback = _Playback(self._clock, settings, renderer, wake)
            stream = self._backend.open("output", settings, playback, finished)
            try:
                playback.reported(settings.rate_hz, stream.latency * 1e3)
                stream.start()
            except Exception:
                stream.close()
                raise
            return stream, playback

        settings, (stream, playback) = settle_on(
            self._backend, "output", device, self._latency_ms / 1e3, use, self._rate_hz
        )
        return settings, stream, playback

    def _finished(self, device: Device) -> None:
        if not self._closing:
            self._lose(device, "stopped by itself")

    def _lose(self, device: Device, what: str) -> None:
        self._closing = True
        if self._on_lost:
            self._on_lost(
                f"output lost: the speaker '{device.name}' {what}. Plug it in again, or choose another (voicetui devices lists them)."
            )

    async def _first_calls(self, playback: _Playback) -> bool:
        limit = asyncio.ensure_future(self._clock.sleep_until(self._clock.now_ms() + START_LIMIT_MS))
        try:
            while playback.calls < _SETTLING and not limit.done():
                self._awake.clear()
                if playback.calls >= _SETTLING:
                    break
                woken = asyncio.ensure_future(self._awake.wait())
                await asyncio.wait((woken, limit), return_when=asyncio.FIRST_COMPLETED)
                woken.cancel()
        finally:
            limit.cancel()
        return playback.calls > 0

    async def _watch(self, playback: _Playback, device: Device) -> None:
        while not self._closing:
            last_ms = playback.last_ms
            await self._clock.sleep_until(last_ms + LOST_AFTER_MS)
            if self._closing:
                return
            if playback.error is not None:
                self._lose(device, f"got no sound from the program: {playback.error!r}")
            elif playback.last_ms == last_ms:
                self._lose(device, f"has taken nothing for {LOST_AFTER_MS / 1e3:g} s")


def _stop(stream: Stream) -> None:
    try:
        stream.abort()
    finally:
        stream.close()


class NullSpeaker:
    """A ``ports.Speaker`` that is only a clock: renders 10 ms blocks a little ahead of their time, and throws them away.

    Late blocks are caught up with while their time is still to come; blocks whose time is over are skipped, as a device that ran dry would.
    """

    def __init__(self, clock: Clock, rate_hz: int = RATE_HZ, latency_ms: float = 30.0, name: str = "null") -> None:
        """``latency_ms`` is how far ahead of its time a block is rendered."""
        self._clock = clock
        self._rate_hz = rate_hz
        self._latency_ms = latency_ms
        self._name = name
        self._task: asyncio.Task[None] | None = None
        self.underflows = 0

    async def prepare(self) -> int:
        """The rate in Hz that was asked for."""
        return self._rate_hz

    async def open(self, renderer: Renderer) -> DeviceOpened:
        """Start pulling from ``renderer``."""
        await self.close()
        self._task = asyncio.create_task(self._run(renderer), name="null speaker")
        return DeviceOpened(
            role="output",
            name=self._name,
            host="paced",
            rate_hz=self._rate_hz,
            channels=1,
            latency_ms=self._latency_ms,
            clock="paced",
        )

    async def close(self) -> None:
        """Stop. Idempotent."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _run(self, renderer: Renderer) -> None:
        first_ms = self._clock.now_ms() + self._latency_ms
        out: PcmFloat = np.zeros(round(self._rate_hz * _PACE_MS / 1e3), np.float32)
        number = 0
        while True:
            dac_ms = first_ms + number * _PACE_MS
            await self._clock.sleep_until(dac_ms - self._latency_ms)
            over_ms = self._clock.now_ms() - dac_ms
            if over_ms > 0:
                self.underflows += 1
                renderer.underflow()
                number += math.ceil(over_ms / _PACE_MS)
                continue
            renderer.render(out, dac_ms)
            number += 1
