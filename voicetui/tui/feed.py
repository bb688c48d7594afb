"""From the journal's tail to one immutable picture of the session."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from voicetui.events import Entry, Fact
from voicetui.events.orders import BargeIn, EndTurn, Reject
from voicetui.events.session import SessionOpened
from voicetui.runtime.engine import DeviceList, Levels
from voicetui.tui.sound_trace import SoundTraceKeeper
from voicetui.tui.view import ScreenView
from voicetui.views.barge_in import BargeInFigures, BargeInView
from voicetui.views.latency import LatencyView, TurnLatency
from voicetui.views.ledger import LedgerView
from voicetui.views.session_state import FaultSeen, SessionStateView, fault_of
from voicetui.views.summary import SummaryView
from voicetui.views.timeline import Timeline, TimelineView
from voicetui.views.transcript import TranscriptView

PartT = TypeVar("PartT")

KEEP_MS = 180_000.0
"""How much of the newest time the timeline keeps."""
KEEP_LINES = 400
"""How many of the newest lines the transcript keeps."""
FIGURES_MS = 1.0
"""How long one picture may spend on figures; one of them is always brought up to date."""
AT_ONCE = 500
"""How many entries one call takes at most, so that catching up with a long journal never blocks the keys."""


class Session(Protocol):
    """What the screen needs of the engine's handle."""

    failure: BaseException | None
    post: Callable[[Fact], None]
    entries_since: Callable[[int], Sequence[Entry]]
    now_ms: Callable[[], float]
    levels: Callable[[], Levels]
    devices: Callable[[], DeviceList]

    @property
    def running(self) -> bool:
        """Whether the session is still going on."""

    def stop(self, why: str = "user") -> None:
        """Ask the session to end."""

    def join(self, seconds: float) -> bool:
        """Wait for its end; whether it came."""


class Feed:
    """Pulls new entries, feeds each to every view once, and hands out pictures. For the screen's thread only."""

    def __init__(
        self, session: Session, recorded: bool | None = None, keep_ms: float = KEEP_MS, keep_lines: int = KEEP_LINES
    ) -> None:
        self._session = session
        self._taken = 0
        self._state = SessionStateView()
        self._transcript = TranscriptView(keep_lines)
        self._timeline = TimelineView(keep_ms)
        self._latency = LatencyView()
        self._barge_in = BargeInView()
        self._ledger = LedgerView()
        self._summary = SummaryView()
        self._summary_shown = self._summary.figures()
        self._turns: tuple[TurnLatency, ...] = ()
        self._barge_ins: dict[int, tuple[BargeInFigures, ...]] = {}
        self._ledger_shown = self._ledger.snapshot()
        self._figures = deque((self._sum_up, self._take_turns, self._take_barge_ins, self._take_ledger))
        self._old: set[Callable[[], None]] = set()
        self._trace = SoundTraceKeeper()
        self._fault: FaultSeen | None = None
        self._recording = recorded
        self._recording_known = recorded is not None

    def drain(self) -> bool:
        """Take what the journal has gained, at most ``AT_ONCE`` entries; whether there may be more."""
        entries = self._session.entries_since(self._taken)[:AT_ONCE]
        self._taken += len(entries)
        if entries:
            self._old |= {self._take_turns, self._take_barge_ins, self._take_ledger}
        views = (
            self._state, self._transcript, self._timeline, self._latency, self._barge_in, self._ledger, self._summary,
        )  # fmt: skip
        for entry in entries:
            for view in views:
                view.feed(entry)
            self._notice(entry)
        return len(entries) == AT_ONCE

    def dismiss_fault(self) -> None:
        """The user has read the fault shown."""
        self._fault = None

    def picture(self) -> ScreenView:
        """The session as it is now."""
        session = self._session
        now_ms, levels = session.now_ms(), session.levels()
        self._trace.take(now_ms, levels)
        self._renew_figures(now_ms)
        timeline, turns = self._timeline.snapshot(), self._turns
        return ScreenView(
            now_ms=now_ms,
            state=self._state.snapshot(),
            transcript=self._transcript.snapshot(),
            timeline=timeline,
            turns=turns,
            summary=self._summary_shown,
            barge_ins=self._barge_ins,
            ledger=self._ledger_shown,
            fault=self._fault,
            waiting_since_ms=waiting_since_ms(timeline, turns),
            recording=self._recording,
            running=session.running,
            failure=str(session.failure) or type(session.failure).__name__ if session.failure is not None else "",
            levels=levels,
            trace=self._trace.snapshot(),
        )

    def _renew_figures(self, begun_ms: float) -> None:
        """Bring the figures up to date, in turn. With hours behind them that takes its time: the rest waits for the
        next picture.
        """
        for _ in range(len(self._figures)):
            renew = self._figures[0]
            self._figures.rotate(-1)
            if renew in self._old:
                self._old.discard(renew)
                renew()
                if self._session.now_ms() - begun_ms > FIGURES_MS:
                    return

    def _sum_up(self) -> None:
        self._summary_shown = self._summary.figures()

    def _take_turns(self) -> None:
        self._turns = _kept(self._turns, self._latency.snapshot())

    def _take_barge_ins(self) -> None:
        self._barge_ins = _kept(self._barge_ins, self._barge_in.snapshot())

    def _take_ledger(self) -> None:
        self._ledger_shown = _kept(self._ledger_shown, self._ledger.snapshot())

    def _notice(self, entry: Entry) -> None:
        """What no view tells: the fault to show, whether it is recorded, and whether figures may have changed."""
        body = entry.body
        self._fault = fault_of(entry) or self._fault
        match body:
            case SessionOpened():
                self._recording = self._recording if self._recording_known else _records(body)
                self._old.add(self._sum_up)
            case EndTurn():
                self._old.add(self._sum_up)
                if body.outcome == "completed" and self._fault is not None and self._fault.at_ms < entry.at:
                    self._fault = None
            case Reject() | BargeIn():
                self._old.add(self._sum_up)
            case _:
                pass


def waiting_since_ms(timeline: Timeline, turns: tuple[TurnLatency, ...]) -> float | None:
    """The end of the speech whose reply is awaited: while the endpoint is open, and from the commit to the reply."""
    for span in reversed(timeline.spans):
        if span.lane == "endpoint" and span.end_ms is None:
            return span.start_ms
    if not turns:
        return None
    last = turns[-1]
    return last.points.user_end if last.outcome is None and not last.heard else None


def _kept(old: PartT, new: PartT) -> PartT:
    """The old one if nothing changed: widgets draw anew what is another object than before."""
    return old if old == new else new


def _records(opened: SessionOpened) -> bool | None:
    """Whether the effective configuration says that the session is recorded."""
    record = opened.config.get("record")
    on = record.get("on") if isinstance(record, dict) else None
    return on if isinstance(on, bool) else None
