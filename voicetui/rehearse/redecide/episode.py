"""One recorded episode, decided again: recorded facts, today's rules, perhaps other numbers. Pure.

Facts are handed in when they were. Wakes are fired when they are due now; recorded ones that nobody asks for now are
dropped. A fact that answers an order counts only if that order is given now. Transcripts, scores and look-ups are the
same whenever they are asked for, so those asked for at another time are taken to come as long after as they did. A
reply is not: where it would be asked for, made or heard at another time, the recording does not know what comes next,
and the run ends.
"""

from __future__ import annotations

import heapq

import msgspec

from voicetui.conversation.decide import decide
from voicetui.conversation.state import Reply, State
from voicetui.events import Basis, Entry, Fact, Order
from voicetui.events.orders import (
    AssembleContext,
    Cancel,
    Commit,
    Cut,
    Duck,
    FinishPlayback,
    GateMic,
    Generate,
    Pause,
    Play,
    QuickenEar,
    Resume,
    ScoreTurn,
    ScoreWords,
    Synthesize,
    Transcribe,
    UseDevice,
    WakeAt,
)
from voicetui.events.session import Woke
from voicetui.events.speak import (
    ClauseEnded,
    ClauseStarted,
    PlaybackCut,
    PlaybackDucked,
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
)
from voicetui.rehearse.redecide.decisions import Decision, Episode
from voicetui.rehearse.redecide.twins import Asked, RecordedOrder, Twins, question_place

ReplyWork = Generate | Synthesize | Play | FinishPlayback | Duck | Pause | Resume | Cut | Cancel
"""Orders that make the facts of a reply what they are."""
Holding = Duck | Pause | Resume | Cut | Cancel
"""Those that somebody speaking over it brings about: what they change shows when it would be heard."""
Heard = ClauseStarted | ClauseEnded | PlaybackDucked | PlaybackPaused | PlaybackResumed | PlaybackCut | PlaybackFinished
Steering = GateMic | QuickenEar | UseDevice
"""Orders that change what can be heard."""

_WHY: dict[type[Order], str] = {
    Generate: "the reply would be asked for at another time",
    Synthesize: "the reply's sound would be made at another time",
    Play: "the reply would be heard at another time",
    FinishPlayback: "the reply would end at another time",
    Cancel: "the reply would be given up at another time",
}
HEARD_OTHERWISE = "pauses would be heard otherwise"
_OTHER_STOP = "the reply would be held or silenced at another time"


class Given(msgspec.Struct, frozen=True):
    """An order given now, with the numbers it has in the recording if it is there.

    ``cause`` is the recorded fact it was given on (None: a wake or an answer that came at another time), ``place`` that
    of the same order among the recorded ones of the episode.
    """

    order: Order
    at_ms: float
    cause: int | None
    place: int | None


class Unknown(msgspec.Struct, frozen=True):
    """From when on the recording cannot say what would have come, and why. ``commit`` too: it may come otherwise."""

    at_ms: float
    why: str
    commit: bool = False


class EpisodeRun(msgspec.Struct, frozen=True):
    """What is decided now. ``recorded`` are the journal's orders; the run took in the first ``compared``.

    ``state`` is what is known at its end, ``orphans`` are facts that answer nothing asked for now, ``moved`` tells
    whether an answer was taken to come at another time than recorded.
    """

    given: tuple[Given, ...]
    recorded: tuple[RecordedOrder, ...]
    compared: int
    state: State
    unknown: Unknown | None
    orphans: tuple[Entry, ...]
    unanswered: tuple[Order, ...]
    moved: bool


def run_episode(seed: State, episode: Episode) -> EpisodeRun:
    """Decide an episode again, from ``seed`` on."""
    return _Run(seed, episode).go()


def unheard(seed: State, episode: Episode) -> EpisodeRun:
    """An episode of which nothing is decided, for its speech would be heard otherwise."""
    unknown = Unknown(episode.begins_ms, HEARD_OTHERWISE, commit=True)
    return EpisodeRun((), tuple(Twins(episode).recorded), 0, seed, unknown, (), (), False)


class _Run:
    def __init__(self, seed: State, episode: Episode) -> None:
        self._seed = seed
        self._state = seed
        self._episode = episode
        self._twins = Twins(episode)
        self._pending: list[tuple[float, int, Fact]] = []
        self._posted = 0
        self._taken = -1
        self._now_ms = episode.begins_ms
        self._given: list[Given] = []
        self._paired: dict[int, int | None] = {}
        self._tainted: dict[Basis, Order] = {}
        """Replies whose recorded facts are no longer theirs, by the first order that is not as recorded."""
        self._skipped: set[int] = set()
        self._orphans: list[Entry] = []
        self._unanswered: list[Order] = []
        self._unknown: Unknown | None = None
        self._moved = False

    def go(self) -> EpisodeRun:
        last_ms = self._episode.begins_ms
        for decision in self._episode.decisions:
            self._fire_until(decision.told_ms)
            if self._unknown is None:
                self._take(decision)
            if self._unknown is not None:
                break
            last_ms = decision.told_ms
        else:
            self._fire_until(last_ms if self._episode.ends_ms is None else self._episode.ends_ms)
        self._check(self._now_ms, heard=True)
        return EpisodeRun(
            given=tuple(self._given),
            recorded=tuple(self._twins.recorded),
            compared=sum(each.cause <= self._taken for each in self._twins.recorded),
            state=self._state,
            unknown=self._unknown,
            orphans=tuple(self._orphans),
            unanswered=tuple(self._unanswered),
            moved=self._moved,
        )

    def _fire_until(self, until_ms: float) -> None:
        while self._unknown is None and self._pending and self._pending[0][0] <= until_ms:
            at_ms, _, fact = heapq.heappop(self._pending)
            self._decide(fact, at_ms, at_ms, None)

    def _take(self, decision: Decision) -> None:
        seq = decision.entry.seq
        fact = self._fact_now(decision.entry)
        if fact is not None and self._is_void(fact):
            fact = None
            self._check(decision.told_ms, heard=True)
            if self._unknown is not None:
                return
        self._taken = seq
        if fact is not None:
            self._decide(fact, decision.entry.at, decision.told_ms, seq)
        for place, each in enumerate(self._twins.recorded):
            if each.cause == seq and self._paired.get(place, None) != seq:
                self._missed(each.order, decision.told_ms)
        self._check(decision.told_ms)

    def _fact_now(self, entry: Entry) -> Fact | None:
        """A recorded fact as it is now; None if it answers nothing that was asked, or has been answered already."""
        fact = entry.body
        assert isinstance(fact, Fact)
        if entry.seq in self._skipped:
            return None
        question, basis = question_place(entry), getattr(fact, "basis", None)
        if question is not None and self._asked_before(*question):
            return fact
        if isinstance(basis, Basis) and self._begun_before(basis):
            return fact
        now = self._twins.translated(fact)
        if now is None:
            if not isinstance(fact, Woke):
                self._orphans.append(entry)
            return None
        return now

    def _is_void(self, fact: Fact) -> bool:
        """Whether a fact tells of a reply that is another now. A draft is made all the same if it is not heard."""
        basis = getattr(fact, "basis", None)
        order = self._tainted.get(basis) if isinstance(basis, Basis) else None
        return order is not None and (isinstance(fact, Heard) or not isinstance(order, Play))

    def _asked_before(self, kind: str, number: int) -> bool:
        seed = self._seed
        if kind == "context":
            return number <= seed.context.number
        return number < {"wake": seed.next_wake, "request": seed.next_request}.get(kind, seed.next_prewarm)

    def _begun_before(self, basis: Basis) -> bool:
        turn, attempt = self._seed.next_turn, self._seed.attempt
        return basis.turn < turn or (basis.turn == turn and basis.attempt <= attempt)

    def _decide(self, fact: Fact, at_ms: float, now_ms: float, cause: int | None) -> None:
        self._now_ms = now_ms
        before = self._state
        entry = Entry(cause if cause is not None else self._taken, at_ms, fact)  # type: ignore[arg-type]
        self._state, orders = decide(before, entry)
        for order in orders:
            as_recorded, place = self._twins.pair(order, cause)
            if place is not None:
                self._paired[place] = cause
            self._given.append(Given(as_recorded, now_ms, cause, place))
            self._follow(order, place, cause)
            if isinstance(order, Commit):
                self._committed(before, order)
        self._check(now_ms)

    def _follow(self, order: Order, place: int | None, cause: int | None) -> None:
        """See to it that an order is answered as it was; what cannot be answered is noted."""
        recorded = self._twins.recorded[place] if place is not None else None
        on_time = recorded is not None and recorded.cause == cause
        match order:
            case WakeAt():
                answer = self._twins.answer_to(recorded.order) if recorded is not None else None
                if recorded is None or (answer is not None and answer.entry.seq <= self._taken):
                    self._post(max(self._now_ms, order.due_ms), Woke(order.wake))
            case Transcribe() | ScoreTurn() | ScoreWords() | AssembleContext():
                self._ask(order, recorded, on_time)
            case (
                Generate() | Synthesize() | Play() | FinishPlayback() | Duck() | Pause() | Resume() | Cut() | Cancel()
            ) if not on_time:
                self._taint(order.basis, order)
            case GateMic() | QuickenEar() | UseDevice() if not on_time:
                self._stop(HEARD_OTHERWISE)
            case _:
                pass

    def _ask(self, order: Asked, recorded: RecordedOrder | None, on_time: bool) -> None:
        if recorded is None:
            self._unanswered.append(order)
            self._not_asked_then(order)
            return
        answer = self._twins.answer_to(recorded.order)
        if answer is None or on_time:
            return
        fact = self._twins.translated(answer.entry.body)  # type: ignore[arg-type]
        if fact is not None:
            self._skipped.add(answer.entry.seq)
            self._moved = True
            self._post(self._now_ms + max(0.0, answer.told_ms - recorded.at_ms), fact)

    def _not_asked_then(self, order: Asked) -> None:
        """Nobody knows the answer, nor when it would have come: a partial transcript alone decides nothing, unless it
        is of speech over a reply.
        """
        utterance = self._state.utterance
        match order:
            case Transcribe() if order.end_sample is not None:
                self._stop("the words up to that pause were not transcribed", commit=True)
            case Transcribe() if utterance is not None and utterance.over and not utterance.bid:
                self._stop("what was said over the reply is transcribed at another time")
            case ScoreTurn():
                self._stop("the end-of-turn model was not asked then", commit=True)
            case ScoreWords():
                self._stop("the model that scores words was not asked then", commit=True)
            case AssembleContext():
                self._stop("the notes were not asked then", commit=True)
            case _:
                pass

    def _post(self, at_ms: float, fact: Fact) -> None:
        self._posted += 1
        heapq.heappush(self._pending, (at_ms, self._posted, fact))

    def _missed(self, order: Order, at_ms: float) -> None:
        """A recorded order was not given on the fact on which it was."""
        self._now_ms = at_ms
        if isinstance(order, ReplyWork):
            basis = order.basis if self._begun_before(order.basis) else self._twins.basis_now(order.basis)
            if basis is not None:
                self._taint(basis, order)
        elif isinstance(order, Steering):
            self._stop(HEARD_OTHERWISE)

    def _taint(self, basis: Basis, order: Order) -> None:
        self._tainted.setdefault(basis, order)

    def _committed(self, before: State, order: Commit) -> None:
        if order.basis in self._tainted and not _can_be_heard(before.draft):
            self._stop(_why(self._tainted[order.basis]), commit=True)

    def _check(self, now_ms: float, heard: bool = False) -> None:
        """The recording tells nothing more once the reply that has the floor is not the recorded one.

        One that is only held or cut otherwise is the recorded one until more, or less, of it is ``heard``.
        """
        ending = self._state.ending
        for reply in (self._state.reply, ending.reply if ending is not None else None):
            order = self._tainted.get(reply.basis) if reply is not None else None
            if order is not None and (heard or not isinstance(order, Holding)) and self._unknown is None:
                self._unknown = Unknown(now_ms, _why(order))

    def _stop(self, why: str, commit: bool = False) -> None:
        if self._unknown is None:
            self._unknown = Unknown(self._now_ms, why, commit)


def _can_be_heard(draft: Reply | None) -> bool:
    return draft is not None and any(clause.state == "ready" for clause in draft.clauses)


def _why(order: Order) -> str:
    return _WHY.get(type(order), _OTHER_STOP)
