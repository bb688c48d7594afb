"""Spans and marks: what a turn looks like on the lanes."""

from __future__ import annotations

import random

from tests.journal_builder import COMMIT_EARLY, COMMIT_LATE, SEQUENTIAL, JournalBuilder
from voicetui.events import Basis, Entry
from voicetui.events.listen import SpeechPaused, SpeechStarted, TranscribeFailed
from voicetui.events.orders import Cancel, Generate, OpenUtterance, Transcribe
from voicetui.events.reply import GenerationCancelled
from voicetui.events.session import Fault, SessionClosed
from voicetui.events.speak import SpeakerDry
from voicetui.views.timeline import LANES, Mark, Span, Timeline, TimelineView, fold_timeline

STORY = ["Once upon a time there was a king. ", "He was old and very wise."]


def session() -> JournalBuilder:
    return JournalBuilder().opened().ready()


def lane(timeline: Timeline, name: str, turn: int | None = 1) -> list[Span]:
    return [span for span in timeline.spans if span.lane == name and span.turn == turn]


def marks(timeline: Timeline, kind: str) -> list[Mark]:
    return [mark for mark in timeline.marks if mark.kind == kind]


def extent(span: Span, zero: float) -> tuple[float, float | None]:
    return span.start_ms - zero, None if span.end_ms is None else span.end_ms - zero


def test_a_turn_is_on_every_lane() -> None:
    journal = session().turn("What time is it?", ["It is noon. ", "Lunch is ready."], COMMIT_LATE)
    timeline, end = fold_timeline(journal.entries), journal.times[1].user_end
    assert {span.lane for span in timeline.spans} == set(LANES)
    assert [extent(span, end) for span in lane(timeline, "you")] == [(-1200, 0)]
    assert [extent(span, end) for span in lane(timeline, "endpoint")] == [(0, 450)]
    assert [extent(span, end) for span in lane(timeline, "transcribe")] == [(-500, -410), (100, 190)]
    assert [extent(span, end) for span in lane(timeline, "context")] == [(190, 190)]
    assert [extent(span, end) for span in lane(timeline, "llm")] == [(190, 430)]
    assert [extent(span, end) for span in lane(timeline, "clauses")] == [(230, 310), (310, 370)]
    assert [extent(span, end) for span in lane(timeline, "synthesis")] == [(310, 400), (460, 520)]
    assert [extent(span, end) for span in lane(timeline, "speaker")] == [(480, 1380), (1380, 2280)]


def test_labels_are_the_words() -> None:
    timeline = fold_timeline(session().turn("What time is it?", ["It is noon. ", "Lunch is ready."]).entries)
    assert lane(timeline, "you")[0].label == "What time is it?"
    assert [span.label for span in lane(timeline, "clauses")] == ["It is noon.", "Lunch is ready."]
    assert [span.label for span in lane(timeline, "speaker")] == ["It is noon.", "Lunch is ready."]


def test_work_before_the_commit_is_speculative_and_after_it_is_not() -> None:
    journal = session().turn("What time is it?", ["It is noon. ", "Lunch is ready."], COMMIT_EARLY)
    timeline = fold_timeline(journal.entries)
    assert [span.kind for span in lane(timeline, "llm")] == ["speculative"]
    assert [span.kind for span in lane(timeline, "synthesis")] == ["work", "work"]
    sequential = fold_timeline(session().turn("What time is it?", ["It is noon."], SEQUENTIAL).entries)
    assert [span.kind for span in lane(sequential, "llm")] == ["work"]


def test_dropped_drafts_are_discarded() -> None:
    timeline = fold_timeline(session().turn("What time is it?", ["It is noon."], dropped=2).entries)
    assert [span.kind for span in lane(timeline, "llm")] == ["discarded", "discarded", "speculative"]


def test_the_gap_is_marked_where_the_reply_is_first_heard() -> None:
    journal = session().turn("What time is it?", ["It is noon. ", "Lunch is ready."], COMMIT_LATE)
    times = journal.times[1]
    assert marks(fold_timeline(journal.entries), "gap") == [Mark(times.reply_start, "gap", "480 ms", 1)]


def test_a_typed_turn_has_a_commit_and_no_gap() -> None:
    timeline = fold_timeline(session().typed("Hello", ["Hi there."]).entries)
    assert [mark.label for mark in marks(timeline, "commit")] == ["typed"]
    assert marks(timeline, "gap") == []


def test_a_wait_that_the_user_broke_is_discarded() -> None:
    paused = session().add(SpeechStarted(0, 60.0), 0).add(OpenUtterance(1, 1, 0, False), 60)
    paused.add(SpeechPaused(0, 5.0, 600.0, -30.0, -60.0), 500).add(SpeechStarted(0, 860.0), 800)
    [wait] = lane(fold_timeline(paused.entries), "endpoint")
    assert (wait.kind, wait.start_ms, wait.end_ms) == ("discarded", 500, 800)


def test_a_barge_in_is_marked_from_the_duck_to_the_cut() -> None:
    journal = session().barge_in("Tell me a story", STORY, onset_ms=900, ducked=50, stop=230, decided=560)
    timeline, onset = fold_timeline(journal.entries), journal.times[1].reply_start + 900
    assert [mark.at_ms - onset for mark in marks(timeline, "duck")] == [50]
    assert [mark.at_ms - onset for mark in marks(timeline, "pause")] == [230]
    assert marks(timeline, "barge_in") == [Mark(onset, "barge_in", "bid", 1)]
    assert [mark.at_ms - onset for mark in marks(timeline, "cut")] == [230]
    [spoken] = lane(timeline, "speaker", 1)
    assert spoken.end_ms == onset + 230


def test_clauses_of_an_interrupted_reply_that_were_not_heard_are_discarded() -> None:
    timeline = fold_timeline(session().barge_in("Tell me a story", STORY).entries)
    assert [span.kind for span in lane(timeline, "clauses")][1:] == ["discarded"]
    assert [span.kind for span in lane(timeline, "synthesis")] == ["work", "discarded"]


def test_a_voice_that_comes_back_is_two_spans_with_its_absence_between() -> None:
    journal = session().false_interruption("Tell me a story", STORY, onset_ms=900, stop=230, decided=700)
    timeline, onset = fold_timeline(journal.entries), journal.times[1].reply_start + 900
    first, again, second = lane(timeline, "speaker")
    assert (first.end_ms, again.start_ms) == (onset + 230, onset + 740)
    assert first.label == again.label == STORY[0].strip()
    assert second.label == STORY[1]
    assert len(marks(timeline, "resume")) == 1


def test_a_rejected_utterance_is_discarded_and_belongs_to_no_turn() -> None:
    timeline = fold_timeline(session().rejected("noise").entries)
    [speech] = lane(timeline, "you", None)
    assert speech.kind == "discarded"
    assert [mark.label for mark in marks(timeline, "reject")] == ["noise"]


def test_all_work_of_a_turn_taken_back_is_discarded() -> None:
    timeline = fold_timeline(session().cut_off("I want", "a pizza", ["Sure thing."]).entries)
    work = [span for span in timeline.spans if span.turn == 1 and span.basis is not None]
    assert {span.kind for span in work} == {"discarded"}
    assert all(span.end_ms is not None for span in work)


def test_faults_and_a_dry_speaker_are_marked() -> None:
    journal = session().add(Fault("microphone", "unplugged")).add(SpeakerDry(Basis(1, 1, 1), 1, 120.0))
    timeline = fold_timeline(journal.entries)
    assert [mark.label for mark in marks(timeline, "fault")] == ["microphone: unplugged"]
    assert [mark.label for mark in marks(timeline, "dry")] == ["120 ms"]


def test_a_transcription_that_failed_or_never_came_is_discarded() -> None:
    journal = session().add(Transcribe(1, 1, 0, None, False)).wait(50).add(TranscribeFailed(1, 1, False, "broken"))
    journal.add(Transcribe(1, 2, 0, None, False)).wait(50).add(SessionClosed("user"))
    spans = [span for span in fold_timeline(journal.entries).spans if span.lane == "transcribe"]
    assert [(span.kind, span.end_ms is not None) for span in spans] == [("discarded", True)] * 2


def test_a_span_grows_until_it_ends() -> None:
    basis = Basis(1, 1, 1)
    journal = session().add(Generate(basis, "local", (), speculative=True))
    view = TimelineView()
    for entry in journal.entries:
        view.feed(entry)
    [growing] = lane(view.snapshot(), "context")
    assert growing.end_ms is None
    view.feed(Entry(99, journal.now_ms + 80, Cancel(basis, "words changed")))
    [ended] = lane(view.snapshot(), "context")
    assert (ended.end_ms, ended.kind) == (journal.now_ms + 80, "discarded")
    assert growing.end_ms is None


def test_a_span_never_ends_before_it_begins() -> None:
    entries = session().turn("Hello", ["Hi."]).entries
    shuffled = [Entry(entry.seq, entry.at - (entry.seq % 7) * 100, entry.body) for entry in entries]
    assert all(span.end_ms is None or span.end_ms >= span.start_ms for span in fold_timeline(shuffled).spans)


def test_nothing_grows_after_the_session_closed() -> None:
    entries = session().barge_in("Tell me a story", STORY).entries
    for cut in range(len(entries)):
        closed = [*entries[:cut], Entry(cut, entries[max(0, cut - 1)].at + 10, SessionClosed("signal"))]
        assert all(span.end_ms is not None for span in fold_timeline(closed).spans)


def test_late_facts_of_a_turn_that_is_over_draw_nothing() -> None:
    journal = session().turn("Hello", ["Hi."])
    before = len(fold_timeline(journal.entries).spans)
    journal.add(GenerationCancelled(journal.times[1].basis, 3, 2.0)).add(SpeakerDry(journal.times[1].basis, 0, 1.0))
    assert len(fold_timeline(journal.entries).spans) == before


def test_a_long_session_keeps_a_bounded_timeline() -> None:
    journal = session()
    for number in range(120):
        journal.turn(f"Question {number}", ["Yes. ", "No."])
    view = TimelineView(keep_ms=20_000)
    most = 0
    for entry in journal.entries:
        view.feed(entry)
        seen = view.snapshot()
        most = max(most, len(seen.spans))
        assert seen.growing == tuple(span for span in seen.spans if span.end_ms is None)
    whole = fold_timeline(journal.entries)
    assert most < 250 < len(whole.spans)
    newest = [span for span in whole.spans if span.start_ms > whole.end_ms - 15_000]
    assert [span for span in view.snapshot().spans if span.start_ms > whole.end_ms - 15_000] == newest


def test_nothing_new_to_show_is_the_same_object() -> None:
    view = TimelineView()
    for entry in session().turn("Hello", ["Hi."]).entries:
        view.feed(entry)
    assert view.snapshot() is view.snapshot()


def test_looking_after_every_entry_shows_the_same_as_looking_once() -> None:
    journal = session().barge_in("Tell me a story", STORY).false_interruption("Again", STORY)
    journal.cut_off("I", "do", ["Yes."])
    view = TimelineView()
    for entry in journal.entries:
        view.feed(entry)
        view.snapshot()
    assert view.snapshot() == fold_timeline(journal.entries)


def test_a_journal_with_holes_never_breaks_the_view() -> None:
    journal = session().turn("Hello", STORY).barge_in("Again", STORY).cut_off("I want", "more", ["Yes."]).rejected()
    for seed in range(40):
        rng = random.Random(seed)
        timeline = fold_timeline(entry for entry in journal.entries if rng.random() < 0.7)
        assert all(span.end_ms is None or span.end_ms >= span.start_ms for span in timeline.spans)
