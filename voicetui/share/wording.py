"""How a report writes numbers, times and causes."""

from __future__ import annotations

import math
import re

from voicetui.share.markup import Html, h
from voicetui.views.bands import Band, band
from voicetui.views.figures import clock, milliseconds
from voicetui.views.latency import TurnLatency
from voicetui.views.statistics import P95_FROM_N, P99_FROM_N, Stats

OUTCOMES: dict[str | None, str] = {
    "completed": "heard to its end",
    "interrupted": "interrupted by the person",
    "superseded": "taken back: the person spoke again before it was heard",
    "failed": "failed",
    "unanswered": "nothing to say came back",
    "cut_off": "cut off: it began to answer an unfinished utterance",
    None: "the journal ends before it does",
}
OUTCOME_MARKS: dict[str | None, str] = {
    "superseded": "↷",
    "failed": "✗",
    "unanswered": "∅",
    "cut_off": "⊣",
    None: "…",
}
"""What stands in the place of a bar for a turn without a gap that counts."""
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_UTC = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):\d\d(?:\.\d+)?Z", re.ASCII)


def ms(value: float | None, why_not: str = "") -> str:
    """Milliseconds with their unit, or that they are not known and why."""
    if value is None or not math.isfinite(value):
        return f"not known: {why_not}" if why_not else "–"
    return milliseconds(value)


def when(at_ms: float) -> str:
    """A time of the session."""
    return clock(at_ms) if math.isfinite(at_ms) else "–"


def lasted(length_ms: float) -> str:
    """A length of time in words."""
    seconds = max(0, round(length_ms / 1000))
    if seconds < 120:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def date(utc: str) -> str:
    """A UTC time stamp as a person writes it; one in another form stays as it is."""
    match = _UTC.fullmatch(utc)
    if match is None or not 1 <= int(match[2]) <= 12:
        return utc
    return f"{int(match[3])} {_MONTHS[int(match[2]) - 1]} {match[1]}, {match[4]}:{match[5]} UTC"


def count(number: int, what: str) -> str:
    """A number of things.

    >>> count(1, "turn"), count(2, "turn")
    ('1 turn', '2 turns')
    """
    many = f"{what}es" if what.endswith("ch") else f"{what}s"
    return f"{number} {what if number == 1 else many}"


def tail(stats: Stats) -> tuple[str, str]:
    """The tail's name and value: the 95th percentile, or the largest where there are too few values for one."""
    if stats.p95 is not None:
        return "p95", ms(stats.p95)
    return "max", ms(stats.max)


def too_few(stats: Stats) -> str:
    """Which quantiles there are too few values for, and how many they take; "" where there are enough."""
    if stats.n < P95_FROM_N:
        return f"no p95: n too small, it takes {P95_FROM_N}"
    return f"no p99: n too small, it takes {P99_FROM_N}" if stats.n < P99_FROM_N else ""


def band_chip(gap_ms: float | None, says: bool = False) -> Html:
    """A band's shape and word (its meaning with ``says``); colour comes on top."""
    if gap_ms is None or not math.isfinite(gap_ms):
        return Html("")
    found = band(gap_ms)
    return h("span", shape(found), " ", found.says if says else found.word, cls=f"chip {found.ink}")


def shape(found: Band) -> Html:
    """A band's shape in its colour."""
    return h("span", found.shape, cls=f"shape {found.ink}", aria_hidden="true")


def gap_text(turn: TurnLatency) -> str:
    """A turn's gap in a few words, or why there is none."""
    if turn.gap_ms is not None and math.isfinite(turn.gap_ms):
        over = ", over the person's speech" if turn.overlaps_user else ""
        kind = "staged gap" if turn.staged else band(turn.gap_ms).word
        return f"{milliseconds(turn.gap_ms)}{over}, {kind}"
    return f"no gap: {why_no_gap(turn)}"


def reason_apart(turn: TurnLatency) -> str:
    """Why a turn is told apart from the measured gaps."""
    if turn.outcome not in ("completed", "interrupted"):
        return OUTCOMES[turn.outcome]
    if turn.typed:
        return "typed, so there is no end of speech"
    if turn.cached:
        return "a cached reply"
    if not turn.heard:
        return "not heard"
    return "a staged gap, made on purpose" if turn.staged else "heard, but when the speech ended is not known"


def why_no_gap(turn: TurnLatency) -> str:
    """Why a turn has no gap."""
    reasons = {missing.point: missing.reason for missing in turn.missing}
    return reasons.get("user_end") or reasons.get("reply_start") or "not in the journal"
