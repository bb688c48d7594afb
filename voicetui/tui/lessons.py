"""What the help screen teaches, as rows: the gap, the stages, the keys."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from voicetui.tui.actions import Action
from voicetui.tui.bands import BANDS
from voicetui.tui.ink import BLANK, Ink, Row, Run, wrap_runs
from voicetui.tui.lanes import MARKS, NAMES, SPEAKER_MARKS
from voicetui.views.timeline import Lane

_STAGES: dict[Lane, tuple[str, str]] = {
    "you": ("your speech", "your speech, as loud as it is"),
    "endpoint": ("waiting to be sure", "waiting to be sure that you are done"),
    "transcribe": ("sound to words", "sound to words, already while you talk"),
    "context": ("what the model reads", "gathering what the model is to read"),
    "llm": ("writes; ┿ first word", "the model writes; ┿ its first word"),
    "clauses": ("text cut for the voice", "cutting the text where a voice can pause"),
    "synthesis": ("words to sound", "words to sound, one clause ahead"),
    "speaker": ("what you hear", "what you hear"),
}
_BANDS = ("conversation", "quick", "machine-like, workable", "slow", "the caller talks again")
_TERMS: tuple[tuple[str, str, str], ...] = (
    (
        "p95",
        "one turn in twenty is slower",
        "the tail: one turn in twenty is slower than this. People remember that one, not the mean.",
    ),
    (
        "rhythm",
        "change from turn to turn: people collide on uneven delays",
        "mean change from turn to turn. A steady delay is learnt; on an uneven one people collide.",
    ),
    (
        "cut-off",
        "the program answered into your sentence",
        "the program answered into your sentence. A short gap bought with cut-offs is no gain.",
    ),
    (
        "collision",
        "you spoke again, thinking you were not heard",
        "you spoke again, thinking you were not heard.",
    ),
)
"""Each with few words and with more."""
_STICKY = "\u00a0"
_GLYPHS: tuple[tuple[str, Ink, str], ...] = (
    ("━━", "work", "work"),
    ("╍╍", "speculative", "begun before you were done"),
    ("┄×", "discarded", "thrown away, never heard"),
    ("└┘", "strong", "the gap, drawn to scale"),
    ("s▒", "mark", "a staged gap: held on purpose"),
)


def gap_lesson(cells: int, airy: bool) -> list[Row]:
    """What a gap is, how it reads, and why its tail and its rhythm count. ``airy``: with blank lines."""
    more = airy
    rows = [*_heading("The gap", airy)]
    what = "From the end of your speech to the first sound of the reply"
    rows += _text(f"{what}, as the ear has it. The number everything else here serves." if more else f"{what}.", cells)
    rows += _space(airy)
    for each, few in zip(BANDS, _BANDS, strict=True):
        limit = f"to {each.upto_ms:.0f}" if math.isfinite(each.upto_ms) else "beyond"
        head = (Run(f"{each.shape} ", each.ink), Run(limit.ljust(8), "strong"))
        lines = wrap_runs([Run(each.says.removeprefix("reads as ") if more else few)], cells - 10)
        rows.append(Row((*head, *lines[0])))
        rows += [Row((Run(" " * 10), *line)) for line in lines[1:]]
    rows += _space(airy)
    for name, few, many in _TERMS:
        rows += _term(name, many if more else few, cells)
        rows += _space(cells >= 44 and airy)
    return rows


def stage_lesson(cells: int, airy: bool) -> list[Row]:
    """What each lane shows, how work is drawn, what the marks mean."""
    rows = [*_heading("The stages", airy)]
    for lane, words in _STAGES.items():
        rows += _term(NAMES[lane], words[airy], cells, 12)
    rows += _space(airy)
    rows += [Row((Run(f"{glyphs}  ", ink), Run(words))) for glyphs, ink, words in _GLYPHS]
    rows += _space(airy)
    runs: list[Run] = []
    for glyph, word, ink in (*MARKS.values(), *SPEAKER_MARKS.values()):
        runs += [Run(f"{glyph}{_STICKY}", ink), Run(word.replace(" ", _STICKY)), Run("  ")]
    return [*rows, *(Row(line) for line in wrap_runs(runs, cells))]


def key_lesson(actions: Iterable[Action], cells: int, airy: bool, height: int = 0) -> list[Row]:
    """All keys: one a row, two where ``height`` is too little for that, or in running text where rows are scarce."""
    known = list(actions)
    if airy:
        rows = [*_heading("Keys", airy), *_key_rows(known, cells)]
        return rows if len(rows) <= height else [*_heading("Keys", airy), *_key_rows(known, cells, packed=True)]
    runs: list[Run] = []
    for each in known:
        runs += [Run(f"{each.shown}{_STICKY}", "key"), Run(each.brief.replace(" ", _STICKY), "dim"), Run("  ")]
    return [Row(line) for line in wrap_runs(runs, cells)]


def _key_rows(actions: Sequence[Action], cells: int, packed: bool = False) -> list[Row]:
    """Key and help, one a row; ``packed``: beside the one before, where both are short."""
    rows: list[Row] = []
    place = 0
    while place < len(actions):
        each = actions[place]
        lines = wrap_runs([Run(each.help)], cells - 9)
        first: tuple[Run, ...] = (Run(each.shown.ljust(9), "key"), *lines[0])
        after = actions[place + 1] if place + 1 < len(actions) else None
        if packed and after is not None:
            beside_it = (Run(f"   {after.shown} ", "key"), Run(after.help))
            if len(lines) == 1 and sum(len(run.text) for run in (*first, *beside_it)) <= cells:
                first = (*first, *beside_it)
                place += 1
        rows.append(Row(first))
        rows += [Row((Run(" " * 9), *line)) for line in lines[1:]]
        place += 1
    return rows


def _heading(title: str, airy: bool) -> list[Row]:
    return [Row((Run(title, "title"),)), *_space(airy)]


def _space(airy: bool) -> list[Row]:
    return [BLANK] if airy else []


def _text(text: str, cells: int) -> list[Row]:
    return [Row(line) for line in wrap_runs([Run(text)], cells)]


def _term(name: str, words: str, cells: int, indent: int = 10) -> list[Row]:
    lines: Iterable[tuple[Run, ...]] = wrap_runs([Run(words)], cells - indent)
    return [Row((Run((name if place == 0 else "").ljust(indent), "strong"), *line)) for place, line in enumerate(lines)]


def beside(columns: Iterable[list[Row]], cells: int, gap: int) -> list[Row]:
    """Columns of ``cells`` cells side by side."""
    blocks = list(columns)
    rows = []
    for place in range(max(map(len, blocks))):
        runs: list[Run] = [Run("  ")]
        for number, block in enumerate(blocks):
            row = block[place] if place < len(block) else BLANK
            runs += [Run(" " * gap)] if number else []
            runs += row.runs
            runs.append(Run(" " * max(0, cells - row.cells)))
        rows.append(Row(tuple(runs)))
    return rows
