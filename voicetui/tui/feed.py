"""From the journal's tail to one immutable picture of the session."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from voicetui.events import Entry, Fact
from voicetui.events.orders import BargeIn, EndTurn, Reject
from voicetui.events.session import SessionOpened
from voicetui.runtime.engine import DeviceList, Levels
from voicetui.tui.folds import KEEP_LINES, KEEP_MS, Folds
from voicetui.tui.sound_trace import SoundTraceKeeper
from voicetui.tui.view import ScreenView
from voicetui.views.barge_in import BargeInFigures
from voicetui.views.latency import TurnLatency
from voicetui.views.timeline import Timeline

PartT = TypeVar("PartT")

FIGURES_MS = 1.0
"""How long one picture may spend on figures; one of them is always brought up to date."""
AT_ONCE = 500
"""How many entries one call takes at most, so that catching up with a long journal never blocks the keys."""


class Session(Protocol):
    """What the screen needs of the engine's handle."""

    failure: BaseException | None

    def post(self, fact: Fact, /) -> None:
        """Hand over a command."""

    def entries_since(self, index: int, /) -> Sequence[Entry]:
        """The journal from entry ``index`` on."""

    def now_ms(self) -> float:
        """The session's clock."""

    def levels(self) -> Levels:
        """How loud both sides are."""

    def devices(self) -> DeviceList:
        """What there is to choose from."""

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
        self,
        session: Session,
        recorded: bool | None = None,
        keep_ms: float = KEEP_MS,
        keep_lines: int = KEEP_LINES,
        busy_ms: Callable[[], float] | None = None,
    ) -> None:
        """``busy_ms`` is the clock that work is measured with, the session's where none is given."""
        self._session = session
        self._busy_ms = busy_ms or session.now_ms
        self._folds = Folds(keep_ms, keep_lines)
        self._recorded = recorded
        self._summary_shown = self._folds.summary.figures()
        self._turns: tuple[TurnLatency, ...] = ()
        self._barge_ins: dict[int, tuple[BargeInFigures, ...]] = {}
        self._ledger_shown = self._folds.ledger.snapshot()
        self._figures = deque((self._sum_up, self._take_turns, self._take_barge_ins, self._take_ledger))
        self._old: set[Callable[[], None]] = set()
        self._trace = SoundTraceKeeper()

    def drain(self) -> bool:
        """Take what the journal has gained, at most ``AT_ONCE`` entries; whether there may be more."""
        entries = self._session.entries_since(self._folds.taken)[:AT_ONCE]
        if entries:
            self._old |= {self._take_turns, self._take_barge_ins, self._take_ledger}
        if any(isinstance(entry.body, SessionOpened | EndTurn | Reject | BargeIn) for entry in entries):
            self._old.add(self._sum_up)
        self._folds.take(entries)
        return len(entries) == AT_ONCE

    def dismiss_fault(self) -> None:
        """The user has read the fault shown."""
        self._folds.fault = None

    def picture(self) -> ScreenView:
        """The session as it is now, or as it was when it ended."""
        session, folds = self._session, self._folds
        now_ms, levels = session.now_ms(), session.levels()
        if folds.closed_ms is not None:
            now_ms = min(now_ms, folds.closed_ms)
        self._trace.take(now_ms, levels)
        self._renew_figures()
        timeline, turns = folds.timeline.snapshot(), self._turns
        return ScreenView(
            now_ms=now_ms,
            state=folds.state.snapshot(),
            transcript=folds.transcript.snapshot(),
            timeline=timeline,
            turns=turns,
            summary=self._summary_shown,
            barge_ins=self._barge_ins,
            ledger=self._ledger_shown,
            fault=folds.fault,
            waiting_since_ms=waiting_since_ms(timeline, turns),
            recording=self._recorded if self._recorded is not None else folds.recording,
            running=session.running,
            failure=str(session.failure) or type(session.failure).__name__ if session.failure is not None else "",
            levels=levels,
            trace=self._trace.snapshot(),
        )

    def _begin_again(self, folds: Folds) -> None:
        """Go on from these."""
        self._folds = folds
        self._renew_all()

    def _renew_all(self) -> None:
        """All figures are to be brought up to date."""
        self._old |= set(self._figures)

    def _renew_figures(self) -> None:
        """Bring the figures up to date, in turn. With hours behind them that takes its time: the rest waits for the
        next picture.
        """
        begun_ms = self._busy_ms()
        for _ in range(len(self._figures)):
            renew = self._figures[0]
            self._figures.rotate(-1)
            if renew in self._old:
                self._old.discard(renew)
                renew()
                if self._busy_ms() - begun_ms > FIGURES_MS:
                    return

    def _sum_up(self) -> None:
        self._summary_shown = self._folds.summary.figures()

    def _take_turns(self) -> None:
        self._turns = _kept(self._turns, self._folds.latency.snapshot())

    def _take_barge_ins(self) -> None:
        self._barge_ins = _kept(self._barge_ins, self._folds.barge_in.snapshot())

    def _take_ledger(self) -> None:
        self._ledger_shown = _kept(self._ledger_shown, self._folds.ledger.snapshot())


def waiting_since_ms(timeline: Timeline, turns: tuple[TurnLatency, ...]) -> float | None:
    """The end of the speech whose reply is awaited: while the endpoint is open, and from the commit to the reply."""
    for span in reversed(timeline.growing):
        if span.lane == "endpoint":
            return span.start_ms
    if not turns:
        return None
    last = turns[-1]
    return last.points.user_end if last.outcome is None and not last.heard else None


def _kept(old: PartT, new: PartT) -> PartT:
    """The old one if nothing changed: widgets draw anew what is another object than before."""
    return old if old == new else new
