"""Another microphone or speaker in the place of the one in use, while the session runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar

import anyio

from voicetui.events.orders import UseDevice
from voicetui.events.session import Fault
from voicetui.events.sound import DeviceLost, DeviceOpened, Role
from voicetui.ports import Clock, Microphone, Post, SoundError, Speaker
from voicetui.runtime.hearing import Gate, listen, post_edge
from voicetui.runtime.parts import ClauseSound, Parts, Player
from voicetui.runtime.speaking import collect_playback, open_player, open_silent

SoundT = TypeVar("SoundT", bound=ClauseSound)
_FADE_MS = 500.0
"""How long a reply that was cut is given to fade and to tell what was heard, before its speaker is closed anyway."""
_POLL_MS = 10.0
_WHAT: dict[Role, str] = {"input": "microphone", "output": "speaker"}
_log = logging.getLogger(__name__)


class Place(Gate, Protocol[SoundT]):
    """Whoever carries out the orders to the speaker."""

    speaker_lock: anyio.Lock
    """Held while the speaker is being opened."""

    def detach(self) -> Player[SoundT] | None:
        """Take the player away: what is ordered of it waits for the next."""

    def attach(self, player: Player[SoundT]) -> None:
        """Give the next."""

    def start_free(self, job: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Start a task of the session's own."""


class Changing(Generic[SoundT]):
    """The microphone that is heard, and the change of either device for another.

    One change at a time. A device that does not open is told as a ``Fault``, and the one before is opened again; never
    another.
    """

    def __init__(
        self, parts: Parts[SoundT], clock: Clock, post: Post, place: Place[SoundT], is_muted: Callable[[], bool]
    ) -> None:
        self._parts = parts
        self._clock = clock
        self._post = post
        self._place = place
        self._is_muted = is_muted
        self._lock = anyio.Lock()
        self._begun = anyio.Event()
        self._hearing: anyio.CancelScope | None = None
        self._heard_out = anyio.Event()
        self._leaving: list[Player[SoundT]] = []
        """Players that were taken away and still have to tell what was heard."""

    def begin(self) -> None:
        """The speaker is open: hear the session's first microphone, if it has one, and let devices be changed."""
        if self._parts.microphone is not None:
            self._hear(self._parts.microphone, None)
        self._begun.set()

    def use(self, order: UseDevice) -> None:
        """Open a device in the place of the one in use, once the session's first ones are open; never waits."""
        make = self._parts.make_microphone if order.role == "input" else self._parts.make_speaker
        if make is None:
            message = f"the {_WHAT[order.role]} of this session cannot be changed"
            self._fault(order.role, message, "It goes on as it is.")
            return
        if order.role == "output" or order.renew:
            self._detach()  # at once: nothing new is to begin on a speaker that will be closed
        self._place.start_free(lambda: self._use(order), "use device")

    async def _use(self, order: UseDevice) -> None:
        await self._begun.wait()
        async with self._lock:
            if order.renew:
                await self._renew(order)
            elif order.role == "input":
                await self._close_microphone()
                await self._open_microphone(order)
            else:
                async with self._place.speaker_lock:
                    await self._close_speaker()
                    await self._open_speaker(order)

    async def _renew(self, order: UseDevice) -> None:
        """Close both devices, let the sound system look again, and open both: the chosen one, and the other anew."""
        parts = self._parts
        heard = self._hearing is not None and parts.make_microphone is not None
        async with self._place.speaker_lock:
            if heard:
                await self._close_microphone()
            await self._close_speaker()
            try:
                if parts.renew_devices is not None:
                    await parts.renew_devices()
            except SoundError as error:
                self._fault(order.role, str(error), "Start the program again to use what was plugged in since.")
            await self._open_speaker(order if order.role == "output" else None)
        if order.role == "input" or heard:
            await self._open_microphone(order if order.role == "input" else None)

    # ---- the microphone

    def _hear(self, microphone: Microphone, opened: DeviceOpened | None) -> None:
        """Hear a microphone in a task of its own; ``opened`` is given of one that takes the place of another."""
        scope, over = anyio.CancelScope(), anyio.Event()
        self._hearing, self._heard_out = scope, over

        async def heard() -> None:
            try:
                with scope:
                    await listen(microphone, self._parts, self._clock, self._place, self._post, self._is_muted, opened)
            finally:
                over.set()

        self._place.start_free(heard, "microphone")

    async def _close_microphone(self) -> None:
        """Close it, and the speech that it was hearing."""
        if self._hearing is None:
            return
        await _close(self._parts.microphone)
        self._hearing.cancel()
        await self._heard_out.wait()
        self._hearing = None
        edge = self._parts.ear.stop_listening()
        if edge is not None:
            post_edge(edge, self._parts.ear, self._post)

    async def _open_microphone(self, order: UseDevice | None) -> None:
        """Open what was chosen, else what was in use before, else none."""
        parts, before = self._parts, self._parts.in_use.get("input")
        make = parts.make_microphone
        assert make is not None
        failed: list[str] = []
        for name, host in _wanted(order, before):
            microphone = make(name, host, parts.ear.end)
            try:
                opened = await microphone.open()
            except Exception as error:  # whatever a driver raises: the session goes on without it
                await _close(microphone)
                failed.append(_why(error, name))
                continue
            parts.microphone = microphone
            if failed:
                self._fault("input", failed[0], f"The microphone '{opened.name}' is used again.")
            self._hear(microphone, opened)
            return
        parts.microphone = None
        if not failed:
            return
        if before is not None:
            self._post(DeviceLost("input", before.name, failed[-1]), self._clock.now_ms())
        self._fault("input", failed[0], "There is no microphone now: type, or choose another.")

    # ---- the speaker

    async def _close_speaker(self) -> None:
        """Let what was cut fade, then close it; whatever still plays on it is cut."""
        self._detach()
        leaving, self._leaving = self._leaving, []
        limit_ms = self._clock.now_ms() + _FADE_MS
        while any(player.busy for player in leaving) and self._clock.now_ms() < limit_ms:
            await self._clock.sleep_until(self._clock.now_ms() + _POLL_MS)
            for player in leaving:
                collect_playback(player, self._parts)
        await _close(self._parts.speaker)
        for player in leaving:
            player.close()
            collect_playback(player, self._parts)

    def _detach(self) -> None:
        player = self._place.detach()
        if player is not None:
            self._leaving.append(player)

    async def _open_speaker(self, order: UseDevice | None) -> None:
        """Open what was chosen, else what was in use before, else the silent one."""
        parts, before = self._parts, self._parts.in_use.get("output")
        make = parts.make_speaker
        assert make is not None
        failed: list[str] = []
        for name, host in _wanted(order, before):
            parts.speaker = make(name, host)
            try:
                player = await open_player(parts, self._clock, self._post)
            except Exception as error:  # whatever a driver raises: the session goes on without it
                await _close(parts.speaker)
                failed.append(_why(error, name))
                continue
            if failed:
                self._fault("output", failed[0], f"The speaker '{name}' is used again.")
            self._place.attach(player)
            return
        self._place.attach(await open_silent(parts, self._clock, self._post, failed[0]))

    def _fault(self, role: Role, message: str, remedy: str) -> None:
        self._post(Fault(_WHAT[role], message, remedy), self._clock.now_ms())


def _wanted(order: UseDevice | None, before: DeviceOpened | None) -> list[tuple[str, str]]:
    """What to try to open, in turn: (name, host API)."""
    chosen = [(order.name, order.host)] if order is not None else []
    return list(dict.fromkeys([*chosen, *([(before.name, before.host)] if before is not None else [])]))


def _why(error: Exception, name: str) -> str:
    """The sentence for a person."""
    if isinstance(error, SoundError):
        return str(error)
    _log.error("%s could not be opened", name, exc_info=error)
    return f"the device '{name}' cannot be opened ({type(error).__name__}); the session's log.txt has the details"


async def _close(device: Microphone | Speaker | None) -> None:
    try:
        if device is not None:
            await device.close()
    except Exception:
        _log.exception("a device could not be closed")
