"""From the journal of a bench to the figures of each setting. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from voicetui.bench.plan import Arm, Trial
from voicetui.bench.statistics import Paired, paired, pairs_of
from voicetui.events import Basis, Entry
from voicetui.events.orders import Commit
from voicetui.events.session import OverlapChosen, SessionOpened
from voicetui.views.breakdown import STAGES, StagesMs
from voicetui.views.latency import LatencyView, TurnLatency
from voicetui.views.ledger import Ledger, LedgerView
from voicetui.views.statistics import quantile
from voicetui.views.summary import Summary, SummaryView

Subject = Literal["overlap", "tier"]


@dataclass(frozen=True, slots=True)
class Taken:
    """One trial and the turns it became."""

    trial: Trial
    turns: tuple[TurnLatency, ...]

    @property
    def without_gap(self) -> str:
        """Why there is no gap to compare; "" where there is one."""
        if any(turn.outcome == "cut_off" for turn in self.turns):
            return "cut off"
        if not self.turns:
            return "no turn"
        if len(self.turns) > 1:
            return "several turns"
        (turn,) = self.turns
        if turn.outcome not in ("completed", "interrupted"):
            return turn.outcome or "not over"
        return "no heard reply" if turn.gap_ms is None else "cached" if turn.cached else ""

    @property
    def gap_ms(self) -> float | None:
        """The gap, where it can be compared."""
        return None if self.without_gap else self.turns[0].gap_ms


@dataclass(frozen=True)
class ArmResult:
    """What one setting did: its session summary, its ledger, and each trial that counts, in the plan's order.

    ``cold_ms`` are the gaps of the trials that warmed up; None for one without a gap. ``reconnected`` counts turns
    that count and whose request had to connect anew, where others did not.
    """

    name: str
    summary: Summary
    ledger: Ledger
    taken: tuple[Taken, ...]
    cold_ms: tuple[float | None, ...]
    reconnected: int

    @property
    def missing(self) -> Counter[str]:
        """How many trials have no gap, by reason."""
        return Counter(each.without_gap for each in self.taken if each.without_gap)

    def median_stages_ms(self) -> StagesMs:
        """The median of each stage's share of the gap, over the turns with a gap to compare."""
        parts: dict[str, float | None] = {}
        for stage in (*STAGES, "unaccounted"):
            shares = [getattr(each.turns[0].stages_ms, stage) for each in self.taken if each.gap_ms is not None]
            known = [share for share in shares if share is not None]
            parts[stage] = quantile(known, 0.5) if known else None
        return StagesMs(**parts)


def results(entries: Sequence[Entry], trials: Sequence[Trial], arms: Sequence[Arm]) -> dict[str, ArmResult]:
    """The figures of every setting in ``trials``, from the journal of the session in which they were said."""
    named = {arm.name: arm for arm in arms}
    tried = {trial.arm: named[trial.arm] for trial in trials}
    owners = _owners(entries, arms)
    summaries = {name: SummaryView() for name in tried}
    ledgers = {name: LedgerView() for name in tried}
    latency = LatencyView()
    turns: dict[int, list[int]] = {}
    for entry, number in zip(entries, owners, strict=True):
        latency.feed(entry)
        if number is None:
            for name, arm in tried.items():
                summaries[name].feed(_as_if_alone(entry, arm))
                ledgers[name].feed(_as_if_alone(entry, arm))
        elif number < len(trials) and trials[number].occurrence is not None:
            summaries[trials[number].arm].feed(entry)
            ledgers[trials[number].arm].feed(entry)
        if number is not None and isinstance(entry.body, Commit):
            turns.setdefault(number, []).append(entry.body.basis.turn)
    measured = {turn.turn: turn for turn in latency.snapshot()}
    taken = [
        Taken(trial, tuple(measured[turn] for turn in turns.get(number, ()) if turn in measured))
        for number, trial in enumerate(trials)
    ]
    return {name: _arm_result(name, summaries[name].snapshot(), ledgers[name].snapshot(), taken) for name in tried}


def compare(found: dict[str, ArmResult]) -> dict[str, Paired]:
    """The paired differences between the settings, by "one-other"."""
    gaps_ms = {name: {each.trial.occurrence: each.gap_ms for each in result.taken} for name, result in found.items()}
    occurrences = sorted({number for each in gaps_ms.values() for number in each if number is not None})
    return {
        f"{one}-{other}": paired(
            [gaps_ms[one].get(number) for number in occurrences],
            [gaps_ms[other].get(number) for number in occurrences],
        )
        for one, other in pairs_of(list(found))
    }


def lines_said(entries: Sequence[Entry], arms: Sequence[Arm]) -> int:
    """How many trials were begun."""
    return max((number + 1 for number in _owners(entries, arms) if number is not None), default=0)


def _arm_result(arm: str, summary: Summary, ledger: Ledger, taken: Sequence[Taken]) -> ArmResult:
    own = [each for each in taken if each.trial.arm == arm]
    counted = tuple(each for each in own if each.trial.occurrence is not None)
    connections = [each.turns[0].connection for each in counted if each.gap_ms is not None]
    reconnected = connections.count("new") if "reused" in connections else 0
    cold_ms = tuple(each.gap_ms for each in own if each.trial.occurrence is None)
    return ArmResult(arm, summary, ledger, counted, cold_ms, reconnected)


def _owners(entries: Sequence[Entry], arms: Sequence[Arm]) -> list[int | None]:
    """The number of the trial each entry belongs to: the one that was begun last, or the one whose work it tells of.

    None before the first.
    """
    number: int | None = None
    of_basis: dict[Basis, int | None] = {}
    owners: list[int | None] = []
    for entry in entries:
        if isinstance(entry.body, arms[0].marker):
            number = 0 if number is None else number + 1
        basis = getattr(entry.body, "basis", None)
        owners.append(number if basis is None else of_basis.setdefault(basis, number))
    return owners


def _as_if_alone(entry: Entry, arm: Arm) -> Entry:
    """What the session began with, as if it had been opened with this setting."""
    if not isinstance(entry.body, SessionOpened):
        return entry
    changes: dict[str, Any] = {}
    for fact in arm.choose:
        changes |= {"overlap": fact.overlap} if isinstance(fact, OverlapChosen) else {"tier": fact.tier}
    return Entry(entry.seq, entry.at, msgspec.structs.replace(entry.body, **changes))
