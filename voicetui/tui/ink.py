"""What widgets draw: rows of runs, each run a text in a named ink. What an ink looks like is the theme's business."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal, NamedTuple, get_args

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


class Run(NamedTuple):
    """A piece of a row. ``text`` must be safe to show (see ``literal``)."""

    text: str
    ink: Ink = "text"


class Row(NamedTuple):
    """One line of a widget. ``on`` marks the selected one; ``target`` is the turn that a click on it selects."""

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


def wrap_runs(runs: Iterable[Run], cells: int, first_cells: int | None = None) -> list[tuple[Run, ...]]:
    """Runs broken into lines of at most ``cells`` cells (at least 2), at spaces where possible, else between clusters.

    The first line has room for ``first_cells`` only, where that is given.
    """
    pieces = [(cluster, run.ink, size) for run in runs for cluster, size in clusters(run.text)]
    lines: list[tuple[Run, ...]] = []
    start = 0
    while start < len(pieces):
        room = max(2, first_cells if first_cells is not None and not lines else cells)
        end, used, space = start, 0, start
        while end < len(pieces) and used + pieces[end][2] <= room:
            space = end if pieces[end][0] == " " else space
            used += pieces[end][2]
            end += 1
        if end < len(pieces) and pieces[end][0] != " " and space > start:
            end = space
        lines.append(tuple(_joined(pieces[start:end])))
        start = end
        while start < len(pieces) and pieces[start][0] == " ":
            start += 1
    return lines or [()]


def _joined(pieces: Iterable[tuple[str, Ink, int]]) -> Iterator[Run]:
    """Neighbours of the same ink as one run."""
    for ink, group in groupby(pieces, key=lambda piece: piece[1]):
        yield Run("".join(cluster for cluster, _, _ in group), ink)
