"""The timeline as pictures: the whole session, and the turns worth looking at."""

from __future__ import annotations

from collections.abc import Sequence

from voicetui.share.lane_pictures import Board, Stretch, session_ribbon, turn_lanes, turn_stretch
from voicetui.share.markup import Html, Piece, h, said
from voicetui.share.report_gaps import stage_line
from voicetui.share.session_facts import SessionFacts
from voicetui.share.wording import OUTCOMES, band_chip, count, ms
from voicetui.views.latency import TurnLatency

ALL_UP_TO = 8
"""A session of up to so many turns shows every one of them."""
SLOWEST, ODD = 4, 4
BEFORE_MS, AFTER_MS, MOST_AFTER_MS = 900.0, 700.0, 5000.0
ROW_MS, MOST_ROWS = 60_000.0, 8
"""A session of up to so many rows shows who was heard when."""


def timeline_section(facts: SessionFacts, board: Board) -> list[Piece]:
    """Who was heard when, then the lanes of single turns."""
    groups = chosen(facts.turns)
    shown = [turn for _, turns in groups for turn in turns]
    gaps_ms = [turn.gap_ms for turn in shown if turn.gap_ms is not None]
    after_ms = min(max(max(gaps_ms, default=0.0) + AFTER_MS, 1500.0), MOST_AFTER_MS)
    pieces: list[Piece] = [_ribbon(facts, board)]
    for words, turns in groups:
        pieces.append(h("h4", words))
        pieces.append(h("div", [_card(facts, board, turn, after_ms) for turn in turns], cls="turns"))
    if shown:
        pieces.append(_legend())
    return pieces


def chosen(turns: Sequence[TurnLatency]) -> list[tuple[str, list[TurnLatency]]]:
    """The turns whose lanes are shown, in groups with a heading: all of a few, else the slowest and the odd ones."""
    drawn = [turn for turn in turns if turn_stretch(turn, 0, 0) is not None]
    if not drawn:
        return []
    if len(drawn) <= ALL_UP_TO:
        return [("Turn by turn", drawn)]
    real = sorted(
        (turn for turn in drawn if turn.gap_ms is not None and not turn.staged), key=lambda turn: -(turn.gap_ms or 0)
    )
    slowest = sorted(real[:SLOWEST], key=lambda turn: turn.turn)
    odd = [
        turn
        for turn in drawn
        if turn.outcome in ("failed", "cut_off", "superseded", "unanswered") and turn not in slowest
    ]
    found = [(f"The {len(slowest)} slowest of {count(len(drawn), 'turn')}", slowest)] if slowest else []
    more = f", the first {ODD} of {len(odd)}" if len(odd) > ODD else ""
    return [*found, (f"Taken back, failed or without an answer{more}", odd[:ODD])] if odd else found


def _ribbon(facts: SessionFacts, board: Board) -> Piece:
    starts = [span.start_ms for span in facts.timeline.spans if span.lane in ("you", "speaker")]
    if not starts:
        return None
    start_ms = max(0.0, min(starts) - 500)
    length_ms = facts.timeline.end_ms - start_ms
    if length_ms > MOST_ROWS * ROW_MS:
        return h(
            "p",
            f"The session is long: of {count(len(facts.turns), 'turn')} the telling ones are shown. Every "
            "gap stands in the picture above, every word below.",
            cls="dim",
        )
    row_ms = ROW_MS if length_ms > ROW_MS else max(5000.0, length_ms)
    return h(
        "figure",
        session_ribbon(board, facts.turns, start_ms, facts.timeline.end_ms, row_ms),
        h("figcaption", "Who was heard when; time is the session’s, in seconds. The tinted stretches are the gaps."),
    )


def _card(facts: SessionFacts, board: Board, turn: TurnLatency, after_ms: float) -> Html | None:
    stretch = turn_stretch(turn, BEFORE_MS, after_ms)
    assert stretch is not None
    user = facts.users.get(turn.turn)
    marks = [word for word, on in (("cold", turn.cold), ("cached", turn.cached), ("typed", turn.typed)) if on]
    head = [
        h("b", f"Turn {turn.turn}"),
        " ",
        ms(turn.gap_ms) if turn.gap_ms is not None else "no gap",
        " ",
        h("span", "staged gap", cls="chip") if turn.staged else band_chip(turn.gap_ms),
        " ",
        h("span", "; ".join([OUTCOMES[turn.outcome], *marks]), cls="dim"),
    ]
    return h(
        "figure",
        h("p", head, cls="cardhead"),
        h("p", "“", said(user.text, 160), "”", cls="quote") if user is not None and user.text else None,
        turn_lanes(board, turn, _room(stretch)),
        h("figcaption", stage_line(turn) or None),
        cls="card",
    )


def _room(stretch: Stretch) -> Stretch:
    return Stretch(max(0.0, stretch.start_ms), stretch.end_ms, stretch.zero_ms)


def _legend() -> Html:
    items = (
        ("you", "the person speaks"),
        ("reply", "the answer is heard"),
        ("work", "work"),
        ("speculative", "work ahead of the decision that the turn is over"),
        ("discarded", "work thrown away"),
    )
    keys = [
        h(
            "li",
            h(
                "span",
                h(
                    "svg",
                    h("rect", width=22, height=10, y=2, rx=1.5, cls=f"span {kind}"),
                    width=22,
                    height=14,
                    aria_hidden="true",
                ),
            ),
            words,
        )
        for kind, words in items
    ]
    lines = h("li", "0 ms is the person’s last sound; the line through all lanes is the decision that the turn is over")
    return h("ul", keys, lines, cls="legend")
