"""One session: one inbox.

Every fact is appended to the journal, decided on, and the orders appended before they are carried out.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar, cast

import anyio

from voicetui.conversation.decide import decide
from voicetui.conversation.state import State
from voicetui.events import AnyFact, AnyOrder, Entry, Fact, Order
from voicetui.events.session import NOT_STARTED, Fault, Ready, SessionClosed, SessionOpened, StopAsked
from voicetui.events.sound import DeviceLost
from voicetui.journal.append import Journal
from voicetui.ports import Clock, SoundError, StageError
from voicetui.runtime.heap import settle_again
from voicetui.runtime.lag import LoopLag
from voicetui.runtime.orders import Hands
from voicetui.runtime.parts import ClauseSound, Parts
from voicetui.runtime.speaking import open_speaker, watch_playback
from voicetui.runtime.stale import as_waste
from voicetui.runtime.turn import Scopes

SoundT = TypeVar("SoundT", bound=ClauseSound)
_log = logging.getLogger(__name__)


class Session(Generic[SoundT]):
    """Runs a conversation on its parts until it is asked to stop.

    ``post`` is safe from any thread; everything else belongs to the loop that runs ``run``.
    """

    def __init__(self, parts: Parts[SoundT], clock: Clock, journal: Journal, opened: SessionOpened) -> None:
        self.parts = parts
        self.clock = clock
        self.journal = journal
        self.lag = LoopLag()
        self.opened = opened
        """What the session begins with."""
        self._state = State()
        self._inbox: deque[tuple[Fact, float]] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._hands: Hands[SoundT] | None = None
        self._scopes: Scopes | None = None
        self._starting: anyio.CancelScope | None = None
        self._closed = False
        self.on_entries: Callable[[], None] = lambda: None
        """Called on the loop after entries were appended."""

    def post(self, fact: Fact, at_ms: float | None = None) -> None:
        """Hand in a fact with the time of its source; now, if none is given. Safe from any thread; ignored once the
        session is over.
        """
        self._inbox.append((fact, self.clock.now_ms() if at_ms is None else at_ms))
        loop = self._loop
        if loop is not None:
            try:
                loop.call_soon_threadsafe(self._wake.set)
            except RuntimeError:  # the loop is closed: a late worker has nobody to tell
                _log.debug("%s came after the session", type(fact).__name__)

    async def run(self) -> None:
        """Open devices, warm the models, converse until stopped, close everything. Never raises for a failing part."""
        self._loop = asyncio.get_running_loop()
        self._append_now(self.opened)
        async with anyio.create_task_group() as group:
            self._scopes = Scopes(group, self._failed)
            self._hands = Hands(self.parts, self.clock, self.post, self._scopes, lambda: self._state.muted)
            group.start_soon(self._read_inbox, name="inbox")
            group.start_soon(self.lag.watch, self.clock)
            group.start_soon(self._start, name="start")
            try:
                await self._hands.ended.wait()
            finally:
                with anyio.CancelScope(shield=True):
                    await self._close()
                group.cancel_scope.cancel()

    @property
    def state(self) -> State:
        """What the rules know now."""
        return self._state

    async def _start(self) -> None:
        """Warm the models, open the speaker and the microphone; until the session ends before that is done."""
        try:
            with anyio.CancelScope() as self._starting:
                await self._make_ready()
        except Exception as error:
            self._failed("speaker", error)
            self.post(StopAsked(NOT_STARTED))

    async def _make_ready(self) -> None:
        hands = self._hands
        assert hands is not None
        load_ms = await hands.warm(self.opened.tier)
        settle_again()
        # Not before: a model that is being loaded holds the interpreter, and a speaker that is not served looks lost.
        hands.attach(await open_speaker(self.parts, self.clock, self.post))
        hands.start_free(self._watch_playback, "speaker")
        hands.changing.begin()
        self.post(Ready(load_ms))

    async def _watch_playback(self) -> None:
        hands = self._hands
        assert hands is not None
        await watch_playback(lambda: hands.player, self.parts, self.clock)

    async def _read_inbox(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._inbox:
                self._take(*self._inbox.popleft())
            self.on_entries()

    def _take(self, told: Fact, at_ms: float) -> None:
        hands, fact = self._hands, self._current(told)
        assert hands is not None
        if self._closed or fact is None:
            return
        entry = self._append(fact, at_ms)
        self._state, orders = decide(self._state, entry)
        now_ms = self.clock.now_ms()
        for order in orders:
            self._append(order, now_ms)
        for order in orders:
            self._carry_out(hands, order)
        if isinstance(fact, DeviceLost) and fact.role == "output" and not hands.ended.is_set():
            hands.start_free(hands.replace_speaker, "speaker")

    def _current(self, fact: Fact) -> Fact | None:
        """The fact, or what it still tells if its basis has become void since it was posted."""
        basis = getattr(fact, "basis", None)
        assert self._scopes is not None and self._hands is not None
        if isinstance(fact, DeviceLost) and fact.role == "output" and self._hands.player is None:
            _log.info("the speaker was lost when it had been taken away already: %s", fact.reason)
            return None
        return fact if basis is None or self._scopes.is_living(basis) else as_waste(fact)

    def _carry_out(self, hands: Hands[SoundT], order: Order) -> None:
        try:
            hands.carry_out(order)
        except Exception as error:  # an order that cannot be carried out must not end the session
            self._failed(type(order).__name__, error)

    def _failed(self, name: str, error: Exception) -> None:
        """A task failed in a way no stage foresaw: say so, keep the details in the log, go on."""
        _log.error("%s failed", name, exc_info=error)
        remedy = error.remedy if isinstance(error, StageError) else ""
        message = (
            str(error)
            if isinstance(error, (SoundError, StageError))
            else f"{name} failed: {type(error).__name__}: {error}"
        )
        self.post(Fault(name, message, remedy or "The session goes on; log.txt of this session has the details."))

    def _append_now(self, fact: Fact) -> None:
        entry = self._append(fact, self.clock.now_ms())
        self._state, _ = decide(self._state, entry)
        self.on_entries()

    def _append(self, body: Fact | Order, at_ms: float) -> Entry:
        return self.journal.append(round(at_ms, 3), cast(AnyFact | AnyOrder, body))

    async def _close(self) -> None:
        hands = self._hands
        assert hands is not None
        if self._starting is not None:
            self._starting.cancel()
        if not hands.ended.is_set():
            self._take(StopAsked("cancelled"), self.clock.now_ms())
        await hands.close()
        self._close_recorder()
        while self._inbox:
            self._take(*self._inbox.popleft())
        self._append(SessionClosed(self._state.stopping or "ended"), self.clock.now_ms())
        self._closed = True
        self.journal.close()
        self.on_entries()

    def _close_recorder(self) -> None:
        try:
            if self.parts.recorder is not None:
                self.parts.recorder.close()
        except Exception as error:
            self._failed("record", error)
