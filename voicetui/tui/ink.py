"""What widgets draw: rows of runs, each run a text in a named ink. What an ink looks like is the theme's business."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from voicetui.tui.literal import clip, clusters, width

Ink = Literal[
    "text",
    "strong",
    "dim",
    "faint",
    "title",
    "key",
    "you",
    "reply",
    "provisional",
    "struck",
    "rejected",
    "work",
    "speculative",
    "discarded",
    "sound-you",
    "sound-reply",
    "guide",
    "mark",
    "accent",
    "notice",
    "alert",
    "band-conversation",
    "band-quick",
    "band-workable",
    "band-slow",
    "band-late",
]
INKS: tuple[Ink, ...] = get_args(Ink)


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of a row. ``text`` must be safe to show (see ``literal``)."""

    text: str
    ink: Ink = "text"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a widget. ``on`` marks the selected one; ``target`` is what a click on it selects (a turn's number)."""

    runs: tuple[Run, ...] = ()
    on: bool = False
    target: int | None = None

    @property
    def text(self) -> str:
        """The row as plain text."""
        return "".join(run.text for run in self.runs)

    @property
    def cells(self) -> int:
        """Its width in cells."""
        return sum(width(run.text) for run in self.runs)


BLANK = Row()


def row(*runs: Run | tuple[str, Ink] | str, on: bool = False, target: int | None = None) -> Row:
    """A row of runs; a plain string is in the ink ``text``."""
    return Row(tuple(_run(each) for each in runs), on, target)


def _run(each: Run | tuple[str, Ink] | str) -> Run:
    if isinstance(each, Run):
        return each
    return Run(each) if isinstance(each, str) else Run(*each)


def clip_runs(runs: Iterable[Run], cells: int) -> tuple[Run, ...]:
    """As many of the runs as fit into ``cells``, an ellipsis where something was cut."""
    kept: list[Run] = []
    left = cells
    rest = list(runs)
    total = sum(width(run.text) for run in rest)
    if total <= cells:
        return tuple(rest)
    for run in rest:
        size = width(run.text)
        if size < left:
            kept.append(run)
            left -= size
            continue
        kept.append(Run(clip(run.text + " ", left) if size == left else clip(run.text, left), run.ink))
        break
    return tuple(kept)


def spread(left: Iterable[Run], right: Iterable[Run], cells: int) -> tuple[Run, ...]:
    """``left`` at the left edge and ``right`` at the right one; where both do not fit, the left one is clipped."""
    ends = tuple(right)
    taken = sum(width(run.text) for run in ends)
    start = clip_runs(left, max(0, cells - taken - (1 if ends else 0)))
    gap = cells - taken - sum(width(run.text) for run in start)
    return (*start, Run(" " * max(0, gap)), *ends) if ends else start


def wrap_runs(runs: Iterable[Run], cells: int) -> list[tuple[Run, ...]]:
    """Runs broken into lines of at most ``cells`` cells, at spaces where possible, else between clusters."""
    cells = max(2, cells)
    lines: list[tuple[Run, ...]] = []
    line: list[Run] = []
    used = 0
    for word, size, glued in _words(runs):
        blank = word[0].text.isspace()
        if used + size > cells and not blank and line:
            lines.append(_joined(line))
            line, used = [], 0
        if blank and not line and lines:
            continue
        for cluster, ink, cluster_cells in _pieces(word):
            if used + cluster_cells > cells:
                if blank:
                    break
                lines.append(_joined(line))
                line, used = [], 0
            line.append(Run(cluster, ink))
            used += cluster_cells
        del glued
    if line or not lines:
        lines.append(_joined(line))
    return lines
