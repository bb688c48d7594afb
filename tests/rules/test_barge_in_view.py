"""Speech over the reply: stop latency, what was heard, and how long a false interruption took the voice away."""

from __future__ import annotations

import msgspec

from tests.journal_builder import JournalBuilder
from voicetui.events import Basis, Entry
from voicetui.events.listen import SoundRose
from voicetui.events.orders import BargeIn, Commit, EndTurn
from voicetui.events.reply import ClauseCut
from voicetui.events.speak import ClauseEnded, ClauseStarted, PlaybackCut, PlaybackDucked, PlaybackPaused
from voicetui.views.barge_in import BargeInFigures, BargeInView, chief_barge_in, count_words, fold_barge_ins

BASIS = Basis(1, 1, 1)
STORY = ["Once upon a time there was a king. ", "He was old and very wise."]


def session() -> JournalBuilder:
    return JournalBuilder().opened().ready()


def only(journal: JournalBuilder) -> BargeInFigures:
    [figures] = fold_barge_ins(journal.entries).values()
    [one] = figures
    return one


def heard_until(journal: JournalBuilder, *clauses: tuple[float, float | None]) -> JournalBuilder:
    """A reply whose clauses sounded from and until these times."""
    journal.add(Commit(BASIS, 1, "Tell me", "silence", 500.0), 900)
    for number, (start, end) in enumerate(clauses):
        journal.add(ClauseCut(BASIS, number, "Four words are here.", "Four words are here."), start - 100)
        journal.add(ClauseStarted(BASIS, number), start)
        if end is not None:
            journal.add(ClauseEnded(BASIS, number), end)
    return journal


def test_a_bid_is_measured_from_the_users_onset() -> None:
    figures = only(session().barge_in("Tell me a story", STORY, onset_ms=900, ducked=50, stop=230, decided=560))
    assert figures.kind == "bid" and not figures.false_interruption
    assert (figures.onset_ms, figures.ducked_ms, figures.stop_ms, figures.decided_ms) == (900, 50, 230, 560)
    assert not figures.in_silence
    assert figures.away_ms is None


def test_the_onset_is_where_the_sound_rose_that_became_the_speech() -> None:
    plain = session().barge_in("Tell me a story", STORY, onset_ms=900, ducked=50, stop=230, decided=560)
    onset_ms = only(plain).at_ms
    for earlier_ms, counts in ((20.0, True), (60.0, True), (61.0, False), (-5.0, False)):
        journal = session()
        rose_ms = onset_ms - earlier_ms
        journal.add(SoundRose(int(rose_ms * 16), rose_ms + 30), rose_ms)
        figures = only(journal.barge_in("Tell me a story", STORY, onset_ms=900, ducked=50, stop=230, decided=560))
        sooner_ms = earlier_ms if counts else 0.0
        assert (figures.at_ms, figures.stop_ms) == (onset_ms - sooner_ms, 230 + sooner_ms), earlier_ms


def test_heard_words_stand_beside_generated_words() -> None:
    figures = only(session().barge_in("Tell me a story", STORY, onset_ms=900, stop=230))
    assert (figures.heard_words, figures.generated_words) == (4, 14)


def test_a_backchannel_is_a_false_interruption_with_the_time_the_voice_was_away() -> None:
    figures = only(session().false_interruption("Tell me a story", STORY, stop=230, decided=700))
    assert figures.kind == "backchannel" and figures.false_interruption
    assert figures.away_ms == 700 + 40 - 230
    assert figures.stop_ms is None
    assert (figures.heard_words, figures.generated_words) == (14, 14)


def test_a_noise_that_only_ducked_took_nothing_away() -> None:
    journal = session().false_interruption("Tell me a story", STORY, kind="noise", text="")
    entries = [entry for entry in journal.entries if not isinstance(entry.body, PlaybackPaused)]
    [[figures]] = fold_barge_ins(entries).values()
    assert (figures.kind, figures.away_ms) == ("noise", 0)


def test_an_onset_between_two_clauses_is_stop_zero_and_flagged() -> None:
    journal = heard_until(session(), (1000, 2000))
    journal.add(BargeIn(BASIS, 2, "bid", 2100.0), 2500)
    journal.add(PlaybackCut(BASIS, 1000.0, "Four words are here.", 4, 4, 0), 2000)
    figures = only(journal)
    assert (figures.stop_ms, figures.in_silence) == (0, True)


def test_an_onset_in_a_silent_part_of_a_clause_is_stop_zero_and_flagged() -> None:
    journal = heard_until(session(), (1000, None))
    journal.add(PlaybackPaused(BASIS, 0, 900.0), 1900)
    journal.add(BargeIn(BASIS, 2, "bid", 2000.0), 2400)
    journal.add(PlaybackCut(BASIS, 900.0, "Four words", 2, 4, 0), 1900)
    figures = only(journal)
    assert (figures.stop_ms, figures.in_silence) == (0, True)


def test_a_reply_that_went_on_after_a_silent_onset_is_not_called_stopped() -> None:
    journal = heard_until(session(), (1000, 2000), (2200, None))
    journal.add(PlaybackPaused(BASIS, 1, 1150.0), 2350)
    journal.add(BargeIn(BASIS, 2, "bid", 2100.0), 2500)
    journal.add(PlaybackCut(BASIS, 1150.0, "Four words are here.", 4, 8, 0), 2350)
    figures = only(journal)
    assert (figures.stop_ms, figures.in_silence) == (250, True)


def test_without_a_pause_the_cut_tells_the_last_audible_sample() -> None:
    journal = heard_until(session(), (1000, None))
    journal.add(BargeIn(BASIS, 0, "key", 1500.0), 1500)
    journal.add(PlaybackCut(BASIS, 520.0, "Four words", 2, 4, 0), 1520)
    figures = only(journal)
    assert (figures.kind, figures.stop_ms, figures.ducked_ms, figures.decided_ms) == ("key", 20, None, 0)


def test_a_backchannel_and_then_a_bid_are_two_and_the_bid_is_the_chief_one() -> None:
    journal = session().false_interruption("Tell me a story", STORY)
    entries = [entry for entry in journal.entries if not isinstance(entry.body, EndTurn)]
    basis = journal.times[1].basis
    onset = journal.times[1].reply_start + 2500
    entries += [
        Entry(0, onset + 50, PlaybackDucked(basis)),
        Entry(0, onset + 210, PlaybackPaused(basis, 0, 2000.0)),
        Entry(0, onset + 400, BargeIn(basis, 3, "bid", onset)),
        Entry(0, onset + 210, PlaybackCut(basis, 2000.0, "Once upon", 2, 14, 0)),
    ]
    [figures] = fold_barge_ins(entries).values()
    assert [one.kind for one in figures] == ["backchannel", "bid"]
    assert figures[0].away_ms == 510
    assert (figures[1].ducked_ms, figures[1].stop_ms) == (50, 210)
    assert chief_barge_in(figures) == figures[1]


def test_the_first_of_several_false_interruptions_stands_for_them() -> None:
    journal = session().false_interruption("Tell me a story", STORY)
    [figures] = fold_barge_ins(journal.entries).values()
    assert chief_barge_in(figures) == figures[0]
    assert chief_barge_in(()) is None


def test_a_reply_nobody_heard_was_not_barged_into() -> None:
    journal = session()
    journal.add(Commit(BASIS, 1, "Tell me", "silence", 500.0), 900)
    journal.add(BargeIn(BASIS, 0, "key", 1000.0), 1000)
    journal.add(PlaybackCut(BASIS, 0.0, "", 0, 4, 0), 1000)
    assert fold_barge_ins(journal.entries) == {}


def test_words_are_counted_as_the_speaker_counts_them() -> None:
    assert count_words("Well – it costs $49, no?") == 5
    assert count_words("今日は sunny") == 4
    assert count_words(" … ") == 0


def test_looking_after_every_entry_shows_the_same_as_looking_once() -> None:
    journal = session().barge_in("Tell me a story", STORY).false_interruption("Again", STORY).turn("Bye", ["Bye."])
    view = BargeInView()
    for entry in journal.entries:
        view.feed(entry)
        view.snapshot()
    assert view.snapshot() == fold_barge_ins(journal.entries)
    assert [turn for turn, _ in sorted(view.snapshot().items())] == [1, 3]


def test_onsets_that_are_no_numbers_are_left_out() -> None:
    journal = session().barge_in("Tell me a story", STORY)
    broken = [
        msgspec.structs.replace(entry, body=msgspec.structs.replace(entry.body, onset_ms=float("nan")))
        if isinstance(entry.body, BargeIn)
        else entry
        for entry in journal.entries
    ]
    assert fold_barge_ins(broken) == {}
