"""The terminal screen of a recorded session."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.screen import Screen

from voicetui.events.session import SessionOpened
from voicetui.tui.actions import REPLAY_ACTIONS, bindings
from voicetui.tui.checkpoints import Checkpoints
from voicetui.tui.drawn import Drawn
from voicetui.tui.options import ScreenOptions
from voicetui.tui.play_view import PlayView, play_view
from voicetui.tui.replay_feed import ReplayFeed
from voicetui.tui.screens.events import EventList, EventsScreen
from voicetui.tui.screens.problems import ProblemsScreen
from voicetui.tui.screens.replay import ReplayScreen
from voicetui.tui.session_app import SessionApp
from voicetui.tui.transport import Transport
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.scrub_bar import ScrubBar

STEP_MS, FAR_MS = 5_000.0, 60_000.0
LEAD_MS = 200.0
"""A turn is entered this long before its first sound."""
AGAIN_MS = 1_500.0
"""So soon after a turn's beginning, "the turn before" is the one before it."""


class ReplayTui(SessionApp):
    """Shows a recorded session at a position, and moves that. Nothing here reaches the session."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(REPLAY_ACTIONS)
    COVERING: ClassVar[tuple[type[Screen[Any]], ...]] = (*SessionApp.COVERING, EventsScreen, ProblemsScreen)

    def __init__(
        self,
        tape: Transport,
        options: ScreenOptions,
        leaving: Callable[[], None] | None = None,
        takes_output: Callable[[], bool] = lambda: True,
        *,
        apart: bool = True,
        plays: bool = True,
    ) -> None:
        """``apart``: a long session is folded ahead on a thread of its own. ``plays``: it begins to at once."""
        self._tape = tape
        self._plays = plays
        self._checkpoints = Checkpoints(lambda: tape.entries, apart)
        self._replay_feed = ReplayFeed(tape, self._checkpoints)
        self.replay = ReplayScreen(options.title, options.notice)
        super().__init__(
            tape, options, (self._replay_feed, self.replay, REPLAY_ACTIONS), leaving, takes_output, tape.clock_ms
        )
        self._opened: SessionOpened | None = None
        self._plays_after_drag = False
        self._said = ""

    async def on_mount(self) -> None:
        """Show it, and begin."""
        if self._plays:
            self._tape.play()
        await super().on_mount()

    def play_view(self) -> PlayView:
        """Where the session is."""
        if self._opened is None:
            first = self._tape.entries[:50]
            self._opened = next((each.body for each in first if isinstance(each.body, SessionOpened)), None)
        landmarks = self._checkpoints.landmarks
        return play_view(self._options.title, self._tape, self._replay_feed.behind, landmarks, self._opened, self._said)

    def _show(self, view: ScreenView) -> None:
        """While the position is still to be reached, what was seen before stays: half of it would say wrong things."""
        play = self.play_view()
        if not play.behind:
            super()._show(view)
        for screen in self.seen_screens():
            if isinstance(screen, ReplayScreen | EventsScreen):
                screen.show_play(play)

    # ---- the position

    def action_play(self) -> None:
        """Play, or stand still."""
        if self._tape.state in ("playing", "waiting"):
            self._tape.pause()
        else:
            self._tape.play()
        self._moved()

    def action_skip_back(self) -> None:
        """A little back."""
        self._go(self._tape.now_ms() - STEP_MS)

    def action_skip_on(self) -> None:
        """A little on."""
        self._go(self._tape.now_ms() + STEP_MS)

    def action_skip_far_back(self) -> None:
        """Far back."""
        self._go(self._tape.now_ms() - FAR_MS)

    def action_skip_far_on(self) -> None:
        """Far on."""
        self._go(self._tape.now_ms() + FAR_MS)

    def action_to_start(self) -> None:
        """To the beginning."""
        self._go(0.0)

    def action_to_end(self) -> None:
        """To the end."""
        self._go(self._tape.length_ms)

    def action_turn_back(self) -> None:
        """To the beginning of the turn; soon after it, of the turn before."""
        starts_ms = self._starts_ms()
        place = bisect_left(starts_ms, self._tape.now_ms() - AGAIN_MS)
        self._go(starts_ms[place - 1] if place else 0.0)

    def action_turn_on(self) -> None:
        """To the beginning of the next turn."""
        now_ms = self._tape.now_ms()
        later_ms = [start_ms for start_ms in self._starts_ms() if start_ms > now_ms + 1]
        self._found(later_ms[0] if later_ms else None, "no turn after this")

    def action_event_back(self) -> None:
        """One event back."""
        self._step(-1)

    def action_event_on(self) -> None:
        """One event on."""
        self._step(1)

    def action_slower(self) -> None:
        """Slower."""
        self._tape.quicken(-1)
        self.look_again()

    def action_faster(self) -> None:
        """Faster."""
        self._tape.quicken(1)
        self.look_again()

    def action_slowest(self) -> None:
        """To the first sound of the slowest turn's reply, where its gap is known, and stand."""
        turn = self._checkpoints.landmarks.slowest()
        if turn is None or turn.reply_ms is None:
            self._found(None, "no gap is known in this session")
            return
        self._tape.pause()
        place = self._seen_from(turn.turn)
        self._go(max(turn.reply_ms, self._tape.due_ms(place)) + 1)

    def action_next_barge_in(self) -> None:
        """To where the next barge-in was decided, and stand."""
        self._next([seq for seq, _ in self._checkpoints.landmarks.barge_ins], "no barge-in after this")

    def action_next_fault(self) -> None:
        """To the next fault, and stand."""
        self._next([seq for seq, _ in self._checkpoints.landmarks.faults], "no fault after this")

    def action_mute_user(self) -> None:
        """The user's track."""
        self._tape.mute("user")
        self.look_again()

    def action_mute_reply(self) -> None:
        """The reply's track."""
        self._tape.mute("reply")
        self.look_again()

    def action_see_now(self) -> None:
        """Timeline and words follow the position again."""
        self.live.follow()

    # ---- other pages

    def action_events(self) -> None:
        """All events, or back from them."""
        if isinstance(self.screen, EventsScreen):
            self.pop_screen()
        elif isinstance(self.screen, ReplayScreen):
            self.push_screen(EventsScreen())
        self.call_after_refresh(self.look_again)

    def action_problems(self) -> None:
        """What could not be read."""
        self.push_screen(ProblemsScreen(self._tape.problems))

    # ---- the mouse

    def on_scrub_bar_moved(self, event: ScrubBar.Moved) -> None:
        """The bar is pulled: it stands while it is, and plays on afterwards if it did before."""
        if self._tape.state == "playing":
            self._plays_after_drag = True
            self._tape.pause()
        self._go(event.position_ms)
        if event.done and self._plays_after_drag:
            self._plays_after_drag = False
            if event.position_ms < self._tape.length_ms:
                self._tape.play()

    def on_event_list_stepped(self, event: EventList.Stepped) -> None:
        """The wheel over the list."""
        self._step(event.entries)

    def on_drawn_selected(self, event: Drawn.Selected) -> None:
        """An event was clicked."""
        if isinstance(self.screen, EventsScreen):
            self._step(event.turn + 1 - self._tape.shown)

    # ----

    def _starts_ms(self) -> Sequence[float]:
        return sorted(max(0.0, turn.start_ms - LEAD_MS) for turn in self._checkpoints.landmarks.turns)

    def _seen_from(self, turn: int) -> int:
        """The entry from which on the gap of a turn can be told."""
        mark = next(each for each in self._checkpoints.landmarks.turns if each.turn == turn)
        entries = self._tape.entries
        place = self._place_of(mark.seq)
        later = range(place, min(len(entries), place + 400))
        heard = (at for at in later if mark.reply_ms is not None and entries[at].at >= mark.reply_ms)
        return next(heard, place)

    def _place_of(self, seq: int) -> int:
        """Where an entry stands; numbers may be missing in a damaged journal, so the list is shorter than they are."""
        return min(bisect_left(self._tape.entries, seq, key=lambda entry: entry.seq), len(self._tape.entries) - 1)

    def _next(self, seqs: Sequence[int], none: str) -> None:
        """To the next of these entries after the position."""
        places = [self._place_of(seq) for seq in seqs]
        later = [place for place in places if place >= self._tape.shown]
        if not later:
            self._found(None, none)
            return
        self._step(later[0] + 1 - self._tape.shown)

    def _found(self, position_ms: float | None, none: str) -> None:
        if position_ms is None:
            still = self._checkpoints.taken < len(self._tape.entries)
            self._said = "the session is still being read" if still else none
            self.look_again()
        else:
            self._go(position_ms)

    def _go(self, position_ms: float) -> None:
        self._tape.seek(position_ms)
        self._moved()

    def _step(self, entries: int) -> None:
        self._tape.step(entries)
        self._moved()

    def _moved(self) -> None:
        self._said = ""
        self.live.follow()
        self.look_again()
