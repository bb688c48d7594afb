"""A running device stream: opened apart from the loop, timed, watched, closed. Both directions are alike in this."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Literal, Protocol, TypeVar

import numpy as np

from voicetui.events.sound import DeviceOpened, Role
from voicetui.ports import Clock, PcmFloat, SoundError
from voicetui.sound.devices import Backend, Device, SavedDevice, Stream, StreamSettings, choose, settle_on

START_LIMIT_MS: Final = 2_000.0
"""A device that calls back later than this after opening does not work."""

LOST_AFTER_MS: Final = 900.0
"""A device that has not called back for so long is lost."""

FROZEN_AFTER_MS: Final = 1_000.0
SILENT_AFTER_MS: Final = 3_000.0
"""How long one block is repeated, or nothing but one value sent, before that is a fault."""

STAMP_LIMIT_MS: Final = 500.0
"""Buffer times further than this from the callback are not believed."""

_OPEN_LIMIT_MS: Final = 8_000.0
_CLOSE_LIMIT_MS: Final = 1_000.0
_SETTLED_CALLS: Final = 3
"""Callbacks to see before saying where the times come from."""

_JUMP_MS: Final = 12.0
"""A stamp further off the line than this does not move it, unless a whole run of stamps is."""
_RUN_CALLS: Final = 5
_STREAM_RUN_MS: Final = 60.0
_COUNTED_RUN_MS: Final = 400.0
"""How long such a run must last: stamps of the device are sure soon, late callbacks may still catch up."""
_GAIN: Final = 1 / 32
_RISE: Final = 1e-3
"""How fast a line of earliest callbacks may rise: the worst believable drift between clocks (1000 ppm)."""
_UNRELIABLE_CALLS: Final = 10
_RELIABLE_CALLS: Final = 50
"""Callbacks in a row without or with a plausible stamp after which the source of the times changes."""

_T = TypeVar("_T")


class Handler(Protocol):
    """What PortAudio calls back. ``calls`` and ``last_ms`` (session clock) tell that it does."""

    calls: int
    last_ms: float

    @property
    def source(self) -> Literal["stream", "counted"]:
        """Where its times come from."""

    def opened(self, latency_ms: float) -> None:
        """The stream is open, not yet started, and reports this latency."""

    def __call__(self, data: Any, frames: int, times: Any, status: Any) -> None:
        """PortAudio's callback."""


_H = TypeVar("_H", bound=Handler)


class LiveStream:
    """One stream on one device, from opening to closing.

    ``loss`` becomes a sentence when the device is lost, and ``on_lost`` gets it. The callback wakes :meth:`wait`.
    """

    def __init__(
        self, clock: Clock, backend: Backend, role: Role, on_lost: Callable[[str], None] | None = None
    ) -> None:
        self._clock = clock
        self._backend = backend
        self._role = role
        self._on_lost = on_lost
        self._what = "microphone" if role == "input" else "speaker"
        self._stream: Stream | None = None
        self._watchdog: asyncio.Task[None] | None = None
        self._awake = asyncio.Event()
        self._waking = False
        self._name = ""
        self.loss = ""
        self.closed = False

    async def find(self, wanted: SavedDevice | str | None, latency_ms: float) -> tuple[Device, int, str]:
        """The device, a rate in Hz it accepts, and a warning or "". Raises ``SoundError``."""

        def look() -> tuple[Device, int, str]:
            choice = choose(self._role, wanted, self._backend)
            settings, _ = settle_on(self._backend, self._role, choice.device, latency_ms / 1e3, lambda _: None)
            return choice.device, settings.rate_hz, choice.warning

        return await call_apart(self._clock, _OPEN_LIMIT_MS, f"the {self._what}", look)

    async def open(
        self,
        device: Device,
        latency_ms: float,
        make: Callable[[StreamSettings, Callable[[], None]], _H],
        rate_hz: int | None = None,
    ) -> tuple[_H, DeviceOpened]:
        """Open, start, and wait for the first callbacks. ``make(settings, wake)`` gives the handler to call back.

        Raises ``SoundError``: busy, nothing it accepts, no callback within 2 s.
        """
        loop = asyncio.get_running_loop()
        self._name = device.name

        def wake() -> None:
            if not self._waking:
                self._waking = True
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(self._awake.set)

        def finished() -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._lose, "stopped by itself")

        def use(settings: StreamSettings) -> tuple[Stream, _H]:
            handler = make(settings, wake)
            stream = self._backend.open(self._role, settings, handler, finished)
            try:
                handler.opened(stream.latency * 1e3)
                stream.start()
            except Exception:
                stream.close()
                raise
            return stream, handler

        settings, (stream, handler) = await call_apart(
            self._clock,
            _OPEN_LIMIT_MS,
            f"the {self._what} '{device.name}'",
            lambda: settle_on(self._backend, self._role, device, latency_ms / 1e3, use, rate_hz),
        )
        self._stream = stream
        await self._first_calls(handler)
        if handler.calls == 0:
            await self.close()
            raise SoundError(
                f"the {self._what} '{device.name}' ({device.host}) opened, but {self._passed} nothing for "
                f"{START_LIMIT_MS / 1e3:g} s. Unplug it and plug it in again, or choose another (voicetui devices)."
            )
        self._watchdog = asyncio.create_task(self._watch(handler), name=f"{self._what} watchdog")
        return handler, DeviceOpened(
            role=self._role,
            name=device.name,
            host=device.host,
            rate_hz=settings.rate_hz,
            channels=settings.channels,
            latency_ms=stream.latency * 1e3,
            clock=handler.source,
        )

    async def wait(self) -> None:
        """Return when there was a callback, a loss or the closing since the last return."""
        await self._awake.wait()
        self._waking = False
        self._awake.clear()

    def lose(self, message: str) -> None:
        """The device is of no use any more: ``message`` is the sentence for a person."""
        if not self.loss and not self.closed:
            self.loss = message
            self._awake.set()
            if self._on_lost:
                self._on_lost(message)

    async def close(self) -> None:
        """Stop. Idempotent; leaves a driver that hangs behind after 1 s."""
        self.closed = True
        self._awake.set()
        if self._watchdog:
            self._watchdog.cancel()
            self._watchdog = None
        stream, self._stream = self._stream, None
        if stream is not None:
            with suppress(Exception):  # a device that is gone may refuse even this
                await call_apart(self._clock, _CLOSE_LIMIT_MS, f"the {self._what}", lambda: _stop(stream))

    @property
    def _passed(self) -> str:
        return "sent" if self._role == "input" else "took"

    def _lose(self, what: str) -> None:
        self.lose(
            f"{self._role} lost: the {self._what} '{self._name}' {what}. "
            "Plug it in again, or choose another (voicetui devices lists them)."
        )

    async def _first_calls(self, handler: Handler) -> None:
        limit = asyncio.ensure_future(self._clock.sleep_until(self._clock.now_ms() + START_LIMIT_MS))
        while handler.calls < _SETTLED_CALLS and not limit.done() and not self.closed:
            woken = asyncio.ensure_future(self.wait())
            await asyncio.wait((woken, limit), return_when=asyncio.FIRST_COMPLETED)
            woken.cancel()
        limit.cancel()

    async def _watch(self, handler: Handler) -> None:
        while not self.loss:
            last_ms = handler.last_ms
            await self._clock.sleep_until(last_ms + LOST_AFTER_MS)
            if handler.last_ms == last_ms:
                self._lose(f"has {self._passed.replace('took', 'taken')} nothing for {LOST_AFTER_MS / 1e3:g} s")


def _stop(stream: Stream) -> None:
    try:
        stream.abort()
    finally:
        stream.close()


async def call_apart(clock: Clock, limit_ms: float, what: str, function: Callable[[], _T]) -> _T:
    """Run a blocking ``function`` on a thread of its own, left behind after ``limit_ms``: drivers do hang.

    Raises what ``function`` raises, or ``SoundError`` saying that ``what`` did not answer.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_T] = loop.create_future()

    def post(give: Callable[[Any], None], value: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(lambda: None if answer.done() else give(value))

    def run() -> None:
        try:
            value = function()
        except Exception as error:
            post(answer.set_exception, error)
        else:
            post(answer.set_result, value)

    threading.Thread(target=run, name="sound device", daemon=True).start()
    limit = asyncio.ensure_future(clock.sleep_until(clock.now_ms() + limit_ms))
    try:
        await asyncio.wait((answer, limit), return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
    finally:
        limit.cancel()
        answer.cancel()
    raise SoundError(f"{what} did not answer for {limit_ms / 1e3:g} s. Plug it in again, or choose another")


def stamp_lead_ms(current_s: float, buffer_s: float) -> float:
    """How far PortAudio's buffer time lies after its current time, in ms; NaN where the stamps are implausible.

    Only the difference is used: through ALSA's pulse plugin the current time is the wall clock. A buffer time of 0
    means "unknown".
    """
    lead_ms = (buffer_s - current_s) * 1e3
    return lead_ms if buffer_s > 0 and current_s > 0 and abs(lead_ms) <= STAMP_LIMIT_MS else math.nan


class StreamTimer:
    """When a device stream's frames are at the converter, smoothed over its callbacks.

    Numbers only, nothing that grows: it may run inside the audio callback. While the stamps are plausible a frame's
    time is callback time + lead (negative for an input). Without them it is callback time + the reported latency, and
    since a callback can only be late, the earliest ones count. Single bad stamps change nothing; a step is followed
    when it lasts.
    """

    def __init__(self, rate_hz: float, reported_lead_ms: float) -> None:
        """``reported_lead_ms``: the device's own latency, negative for an input."""
        self._ms_per_frame = 1e3 / rate_hz
        self._reported_lead_ms = reported_lead_ms
        self._base_ms = 0.0
        self._seen = 0
        self._missing = 0
        self._found = 0
        self._run = 0
        self._run_ms = 0.0
        self._run_least_ms = 0.0
        self.source: Literal["stream", "counted"] = "counted"
        """Where the times come from now."""
        self.step_ms = 0.0
        """How far the last call moved the line at once; 0 nearly always."""
        self.late_ms = 0.0
        """By how much at least all of the newest frames are late against the line; 0 nearly always."""

    def time(self, frame: int, frames: int, callback_ms: float, lead_ms: float, flagged: bool = False) -> float:
        """The converter time (session ms) of frame number ``frame``, the first of the ``frames`` of this callback.

        ``lead_ms`` is from :func:`stamp_lead_ms`. ``flagged``: the device reported a loss, so a step is no surprise.
        """
        self.step_ms = 0.0
        self._choose_source(lead_ms)
        block_ms = frames * self._ms_per_frame
        if self.source == "counted":
            lead_ms = self._reported_lead_ms
        if lead_ms == lead_ms:  # not NaN
            self._follow(callback_ms + lead_ms - frame * self._ms_per_frame, block_ms, flagged)
        return self.at_ms(frame)

    def at_ms(self, frame: float) -> float:
        """The converter time (session ms) of any frame."""
        return self._base_ms + frame * self._ms_per_frame

    def _choose_source(self, lead_ms: float) -> None:
        if lead_ms == lead_ms:
            self._missing = 0
            self._found += 1
            if self.source == "counted" and (self._seen == 0 or self._found >= _RELIABLE_CALLS):
                self.source = "stream"
                self._seen = 0
        else:
            self._found = 0
            self._missing += 1
            if self.source == "stream" and self._missing >= _UNRELIABLE_CALLS:
                self.source = "counted"
                self._seen = 0

    def _follow(self, base_ms: float, block_ms: float, flagged: bool) -> None:
        if self._seen == 0:
            self._base_ms = base_ms
        self._seen += 1
        off_ms = base_ms - self._base_ms
        counted = self.source == "counted"
        if abs(off_ms) <= _JUMP_MS or (counted and off_ms < 0):
            self._run = 0
            self._run_ms = self.late_ms = 0.0
            if not counted:
                self._base_ms += off_ms * max(_GAIN, 1 / self._seen)
            else:
                self._base_ms += off_ms / 2 if off_ms < 0 else min(off_ms, _RISE * block_ms)
            return
        if self._run == 0 or (off_ms > 0) != (self._run_least_ms > 0) or abs(off_ms) < abs(self._run_least_ms):
            self._run_least_ms = off_ms
        self._run += 1
        self._run_ms += block_ms
        self.late_ms = max(0.0, self._run_least_ms)
        enough_ms = _COUNTED_RUN_MS if counted else _STREAM_RUN_MS
        if (flagged and not counted) or (self._run >= _RUN_CALLS and self._run_ms >= enough_ms):
            self.step_ms = self._run_least_ms
            self._base_ms += self.step_ms
            self._run = 0
            self._run_ms = self.late_ms = 0.0


class SoundWatch:
    """Notices a device that goes on calling but delivers nothing new: one block for ever, or nothing but one value."""

    def __init__(self, rate_hz: int, name: str, on_fault: Callable[[str], None] | None = None) -> None:
        """``on_fault`` gets a sentence when the device falls silent, each time it does."""
        self._ms_per_frame = 1e3 / rate_hz
        self._name = name
        self._on_fault = on_fault
        self._last: PcmFloat = np.zeros(0, np.float32)
        self._same_ms = 0.0
        self._silent_ms = 0.0
        self.frozen = ""
        """A sentence, once the device is frozen."""

    def look(self, block: PcmFloat) -> None:
        """Look at the next callback's float32 [n]."""
        if len(block) == 0:
            return
        block_ms = len(block) * self._ms_per_frame
        silent_ms, self._silent_ms = self._silent_ms, 0.0
        if block.min() == block.max():
            self._silent_ms = silent_ms + block_ms
            self._same_ms = 0.0
            if silent_ms <= SILENT_AFTER_MS < self._silent_ms and self._on_fault:
                self._on_fault(
                    f"input silent: the microphone '{self._name}' has sent nothing but zeros for "
                    f"{SILENT_AFTER_MS / 1e3:g} s. Is it muted, or is this program not allowed to use it?"
                )
        elif np.array_equal(block, self._last):
            self._same_ms += block_ms
            # A pure tone played by a program can fit the block exactly; it repeats inside the block, too.
            if self._same_ms >= FROZEN_AFTER_MS and not _repeats_inside(block):
                self.frozen = (
                    f"input frozen: the microphone '{self._name}' sends the same {block_ms:.0f} ms of sound for ever. "
                    "Unplug it and plug it in again, or choose another (voicetui devices lists them)."
                )
        else:
            self._same_ms = 0.0
        self._last = block


def _repeats_inside(block: PcmFloat) -> bool:
    length = len(block)
    return any(
        length % period == 0 and np.array_equal(block[period:], block[:-period]) for period in range(1, length // 2 + 1)
    )
