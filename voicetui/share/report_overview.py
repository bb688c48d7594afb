"""Several sessions on one page: their figures side by side, and what of it can be compared."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from voicetui.share.charts import gap_strip, scale_ms
from voicetui.share.markup import Html, Piece, h, said
from voicetui.share.report_gaps import table
from voicetui.share.report_hero import chief_stats
from voicetui.share.session_facts import SessionFacts
from voicetui.share.wording import band_chip, count, date, lasted, ms
from voicetui.views.statistics import P95_FROM_N


class Against(msgspec.Struct, frozen=True):
    """What can be said of one session against another: a heading, and sentences."""

    heading: str
    says: tuple[str, ...]


_HEAD = ("", "session", "tier, mode", "n", "p50", "p95", "max", "rhythm", "cut-offs", "collisions", "stop, p50")
_NO_MEASUREMENT = (
    "Side by side as they were recorded. A difference between two rows is no measurement of what makes it, unless both "
    "heard the same recordings: what can be compared turn by turn stands below the pictures."
)


def letter(number: int) -> str:
    """What the session of this number (from 1 on) is called: A, B, ... Z, 27, 28."""
    return chr(ord("A") + number - 1) if number <= 26 else str(number)


def overview(sessions: Sequence[SessionFacts], against: Sequence[Against]) -> Html:
    """A row for each session, its gaps on a scale that is the same for all, and the comparisons."""
    gaps_ms = [turn.gap_ms for facts in sessions for turn in facts.counted if turn.gap_ms is not None]
    strips = [
        h(
            "figure",
            h("figcaption", h("b", f"{letter(number)} "), h("bdi", facts.name), " ", _when(facts)),
            gap_strip(facts.counted, chief_stats(facts)[0].p50, scale_ms(gaps_ms)),
            cls="striprow",
        )
        for number, facts in enumerate(sessions, 1)
    ]
    compared = [
        h("div", h("h4", each.heading), h("ul", [h("li", sentence) for sentence in each.says], cls="points"))
        for each in against
    ]
    head = h("header", h("p", "voicetui report", cls="kicker"), h("h1", count(len(sessions), "session")), cls="top")
    rows = [_row(facts, number) for number, facts in enumerate(sessions, 1)]
    pieces = [h("section", table(_HEAD, rows, "wide"), h("p", _NO_MEASUREMENT, cls="small"), strips)]
    if compared:
        pieces.append(h("section", h("h3", "Turn by turn, as far as they are the same conversation"), compared))
    return h("article", head, pieces)


def _row(facts: SessionFacts, number: int) -> list[Piece]:
    stats, staged = chief_stats(facts)
    summary = facts.summary
    simulated = ", simulated" if summary.simulated and not staged else ""
    stops = summary.barge_in_stop_ms
    return [
        letter(number),
        h("a", h("bdi", facts.name), href=f"#session-{number}"),
        said("staged gap" if staged else f"{summary.tier}, {summary.overlap}{simulated}", 80),
        str(stats.n),
        h("span", ms(stats.p50), " ", band_chip(stats.p50)),
        ms(stats.p95) if stats.p95 is not None else f"n < {P95_FROM_N}",
        ms(stats.max),
        ms(stats.rhythm),
        "–" if facts.imported else str(summary.staged_cut_offs if staged else summary.cut_offs),
        str(summary.staged_collisions if staged else summary.collisions),
        f"{ms(stops.p50)}, n = {stops.n}" if stops.n else "–",
    ]


def _when(facts: SessionFacts) -> str:
    begun = date(facts.opened.started_utc) if facts.opened is not None else "beginning not known"
    return f"{begun}, {lasted(facts.end_ms)}, n = {count(len(facts.counted), 'turn')}"
