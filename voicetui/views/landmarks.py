"""Where in a session there is something to go to: its turns, interruptions and faults."""

from __future__ import annotations

import msgspec

from voicetui.events import Entry
from voicetui.events.listen import SpeechStarted
from voicetui.events.orders import BargeIn, Commit, OpenUtterance
from voicetui.views.breakdown import finite
from voicetui.views.latency import LatencyView, TurnLatency
from voicetui.views.session_state import FaultSeen, fault_of


class TurnMark(msgspec.Struct, frozen=True, gc=False):
    """A turn: when its speech began (a typed one: when it was committed), and when its reply, if it was heard."""

    turn: int
    start_ms: float
    reply_ms: float | None
    gap_ms: float | None
    staged: bool
    seq: int
    """The entry that committed it."""


class Landmarks(msgspec.Struct, frozen=True):
    """Times on the session clock, in journal order; ``seq`` of the entry that tells is the first of each pair."""

    turns: tuple[TurnMark, ...] = ()
    barge_ins: tuple[tuple[int, float], ...] = ()
    """Bids for the floor, by voice or key: backchannels and noise did not interrupt anything."""
    faults: tuple[tuple[int, FaultSeen], ...] = ()

    def slowest(self) -> TurnMark | None:
        """The turn with the largest gap that was not made on purpose; None where no gap is known."""
        known = [turn for turn in self.turns if turn.gap_ms is not None and turn.reply_ms is not None]
        real = [turn for turn in known if not turn.staged] or known
        return max(real, key=lambda turn: turn.gap_ms or 0.0, default=None)


class LandmarksView:
    """Folds a journal to its landmarks. ``feed`` is O(1), ``snapshot`` costs the list of turns."""

    def __init__(self, latency: LatencyView | None = None) -> None:
        """A view that is given is fed by its owner."""
        self._latency = latency or LatencyView()
        self._feeds_latency = latency is None
        self._onset_ms = 0.0
        self._onsets_ms: dict[int, float] = {}
        self._commits: dict[int, tuple[int, float]] = {}
        self._barge_ins: list[tuple[int, float]] = []
        self._faults: list[tuple[int, FaultSeen]] = []

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        if self._feeds_latency:
            self._latency.feed(entry)
        at_ms = finite(entry.at) or 0.0
        match entry.body:
            case SpeechStarted():
                self._onset_ms = at_ms
            case OpenUtterance() as body:
                self._onsets_ms[body.utterance] = self._onset_ms
            case Commit() as body:
                onset_ms = self._onsets_ms.get(body.utterance, at_ms) if body.utterance is not None else at_ms
                self._commits[body.basis.turn] = (entry.seq, onset_ms)
            case BargeIn() as body if body.kind in ("bid", "key"):
                self._barge_ins.append((entry.seq, at_ms))
            case _:
                fault = fault_of(entry)
                if fault is not None:
                    self._faults.append((entry.seq, fault))

    def snapshot(self) -> Landmarks:
        """What there is so far."""
        turns = (self._mark(turn) for turn in self._latency.snapshot() if turn.turn in self._commits)
        return Landmarks(tuple(turns), tuple(self._barge_ins), tuple(self._faults))

    def _mark(self, turn: TurnLatency) -> TurnMark:
        seq, start_ms = self._commits[turn.turn]
        return TurnMark(turn.turn, start_ms, turn.points.reply_start, turn.gap_ms, turn.staged, seq)
