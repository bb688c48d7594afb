"""Recorded sessions in columns, on the screen and as lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from voicetui.events.orders import IMPORTED
from voicetui.journal.listing import Listed
from voicetui.tui.literal import literal, width
from voicetui.views.figures import clock
from voicetui.views.statistics import Stats

NONE = "–"


class _Column(NamedTuple):
    title: str
    text: Callable[[Listed], str]
    right: bool = False
    spare: int = 0
    """Where there is no room for all, the columns with the highest number go first; 0: never."""


def megabytes(size_bytes: float) -> str:
    """A size for people."""
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes < 1e9 else f"{size_bytes / 1e9:.2f} GB"


def gap_text(row: Listed) -> str:
    """Median and worst of the gaps and how many they are; said to be simulated, or staged where there are no others."""
    if row.gap_ms.n == 0 and row.staged_gap_ms is not None and row.staged_gap_ms.n:
        return f"staged {_stats(row.staged_gap_ms)}"
    gaps = _stats(row.gap_ms)
    return f"simulated {gaps}" if row.simulated and row.gap_ms.n else gaps


def _stats(gaps: Stats) -> str:
    if gaps.p50 is None or gaps.max is None:
        return NONE
    return f"{gaps.p50:.0f} / {gaps.max:.0f} ms, n {gaps.n}"


def tier_text(row: Listed) -> str:
    """The tiers that answered; simulated ones are said to be."""
    return f"{row.tier} (simulated)" if row.simulated else row.tier or NONE


def state_text(row: Listed) -> str:
    """Its state, and that something was taken out of it."""
    return f"{row.state}, redacted" if row.redacted else row.state


def length_text(row: Listed) -> str:
    """How long it is."""
    return NONE if row.length_s is None else clock(row.length_s * 1e3)


_COLUMNS = (
    _Column("session", lambda row: row.name),
    _Column("started (UTC)", lambda row: (row.started_utc or NONE).replace("T", " ")[:16], spare=9),
    _Column("length", length_text, right=True, spare=1),
    _Column("tier", tier_text, spare=7),
    _Column("overlap", lambda row: row.overlap or NONE, spare=8),
    _Column("turns", lambda row: str(row.turns), right=True, spare=2),
    _Column("gap p50 / max", gap_text, right=True),
    _Column("cut-offs", lambda row: NONE if row.source == IMPORTED else str(row.cut_offs), right=True, spare=5),
    _Column("faults", lambda row: str(row.faults), right=True, spare=4),
    _Column("size", lambda row: megabytes(row.size_bytes), right=True, spare=6),
    _Column("state", state_text),
    _Column("tags", lambda row: " ".join(row.tags), spare=3),
)


class Columns(NamedTuple):
    """Sessions in columns that are as wide as they have to be. ``left_out`` names those there was no room for."""

    heading: str
    lines: tuple[str, ...]
    left_out: tuple[str, ...]


def table(rows: Sequence[Listed], cells: int | None) -> Columns:
    """The sessions in columns, as many as ``cells`` has room for (None: all)."""
    columns = list(_COLUMNS)
    left_out: list[str] = []
    while True:
        texts = [[column.title for column in columns]]
        texts += [[literal(column.text(row)) for column in columns] for row in rows]
        widths = [max(width(line[place]) for line in texts) for place in range(len(columns))]
        spare = max(columns, key=lambda column: column.spare)
        if cells is None or spare.spare == 0 or sum(widths) + 2 * (len(columns) - 1) <= cells:
            break
        columns.remove(spare)
        left_out.append(spare.title)
    heading, *lines = ["  ".join(map(_fitted, line, widths, columns)).rstrip() for line in texts]
    return Columns(heading, tuple(lines), tuple(left_out))


def _fitted(text: str, cells: int, column: _Column) -> str:
    blanks = " " * (cells - width(text))
    return blanks + text if column.right else text + blanks
