"""Speakers: the device, and one that is only a clock. Both pull from a ``ports.Renderer`` and say when it is heard."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from voicetui.events.sound import DeviceOpened
from voicetui.ports import RATE_HZ, Clock, PcmFloat, Renderer, SoundError
from voicetui.sound.devices import Backend, Device, PortAudio, SavedDevice, StreamSettings
from voicetui.sound.stream import LiveStream
from voicetui.sound.timing import OutputTimer, Source, stamp_lead_ms

LATENCY_MS: Final = 35.0
"""The latency asked of the device: at 30 a busy two-core machine still runs dry."""

_LONGEST: Final = 8_192
"""Frames that are rendered at once, at most."""
_PACE_MS: Final = 10.0


class Playback:
    """What PortAudio's output callback does: render mono float32, copy it to every channel, count."""

    def __init__(self, clock: Clock, renderer: Renderer, settings: StreamSettings, wake: Callable[[], None]) -> None:
        self._clock = clock
        self._renderer = renderer
        self._wake = wake
        self._rate_hz = settings.rate_hz
        self._mono: PcmFloat = np.zeros(_LONGEST, np.float32)
        self._timer = OutputTimer(settings.rate_hz, 0.0)
        self.underflows = 0
        self.frames = 0
        self.calls = 0
        self.last_ms = -math.inf

    @property
    def source(self) -> Source:
        """Where the DAC times come from."""
        return self._timer.source

    def opened(self, latency_ms: float) -> None:
        """The stream's reported latency, to go by where there are no stamps."""
        self._timer = OutputTimer(self._rate_hz, latency_ms)

    def __call__(self, data: NDArray[np.float32], frames: int, times: Any, status: Any) -> None:
        """PortAudio's callback."""
        now_ms = self._clock.now_ms()
        dry = bool(status.output_underflow)
        if dry:
            self.underflows += 1
            self._renderer.underflow()
        lead_ms = stamp_lead_ms(times.currentTime, times.outputBufferDacTime)
        dac_ms = self._timer.time(self.frames, frames, now_ms, lead_ms, dry)
        for first in range(0, frames, _LONGEST):
            mono = self._mono[: min(_LONGEST, frames - first)]
            self._renderer.render(mono, dac_ms + first * 1e3 / self._rate_hz)
            data[first : first + len(mono)] = mono[:, None]
        self.last_ms = now_ms
        self.frames += frames
        self.calls += 1
        if self.calls <= _WAKING_CALLS:
            self._wake()


_WAKING_CALLS: Final = 4
"""The loop waits only for the first callbacks."""


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
        """``on_lost`` gets a sentence, once, when the device stops; ``on_fault`` when it is not just the saved one."""
        self._clock = clock
        self._wanted = wanted
        self._backend = backend or PortAudio()
        self._on_lost = on_lost
        self._on_fault = on_fault
        self._latency_ms = latency_ms
        self._live: LiveStream | None = None
        self._found: tuple[Device, int] | None = None
        self._playback: Playback | None = None

    @property
    def underflows(self) -> int:
        """How many times the device said that it ran dry."""
        return self._playback.underflows if self._playback else 0

    async def prepare(self) -> int:
        """Choose the device; its rate in Hz. Raises ``SoundError``: no such device, busy, no rate it accepts."""
        await self.close()
        self._live = LiveStream(self._clock, self._backend, "output", self._on_lost)
        choice = await self._live.choose(self._wanted)
        rate_hz = await self._live.rate_hz(choice.device, self._latency_ms)
        self._found = (choice.device, rate_hz)
        if choice.warning and self._on_fault:
            self._on_fault(choice.warning)
        return rate_hz

    async def open(self, renderer: Renderer) -> DeviceOpened:
        """Start pulling from ``renderer``. Raises ``SoundError``: it does not open, or takes nothing within 2 s."""
        if self._live is None or self._live.closed:
            await self.prepare()
        if self._live is None or self._found is None:
            raise SoundError("no speaker was chosen")
        device, rate_hz = self._found
        if renderer.rate_hz != rate_hz:
            raise SoundError(f"the speaker '{device.name}' runs at {rate_hz} Hz, its renderer at {renderer.rate_hz} Hz")
        self._playback, opened = await self._live.open(
            device,
            self._latency_ms,
            partial(Playback, self._clock, renderer),
            rate_hz,
        )
        return opened

    async def close(self) -> None:
        """Stop. Idempotent; gives up on a driver that hangs."""
        if self._live is not None:
            await self._live.close()


class NullSpeaker:
    """A ``ports.Speaker`` that is only a clock: it renders 10 ms blocks a little ahead of their time, and drops them.

    It catches up with late blocks while their time is still to come. Blocks whose time is over are skipped, as in a
    device that ran dry.
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
        out: PcmFloat = np.zeros(max(1, round(self._rate_hz * _PACE_MS / 1e3)), np.float32)
        block_ms = len(out) * 1e3 / self._rate_hz
        number = 0
        while True:
            dac_ms = first_ms + number * block_ms
            await self._clock.sleep_until(dac_ms - self._latency_ms)
            over_ms = self._clock.now_ms() - dac_ms
            if over_ms > 0:
                self.underflows += 1
                renderer.underflow()
                number += math.ceil(over_ms / block_ms)
                continue
            renderer.render(out, dac_ms)
            number += 1
