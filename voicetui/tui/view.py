"""What the screen knows at one instant. Widgets draw from it and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from voicetui.runtime.engine import Levels
from voicetui.tui.sound_trace import SoundTrace
from voicetui.views.barge_in import BargeInFigures
from voicetui.views.latency import TurnLatency
from voicetui.views.ledger import Ledger
from voicetui.views.session_state import FaultSeen, SessionState
from voicetui.views.summary import Summary
from voicetui.views.timeline import Timeline
from voicetui.views.transcript import Transcript


@dataclass(frozen=True, slots=True)
class ScreenView:
    """One immutable picture of the session.

    ``waiting_since_ms`` is the end of the user's speech while its reply is not heard yet, None while nobody waits.
    ``levels`` and ``trace`` are sound levels, newest and recent.  ``recording`` is None while that is not known.
    """

    now_ms: float
    state: SessionState
    transcript: Transcript
    timeline: Timeline
    turns: tuple[TurnLatency, ...]
    summary: Summary
    barge_ins: dict[int, tuple[BargeInFigures, ...]]
    ledger: Ledger
    fault: FaultSeen | None
    waiting_since_ms: float | None
    recording: bool | None
    running: bool
    failure: str = ""
    levels: Levels = field(default_factory=Levels)
    trace: SoundTrace = field(default_factory=SoundTrace)

    def turn(self, number: int | None) -> TurnLatency | None:
        """The turn of this number, if it was committed."""
        return next((turn for turn in self.turns if turn.turn == number), None)

    def last_gap(self) -> TurnLatency | None:
        """The newest turn whose gap is known."""
        return next((turn for turn in reversed(self.turns) if turn.gap_ms is not None), None)
