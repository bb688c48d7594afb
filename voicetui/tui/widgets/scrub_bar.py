"""The whole session on one line, to be scrubbed with the mouse; what there is to go to stands on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.events import MouseDown, MouseMove, MouseUp
from textual.geometry import Offset, Size
from textual.message import Message

from voicetui.tui.canvas import CellLine, rule
from voicetui.tui.figures import clock
from voicetui.tui.ink import Ink, Row, Run, clip_runs, spread
from voicetui.tui.literal import clip, literal
from voicetui.tui.play_view import PlayPanel, PlayView
from voicetui.tui.records import tag_of
from voicetui.tui.transport import State
from voicetui.views.bands import STAGED_SHAPE, band

_STATES: dict[State, tuple[str, Ink]] = {
    "playing": ("▶ playing", "accent"),
    "paused": ("‖ paused", "notice"),
    "waiting": ("… waiting for more", "notice"),
    "end": ("■ end of the session", "notice"),
}
_SIDES = (("user", "1", "you"), ("reply", "2", "reply"))
BARGE_IN, FAULT = "▼", "✖"


class ScrubBar(PlayPanel):
    """Title, marks, bar, state. Without room for a line of their own the marks stand on the bar."""

    DEFAULT_CSS = "ScrubBar { height: 3; }"
    MARGIN: ClassVar[int] = 12
    """Cells at each side of the bar, for the times."""

    class Moved(Message):
        """Somebody wants to go there. ``done``: the mouse was let go."""

        def __init__(self, position_ms: float, done: bool) -> None:
            super().__init__()
            self.position_ms = position_ms
            self.done = done

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._held = False
        self._told_ms: float | None = None

    def depends_on(self, play: PlayView) -> tuple[object, ...]:
        """What the rows are made from."""
        step_ms = min(100.0, max(10.0, play.length_ms / 1000))
        position = play.position_ms if play.state != "playing" else play.position_ms // step_ms
        return (
            position, play.length_ms, play.state, play.speed, play.muted, play.silent, play.growing, play.shown,
            play.behind, play.total, play.said, play.problems, id(play.landmarks), play.closed,
        )  # fmt: skip

    def draw(self, size: Size) -> Sequence[Row]:
        """The rows, as many as there is room for."""
        width, height = size
        play = self.play
        if play is None:
            return [Row(rule(width, "replay"))]
        rows = [Row(rule(width, *_title(play, width)))]
        cells = self._cells(width)
        marks = [_incidents(play, cells)]
        if height >= 4:
            rows.append(Row((Run(" " * self.MARGIN), *_turns(play, cells).runs())))
        else:
            marks.insert(0 if len(play.landmarks.barge_ins) < cells // 4 else 1, _turns(play, cells))
        rows.append(Row((Run(_tenths(play.position_ms).rjust(self.MARGIN - 2), "strong"), Run("  "),
                         *_bar(play, cells, marks).runs(), Run("  " + clock(play.length_ms), "dim"))))  # fmt: skip
        words = _state(play) if self._told_ms is None else _there(play, self._told_ms)
        rows.append(Row(spread(clip_runs(words, width), _event(play), width)))
        return rows

    def on_mouse_down(self, event: MouseDown) -> None:
        """Take hold of the bar."""
        offset = event.get_content_offset(self)
        if offset is None or event.button != 1 or not self._on_bar(offset):
            return
        event.stop()
        self._held = True
        self.capture_mouse()
        self._go(offset.x, False)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Pull it, or tell what is under the mouse."""
        if self._held:
            event.stop()
            self._go(event.x - self.gutter.left, False)
        offset = event.get_content_offset(self)
        self._tell(self._time_at(offset.x) if offset is not None and self._on_bar(offset) else None)

    def on_leave(self) -> None:
        """Tell what it does again."""
        self._tell(None)

    def on_mouse_up(self, event: MouseUp) -> None:
        """Let go."""
        if self._held:
            event.stop()
            self._held = False
            self.release_mouse()
            self._go(event.x - self.gutter.left, True)

    def _on_bar(self, offset: Offset) -> bool:
        return 1 <= offset.y <= self.content_size.height - 2

    def _cells(self, width: int) -> int:
        return max(10, width - 2 * self.MARGIN)

    def _time_at(self, x: int) -> float:
        cells = self._cells(self.content_size.width)
        share = min(max((x - self.MARGIN) / max(1, cells - 1), 0.0), 1.0)
        return share * self.play.length_ms if self.play is not None else 0.0

    def _go(self, x: int, done: bool) -> None:
        self.post_message(self.Moved(self._time_at(x), done))

    def _tell(self, at_ms: float | None) -> None:
        if at_ms != self._told_ms:
            self._told_ms = at_ms
            self.redraw()


def _title(play: PlayView, width: int) -> tuple[str, str]:
    """The session's name at the left; what it was at the right, as much as there is room for."""
    notes = []
    if play.opened is not None:
        tier = literal(play.opened.tier)
        simulated = any(each.simulated and each.name == play.opened.tier for each in play.opened.tiers)
        day, _, time = literal(play.opened.started_utc).partition("T")
        notes += [f"{day} {time[:5]} UTC", f"tier {tier}{', simulated' if simulated else ''}"]
        notes += ["imported"] if play.opened.source == "imported" else []
        notes += [f"re-run of {literal(play.opened.parent)}"] if play.opened.parent else []
    notes += ["redacted"] if play.redacted else []
    if play.growing:
        notes.append("still being written")
    elif not play.closed:
        notes.append("ends without being closed")
    if play.problems:
        count = len(play.problems)
        notes.append(f"{count} {'problem' if count == 1 else 'problems'} (w)")
    title = f"replay  {literal(play.name)}"
    while notes and len(title) + sum(len(note) + 3 for note in notes) > width - 8:
        if len(title) > 30 and len(notes) > 1:
            title = clip(title, 30)
        else:
            notes.pop(0)
    return clip(title, width - 8), " · ".join(notes)


def _cell(play: PlayView, at_ms: float, cells: int) -> int:
    return round(min(max(at_ms / play.length_ms, 0.0), 1.0) * (cells - 1)) if play.length_ms else 0


def _turns(play: PlayView, cells: int) -> CellLine:
    """Each turn by the shape and colour of its gap, where its reply began; of those in one cell the slowest."""
    line = CellLine(cells)
    slowest: dict[int, float] = {}
    for turn in play.landmarks.turns:
        cell = _cell(play, turn.reply_ms if turn.reply_ms is not None else turn.start_ms, cells)
        gap_ms = turn.gap_ms if turn.gap_ms is not None else -1.0
        if gap_ms < slowest.get(cell, -2.0):
            continue
        slowest[cell] = gap_ms
        if turn.gap_ms is None:
            line.put(cell, "·", "dim")
        else:
            kind = band(turn.gap_ms)
            line.put(cell, STAGED_SHAPE if turn.staged else kind.shape, kind.ink)
    return line


def _incidents(play: PlayView, cells: int) -> CellLine:
    """Barge-ins and faults, where they were."""
    line = CellLine(cells)
    for _, at_ms in play.landmarks.barge_ins:
        line.put(_cell(play, at_ms, cells), BARGE_IN, "mark")
    for _, fault in play.landmarks.faults:
        line.put(_cell(play, fault.at_ms, cells), FAULT, "alert")
    return line


def _bar(play: PlayView, cells: int, marks: Sequence[CellLine]) -> CellLine:
    """The bar with the marks on it, later ones over earlier, and the position."""
    here = _cell(play, play.position_ms, cells)
    line = CellLine(cells)
    for cell in range(cells):
        line.put(cell, "━" if cell < here else "─", "accent" if cell < here else "guide")
    for each in marks:
        line.lay(each)
    line.put(here, "█", "strong")
    return line


def _tenths(ms: float) -> str:
    return f"{clock(ms)}.{int(max(0.0, ms) // 100 % 10)}"


def _there(play: PlayView, at_ms: float) -> list[Run]:
    """What was going on at a time: the turn that had begun last, and its gap."""
    runs = [Run("  "), Run(_tenths(at_ms), "strong")]
    begun = [turn for turn in play.landmarks.turns if turn.start_ms <= at_ms]
    if begun:
        turn = begun[-1]
        runs.append(Run(f"   turn {turn.turn}"))
        if turn.gap_ms is not None:
            kind = band(turn.gap_ms)
            staged = ", staged gap" if turn.staged else ""
            runs.append(Run(f"   {kind.shape} {turn.gap_ms:.0f} ms {kind.word}{staged}", kind.ink))
    return runs


def _state(play: PlayView) -> list[Run]:
    words, ink = _STATES[play.state]
    runs = [Run("  "), Run(words, ink)]
    if play.state in ("playing", "paused"):
        runs.append(Run(f"  {play.speed:g}×", "strong" if play.speed != 1 else "dim"))
    if play.behind:
        runs.append(Run(f"  catching up, {play.behind} events to go", "notice"))
    if play.said:
        return [*runs, Run(f"   {play.said}", "notice")]
    if play.silent:
        return [*runs, Run("   no sound: ", "dim"), Run(literal(play.silent.partition(":")[0]), "notice")]
    if play.speed != 1:
        return [*runs, Run("   silent at this speed", "dim")]
    for side, key, name in _SIDES:
        off = side in play.muted
        runs += [
            Run("   "),
            Run(key, "key"),
            Run(f" {name} "),
            Run("off" if off else "♪", "alert" if off else "accent"),
        ]
    return runs


def _event(play: PlayView) -> tuple[Run, ...]:
    """The newest event before the position."""
    entry = play.current
    count = f"{play.shown} of {play.total}"
    if entry is None:
        return (Run(f"no event yet, {play.total} to come  ", "dim"),)
    return (Run(f"{tag_of(entry.body)} ", "text"), Run(f"{count}  ", "dim"))
