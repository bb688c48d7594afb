"""The summary of a session: one schema for every command that writes figures."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping
from typing import Any

import msgspec

from voicetui.events import Entry
from voicetui.events.listen import SpeechStarted
from voicetui.events.orders import STAGED, BargeIn, Commit, EndTurn, OpenUtterance, Outcome, Reject
from voicetui.events.session import GapStaged, OverlapChosen, SessionOpened
from voicetui.events.speak import ClauseStarted
from voicetui.views.barge_in import BargeInFigures, BargeInView, Kind, chief_barge_in
from voicetui.views.breakdown import StagesMs, finite
from voicetui.views.latency import LatencyView, TurnLatency
from voicetui.views.ledger import Ledger, LedgerView, Speculation, Waste
from voicetui.views.partials import Partials
from voicetui.views.session_state import FaultSeen, fault_of, staged_gaps_of
from voicetui.views.statistics import Stats, statistics
from voicetui.views.transcript import ReplyLine, Transcript, TranscriptView, UserLine
from voicetui.views.worth import worth

SCHEMA = 1
COLLISION_TAIL_MS = 300.0
"""Speech that begins this soon after the reply did was meant for the silence before it."""


class TurnSpeculation(msgspec.Struct, frozen=True):
    """``Speculation`` of one turn, as the schema has it."""

    attempts: int
    kept: bool
    wasted_tokens: int
    saved_ms: float


class TurnBargeIn(msgspec.Struct, frozen=True):
    """``BargeInFigures`` of one turn, as the schema has it."""

    onset_ms: float
    ducked_ms: float | None
    stop_ms: float | None
    decided_ms: float | None
    kind: Kind
    heard_words: int | None
    generated_words: int


class TurnSummary(msgspec.Struct, frozen=True):
    """One turn. ``outcome`` is None where the journal ends before the turn does."""

    turn: int
    user_text: str
    reply_text: str
    heard_text: str
    outcome: Outcome | None
    gap_ms: float | None
    uncertainty_ms: float | None
    cached: bool
    filler: bool
    stages_ms: StagesMs
    speculation: TurnSpeculation
    barge_in: TurnBargeIn | None
    staged: bool = False


class Rejected(msgspec.Struct, frozen=True):
    """An utterance that became no turn; ``at_ms`` is its onset."""

    at_ms: float
    reason: str
    text: str


class FaultSummary(msgspec.Struct, frozen=True):
    """Something that failed."""

    at_ms: float
    stage: str
    message: str


class LedgerSummary(msgspec.Struct, frozen=True):
    """What speculation cost and saved in the session, as in ``Ledger``; ``verdict`` says whether it is worth it.

    ``prewarmed_tokens`` of prompts were worked through ahead of their requests, some of them for nothing.
    """

    attempts: int
    kept: int
    wasted_tokens: int
    saved_ms: float
    turns: int
    used_tokens: int
    wasted_ms: float
    estimated: bool
    tokens_per_100_ms: float | None
    usd_per_1000_turns: float | None
    wasted_usd_per_1000_turns: float | None
    discarded: dict[str, Waste]
    verdict: str
    prewarmed_tokens: int = 0
    prewarm_wasted_tokens: int = 0
    partials: Partials = Partials()


class Summary(msgspec.Struct, frozen=True):
    """A session's figures. ``tier`` and ``overlap`` name every one that was used, joined by "+".

    Turns whose gap was staged are no part of ``gap_ms`` and ``barge_in_stop_ms``: ``staged_gap_ms`` (None where no gap
    was staged), ``staged_cut_offs`` and ``staged_collisions`` are theirs. ``tier``, ``simulated``, ``cut_offs``,
    ``collisions`` and ``unanswered`` speak of the other turns, or of the staged ones where there are no others.
    """

    schema: int
    session: str
    tier: str
    simulated: bool
    overlap: str
    turns: tuple[TurnSummary, ...]
    gap_ms: Stats
    barge_in_stop_ms: Stats
    cut_offs: int
    collisions: int
    unanswered: int
    rejected: tuple[Rejected, ...]
    ledger: LedgerSummary
    faults: tuple[FaultSummary, ...]
    staged_gap_ms: Stats | None = None
    staged_cut_offs: int = 0
    staged_collisions: int = 0


class SummaryView:
    """Folds a journal to its summary. ``feed`` is O(1); ``snapshot`` costs the whole list of turns, ``figures`` a
    twentieth of that.
    """

    def __init__(self, given: tuple[LatencyView, TranscriptView, BargeInView, LedgerView] | None = None) -> None:
        """The views that are ``given`` are fed by their owner, each entry before it is fed here."""
        parts = given or (LatencyView(), TranscriptView(), BargeInView(), LedgerView())
        self._latency, self._transcript, self._barge_in, self._ledger = parts
        self._collisions = _Collisions()
        self._fed = (self._collisions,) if given else (*parts, self._collisions)
        self._opened: SessionOpened | None = None
        self._overlap = ""
        self._modes: dict[int, str] = {}
        self._staged: dict[int, tuple[float, ...]] = {}
        self._staged_gaps_ms: tuple[float, ...] = ()
        self._faults: list[FaultSeen] = []

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        for view in self._fed:
            view.feed(entry)
        fault = fault_of(entry)
        if fault is not None:
            self._faults.append(fault)
        match entry.body:
            case SessionOpened() as body:
                self._opened, self._overlap = body, body.overlap
                self._staged_gaps_ms = staged_gaps_of(body)
            case GapStaged() as body:
                self._staged_gaps_ms = body.gaps_ms
            case OverlapChosen() as body:
                self._overlap = body.overlap
            case Commit() as body:
                self._modes[body.basis.turn] = self._overlap
                if body.reason == STAGED:
                    self._staged[body.basis.turn] = self._staged_gaps_ms
            case _:
                pass

    def snapshot(self) -> Summary:
        """The summary of the session so far."""
        transcript = self._transcript.snapshot()
        turns = _turns(self._latency.snapshot(), transcript, self._barge_in.snapshot(), self._ledger.snapshot())
        return msgspec.structs.replace(self.figures(), turns=turns, rejected=_rejected(transcript))

    @property
    def latency(self) -> tuple[TurnLatency, ...]:
        """The latency of the turns so far."""
        return self._latency.snapshot()

    @property
    def transcript(self) -> Transcript:
        """The conversation so far."""
        return self._transcript.snapshot()

    @property
    def barge_ins(self) -> dict[int, tuple[BargeInFigures, ...]]:
        """The barge-ins so far, by turn."""
        return self._barge_in.snapshot()

    @property
    def ledger(self) -> Ledger:
        """The ledger so far."""
        return self._ledger.snapshot()

    def figures(self) -> Summary:
        """The summary without its lists: no turns, none rejected."""
        opened = self._opened
        latency, ledger, barge_ins = self._latency.snapshot(), self._ledger.snapshot(), self._barge_in.snapshot()
        staged = [turn for turn in latency if turn.staged]
        others = [turn for turn in latency if not turn.staged] or staged
        tiers = list(dict.fromkeys(turn.tier for turn in others if turn.tier)) or ([opened.tier] if opened else [])
        known = {tier.name: tier.simulated for tier in opened.tiers} if opened is not None else {}
        modes = list(dict.fromkeys(self._modes.values())) or ([opened.overlap] if opened else [])
        outcomes = [turn.outcome for turn in others]
        collided = self._collisions.turns()
        staged_collisions = sum(turn in self._staged for turn in collided)
        return Summary(
            schema=SCHEMA,
            session=opened.session if opened is not None else "",
            tier="+".join(tiers),
            simulated=any(known.get(tier, tier == STAGED) for tier in tiers),
            overlap="+".join(modes),
            turns=(),
            gap_ms=_gaps(latency, self._modes, staged=False),
            barge_in_stop_ms=statistics(_stops_ms(barge_ins, self._staged)),
            cut_offs=outcomes.count("cut_off"),
            collisions=staged_collisions if others is staged else len(collided) - staged_collisions,
            unanswered=outcomes.count("unanswered"),
            rejected=(),
            ledger=_ledger(ledger),
            faults=tuple(FaultSummary(fault.at_ms, fault.stage, fault.message) for fault in self._faults),
            staged_gap_ms=_gaps(latency, self._staged, staged=True) if staged else None,
            staged_cut_offs=sum(turn.outcome == "cut_off" for turn in staged),
            staged_collisions=staged_collisions,
        )


def summarise(entries: Iterable[Entry]) -> dict[str, Any]:
    """The summary of ``entries`` as JSON-ready values, keys in the schema's order."""
    view = SummaryView()
    for entry in entries:
        view.feed(entry)
    return as_json(view.snapshot())


def as_json(summary: Summary) -> dict[str, Any]:
    """A summary as JSON-ready values; a number that is not finite becomes None."""
    values: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(summary))
    return values


class _Collisions:
    """Utterances that began between a commit and shortly after its reply did, and were not rejected.

    One that resumed the same utterance is a cut-off, not a collision.
    """

    def __init__(self) -> None:
        self._onset_ms: float | None = None
        self._turn: int | None = None
        self._committed_ms: float | None = None
        self._reply_ms: dict[int, float] = {}
        self._over = True
        self._found: dict[int, tuple[int, float]] = {}
        self._cut_off: set[int] = set()

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        at_ms, body = finite(entry.at), entry.body
        match body:
            case SpeechStarted():
                self._onset_ms = at_ms
            case Commit():
                self._turn, self._committed_ms, self._over = body.basis.turn, at_ms, False
            case ClauseStarted() if body.clause >= 0 and at_ms is not None:
                self._reply_ms.setdefault(body.basis.turn, at_ms)
            case OpenUtterance():
                self._opened(body.utterance)
            case Reject():
                self._found.pop(body.utterance, None)
            case BargeIn() if body.kind in ("backchannel", "noise"):
                self._found.pop(body.utterance, None)
            case EndTurn():
                self._over = self._over or body.turn == self._turn
                if body.outcome == "cut_off":
                    self._cut_off.add(body.turn)
            case _:
                pass

    def turns(self) -> list[int]:
        """The turn of each one so far."""
        return [
            turn
            for turn, onset_ms in self._found.values()
            if turn not in self._cut_off and onset_ms <= self._reply_ms.get(turn, onset_ms) + COLLISION_TAIL_MS
        ]

    def _opened(self, utterance: int) -> None:
        """Speech while a turn waits for its reply, or hears its first part; the reply's start may not be known yet."""
        onset_ms, turn = self._onset_ms, self._turn
        if turn is None or onset_ms is None or self._committed_ms is None or onset_ms < self._committed_ms:
            return
        if not self._over or turn in self._reply_ms:
            self._found[utterance] = (turn, onset_ms)


def _counts(turn: TurnLatency) -> bool:
    """Whether a turn's gap is one of the figures: its reply was heard, and not from the cache."""
    return turn.heard and not turn.cached and turn.outcome in ("completed", "interrupted")


def _gaps(latency: tuple[TurnLatency, ...], modes: Mapping[int, Hashable], staged: bool) -> Stats:
    """The gaps of the turns that count and are staged, or are not."""
    counted = [turn for turn in latency if turn.gap_ms is not None and turn.staged == staged and _counts(turn)]
    gaps_ms = [turn.gap_ms for turn in counted if turn.gap_ms is not None]
    return statistics(gaps_ms, [modes.get(turn.turn) for turn in counted])


def _stops_ms(barge_ins: dict[int, tuple[BargeInFigures, ...]], left_out: Container[int]) -> list[float]:
    """How soon the reply stopped for the user's voice; a key press has no onset of speech."""
    figures = (one for number, turn in barge_ins.items() if number not in left_out for one in turn if one.kind == "bid")
    return [one.stop_ms for one in figures if one.stop_ms is not None]


def _ledger(ledger: Ledger) -> LedgerSummary:
    return LedgerSummary(
        attempts=ledger.attempts,
        kept=ledger.kept,
        wasted_tokens=ledger.wasted_tokens,
        saved_ms=ledger.saved_ms,
        turns=ledger.tried,
        used_tokens=ledger.used_tokens,
        wasted_ms=ledger.wasted_ms,
        estimated=ledger.estimated,
        tokens_per_100_ms=ledger.tokens_per_100_ms,
        usd_per_1000_turns=ledger.usd_per_1000_turns,
        wasted_usd_per_1000_turns=ledger.wasted_usd_per_1000_turns,
        discarded=ledger.discarded,
        verdict=worth(ledger),
        prewarmed_tokens=ledger.prewarm.tokens,
        prewarm_wasted_tokens=ledger.prewarm.wasted_tokens,
        partials=ledger.partials,
    )


def _rejected(transcript: Transcript) -> tuple[Rejected, ...]:
    lines = (line for line in transcript.lines if isinstance(line, UserLine) and line.state == "rejected")
    return tuple(Rejected(line.at_ms, line.reason, line.text) for line in lines)


def _turns(
    latency: tuple[TurnLatency, ...],
    transcript: Transcript,
    barge_ins: dict[int, tuple[BargeInFigures, ...]],
    ledger: Ledger,
) -> tuple[TurnSummary, ...]:
    users, replies = transcript.users(), transcript.replies()
    return tuple(
        _turn(turn, users.get(turn.turn), replies.get(turn.turn), barge_ins.get(turn.turn, ()), ledger)
        for turn in latency
    )


def _turn(
    turn: TurnLatency,
    user: UserLine | None,
    reply: ReplyLine | None,
    figures: tuple[BargeInFigures, ...],
    ledger: Ledger,
) -> TurnSummary:
    speculation = ledger.turns.get(turn.turn, Speculation())
    chief = chief_barge_in(figures)
    return TurnSummary(
        turn=turn.turn,
        user_text=user.text if user is not None else "",
        reply_text=reply.text if reply is not None else "",
        heard_text=reply.heard_text if reply is not None else "",
        outcome=turn.outcome,
        gap_ms=turn.gap_ms,
        uncertainty_ms=turn.uncertainty_ms,
        cached=turn.cached,
        filler=turn.filler,
        stages_ms=turn.stages_ms,
        speculation=TurnSpeculation(
            speculation.attempts, speculation.kept, speculation.wasted_tokens, speculation.saved_ms
        ),
        barge_in=None
        if chief is None
        else TurnBargeIn(
            onset_ms=chief.onset_ms,
            ducked_ms=chief.ducked_ms,
            stop_ms=chief.stop_ms,
            decided_ms=chief.decided_ms,
            kind=chief.kind,
            heard_words=chief.heard_words,
            generated_words=chief.generated_words,
        ),
        staged=turn.staged,
    )
