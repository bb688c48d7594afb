"""A running device stream: opened apart from the loop, watched, closed. Both directions are alike in this."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import numpy as np

from voicetui.events.sound import DeviceOpened, Role
from voicetui.ports import Clock, PcmFloat, SoundError
from voicetui.sound.devices import Backend, Choice, Device, SavedDevice, Stream, StreamSettings, choose
from voicetui.sound.settle import settle_on
from voicetui.sound.timing import Source

START_LIMIT_MS: Final = 2_000.0
"""A device that calls back later than this after opening does not work."""

LOST_AFTER_MS: Final = 900.0
"""A device that has not called back for so long is lost."""

FROZEN_AFTER_MS: Final = 1_000.0
SILENT_AFTER_MS: Final = 3_000.0
"""How long the same blocks are repeated, or nothing but one value sent, before that is a fault."""

_BUFFERS: Final = 4
"""A stuck driver goes round in so many buffers, at most."""

_LONGEST_LATENCY_MS: Final = 30_000.0
"""Streams have been seen to run 15 s late; a greater latency, or one below zero, is no report."""

ALIVE_AFTER_MS: Final = 60_000.0
"""So much sound, without a silence that is a fault, and the next such silence is worth telling again: a device with a
noise gate sends nothing but zeros whenever nobody speaks.
"""

_STOOD_STILL_MS: Final = 50.0
_CATCH_UP_MS: Final = 150.0
"""A watch that wakes this late was held up itself, by a model that is being loaded for one: it looks again after that.
"""

_OPEN_LIMIT_MS: Final = 8_000.0
_CLOSE_LIMIT_MS: Final = 1_000.0
_SETTLING_MS: Final = 400.0
"""How long a device may take after its first callback to come up with plausible stamps."""

_T = TypeVar("_T")


class Handler(Protocol):
    """What PortAudio calls back. ``calls`` and ``last_ms`` (session clock) tell that it does."""

    calls: int
    last_ms: float

    @property
    def source(self) -> Source:
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

    async def choose(self, wanted: SavedDevice | str | None) -> Choice:
        """The device. Raises ``SoundError``."""
        what = f"the {self._what}"
        return await call_apart(self._clock, _OPEN_LIMIT_MS, what, lambda: choose(self._role, wanted, self._backend))

    async def rate_hz(self, device: Device, latency_ms: float) -> int:
        """A rate that ``device`` accepts, its own if it can be. Raises ``SoundError``."""

        def look() -> int:
            use = partial(self._backend.check, self._role)
            return settle_on(self._backend, self._role, device, latency_ms / 1e3, use)[0].rate_hz

        return await call_apart(self._clock, _OPEN_LIMIT_MS, f"the {self._what} '{device.name}'", look)

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
                handler.opened(_believed(stream.latency * 1e3, latency_ms))
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
            lambda late: _stop(late[1][0]),
        )
        self._stream = stream
        await self._begun(handler, device)
        self._watchdog = asyncio.create_task(self._watch(handler), name=f"{self._what} watchdog")
        return handler, DeviceOpened(
            role=self._role,
            name=device.name,
            host=device.host,
            rate_hz=settings.rate_hz,
            channels=settings.channels,
            latency_ms=_believed(stream.latency * 1e3, latency_ms),
            clock=handler.source,
        )

    async def _begun(self, handler: Handler, device: Device) -> None:
        """Wait for the first callbacks. Raises ``SoundError``, with the stream closed, when none comes."""
        try:
            await self._first_calls(handler)
        except asyncio.CancelledError:
            await self.close()
            raise
        if handler.calls == 0:
            await self.close()
            raise SoundError(
                f"the {self._what} '{device.name}' ({device.host}) opened, but {self._passed} nothing for "
                f"{START_LIMIT_MS / 1e3:g} s. Unplug it and plug it in again, or choose another (voicetui devices)."
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
        """Wait until the device calls back, and then a little for stamps to go by."""
        if await self._until(lambda: handler.calls > 0, START_LIMIT_MS):
            await self._until(lambda: handler.source == "stream", _SETTLING_MS)

    async def _until(self, enough: Callable[[], bool], limit_ms: float) -> bool:
        """Wait for callbacks until there are ``enough``, at most ``limit_ms``. Whether there are."""
        limit = asyncio.ensure_future(self._clock.sleep_until(self._clock.now_ms() + limit_ms))
        try:
            while not enough() and not limit.done() and not self.closed:
                woken = asyncio.ensure_future(self.wait())
                await asyncio.wait((woken, limit), return_when=asyncio.FIRST_COMPLETED)
                woken.cancel()
        finally:
            limit.cancel()
        return enough()

    async def _watch(self, handler: Handler) -> None:
        while not self.loss:
            last_ms = handler.last_ms
            due_ms = max(last_ms + LOST_AFTER_MS, self._clock.now_ms())
            await self._clock.sleep_until(due_ms)
            while self._clock.now_ms() - due_ms > _STOOD_STILL_MS:  # this was held up, and so were the callbacks
                due_ms = self._clock.now_ms() + _CATCH_UP_MS
                await self._clock.sleep_until(due_ms)
            if handler.last_ms == last_ms:
                self._lose(f"has {self._passed.replace('took', 'taken')} nothing for {LOST_AFTER_MS / 1e3:g} s")


def _believed(reported_ms: float, asked_ms: float) -> float:
    """The latency a stream reports; the one it was asked for where it reports what cannot be."""
    return reported_ms if 0.0 <= reported_ms <= _LONGEST_LATENCY_MS else asked_ms


def _stop(stream: Stream) -> None:
    try:
        stream.stop()
    finally:
        stream.close()


async def call_apart(
    clock: Clock, limit_ms: float, what: str, function: Callable[[], _T], undo: Callable[[_T], object] | None = None
) -> _T:
    """Run a blocking ``function`` on a thread of its own, left behind after ``limit_ms``: drivers do hang.

    What it makes when nobody waits any more is given to ``undo``. Raises what ``function`` raises, or ``SoundError``
    saying that ``what`` did not answer.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_T] = loop.create_future()

    def run_apart(work: Callable[[], object]) -> None:
        threading.Thread(target=work, name="sound device", daemon=True).start()

    def deliver(value: _T) -> None:
        if not answer.done():
            answer.set_result(value)
        elif undo is not None:
            run_apart(partial(undo, value))

    def fail(error: Exception) -> None:
        if not answer.done():
            answer.set_exception(error)

    def run() -> None:
        with suppress(RuntimeError):  # the loop is closed: the process is ending
            try:
                value = function()
            except Exception as error:
                loop.call_soon_threadsafe(fail, error)
            else:
                loop.call_soon_threadsafe(deliver, value)

    run_apart(run)
    limit = asyncio.ensure_future(clock.sleep_until(clock.now_ms() + limit_ms))
    try:
        await asyncio.wait((answer, limit), return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
    finally:
        limit.cancel()
        answer.cancel()
    raise SoundError(f"{what} did not answer for {limit_ms / 1e3:g} s. Plug it in again, or choose another")


class SoundWatch:
    """Notices a device that goes on calling but delivers nothing new: the same blocks for ever, or only one value."""

    def __init__(self, rate_hz: int, name: str, on_fault: Callable[[str], None] | None = None) -> None:
        """``on_fault`` gets a sentence when the device falls silent; again only once it was alive for long."""
        self._ms_per_frame = 1e3 / rate_hz
        self._name = name
        self._on_fault = on_fault
        self._last: deque[PcmFloat] = deque(maxlen=_BUFFERS)
        self._round = 0
        self._same_ms = 0.0
        self._silent_ms = 0.0
        self._alive_ms = ALIVE_AFTER_MS
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
            if silent_ms <= SILENT_AFTER_MS < self._silent_ms:
                self._fell_silent()
            return
        self._alive_ms += block_ms
        self._compare(block, block_ms)

    def _compare(self, block: PcmFloat, block_ms: float) -> None:
        """Whether ``block`` was sent before, as many blocks ago as the one before it was."""
        blocks_ago = next((ago for ago, last in enumerate(self._last, 1) if np.array_equal(block, last)), 0)
        self._last.appendleft(block)
        self._same_ms = self._same_ms + block_ms if blocks_ago and blocks_ago == self._round else 0.0
        self._round = blocks_ago
        if self._same_ms < FROZEN_AFTER_MS:
            return
        # A tone played by a program can fit the blocks exactly: that is no driver's doing.
        same = np.concatenate([self._last[ago] for ago in range(blocks_ago)][::-1])
        if not (_repeats_inside(same) or _is_tone(same)):
            self.frozen = (
                f"input frozen: the microphone '{self._name}' sends the same {blocks_ago * block_ms:.0f} ms of sound "
                "for ever. Unplug it and plug it in again, or choose another (voicetui devices lists them)."
            )

    def _fell_silent(self) -> None:
        if self._alive_ms >= ALIVE_AFTER_MS and self._on_fault:
            self._on_fault(
                f"input silent: the microphone '{self._name}' has sent nothing but zeros for "
                f"{SILENT_AFTER_MS / 1e3:g} s. Is it muted, or is this program not allowed to use it?"
            )
        self._alive_ms = 0.0


def _is_tone(sound: PcmFloat) -> bool:
    """Whether float32 [n] is one steady sine: each sample follows from the two before it."""
    middle = sound[1:-1].astype(np.float64)
    around = sound[2:].astype(np.float64) + sound[:-2]
    power = float(middle @ middle)
    rest = around - (float(around @ middle) / power if power else 0.0) * middle
    return float(rest @ rest) <= 1e-6 * float(around @ around)


def _repeats_inside(block: PcmFloat) -> bool:
    length = len(block)
    return any(
        length % period == 0 and np.array_equal(block[period:], block[:-period]) for period in range(1, length // 2 + 1)
    )
