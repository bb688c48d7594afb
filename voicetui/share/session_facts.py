"""Everything a report tells of one session, from one pass over its journal."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from voicetui.events import Entry
from voicetui.events.orders import IMPORTED, Commit
from voicetui.events.session import Overlap, OverlapChosen, Ready, SessionClosed, SessionOpened
from voicetui.journal.codec import Header
from voicetui.journal.read import Problem
from voicetui.journal.recorded import Recorded
from voicetui.views.barge_in import BargeInFigures
from voicetui.views.breakdown import finite
from voicetui.views.latency import TurnLatency
from voicetui.views.ledger import Ledger
from voicetui.views.session_state import FaultSeen, SessionState, SessionStateView, fault_of
from voicetui.views.statistics import Rhythm, rhythm
from voicetui.views.summary import Summary, SummaryView
from voicetui.views.timeline import Timeline, TimelineView
from voicetui.views.transcript import ReplyLine, Transcript, UserLine


class SessionFacts(msgspec.Struct, frozen=True):
    """One session. ``name`` is its folder's. ``config`` holds no secrets. Times are ms on the session clock.

    ``summary`` has the figures only, no lists. ``modes`` is the overlap mode of each turn. ``closed`` is why the
    session ended, "" where its journal just stops, ``written`` that it was still going on. ``end_ms`` is its last known
    instant.
    """

    name: str
    header: Header | None
    opened: SessionOpened | None
    config: object
    problems: tuple[Problem, ...]
    summary: Summary
    turns: tuple[TurnLatency, ...]
    modes: dict[int, Overlap]
    timeline: Timeline
    transcript: Transcript
    barge_ins: dict[int, tuple[BargeInFigures, ...]]
    ledger: Ledger
    state: SessionState
    faults: tuple[FaultSeen, ...]
    ready: Ready | None
    closed: str
    written: bool
    end_ms: float

    @property
    def imported(self) -> bool:
        """Whether it is a call that was recorded elsewhere: no words, no stages, no decisions are known of it."""
        return self.opened is not None and self.opened.source == IMPORTED

    @property
    def users(self) -> dict[int, UserLine]:
        """What the user said, by turn."""
        return self.transcript.users()

    @property
    def replies(self) -> dict[int, ReplyLine]:
        """The replies, by turn."""
        return self.transcript.replies()

    @property
    def counted(self) -> tuple[TurnLatency, ...]:
        """The turns whose gaps are the figures: staged ones only where there are no others."""
        real = tuple(turn for turn in self.turns if counts(turn) and not turn.staged)
        return real if real or not self.all_staged else tuple(turn for turn in self.turns if counts(turn))

    @property
    def staged(self) -> tuple[TurnLatency, ...]:
        """The turns whose gap was staged and heard."""
        return tuple(turn for turn in self.turns if counts(turn) and turn.staged)

    @property
    def all_staged(self) -> bool:
        """Whether every turn's gap was staged."""
        return bool(self.turns) and all(turn.staged for turn in self.turns)

    def rhythm(self) -> Rhythm | None:
        """How the counted gaps change from turn to turn, with the largest change."""
        return rhythm(
            [turn.gap_ms or 0.0 for turn in self.counted], [self.modes.get(turn.turn) for turn in self.counted]
        )


def counts(turn: TurnLatency) -> bool:
    """Whether a turn's gap is one of the figures, as in ``voicetui.views.summary``."""
    known = turn.gap_ms is not None and turn.heard and not turn.cached
    return known and turn.outcome in ("completed", "interrupted")


def fold_session(recorded: Recorded, clean: Callable[[object], object]) -> SessionFacts:
    """The facts of a session. ``clean`` takes the secrets out of a configuration."""
    summary, timeline, state, others = SummaryView(), TimelineView(), SessionStateView(), _Others()
    for entry in recorded.entries:
        for view in (summary, timeline, state, others):
            view.feed(entry)
    opened = recorded.opened
    return SessionFacts(
        name=recorded.name,
        header=recorded.header,
        opened=opened,
        config=clean(opened.config) if opened is not None else {},
        problems=recorded.problems,
        summary=summary.figures(),
        turns=summary.latency,
        modes=others.modes,
        timeline=timeline.snapshot(),
        transcript=summary.transcript,
        barge_ins=summary.barge_ins,
        ledger=summary.ledger,
        state=state.snapshot(),
        faults=tuple(others.faults),
        ready=others.ready,
        closed=others.closed,
        written=recorded.written,
        end_ms=others.end_ms,
    )


class _Others:
    """What no view tells."""

    def __init__(self) -> None:
        self.modes: dict[int, Overlap] = {}
        self.faults: list[FaultSeen] = []
        self.ready: Ready | None = None
        self.closed = ""
        self.end_ms = 0.0
        self._overlap: Overlap = "full"

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        self.end_ms = max(self.end_ms, finite(entry.at) or 0.0)
        fault = fault_of(entry)
        if fault is not None:
            self.faults.append(fault)
        match entry.body:
            case SessionOpened() as body:
                self._overlap = body.overlap
            case OverlapChosen() as body:
                self._overlap = body.overlap
            case Commit() as body:
                self.modes[body.basis.turn] = self._overlap
            case Ready() as body:
                self.ready = body
            case SessionClosed() as body:
                self.closed = body.reason or "closed"
            case _:
                pass
