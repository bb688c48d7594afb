"""The comparison's head, its words and its foot: which sessions, what was said, what the figures can tell."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from voicetui.bench.pair_words import differs_text, left_out_text
from voicetui.tui.canvas import rule
from voicetui.tui.drawn import Drawn
from voicetui.tui.ink import Ink, Row, Run, clip_runs, spread, wrap_runs
from voicetui.tui.literal import literal
from voicetui.tui.widgets.compared_panel import ComparedPanel
from voicetui.views.summary import TurnSummary


class Head(ComparedPanel):
    """Both sessions, and what differs between them."""

    DEFAULT_CSS = "Head { height: 2; }"

    def draw(self, size: Size) -> Sequence[Row]:
        """One row, or two: what differs stands at the right end of the first where there is only one."""
        view, (width, height) = self.view, size
        if view is None:
            return []
        names: list[Run] = []
        for side in (view.one, view.other):
            summary = side.session.summary
            names += [Run("  " if names else " "), Run(f"{side.label} ", "strong"), Run(literal(side.session.name))]
            names += [Run(f"  {literal(summary.tier)}, {literal(summary.overlap)} ", "dim")] if height > 1 else []
            names += [Run(" simulated", "notice")] if summary.simulated else []
        differs = Run(f"{literal(differs_text(view.found.labels, view.found.comparison))} ", "notice")
        if height < 2:
            return [Row(spread(names, clip_runs([differs], max(12, width - 52)), width))]
        return [Row(clip_runs(names, width)), Row(clip_runs([Run(" what differs: ", "dim"), differs], width))]


class WordsPanel(ComparedPanel):
    """What the user said and what was answered, on either side."""

    DEFAULT_CSS = "WordsPanel { height: 5; }"

    def draw(self, size: Size) -> Sequence[Row]:
        """A heading; of each side what was said and what was heard of the answer, the lines shared evenly."""
        view, (width, height) = self.view, size
        if view is None or view.pair is None:
            return [Row(rule(width, "words"))]
        sides = [[side.session.facts(number) for number in turns] for side, turns in view.sides]
        told = zip(view.found.labels, sides, strict=True)
        counts = "   ".join(f"{label} {_counts(turns[-1])}" for label, turns in told if turns)
        rows = [Row(rule(width, "words", f"heard of the reply: {counts}"))]
        room = max(1, (height - 1) // 2)
        for (side, _), turns in zip(view.sides, sides, strict=True):
            lines = wrap_runs(_said(turns[-1]), width - 5) if turns else [(Run("–", "dim"),)]
            kept = [
                Row((Run("   " if place else f" {side.label} ", "strong"), *line)) for place, line in enumerate(lines)
            ]
            if len(kept) > room:
                whole = [run for line in lines[room - 1 :] for run in (*line, Run(" "))]
                kept[room - 1 :] = [Row(clip_runs([*kept[room - 1].runs[:1], *whole], width - 2))]
            rows += kept
        return rows


def _counts(turn: TurnSummary) -> str:
    return f"{len(turn.heard_text.split())} of {len(turn.reply_text.split())} words"


def _said(turn: TurnSummary) -> list[Run]:
    """What was said, what was heard of the reply, and what was not."""
    heard, reply = literal(turn.heard_text.strip()), literal(turn.reply_text.strip())
    rest = reply[len(heard) :] if reply.startswith(heard) else ""
    runs = [Run(literal(turn.user_text.strip()) or "(no words)", "you"), Run("  →  ", "dim"), Run(heard, "reply")]
    runs += [Run(rest, "struck")] if rest.strip() else []
    return runs if heard or rest else [*runs, Run("nothing heard", "dim")]


class Foot(ComparedPanel):
    """What the pairs say, and how far to believe it: as much as there is room for, the weightiest first."""

    DEFAULT_CSS = "Foot { height: 3; }"

    def draw(self, size: Size) -> Sequence[Row]:
        """A heading with the counts, then the sentences."""
        view, (width, height) = self.view, size
        if view is None:
            return []
        found = view.found
        staged = found.figures.staged_gap
        counts = f"n {found.figures.gap.n}" + (f"   staged n {staged.n}" if staged is not None else "")
        left_out = (
            f"   left out: {left_out_text(found.figures)}",
            f"   {sum(found.figures.left_out.values())} left out",
            "",
        )
        notes = [f"not interleaved   {counts}{each}" for each in left_out]
        rows = [Row(rule(width, "in pairs", next((note for note in notes if len(note) + 17 <= width), notes[-1])))]
        sentences: list[tuple[str, Ink]] = (
            [(found.notes[0], "strong")] if found.comparison.related and found.notes else []
        )
        sentences += [(found.aligned, "text"), *((each, "dim") for each in found.notes[len(sentences) :])]
        for text, ink in sentences:
            lines = wrap_runs([Run(literal(text), ink)], width - 3)
            room = height - len(rows)
            if len(lines) > room and len(rows) < 2:
                rest = [run for line in lines[max(0, room - 1) :] for run in (*line, Run(" "))]
                lines = [*lines[: max(0, room - 1)], tuple(clip_runs(rest, width - 3))]
            if len(lines) <= room:
                rows += [Row((Run(" "), *line)) for line in lines]
        return rows[:height]


class CompareKeys(Drawn):
    """The footer."""

    DEFAULT_CSS = "CompareKeys { height: 1; }"

    def __init__(self, keys: Sequence[tuple[str, str]], id: str | None = None) -> None:
        super().__init__(id=id)
        self._keys = keys

    def draw(self, size: Size) -> Sequence[Row]:
        """The one row; the later keys give way where it is narrow."""
        runs, used = [Run(" ")], 1
        for shown, label in self._keys:
            used += len(shown) + len(label) + 3
            if used <= size.width:
                runs += [Run(shown, "key"), Run(f" {label}  ", "dim")]
        return [Row(tuple(runs))]
