"""Which of the recorded sessions are wanted, and in what order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import msgspec

from voicetui.journal.listing import Listed

Order = Literal["date", "gap", "length", "size"]
_SPAN_S: Final = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


class Wanted(msgspec.Struct, frozen=True):
    """What a session must be like. ``since`` counts, ``until`` does not; ``tier`` is one that answered in it.

    ``gap_over_ms``: the worst of its real gaps is longer. ``words``: each is found in its row.
    """

    since: datetime | None = None
    until: datetime | None = None
    tier: str | None = None
    gap_over_ms: float | None = None
    faults: bool = False
    tag: str | None = None
    words: tuple[str, ...] = ()

    def has(self, row: Listed) -> bool:
        """Whether the session is one of those. What is not known of it is not what is wanted."""
        started = datetime.fromisoformat(row.started_utc) if row.started_utc is not None else None
        worst_ms = row.gap_ms.max
        return (
            (self.since is None or (started is not None and started >= self.since))
            and (self.until is None or (started is not None and started < self.until))
            and (self.tier is None or self.tier in (row.tier, *row.tier.split("+")))
            and (self.gap_over_ms is None or (worst_ms is not None and worst_ms > self.gap_over_ms))
            and (not self.faults or row.faults > 0)
            and (self.tag is None or self.tag.casefold() in [tag.casefold() for tag in row.tags])
            and all(word.casefold() in _text(row) for word in self.words)
        )


def in_order(rows: Iterable[Listed], order: Order) -> list[Listed]:
    """The newest, the one with the worst gap, the longest or the largest first; what is not known comes last."""
    key = {"date": _date, "gap": _gap, "length": _length, "size": _size}[order]
    by_date = sorted(rows, key=_date, reverse=True)
    return sorted(by_date, key=key, reverse=True)


def instant(text: str, now: datetime, end: bool = False) -> datetime:
    """A time as people write it: "2026-11-30", "2026-11-30T07:00" (UTC unless it says otherwise), or how long ago:
    "7d", "12h".

    ``end``: a date alone is its end. Raises ``ValueError``.
    """
    text = text.strip()
    try:
        if match := re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)([mhdw])", text):
            return now - timedelta(seconds=float(match[1]) * _SPAN_S[match[2]])
        when = datetime.fromisoformat(text)
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
        return when + timedelta(days=1) if end and re.fullmatch(r"\d{4}-?\d\d-?\d\d", text) else when
    except (ValueError, OverflowError):
        allowed = "a date such as 2026-11-30, a time such as 2026-11-30T07:00, or how long ago, such as 7d or 12h"
        raise ValueError(f"found {text!r}; allowed: {allowed}") from None


def _text(row: Listed) -> str:
    simulated = "simulated" if row.simulated else ""
    return " ".join((row.name, row.tier, simulated, row.overlap, row.source, row.state, *row.tags)).casefold()


def _date(row: Listed) -> tuple[bool, str, str]:
    return row.started_utc is not None, row.started_utc or "", row.name


def _gap(row: Listed) -> tuple[bool, float]:
    return row.gap_ms.max is not None, row.gap_ms.max or 0.0


def _length(row: Listed) -> tuple[bool, float]:
    return row.length_s is not None, row.length_s or 0.0


def _size(row: Listed) -> tuple[bool, float]:
    return True, row.size_bytes
