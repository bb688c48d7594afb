"""What the comparison's screen shows: two sessions that are over, the pairs of their turns, and which is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from voicetui.bench.compared import Compared
from voicetui.bench.pair_figures import PARTS, stage_ms
from voicetui.tui.ink import Run
from voicetui.tui.sound_trace import SoundTrace
from voicetui.views.bands import STAGED_SHAPE, band
from voicetui.views.compare import PairOfTurns, Session
from voicetui.views.figures import whole
from voicetui.views.latency import TurnLatency
from voicetui.views.timeline import Timeline

OTHERS = "the rest"
"""Stages that have no row of their own, together."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two sessions, as the lanes need it. ``shown`` are the turns whose gaps are drawn."""

    label: str
    session: Session
    trace: SoundTrace = field(default_factory=SoundTrace)
    shown: tuple[TurnLatency, ...] = ()

    @property
    def now_ms(self) -> float:
        """Its end."""
        return self.session.timeline.end_ms

    @property
    def timeline(self) -> Timeline:
        """All of it."""
        return self.session.timeline

    @property
    def turns(self) -> tuple[TurnLatency, ...]:
        """The one that is looked at."""
        return self.shown

    def looking_at(self, turns: Sequence[int]) -> Side:
        """The same, with the gap of an utterance."""
        return replace(self, shown=(self.session.latency(turns[-1]),) if turns else ())

    @property
    def waiting_since_ms(self) -> float | None:
        """Nobody waits any more."""
        return None

    def zero_ms(self, turns: Sequence[int]) -> float | None:
        """The end of the user's speech of an utterance; of a typed one its commit. None where there is neither."""
        if not turns:
            return None
        points = self.session.latency(turns[-1]).points
        return points.user_end if points.user_end is not None else points.committed


@dataclass(frozen=True, slots=True)
class ComparedView:
    """One comparison, with the pair that is looked at (None where there is none)."""

    found: Compared
    one: Side
    other: Side
    place: int = 0

    @property
    def pair(self) -> PairOfTurns | None:
        """The pair that is looked at."""
        pairs = self.found.comparison.pairs
        return pairs[self.place] if 0 <= self.place < len(pairs) else None

    @property
    def sides(self) -> tuple[tuple[Side, tuple[int, ...]], tuple[Side, tuple[int, ...]]]:
        """Either session with its turns of the pair."""
        pair = self.pair
        return (self.one, pair.one if pair else ()), (self.other, pair.other if pair else ())


@dataclass(frozen=True, slots=True)
class Step:
    """What one stage adds to the way from one gap to the other, ms; None where a side does not tell."""

    stage: str
    one_ms: float | None
    other_ms: float | None

    @property
    def difference_ms(self) -> float | None:
        """Other minus one."""
        return self.other_ms - self.one_ms if self.one_ms is not None and self.other_ms is not None else None


def steps(found: Compared, pair: PairOfTurns, most: int) -> list[Step]:
    """The stages of a pair in their order: those that differ most where there are more than ``most``, and the rest."""
    all_steps = [Step(stage, *stage_ms(found.comparison, pair, stage)) for stage in PARTS]
    told = [each for each in all_steps if each.one_ms or each.other_ms or None in (each.one_ms, each.other_ms)]
    if len(told) <= most:
        return told
    weight = {each.stage: abs(each.difference_ms or 0.0) for each in told}
    kept = sorted(told, key=lambda each: weight[each.stage], reverse=True)[: max(0, most - 1)]
    rest = [each for each in told if each not in kept]
    sums = [_sum([each.one_ms for each in rest]), _sum([each.other_ms for each in rest])]
    return [each for each in told if each in kept] + [Step(OTHERS, sums[0], sums[1])]


def _sum(parts: Sequence[float | None]) -> float | None:
    """Of parts that are all known; a sum without one of them is no figure."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def gap_run(session: Session, turns: Sequence[int], cells: int) -> Run:
    """The gap of an utterance, with the shape of its band, or the one that tells that it was staged."""
    latency = session.latency(turns[-1]) if turns else None
    if latency is None or latency.gap_ms is None:
        return Run(f"{'–':>{cells - 2}}  ", "dim")
    kind = band(latency.gap_ms)
    return Run(f"{whole(latency.gap_ms):>{cells - 2}} {STAGED_SHAPE if latency.staged else kind.shape}", kind.ink)
