"""A bench's figures as JSON-ready values, and as text for a person. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from voicetui.bench.floor import STAGE_OF, Floor
from voicetui.bench.measure import ArmResult, Subject
from voicetui.bench.statistics import Paired
from voicetui.views.summary import as_json

_STAGE_NAMES = {
    "endpoint": "endpoint (the silence waited for)",
    "transcribe": "transcription",
    "first_token": "first token",
    "first_answer_token": "first answer token",
    "first_clause": "first clause",
    "content_gate": "content gate",
    "synthesize": "synthesis",
}


class Above(msgspec.Struct, frozen=True):
    """The stage that is farthest above the floor: its median share of the gap, and its part of the floor, ms."""

    stage: str
    share_ms: float
    floor_ms: float


@dataclass(frozen=True)
class Report:
    """Everything a bench found. ``load`` is the machine's load average (1 minute) before and after."""

    subject: Subject
    tier: str
    lines: int
    results: dict[str, ArmResult]
    pairs: dict[str, Paired]
    floors: dict[str, Floor] = field(default_factory=dict)
    load: tuple[float, float] | None = None
    cores: int | None = None
    complete: bool = True
    notes: tuple[str, ...] = ()


def above_floor(result: ArmResult, floor: Floor) -> Above | None:
    """What keeps a setting's gap above the floor most; None where nothing is known, or nothing is above."""
    parts = {stage: getattr(floor, name) or 0.0 for name, stage in STAGE_OF.items()}
    shares = msgspec.structs.asdict(result.median_stages_ms())
    known = [Above(stage, share, parts.get(stage, 0.0)) for stage, share in shares.items() if share is not None]
    most = max(known, key=lambda each: each.share_ms - each.floor_ms, default=None)
    return most if most is not None and most.share_ms > most.floor_ms else None


def report_json(report: Report) -> dict[str, Any]:
    """Strict JSON: no number in it is NaN or infinite."""
    key = "modes" if report.subject == "overlap" else "tiers"
    named = [name for name in report.results if name in report.floors]
    floors: Any = {name: _floor_json(report.results[name], report.floors[name]) for name in named}
    totals: Any = {name: floor["floor_ms"] for name, floor in floors.items()}
    if report.subject == "overlap":
        floors, totals = floors.get("full"), totals.get("full")
    values = {
        key: {name: as_json(result.summary) for name, result in report.results.items()},
        "paired": report.pairs,
        "floor_ms": totals,
        "floor": floors,
        "turns": {
            name: {
                "asked": len(result.taken),
                "without_gap": dict(result.missing),
                "reconnected": result.reconnected,
                "cold_gap_ms": result.cold_ms,
            }
            for name, result in report.results.items()
        },
        "load_average": None if report.load is None else {"before": report.load[0], "after": report.load[1]},
        "cores": report.cores,
        "complete": report.complete,
        "notes": report.notes,
    }
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(values))
    return decoded


def report_text(report: Report) -> str:
    """The table and what is to be said beside it."""
    name = "mode" if report.subject == "overlap" else "tier"
    of_tier = f", tier {report.tier}" if report.subject == "overlap" else ""
    said = max((len(result.taken) for result in report.results.values()), default=0)
    lines = [
        f"{report.subject}{of_tier}: {said} turns in each {name}, interleaved, on {report.lines} recordings",
        _load(report),
        "",
        *_table(report, name),
        "",
        *(line for result in report.results.values() for line in _beside(result)),
        *_pairs(report),
        *(line for name, floor in report.floors.items() for line in _floor(report.results[name], floor)),
        *(["", *report.notes] if report.notes else []),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _load(report: Report) -> str:
    if report.load is None:
        return "load average of the machine: not known"
    cores = f" on {report.cores} cores" if report.cores else ""
    return f"load average of the machine: {report.load[0]:.1f} before, {report.load[1]:.1f} after{cores}"


def _table(report: Report, name: str) -> list[str]:
    heads = [name, "n", "p50", "p95", "max", "IQR", "rhythm", "cut-offs", "collisions", "saved/turn", "wasted/turn"]
    rows = [heads]
    for result in report.results.values():
        summary, gap, ledger = result.summary, result.summary.gap_ms, result.ledger
        rows.append(
            [
                result.name + (" (simulated)" if summary.simulated else ""),
                str(gap.n),
                *(_ms(value) for value in (gap.p50, gap.p95, gap.max, gap.iqr, gap.rhythm)),
                str(summary.cut_offs),
                str(summary.collisions),
                _ms(ledger.saved_ms / ledger.tried) if ledger.tried else "-",
                f"{ledger.wasted_tokens / ledger.tried:.1f} tok" if ledger.tried else "-",
            ]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]


def _beside(result: ArmResult) -> list[str]:
    """What the quantiles do not tell: turns without a gap, the cold ones, and the ledger."""
    lines = []
    if result.missing:
        reasons = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in sorted(result.missing.items()))
        lacking = f"{sum(result.missing.values())} of {len(result.taken)} turns"
        lines.append(
            f"{result.name}: {lacking} have no gap to compare ({reasons}); the quantiles are those of the rest"
        )
    if result.reconnected:
        lines.append(f"{result.name}: {result.reconnected} turns had to connect anew")
    if result.cold_ms:
        cold = ", ".join("not heard" if ms is None else f"{ms:.0f} ms" for ms in result.cold_ms)
        lines.append(f"{result.name}: cold first turn, left out of the figures: {cold}")
    if result.ledger.tried:
        lines.append(f"{result.name}: {result.summary.ledger.verdict}")
    return lines


def _pairs(report: Report) -> list[str]:
    lines = [""]
    for name, pair in report.pairs.items():
        dropped = f", {pair.dropped} pairs dropped" if pair.dropped else ""
        if pair.median_ms is None:
            lines.append(f"{name}: no pair to compare{dropped}")
            continue
        interval = "too few pairs for an interval"
        if pair.low_ms is not None and pair.high_ms is not None:
            interval = f"95% interval {pair.low_ms:+.0f} to {pair.high_ms:+.0f} ms"
        lines.append(f"{name}: median {pair.median_ms:+.0f} ms, {interval}, n = {pair.n}{dropped}")
    return lines


def _floor(result: ArmResult, floor: Floor) -> list[str]:
    parts = [(name.replace("_", " "), getattr(floor, name)) for name in STAGE_OF]
    shown = " + ".join(f"{name} {_ms(ms)}" for name, ms in parts)
    total, p50 = floor.total_ms, result.summary.gap_ms.p50
    lines = ["", f"floor of {result.name}: {_ms(total)} ms = {shown} (each alone and warm, medians of {floor.n})"]
    if total is None or p50 is None:
        return lines
    above = above_floor(result, floor)
    why = ""
    if above is not None:
        stage = _STAGE_NAMES.get(above.stage, above.stage)
        why = f"; above it most: {stage}, median {above.share_ms:.0f} ms where the floor has {above.floor_ms:.0f}"
    return [*lines, f"{result.name} / floor: {p50 / total:.2f}{why}"]


def _floor_json(result: ArmResult, floor: Floor) -> dict[str, Any]:
    total, p50 = floor.total_ms, result.summary.gap_ms.p50
    return {
        **msgspec.structs.asdict(floor),
        "floor_ms": total,
        "ratio": p50 / total if p50 is not None and total else None,
        "stages_ms": result.median_stages_ms(),
        "above": above_floor(result, floor),
    }


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def progress_line(number: int, of: int, arm: str, gap: str, said: Sequence[str | float]) -> str:
    """What is told when a trial is over."""
    names = " ".join(each.rsplit("/", 1)[-1] for each in said if isinstance(each, str))
    return f"turn {number} of {of}  {arm:<12}  {gap:>10}  {names}"
