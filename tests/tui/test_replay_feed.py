"""A recorded session at any position shows what a session would have shown that had come there by itself."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.tui.fake_engine import FakeEngine
from tests.tui.replay_stage import FakeTrack, Watch, recorded
from tests.tui.scenes import conversation, go_on_talking, staged
from voicetui.events import Entry
from voicetui.rehearse.replay_tape import Tape
from voicetui.tui import checkpoints
from voicetui.tui.checkpoints import Checkpoints
from voicetui.tui.copying import duplicate
from voicetui.tui.feed import Feed
from voicetui.tui.folds import Folds
from voicetui.tui.replay_feed import ReplayFeed
from voicetui.tui.sound_trace import SoundTrace
from voicetui.tui.view import ScreenView
from voicetui.views.summary import SummaryView


def picture(feed: Feed) -> ScreenView:
    while feed.drain():
        pass
    for _ in range(4):
        view = feed.picture()
    return view


def test_at_any_position_it_is_what_a_fresh_fold_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", 25)
    journal, user, reply = recorded()
    tape = Tape(Watch().now_ms, journal.entries, user, reply)
    kept = Checkpoints(lambda: tape.entries, apart=False)
    feed = ReplayFeed(tape, kept)
    chance = random.Random(4)
    for _ in range(25):
        tape.seek(chance.uniform(0, tape.length_ms + 100))
        seen = picture(feed)
        other = Tape(Watch().now_ms, journal.entries, user, reply)
        other.seek(tape.now_ms())
        figures = SummaryView()
        for entry in journal.entries[: tape.shown]:
            figures.feed(entry)
        fresh = replace(picture(Feed(other)), recording=None, summary=figures.figures())
        assert replace(seen, trace=SoundTrace()) == replace(fresh, trace=SoundTrace())
        for side in ("user", "reply"):
            assert seen.trace.loudest(side, fresh.now_ms - 900, fresh.now_ms) == fresh.trace.loudest(
                side, fresh.now_ms - 900, fresh.now_ms
            )
    assert kept.reach(len(journal.entries)) > len(journal.entries) - 50, "copies are kept along the way"


def test_a_copy_and_its_original_know_nothing_of_each_other() -> None:
    entries = go_on_talking(120_000).entries + staged().journal.entries
    for cut in (0, 1, 40, 77, 160, len(entries) // 2):
        one, whole = Folds(), Folds()
        one.take(entries[:cut])
        one.settle()
        other = one.copy()
        other.take(entries[cut:])
        assert shown(one) == shown(fed(entries[:cut])), "feeding the copy left the original alone"
        whole.take(entries)
        assert shown(other) == shown(whole), "the copy goes on where it was made"


def fed(entries: list[object]) -> Folds:
    folds = Folds()
    folds.take(entries)  # type: ignore[arg-type]
    return folds


def shown(folds: Folds) -> tuple[object, ...]:
    views = (folds.state, folds.transcript, folds.timeline, folds.latency, folds.barge_in, folds.ledger)
    return (*(view.snapshot() for view in views), folds.summary.figures(), folds.fault, folds.taken)


def test_what_cannot_be_seen_is_not_copied() -> None:
    with pytest.raises(TypeError, match="generator"):
        duplicate({"a": (number for number in range(3))})


def test_without_copies_going_back_is_as_right(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(folds: Folds) -> Folds:
        raise TypeError("no copy")

    monkeypatch.setattr(checkpoints, "EVERY", 25)
    monkeypatch.setattr(Folds, "copy", fails)
    journal, user, reply = recorded()
    tape = Tape(Watch().now_ms, journal.entries, user, reply)
    kept = Checkpoints(lambda: tape.entries, apart=False)
    feed = ReplayFeed(tape, kept)
    tape.seek(tape.length_ms)
    assert picture(feed).turns[-1].turn == 8
    tape.seek(journal.times[3].reply_start)
    assert picture(feed).turns[-1].turn == 3 and len(kept.landmarks.turns) == 8


def test_the_summary_of_shared_views_is_that_of_its_own() -> None:
    journal = conversation()
    own = SummaryView()
    for entry in journal.entries:
        own.feed(entry)
    feed = Feed(FakeEngine(journal.entries, journal.now_ms))
    assert picture(feed).summary == own.figures()


def test_a_session_that_grows_is_followed_and_its_new_part_can_be_gone_back_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", 25)
    journal = conversation()
    watch, coming = Watch(), list(journal.entries[150:])

    def poll() -> tuple[list[Entry], bool]:
        return [coming.pop(0)], bool(coming)

    tape = Tape(watch.now_ms, journal.entries[:150], FakeTrack(), FakeTrack(), poll)
    feed = ReplayFeed(tape, Checkpoints(lambda: tape.entries, apart=False))
    tape.seek(tape.length_ms)
    tape.play()
    while coming:
        watch.ms += 300
        picture(feed)
    watch.ms += 60_000
    last = picture(feed)
    assert len(last.turns) == len(journal.times) and last.now_ms == tape.length_ms
    tape.seek(journal.times[6].reply_start)
    assert picture(feed).turns[-1].turn == 6
