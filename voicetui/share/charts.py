"""Pictures of a session's gaps as inline SVG.

Across they are in per cent, so that they fit any width; text keeps its size.
Every shape has a ``title``, which a browser shows where the pointer rests, and a screen reader reads.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from voicetui.share.markup import Html, Piece, h
from voicetui.share.wording import OUTCOME_MARKS, OUTCOMES, count, gap_text
from voicetui.views.bands import BANDS, band
from voicetui.views.barge_in import BargeInFigures
from voicetui.views.figures import milliseconds
from voicetui.views.latency import TurnLatency

LEAST_SCALE_MS, MOST_SCALE_MS = 1600.0, 3000.0
"""A scale shows every band's beginning, and no outlier squeezes the rest to nothing: longer gaps stand at its end."""
PEOPLE_MS = 200.0
"""What people leave between their turns."""
_BIN_MS = 50.0
"""Divides the edges of every band, so that a column stands in one of them."""
_EDGES_MS = [each.upto_ms for each in BANDS if math.isfinite(each.upto_ms)]
_LINES_MS = [*_EDGES_MS, 2000.0, 2500.0, MOST_SCALE_MS]
"""What a scale has lines at."""


def svg(height: int, label: str, *pieces: Piece | Sequence[Piece], cls: str = "") -> Html:
    """A picture as wide as its place."""
    return h("svg", *pieces, cls=f"picture {cls}".strip(), width="100%", height=height, role="img", aria_label=label)


def title(text: str) -> Html:
    """What is shown where the pointer rests."""
    return h("title", text)


def percent(value: float) -> str:
    """A place or length across."""
    return f"{value:.2f}".rstrip("0").rstrip(".") + "%"


def text_at(x: float, y: float, text: str, cls: str = "", anchor: str = "", tells: Html | None = None) -> Html:
    """A label, and what it tells where the pointer rests; near the right edge it ends at its place."""
    anchor = anchor or ("end" if x > 75 else "start")
    shift = None if anchor == "middle" else -4 if anchor == "end" else 4
    return h("text", tells, text, x=percent(x), y=y, dx=shift, text_anchor=anchor, cls=cls or None)


def scale_ms(gaps_ms: Sequence[float]) -> float:
    """How far a scale of these gaps goes."""
    longest = max(gaps_ms, default=0.0) * 1.04
    return min(max(math.ceil(longest / 100) * 100.0, LEAST_SCALE_MS), MOST_SCALE_MS)


def gap_strip(turns: Sequence[TurnLatency], median_ms: float | None, most_ms: float | None = None) -> Html:
    """Where the gaps of ``turns`` lie: a dot each, or columns where dots would not fit, over the bands."""
    gaps_ms = [turn.gap_ms for turn in turns if turn.gap_ms is not None]
    most_ms = most_ms or scale_ms(gaps_ms)
    top, floor = 34, 118
    pieces: list[Piece] = [*_zones(most_ms, floor), *_scale(most_ms, floor, max(gaps_ms, default=0.0) > most_ms)]
    columns: dict[int, list[TurnLatency]] = {}
    for turn in turns:
        if turn.gap_ms is not None:
            inside = min(max(turn.gap_ms, 1.0), most_ms)
            columns.setdefault(math.ceil(inside / _BIN_MS) - 1, []).append(turn)
    crowded = max(map(len, columns.values()), default=0) > 8
    most = max(map(len, columns.values()), default=1)
    for place, column in sorted(columns.items()):
        x = (place + 0.5) * _BIN_MS / most_ms * 100
        if crowded:
            pieces.append(_column(place, column, x, _BIN_MS / most_ms * 84, (floor - top) / most, floor, most_ms))
            continue
        for level, turn in enumerate(column):
            dot = h(
                "circle",
                title(f"turn {turn.turn}: {gap_text(turn)}"),
                cx=percent(x),
                cy=floor - 9 - 12 * level,
                r=5.5,
                cls=band(turn.gap_ms or 0.0).ink,
            )
            pieces.append(dot)
    people = PEOPLE_MS / most_ms * 100
    pieces.append(h("line", x1=percent(people), x2=percent(people), y1=22, y2=floor, cls="people"))
    pieces.append(text_at(people, 29, "people leave 200 ms", "note"))
    if median_ms is not None:
        x = min(max(median_ms, 0.0), most_ms) / most_ms * 100
        pieces.append(h("line", x1=percent(x), x2=percent(x), y1=4, y2=floor, cls="median"))
        pieces.append(text_at(x, 13, f"median {milliseconds(median_ms)}", "strong", "end" if x > 55 else "start"))
    label = f"The gaps of {count(len(gaps_ms), 'turn')} on a scale from 0 to {most_ms:.0f} ms"
    return svg(floor + 20, label, pieces, cls="strip")


def _column(
    place: int, column: Sequence[TurnLatency], x: float, width: float, unit: float, floor: float, most_ms: float
) -> Html:
    low_ms, high_ms = place * _BIN_MS, (place + 1) * _BIN_MS
    beyond = " or more" if high_ms >= most_ms else ""
    height = max(2.0, unit * len(column))
    return h(
        "rect",
        title(f"{low_ms:.0f} to {high_ms:.0f} ms{beyond}: {count(len(column), 'turn')}"),
        x=percent(x - width / 2),
        width=percent(width),
        y=floor - height,
        height=height,
        cls=band(high_ms).ink,
    )


def _zones(most_ms: float, floor: float) -> list[Html]:
    zones, from_ms = [], 0.0
    for each in BANDS:
        upto_ms = min(each.upto_ms, most_ms)
        if upto_ms > from_ms:
            says = title(f"{each.shape} {each.word}: {each.says}")
            x, width = from_ms / most_ms * 100, (upto_ms - from_ms) / most_ms * 100
            zones.append(
                h("rect", says, x=percent(x), width=percent(width), y=34, height=floor - 34, cls=f"zone {each.ink}")
            )
        from_ms = upto_ms
    return zones


def _scale(most_ms: float, floor: float, beyond: bool) -> list[Html]:
    marks: list[Html] = [h("line", x1="0", x2="100%", y1=floor, y2=floor, cls="axis")]
    for at_ms in (0.0, *_LINES_MS):
        if at_ms <= most_ms:
            x = at_ms / most_ms * 100
            anchor = "start" if at_ms == 0 else "end" if x > 97 else "middle"
            unit = " ms" if at_ms == _EDGES_MS[-1] else "+" if beyond and at_ms >= most_ms else ""
            marks.append(h("line", x1=percent(x), x2=percent(x), y1=floor, y2=floor + 4, cls="axis"))
            marks.append(h("text", f"{at_ms:.0f}{unit}", x=percent(x), y=floor + 16, text_anchor=anchor))
    return marks


@dataclass(frozen=True, slots=True)
class _Bars:
    """Bars of gaps: how tall they are, and whether there is room for their numbers."""

    most_ms: float
    written: bool
    top: float = 32.0
    floor: float = 160.0

    def height(self, gap_ms: float) -> float:
        """How tall a gap's bar is; one that is longer than the scale ends with it."""
        return min(max(gap_ms, 0.0), self.most_ms) / self.most_ms * (self.floor - self.top)

    def edges_ms(self) -> list[float]:
        """Where the scale has a line."""
        return [edge_ms for edge_ms in _LINES_MS if edge_ms <= self.most_ms]

    def scale(self, beyond: bool) -> Html:
        """The numbers beside the lines; the topmost has a plus where gaps go ``beyond``."""
        over = "+" if beyond else ""
        labels = [
            text_at(100, self.floor - self.height(ms) + 4, f"{ms:.0f}{over if ms >= self.most_ms else ''}")
            for ms in self.edges_ms()
            if ms > _EDGES_MS[0] or self.height(_EDGES_MS[1] - ms) > 11  # else it would touch the next one
        ]
        turn = text_at(100, self.floor + 15, "turn")
        return h("svg", labels, turn, cls="picture", width="100%", height=self.floor + 22, aria_hidden="true")

    def bar(self, turn: TurnLatency, x: float, width: float) -> list[Html]:
        """A turn's bar, and its number; a mark for a turn without a gap."""
        tells = title(f"turn {turn.turn}: {gap_text(turn)}; {OUTCOMES[turn.outcome]}")
        if turn.gap_ms is None:
            return [text_at(x, self.floor - 4, OUTCOME_MARKS.get(turn.outcome, "–"), "none", "middle", tells)]
        height = max(2.0, self.height(turn.gap_ms))
        left, top = percent(x - width / 2), self.floor - height
        cls = f"{band(turn.gap_ms).ink}{' staged' if turn.staged else ''}"
        bar = h("rect", tells, x=left, width=percent(width), y=top, height=height, cls=cls)
        over = turn.gap_ms > self.most_ms
        label = f"{turn.gap_ms:.0f}" if self.written else "↑" if over else ""
        return [bar, text_at(x, top - 4, label, "strong", "middle")] if label else [bar]

    def above(self, turn: TurnLatency) -> float:
        """Where there is room above a turn's bar and its number."""
        return self.floor - self.height(turn.gap_ms or 0.0) - (18 if self.written else 4)


def turn_bars(turns: Sequence[TurnLatency], barge_ins: dict[int, tuple[BargeInFigures, ...]]) -> Html:
    """The gap of every turn in order, one bar each: what is uneven shows. Turns without one have a mark instead."""
    gaps_ms = [turn.gap_ms for turn in turns if turn.gap_ms is not None]
    longest_ms = min(max(gaps_ms, default=0.0), MOST_SCALE_MS)
    bars = _Bars(next(edge_ms for edge_ms in _LINES_MS if longest_ms <= edge_ms), written=len(turns) <= 8)
    slot = 100 / max(1, len(turns))
    every = next(step for step in (1, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if len(turns) / step <= 20)
    lines = [bars.floor, *(bars.floor - bars.height(edge_ms) for edge_ms in bars.edges_ms())]
    pieces: list[Piece] = [
        h("line", x1="0", x2="100%", y1=y, y2=y, cls="axis" if not place else "grid") for place, y in enumerate(lines)
    ]
    for place, turn in enumerate(turns):
        x = (place + 0.5) * slot
        pieces += bars.bar(turn, x, min(slot * 0.72, 5.0))
        if any(not one.false_interruption for one in barge_ins.get(turn.turn, ())):
            interrupted = title(f"turn {turn.turn}: interrupted")
            pieces.append(text_at(x, bars.above(turn), "▼", "barge", "middle", interrupted))
        if turn.turn % every == 0:
            pieces.append(text_at(x, bars.floor + 15, str(turn.turn), "", "middle"))
    label = f"The gap of each of {count(len(turns), 'turn')}, in order, ms"
    picture = svg(int(bars.floor) + 22, label, pieces, cls="bars")
    return h("div", bars.scale(max(gaps_ms, default=0.0) > bars.most_ms), picture, cls="named")


def band_counts(turns: Sequence[TurnLatency]) -> Html:
    """How many gaps fell into each band, as a list that is the legend of the pictures too."""
    found = Counter(band(turn.gap_ms).ink for turn in turns if turn.gap_ms is not None)
    rows, from_ms = [], 0.0
    for each in BANDS:
        upto = f"{from_ms:.0f}–{each.upto_ms:.0f} ms" if math.isfinite(each.upto_ms) else f"over {from_ms:.0f} ms"
        rows.append(
            h(
                "li",
                h("span", each.shape, cls=f"shape {each.ink}"),
                h("b", str(found[each.ink])),
                " ",
                h("span", f"{each.word}, {upto}"),
                cls=None if found[each.ink] else "zero",
            )
        )
        from_ms = each.upto_ms
    return h("ul", rows, cls="bandlist")
