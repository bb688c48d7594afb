"""A scripted person: speaks into a microphone made of clips, and listens to what the session does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

from voicetui.events import Entry
from voicetui.events.orders import Commit, EndTurn, OpenUtterance, Reject
from voicetui.events.session import Ready, SessionClosed
from voicetui.events.sound import DeviceLost
from voicetui.events.speak import ClauseStarted, PlaybackCut, PlaybackFinished
from voicetui.ports import RATE_HZ, Clock, Pcm16
from voicetui.rehearse.scenario import Line, Scenario

_BREATH_MS = 400.0
"""Silence before a clip counts as unnoticed: longer than any detector needs to open an utterance."""

_HOP = RATE_HZ // 200


class Mouth(Protocol):
    """A microphone that clips can be played into."""

    def play(self, samples: Pcm16, at_ms: float | None = None) -> float:
        """Mix a clip in, at ``at_ms`` or as soon as possible; when its first sample will be heard."""


class Watch:
    """What a listener can tell from the journal: who is speaking, what is still open. Fed entry by entry."""

    def __init__(self) -> None:
        self.ready = False
        self.closed = False
        """The session is over, or nobody can be heard any more."""
        self.utterance_open = False
        self.last_open_ms = -1.0
        self.last_resolved_ms = -1.0
        self.turn: int | None = None
        self.reply_start_ms: float | None = None
        self.last_reply_start_ms = -1.0
        self.last_quiet_ms = 0.0
        self.reply_starts_ms: list[float] = []
        self.settled_ms = 0.0
        """The end of the last reply as it was heard, or of what was dropped or not answered instead."""
        self._heard = False
        self._changed = asyncio.Event()

    def feed(self, entries: Sequence[Entry]) -> None:
        """Take in new entries."""
        for entry in entries:
            self._take(entry)
        if entries:
            self._changed.set()

    async def until(self, holds: Callable[[], bool], clock: Clock, due_ms: float) -> bool:
        """Wait until ``holds()`` or ``due_ms``; whether it holds."""
        while not holds():
            if clock.now_ms() >= due_ms:
                return False
            self._changed.clear()
            waits = [asyncio.ensure_future(self._changed.wait()), asyncio.ensure_future(clock.sleep_until(due_ms))]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waits:
                    each.cancel()
        return True

    @property
    def idle(self) -> bool:
        """Nothing open, nothing being answered."""
        return not self.utterance_open and self.turn is None

    def _take(self, entry: Entry) -> None:
        match entry.body:
            case Ready():
                self.ready = True
                self.settled_ms = entry.at
            case SessionClosed() | DeviceLost(role="input"):
                self.closed = True
            case OpenUtterance():
                self.utterance_open = True
                self.last_open_ms = entry.at
            case Reject():
                self.utterance_open = False
                self.last_resolved_ms = entry.at
                self.settled_ms = max(self.settled_ms, entry.at)
            case Commit():
                self.utterance_open = self._heard = False
                self.turn = entry.body.basis.turn
                self.reply_start_ms = None
            case ClauseStarted() if self.reply_start_ms is None:
                self.reply_start_ms = self.last_reply_start_ms = entry.at
                self.reply_starts_ms.append(entry.at)
                self._heard = True
            case PlaybackFinished() | PlaybackCut():
                self.last_quiet_ms = entry.at
                if self._heard:
                    self.settled_ms = max(self.settled_ms, entry.at)
                self.reply_start_ms = None
            case EndTurn():
                self.last_resolved_ms = entry.at
                if not self._heard:
                    self.settled_ms = max(self.settled_ms, entry.at)
                if self.turn == entry.body.turn:
                    self.turn = None
            case _:
                pass


class Person:
    """Says the lines of a scenario. ``sounds`` holds every clip, int16 [n] at 16 kHz, by path.

    ``on_line`` is told of every line before it is said.
    """

    def __init__(
        self,
        scenario: Scenario,
        sounds: Mapping[str, Pcm16],
        mouth: Mouth,
        watch: Watch,
        clock: Clock,
        on_line: Callable[[Line], None] = lambda _: None,
    ) -> None:
        self._scenario = scenario
        self._sounds = sounds
        self._mouth = mouth
        self._watch = watch
        self._clock = clock
        self._on_line = on_line

    async def perform(self) -> None:
        """Say every line, then wait for the last to be answered."""
        watch, clock = self._watch, self._clock
        await watch.until(lambda: watch.ready or watch.closed, clock, float("inf"))
        for number, line in enumerate(self._scenario.lines):
            if watch.closed:
                return
            interrupted = number + 1 < len(self._scenario.lines) and self._scenario.lines[number + 1].when == "reply"
            await self._say(line, interrupted)
        await watch.until(lambda: watch.idle or watch.closed, clock, clock.now_ms() + self._scenario.give_up_ms)

    async def _say(self, line: Line, interrupted: bool) -> None:
        watch, clock = self._watch, self._clock
        if line.when == "reply":
            heard = await watch.until(
                lambda: watch.reply_start_ms is not None, clock, clock.now_ms() + self._scenario.give_up_ms
            )
            start_ms = (watch.reply_start_ms or clock.now_ms()) + line.after_ms if heard else clock.now_ms()
        else:
            start_ms = max(clock.now_ms(), watch.last_quiet_ms) + line.after_ms
        sound = joined(line.say, self._sounds)
        self._on_line(line)
        begins_ms = self._mouth.play(sound, start_ms)
        ends_ms = begins_ms + len(sound) / RATE_HZ * 1e3
        await clock.sleep_until(ends_ms)
        if interrupted:
            return
        await self._wait_for_answer(begins_ms, ends_ms, begins_ms + last_sound_ms(sound))

    async def _wait_for_answer(self, begins_ms: float, ends_ms: float, silent_ms: float) -> None:
        """Wait until what was said is answered to its end, or dropped; ask once when nothing is heard for too long.

        The clips end at ``ends_ms``, their last sound at ``silent_ms``.
        """
        watch, clock = self._watch, self._clock

        def answered() -> bool:
            return watch.last_reply_start_ms > begins_ms or watch.reply_start_ms is not None

        def over() -> bool:
            return watch.closed or (watch.idle and watch.last_resolved_ms > ends_ms - _BREATH_MS)

        patience_ms = silent_ms + self._scenario.patience_ms
        if not await watch.until(lambda: answered() or over(), clock, patience_ms) and self._scenario.impatient:
            again = joined(self._scenario.impatient, self._sounds)
            ends_ms = self._mouth.play(again, clock.now_ms()) + len(again) / RATE_HZ * 1e3
            await clock.sleep_until(ends_ms)
        await watch.until(over, clock, ends_ms + self._scenario.give_up_ms)
        if answered():
            await watch.until(lambda: watch.idle or watch.closed, clock, clock.now_ms() + self._scenario.give_up_ms)


def joined(say: Sequence[str | float], sounds: Mapping[str, Pcm16]) -> Pcm16:
    """What a line's ``say`` sounds like: its clips from ``sounds`` and its pauses (ms), int16 [n] at 16 kHz."""
    pieces = [
        sounds[each] if isinstance(each, str) else np.zeros(round(each * RATE_HZ / 1e3), np.int16) for each in say
    ]
    return np.concatenate(pieces) if pieces else np.zeros(0, np.int16)


def last_sound_ms(samples: Pcm16) -> float:
    """Where the speech in int16 [n] at 16 kHz ends: after its last 5 ms hop within 25 dB of its louder half."""
    hops = samples[: len(samples) // _HOP * _HOP].astype(np.float64).reshape(-1, _HOP)
    power = np.mean(np.square(hops), axis=1)
    if not power.any():
        return len(samples) / RATE_HZ * 1e3
    speech = np.mean(power[power >= np.median(power)])
    return float(np.flatnonzero(power >= speech * 10**-2.5)[-1] + 1) * _HOP / RATE_HZ * 1e3
