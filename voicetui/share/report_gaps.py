"""Gaps in figures: their tail and rhythm, what they were measured with, and where they went."""

from __future__ import annotations

import math
from collections.abc import Sequence

from voicetui.share.charts import percent, svg, title, turn_bars
from voicetui.share.markup import Html, Piece, h, said
from voicetui.share.session_facts import SessionFacts, counts
from voicetui.share.wording import OUTCOME_MARKS, OUTCOMES, count, ms, reason_apart, too_few
from voicetui.views.breakdown import STAGES
from voicetui.views.latency import TurnLatency
from voicetui.views.statistics import Stats, statistics

_SHORT = 14
"""A plain text up to this length, such as a number with its unit, is not broken."""
STAGE_WORDS: dict[str, tuple[str, str]] = {
    "endpoint": ("endpoint", "making sure that the person has finished"),
    "transcribe": ("transcribe", "turning the speech into words"),
    "context": ("context", "history and notes for the question"),
    "tools": ("tools", "what a tool was asked"),
    "first_token": ("first token", "until the language model began"),
    "first_answer_token": ("answer token", "from its first token to the first one to be spoken"),
    "first_clause": ("first clause", "until there was a clause to speak"),
    "content_gate": ("content gate", "checking the text"),
    "synthesize": ("synthesis", "turning the clause into sound"),
    "output": ("output", "from sound that is ready to the ear"),
    "unaccounted": ("unaccounted", "nobody’s work: between one stage and the next"),
}


def gaps_section(facts: SessionFacts) -> list[Piece]:
    """Every turn's gap in order, and the figures."""
    if not facts.turns:
        return [h("p", "There are no turns.", cls="dim")]
    marks = " ".join(
        f"{mark} {OUTCOMES[kind].partition(':')[0]}."
        for kind, mark in OUTCOME_MARKS.items()
        if any(turn.outcome == kind and turn.gap_ms is None for turn in facts.turns)
    )
    barged = "▼ the reply was interrupted. " if facts.barge_ins else ""
    barged += "Pale, with a broken edge: staged gaps, made on purpose. " if facts.staged else ""
    return [
        h(
            "figure",
            turn_bars(facts.turns, facts.barge_ins),
            h(
                "figcaption",
                "The gap of every turn in order, ms. People get used to a steady delay, and collide on an "
                f"uneven one. {barged}{marks}",
            ),
        ),
        stats_table(facts),
        _not_counted(facts),
    ]


def stats_table(facts: SessionFacts) -> Html:
    """Quantiles of all counted gaps, of the warm ones, of each tier and mode, and of staged ones, never mixed."""
    real = [turn for turn in facts.turns if counts(turn) and not turn.staged]
    rows: list[tuple[Piece, Stats]] = []
    if real:
        rows.append(("all counted turns", _stats(real, facts)))
        warm = [turn for turn in real if not turn.cold]
        if warm and len(warm) < len(real):
            rows.append(("warm turns only", _stats(warm, facts)))
        kinds = list(dict.fromkeys((turn.tier, facts.modes.get(turn.turn, "")) for turn in real))
        for tier, mode in kinds if len(kinds) > 1 else []:
            own = [turn for turn in real if (turn.tier, facts.modes.get(turn.turn, "")) == (tier, mode)]
            rows.append((h("span", said(tier, 60), f", overlap {mode}"), _stats(own, facts)))
    if facts.staged:
        rows.append(("staged gaps (made on purpose)", _stats(facts.staged, facts)))
    head = ("gap, ms", "n", "p50", "p95", "p99", "max", "IQR", "rhythm")
    body = [
        [
            name,
            str(stats.n),
            *(ms(value) for value in (stats.p50, stats.p95, stats.p99, stats.max, stats.iqr, stats.rhythm)),
        ]
        for name, stats in rows
    ]
    few = too_few(rows[0][1]) if rows else ""
    cold = sum(turn.cold for turn in real)
    largest = facts.rhythm()
    notes = [
        f"{few[0].upper()}{few[1:]}. " if few else "",
        "IQR: the middle half spans that much. Rhythm: the mean change from one turn to the next",
        f", the largest {ms(largest.largest)}." if largest else ".",
        f" Cold (the first request, or over a new connection): {count(cold, 'turn')} of {len(real)}." if cold else "",
    ]
    return h("div", table(head, body), h("p", notes, cls="dim small")) if rows else h("p", "No gap counts.", cls="dim")


def table(head: Sequence[str], body: Sequence[Sequence[Piece]], cls: str = "") -> Html:
    """A table whose rows become cards where it is too narrow for columns."""
    return h(
        "table",
        h("thead", h("tr", [h("th", name, scope="col") for name in head])),
        h(
            "tbody",
            [
                h(
                    "tr",
                    [
                        h(
                            "th" if not place else "td",
                            cell,
                            cls="num" if not isinstance(cell, Html) and cell and len(cell) <= _SHORT else None,
                            data_label=head[place],
                            scope="row" if not place else None,
                        )
                        for place, cell in enumerate(row)
                    ],
                )
                for row in body
            ],
        ),
        cls=f"cards {cls}".strip(),
    )


def _stats(turns: Sequence[TurnLatency], facts: SessionFacts) -> Stats:
    return statistics([turn.gap_ms or 0.0 for turn in turns], [facts.modes.get(turn.turn) for turn in turns])


def _not_counted(facts: SessionFacts) -> Html | None:
    left = [turn for turn in facts.turns if not counts(turn)]
    if not left:
        return None
    why: dict[str, int] = {}
    for turn in left:
        reason = reason_apart(turn)
        why[reason] = why.get(reason, 0) + 1
    told = "; ".join(f"{number} {reason}" for reason, number in why.items())
    return h("p", f"{count(len(left), 'turn')} told apart, in no figure: {told}.", cls="small")


def stages_section(facts: SessionFacts) -> list[Piece]:
    """Where the mean gap went: a waterfall whose parts add up to it exactly."""
    real = [turn for turn in facts.turns if counts(turn) and not turn.staged]
    names = (*STAGES, "unaccounted")
    known = [turn for turn in real if all(_part(turn, name) is not None for name in names)]
    if not known:
        reason = "a recorded call does not tell" if facts.imported else "no counted turn has them all"
        reason = "gaps that are staged are made by no stage" if facts.staged else reason
        return [h("p", f"Not known: {reason}.", cls="dim")]
    mean_ms = math.fsum(turn.gap_ms or 0.0 for turn in known) / len(known)
    rows, nothing, from_ms = [], [], 0.0
    for name in names:
        parts = [_part(turn, name) or 0.0 for turn in known]
        part_ms = math.fsum(parts) / len(parts)
        word, says = STAGE_WORDS[name]
        if not any(parts) and name != "unaccounted":
            nothing.append(word)
            continue
        tells = f"{word}: {ms(part_ms)} of {ms(mean_ms)}, {part_ms / mean_ms:.0%}" if mean_ms else word
        scale = max(mean_ms, 1.0)
        bar = h(
            "rect",
            title(tells),
            x=percent(max(0.0, from_ms / scale * 100)),
            y=3,
            height=14,
            rx=1.5,
            width=percent(max(0.3, part_ms / scale * 100)),
            cls=f"fall {name}",
        )
        share = f"{part_ms / mean_ms:.0%}" if mean_ms > 0 else "–"
        rows.append(
            [
                h("span", h("b", word), h("span", says, cls="dim small")),
                svg(20, tells, bar, cls="fallrow"),
                ms(part_ms),
                share,
                ms(max(parts)),
            ]
        )
        from_ms += part_ms
    rows.append(
        [h("b", "the whole gap"), "", h("b", ms(mean_ms)), "100%", ms(max(turn.gap_ms or 0.0 for turn in known))]
    )
    lost = len(real) - len(known)
    return [
        h(
            "p",
            f"Where the mean gap of {ms(mean_ms)} went, n = {count(len(known), 'turn')}. Each stage is charged "
            "with what was waited for it alone, from the person’s last sound to the answer’s first; the parts add up.",
        ),
        table(
            ("stage", "from the person’s last sound to the answer’s first", "mean", "share", "largest"), rows, "stages"
        ),
        h("p", f"0 ms in every turn: {', '.join(nothing)}.", cls="dim small") if nothing else None,
        h("p", f"{count(lost, 'turn')} left out: not every part is known.", cls="small") if lost else None,
    ]


def _part(turn: TurnLatency, name: str) -> float | None:
    value: float | None = getattr(turn.stages_ms, name)
    return value


def stage_line(turn: TurnLatency) -> str:
    """A turn's stages in one line."""
    if turn.gap_ms is None or turn.staged:
        return ""
    parts = [(STAGE_WORDS[name][0], _part(turn, name)) for name in (*STAGES, "unaccounted")]
    unknown = [word for word, value in parts if value is None]
    if len(unknown) >= len(STAGES):
        return ""
    known = " · ".join(f"{word} {value:.0f}" for word, value in parts if value)
    return known + " ms" + ("; not known: " + ", ".join(unknown) if unknown else "")
