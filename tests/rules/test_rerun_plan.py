"""A recorded person's part, cut into pieces: what each waits for, how long after it, and which sound it is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from tests.journal_builder import JournalBuilder
from voicetui.events import Basis, Entry
from voicetui.events.listen import SpeechPaused, SpeechStarted
from voicetui.events.orders import EndTurn
from voicetui.events.session import InterruptAsked, MicTested, Muted, Said, StopAsked, TalkKey
from voicetui.events.sound import ClockMapped
from voicetui.events.speak import ClauseStarted, PlaybackFinished
from voicetui.rehearse.rerun import Piece, collided, missed, plan
from voicetui.views.sample_clock import SampleClock

HOUR = 3600 * 16_000
STORY = ["Once upon a time there was a king. ", "He was old."]


def begun() -> JournalBuilder:
    """The microphone's sample n is at the ADC at n/16 ms."""
    return JournalBuilder().opened().add(ClockMapped(0)).ready()


def pieces(journal: JournalBuilder, samples: int = HOUR) -> tuple[Piece, ...]:
    return plan(journal.entries, samples).pieces


def waits(found: Sequence[Piece]) -> list[tuple[str, float]]:
    return [(piece.when, round(piece.after_ms, 1)) for piece in found]


def speech(journal: JournalBuilder, start_ms: float, end_ms: float) -> JournalBuilder:
    """Speech that nothing comes of."""
    journal.add(SpeechStarted(int(start_ms * 16), start_ms + 60), start_ms)
    return journal.add(SpeechPaused(int(end_ms * 16), 5, end_ms + 100, -30, -60), end_ms)


def test_what_is_said_when_all_is_answered_keeps_its_distance_from_the_end_of_the_reply() -> None:
    journal = begun().wait(400).turn("What time is it?", ["It is noon."])
    journal.wait(800).turn("Thank you.", ["You are welcome."])
    found = pieces(journal)
    assert waits(found) == [("idle", 400), ("idle", 1300)]
    assert [piece.text for piece in found] == ["What time is it?", "Thank you."]


def test_a_piece_is_its_speech_with_sound_around_it() -> None:
    journal = begun().wait(1500).turn("What time is it?", ["It is noon."])
    (piece,) = pieces(journal)
    onset = (500 + 1500) * 16
    assert (piece.onset_sample, piece.silent_sample) == (onset, onset + 1200 * 16)
    assert (piece.start_sample, piece.end_sample) == (onset - 500 * 16, piece.silent_sample + 400 * 16)


def test_the_sound_around_a_piece_holds_nothing_else_that_was_said_and_ends_with_the_track() -> None:
    journal = begun()
    speech(journal, 700, 1000)
    journal.wait(600).turn("What time is it?", ["It is noon."])
    found = pieces(journal, samples=2400 * 16)
    assert [piece.start_sample for piece in found] == [200 * 16, 1050 * 16]
    assert [piece.end_sample for piece in found] == [1050 * 16, 2400 * 16]


def test_a_barge_in_and_a_backchannel_keep_their_distance_from_the_start_of_the_reply() -> None:
    journal = begun().false_interruption("Tell me a story.", STORY, onset_ms=900)
    journal.barge_in("Another one.", STORY, onset_ms=1200, said="Stop. What time is it?", answer=["It is noon."])
    found = pieces(journal.turn("Thank you.", ["You are welcome."]))
    assert waits(found) == [("idle", 0), ("reply", 900), ("idle", 500), ("reply", 1200), ("idle", 500)]
    assert [piece.over for piece in found] == [-1, 0, -1, 2, -1]
    assert found[1].text == "mm-hmm" and found[3].text == "Stop. What time is it?"


def test_a_barge_in_into_a_hole_of_the_reply_is_one() -> None:
    journal = begun().barge_in("A story.", STORY, onset_ms=1200, stop=-150, said="Stop.", answer=["Yes?"])
    found = pieces(journal)
    assert waits(found) == [("idle", 0), ("reply", 1200)]
    onsets_ms = [piece.at_ms for piece in found]
    assert not missed(found, onsets_ms, journal.entries)


def test_a_pause_in_mid_sentence_stays_inside_the_piece() -> None:
    journal = begun().wait(100)
    journal.superseded("Do you know", "the largest planet?", ["Jupiter."])
    journal.cut_off("And do you know", "the smallest?", ["Mercury."])
    found = pieces(journal)
    assert waits(found) == [("idle", 100), ("idle", 500)]
    assert [piece.text for piece in found] == ["Do you know the largest planet?", "And do you know the smallest?"]
    assert all(piece.silent_sample - piece.onset_sample > 1600 * 16 for piece in found)


def test_whoever_goes_on_before_they_could_have_heard_the_reply_is_no_barge_in() -> None:
    journal = begun().barge_in("Do you know", STORY, onset_ms=250, said="the largest planet?", answer=["Jupiter."])
    assert waits(pieces(journal)) == [("idle", 0)]


def test_what_was_dropped_or_failed_is_said_again_and_what_follows_waits_for_that() -> None:
    journal = begun().rejected("noise").failed("What time is it?").wait(300).unanswered("Are you there?")
    found = pieces(journal.turn("Thank you.", ["You are welcome."]))
    assert waits(found) == [("idle", 0), ("idle", 500), ("idle", 800), ("idle", 500)]
    assert found[0].called == "speech without words"


def test_typed_turns_and_keys_are_pieces_of_their_own_or_belong_to_what_was_being_said() -> None:
    journal = begun().wait(250).typed("What time is it?", ["It is noon."])
    reply_ms = journal.times[1].reply_start
    journal.add(InterruptAsked(), reply_ms + 100)
    journal.add(Muted(True)).wait(2000).add(Muted(False)).wait(500)
    onset_ms = journal.now_ms
    journal.turn("Thank you.", ["You are welcome."])
    journal.add(TalkKey(True), onset_ms - 200).add(TalkKey(False), onset_ms + 900)
    found = pieces(journal)
    assert waits(found) == [
        ("idle", 250), ("idle", 500), ("idle", 2500), ("idle", 2800), ("idle", 3000)
    ]  # fmt: skip
    deeds = [[act.deed for act in piece.acts] for piece in found]
    assert deeds[0] == [Said("What time is it?"), InterruptAsked()]
    assert deeds[1:4] == [[Muted(True)], [Muted(False)], [TalkKey(True)]]
    assert deeds[4] == [TalkKey(False)] and found[4].acts[0].after_ms == 900
    assert not found[0].spoken and found[0].called == "What time is it?"


def test_a_key_over_the_reply_keeps_its_distance_from_its_start() -> None:
    journal = begun().typed("Tell me a story.", STORY)
    journal.add(InterruptAsked(), journal.times[1].reply_start + 700)
    found = pieces(journal)
    assert waits(found) == [("idle", 0), ("reply", 700)]
    assert found[1].called == "the interrupt key"


def test_what_a_microphone_test_heard_or_nobody_could_hear_any_more_is_no_piece() -> None:
    journal = begun().add(MicTested(True), 600)
    speech(journal, 700, 1500).add(MicTested(False), 2000)
    speech(journal, 2500, 3000).add(StopAsked("user"), 4000)
    found = pieces(speech(journal, 4100, 4500))
    assert [piece.onset_sample for piece in found if piece.spoken] == [2500 * 16]
    assert sum(not piece.spoken for piece in found) == 2


def test_what_the_program_heard_of_itself_is_no_piece() -> None:
    journal = begun().false_interruption("Tell me a story.", STORY, kind="echo", text="a king")
    assert [piece.text for piece in pieces(journal)] == ["Tell me a story."]


def test_speech_that_never_ended_goes_on_to_the_end_of_the_track() -> None:
    journal = begun().add(SpeechStarted(1000 * 16, 1060), 1000)
    (piece,) = pieces(journal, samples=3000 * 16)
    assert (piece.silent_sample, piece.end_sample) == (3000 * 16, 3000 * 16)


def test_what_the_track_has_lost_is_no_piece() -> None:
    journal = begun().turn("What time is it?", ["It is noon."]).turn("Thank you.", ["You are welcome."])
    assert len(pieces(journal, samples=2000 * 16)) == 1
    assert not pieces(journal, samples=0)


def test_what_the_journal_does_not_tell_of_is_not_taken_for_the_room() -> None:
    journal = begun().turn("What time is it?", ["It is noon."])
    reply_ms, end_ms = journal.times[1].reply_start, journal.times[1].reply_end
    taken = plan(journal.entries, 100_000 * 16).taken
    assert taken == ((500 * 16, 1700 * 16), (reply_ms * 16, end_ms * 16), (end_ms * 16, 100_000 * 16))
    assert len(plan(journal.entries, 1000 * 16).taken) == 2


def test_the_hands_are_timed_by_the_first_sample_of_the_track() -> None:
    journal = JournalBuilder().opened().wait(700).add(ClockMapped(0)).ready().wait(300)
    assert [act.after_ms for act in plan(journal.typed("Hello", ["Hi."]).entries, 0).acts] == [800]


def replies(*heard: tuple[float, float]) -> list[Entry]:
    """A journal of nothing but replies, heard from and until then."""
    entries: list[Entry] = []
    for turn, (start_ms, end_ms) in enumerate(heard, 1):
        basis = Basis(turn, 0, 1)
        end = EndTurn(turn, basis, "completed", "")
        bodies = ((start_ms, ClauseStarted(basis, 0)), (end_ms, PlaybackFinished(basis)), (end_ms, end))
        entries += [Entry(len(entries) + place, at, body) for place, (at, body) in enumerate(bodies)]
    return entries


def test_a_barge_in_that_lands_on_no_reply_any_more_is_told_with_the_reason() -> None:
    journal = begun().barge_in("A story.", STORY, onset_ms=1200, said="Stop.", answer=["Yes?"])
    found = pieces(journal)
    assert not missed(found, [500, 4200], replies((3000, 5000)))
    (short,) = missed(found, [500, 4200], replies((3000, 4000)))
    assert (short.text, short.after_reply_start_ms, short.why) == ("Stop.", 1200, "the reply was over 200 ms before")
    (never,) = missed(found, [500, 4200], [])
    assert never.why == "no reply was being heard then"
    assert not missed(found, [500], [])


def test_what_was_asked_again_in_the_silence_there_and_comes_over_a_reply_here_is_told() -> None:
    journal = begun().superseded("What time is it?", "Hello, are you there?", ["It is noon."])
    (piece,) = found = pieces(journal)
    (again,) = piece.more
    assert not collided(found, [500], replies((4000, 5000)))
    (told,) = collided(found, [500], replies((500 + again.after_ms - 700, 5000)))
    assert (told.after_reply_start_ms, told.text) == (700, "Hello, are you there?")


def test_entries_that_lost_their_time_lose_no_piece() -> None:
    journal = begun().wait(400).turn("What time is it?", ["It is noon."])
    lost = [msgspec.structs.replace(each, at=math.nan) if each.seq in (0, 1) else each for each in journal.entries]
    lost.append(msgspec.structs.replace(lost[-1], seq=len(lost), at=math.nan))
    assert plan(lost, HOUR) == plan(journal.entries, HOUR)


def test_a_pairing_of_the_clock_that_lost_its_time_pairs_nothing() -> None:
    journal = begun().wait(400).turn("What time is it?", ["It is noon."])
    journal.add(ClockMapped(int(journal.now_ms * 16)))
    lost = [
        msgspec.structs.replace(each, at=math.nan) if each.body == ClockMapped(0) else each for each in journal.entries
    ]
    assert plan(lost, HOUR).zero_ms == 0.0
    clock = SampleClock()
    for entry in lost:
        clock.feed(entry)
    assert clock.sample_at(1000.0) == 16_000
