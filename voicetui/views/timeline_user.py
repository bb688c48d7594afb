"""The user's lanes of the timeline: speech, waiting for its end, transcription."""

from __future__ import annotations

from voicetui.events import Entry
from voicetui.events.listen import SpeechPaused, SpeechStarted, Transcribed, TranscribeFailed
from voicetui.events.orders import IMPORTED, STAGED, Commit, OpenUtterance, Reject, Revise, Transcribe
from voicetui.events.session import SessionClosed
from voicetui.views.breakdown import finite
from voicetui.views.spans import GrowingSpan, SpanBoard


class UserLanes:
    """Draws the lanes ``you``, ``endpoint`` and ``transcribe`` on a board."""

    def __init__(self, board: SpanBoard) -> None:
        self._board = board
        self._open = False
        self._turn: int | None = None
        self._speech: GrowingSpan | None = None
        self._spans: list[GrowingSpan] = []
        self._endpoint: GrowingSpan | None = None
        self._asked: dict[int, GrowingSpan] = {}
        self._pause_ms: float | None = None
        self._ended: tuple[int, float | None] = (-1, None)

    def user_end_ms(self, turn: int) -> float | None:
        """When the user's speech of the turn committed last ended."""
        return self._ended[1] if self._ended[0] == turn else None

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order, whose time is known."""
        at_ms, body = entry.at, entry.body
        match body:
            case SpeechStarted():
                self._speech_started(at_ms)
            case SpeechPaused():
                self._speech_paused(at_ms)
            case OpenUtterance():
                self._open, self._turn = True, body.turn
                self._spans = [self._speech] if self._speech is not None else []
                self._relabel(turn=body.turn)
            case Revise():
                self._relabel(label=body.text)
            case Transcribe():
                label = "final" if body.final else "partial"
                self._asked[body.request] = self._board.begin("transcribe", at_ms, "work", label=label, turn=self._turn)
            case Transcribed():
                self._transcribed(body, at_ms)
            case TranscribeFailed():
                self._give_up(at_ms, body.request)
            case Commit():
                self._commit(body, at_ms)
            case Reject():
                self._reject(body, at_ms)
            case SessionClosed():
                self._close(at_ms)
            case _:
                pass

    def _speech_started(self, at_ms: float) -> None:
        if self._speech is not None:
            self._board.end(self._speech, at_ms)
        self._speech = self._board.begin("you", at_ms, "audio", turn=self._turn if self._open else None)
        if self._open:
            self._spans.append(self._speech)
        self._end_wait(at_ms, "the user went on", discarded=True)

    def _speech_paused(self, at_ms: float) -> None:
        speech, self._speech = self._speech, None
        if speech is None:
            return
        self._board.end(speech, at_ms)
        if self._open:
            self._pause_ms = at_ms
            self._end_wait(at_ms, "", discarded=True)
            self._endpoint = self._board.begin("endpoint", at_ms, "work", turn=self._turn)
        elif speech.turn is not None and self._ended == (speech.turn, None):
            self._ended = (speech.turn, at_ms)

    def _relabel(self, label: str | None = None, turn: int | None = None) -> None:
        """The words go on the utterance's first span, the turn on all."""
        for place, span in enumerate(self._spans):
            span.label = label if label is not None and place == 0 else span.label
            span.turn = turn if turn is not None else span.turn
            self._board.changed(span)

    def _transcribed(self, body: Transcribed, at_ms: float) -> None:
        span = self._asked.pop(body.request, None)
        if span is None:
            span = self._board.begin("transcribe", at_ms, "work", turn=self._turn)
        span.start_ms = finite(body.started_ms) or span.start_ms
        span.label = body.text
        span.kind = "discarded" if body.doubt else "work"
        self._board.end(span, at_ms)
        for request in [request for request in self._asked if request < body.request]:
            self._give_up(at_ms, request)

    def _give_up(self, at_ms: float, request: int) -> None:
        """Nothing came of a transcription."""
        span = self._asked.pop(request, None)
        if span is not None:
            span.kind = "discarded"
            self._board.end(span, at_ms)

    def _end_wait(self, at_ms: float, label: str, discarded: bool) -> None:
        wait, self._endpoint = self._endpoint, None
        if wait is not None:
            wait.label, wait.kind = label, "discarded" if discarded else "work"
            self._board.end(wait, at_ms)

    def _commit(self, body: Commit, at_ms: float) -> None:
        turn = body.basis.turn
        label = why_over(body)
        if body.reason != IMPORTED:  # when a turn was decided to be over is not known of a call recorded elsewhere
            self._board.mark(at_ms, "commit", label, turn)
        self._ended = (turn, None)
        if body.utterance is None:
            return
        self._relabel(label=body.text, turn=turn)
        if self._speech is None:
            self._ended = (turn, self._pause_ms)
        self._end_wait(at_ms, label, discarded=False)
        if body.reason == STAGED:  # its words still come
            self._open, self._pause_ms = False, None
        else:
            self._forget(at_ms)

    def _reject(self, body: Reject, at_ms: float) -> None:
        self._board.mark(at_ms, "reject", body.reason, self._turn)
        for span in self._spans:
            span.kind, span.turn = "discarded", None
            self._board.changed(span)
        if self._spans and body.text:
            self._spans[0].label = body.text
        self._end_wait(at_ms, body.reason, discarded=True)
        self._forget(at_ms)

    def _forget(self, at_ms: float) -> None:
        """The utterance is over."""
        for request in list(self._asked):
            self._give_up(at_ms, request)
        self._open, self._turn, self._pause_ms, self._spans = False, None, None, []

    def _close(self, at_ms: float) -> None:
        self._end_wait(at_ms, "", discarded=True)
        if self._speech is not None:
            self._board.end(self._speech, at_ms)
            self._speech = None
        self._forget(at_ms)


def why_over(commit: Commit) -> str:
    """Why the turn was over: the reason, the silence it was measured against, the scores of sound and words, and for
    how long it stayed open for its reply.

    >>> why_over(Commit(Basis(1, 1, 1), 1, "Hello.", "turn model", 240.0, 0.97))
    'turn model, 240 ms, score 0.97'
    """
    silence = f", {commit.silence_ms:.0f} ms" if commit.silence_ms is not None else ""
    score = f", score {commit.score:.2f}" if commit.score is not None else ""
    score += f", words {commit.words_score:.2f}" if commit.words_score is not None else ""
    held = f", open {commit.held_ms:.0f} ms more for the reply" if abs(commit.held_ms) > 0.5 else ""
    return commit.reason + silence + score + held
