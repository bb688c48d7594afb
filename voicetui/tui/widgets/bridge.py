"""From one gap to the other, stage by stage: what each adds or takes."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from voicetui.bench.pair_words import signed
from voicetui.tui.canvas import rule
from voicetui.tui.compared import ComparedView, Step, steps
from voicetui.tui.ink import Ink, Row, Run, wrap_runs
from voicetui.tui.widgets.compared_panel import ComparedPanel
from voicetui.views.bands import band
from voicetui.views.figures import milliseconds, whole

_NAME_CELLS, _SIDE_CELLS, _DIFFERENCE_CELLS = 14, 6, 6
_SIDES_FROM = 48
"""From this width on either side's own milliseconds have room beside the difference."""
_HALVES = {(True, True): "█", (True, False): "▌", (False, True): "▐", (False, False): " "}


class Bridge(ComparedPanel):
    """A waterfall of differences: it begins at one gap, every stage moves it, it ends at the other."""

    DEFAULT_CSS = "Bridge { height: 1fr; }"

    def draw(self, size: Size) -> Sequence[Row]:
        """A heading, the first gap, the stages, the second gap: the gaps' own rows only where there is room."""
        view, (width, height) = self.view, size
        pair = view.pair if view is not None else None
        if view is None or pair is None:
            return [Row(rule(width, "what each stage makes of it"))]
        one, other = view.found.labels
        before, after = view.found.comparison.gaps_ms(pair)
        note = f"{whole(before)} → {milliseconds(after)}"
        rows = [Row(rule(width, f"{other} − {one} by stage", note))]
        if before is None or after is None:
            return rows + _told(view, width, height - 1)
        if pair.staged:
            return rows + _sentence("A staged gap was made on purpose, by no stage.", width, height - 1)
        told = steps(view.found, pair, height - 1)
        ends = len(told) + 2 <= height - 1
        way = [before, *_way(before, told)]
        scale = (0.0 if ends else min(way), max(*way, after, 1.0))
        cells = max(4, width - _NAME_CELLS - _DIFFERENCE_CELLS - (2 * _SIDE_CELLS if width >= _SIDES_FROM else 0) - 2)
        rows += [_end(one, before, scale, cells, width)] if ends else []
        at_ms = before
        for each in told:
            rows.append(_step(each, at_ms, scale, cells, width))
            at_ms += each.difference_ms or 0.0
        rows += [_end(other, after, scale, cells, width)] if ends else []
        return rows[:height]


def _way(before: float, told: Sequence[Step]) -> list[float]:
    """Where the bridge stands after each stage."""
    at_ms, way = before, []
    for each in told:
        at_ms += each.difference_ms or 0.0
        way.append(at_ms)
    return way


def _told(view: ComparedView, width: int, room: int) -> list[Row]:
    """Why there is nothing to compare."""
    pair = view.pair
    assert pair is not None
    if not pair.both:
        side = view.found.labels[0 if pair.one else 1]
        return _sentence(f"Only {side} has this turn: there is nothing to compare it with.", width, room)
    return _sentence("One of them has no gap: its reply was not heard, or nobody spoke.", width, room)


def _sentence(text: str, width: int, room: int) -> list[Row]:
    return [Row((Run("  "), *line)) for line in wrap_runs([Run(text, "dim")], width - 4)][:room]


def _end(label: str, gap_ms: float, scale: tuple[float, float], cells: int, width: int) -> Row:
    """One of the two gaps, whole."""
    kind = band(gap_ms)
    bar = _bar(0.0, gap_ms, scale, cells)
    sides = " " * (2 * _SIDE_CELLS) if width >= _SIDES_FROM else ""
    name = Run(f" {label} gap".ljust(_NAME_CELLS), "strong")
    return Row((name, Run(f"{sides}{whole(gap_ms):>{_DIFFERENCE_CELLS}} ", "strong"), Run(bar, kind.ink)))


def _step(step: Step, at_ms: float, scale: tuple[float, float], cells: int, width: int) -> Row:
    """One stage: to the left where the other is quicker, to the right where it is slower."""
    difference = step.difference_ms
    name = Run(
        f" {step.stage.replace('_', ' ')}"[: _NAME_CELLS - 1].ljust(_NAME_CELLS), "text" if difference else "dim"
    )
    sides = Run(f"{whole(step.one_ms, '?'):>{_SIDE_CELLS}}{whole(step.other_ms, '?'):>{_SIDE_CELLS}}", "dim")
    shown = "?" if difference is None else signed(difference)
    figure = Run(f"{shown:>{_DIFFERENCE_CELLS}} ", "strong" if difference else "faint")
    lead = (name, sides, figure) if width >= _SIDES_FROM else (name, figure)
    if not difference or round(difference) == 0:
        return Row(lead)
    ink: Ink = "band-conversation" if difference < 0 else "band-late"
    return Row((*lead, Run(_bar(at_ms, at_ms + difference, scale, cells), ink)))


def _bar(from_ms: float, to_ms: float, scale: tuple[float, float], cells: int) -> str:
    """A stretch of the scale in half cells, at least one."""
    least, most = scale
    low, high = sorted(max(0.0, (ms - least) / max(1.0, most - least)) for ms in (from_ms, to_ms))
    first = min(round(low * cells * 2), cells * 2 - 1)
    last = max(first + 1, round(high * cells * 2))
    halves = [first <= half < last for half in range(2 * ((last + 1) // 2))]
    return "".join(_HALVES[pair] for pair in zip(halves[::2], halves[1::2], strict=True))
