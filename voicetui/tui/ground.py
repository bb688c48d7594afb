"""What lies under the parts of a screen: nothing but a background, and how a style reaches the terminal."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class Ground(Widget):
    """Mixed into what only holds others and has neither border nor padding: one line stands for all of it.

    The framework asks for all lines of everything in sight whenever a picture changes anywhere.  It stands last among
    the bases: a class has the default CSS of its first one.
    """

    _line: Strip | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """As many blank lines as are asked for."""
        if self._line is None or self._line.cell_length != crop.width:
            background = Style(bgcolor=self.visual_style.rich_style.bgcolor)
            self._line = Strip.blank(crop.width, filtered(self, background))
        return [self._line] * crop.height

    def notify_style_update(self) -> None:
        """A theme or class changed: so may the background."""
        self._line = None
        super().notify_style_update()


def filtered(widget: Widget, style: Style) -> Style:
    """The style as the terminal is to get it: with fewer colours, where it has fewer, or none are wanted."""
    background = widget.background_colors[1]
    for line_filter in widget.get_line_filters():
        style = line_filter.apply([Segment(" ", style)], background)[0].style or style
    return style
