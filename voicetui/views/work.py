"""The program's side of a turn: what was done on each basis, and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from voicetui.events import Basis, Entry
from voicetui.events.orders import Generate, Play, Synthesize
from voicetui.events.reply import (
    ClauseCut,
    ContextReady,
    FirstByte,
    GenerationEnded,
    GenerationFailed,
    RequestSent,
    TokensArrived,
)
from voicetui.events.speak import ClauseBegun, ClauseStarted, ClauseSynthesized
from voicetui.views.breakdown import finite
from voicetui.views.speech import SpeechFold, Words

_Generation = ContextReady | RequestSent | FirstByte | TokensArrived | GenerationEnded | GenerationFailed

COLD_CONNECT_MS = 20.0
"""Connecting that takes less goes to this machine, or to the next one: nobody calls that cold."""

Gathered = Literal["", "bursts", "one piece"]

_LEAST_GATHERED = 8
_GATHERED = 4
_TOGETHER_MS = 5.0
_BURST_PAUSE_MS = 100.0
"""A reply of eight tokens or more came gathered where they came four at once or more, every 100 ms or less often."""

CACHED_NOTE = "cached"
"""The note of a ``GenerationEnded`` whose reply came from the reply cache."""


@dataclass(frozen=True, slots=True)
class Sound:
    """A clause's synthesis: begun, first samples, whole. ``seq`` is the place of the fact in the journal."""

    seq: int
    started_ms: float | None
    first_audio_ms: float | None
    whole_ms: float | None
    cached: bool = False


@dataclass(slots=True)
class Work:
    """What was done on one basis, ms on the session clock; dictionaries are by clause number, first things first."""

    basis: Basis
    asked_seq: int = 0
    asked_ms: float | None = None
    speculative: bool = False
    tier: str = ""
    transcript: Words | None = None
    context_started_ms: float | None = None
    context_ms: float | None = None
    request_ms: float | None = None
    connection: str | None = None
    connect_ms: float | None = None
    first_request: bool = False
    first_byte_ms: float | None = None
    first_token_ms: float | None = None
    first_answer_ms: float | None = None
    last_token_ms: float | None = None
    ended_seq: int | None = None
    ended_ms: float | None = None
    tokens: int | None = None
    tokens_estimated: bool = False
    unseen_tokens: int = 0
    pieces: int = 0
    arrivals: int = 0
    """How many times text came: pieces that came together count once."""
    arrived_ms: float = float("-inf")
    cached: bool = False
    failure: str = ""
    clause_ms: dict[int, float | None] = field(default_factory=dict)
    synthesis_seq: dict[int, int] = field(default_factory=dict)
    sounds: dict[int, Sound] = field(default_factory=dict)
    play_seq: dict[int, int] = field(default_factory=dict)
    play_ms: dict[int, float | None] = field(default_factory=dict)
    due_ms: float | None = None
    heard_ms: dict[int, float | None] = field(default_factory=dict)

    def reply_clause(self) -> int | None:
        """The clause of the reply heard first. Clauses below 0 (fillers, error sentences) are not the reply."""
        heard = ((at_ms, clause) for clause, at_ms in self.heard_ms.items() if clause >= 0 and at_ms is not None)
        return min(heard, default=(0.0, None))[1]

    def first_clause_number(self) -> int:
        """The clause heard first, else the first that has sound, else the first that was cut."""
        heard = self.reply_clause()
        if heard is not None:
            return heard
        return next((clause for clause in (*self.sounds, *self.clause_ms) if clause >= 0), 0)

    def begins_cached(self) -> bool:
        """Whether what was heard first was made for an earlier reply: all of the text, or the sound of this clause.

        Either spares the gap a stage, so such a turn is reported apart.
        """
        clause = self.reply_clause()
        return self.cached or (clause in self.sounds and self.sounds[clause].cached if clause is not None else False)

    def filler_ms(self) -> float | None:
        """When something other than the reply itself was first heard."""
        return min((at_ms for clause, at_ms in self.heard_ms.items() if clause < 0 and at_ms is not None), default=None)

    def text_ms(self, clause: int) -> float | None:
        """When the text was there that the synthesis of ``clause`` waited for: its own, or in mode ``none`` all."""
        cut_ms = self.clause_ms.get(clause)
        waited_for_all = self.ended_seq is not None and self.synthesis_seq.get(clause, 0) > self.ended_seq
        return self.ended_ms if waited_for_all and self.ended_ms is not None else cut_ms

    def sound_ready_ms(self, clause: int) -> float | None:
        """When playing ``clause`` could begin: at its first samples if it was played as it grew, else when whole."""
        sound = self.sounds.get(clause)
        if sound is None:
            return None
        played_growing = clause in self.play_seq and self.play_seq[clause] < sound.seq
        return sound.first_audio_ms if played_growing else sound.whole_ms

    @property
    def connected_anew(self) -> bool:
        """Whether the request waited for a new connection; one within the machine is there at once."""
        return self.connection == "new" and (self.connect_ms is None or self.connect_ms >= COLD_CONNECT_MS)

    def connect_started_ms(self) -> float | None:
        """When the request's work began: connecting comes before its first byte leaves."""
        return self.request_ms - (self.connect_ms or 0.0) if self.request_ms is not None else None

    def tokens_per_second(self) -> float | None:
        """Tokens after the first over the time after the first; None for a reply that was ``gathered``.

        Tokens that were never sent are left out, for their time is not known.
        """
        if self.tokens is None or self.first_token_ms is None or self.last_token_ms is None or self.gathered():
            return None
        sent, seconds = self.tokens - self.unseen_tokens, (self.last_token_ms - self.first_token_ms) / 1000
        return (sent - 1) / seconds if sent > 1 and seconds > 0 else None

    def gathered(self) -> Gathered:
        """Whether somebody on the way gathered what the model wrote, so that its own pace is not to be seen."""
        written = max(self.pieces, (self.tokens or 0) - self.unseen_tokens)
        if self.first_token_ms is None or written < _LEAST_GATHERED or written < _GATHERED * self.arrivals:
            return ""
        if self.arrivals == 1:
            return "one piece"
        pause_ms = (self.arrived_ms - self.first_token_ms) / (self.arrivals - 1)
        return "bursts" if pause_ms >= _BURST_PAUSE_MS else ""


class WorkFold:
    """Collects the work on every basis."""

    def __init__(self) -> None:
        self._works: dict[Basis, Work] = {}
        self._tiers_asked: set[str] = set()

    def of(self, basis: Basis) -> Work:
        """The work on ``basis``; empty if the journal has none yet."""
        return self._works.setdefault(basis, Work(basis))

    def feed(self, entry: Entry, speech: SpeechFold) -> Work | None:
        """Take one entry, in journal order, after ``speech`` took it. The work it belongs to, if it is any."""
        at_ms, body = finite(entry.at), entry.body
        match body:
            case Generate():
                work = self.of(body.basis)
                user = speech.of_turn(body.basis.turn)
                work.asked_seq, work.asked_ms, work.tier = entry.seq, at_ms, body.tier
                work.speculative, work.transcript = body.speculative, user.words if user is not None else None
            case ClauseCut():
                work = self.of(body.basis)
                work.clause_ms.setdefault(body.clause, at_ms)
            case Synthesize():
                work = self.of(body.basis)
                work.synthesis_seq.setdefault(body.clause, entry.seq)
            case ClauseBegun():
                work = self.of(body.basis)
                work.sounds.setdefault(body.clause, Sound(entry.seq, finite(body.started_ms), at_ms, at_ms))
            case ClauseSynthesized():
                work = self.of(body.basis)
                sound = Sound(entry.seq, finite(body.started_ms), finite(body.first_audio_ms), at_ms, body.cached)
                work.sounds.setdefault(body.clause, sound)
            case Play():
                work = self.of(body.basis)
                work.play_seq.setdefault(body.clause, entry.seq)
                work.play_ms.setdefault(body.clause, at_ms)
                work.due_ms = finite(body.due_ms) if work.due_ms is None else work.due_ms
            case ClauseStarted():
                work = self.of(body.basis)
                work.heard_ms.setdefault(body.clause, at_ms)
            case _:
                return self._generation(entry)
        return work

    def _generation(self, entry: Entry) -> Work | None:
        at_ms, body = finite(entry.at), entry.body
        if not isinstance(body, _Generation):
            return None
        work = self.of(body.basis)
        match body:
            case ContextReady():
                work.context_started_ms, work.context_ms = finite(body.started_ms), at_ms
            case RequestSent():
                work.request_ms, work.connection, work.tier = at_ms, body.connection, body.tier
                work.connect_ms = finite(body.connect_ms)
                work.first_request = body.tier not in self._tiers_asked
                self._tiers_asked.add(body.tier)
            case FirstByte():
                work.first_byte_ms = at_ms
            case TokensArrived():
                _tokens(work, body)
            case GenerationEnded():
                work.ended_seq, work.ended_ms = entry.seq, at_ms
                work.tokens, work.tokens_estimated = body.completion_tokens, body.estimated
                work.unseen_tokens = body.unseen_tokens
                work.cached = body.note == CACHED_NOTE
            case GenerationFailed():
                work.failure = body.message
        return work


def _tokens(work: Work, fact: TokensArrived) -> None:
    """Only a piece with text is a token; reasoning is a token but not an answer."""
    times_ms = [token.at_ms for token in fact.tokens if token.text and finite(token.at_ms) is not None]
    if not times_ms:
        return
    if work.first_token_ms is None:
        work.first_token_ms = times_ms[0]
    if work.first_answer_ms is None and not fact.reasoning:
        work.first_answer_ms = times_ms[0]
    work.last_token_ms = times_ms[-1]
    work.pieces += len(times_ms)
    for at_ms in times_ms:
        if at_ms - work.arrived_ms > _TOGETHER_MS:
            work.arrivals, work.arrived_ms = work.arrivals + 1, at_ms
