"""Microphones: the device, and a scripted person with a clock.

The PortAudio callback copies into a preallocated ring and preallocated stamps, and wakes the loop. Everything else
(rates, times, losses, watching the sound) is done on the loop.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from voicetui.events.sound import DeviceOpened
from voicetui.ports import RATE_HZ, Block, Clock, Pcm16, PcmFloat, SoundError
from voicetui.sound.devices import Backend, PortAudio, SavedDevice, StreamSettings
from voicetui.sound.rates import ResampleStream, resampled_count, to_int16
from voicetui.sound.stream import LiveStream, SoundWatch
from voicetui.sound.timing import InputTimer, Source, stamp_lead_ms

LATENCY_MS: Final = 25.0
"""The latency asked of the device."""

_PROOF: Final = 5
"""So many plausible stamps in a row mean that the device has them."""
_RING_S: Final = 4.0
_STAMPS: Final = 8_192
_LEAST: Final = RATE_HZ // 100
_MOST: Final = RATE_HZ // 25
"""A block's least and greatest length in samples: 10 and 40 ms."""
_PACE_MS: Final = 10.0
_PACE: Final = RATE_HZ // 100
_SEAM: Final = RATE_HZ // 100
"""In so many samples a room gives way to a clip from it, and comes back."""


class Capture:
    """What the callback fills: float32 [capacity, channels] frames, and a stamp for each callback.

    One writer (the audio thread), one reader (the loop). ``frames`` and ``calls`` only grow, and are written last.
    """

    def __init__(self, clock: Clock, settings: StreamSettings, wake: Callable[[], None]) -> None:
        self._clock = clock
        self._wake = wake
        self.rate_hz = settings.rate_hz
        self.block_ms = settings.blocksize / settings.rate_hz * 1e3
        self.latency_ms = 0.0
        self.capacity = round(settings.rate_hz * _RING_S)
        self.ring: NDArray[np.float32] = np.zeros((self.capacity, settings.channels), np.float32)
        self.starts: NDArray[np.int64] = np.zeros(_STAMPS, np.int64)
        self.counts: NDArray[np.int64] = np.zeros(_STAMPS, np.int64)
        self.called_ms: NDArray[np.float64] = np.zeros(_STAMPS, np.float64)
        self.leads_ms: NDArray[np.float64] = np.zeros(_STAMPS, np.float64)
        self.overflowed: NDArray[np.bool_] = np.zeros(_STAMPS, np.bool_)
        self.frames = 0
        self.calls = 0
        self.last_ms = -math.inf

    @property
    def source(self) -> Source:
        """Whether the newest callbacks had plausible stamps."""
        newest = np.arange(max(0, self.calls - _PROOF), self.calls) % _STAMPS
        return "stream" if len(newest) == _PROOF and not np.isnan(self.leads_ms[newest]).any() else "counted"

    def opened(self, latency_ms: float) -> None:
        """The stream's reported latency."""
        self.latency_ms = latency_ms

    def __call__(self, data: NDArray[np.float32], frames: int, times: Any, status: Any) -> None:
        """PortAudio's callback."""
        now_ms = self._clock.now_ms()
        place = self.calls % _STAMPS
        self.starts[place] = self.frames
        self.counts[place] = frames
        self.called_ms[place] = now_ms
        self.leads_ms[place] = stamp_lead_ms(times.currentTime, times.inputBufferAdcTime)
        self.overflowed[place] = status.input_overflow
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
        """float32 [count] mono (channels averaged) from frame ``start`` on; what is no number is silence."""
        first = start % self.capacity
        head = min(count, self.capacity - first)
        found = np.concatenate((self.ring[first : first + head], self.ring[: count - head]))
        np.nan_to_num(found, copy=False, posinf=1.0, neginf=-1.0)
        return found[:, 0] if found.shape[1] == 1 else found.mean(axis=1, dtype=np.float32)

    def oldest_call(self) -> int:
        """The oldest callback whose sound will stay in the ring for another while."""
        call = self.calls
        newest = self.frames
        while call > max(0, self.calls - _STAMPS // 2):
            if newest - int(self.starts[(call - 1) % _STAMPS]) > self.capacity // 2:
                break
            call -= 1
        return call


class DeviceMicrophone:
    """A ``ports.Microphone`` on a sound device."""

    def __init__(
        self,
        clock: Clock,
        wanted: SavedDevice | str | None = None,
        *,
        backend: Backend | None = None,
        on_fault: Callable[[str], None] | None = None,
        first_sample: int = 0,
        latency_ms: float = LATENCY_MS,
    ) -> None:
        """``first_sample`` is where the microphone track stands, when a lost device is opened again.

        ``on_fault`` gets a sentence when the device is not exactly the one that was saved, or falls silent.
        """
        self._clock = clock
        self._wanted = wanted
        self._backend = backend or PortAudio()
        self._on_fault = on_fault
        self._first_sample = first_sample
        self._latency_ms = latency_ms
        self._live: LiveStream | None = None
        self._reader: _Reader | None = None
        self._watch: SoundWatch | None = None

    @property
    def overflows(self) -> int:
        """How many times the device said that it lost sound."""
        return self._reader.overflows if self._reader else 0

    async def open(self) -> DeviceOpened:
        """Start delivering. Raises ``SoundError``: no such device, busy, no rate it accepts, no sound within 2 s."""
        await self.close()
        live = self._live = LiveStream(self._clock, self._backend, "input")
        choice = await live.choose(self._wanted)
        if choice.warning and self._on_fault:
            self._on_fault(choice.warning)
        capture, opened = await live.open(choice.device, self._latency_ms, partial(Capture, self._clock))
        self._watch = SoundWatch(capture.rate_hz, opened.name, self._on_fault)
        self._reader = _Reader(capture, self._first_sample, self._watch)
        return opened

    async def blocks(self) -> AsyncIterator[Block]:
        """10-40 ms blocks. Raises ``SoundError`` when the device is lost or frozen; ends after ``close``."""
        live, reader, watch = self._live, self._reader, self._watch
        if live is None or reader is None or watch is None:
            raise SoundError("the microphone is not open")
        while not live.closed:
            for block in reader.take():
                yield block
            if watch.frozen:
                live.lose(watch.frozen)
            if live.loss:
                raise SoundError(live.loss)
            await live.wait()

    async def close(self) -> None:
        """Stop. Idempotent; gives up on a driver that hangs."""
        if self._live is not None:
            await self._live.close()


class _Reader:
    """From callbacks to blocks: mono, 16 kHz, numbered, timed, losses found."""

    def __init__(self, capture: Capture, first_sample: int, watch: SoundWatch) -> None:
        self._capture = capture
        self._watch = watch
        self._rate_hz = capture.rate_hz
        self._timer = InputTimer(capture.rate_hz, max(capture.latency_ms, capture.block_ms))
        self._resample = ResampleStream(capture.rate_hz)
        self.overflows = 0
        self._calls = 0
        self._frames = 0
        self._segment = (0, first_sample)
        """(frame, sample) from which on frames and samples run in step."""
        self._sample = first_sample
        self._lost = 0
        self._made: list[PcmFloat] = []
        self._made_samples = 0
        self._blocks: list[Block] = []

    def take(self) -> list[Block]:
        """Blocks of all callbacks since the last time."""
        capture = self._capture
        behind = capture.frames - self._frames > capture.capacity * 3 // 4
        if behind or capture.calls - self._calls > _STAMPS * 3 // 4:
            self._skip_to(capture.oldest_call())
        while self._calls < capture.calls:
            self._take_call(self._calls % _STAMPS)
            self._calls += 1
        blocks, self._blocks = self._blocks, []
        return blocks

    def _take_call(self, place: int) -> None:
        capture = self._capture
        start, count = int(capture.starts[place]), int(capture.counts[place])
        called_ms, overflowed = float(capture.called_ms[place]), bool(capture.overflowed[place])
        self.overflows += overflowed
        lost_ms = self._timer.time(start, count, called_ms, float(capture.leads_ms[place]), overflowed)
        if lost_ms > 0:
            self._lose(start, round(lost_ms * RATE_HZ / 1e3), lost_ms)
        mono = capture.read(start, count)
        self._watch.look(mono)
        self._add(self._resample.feed(mono))
        self._emit(_LEAST)
        self._frames = start + count

    def _skip_to(self, call: int) -> None:
        """The loop was away for so long that the ring was overwritten: frames are missing, but they were counted."""
        start = int(self._capture.starts[call % _STAMPS]) if call < self._capture.calls else self._capture.frames
        self._lose(start, resampled_count(start - self._frames, self._rate_hz, RATE_HZ), 0.0)
        self._calls, self._frames = call, start

    def _lose(self, frame: int, samples: int, back_ms: float) -> None:
        """``samples`` are missing before ``frame``: hand out what was before, go on after them."""
        self._add(self._resample.flush())
        self._emit(1, back_ms)
        self._lost += samples
        self._sample += samples
        self._segment = (frame, self._sample)

    def _add(self, made: PcmFloat) -> None:
        self._made.append(made)
        self._made_samples += len(made)

    def _emit(self, least: int, back_ms: float = 0.0) -> None:
        """Make blocks of what there is, if that is at least ``least`` samples; it was ``back_ms`` before the line."""
        if self._made_samples < least:
            return
        samples = to_int16(np.concatenate(self._made))
        self._made.clear()
        self._made_samples = 0
        for piece in np.array_split(samples, math.ceil(len(samples) / _MOST)):
            frame = self._segment[0] + (self._sample - self._segment[1]) * self._rate_hz / RATE_HZ
            self._blocks.append(Block(piece, self._sample, self._timer.at_ms(frame) - back_ms, self._lost))
            self._sample += len(piece)
            self._lost = 0


class FileMicrophone:
    """A ``ports.Microphone`` without hardware: a room with a little noise, and clips mixed in as a person says them.

    Paced by the clock in 10 ms blocks, like a device: a block comes when its last sample is over. When the loop is late
    the blocks come in a burst; no time is lost, and clips stand where they were asked for, to the sample.
    """

    def __init__(
        self,
        clock: Clock,
        clips: Sequence[tuple[float, Pcm16]] = (),
        *,
        noise_dbfs: float | None = -70.0,
        room: Pcm16 | None = None,
        seed: int = 1,
        name: str = "file",
    ) -> None:
        """``clips``: (ms after opening, int16 [n] 16 kHz). ``noise_dbfs``: the room's, None for digital silence.

        ``room``, int16 [n], is heard over and over instead of that noise where no clip is: a clip from the same room
        brings its own, and takes its place.
        """
        self._clock = clock
        self._name = name
        self._first = [(round(after_ms * RATE_HZ / 1e3), samples) for after_ms, samples in clips]
        self._clips: list[tuple[int, Pcm16]] = []
        self._random = np.random.default_rng(seed)
        self._noise = 0.0 if noise_dbfs is None else 32768 * 10 ** (noise_dbfs / 20)
        self._room = room
        self._origin_ms: float | None = None
        self._sample = 0
        self._end: int | None = None

    async def open(self) -> DeviceOpened:
        """Start the room: sample 0 is now."""
        if self._origin_ms is None:
            self._origin_ms = self._clock.now_ms()
            self._clips.extend(self._first)
        return DeviceOpened(
            role="input",
            name=self._name,
            host="paced",
            rate_hz=RATE_HZ,
            channels=1,
            latency_ms=_PACE_MS,
            clock="paced",
        )

    def play(self, samples: Pcm16, at_ms: float | None = None) -> float:
        """Mix in int16 [n] 16 kHz from now on, or from ``at_ms`` on the session clock if that is not over yet.

        Returns the ms at which its first sample is at the ADC. Raises ``SoundError`` before ``open``.
        """
        start = max(self._sample, self._sample_at(at_ms))
        self._clips.append((start, samples))
        return self._opened_ms() + start * 1e3 / RATE_HZ

    def end(self, at_ms: float | None = None) -> None:
        """End the stream at ``at_ms``, or now, on a block's edge. What is not played by then is not played.

        Raises ``SoundError`` before ``open``.
        """
        self._end = self._sample_at(at_ms)

    async def blocks(self) -> AsyncIterator[Block]:
        """10 ms blocks until ``end``. Raises ``SoundError`` before ``open``."""
        origin_ms = self._opened_ms()
        while True:
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

    def _quiet(self, first: int) -> NDArray[np.float64]:
        """float64 [10 ms] of the room from sample ``first`` on, where nobody speaks."""
        if self._room is None:
            return self._random.standard_normal(_PACE) * self._noise
        if not len(self._room):
            return np.zeros(_PACE)
        return self._room.take(np.arange(first, first + _PACE), mode="wrap").astype(np.float64)

    def _opened_ms(self) -> float:
        if self._origin_ms is None:
            raise SoundError("the file microphone is not open")
        return self._origin_ms

    def _sample_at(self, at_ms: float | None) -> int:
        """The first sample at or after ``at_ms`` (None: now)."""
        after_ms = (self._clock.now_ms() if at_ms is None else at_ms) - self._opened_ms()
        return math.ceil(after_ms * RATE_HZ / 1e3 - 1e-6)

    def _mix(self) -> Pcm16:
        first, last = self._sample, self._sample + _PACE
        mixed = self._quiet(first)
        for start, samples in self._clips:
            head, tail = max(first, start), min(last, start + len(samples))
            if head < tail:
                place = np.arange(head - start, tail - start)
                part = mixed[head - first : tail - first]
                if self._room is not None:
                    part *= 1 - np.clip(np.minimum(place + 1, len(samples) - place) / _SEAM, 0.0, 1.0)
                part += samples[place]
        self._clips = [clip for clip in self._clips if clip[0] + len(clip[1]) > last]
        return np.clip(np.rint(mixed), -32768, 32767).astype(np.int16)
