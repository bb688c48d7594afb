"""Microphones: the device, and a scripted person with a clock.

The PortAudio callback copies into a preallocated ring and preallocated stamps, and wakes the loop. Everything else (rates, times, losses,
watching) is done on the loop.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voicetui.events.sound import DeviceOpened
from voicetui.ports import RATE_HZ, Block, Clock, Pcm16, PcmFloat, SoundError
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
from voicetui.sound.rates import ResampleStream, to_int16
from voicetui.sound.track import StreamTimer, stamp_lead_ms

FaultReport: TypeAlias = Callable[[str], None]
"""Gets a sentence for a person about a device that misbehaves but goes on."""

LATENCY_MS: Final = 25.0
START_LIMIT_MS: Final = 2_000.0
LOST_AFTER_MS: Final = 900.0
FROZEN_AFTER_MS: Final = 1_000.0
SILENT_AFTER_MS: Final = 3_000.0
OPEN_LIMIT_MS: Final = 8_000.0
CLOSE_LIMIT_MS: Final = 1_000.0

_RING_S: Final = 4.0
_STAMPS: Final = 8_192
_SETTLING: Final = 3
"""Callbacks to see before saying where the times come from."""
_LEAST: Final = RATE_HZ // 100
_MOST: Final = RATE_HZ // 25
"""A block's least and greatest length in samples: 10 and 40 ms."""


class Capture:
    """What the callback fills: float32 [capacity, channels] frames and a stamp for each callback.

    One writer (the audio thread), one reader (the loop). ``frames`` and ``calls`` only ever grow and are written last.
    """

    def __init__(self, clock: Clock, settings: StreamSettings, wake: Callable[[], None]) -> None:
        self._clock = clock
        self._wake = wake
        self.capacity = round(settings.rate_hz * _RING_S)
        self.ring: NDArray[np.float32] = np.zeros((self.capacity, settings.channels), np.float32)
        self.starts = np.zeros(_STAMPS, np.int64)
        self.counts = np.zeros(_STAMPS, np.int64)
        self.called_ms = np.zeros(_STAMPS, np.float64)
        self.leads_ms = np.zeros(_STAMPS, np.float64)
        self.overflowed = np.zeros(_STAMPS, np.bool_)
        self.frames = 0
        self.calls = 0
        self.last_ms = -math.inf

    def __call__(self, data: NDArray[np.float32], frames: int, times: Any, status: Any) -> None:
        """PortAudio's callback."""
        now_ms = self._clock.now_ms()
        place = self.calls % _STAMPS
        self.starts[place] = self.frames
        self.counts[place] = frames
        self.called_ms[place] = now_ms
        self.leads_ms[place] = stamp_lead_ms(times.currentTime, times.inputBufferAdcTime)
        self.overflowed[place] = bool(status.input_overflow)
        first = self.frames % self.capacity
        head = min(frames, self.capacity - first)
        self.ring[first : first + head] = data[:head]
        if head < frames:
            self.ring[: frames - head] = data[head:frames]
        self.last_ms = now_ms
        self.frames += frames
        self.calls += 1
        self._wake()

    def read(self, start: int, count: int) -> PcmFloat:
        """float32 [count] mono (channels averaged) from frame ``start`` on."""
        first = start % self.capacity
        head = min(count, self.capacity - first)
        parts = (self.ring[first : first + head], self.ring[: count - head])
        found = np.concatenate(parts) if head < count else parts[0]
        return found[:, 0].copy() if found.shape[1] == 1 else found.mean(axis=1, dtype=np.float32)


class Watch:
    """Notices a device that goes on calling but delivers nothing new: one block for ever, or nothing but one value."""

    def __init__(self, rate_hz: int, name: str, on_fault: FaultReport | None) -> None:
        self._ms_per_frame = 1e3 / rate_hz
        self._name = name
        self._on_fault = on_fault
        self._last: PcmFloat = np.zeros(0, np.float32)
        self._same_ms = 0.0
        self._silent_ms = 0.0
        self.frozen = False

    def look(self, block: PcmFloat) -> None:
        """Look at the next callback's float32 [n]."""
        block_ms = len(block) * self._ms_per_frame
        if len(block) == 0:
            return
        if block.min() == block.max():
            before_ms, self._silent_ms = self._silent_ms, self._silent_ms + block_ms
            if before_ms <= SILENT_AFTER_MS < self._silent_ms and self._on_fault:
                self._on_fault(
                    f"input silent: the microphone '{self._name}' has sent nothing but zeros for {SILENT_AFTER_MS / 1e3:g} s. "
                    "Is it muted, or is the program not allowed to use it?"
                )
            self._same_ms = 0.0
        else:
            self._silent_ms = 0.0
            same = np.array_equal(block, self._last)
            self._same_ms = self._same_ms + block_ms if same else 0.0
            if self._same_ms >= FROZEN_AFTER_MS:
                # A pure tone from another program can fit the block exactly: it repeats inside it, too.
                self.frozen = not _repeats_inside(block)
                self._same_ms = 0.0
        self._last = block


def _repeats_inside(block: PcmFloat) -> bool:
    length = len(block)
    return any(
        length % period == 0 and np.array_equal(block[period:], block[:-period]) for period in range(1, length // 2 + 1)
    )


class DeviceMicrophone:
    """A ``ports.Microphone`` on a sound device."""

    def __init__(
        self,
        clock: Clock,
        wanted: SavedDevice | str | None = None,
        *,
        backend: Backend | None = None,
        on_fault: FaultReport | None = None,
        first_sample: int = 0,
        latency_ms: float = LATENCY_MS,
    ) -> None:
        """``first_sample`` is where the microphone track stands, when a lost device is opened again.

        ``on_fault`` gets a sentence when the device only sends zeros, or is not exactly the one that was saved.
        """
        self._clock = clock
        self._wanted = wanted
        self._backend = backend or PortAudio()
        self._on_fault = on_fault
        self._latency_ms = latency_ms
        self._stream: Stream | None = None
        self._capture: Capture | None = None
        self._reader: _Reader | None = None
        self._awake = asyncio.Event()
        self._pending = False
        self._loss = ""
        self._closed = False
        self._watchdog: asyncio.Task[None] | None = None
        self._first_sample = first_sample

    @property
    def overflows(self) -> int:
        """How many times the device said that it lost sound."""
        return self._reader.overflows if self._reader else 0

    async def open(self) -> DeviceOpened:
        """Start delivering. Raises ``SoundError``: no such device, busy, no rate it accepts, no sound within 2 s."""
        loop = asyncio.get_running_loop()
        self._closed = False
        opened = await call_apart(self._clock, OPEN_LIMIT_MS, "the microphone", lambda: self._start(loop))
        device, settings, stream, capture = opened
        self._stream, self._capture = stream, capture
        self._reader = _Reader(capture, settings, stream.latency * 1e3, self._first_sample, Watch(settings.rate_hz, device.name, self._on_fault))
        if not await self._first_calls(capture):
            await self.close()
            raise SoundError(
                f"the microphone '{device.name}' ({device.host}) opened, but sent nothing for {START_LIMIT_MS / 1e3:g} s. "
                "Unplug it and plug it in again, or choose another: voicetui devices lists them."
            )
        self._reader.take()
        self._name = device.name
        self._watchdog = asyncio.create_task(self._watch(capture), name="microphone watchdog")
        return DeviceOpened(
            role="input",
            name=device.name,
            host=device.host,
            rate_hz=settings.rate_hz,
            channels=settings.channels,
            latency_ms=stream.latency * 1e3,
            clock=self._reader.timer.source,
        )

    async def blocks(self) -> AsyncIterator[Block]:
        """10-40 ms blocks. Raises ``SoundError`` when the device is lost or frozen; ends after ``close``."""
        reader, capture = self._reader, self._capture
        if reader is None or capture is None:
            raise SoundError("the microphone is not open")
        while not self._closed:
            self._awake.clear()
            self._pending = False
            for block in reader.take():
                yield block
            if reader.watch.frozen:
                self._loss = (
                    f"input frozen: the microphone '{self._name}' repeats the same {FROZEN_AFTER_MS / 1e3:g} s of sound for ever. "
                    "Unplug it and plug it in again, or choose another."
                )
            if self._loss:
                raise SoundError(self._loss)
            await self._awake.wait()

    async def close(self) -> None:
        """Stop. Idempotent; gives up on a driver that hangs."""
        self._closed = True
        self._awake.set()
        if self._watchdog:
            self._watchdog.cancel()
            self._watchdog = None
        stream, self._stream = self._stream, None
        if stream is not None:
            with suppress(Exception):
                await call_apart(self._clock, CLOSE_LIMIT_MS, "the microphone", lambda: _stop(stream))

    def _start(self, loop: asyncio.AbstractEventLoop) -> tuple[Device, StreamSettings, Stream, Capture]:
        choice = choose("input", self._wanted, self._backend)
        if choice.warning and self._on_fault:
            loop.call_soon_threadsafe(self._on_fault, choice.warning)

        def wake() -> None:
            if not self._pending:
                self._pending = True
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(self._awake.set)

        def finished() -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._finished)

        def use(settings: StreamSettings) -> tuple[Stream, Capture]:
            capture = Capture(self._clock, settings, wake)
            stream = self._backend.open("input", settings, capture, finished)
            try:
                stream.start()
            except Exception:
                stream.close()
                raise
            return stream, capture

        settings, (stream, capture) = settle_on(self._backend, "input", choice.device, self._latency_ms / 1e3, use)
        return choice.device, settings, stream, capture

    def _finished(self) -> None:
        if not self._closed and not self._loss:
            self._loss = self._lost_message("stopped by itself")
            self._awake.set()

    async def _first_calls(self, capture: Capture) -> bool:
        limit = asyncio.ensure_future(self._clock.sleep_until(self._clock.now_ms() + START_LIMIT_MS))
        try:
            while capture.calls < _SETTLING and not limit.done():
                self._awake.clear()
                self._pending = False
                if capture.calls >= _SETTLING:
                    break
                woken = asyncio.ensure_future(self._awake.wait())
                await asyncio.wait((woken, limit), return_when=asyncio.FIRST_COMPLETED)
                woken.cancel()
        finally:
            limit.cancel()
        return capture.calls > 0

    async def _watch(self, capture: Capture) -> None:
        while True:
            last_ms = capture.last_ms
            await self._clock.sleep_until(last_ms + LOST_AFTER_MS)
            if capture.last_ms == last_ms:
                self._loss = self._loss or self._lost_message(f"has sent nothing for {LOST_AFTER_MS / 1e3:g} s")
                self._awake.set()
                return

    def _lost_message(self, what: str) -> str:
        return f"input lost: the microphone '{self._name}' {what}. Plug it in again, or choose another (voicetui devices lists them)."


def _stop(stream: Stream) -> None:
    try:
        stream.abort()
    finally:
        stream.close()


class _Reader:
    """From callbacks to blocks: mono, 16 kHz, numbered, timed, losses found."""

    def __init__(self, capture: Capture, settings: StreamSettings, latency_ms: float, first_sample: int, watch: Watch) -> None:
        self._capture = capture
        self._rate_hz = settings.rate_hz
        block_ms = settings.blocksize / settings.rate_hz * 1e3
        self.timer = StreamTimer(settings.rate_hz, -max(latency_ms, block_ms))
        self._counted = StreamTimer(settings.rate_hz, 0.0)
        self.watch = watch
        self.overflows = 0
        self._calls = 0
        self._frames = 0
        self._resample = ResampleStream(settings.rate_hz)
        self._segment_sample = first_sample
        self._segment_frame = 0
        self._sample = first_sample
        self._made: list[PcmFloat] = []
        self._made_samples = 0
        self._lost = 0
        self._flagged_ms = 0.0
        self._blocks: list[Block] = []

    def take(self) -> list[Block]:
        """Blocks of all callbacks since the last time."""
        capture = self._capture
        calls = capture.calls
        if calls - self._calls > _STAMPS // 2 or capture.frames - self._frames > capture.capacity * 3 // 4:
            self._skip_to(max(self._calls, calls - 2))
        while self._calls < calls:
            place = self._calls % _STAMPS
            start, count = int(capture.starts[place]), int(capture.counts[place])
            self._one(start, count, float(capture.called_ms[place]), float(capture.leads_ms[place]), bool(capture.overflowed[place]))
            self._calls += 1
            self._frames = start + count
        blocks, self._blocks = self._blocks, []
        return blocks

    def _one(self, start: int, count: int, called_ms: float, lead_ms: float, overflowed: bool) -> None:
        mono = self._capture.read(start, count)
        self.watch.look(mono)
        self.overflows += overflowed
        self._flagged_ms = 1_000.0 if overflowed else max(0.0, self._flagged_ms - count / self._rate_hz * 1e3)
        self._counted.time(start, count, called_ms, math.nan)
        late_ms = max(self._counted.late_ms, self._counted.step_ms)
        self.timer.time(start, count, called_ms, lead_ms, overflowed)
        step_ms = self.timer.step_ms
        if step_ms > 0 and (self._flagged_ms > 0 or self.timer.source == "counted" or late_ms >= step_ms / 2):
            self._lose(start, round(step_ms / 1e3 * RATE_HZ))
        self._add(self._resample.feed(mono))

    def _skip_to(self, call: int) -> None:
        """The loop was away for so long that the ring was overwritten."""
        start = int(self._capture.starts[call % _STAMPS])
        missed = start - self._frames
        self._lose(start, round(missed / self._rate_hz * RATE_HZ))
        self._calls, self._frames = call, start

    def _lose(self, frame: int, samples: int) -> None:
        """``samples`` are missing before ``frame``: hand out what was before, go on after them."""
        self._add(self._resample.flush())
        self._emit(1)
        self._lost += samples
        self._sample += samples
        self._segment_sample = self._sample
        self._segment_frame = frame

    def _add(self, made: PcmFloat) -> None:
        self._made.append(made)
        self._made_samples += len(made)
        self._emit(_LEAST)

    def _emit(self, least: int) -> None:
        if self._made_samples < least:
            return
        samples = to_int16(np.concatenate(self._made))
        self._made.clear()
        self._made_samples = 0
        pieces = math.ceil(len(samples) / _MOST)
        for piece in np.array_split(samples, pieces):
            frame = self._segment_frame + (self._sample - self._segment_sample) * self._rate_hz / RATE_HZ
            self._blocks.append(Block(piece, self._sample, self.timer.at_ms(frame), self._lost))
            self._sample += len(piece)
            self._lost = 0


class FileMicrophone:
    """A ``ports.Microphone`` without hardware: a room with a little noise, and clips mixed in as a scripted person says them.

    Paced by the clock in 20 ms blocks: a block comes when its last sample is over. When the loop is late the blocks come in a burst; no
    time is lost, and clips stand where they were asked for, to the sample.
    """

    def __init__(
        self, clock: Clock, clips: Sequence[tuple[float, Pcm16]] = (), *, noise_dbfs: float | None = -70.0, seed: int = 1, name: str = "file"
    ) -> None:
        """``clips``: (ms after opening, int16 [n] 16 kHz). ``noise_dbfs``: the room's level, None for digital silence."""
        self._clock = clock
        self._name = name
        self._first = [(round(after_ms * RATE_HZ / 1e3), samples) for after_ms, samples in clips]
        self._clips: deque[tuple[int, Pcm16]] = deque()
        self._random = np.random.default_rng(seed)
        self._noise = 0.0 if noise_dbfs is None else 32768 * 10 ** (noise_dbfs / 20)
        self._origin_ms: float | None = None
        self._sample = 0
        self._end: int | None = None

    async def open(self) -> DeviceOpened:
        """Start the room: sample 0 is now."""
        self._origin_ms = self._clock.now_ms()
        self._clips.extend(self._first)
        return DeviceOpened(
            role="input", name=self._name, host="paced", rate_hz=RATE_HZ, channels=1, latency_ms=_PACE_MS, clock="paced"
        )

    def play(self, samples: Pcm16, at_ms: float | None = None) -> float:
        """Mix in int16 [n] 16 kHz now, or at ``at_ms`` on the session clock if that is not over. The ms its first sample is at the ADC.

        Raises ``SoundError`` before ``open``.
        """
        origin_ms = self._opened_ms()
        wanted_ms = self._clock.now_ms() if at_ms is None else at_ms
        start = max(self._sample, math.ceil((wanted_ms - origin_ms) * RATE_HZ / 1e3 - 1e-6))
        self._clips.append((start, samples))
        return origin_ms + start * 1e3 / RATE_HZ

    def end(self, at_ms: float | None = None) -> None:
        """End the stream at ``at_ms``, or now, on the next block's edge. Clips not played by then are not played."""
        self._end = round((self._clock.now_ms() if at_ms is None else at_ms) - self._opened_ms()) * RATE_HZ // 1000

    async def blocks(self) -> AsyncIterator[Block]:
        """20 ms blocks until ``end``."""
        origin_ms = self._opened_ms()
        while self._end is None or self._sample < self._end:
            await self._clock.sleep_until(origin_ms + (self._sample + _PACE) * 1e3 / RATE_HZ)
            if self._end is not None and self._sample >= self._end:
                return
            block = Block(self._mix(), self._sample, origin_ms + self._sample * 1e3 / RATE_HZ)
            self._sample += _PACE
            yield block

    async def close(self) -> None:
        """End the stream. Idempotent."""
        if self._origin_ms is not None:
            self._end = self._sample

    def _opened_ms(self) -> float:
        if self._origin_ms is None:
            raise SoundError("the file microphone is not open")
        return self._origin_ms

    def _mix(self) -> Pcm16:
        room = self._random.standard_normal(_PACE) * self._noise
        first, last = self._sample, self._sample + _PACE
        for start, samples in self._clips:
            head, tail = max(first, start), min(last, start + len(samples))
            if head < tail:
                room[head - first : tail - first] += samples[head - start : tail - start]
        self._clips = deque(clip for clip in self._clips if clip[0] + len(clip[1]) > last)
        return np.clip(np.rint(room), -32768, 32767).astype(np.int16)


_PACE_MS: Final = 20.0
_PACE: Final = RATE_HZ // 50
