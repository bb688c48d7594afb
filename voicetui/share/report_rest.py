"""Barge-ins, speculation and faults of a session."""

from __future__ import annotations

from voicetui.events.sound import RATE_HZ
from voicetui.share.lane_pictures import Board, barge_in_picture
from voicetui.share.markup import Html, Piece, h, said
from voicetui.share.report_gaps import table
from voicetui.share.session_facts import SessionFacts
from voicetui.share.wording import count, ms, when
from voicetui.views.barge_in import BargeInFigures
from voicetui.views.transcript import UserLine
from voicetui.views.worth import worth

PICTURES = 6
MOST_ROWS = 200
_KINDS = {
    "bid": "took the floor",
    "key": "key pressed",
    "backchannel": "only a sign of listening",
    "noise": "noise",
}


def barge_in_section(facts: SessionFacts, board: Board) -> list[Piece]:
    """Speech over the reply: what it was, and how soon the reply made way."""
    figures = [one for turn in sorted(facts.barge_ins) for one in facts.barge_ins[turn]]
    if not figures:
        return [h("p", "Nobody spoke over an answer.", cls="dim")]
    stops = facts.summary.barge_in_stop_ms
    told = (
        [
            h(
                "p",
                f"The answer was silent {ms(stops.p50)} after the person began (median; max {ms(stops.max)}, "
                f"n = {stops.n}).",
            )
        ]
        if stops.n
        else []
    )
    first = sorted(figures, key=lambda one: (one.false_interruption, one.at_ms))[:PICTURES]
    pictures = [_picture(board, one) for one in sorted(first, key=lambda one: one.at_ms)]
    head = ("turn", "what it was", "into the answer", "quieter after", "silent after", "decided after", "words heard")
    rows = [_row(one) for one in figures[:MOST_ROWS]]
    return [
        *told,
        h("div", pictures, cls="turns"),
        table(head, rows),
        _more(len(figures)),
        h(
            "p",
            "Times count from the person’s first sound over the answer. “Silent after” is the stop: the answer’s "
            "last audible sample.",
            cls="dim small",
        ),
    ]


def _picture(board: Board, one: BargeInFigures) -> Html:
    steps = [
        f"{word} after {ms(at_ms)}"
        for word, at_ms in (("quieter", one.ducked_ms), ("silent", one.stop_ms), ("decided", one.decided_ms))
        if at_ms is not None
    ]
    if one.away_ms is not None:
        steps.append(f"the voice was away for {ms(one.away_ms)}" if one.away_ms else "the voice only got quieter")
    head = h("p", h("b", f"Turn {one.turn}"), " ", h("span", _KINDS.get(one.kind, one.kind), cls="dim"), cls="cardhead")
    return h("figure", head, barge_in_picture(board, one, one.at_ms), h("figcaption", " · ".join(steps)), cls="card")


def _row(one: BargeInFigures) -> list[Piece]:
    stop = ms(one.stop_ms)
    if one.stop_ms is None:
        stop = "went on"
    elif one.in_silence:
        stop += " (in a silent part)"
    away = f", away {ms(one.away_ms)}" if one.away_ms is not None else ""
    heard = (
        f"{one.heard_words} of {one.generated_words}"
        if one.heard_words is not None
        else "not known: the turn did not end"
    )
    return [
        str(one.turn),
        _KINDS.get(one.kind, one.kind) + away,
        ms(one.onset_ms),
        "–" if one.ducked_ms is None else ms(one.ducked_ms),
        stop,
        ms(one.decided_ms, "the call did not tell"),
        heard,
    ]


def _more(number: int) -> Html | None:
    return (
        h("p", f"{number - MOST_ROWS} more are not listed; the figures count them.", cls="small")
        if number > MOST_ROWS
        else None
    )


def ledger_section(facts: SessionFacts) -> list[Piece]:
    """What was begun before a turn was over, what of it was kept, and whether that is worth it."""
    ledger = facts.ledger
    verdict = h("p", h("b", worth(ledger)))
    if not ledger.attempts:
        return [verdict]
    about = "about " if ledger.estimated else ""
    n = max(1, ledger.tried)
    rows: list[tuple[str, str]] = [
        ("drafts begun", f"{ledger.attempts} in {count(ledger.tried, 'turn')}"),
        ("kept", str(ledger.kept)),
        ("saved", f"{ms(ledger.saved_ms / n)} a turn, n = {ledger.tried}"),
        ("wasted", f"{about}{count(ledger.wasted_tokens, 'token')}, {ledger.wasted_ms / 1000:.1f} s of work"),
        ("used", count(ledger.used_tokens, "token")),
    ]
    if ledger.tokens_per_100_ms is not None:
        rows.append(("price of 100 ms", f"{about}{ledger.tokens_per_100_ms:.1f} wasted tokens"))
    if ledger.usd_per_1000_turns is not None:
        wasted = ledger.wasted_usd_per_1000_turns or 0.0
        rows.append(("1000 turns", f"${ledger.usd_per_1000_turns:.4f}, of it wasted ${wasted:.4f}"))
    if ledger.prewarm.tokens:
        rows.append(
            ("prompt ahead", f"{count(ledger.prewarm.tokens, 'token')}, {ledger.prewarm.wasted_tokens} for nothing")
        )
    if ledger.retrieval.asked:
        rows.append(("notes looked up", f"{ledger.retrieval.asked}, {ledger.retrieval.adopted} adopted"))
    dropped = [
        (
            stage,
            f"{count(waste.count, 'time')}: {count(waste.tokens, 'token')}, "
            f"{waste.samples / RATE_HZ:.1f} s of sound, {ms(waste.ms)}",
        )
        for stage, waste in sorted(ledger.discarded.items())
    ]
    return [verdict, facts_list(rows), *([h("h4", "Thrown away, by stage"), facts_list(dropped)] if dropped else [])]


def facts_list(rows: list[tuple[str, str]]) -> Html:
    """Names and values."""
    return h("dl", [h("div", h("dt", name), h("dd", h("bdi", value))) for name, value in rows], cls="facts")


def faults_section(facts: SessionFacts) -> list[Piece]:
    """What failed, with its remedy; and what was heard but became no turn."""
    pieces: list[Piece] = []
    if facts.faults:
        rows = [
            [
                when(fault.at_ms),
                said(fault.stage, 60),
                said(fault.message, 600),
                said(fault.remedy, 600) if fault.remedy else "not known",
            ]
            for fault in facts.faults[:MOST_ROWS]
        ]
        pieces += [table(("at", "part", "what happened", "what to do"), rows), _more(len(facts.faults))]
    else:
        pieces.append(h("p", "None.", cls="dim"))
    rejected = [line for line in facts.transcript.lines if isinstance(line, UserLine) and line.state == "rejected"]
    if rejected:
        pieces.append(h("h4", "Heard, but not taken for a turn"))
        rows = [
            [when(line.at_ms), said(line.reason, 60), said(line.text, 200) if line.text else "–"]
            for line in rejected[:MOST_ROWS]
        ]
        pieces += [table(("at", "why", "words"), rows), _more(len(rejected))]
    return pieces
