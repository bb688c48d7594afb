"""The live screen: conversation, gap, timeline."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget

from voicetui.tui.actions import ACTIONS, Action
from voicetui.tui.drawn import Drawn
from voicetui.tui.ground import Ground
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.conversation import Conversation
from voicetui.tui.widgets.gap import GapPanel
from voicetui.tui.widgets.keys_line import KeysLine
from voicetui.tui.widgets.ledger import LedgerPanel
from voicetui.tui.widgets.meters import Meters
from voicetui.tui.widgets.notice import NoticeBar
from voicetui.tui.widgets.panel import Panel
from voicetui.tui.widgets.recent import RecentTurns
from voicetui.tui.widgets.status import StatusLine
from voicetui.tui.widgets.timeline import TimelinePanel
from voicetui.tui.widgets.type_line import TypeLine
from voicetui.tui.widgets.waterfall import Waterfall


class _Beside(Horizontal, Ground):
    """Parts side by side."""


class _Below(Vertical, Ground):
    """Parts one below the other."""


class LiveScreen(Screen[None], Ground):
    """What is on while somebody talks."""

    AUTO_FOCUS = ""
    LIVE: ClassVar[bool] = True
    """Whether the session goes on: in a recorded one the opening notice stays, whatever failed then."""
    DEFAULT_CSS = """
    LiveScreen {
        background: $background;
        #upper { height: 1fr; }
        #conversation { width: 1fr; }
        #gap { width: 32; margin-left: 2; }
        #lower { height: 10; display: none; }
        #waterfall { width: 1fr; }
        #right { width: 44; margin-left: 2; }
        &.-wide #gap { width: 44; }
        &.-huge #gap, &.-huge #right { width: 76; }
        &.-tall #lower { display: block; }
        &.-lofty #lower { display: block; height: 14; }
        &.-lofty #timeline { height: 13; }
        &.-lofty #ledger { height: 6; }
        &.-narrow #right { display: none; }
    }
    """

    def __init__(
        self, title: str, notice: str, typed_only: bool = False, actions: tuple[Action, ...] = ACTIONS
    ) -> None:
        super().__init__()
        self._actions = actions
        self._title_text = title
        self._notice = notice
        self._typed_only = typed_only
        self.selected: int | None = None
        self._panels: deque[Panel] = deque()

    def compose(self) -> ComposeResult:
        """The parts, top to bottom."""
        yield StatusLine(self._title_text, self._notice, self._typed_only, id="status")
        yield Meters(id="meters")
        yield NoticeBar(self._notice, id="notice", lasting=not self.LIVE)
        with _Beside(id="upper"):
            yield Conversation(id="conversation", live=self.LIVE)
            yield GapPanel(id="gap")
        yield TimelinePanel(id="timeline")
        with _Beside(id="lower"):
            yield Waterfall(id="waterfall")
            with _Below(id="right"):
                yield RecentTurns(id="recent")
                yield LedgerPanel(id="ledger")
        yield from self.below()
        yield KeysLine(self._actions, id="keys")

    def below(self) -> Iterable[Widget]:
        """What stands between the lanes and the keys."""
        yield TypeLine(id="type")

    @property
    def conversation(self) -> Conversation:
        """The transcript."""
        return self.query_one(Conversation)

    @property
    def timeline(self) -> TimelinePanel:
        """The lanes."""
        return self.query_one(TimelinePanel)

    def show(self, view: ScreenView, late: Callable[[], bool] = lambda: False) -> None:
        """Hand the picture to every part. Once it is ``late``, the others wait for the next picture and come first."""
        if self.selected is not None and view.turn(self.selected) is None:
            self.selected = None
        self._panels = self._panels or deque(self.query(Panel))
        for _ in range(len(self._panels)):
            panel = self._panels[0]
            self._panels.rotate(-1)
            if panel.show(view, self.selected) and late():
                return

    def select(self, view: ScreenView, turn: int | None) -> None:
        """Select a turn and bring it into sight; None: the newest, whichever that is."""
        self.selected = turn
        self.timeline.let_go(turn)
        chosen = view.turn(turn)
        if chosen is not None:
            start_ms = chosen.points.user_end or chosen.points.committed
            end_ms = chosen.points.reply_start or start_ms
            if start_ms is not None and end_ms is not None:
                self.timeline.look_at(start_ms, end_ms)
            self.conversation.reveal(chosen.turn)
        self.show(view)

    def select_beside(self, view: ScreenView, step: int) -> None:
        """Select the turn before (-1) or after (1) the selected one; after the newest comes following again."""
        numbers = [turn.turn for turn in view.turns]
        if not numbers:
            return
        if self.selected not in numbers:
            self.select(view, numbers[-1] if step < 0 else None)
            return
        place = numbers.index(self.selected) + step
        if place >= len(numbers):
            self.follow()
        else:
            self.select(view, numbers[max(0, place)])

    def follow(self) -> None:
        """Newest turn, newest words, newest time."""
        self.selected = None
        self.conversation.to_end()
        self.timeline.follow()

    def put_notice_away(self) -> None:
        """The opening notice was read."""
        self.query_one(NoticeBar).put_away()

    def on_descendant_focus(self) -> None:
        """Somebody types."""
        self._show_keys()

    def on_descendant_blur(self) -> None:
        """Nobody types."""
        self._show_keys()

    def _show_keys(self) -> None:
        keys = self.query_one(KeysLine)
        keys.set_class(isinstance(self.focused, TypeLine), "-typing")
        keys.redraw()

    def on_drawn_selected(self, event: Drawn.Selected) -> None:
        """A turn was clicked; a second click lets go of it."""
        event.stop()
        view = self.query_one(StatusLine).view
        if view is not None:
            self.select(view, None if self.selected == event.turn else event.turn)
