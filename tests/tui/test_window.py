"""The timeline's window: pages, not gliding; zoom keeps its place."""

from __future__ import annotations

from tests.journal_builder import JournalBuilder
from tests.tui.fake_engine import FakeEngine
from voicetui.events.orders import Prewarm
from voicetui.events.reply import PrewarmEnded
from voicetui.events.session import SessionClosed
from voicetui.tui.feed import Feed
from voicetui.tui.widgets.timeline import going_on
from voicetui.tui.window import ZOOMS_MS, Window

CELLS = 100


def test_it_stays_while_the_focus_is_in_sight() -> None:
    window = Window(0, 50).follow(4999, CELLS, [100])
    assert window == Window(0, 50)


def test_a_page_turns_to_the_beginning_of_the_turn_where_it_fits() -> None:
    window = Window(0, 50).follow(5000, CELLS, [3000, 4500])
    assert window.start_ms == 2700
    assert window.start_ms % 50 == 0


def test_else_to_the_gap_and_else_keeps_a_part() -> None:
    assert Window(0, 50).follow(9000, CELLS, [1000, 6000]).start_ms == 5700
    assert Window(0, 50).follow(20000, CELLS, [1000, 6000]).start_ms == 17750


def test_at_rest_the_last_gap_comes_back_into_sight() -> None:
    journal = JournalBuilder().opened().ready()
    journal.turn("What time is it?", ["It is noon, and the sun is out."])
    times = journal.times[1]

    def look(at_ms: float) -> tuple[float, list[float]]:
        feed = Feed(FakeEngine(journal.entries, at_ms))
        feed.drain()
        return going_on(feed.picture())

    assert look(times.reply_end - 100) == (times.reply_end - 100, [times.onset, times.user_end])
    assert look(times.reply_end + 500) == (times.reply_end, [times.onset, times.user_end])
    assert look(times.reply_end + 1500) == (times.user_end, [times.user_end])


def test_work_ahead_of_the_next_turn_does_not_hide_the_last_gap() -> None:
    journal = JournalBuilder().opened().ready()
    journal.turn("What time is it?", ["It is noon, and the sun is out."])
    times = journal.times[1]
    begun_ms = times.reply_end + 40
    journal.add(Prewarm(1, 2, "local", (), "history"), begun_ms)
    journal.add(PrewarmEnded(1, 2, "done", begun_ms, new_tokens=12), begun_ms + 60)
    feed = Feed(FakeEngine(journal.entries, begun_ms + 1500))
    feed.drain()
    assert going_on(feed.picture()) == (times.user_end, [times.user_end])


def test_a_session_that_is_over_shows_its_last_gap_at_once() -> None:
    journal = JournalBuilder().opened().ready()
    journal.turn("What time is it?", ["It is noon, and the sun is out."])
    times = journal.times[1]
    journal.add(SessionClosed("finished"), times.reply_end + 20)
    feed = Feed(FakeEngine(journal.entries, times.reply_end + 30))
    feed.drain()
    assert going_on(feed.picture()) == (times.user_end, [times.user_end])


def test_time_that_runs_backwards_is_followed() -> None:
    assert Window(50_000, 50).follow(1000, CELLS, [900]).start_ms == 600


def test_scrolling_stops_following() -> None:
    window = Window(10_000, 50).scroll(-0.25, CELLS, 12_000)
    assert (window.start_ms, window.following) == (8750, False)
    assert window.follow(99_000, CELLS, [98_000]) == window
    assert window.scroll(-9, CELLS, 12_000).start_ms == 0
    assert window.scroll(9, CELLS, 12_000).start_ms == 9750


def test_zoom_keeps_the_anchor_and_ends_at_the_limits() -> None:
    window = Window(10_000, 50).zoom(-1, 12_000)
    assert window.ms_per_cell == 40
    assert (12_000 - window.start_ms) / 40 == 40
    assert Window(0, ZOOMS_MS[0]).zoom(-1, 0).ms_per_cell == ZOOMS_MS[0]
    assert Window(0, ZOOMS_MS[-1]).zoom(1, 0).ms_per_cell == ZOOMS_MS[-1]


def test_a_selected_stretch_comes_into_sight() -> None:
    assert Window(0, 50).show(1000, 2000, CELLS) == Window(0, 50, following=False)
    assert Window(0, 50).show(9000, 9500, CELLS).start_ms == 8700
