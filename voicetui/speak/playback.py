"""One reply on the speaker: what the callback did with it, told as facts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from voicetui.events.base import Basis, Fact
from voicetui.events.speak import ClauseEnded, ClauseStarted, PlaybackCut, PlaybackFinished, PlaybackPaused, SpeakerDry
from voicetui.ports import RATE_HZ, PcmFloat
from voicetui.sound.rates import resampled_count
from voicetui.speak.heard import ReplySound
from voicetui.speak.inflow import Inflow
from voicetui.speak.output import Mark
from voicetui.speak.words import count_words

Told: TypeAlias = tuple[Fact, float]
"""A fact and its time at the DAC, ms on the session clock."""


@dataclass(slots=True)
class Playback:
    """A reply from its first clause to its end. ``base`` is the ring's position of its first frame, once it has it.

    ``due_ms`` is when its first audible sample is to be at the DAC, no sooner (None: as soon as may be). ``cursor`` is
    its next frame to be played: behind ``sound.played`` while a word is repeated. ``asked`` holds the serial numbers of
    its changes, to tell their marks from an older reply's.
    """

    basis: Basis
    sound: ReplySound
    base: int = 0
    due_ms: float | None = None
    unwritten: deque[PcmFloat] = field(default_factory=deque)
    growth: Inflow | None = None
    cursor: int = 0
    asked: set[int] = field(default_factory=set)
    ducked: bool = False
    holding: bool = False
    held_at: int | None = None
    resume_at: int = 0
    resume_wanted: bool = False
    pause_asked_ms: float = 0.0
    finish_asked_ms: float | None = None
    cut_asked_ms: float | None = None
    ended_ms: float | None = None
    audible_ms: float | None = None
    end_due_ms: float | None = None
    idle: int | None = None

    @property
    def refusal(self) -> str:
        """Why it takes no more clauses; "" while it does."""
        if self.cut_asked_ms is not None:
            return "cut"
        return "finished" if self.finish_asked_ms is not None else ""

    @property
    def complete(self) -> bool:
        """Whether no more comes and everything was handed to the device."""
        if self.sound.growing or self.unwritten:
            return False
        return self.refusal == "finished" and self.cursor >= self.sound.total

    def grow(self) -> None:
        """Take in what was made of a growing clause since the last call."""
        if self.growth is None:
            return
        samples, words = self.growth.take()
        if len(samples) or self.growth.over:
            self.sound.grow(self.growth.spoken, samples, words, growing=not self.growth.over)
            self.unwritten.append(samples)
        if self.growth.over:
            self.sound.clauses[-1].broke_off = self.growth.broke_off
            self.growth = None

    def played(self, mark: Mark) -> Iterator[Told]:
        """Frames of it went to the device."""
        rate_hz = self.sound.rate_hz

        def dac_ms(frame: int) -> float:
            return mark.dac_ms + (frame - first) * 1e3 / rate_hz

        first = mark.position - self.base
        end = first + mark.frames
        if self.idle is not None and mark.idle > self.idle:
            clause = self.sound.at(first)
            assert clause is not None
            yield SpeakerDry(self.basis, clause.clause, (mark.idle - self.idle) * 1e3 / rate_hz), mark.dac_ms
        self.idle = mark.idle
        self.cursor = end
        self.ended_ms = dac_ms(end)
        loud = self.sound.last_audible(first, end, mark.gain_from, mark.gain_to)
        if loud is not None:
            self.audible_ms = dac_ms(loud)
        self.sound.played = max(self.sound.played, end)
        for clause in self.sound.clauses:
            if not clause.started and clause.audible and clause.offset + clause.audible[0] < end:
                clause.started = True
                yield ClauseStarted(self.basis, clause.clause), dac_ms(clause.offset + clause.audible[0])
            if not clause.ended and not clause.growing and clause.end <= end:
                clause.ended = True
                yield ClauseEnded(self.basis, clause.clause), dac_ms(max(first, clause.end))

    def passed_by(self, now_ms: float) -> Iterator[Told]:
        """Clauses without a single sample, which no mark tells of: over as soon as what is before them is."""
        for clause in self.sound.clauses:
            if not clause.ended and not clause.growing and clause.end <= self.sound.played:
                clause.ended = True
                yield ClauseEnded(self.basis, clause.clause), now_ms if self.ended_ms is None else self.ended_ms

    def held(self, mark: Mark) -> Told:
        """Its fade is over: where it stands, and where it will go on."""
        self.held_at = mark.position - self.base
        word_start = self.sound.word_start(self.held_at - mark.frames)
        self.resume_at = self.held_at if word_start is None else word_start
        clause = self.sound.at(max(0, self.held_at - 1))
        fact = PlaybackPaused(self.basis, clause.clause if clause else 0, self.sound.heard_ms)
        return fact, self.pause_asked_ms if self.audible_ms is None else self.audible_ms

    def resumed(self) -> int:
        """It goes on: from which of the ring's positions."""
        self.holding = self.resume_wanted = self.ducked = False
        self.held_at = None
        self.cursor = self.resume_at
        return self.base + self.resume_at

    def finished(self) -> Told:
        """Its end, when all of it was heard."""
        asked_ms = self.finish_asked_ms or 0.0
        heard = self.sound.heard()[0] if any(clause.broke_off for clause in self.sound.clauses) else None
        return PlaybackFinished(self.basis, heard), asked_ms if self.ended_ms is None else max(asked_ms, self.ended_ms)

    def cut(self, now_ms: float) -> Told:
        """Its end, when it was cut."""
        text, words = self.sound.heard()
        fact = PlaybackCut(
            self.basis,
            heard_ms=self.sound.heard_ms,
            heard_text=text,
            heard_words=words,
            cut_words=sum(count_words(clause.text) for clause in self.sound.clauses),
            dropped_samples=resampled_count(self.sound.total - self.sound.played, self.sound.rate_hz, RATE_HZ),
        )
        asked_ms = now_ms if self.cut_asked_ms is None else self.cut_asked_ms
        return fact, asked_ms if self.audible_ms is None else self.audible_ms
