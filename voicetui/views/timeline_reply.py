"""The reply's lanes of the timeline: context, tokens, clauses, synthesis, and what the speaker played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from voicetui.events import Basis, Entry
from voicetui.events.orders import BargeIn, Cancel, Commit, EndTurn, Generate, Synthesize
from voicetui.events.reply import (
    ClauseCut,
    ContextReady,
    GenerationCancelled,
    GenerationEnded,
    GenerationFailed,
    RequestSent,
    TokensArrived,
)
from voicetui.events.session import SessionClosed
from voicetui.events.speak import (
    ClauseEnded,
    ClauseStarted,
    ClauseSynthesized,
    PlaybackCut,
    PlaybackDucked,
    PlaybackPaused,
    PlaybackResumed,
    SpeakerDry,
    SynthesisFailed,
)
from voicetui.views.breakdown import difference_ms, finite
from voicetui.views.spans import GrowingSpan, Lane, SpanBoard, SpanKind

_Playback = ClauseStarted | ClauseEnded | PlaybackDucked | PlaybackPaused | PlaybackResumed | PlaybackCut


@dataclass(slots=True)
class _Reply:
    """The spans of one basis."""

    basis: Basis
    committed: bool
    context: GrowingSpan | None = None
    llm: GrowingSpan | None = None
    text_from_ms: float | None = None
    answered: bool = False
    clauses: dict[int, GrowingSpan] = field(default_factory=dict)
    synthesis: dict[int, GrowingSpan] = field(default_factory=dict)
    speaker: GrowingSpan | None = None
    heard: set[int] = field(default_factory=set)
    away: bool = False

    def work(self) -> list[GrowingSpan]:
        """Every span that is not sound."""
        first = [span for span in (self.context, self.llm) if span is not None]
        return [*first, *self.clauses.values(), *self.synthesis.values()]

    def unheard(self) -> list[GrowingSpan]:
        """The work on clauses that were not heard; all of it if none was."""
        if not self.heard:
            return self.work()
        return [span for part in (self.clauses, self.synthesis) for n, span in part.items() if n not in self.heard]


class ReplyLanes:
    """Draws the lanes ``context``, ``llm``, ``clauses``, ``synthesis`` and ``speaker`` on a board.

    ``user_end_ms`` tells when the speech of a turn ended, for the mark of its gap.
    """

    def __init__(self, board: SpanBoard, user_end_ms: Callable[[int], float | None]) -> None:
        self._board = board
        self._user_end_ms = user_end_ms
        self._replies: dict[Basis, _Reply] = {}
        self._committed: Basis | None = None
        self._last_ended = -1

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order, whose time is known."""
        at_ms, body = entry.at, entry.body
        match body:
            case Commit():
                self._commit(body.basis, at_ms)
            case Cancel():
                self._cancel(body.basis, at_ms)
            case EndTurn():
                self._end_turn(body, at_ms)
            case SessionClosed():
                for reply in self._replies.values():
                    self._stop(reply, at_ms)
            case BargeIn():
                onset_ms = finite(body.onset_ms)
                self._board.mark(at_ms if onset_ms is None else onset_ms, "barge_in", body.kind, body.basis.turn)
            case SpeakerDry():
                self._board.mark(at_ms, "dry", f"{body.ms:.0f} ms", body.basis.turn)
            case Generate() | ContextReady() | RequestSent() | TokensArrived():
                self._generation(body, at_ms)
            case GenerationEnded() | GenerationFailed() | GenerationCancelled():
                self._end_stream(body.basis, at_ms)
            case ClauseCut() | Synthesize() | ClauseSynthesized() | SynthesisFailed():
                self._clause(body, at_ms)
            case _:
                self._playback(entry)

    def _reply(self, basis: Basis) -> _Reply | None:
        """The reply on this basis; None once its turn is over."""
        if basis.turn <= self._last_ended:
            return None
        if basis not in self._replies:
            self._replies[basis] = _Reply(basis, committed=basis == self._committed)
        return self._replies[basis]

    def _begin(
        self, reply: _Reply, lane: Lane, start_ms: float, label: str, end_ms: float | None = None
    ) -> GrowingSpan:
        kind: SpanKind = "work" if reply.committed else "speculative"
        return self._board.begin(lane, start_ms, kind, end_ms=end_ms, label=label, basis=reply.basis)

    def _generation(self, body: Generate | ContextReady | RequestSent | TokensArrived, at_ms: float) -> None:
        reply = self._reply(body.basis)
        if reply is None:
            return
        match body:
            case Generate():
                reply.committed = not body.speculative
                reply.context = self._begin(reply, "context", at_ms, body.tier)
            case ContextReady():
                if reply.context is None:
                    reply.context = self._begin(reply, "context", at_ms, "")
                reply.context.start_ms = finite(body.started_ms) or reply.context.start_ms
                self._board.end(reply.context, at_ms)
            case RequestSent():
                if reply.context is not None:
                    self._board.end(reply.context, at_ms)
                reply.llm = self._begin(reply, "llm", at_ms - (finite(body.connect_ms) or 0.0), body.tier)
            case TokensArrived():
                times_ms = [token.at_ms for token in body.tokens if token.text and finite(token.at_ms) is not None]
                if not times_ms or body.reasoning or reply.answered:
                    return
                reply.answered, reply.text_from_ms = True, times_ms[0]
                if reply.llm is None:
                    reply.llm = self._begin(reply, "llm", times_ms[0], "")
                self._board.mark(times_ms[0], "first_token", "", body.basis.turn)

    def _end_stream(self, basis: Basis, at_ms: float) -> None:
        reply = self._reply(basis)
        if reply is not None and reply.llm is not None:
            self._board.end(reply.llm, at_ms)

    def _clause(self, body: ClauseCut | Synthesize | ClauseSynthesized | SynthesisFailed, at_ms: float) -> None:
        reply = self._reply(body.basis)
        if reply is None:
            return
        number = body.clause
        match body:
            case ClauseCut():
                start_ms = at_ms if reply.text_from_ms is None else min(at_ms, reply.text_from_ms)
                reply.clauses[number] = self._begin(reply, "clauses", start_ms, body.text.strip(), at_ms)
                reply.text_from_ms = at_ms
            case Synthesize():
                reply.synthesis[number] = self._begin(reply, "synthesis", at_ms, body.spoken)
            case ClauseSynthesized():
                if number not in reply.synthesis:
                    reply.synthesis[number] = self._begin(reply, "synthesis", at_ms, "")
                span = reply.synthesis[number]
                span.start_ms = finite(body.started_ms) or span.start_ms
                self._board.end(span, at_ms)
            case SynthesisFailed():
                if number in reply.synthesis:
                    self._discard(reply.synthesis[number], at_ms)

    def _playback(self, entry: Entry) -> None:
        at_ms, body = entry.at, entry.body
        if not isinstance(body, _Playback):
            return
        reply = self._reply(body.basis)
        if reply is None:
            return
        turn = body.basis.turn
        match body:
            case ClauseStarted():
                self._clause_started(reply, body.clause, at_ms)
            case ClauseEnded():
                self._silence(reply, at_ms)
            case PlaybackDucked():
                self._board.mark(at_ms, "duck", "", turn)
            case PlaybackPaused():
                self._board.mark(at_ms, "pause", "", turn)
                reply.away = reply.speaker is not None and reply.speaker.end_ms is None
                self._silence(reply, at_ms)
            case PlaybackResumed():
                self._board.mark(at_ms, "resume", "", turn)
                if reply.away and reply.speaker is not None:
                    label = reply.speaker.label
                    reply.speaker = self._board.begin("speaker", at_ms, "audio", label=label, basis=reply.basis)
                reply.away = False
            case PlaybackCut():
                self._board.mark(at_ms, "cut", body.heard_text, turn)
                self._silence(reply, at_ms)

    def _clause_started(self, reply: _Reply, number: int, at_ms: float) -> None:
        self._silence(reply, at_ms)
        user_end_ms = self._user_end_ms(reply.basis.turn)
        if number >= 0 and not any(heard >= 0 for heard in reply.heard) and user_end_ms is not None:
            self._board.mark(at_ms, "gap", f"{difference_ms(at_ms, user_end_ms):.0f} ms", reply.basis.turn)
        reply.heard.add(number)
        label = reply.clauses[number].label if number in reply.clauses else ""
        reply.speaker = self._board.begin("speaker", at_ms, "audio", label=label, basis=reply.basis)

    def _silence(self, reply: _Reply, at_ms: float) -> None:
        if reply.speaker is not None:
            self._board.end(reply.speaker, at_ms)

    def _discard(self, span: GrowingSpan, at_ms: float) -> None:
        span.kind = "discarded"
        self._board.end(span, at_ms)
        self._board.changed(span)

    def _stop(self, reply: _Reply, at_ms: float) -> None:
        """End whatever still grows."""
        for span in reply.work():
            self._board.end(span, at_ms)
        self._silence(reply, at_ms)

    def _commit(self, basis: Basis, at_ms: float) -> None:
        """Its own draft is the turn's reply now; any other was for nothing."""
        self._committed = basis
        for other in [other for other in self._replies if other.turn <= basis.turn]:
            if other == basis:
                self._replies[other].committed = True
            else:
                self._cancel(other, at_ms)
                del self._replies[other]

    def _cancel(self, basis: Basis, at_ms: float) -> None:
        """End the work. What is audible ends with the fact that says so, and so does a stream that is being closed."""
        reply = self._replies.get(basis)
        if reply is None:
            return
        for span in reply.work():
            if not reply.heard:
                self._discard(span, at_ms)
            elif span is not reply.llm:
                self._board.end(span, at_ms)

    def _end_turn(self, body: EndTurn, at_ms: float) -> None:
        for basis in [basis for basis in self._replies if basis.turn <= body.turn]:
            reply = self._replies.pop(basis)
            self._stop(reply, at_ms)
            if body.outcome == "completed":
                continue
            for span in reply.unheard():
                self._discard(span, at_ms)
        self._last_ended = max(self._last_ended, body.turn)
