"""When each thing of a turn happened, the gap a person heard, and where it went."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from voicetui.events import Basis, Entry
from voicetui.events.orders import IMPORTED, STAGED, Commit, EndTurn, Outcome
from voicetui.views.breakdown import StagesMs, Step, difference_ms, finite, walk_back
from voicetui.views.speech import Speech, SpeechFold
from voicetui.views.timeline_user import why_over
from voicetui.views.work import Gathered, Work, WorkFold


class Points(msgspec.Struct, frozen=True, gc=False):
    """Instants of a turn, ms on the session clock. None where there was none; ``TurnLatency.missing`` says why.

    ``pause_noticed`` is when the detector knew of ``user_end``; ``filler_start`` is the first sample of something heard
    before the reply itself (clause numbers below 0).
    """

    user_end: float | None = None
    pause_noticed: float | None = None
    committed: float | None = None
    transcript: float | None = None
    context: float | None = None
    request: float | None = None
    first_byte: float | None = None
    first_token: float | None = None
    first_answer_token: float | None = None
    first_clause: float | None = None
    first_audio: float | None = None
    reply_start: float | None = None
    filler_start: float | None = None


class Missing(msgspec.Struct, frozen=True, gc=False):
    """A point a turn does not have, and why."""

    point: str
    reason: str


class TurnLatency(msgspec.Struct, frozen=True, gc=False):
    """The figures of one turn.

    ``gap_ms`` is ``reply_start`` minus ``user_end``; it is below 0 only where the reply began over the user's speech,
    and then ``overlaps_user``. ``stages_ms`` adds up to it, but for stages that are None. ``basis`` is the one whose
    reply was heard, else the committed one. ``heard`` says that the reply itself became audible. ``cold``: the first
    request of the session, or one for which connecting took its time (``work.COLD_CONNECT_MS``). ``tokens_per_second``
    counts tokens after the first over the time after the first; nobody knows it where they came ``gathered``, in bursts
    or in one piece, as through a proxy that buffers. ``staged``: a ready-made reply was held for a gap of
    ``staged_ms``, as was asked (None where the reply was never given to the speaker); no stage made that gap, so all of
    it is ``unaccounted``, as is that of a call recorded elsewhere, whose stages nobody knows.
    """

    turn: int
    basis: Basis | None
    typed: bool
    outcome: Outcome | None
    points: Points
    gap_ms: float | None
    uncertainty_ms: float | None
    stages_ms: StagesMs
    missing: tuple[Missing, ...]
    heard: bool
    cached: bool
    filler: bool
    overlaps_user: bool
    speculative: bool
    cold: bool
    connection: str | None
    tier: str
    tokens: int | None
    tokens_estimated: bool
    tokens_per_second: float | None
    staged: bool = False
    staged_ms: float | None = None
    gathered: Gathered = ""
    ended_by: str = ""
    """Why a spoken turn was over, with the silence it was measured against and the score of the end-of-turn model."""


@dataclass(slots=True)
class _Turn:
    """What is known of one turn."""

    number: int
    bases: list[Basis] = field(default_factory=list)
    commit: Commit | None = None
    committed_ms: float | None = None
    committed_seq: int = 0
    commit_waited_for_words: bool = False
    speech: Speech | None = None
    end: EndTurn | None = None

    @property
    def imported(self) -> bool:
        """Whether it was recorded elsewhere: only what was heard of it is known."""
        return self.commit is not None and self.commit.reason == IMPORTED


class LatencyView:
    """Folds a journal to the latency of its turns. ``feed`` is O(1); ``snapshot`` costs only the turns that changed."""

    def __init__(self) -> None:
        self._speech = SpeechFold()
        self._work = WorkFold()
        self._turns: dict[int, _Turn] = {}
        self._measured: dict[int, TurnLatency] = {}
        self._stale: set[int] = set()

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        at, body = entry.at, entry.body
        self._speech.feed(entry)
        if self._speech.settled is not None and self._speech.settled.turn is not None:
            self._stale.add(self._speech.settled.turn)
        work = self._work.feed(entry, self._speech)
        if work is not None:
            turn = self._turn(work.basis.turn)
            if work.basis not in turn.bases:
                turn.bases.append(work.basis)
        match body:
            case Commit():
                turn = self._turn(body.basis.turn)
                turn.commit, turn.committed_ms, turn.committed_seq = body, finite(at), entry.seq
                turn.commit_waited_for_words = self._speech.words_just_came(body.utterance)
                turn.speech = self._speech.of_turn(body.basis.turn) if body.utterance is not None else None
            case EndTurn():
                self._turn(body.turn).end = body
            case _:
                pass

    def snapshot(self) -> tuple[TurnLatency, ...]:
        """The turns that were committed or ended so far, in order."""
        for number in self._stale:
            turn = self._turns[number]
            if turn.commit is not None or turn.end is not None:
                self._measured[number] = self._measure(turn)
        self._stale.clear()
        return tuple(self._measured[number] for number in sorted(self._measured))

    def _turn(self, number: int) -> _Turn:
        self._stale.add(number)
        return self._turns.setdefault(number, _Turn(number))

    def _reply(self, turn: _Turn) -> Work | None:
        """The work that was heard, else the work that was committed, else none."""
        works = [self._work.of(basis) for basis in turn.bases]
        heard = [work for work in works if work.reply_clause() is not None]
        if heard:
            return heard[-1]
        committed = turn.commit.basis if turn.commit is not None else None
        return next((work for work in works if work.basis == committed), None)

    def _measure(self, turn: _Turn) -> TurnLatency:
        work = self._reply(turn) or Work(turn.commit.basis if turn.commit is not None else Basis(turn.number, 0, 0))
        points = _points(turn, work)
        typed = turn.commit is not None and turn.commit.utterance is None and not turn.imported
        staged = turn.commit is not None and turn.commit.reason == STAGED
        gap_ms = staged_ms = None
        stages_ms = StagesMs()
        if points.reply_start is not None and points.user_end is not None:
            gap_ms = difference_ms(points.reply_start, points.user_end)
            stages_ms = walk_back(_path(turn, work, points), points.user_end)
        if staged or turn.imported:
            stages_ms = StagesMs(unaccounted=gap_ms)
        if staged and work.due_ms is not None and points.user_end is not None:
            staged_ms = difference_ms(work.due_ms, points.user_end)
        return TurnLatency(
            turn=turn.number,
            basis=work.basis,
            typed=typed,
            outcome=turn.end.outcome if turn.end is not None else None,
            points=points,
            gap_ms=gap_ms,
            uncertainty_ms=turn.speech.uncertainty_ms if turn.speech is not None and gap_ms is not None else None,
            stages_ms=stages_ms,
            missing=_missing(turn, work, points, typed),
            heard=points.reply_start is not None,
            cached=work.begins_cached(),
            filler=points.filler_start is not None,
            overlaps_user=gap_ms is not None and gap_ms < 0,
            speculative=work.speculative,
            cold=work.first_request or work.connected_anew,
            connection=work.connection,
            tier=work.tier,
            tokens=work.tokens,
            tokens_estimated=work.tokens_estimated,
            tokens_per_second=None if staged else work.tokens_per_second(),
            gathered="" if staged else work.gathered(),
            staged=staged,
            staged_ms=staged_ms,
            ended_by=why_over(turn.commit) if turn.commit is not None and not typed else "",
        )


def fold_latency(entries: Iterable[Entry]) -> tuple[TurnLatency, ...]:
    """The latency of every turn in ``entries``."""
    view = LatencyView()
    for entry in entries:
        view.feed(entry)
    return view.snapshot()


def _points(turn: _Turn, work: Work) -> Points:
    clause = work.first_clause_number()
    if turn.imported:
        user_end_ms = turn.speech.user_end_ms if turn.speech is not None else None
        return Points(user_end=user_end_ms, reply_start=work.heard_ms.get(clause))
    sound = work.sounds.get(clause)
    return Points(
        user_end=turn.speech.user_end_ms if turn.speech is not None else None,
        pause_noticed=turn.speech.noticed_ms if turn.speech is not None else None,
        committed=turn.committed_ms,
        transcript=work.transcript.at_ms if work.transcript is not None else None,
        context=work.context_ms,
        request=work.request_ms,
        first_byte=work.first_byte_ms,
        first_token=work.first_token_ms,
        first_answer_token=work.first_answer_ms,
        first_clause=work.clause_ms.get(clause),
        first_audio=sound.first_audio_ms if sound is not None else None,
        reply_start=work.heard_ms.get(clause),
        filler_start=work.filler_ms(),
    )


def _path(turn: _Turn, work: Work, points: Points) -> Step:
    """What the first audible sample waited for, as steps back to the user's last sound."""
    clause = work.first_clause_number()
    transcript = _transcript_step(turn, work)
    over_ms = points.committed
    if over_ms is not None and turn.commit is not None:
        over_ms -= turn.commit.held_ms  # what it was put off for is charged where the time went
    commit = Step("endpoint", points.user_end, over_ms)
    if turn.commit_waited_for_words:
        commit = Step("endpoint", None, over_ms, (transcript,))
    committed_first = (commit,) if turn.committed_seq < work.asked_seq else ()
    context = Step("context", work.context_started_ms, points.context, (transcript, *committed_first))
    token = Step("first_token", work.connect_started_ms(), points.first_token, (context,))
    answer = Step("first_answer_token", None, points.first_answer_token, (token,))
    text = Step("first_clause", None, work.text_ms(clause), (answer,))
    committed_first = (commit,) if turn.committed_seq < work.synthesis_seq.get(clause, 0) else ()
    sound = work.sounds.get(clause)
    synthesis = Step("synthesize", None, None, (text, *committed_first))
    if sound is not None:
        synthesis = Step("synthesize", sound.started_ms, work.sound_ready_ms(clause), (text, *committed_first))
    return Step("output", work.play_ms.get(clause), points.reply_start, (synthesis, commit))


def _transcript_step(turn: _Turn, work: Work) -> Step:
    """The transcript the reply was made from, and what it waited for: the pause, or the whole silence."""
    words, speech = work.transcript, turn.speech
    user_end_ms = speech.user_end_ms if speech is not None else None
    if words is None:
        noticed_ms = speech.noticed_ms if speech is not None else None
        return Step("transcribe", None, None, (Step("endpoint", user_end_ms, noticed_ms),))
    if words.asked_ms is None:
        return Step("transcribe", words.started_ms, words.at_ms)
    started_ms = words.asked_ms if words.started_ms is None else max(words.started_ms, words.asked_ms)
    return Step("transcribe", started_ms, words.at_ms, (Step("endpoint", user_end_ms, words.asked_ms),))


def _missing(turn: _Turn, work: Work, points: Points, typed: bool) -> tuple[Missing, ...]:
    """Every point that is None but for ``filler_start``, with the reason."""
    spoken = "nobody spoke: the turn was typed" if typed else ""
    made = "a cached reply" if work.cached else f"the tier failed: {work.failure}" if work.failure else ""
    lost = "not in the journal"
    silent = "only reasoning arrived" if points.first_token is not None else "no token arrived"
    reply = "not heard yet"
    if turn.end is not None:
        reply = f"the reply was not heard: {turn.end.outcome}" + (f", {turn.end.reason}" if turn.end.reason else "")
    if turn.imported:
        known = {"user_end": "nobody spoke before it", "reply_start": reply}
        return tuple(
            Missing(point, known.get(point, "the call was imported: only what was heard is known"))
            for point in Points.__struct_fields__
            if point != "filler_start" and getattr(points, point) is None
        )
    reasons = {
        "user_end": spoken or "the detector found no end of speech",
        "pause_noticed": spoken or "the detector found no end of speech",
        "committed": lost,
        "transcript": spoken or ("a staged reply waits for no words" if work.tier == STAGED else lost),
        "context": made or lost,
        "request": made or lost,
        "first_byte": made or lost,
        "first_token": made or "no token arrived",
        "first_answer_token": made or silent,
        "first_clause": made or "no clause was cut",
        "first_audio": made or "no sound was made",
        "reply_start": reply,
    }
    return tuple(Missing(point, reason) for point, reason in reasons.items() if getattr(points, point) is None)
