"""The last turns side by side: how long each gap was, in colour, in height and in shape."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Offset, Size

from voicetui.tui.bands import BANDS, band
from voicetui.tui.canvas import rule
from voicetui.tui.ink import Ink, Row, Run
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.panel import Panel
from voicetui.views.bands import STAGED_SHAPE
from voicetui.views.latency import TurnLatency

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_AXIS_CELLS = 6
_STAGED_FILL = "▒"
_TITLE_CELLS = 16
"""What the heading takes beside its note."""
_OTHERS: dict[str, tuple[str, Ink]] = {
    "cut_off": ("╳", "alert"),
    "superseded": ("╳", "dim"),
    "failed": ("✖", "alert"),
    "unanswered": ("✖", "alert"),
}


class RecentTurns(Panel):
    """One column of two cells per turn, newest at the right."""

    DEFAULT_CSS = "RecentTurns { height: 1fr; }"

    def depends_on(self, view: ScreenView) -> tuple[object, ...]:
        """What the rows are made from."""
        return (view.turns,)

    def draw(self, size: Size) -> Sequence[Row]:
        """A heading, the bars, their shapes, the numbers of some turns."""
        width, height = size
        if self.view is None:
            return [Row(rule(width, "last turns"))]
        turns = self._shown(width)
        bars = height - 3
        staged = any(turn.staged for turn in turns)
        rows = [Row(rule(width, "last turns", _legend(width, staged)))]
        rows += [Row(_bar_line(turns, line, bars)) for line in range(bars, 0, -1)]
        rows.append(Row((Run(" " * _AXIS_CELLS), *(run for turn in turns for run in _shape(turn)))))
        rows.append(Row((Run(" " * _AXIS_CELLS), *_numbers(turns, self.selected))))
        return rows

    def target_at(self, offset: Offset) -> int | None:
        """The turn of a column."""
        turns = self._shown(self.content_size.width)
        place = (offset.x - _AXIS_CELLS) // 2
        return turns[place].turn if offset.y >= 1 and 0 <= place < len(turns) else None

    def _shown(self, width: int) -> list[TurnLatency]:
        count = max(1, (width - _AXIS_CELLS - 1) // 2)
        return list(self.view.turns[-count:]) if self.view is not None else []


def strip(view: ScreenView, cells: int) -> tuple[Run, ...]:
    """The shapes of the last turns alone, for one line."""
    return tuple(run for turn in view.turns[-max(1, cells // 2) :] for run in _shape(turn))


def _shape(turn: TurnLatency) -> tuple[Run, Run]:
    if turn.outcome in _OTHERS:
        glyph, ink = _OTHERS[turn.outcome]
    elif turn.gap_ms is None:
        glyph, ink = ("·", "dim")
    else:
        kind = band(turn.gap_ms)
        glyph, ink = STAGED_SHAPE if turn.staged else kind.shape, kind.ink
    return Run(glyph, ink), Run(" ")


def _bar_line(turns: Sequence[TurnLatency], line: int, lines: int) -> tuple[Run, ...]:
    """Line ``line`` of ``lines``, counted from the bottom."""
    per_line = 500.0 / max(1, round(lines / 3.5))
    tops = {round(limit / per_line): f"{limit:.0f}" for limit in (500.0, 1000.0, 1500.0)}
    label = tops.get(line, "")
    runs = [Run(label.rjust(_AXIS_CELLS - 1) + " ", "faint")]
    for turn in turns:
        if turn.gap_ms is None or turn.outcome in _OTHERS:
            runs.append(Run("  "))
            continue
        filled = (turn.gap_ms - (line - 1) * per_line) / per_line
        eighths = min(max(round(filled * 8), 0), 8)
        glyph = _EIGHTHS[eighths] if not turn.staged else _STAGED_FILL if eighths >= 4 or line == 1 else " "
        runs.append(Run(f"{glyph} ", band(turn.gap_ms).ink))
    return tuple(runs)


def _numbers(turns: Sequence[TurnLatency], selected: int | None) -> tuple[Run, ...]:
    """Every fifth turn's number below its column, and the selected one's."""
    runs, used = [], 0
    for place, turn in enumerate(turns):
        on = turn.turn == selected
        near = selected is not None and 0 < selected - turn.turn <= 1
        if (on or turn.turn % 5 == 0 or len(turns) < 5) and not near and used <= 2 * place:
            text = str(turn.turn)
            runs += [Run(" " * (2 * place - used)), Run(text, "strong" if on else "faint")]
            used = 2 * place + len(text)
    return tuple(runs)


def _legend(width: int, staged: bool) -> str:
    """Which shape stands for which band, and where a gap was made on purpose, how that is shown."""
    words = "  ".join(f"{each.shape} {each.word}" for each in BANDS)
    limits = " ".join(
        f"{each.shape}{each.upto_ms:.0f}" if each.upto_ms < 9999 else f"{each.shape}over" for each in BANDS
    )
    key = f"{STAGED_SHAPE}{_STAGED_FILL} staged gap"
    choices = (f"{key}  {words}", f"{key}  {limits}", key) if staged else (words, limits)
    return next((each for each in choices if len(each) + _TITLE_CELLS <= width), choices[-1])
