"""The base of every widget that draws rows: it turns inks to styles, and repaints only the lines that changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from voicetui.tui.ground import filtered
from voicetui.tui.ink import BLANK, INKS, Ink, Row, clip_runs


class Drawn(Widget, can_focus=False):
    """Draws the rows that ``draw`` returns for the present size, one line each; more rows than lines are not shown."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"ink--{ink}" for ink in INKS} | {"ink--chosen"}
    DEFAULT_CSS = """
    Drawn {
        &> .ink--text { color: $foreground; }
        &> .ink--strong { color: $ink-strong; text-style: bold; }
        &> .ink--dim { color: $ink-dim; }
        &> .ink--faint { color: $ink-faint; }
        &> .ink--title { color: $ink-dim; text-style: bold; }
        &> .ink--key { color: $accent; text-style: bold; }
        &> .ink--you { color: $ink-you; text-style: bold; }
        &> .ink--reply { color: $ink-reply; text-style: bold; }
        &> .ink--provisional { color: $ink-provisional; text-style: italic; }
        &> .ink--struck { color: $ink-dim; text-style: strike; }
        &> .ink--rejected { color: $ink-rejected; text-style: italic; }
        &> .ink--work { color: $ink-work; }
        &> .ink--speculative { color: $ink-speculative; }
        &> .ink--discarded { color: $ink-discarded; }
        &> .ink--sound-you { color: $ink-you; }
        &> .ink--sound-reply { color: $ink-reply; }
        &> .ink--guide { color: $ink-guide; }
        &> .ink--mark { color: $ink-mark; }
        &> .ink--accent { color: $accent; }
        &> .ink--notice { color: $ink-notice; }
        &> .ink--alert { color: $ink-alert; text-style: bold; }
        &> .ink--band-conversation { color: $ink-conversation; }
        &> .ink--band-quick { color: $ink-quick; }
        &> .ink--band-workable { color: $ink-workable; }
        &> .ink--band-slow { color: $ink-slow; }
        &> .ink--band-late { color: $ink-late; }
        &> .ink--chosen { background: $ink-chosen; }
    }
    """

    class Selected(Message):
        """Something that stands for a turn was clicked."""

        def __init__(self, turn: int) -> None:
            super().__init__()
            self.turn = turn

    def __init__(self, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: tuple[Row, ...] = ()
        self._strips: list[Strip | None] = []
        self._blank: Strip | None = None
        self._strip_cells = 0
        self._styles: dict[tuple[Ink, bool], Style] = {}

    def draw(self, size: Size) -> Sequence[Row]:
        """The rows for a content area of this size. Called whenever something may have changed."""
        raise NotImplementedError

    def redraw(self) -> bool:
        """Draw again and repaint the lines that differ; False where there is no room to draw in."""
        width, height = self.content_size
        if width <= 0 or height <= 0:
            return False
        self._strip_cells = width
        rows = tuple(self.draw(Size(width, height)))[:height]
        old, self._rows = self._rows, rows
        both = zip_longest(old, rows, fillvalue=BLANK)
        changed = [y for y, (before, now) in enumerate(both) if before is not now and before != now]
        self._strips = [*self._strips[: len(rows)], *[None] * (len(rows) - len(self._strips))]
        if changed:
            for y in changed:
                if y < len(rows):
                    self._strips[y] = None
            self.refresh(*(Region(0, y, width, 1) for y in changed))
        return True

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows last drawn."""
        return self._rows

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines as they are: no row has a border or padding, so none is composed anew for the sake of another."""
        start, end = crop.column_span
        strips = [self.render_line(y) for y in crop.line_range]
        return [strip if (start, end) == (0, strip.cell_length) else strip.crop(start, end) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """The strip of one content line."""
        if y >= len(self._rows):
            if self._blank is None:
                self._blank = self._strip(BLANK)
            return self._blank
        strip = self._strips[y]
        if strip is None:
            strip = self._strips[y] = self._strip(self._rows[y])
        return strip

    def notify_style_update(self) -> None:
        """A theme or class changed: styles are resolved anew."""
        self._strips, self._blank = [None] * len(self._rows), None
        self._styles.clear()
        super().notify_style_update()

    def on_resize(self) -> None:
        """The size changed: so do the rows."""
        self._strips, self._blank, self._rows = [], None, ()
        self.redraw()
        self.refresh()

    def target_at(self, offset: Offset) -> int | None:
        """The turn that a place of the content stands for."""
        return self._rows[offset.y].target if offset.y < len(self._rows) else None

    def on_click(self, event: Click) -> None:
        """Select the turn that the place stands for."""
        offset = event.get_content_offset(self)
        target = self.target_at(offset) if offset is not None else None
        if target is not None:
            self.post_message(self.Selected(target))

    def _strip(self, row: Row) -> Strip:
        cells = self._strip_cells or self.content_size.width
        if (used := row.cells) > cells:
            row = row._replace(runs=clip_runs(row.runs, cells))
            used = row.cells
        segments = [Segment(run.text, self._style(run.ink, row.on)) for run in row.runs]
        if used < cells:
            segments.append(Segment(" " * (cells - used), self._style("text", row.on)))
        return Strip(segments, cells)

    def _style(self, ink: Ink, chosen: bool) -> Style:
        """What an ink looks like here and on this terminal, on a chosen row or another."""
        style = self._styles.get((ink, chosen))
        if style is None:
            style = self.visual_style.rich_style + self.get_component_rich_style(f"ink--{ink}", partial=True)
            if chosen:
                style += self.get_component_rich_style("ink--chosen", partial=True)
            style = self._styles[ink, chosen] = filtered(self, style)
        return style
