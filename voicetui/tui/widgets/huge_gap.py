"""One number, as large as the screen allows, and what it reads as."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from voicetui.tui.bands import band
from voicetui.tui.big import big, largest
from voicetui.tui.figures import whole
from voicetui.tui.ink import BLANK, Ink, Row, Run
from voicetui.tui.letters import lettered
from voicetui.tui.literal import width as cells_of
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.gap import shown_gap
from voicetui.tui.widgets.panel import Panel

_STEP_MS = 10.0
"""A growing gap is shown in these steps: steadier to look at."""
_WIDEST = "0000"


class HugeGap(Panel):
    """For the back of a room."""

    DEFAULT_CSS = "HugeGap { height: 1fr; }"

    def depends_on(self, view: ScreenView) -> tuple[object, ...]:
        """What the rows are made from."""
        return (view.turns, view.state, shown_gap(view, self.selected)[0])

    def draw(self, size: Size) -> Sequence[Row]:
        """Number and words in the middle of the space."""
        width, height = size
        if self.view is None:
            return []
        gap_ms, growing = shown_gap(self.view, self.selected)
        if growing and gap_ms is not None:
            gap_ms -= gap_ms % _STEP_MS
        words = _words(self.view, gap_ms, growing, width, tall=height >= 14)
        face = largest(_WIDEST, width - 10, height - len(words) - 2)
        number = whole(gap_ms, "–––")
        ink: Ink = band(gap_ms).ink if gap_ms is not None else "faint"
        lines = big(number, face)
        left = max(0, (width - face.cells(number)) // 2)
        rows = [Row((Run(" " * left), Run(line, ink))) for line in lines[:-1]]
        rows.append(Row((Run(" " * left), Run(lines[-1], ink), Run(" ms" if gap_ms is not None else "", "dim"))))
        rows += [BLANK, *words]
        above = max(0, (height - len(rows) + 1) // 2)
        rows = [BLANK] * above + rows
        rows[0] = _badge(self.view, width) if above else rows[0]
        return rows


def _words(view: ScreenView, gap_ms: float | None, growing: bool, width: int, tall: bool) -> list[Row]:
    """The band's word in large letters, and its whole meaning below; while it grows, that somebody waits."""
    if gap_ms is None:
        return [_centred("say something" if view.state.word != "loading" else "loading", "dim", width)]
    kind = band(gap_ms)
    word = "waiting" if growing else kind.word
    says = "" if growing or kind.says == kind.word else kind.says
    lines = [_centred(line, kind.ink, width) for line in lettered(word)] if tall else []
    plain = says if tall else f"{kind.shape} {says or word}"
    return [*lines, _centred(plain, "text" if tall else kind.ink, width)]


def _centred(text: str, ink: Ink, width: int) -> Row:
    return Row((Run(" " * max(0, (width - cells_of(text)) // 2)), Run(text, ink)))


def _badge(view: ScreenView, width: int) -> Row:
    """A simulated tier and a staged gap are always said to be that."""
    text = "staged gap" if view.state.staged_gaps_ms else "simulated tier" if view.state.tier.simulated else ""
    return Row((Run(" " * max(0, width - len(text) - 2)), Run(text, "notice")))
