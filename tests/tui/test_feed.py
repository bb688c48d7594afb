"""From the journal's tail to pictures."""

from __future__ import annotations

from tests.journal_builder import JournalBuilder
from tests.tui.fake_engine import FakeEngine
from tests.tui.scenes import conversation, fault
from voicetui.events import Basis, Entry
from voicetui.events.reply import TimedToken, TokensArrived
from voicetui.runtime.engine import Levels
from voicetui.tui.feed import AT_ONCE, Feed
from voicetui.tui.sound_trace import PIECE_MS, SoundTraceKeeper


def test_each_entry_is_taken_once_in_any_portions() -> None:
    journal = conversation()
    whole, parts = FakeEngine(journal.entries, journal.now_ms), FakeEngine(journal.entries)
    at_once, in_parts = Feed(whole), Feed(parts)
    at_once.drain()
    while parts.now_ms() < journal.now_ms:
        parts.advance(min(37, journal.now_ms - parts.now_ms()))
        in_parts.drain()
        in_parts.picture()
    one, other = at_once.picture(), in_parts.picture()
    assert (one.transcript, one.timeline.spans, one.turns, one.summary) == (
        other.transcript, other.timeline.spans, other.turns, other.summary
    )  # fmt: skip


def test_a_long_journal_is_taken_in_portions() -> None:
    journal = JournalBuilder().opened().ready()
    token = TokensArrived(Basis(1, 0, 1), (TimedToken("a ", 0.0),))
    entries = [*journal.entries, *(Entry(n, 1000.0, token) for n in range(2 * AT_ONCE))]
    feed = Feed(FakeEngine(entries, 2000))
    assert [feed.drain(), feed.drain(), feed.drain()] == [True, True, False]


def test_a_picture_shares_what_did_not_change() -> None:
    journal = conversation()
    feed = Feed(FakeEngine(journal.entries, journal.now_ms))
    feed.drain()
    one = feed.picture()
    feed.drain()
    other = feed.picture()
    assert one.turns is other.turns and one.timeline is other.timeline and one.summary is other.summary
    assert one.transcript is other.transcript and one.state is other.state


def test_waiting_begins_with_the_pause_and_ends_with_the_first_sound() -> None:
    journal = JournalBuilder().opened().ready().turn("Hello there.", ["Hello!"])
    times = journal.times[1]

    def waiting(at_ms: float) -> float | None:
        feed = Feed(FakeEngine(journal.entries, at_ms))
        feed.drain()
        return feed.picture().waiting_since_ms

    assert waiting(times.user_end - 50) is None
    assert waiting(times.user_end + 150) == times.user_end
    assert waiting(times.committed + 10) == times.user_end
    assert waiting(times.reply_start + 1) is None


def test_a_fault_is_shown_until_it_is_put_away_or_a_turn_completes() -> None:
    scene = fault()
    engine = FakeEngine(scene.journal.entries, scene.at_ms)
    feed = Feed(engine)
    feed.drain()
    shown = feed.picture().fault
    assert shown is not None and shown.remedy == "Check the network."
    feed.dismiss_fault()
    assert feed.picture().fault is None
    again = Feed(FakeEngine(scene.journal.turn("Hello?", ["Yes."]).entries, scene.journal.now_ms))
    again.drain()
    assert again.picture().fault is None


def test_sound_levels_are_kept_by_session_time() -> None:
    keeper = SoundTraceKeeper(keep_ms=1000)
    keeper.take(1000, Levels(-20, -30, tuple(float(-n) for n in range(10, 0, -1)), (-40.0,) * 10))
    trace = keeper.snapshot()
    assert trace.loudest("user", 980, 1000) == -1.0
    assert trace.loudest("user", 800, 820) == -10.0
    assert trace.loudest("user", 0, 100) is None
    keeper.take(1060, Levels(-50, -60))
    assert keeper.snapshot().loudest("reply", 1040, 1060) == -60.0
    for step in range(200):
        keeper.take(1060 + step * PIECE_MS, Levels(-5, -6))
    assert len(keeper.snapshot().user) == 50
    keeper.take(100, Levels(-7, -8))
    assert keeper.snapshot().loudest("user", 80, 100) == -7.0


def test_time_stands_still_once_the_session_is_over() -> None:
    journal = JournalBuilder().opened().ready().turn("Hello there.", ["Hello!"])
    journal.closed("finished")
    engine = FakeEngine(journal.entries, journal.now_ms)
    feed = Feed(engine)
    feed.drain()
    over_ms = feed.picture().now_ms
    engine.advance(60_000)
    assert feed.picture().now_ms == over_ms
