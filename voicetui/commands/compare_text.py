"""A comparison for people to read: rows for a plain terminal, aligned, from 80 columns up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from voicetui.bench.compared import Compared
from voicetui.bench.pair_words import differs_text, left_out_text, pair_note, pair_text, same_reply, signed, turns_text
from voicetui.bench.statistics import Paired
from voicetui.events.orders import IMPORTED
from voicetui.events.words import normalise_words
from voicetui.tui.canvas import rule
from voicetui.tui.compared import gap_run
from voicetui.tui.figures import tail
from voicetui.tui.ink import BLANK, Ink, Row, Run, row, wrap_runs
from voicetui.tui.literal import fit, literal
from voicetui.views.bands import BANDS, STAGED_SHAPE
from voicetui.views.compare import PairOfTurns, Session
from voicetui.views.figures import whole
from voicetui.views.summary import TurnSummary

STYLES: dict[Ink, str] = {
    "strong": "bold",
    "dim": "dim",
    "faint": "dim",
    "title": "bold",
    "guide": "dim",
    "you": "cyan",
    "reply": "magenta",
    "notice": "yellow",
    "alert": "bold red",
    "band-conversation": "green",
    "band-quick": "bright_green",
    "band-workable": "yellow",
    "band-slow": "bright_red",
    "band-late": "red",
}
"""What inks look like in a terminal's own colours."""
DIFFERENCES_SHOWN = 8
"""As many settings are told of one comparison; the JSON has all."""
NONE = "–"


def show_rows(rows: Iterable[Row], out: TextIO, width: int) -> None:
    """Print rows: in colour on a terminal, unless ``NO_COLOR`` is set; without blanks at their ends."""
    console = Console(file=out, width=width, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for each in rows:
        text = Text()
        for run in each.runs:
            text.append(run.text, STYLES.get(run.ink, ""))
        text.rstrip()
        console.print(text)


def comparison_rows(sessions: Sequence[Session], found: Sequence[Compared], width: int, words: bool) -> list[Row]:
    """All there is to say. With ``words``, also what was said and answered where the sides differ."""
    rows = [_session_row(chr(ord("A") + place), session, width) for place, session in enumerate(sessions)]
    for each in found:
        rows += [BLANK, *_against(each, width, words, only=len(found) == 1)]
    rows += [BLANK, Row(rule(width, "the sessions, each by itself"))]
    per_block = max(1, (width - 20) // 14)
    for start in range(0, len(sessions), per_block):
        rows += _session_table(sessions[start : start + per_block], start)
    return rows


def _session_row(label: str, session: Session, width: int) -> Row:
    summary = session.summary
    used = f"{summary.tier}{' (simulated)' if summary.simulated else ''}, overlap {summary.overlap}"
    used = used if summary.tier else "tier and overlap not known"
    runs = [Run(f"{label}  ", "strong"), Run(literal(session.name), "strong"), Run(f"   {literal(used)}")]
    return Row((*wrap_runs([*runs, Run(f", {_turns(len(summary.turns))}", "dim")], width)[0],))


def _against(found: Compared, width: int, words: bool, only: bool) -> list[Row]:
    """One session against the base."""
    one, other = found.labels
    comparison = found.comparison
    rows = [] if only else [Row(rule(width, f"{other} against {one}")), BLANK]
    rows += _sentence(f"what differs: {differs_text(found.labels, comparison, DIFFERENCES_SHOWN)}", width)
    rows += _sentence(found.aligned, width)
    rows += _sentence(found.notes[0], width, "strong") if found.notes else []
    if not comparison.one.turns or not comparison.other.turns:
        return rows
    rows += [BLANK, Row(rule(width, f"turn by turn: gaps in ms, and {other} − {one}"))]
    rows += _turn_table(found, width)
    staged = any(turn.staged for session in (comparison.one, comparison.other) for turn in session.turns)
    legend = [_band_text(each.shape, each.word, each.upto_ms) for each in BANDS]
    rows += _sentence("  ".join([*legend, *([f"{STAGED_SHAPE} staged"] if staged else [])]), width, "dim")
    if comparison.related:
        rows += [BLANK, Row(rule(width, "in pairs: medians, ms"))]
        rows += _pair_table(found)
        rows += _left_out(found, width)
    if found.notes[1:]:
        rows += [BLANK, Row(rule(width, "how far to believe it"))]
    for note in found.notes[1:]:
        rows += _sentence(note, width)
    rows += [BLANK, Row(rule(width, "words and work"))]
    rows += _work_table(found)
    if words:
        rows += [BLANK, Row(rule(width, "where the words differ")), *_word_rows(found, width)]
    return rows


def _sentence(text: str, width: int, ink: Ink = "text") -> list[Row]:
    lines = wrap_runs([Run(literal(text), ink)], width - 4)
    return [Row((Run("  " if not place else "    "), *line)) for place, line in enumerate(lines)]


def _band_text(shape: str, word: str, upto_ms: float) -> str:
    return f"{shape} {word}" if upto_ms > 9999 else f"{shape} {word} {upto_ms:.0f}"


# ---- tables


def _turn_table(found: Compared, width: int) -> list[Row]:
    one, other = found.labels
    cells = max(16, width - 56)
    gaps = f"{'gap ' + one:>6}  {'gap ' + other:>6}  {other + ' − ' + one:>8}"
    rows = [row((f"  {one:<6}{other:<6}{fit('you said', cells)} {gaps}", "dim"))]
    for pair in found.comparison.pairs:
        before, after = found.comparison.gaps_ms(pair)
        difference = signed(after - before) if before is not None and after is not None else NONE
        difference = f"({difference})" if pair.left_out and difference != NONE else difference
        rows.append(
            row(
                f"  {numbers(pair)}{fit(literal(pair_text(found.comparison, pair)), cells)} ",
                gap_run(found.comparison.one, pair.one, 7),
                " ",
                gap_run(found.comparison.other, pair.other, 7),
                (f" {difference:>8}", "dim" if pair.left_out else "strong"),
                (f"  {pair_note(found.labels, found.comparison, pair)}", "dim"),
            )
        )
    return rows


def numbers(pair: PairOfTurns) -> str:
    """The turns of either side, in columns of their own."""
    return f"{turns_text(pair.one) or NONE:<6}{turns_text(pair.other) or NONE:<6}"


def _pair_table(found: Compared) -> list[Row]:
    one, other = found.labels
    figures = found.figures
    head = f"  {'':<19}{one:>7}{other:>8}{other + ' − ' + one:>9}   {'95% interval':<20}{'n':>3}"
    rows = [row((head, "dim"))]
    rows.append(_figures_row("gap", figures.one_p50_ms, figures.other_p50_ms, figures.gap, "strong"))
    shown = [part for part in figures.parts if part.one_ms or part.other_ms or part.paired.median_ms]
    rows += [
        _figures_row(part.stage.replace("_", " "), part.one_ms, part.other_ms, part.paired, "text") for part in shown
    ]
    if figures.staged_gap is not None:
        rows.append(_figures_row("staged gap", None, None, figures.staged_gap, "notice"))
    return rows


def _figures_row(name: str, one_ms: float | None, other_ms: float | None, paired: Paired, ink: Ink) -> Row:
    difference = signed(paired.median_ms) if paired.median_ms is not None else NONE
    return row(
        (f"  {name:<19}{whole(one_ms):>7}{whole(other_ms):>8}{difference:>9}   ", ink),
        (f"{interval_text(paired):<20}{paired.n:>3}", "dim"),
    )


def interval_text(paired: Paired) -> str:
    """The interval of a median difference, or why there is none."""
    if paired.low_ms is None or paired.high_ms is None:
        return "too few pairs" if paired.n else NONE
    return f"{signed(paired.low_ms)} to {signed(paired.high_ms)}"


def _left_out(found: Compared, width: int) -> list[Row]:
    """What stands on no figure, and the cold pairs apart."""
    text = left_out_text(found.figures)
    rows = _sentence(f"parts are medians of their own and need not add up; left out: {text}", width, "dim")
    for before, after in found.figures.cold:
        one, other = found.labels
        rows += _sentence(
            f"cold (first request), apart: {one} {whole(before)} ms, {other} {whole(after)} ms", width, "dim"
        )
    return rows


def _work_table(found: Compared) -> list[Row]:
    """Counts of words, what drafts saved and wasted: of each turn, both sides."""
    one, other = found.labels
    names = ("said", "reply", "heard", "saved ms", "wasted tok")
    head = f"  {one:<6}{other:<6}" + "".join(f"{name:>13}" for name in names)
    under = " " * 14 + "".join(f"{one:>8}{other:>5}" for _ in names)
    rows = [row((head, "dim")), row((under, "dim"))]
    for pair in found.comparison.pairs:
        sides = ((found.comparison.one, pair.one), (found.comparison.other, pair.other))
        figures = [[_work(session, turns, each) for session, turns in sides] for each in _WORK]
        rows.append(row(f"  {numbers(pair)}" + "".join(f"{before:>8}{after:>5}" for before, after in figures)))
    return rows


_WORK: tuple[Callable[[TurnSummary], float], ...] = (
    lambda turn: len(normalise_words(turn.user_text)),
    lambda turn: len(turn.reply_text.split()),
    lambda turn: len(turn.heard_text.split()),
    lambda turn: turn.speculation.saved_ms,
    lambda turn: turn.speculation.wasted_tokens,
)


def _facts(session: Session, turns: Sequence[int]) -> list[TurnSummary]:
    return [session.facts(number) for number in turns]


def _work(session: Session, turns: Sequence[int], figure: Callable[[TurnSummary], float]) -> str:
    """One figure of an utterance: its words are those of its last turn, its work that of all.

    Of an imported call neither is known.
    """
    if not turns or session.summary.tier == IMPORTED:
        return NONE
    summed = turns if figure in _WORK[3:] else turns[-1:]
    return whole(sum(figure(turn) for turn in _facts(session, summed)))


def _word_rows(found: Compared, width: int) -> list[Row]:
    """The texts of the pairs in which the sides differ."""
    rows: list[Row] = []
    comparison = found.comparison
    for pair in comparison.pairs:
        mine, theirs = _facts(comparison.one, pair.one), _facts(comparison.other, pair.other)
        users, replies, heard = zip(_texts(mine), _texts(theirs), strict=True)
        if (
            normalise_words(users[0]) == normalise_words(users[1])
            and same_reply(comparison, pair)
            and heard[0] == heard[1]
        ):
            continue
        rows.append(row((f"  {numbers(pair)}".rstrip(), "strong")))
        rows += _texts_of("you", users, found.labels, width, "you")
        rows += _texts_of("reply", replies, found.labels, width, "reply")
        if heard != replies:
            rows += _texts_of("heard", heard, found.labels, width, "text")
    return rows or [row(("  nowhere", "dim"))]


def _texts(turns: Sequence[TurnSummary]) -> tuple[str, str, str]:
    if not turns:
        return "", "", ""
    return turns[-1].user_text.strip(), turns[-1].reply_text.strip(), turns[-1].heard_text.strip()


def _texts_of(name: str, texts: Sequence[str], labels: Sequence[str], width: int, ink: Ink) -> list[Row]:
    same = texts[0] == texts[1]
    rows: list[Row] = []
    for label, text in [("", texts[0])] if same else list(zip(labels, texts, strict=True)):
        lines = wrap_runs([Run(literal(text) or NONE, ink)], width - 16)
        for place, line in enumerate(lines):
            lead = f"    {name if not rows else '':<6}  {label if not place else '':<3}"
            rows.append(Row((Run(lead, "dim"), *line)))
    return rows


def _session_table(sessions: Sequence[Session], first: int) -> list[Row]:
    """Each session's own figures, side by side; these are of all its turns, not of the pairs."""
    heads = "".join(f"{chr(ord('A') + first + place):>14}" for place in range(len(sessions)))
    rows = [row((f"  {'':<18}{heads}", "dim"))]
    for name, figure in _SESSION:
        values = [figure(session) for session in sessions]
        if any(value not in (NONE, "0") for value in values) or name in _ALWAYS:
            rows.append(row((f"  {name:<18}", "dim"), "".join(f"{value:>14}" for value in values)))
    return rows


def _n(value: float | None, count: int) -> str:
    return f"{whole(value)} (n {count})" if count else NONE


def _sum(session: Session, text: Callable[[TurnSummary], str]) -> str:
    known = session.summary.tier != IMPORTED
    return str(sum(len(text(turn).split()) for turn in session.summary.turns)) if known else NONE


def _decided(session: Session, figure: float) -> str:
    """What decisions made of it; of an imported call none is known."""
    return NONE if session.summary.tier == IMPORTED else whole(figure)


def _outcomes(session: Session, outcome: str) -> str:
    return str(sum(turn.outcome == outcome for turn in session.summary.turns))


def _drafts(session: Session) -> str:
    ledger = session.summary.ledger
    return f"{ledger.kept} of {ledger.attempts}" if ledger.attempts else NONE


_ALWAYS = ("gap p50, ms", "cut-offs", "collisions", "tokens wasted", "ms saved")
_SESSION: tuple[tuple[str, Callable[[Session], str]], ...] = (
    ("gap p50, ms", lambda each: _n(each.summary.gap_ms.p50, each.summary.gap_ms.n)),
    ("gap p95, ms", lambda each: tail(each.summary.gap_ms) if each.summary.gap_ms.n else NONE),
    ("largest gap, ms", lambda each: whole(each.summary.gap_ms.max)),
    ("rhythm, ms", lambda each: whole(each.summary.gap_ms.rhythm)),
    ("staged gap p50, ms", lambda each: _staged(each)),
    ("stop p50, ms", lambda each: _n(each.summary.barge_in_stop_ms.p50, each.summary.barge_in_stop_ms.n)),
    ("cut-offs", lambda each: _decided(each, each.summary.cut_offs)),
    ("collisions", lambda each: str(each.summary.collisions)),
    ("completed", lambda each: _outcomes(each, "completed")),
    ("interrupted", lambda each: _outcomes(each, "interrupted")),
    ("superseded", lambda each: _outcomes(each, "superseded")),
    ("failed", lambda each: _outcomes(each, "failed")),
    ("unanswered", lambda each: str(each.summary.unanswered)),
    ("no turn", lambda each: str(len(each.summary.rejected))),
    ("reply words", lambda each: _sum(each, lambda turn: turn.reply_text)),
    ("heard words", lambda each: _sum(each, lambda turn: turn.heard_text)),
    ("drafts kept", _drafts),
    ("tokens wasted", lambda each: _decided(each, each.summary.ledger.wasted_tokens)),
    ("ms saved", lambda each: _decided(each, each.summary.ledger.saved_ms)),
    ("faults", lambda each: str(len(each.summary.faults))),
)


def _staged(session: Session) -> str:
    staged = session.summary.staged_gap_ms
    return _n(staged.p50, staged.n) if staged is not None else NONE


def _turns(count: int) -> str:
    return f"{count} turn" if count == 1 else f"{count} turns"
