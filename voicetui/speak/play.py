"""Playback of replies: orders in, facts with DAC times out. The sound itself is in the ring."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import soxr

from voicetui.events.base import Basis, Fact
from voicetui.events.orders import Cut, Duck, FinishPlayback, Pause, Play, Resume
from voicetui.events.speak import (
    ClauseEnded,
    ClauseStarted,
    Discarded,
    PlaybackCut,
    PlaybackDucked,
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    SpeakerDry,
)
from voicetui.ports import RATE_HZ, Clock, PcmFloat, Post
from voicetui.sound.rates import fit_length, resampled_count
from voicetui.speak.heard import ReplySound
from voicetui.speak.output import Change, Kind, Mark, OutputRing
from voicetui.speak.synthesize import SynthesizedClause
from voicetui.speak.words import count_words

CUT_PATIENCE_MS: Final = 250.0
"""A cut the callback has not carried out by then is taken as done: the device has stopped, and nothing sounds any more."""

FACT_PATIENCE_MS: Final = 500.0
"""A fact is posted when its sound is at the DAC; but no later than this, so that a wrong DAC stamp cannot hold a session up."""

CLOSED_KEPT: Final = 1024
"""How many replies that are over are remembered, to refuse their late sound."""


@dataclass(slots=True)
class _Reply:
    """A reply on its way to the speaker. ``base`` is the ring's position of its first frame, once it has the ring."""

    basis: Basis
    sound: ReplySound
    base: int = 0
    unwritten: deque[PcmFloat] = field(default_factory=deque)
    cursor: int = 0
    """The next frame to be played; behind ``sound.played`` while a word is repeated."""
    idle: int | None = None
    ended_ms: float = 0.0
    audible_ms: float | None = None
    asked: set[int] = field(default_factory=set)
    """The serial numbers of its changes, to tell their marks from those of an older reply."""
    ducked: bool = False
    holding: bool = False
    held_at: int | None = None
    pause_asked_ms: float = 0.0
    resume_at: int = 0
    resume_wanted: bool = False
    finish_asked_ms: float | None = None
    cut_asked_ms: float | None = None


class Player:
    """Plays one reply at a time. All methods belong to the engine's loop; only ``renderer`` is used by the audio callback.

    Each reply gets exactly one end: ``PlaybackFinished`` or ``PlaybackCut``. Orders for a reply that is over, or was never
    begun, do nothing, except that a ``Cut`` of one never begun is answered, and sound for one that is over is ``Discarded``.
    Sound of a newer reply means that the older gets no more: the older plays to its end first, or is cut if it was held.
    """

    def __init__(
        self, clock: Clock, post: Post, rate_hz: int, wake: Callable[[], None] | None = None, *, duck_db: float = -15.0
    ) -> None:
        """``rate_hz`` is the device's. ``wake`` is called when there is something to poll for and there was not before."""
        self.renderer = OutputRing(rate_hz, duck_db=duck_db)
        self.rate_hz = rate_hz
        self._clock = clock
        self._post = post
        self._wake = wake
        self._reply: _Reply | None = None
        self._waiting: deque[_Reply] = deque()
        self._closed: dict[Basis, str] = {}
        self._facts: deque[tuple[Fact, float, float]] = deque()

    @property
    def busy(self) -> bool:
        """Whether ``poll`` has anything to watch: a reply that is not over, or facts not yet posted."""
        return bool(self._reply or self._waiting or self._facts)

    # ---- orders

    def play(self, order: Play, sound: SynthesizedClause) -> None:
        """Queue a clause. Refused, and ``Discarded``, if its reply is over, cut, or was said to be complete."""
        reply = self._find(order.basis)
        refusal = self._closed.get(order.basis, "")
        if reply is not None and reply.cut_asked_ms is not None:
            refusal = "cut"
        elif reply is not None and reply.finish_asked_ms is not None:
            refusal = "finished"
        if refusal:
            samples = resampled_count(len(sound.samples), sound.rate_hz, RATE_HZ)
            self._post(
                Discarded(order.basis, "speaker", samples=samples, ms=sound.duration_ms, reason=f"reply is {refusal}"),
                self._clock.now_ms(),
            )
            return
        idle = not self.busy
        if reply is None:
            reply = self._open(order.basis)
        added = reply.sound.add(order.clause, order.text, sound.spoken, at_rate(sound, self.rate_hz))
        reply.unwritten.append(added.samples)
        self._top_up()
        self._wake_if(idle)

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

        While the fade of a pause is still running this waits for its end. Nothing to do for a reply neither held nor ducked.
        """
        reply = self._playing(order.basis)
        if reply is None:
            return
        if reply.holding and reply.held_at is None:
            reply.resume_wanted = True
        elif reply.holding:
            self._resume_held(reply)
        elif reply.ducked:
            reply.ducked = False
            self._ask(reply, Change.BACK)

    def cut(self, order: Cut) -> None:
        """Fade out within 15 ms and drop the rest. ``PlaybackCut`` follows once that is at the DAC; at once if nothing sounded."""
        if order.basis in self._closed:
            return
        reply = self._find(order.basis)
        now_ms = self._clock.now_ms()
        if reply is not None and reply is self._reply:
            if reply.cut_asked_ms is None:
                reply.cut_asked_ms = now_ms
                self._ask(reply, Change.DROP)
            return
        if reply is not None:
            self._waiting.remove(reply)
        self._close(order.basis, "cut")
        self._post(self._cut_fact(reply or _Reply(order.basis, ReplySound(self.rate_hz))), now_ms)

    def close(self) -> None:
        """Cut everything at once and post what is still to be posted: the device is gone, or the session ends."""
        while self._reply or self._waiting:
            reply = self._reply or self._waiting[0]
            self.cut(Cut(reply.basis))
            if reply is self._reply:
                self._collect()
                self._force_cut(reply)
        self._post_facts(flush=True)

    # ---- the engine's beat

    def poll(self) -> None:
        """Take in what the callback did, and post the facts whose sound has reached the DAC. About every 10 ms while busy."""
        self._collect()
        reply = self._reply
        if reply and reply.cut_asked_ms is not None and self._clock.now_ms() - reply.cut_asked_ms > CUT_PATIENCE_MS:
            self._force_cut(reply)
        self._end_if_finished()
        self._top_up()
        self._post_facts()

    def _collect(self) -> None:
        for mark in self.renderer.drain_marks():
            reply = self._reply
            if reply is None:
                continue
            if mark.kind is Kind.PLAYED:
                if mark.position >= reply.base:
                    self._played(reply, mark)
            elif mark.serial in reply.asked:
                self._changed(reply, mark)

    def _played(self, reply: _Reply, mark: Mark) -> None:
        """Frames of this reply went to the DAC."""
        sound, first = reply.sound, mark.position - reply.base
        end = first + mark.frames
        if reply.idle is not None and mark.idle > reply.idle:
            clause = sound.at(first)
            hole_ms = (mark.idle - reply.idle) / self.rate_hz * 1e3
            self._tell(SpeakerDry(reply.basis, clause.clause if clause else 0, hole_ms), mark.dac_ms)
        reply.idle = mark.idle
        reply.cursor = end
        reply.ended_ms = self._dac_ms(mark, end - first)
        loud = sound.last_audible(first, end, mark.gain_from, mark.gain_to)
        if loud is not None:
            reply.audible_ms = self._dac_ms(mark, loud - first)
        if end <= sound.played:
            return
        for clause in sound.clauses:
            if clause.offset >= end:
                break
            if not clause.started and clause.audible and clause.offset + clause.audible[0] < end:
                clause.started = True
                start_ms = self._dac_ms(mark, clause.offset + clause.audible[0] - first)
                self._tell(ClauseStarted(reply.basis, clause.clause), start_ms)
            if clause.started and not clause.ended and clause.end <= end:
                clause.ended = True
                self._tell(ClauseEnded(reply.basis, clause.clause), self._dac_ms(mark, clause.end - first))
        sound.played = end

    def _changed(self, reply: _Reply, mark: Mark) -> None:
        """A change this reply asked for is complete."""
        reply.asked.discard(mark.serial)
        if mark.kind is Kind.DUCKED:
            self._tell(PlaybackDucked(reply.basis), mark.dac_ms)
        elif mark.kind is Kind.BACK:
            self._tell(PlaybackResumed(reply.basis), mark.dac_ms)
        elif mark.kind is Kind.DROPPED:
            self._end_cut(reply)
        elif mark.kind is Kind.HELD and reply.cut_asked_ms is None:
            self._held(reply, mark)

    def _held(self, reply: _Reply, mark: Mark) -> None:
        reply.held_at = mark.position - reply.base
        fade_from = reply.held_at - mark.frames
        word_start = reply.sound.word_start(fade_from)
        reply.resume_at = reply.held_at if word_start is None else word_start
        if self._is_finished(reply):
            return  # it ended before the pause could hold anything
        clause = reply.sound.at(max(0, reply.held_at - 1))
        paused = PlaybackPaused(reply.basis, clause.clause if clause else 0, reply.sound.heard_ms)
        self._tell(paused, reply.pause_asked_ms if reply.audible_ms is None else reply.audible_ms)
        if reply.resume_wanted:
            self._resume_held(reply)

    def _resume_held(self, reply: _Reply) -> None:
        reply.holding = reply.resume_wanted = reply.ducked = False
        reply.held_at = None
        reply.cursor = reply.resume_at
        self._ask(reply, Change.BACK, reply.base + reply.resume_at)

    def _force_cut(self, reply: _Reply) -> None:
        """The callback does not answer: nothing sounds. Should it come back, it finds this before anything else."""
        self.renderer.ask(Change.HUSH)
        self._end_cut(reply)

    def _end_cut(self, reply: _Reply) -> None:
        asked_ms = self._clock.now_ms() if reply.cut_asked_ms is None else reply.cut_asked_ms
        self._tell(self._cut_fact(reply), asked_ms if reply.audible_ms is None else reply.audible_ms)
        self._close(reply.basis, "cut")
        self._reply = None

    def _cut_fact(self, reply: _Reply) -> PlaybackCut:
        sound = reply.sound
        text, words = sound.heard()
        return PlaybackCut(
            reply.basis,
            heard_ms=sound.heard_ms,
            heard_text=text,
            heard_words=words,
            cut_words=sum(count_words(clause.text) for clause in sound.clauses),
            dropped_samples=resampled_count(sound.total - sound.played, self.rate_hz, RATE_HZ),
        )

    def _is_finished(self, reply: _Reply) -> bool:
        return (
            reply.finish_asked_ms is not None
            and reply.cut_asked_ms is None
            and not reply.unwritten
            and reply.cursor >= reply.sound.total
        )

    def _end_if_finished(self) -> None:
        reply = self._reply
        if reply is not None and reply.finish_asked_ms is not None and self._is_finished(reply):
            self._tell(PlaybackFinished(reply.basis), max(reply.finish_asked_ms, reply.ended_ms))
            self._close(reply.basis, "finished")
            self._reply = None
            if reply.ducked or reply.holding:
                self.renderer.ask(Change.BACK)

    # ---- replies

    def _find(self, basis: Basis) -> _Reply | None:
        for reply in (self._reply, *self._waiting):
            if reply is not None and reply.basis == basis:
                return reply
        return None

    def _playing(self, basis: Basis) -> _Reply | None:
        """The reply of that basis, if it has the speaker and is not being cut."""
        reply = self._reply
        return reply if reply and reply.basis == basis and reply.cut_asked_ms is None else None

    def _open(self, basis: Basis) -> _Reply:
        for older in (self._reply, *self._waiting):
            if older is not None and older.finish_asked_ms is None:
                older.finish_asked_ms = self._clock.now_ms()
        if self._reply is not None and self._reply.holding:
            self.cut(Cut(self._reply.basis))
        reply = _Reply(basis, ReplySound(self.rate_hz))
        self._waiting.append(reply)
        return reply

    def _close(self, basis: Basis, how: str) -> None:
        self._closed[basis] = how
        if len(self._closed) > CLOSED_KEPT:
            del self._closed[next(iter(self._closed))]

    def _top_up(self) -> None:
        """Give the speaker to the next reply if it is free, and the ring as much sound as it takes."""
        if self._reply is None and self._waiting:
            self._reply = self._waiting.popleft()
            self._reply.base = self.renderer.written
        reply = self._reply
        while reply and reply.unwritten and reply.cut_asked_ms is None:
            samples = reply.unwritten[0]
            count = self.renderer.write(samples)
            if count < len(samples):
                reply.unwritten[0] = samples[count:]
                return
            reply.unwritten.popleft()

    def _ask(self, reply: _Reply, change: Change, position: int = -1) -> None:
        reply.asked.add(self.renderer.ask(change, position))

    # ---- facts

    def _dac_ms(self, mark: Mark, frames: int) -> float:
        return mark.dac_ms + frames * 1e3 / self.rate_hz

    def _tell(self, fact: Fact, at_ms: float) -> None:
        self._facts.append((fact, at_ms, min(at_ms, self._clock.now_ms() + FACT_PATIENCE_MS)))

    def _post_facts(self, flush: bool = False) -> None:
        now_ms = self._clock.now_ms()
        while self._facts and (flush or self._facts[0][2] <= now_ms):
            fact, at_ms, _ = self._facts.popleft()
            self._post(fact, at_ms)

    def _wake_if(self, was_idle: bool) -> None:
        if was_idle and self._wake:
            self._wake()


def at_rate(sound: SynthesizedClause, rate_hz: int) -> PcmFloat:
    """float32 [round(n * rate_hz / sound.rate_hz)]: a whole clause at the device's rate."""
    if sound.rate_hz == rate_hz or len(sound.samples) == 0:
        return sound.samples
    resampled: PcmFloat = soxr.resample(sound.samples, sound.rate_hz, rate_hz, quality="HQ")
    return fit_length(resampled, resampled_count(len(sound.samples), sound.rate_hz, rate_hz))
