"""Playback of replies: orders in, facts with DAC times out. The sound itself is in the ring."""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np
import soxr

from voicetui.events.base import Basis, Fact
from voicetui.events.orders import Cut, Duck, FinishPlayback, Pause, Play, Resume
from voicetui.events.speak import Discarded, PlaybackDucked, PlaybackFinished, PlaybackResumed
from voicetui.ports import RATE_HZ, Clock, PcmFloat, Post
from voicetui.sound.rates import fit_length, resampled_count
from voicetui.speak.growing import GrowingClause
from voicetui.speak.heard import ReplySound
from voicetui.speak.inflow import Inflow, spans_at_rate
from voicetui.speak.output import Change, Kind, Mark, OutputRing
from voicetui.speak.playback import Playback, Told
from voicetui.speak.synthesize import SynthesizedClause

CUT_PATIENCE_MS: Final = 250.0
"""A cut the callback has not carried out by then is taken as done: the device has stopped, nothing sounds."""

FACT_PATIENCE_MS: Final = 500.0
"""A fact is posted when its sound is at the DAC; but no later than this, so that a wrong stamp cannot hold it up.

Stamps more than this far off are implausible, whatever the device says.
"""

CLOSED_KEPT: Final = 1024
"""How many replies that are over are remembered, to refuse their late sound."""


class Player:
    """Plays one reply at a time. All methods belong to the engine's loop; the audio callback uses only ``renderer``.

    Each reply gets exactly one end: ``PlaybackFinished`` or ``PlaybackCut``. Orders for a reply that is over, or was
    never begun, do nothing; but ``FinishPlayback`` or ``Cut`` of one never begun is answered, and sound for one that is
    over is ``Discarded``. Sound of a newer reply means that the older gets no more: the older plays to its end first,
    or is cut if it was held.
    """

    def __init__(self, clock: Clock, post: Post, rate_hz: int, *, duck_db: float = -15.0) -> None:
        """``rate_hz`` is the device's; ``duck_db`` how much quieter a ducked reply is."""
        self.renderer = OutputRing(rate_hz, duck_db=duck_db)
        self.rate_hz = rate_hz
        self._clock = clock
        self._post = post
        self._reply: Playback | None = None
        self._waiting: deque[Playback] = deque()
        self._closed: dict[Basis, str] = {}
        self._facts: deque[tuple[Fact, float, float]] = deque()

    @property
    def busy(self) -> bool:
        """Whether ``poll`` has anything to watch: a reply that is not over, or facts not yet posted."""
        return bool(self._reply or self._waiting or self._facts)

    # ---- orders

    def play(self, order: Play, sound: SynthesizedClause | GrowingClause) -> None:
        """Queue a clause. Refused, and ``Discarded``, if its reply is over, being cut, or was said to be complete."""
        reply = self._find(order.basis)
        refusal = reply.refusal if reply else self._closed.get(order.basis, "")
        if refusal:
            samples = resampled_count(sound.frames, sound.rate_hz, RATE_HZ)
            waste = Discarded(
                order.basis, "speaker", samples=samples, ms=sound.duration_ms, reason=f"reply is {refusal}"
            )
            self._post(waste, self._clock.now_ms())
            return
        reply = reply or self._open(order.basis)
        if not reply.sound.clauses:
            reply.due_ms = order.due_ms
        words = spans_at_rate(sound.words, sound.rate_hz, self.rate_hz)
        if isinstance(sound, GrowingClause):
            reply.growth = Inflow(sound, self.rate_hz)
            reply.sound.add(order.clause, order.text, sound.spoken, np.zeros(0, np.float32), words, growing=True)
        else:
            samples_there = at_rate(sound.samples, sound.rate_hz, self.rate_hz)
            reply.sound.add(order.clause, order.text, sound.spoken, samples_there, words)
            reply.unwritten.append(samples_there)
        self._top_up()

    def finish(self, order: FinishPlayback) -> None:
        """No more clauses come for this reply. A reply of which none came is finished at once."""
        now_ms = self._clock.now_ms()
        reply = self._find(order.basis)
        if reply is not None:
            if reply.finish_asked_ms is None:
                reply.finish_asked_ms = now_ms
        elif order.basis not in self._closed:
            self._close(order.basis, "finished")
            self._post(PlaybackFinished(order.basis), now_ms)

    def duck(self, order: Duck) -> None:
        """Quieter within 10 ms. Nothing to do for a reply that is ducked, held or not on the speaker."""
        reply = self._playing(order.basis)
        if reply and not reply.ducked and not reply.holding:
            reply.ducked = True
            self._ask(reply, Change.DUCK)

    def pause(self, order: Pause) -> None:
        """Fade out within 15 ms and keep the place. Nothing to do for a reply that is held or not on the speaker."""
        reply = self._playing(order.basis)
        if reply and not reply.holding:
            reply.holding = True
            reply.pause_asked_ms = self._clock.now_ms()
            self._ask(reply, Change.HOLD)
        elif reply:
            reply.resume_wanted = False

    def resume(self, order: Resume) -> None:
        """Back to full level: from the start of the word it was held in, or, if it was only ducked, from where it is.

        While the fade of a pause is still running this waits for its end. Nothing to do for a reply neither held nor
        ducked.
        """
        reply = self._playing(order.basis)
        if reply is None:
            return
        if reply.holding and reply.held_at is None:
            reply.resume_wanted = True
        elif reply.holding:
            self._ask(reply, Change.BACK, reply.resumed())
        elif reply.ducked:
            reply.ducked = False
            self._ask(reply, Change.BACK)

    def cut(self, order: Cut) -> None:
        """Fade out within 15 ms and drop the rest. ``PlaybackCut`` follows when that is at the DAC.

        A reply that has not begun to sound is cut at once. One that is over stays as it ended.
        """
        reply = self._find(order.basis)
        if reply is not None:
            reply.grow()
        if reply is not None and reply is self._reply:
            if reply.cut_asked_ms is None:
                reply.cut_asked_ms = self._clock.now_ms()
                self._ask(reply, Change.DROP)
        elif order.basis not in self._closed:
            if reply is not None:
                self._waiting.remove(reply)
            self._close(order.basis, "cut")
            self._post(*(reply or Playback(order.basis, ReplySound(self.rate_hz))).cut(self._clock.now_ms()))

    def close(self) -> None:
        """Cut everything at once and post all that is still to be posted: the device is gone, or the session ends."""
        for reply in (*self._waiting, self._reply):
            if reply is not None:
                self.cut(Cut(reply.basis))
        self._collect()
        if self._reply is not None:
            self._force_cut(self._reply)
        self._post_facts(flush=True)

    # ---- the engine's beat

    def poll(self) -> None:
        """Take in what the callback did; post facts whose sound has reached the DAC. Every 10 ms or so while busy."""
        now_ms = self._clock.now_ms()
        self._collect()
        reply = self._reply
        if reply is not None:
            for told in reply.passed_by(now_ms):
                self._tell(told)
            if reply.cut_asked_ms is not None and now_ms - reply.cut_asked_ms > CUT_PATIENCE_MS:
                self._force_cut(reply)
        self._post_facts()
        self._end_if_complete(now_ms)
        self._top_up()

    def _collect(self) -> None:
        for mark in self.renderer.drain_marks():
            reply = self._reply
            if reply is None:
                continue
            if mark.kind is Kind.PLAYED and mark.position >= reply.base:
                for told in reply.played(mark):
                    self._tell(told)
            elif mark.serial in reply.asked:
                reply.asked.discard(mark.serial)
                self._changed(reply, mark)

    def _changed(self, reply: Playback, mark: Mark) -> None:
        """A change this reply asked for is done."""
        if mark.kind is Kind.DUCKED:
            self._tell((PlaybackDucked(reply.basis), mark.dac_ms))
        elif mark.kind is Kind.BACK:
            self._tell((PlaybackResumed(reply.basis), mark.dac_ms))
        elif mark.kind is Kind.DROPPED:
            self._end_cut(reply)
        elif reply.cut_asked_ms is None and reply.complete:
            reply.holding = reply.resume_wanted = False  # it ended before there was anything to hold
            self.renderer.ask(Change.BACK)
        elif reply.cut_asked_ms is None:
            self._tell(reply.held(mark))
            if reply.resume_wanted:
                self._ask(reply, Change.BACK, reply.resumed())

    def _force_cut(self, reply: Playback) -> None:
        """The callback does not answer: nothing sounds. Should it come back, it finds this before anything else."""
        self.renderer.ask(Change.HUSH)
        self._end_cut(reply)

    def _end_cut(self, reply: Playback) -> None:
        self._tell(reply.cut(self._clock.now_ms()))
        self._close(reply.basis, "cut")
        self._reply = None

    def _end_if_complete(self, now_ms: float) -> None:
        """Until its last sample is at the DAC a reply can still be cut, so its end is not told ahead of time."""
        reply = self._reply
        if reply is None or not reply.complete:
            return
        finished = reply.finished()
        if reply.end_due_ms is None:
            reply.end_due_ms = min(finished[1], now_ms + FACT_PATIENCE_MS)
        if reply.end_due_ms <= now_ms:
            self._tell(finished)
            self._post_facts()
            self._close(reply.basis, "finished")
            self._reply = None
            if reply.ducked or reply.holding:
                self.renderer.ask(Change.BACK)

    # ---- replies

    def _find(self, basis: Basis) -> Playback | None:
        for reply in (self._reply, *self._waiting):
            if reply is not None and reply.basis == basis:
                return reply
        return None

    def _playing(self, basis: Basis) -> Playback | None:
        """The reply of that basis, if it has the speaker and is not being cut."""
        reply = self._reply
        return reply if reply and reply.basis == basis and reply.cut_asked_ms is None else None

    def _open(self, basis: Basis) -> Playback:
        for older in (self._reply, *self._waiting):
            if older is not None and older.finish_asked_ms is None:
                older.finish_asked_ms = self._clock.now_ms()
        if self._reply is not None and self._reply.holding:
            self.cut(Cut(self._reply.basis))
        reply = Playback(basis, ReplySound(self.rate_hz))
        self._waiting.append(reply)
        return reply

    def _close(self, basis: Basis, how: str) -> None:
        self._closed[basis] = how
        if len(self._closed) > CLOSED_KEPT:
            del self._closed[next(iter(self._closed))]

    def _top_up(self) -> None:
        """Give the speaker to the next reply if it is free, and the ring as much sound as it takes."""
        for growing in (self._reply, *self._waiting):
            if growing is not None and growing.cut_asked_ms is None:
                growing.grow()
        if self._reply is None and self._waiting:
            self._reply = self._waiting.popleft()
            self._reply.base = self.renderer.written
            if self._reply.due_ms is not None:
                audible = self._reply.base + self._reply.sound.lead
                self.renderer.hold(self._reply.base, audible, self._reply.due_ms)
        reply = self._reply
        while reply and reply.unwritten and reply.cut_asked_ms is None:
            samples = reply.unwritten[0]
            count = self.renderer.write(samples)
            if count < len(samples):
                reply.unwritten[0] = samples[count:]
                return
            reply.unwritten.popleft()

    def _ask(self, reply: Playback, change: Change, position: int = -1) -> None:
        reply.asked.add(self.renderer.ask(change, position))

    # ---- facts

    def _tell(self, told: Told) -> None:
        fact, at_ms = told
        self._facts.append((fact, at_ms, min(at_ms, self._clock.now_ms() + FACT_PATIENCE_MS)))

    def _post_facts(self, flush: bool = False) -> None:
        now_ms = self._clock.now_ms()
        while self._facts and (flush or self._facts[0][2] <= now_ms):
            fact, at_ms, _ = self._facts.popleft()
            self._post(fact, at_ms)


def at_rate(samples: PcmFloat, from_hz: int, to_hz: int) -> PcmFloat:
    """float32 [round(n * to_hz / from_hz)] in -1..1 from a whole clause, float32 [n]."""
    if from_hz == to_hz or len(samples) == 0:
        return samples
    resampled: PcmFloat = soxr.resample(samples, from_hz, to_hz, quality="HQ")
    return np.clip(fit_length(resampled, resampled_count(len(samples), from_hz, to_hz)), -1.0, 1.0)
