"""The conversation in words: what was said, what was heard of each answer, and what never was."""

from __future__ import annotations

from collections.abc import Sequence

from voicetui.share.markup import Html, Piece, h, join, said
from voicetui.share.report_gaps import stage_line
from voicetui.share.session_facts import SessionFacts
from voicetui.share.wording import OUTCOMES, band_chip, count, ms, when, why_no_gap
from voicetui.views.barge_in import chief_barge_in, count_words
from voicetui.views.latency import TurnLatency
from voicetui.views.transcript import ReplyLine, UserLine

OPEN_UP_TO = 80
"""So many lines stand open; a longer conversation is folded into parts of ``PART`` lines."""
PART = 100
_ROOM = 500_000
"""Letters that all texts together may have, so that an hour fits into a page."""


def talk_section(facts: SessionFacts) -> list[Piece]:
    """All lines of the conversation, in order."""
    lines = facts.transcript.lines
    if not lines or facts.imported:
        nothing = "Not known: a recorded call has no words here." if facts.imported else "Nothing was said."
        return [h("p", nothing, cls="dim")]
    most = min(4000, max(200, _ROOM // len(lines)))
    turns = {turn.turn: turn for turn in facts.turns}
    written = [_line(facts, turns, line, most) for line in lines]
    note = h(
        "p",
        h("s", "Struck out"),
        " is what was written but never heard; only what was heard is remembered.",
        cls="dim small",
    )
    if len(lines) <= OPEN_UP_TO:
        return [note, h("ol", written, cls="talk")]
    return [note, *(_part(lines, written, first) for first in range(0, len(lines), PART))]


def _part(lines: Sequence[UserLine | ReplyLine], written: Sequence[Html], first: int) -> Html:
    part = lines[first : first + PART]
    numbers = [line.turn for line in part if line.turn is not None]
    times = [line.at_ms for line in part if isinstance(line, UserLine)]
    from_to = f"turns {min(numbers)} to {max(numbers)}" if numbers else "no turns"
    clock = f", from {when(times[0])}" if times else ""
    return h(
        "details",
        h("summary", f"{from_to}{clock}"),
        h("ol", written[first : first + PART], cls="talk"),
        open=first == 0,
    )


def _line(facts: SessionFacts, turns: dict[int, TurnLatency], line: UserLine | ReplyLine, most: int) -> Html:
    if isinstance(line, UserLine):
        return _user(line, most)
    return _reply(facts, turns.get(line.turn), line, most)


def _user(line: UserLine, most: int) -> Html:
    at = h("span", when(line.at_ms), cls="time")
    if line.state == "rejected":
        words: list[Piece] = ["“", said(line.text, most), "” "] if line.text else []
        return h("li", at, h("p", h("i", *words, "not a turn: ", said(line.reason, 80))), cls="rejected")
    unfinished = None if line.state == "committed" else h("small", " (not finished)")
    text = said(line.text, most) if line.text else h("i", "no words")
    return h("li", at, h("p", h("b", "Person "), text, unfinished), cls="you")


def _reply(facts: SessionFacts, turn: TurnLatency | None, line: ReplyLine, most: int) -> Html:
    heard = "".join(clause.heard for clause in line.clauses)
    pieces: list[Piece] = []
    unheard = ""
    for clause in line.clauses:
        if clause.heard:
            pieces += [_unheard(unheard, most), said(clause.heard, most)]
            unheard = ""
        unheard += clause.unheard
    pieces.append(_unheard(unheard + line.pending, most))
    if not line.text:
        pieces = [h("i", "no answer")]
    return h(
        "li",
        h("span", _gap(turn), cls="time"),
        h("p", h("b", "Answer "), pieces),
        _small(facts, turn, line, heard),
        cls="reply",
    )


def _unheard(text: str, most: int) -> Html | None:
    if not text:
        return None
    if not text.strip():
        return h("span", text)
    gap = " " if text[0].isspace() else ""
    return join([gap, h("s", h("span", "(not heard:)", cls="aside"), said(text.strip(), most))])


def _gap(turn: TurnLatency | None) -> list[Piece]:
    if turn is None:
        return []
    if turn.gap_ms is None:
        return ["no gap"]
    return [ms(turn.gap_ms), " ", h("span", "staged", cls="chip") if turn.staged else band_chip(turn.gap_ms)]


def _small(facts: SessionFacts, turn: TurnLatency | None, line: ReplyLine, heard: str) -> Html:
    """What else there is to say, in small type."""
    parts = [f"turn {line.turn}, {OUTCOMES[line.outcome]}"]
    if turn is not None and turn.gap_ms is None:
        parts.append(f"no gap: {why_no_gap(turn)}")
    words = count_words(line.text)
    if line.text and heard.strip() != line.text:
        parts.append(f"{count_words(heard)} of {count(words, 'word')} heard")
    chief = chief_barge_in(facts.barge_ins.get(line.turn, ()))
    if chief is not None and chief.stop_ms is not None and not chief.false_interruption:
        parts.append(f"silent {ms(chief.stop_ms)} after the person began")
    made = facts.ledger.turns.get(line.turn)
    if made is not None and made.attempts:
        parts.append(
            f"draft kept, {ms(made.saved_ms)} saved" if made.kept else f"{count(made.attempts, 'draft')} dropped"
        )
    stages = stage_line(turn) if turn is not None else ""
    return h("small", "; ".join(parts), h("details", h("summary", "where the gap went"), stages) if stages else None)
