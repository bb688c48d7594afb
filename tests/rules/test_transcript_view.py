"""The conversation as text, as it grows, is revised, interrupted and rejected."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.journal_builder import JournalBuilder
from voicetui.events import Basis
from voicetui.events.listen import SpeechStarted
from voicetui.events.orders import Commit, EndTurn, Generate, OpenUtterance, Play, Revise
from voicetui.events.reply import ClauseCut, TimedToken, TokensArrived
from voicetui.events.speak import ClauseEnded, ClauseStarted, PlaybackCut, SynthesisFailed
from voicetui.views.transcript import ReplyLine, Transcript, TranscriptView, UserLine

STORY = ["Once upon a time there was a king. ", "He was old and very wise."]
BASIS = Basis(1, 1, 1)


def session() -> JournalBuilder:
    return JournalBuilder().opened().ready()


def shown(journal: JournalBuilder, keep_lines: int | None = None) -> Transcript:
    view = TranscriptView(keep_lines)
    for entry in journal.entries:
        view.feed(entry)
    return view.snapshot()


def users(transcript: Transcript) -> list[tuple[str, str, str]]:
    return [(line.text, line.state, line.reason) for line in transcript.lines if isinstance(line, UserLine)]


def reply(journal: JournalBuilder, turn: int = 1) -> ReplyLine:
    return shown(journal).replies()[turn]


def committed() -> JournalBuilder:
    journal = session()
    return journal.add(Commit(BASIS, None, "Hello", "typed")).add(Generate(BASIS, "local", (), False))


def cut(journal: JournalBuilder, *clauses: tuple[str, str]) -> JournalBuilder:
    """Cut clauses (text, spoken) and queue those that are spoken."""
    for number, (text, spoken) in enumerate(clauses):
        journal.add(ClauseCut(BASIS, number, text, spoken))
        if spoken:
            journal.add(Play(BASIS, number, text))
    return journal


def test_an_utterance_shows_its_newest_revision_until_it_is_committed() -> None:
    journal = session()
    journal.add(SpeechStarted(0, 60.0), 40).add(OpenUtterance(1, 1, 0, False), 60)
    assert shown(journal).lines == (UserLine(40, 1, 1, "", 0, "partial"),)
    journal.add(Revise(1, 1, "what time", False))
    assert shown(journal).lines == (UserLine(40, 1, 1, "what time", 1, "partial"),)
    journal.add(Revise(1, 2, "What time is it?", True))
    assert users(shown(journal)) == [("What time is it?", "final", "")]
    journal.add(Commit(Basis(1, 2, 1), 1, "What time is it?", "silence", 500.0))
    assert users(shown(journal)) == [("What time is it?", "committed", "silence")]


def test_a_rejected_utterance_stays_with_its_reason() -> None:
    assert users(shown(session().rejected("noise"))) == [("", "rejected", "noise")]
    line = shown(session().false_interruption("Tell me a story", STORY)).lines[-1]
    assert isinstance(line, UserLine)
    assert (line.text, line.state, line.reason, line.over_reply, line.turn) == (
        "mm-hmm",
        "rejected",
        "backchannel",
        True,
        None,
    )


def test_a_commit_shows_the_words_carried_from_the_turn_taken_back() -> None:
    transcript = shown(session().cut_off("I want", "a pizza", ["Sure thing."]))
    assert users(transcript) == [("I want", "committed", "silence"), ("I want a pizza", "committed", "silence")]
    assert [line.outcome for line in transcript.replies().values()] == ["cut_off", "completed"]
    assert transcript.replies()[1].heard_text == ""


def test_a_typed_turn_has_a_line_without_an_utterance() -> None:
    line = shown(session().typed("Hello", ["Hi there."])).lines[0]
    assert isinstance(line, UserLine)
    assert (line.utterance, line.turn, line.text, line.reason) == (None, 1, "Hello", "typed")


def test_a_transcript_without_an_opened_utterance_still_has_its_line() -> None:
    journal = session().add(Revise(7, 1, "out of nowhere", True)).add(Commit(BASIS, 7, "out of nowhere", "silence"))
    assert users(shown(journal)) == [("out of nowhere", "committed", "silence")]


def test_a_draft_is_not_shown_before_its_turn_is_committed() -> None:
    journal = session().add(Generate(BASIS, "local", (), speculative=True))
    journal.add(ClauseCut(BASIS, 0, "It is noon.", "It is noon."))
    assert shown(journal).lines == ()
    journal.add(Commit(BASIS, 1, "What time is it?", "silence", 500.0))
    assert reply(journal).text == "It is noon."


def test_a_dropped_draft_is_never_shown() -> None:
    transcript = shown(session().turn("What time is it?", ["It is noon."], dropped=2))
    assert [line.text for line in transcript.replies().values()] == ["It is noon."]


def test_text_is_pending_until_it_is_cut_into_a_clause() -> None:
    journal = committed().add(TokensArrived(BASIS, (TimedToken("Well, ", 1.0), TimedToken("yes. It", 2.0))))
    assert (reply(journal).pending, reply(journal).clauses) == ("Well, yes. It", ())
    journal.add(ClauseCut(BASIS, 0, "Well, yes. ", "Well, yes."))
    journal.add(TokensArrived(BASIS, (TimedToken(" is.", 3.0),)))
    line = reply(journal)
    assert (line.text, line.pending) == ("Well, yes. It is.", "It is.")


def test_reasoning_is_not_part_of_the_reply() -> None:
    journal = committed().add(TokensArrived(BASIS, (TimedToken("hm, let me see", 1.0),), reasoning=True))
    assert reply(journal).text == ""


def test_a_reply_heard_to_its_end_is_all_heard() -> None:
    line = reply(session().turn("Tell me a story", STORY))
    assert (line.outcome, line.heard_text) == ("completed", "".join(STORY))
    assert [(clause.state, clause.unheard) for clause in line.clauses] == [("heard", "")] * 2


def test_an_interrupted_clause_is_split_where_it_was_cut() -> None:
    line = reply(session().barge_in("Tell me a story", STORY, onset_ms=900, stop=230))
    first, second = line.clauses
    assert (first.heard, first.unheard, first.state) == ("Once upon a time", " there was a king. ", "cut")
    assert (second.heard, second.unheard, second.state) == ("", "He was old and very wise.", "unheard")
    assert (line.outcome, line.heard_text) == ("interrupted", "Once upon a time")
    assert line.text == "".join(STORY)


def test_a_reply_cut_before_its_first_word_is_all_unheard() -> None:
    journal = cut(committed(), ("It is noon.", "It is noon."))
    journal.add(PlaybackCut(BASIS, 0.0, "", 0, 3, 0)).add(EndTurn(1, BASIS, "interrupted", "", "key"))
    [clause] = reply(journal).clauses
    assert (clause.heard, clause.unheard, clause.state) == ("", "It is noon.", "unheard")


def test_what_is_playing_and_what_waits_is_told_apart() -> None:
    journal = cut(committed(), ("One. ", "One."), ("Two. ", "Two."), ("Three.", "Three."))
    journal.add(ClauseStarted(BASIS, 0)).add(ClauseEnded(BASIS, 0)).add(ClauseStarted(BASIS, 1))
    line = reply(journal)
    assert [clause.state for clause in line.clauses] == ["heard", "playing", "waiting"]
    assert line.heard_text == "One."


def test_heard_text_skips_clauses_that_made_no_sound() -> None:
    journal = cut(committed(), ("Here: ", "Here"), ("```x = 1``` ", ""), ("That was the code.", "That was the code."))
    journal.add(PlaybackCut(BASIS, 900.0, "Here: That was", 3, 5, 0))
    journal.add(EndTurn(1, BASIS, "interrupted", "Here: That was"))
    clauses = [(clause.heard, clause.state) for clause in reply(journal).clauses]
    assert clauses == [("Here: ", "heard"), ("", "silent"), ("That was", "cut")]


def test_a_clause_that_could_not_be_spoken_says_so() -> None:
    journal = cut(committed(), ("One. ", "One.")).add(SynthesisFailed(BASIS, 0, "no voice"))
    assert reply(journal).clauses[0].state == "failed"


def test_a_cut_inside_a_text_without_spaces_splits_it_at_the_character() -> None:
    journal = cut(committed(), ("今日は晴れです。", "今日は晴れです。"))
    journal.add(PlaybackCut(BASIS, 900.0, "今日は", 3, 7, 0)).add(EndTurn(1, BASIS, "interrupted", "今日は"))
    [clause] = reply(journal).clauses
    assert (clause.heard, clause.unheard) == ("今日は", "晴れです。")


def test_a_clause_heard_but_for_its_full_stop_was_heard() -> None:
    journal = cut(committed(), ("It is noon.", "It is noon."))
    journal.add(PlaybackCut(BASIS, 900.0, "It is noon", 3, 3, 0)).add(EndTurn(1, BASIS, "interrupted", "It is noon"))
    assert reply(journal).clauses[0].state == "heard"


def test_a_reply_spoken_as_one_piece_is_one_clause() -> None:
    journal = committed()
    for number, text in enumerate(STORY):
        journal.add(ClauseCut(BASIS, number, text, text.strip()))
    journal.add(Play(BASIS, 0, "".join(STORY))).add(ClauseStarted(BASIS, 0))
    journal.add(PlaybackCut(BASIS, 900.0, "Once upon a time there was a king. He was", 10, 13, 0))
    [clause] = reply(journal).clauses
    assert (clause.heard, clause.unheard) == ("Once upon a time there was a king. He was", " old and very wise.")


def test_a_failed_turn_has_a_reply_line_with_the_reason() -> None:
    line = reply(session().failed("Hello?", "no route to host"))
    assert (line.outcome, line.reason, line.text) == ("failed", "no route to host", "")


def test_lines_stand_in_the_order_they_began() -> None:
    transcript = shown(session().barge_in("Tell me a story", STORY))
    order = [type(line).__name__ for line in transcript.lines]
    assert order == ["UserLine", "ReplyLine", "UserLine", "ReplyLine"]


def test_snapshots_taken_before_do_not_change() -> None:
    view = TranscriptView()
    kept = []
    for entry in session().turn("Tell me a story", STORY).rejected().entries:
        view.feed(entry)
        kept.append((view.snapshot(), repr(view.snapshot())))
    assert all(repr(snapshot) == text for snapshot, text in kept)


def test_nothing_new_to_show_is_the_same_object() -> None:
    view = TranscriptView()
    for entry in session().turn("Hello", ["Hi."]).entries:
        view.feed(entry)
    assert view.snapshot() is view.snapshot()


def test_a_bounded_transcript_keeps_the_newest_lines_and_counts_the_rest() -> None:
    journal = session()
    for number in range(60):
        journal.turn(f"Question number {number}", ["Yes."])
    whole, bounded = shown(journal), shown(journal, keep_lines=10)
    assert len(bounded.lines) <= 20
    assert whole.lines[-len(bounded.lines) :] == bounded.lines
    assert bounded.dropped + len(bounded.lines) == len(whole.lines)


def test_a_long_stream_without_a_clause_ends_with_the_exact_text() -> None:
    rng = random.Random(4)
    pieces = [rng.choice(["a", "[/path] ", "日", "🌍", " "]) for _ in range(20_000)]
    journal = committed()
    for place in range(0, len(pieces), 15):
        batch = tuple(TimedToken(text, float(place)) for text in pieces[place : place + 15])
        journal.add(TokensArrived(BASIS, batch))
    assert reply(journal).text == "".join(pieces).strip()


def test_a_journal_with_holes_never_breaks_the_view() -> None:
    journal = session().turn("Hello", STORY).barge_in("Again", STORY).cut_off("I want", "more", ["Yes."]).rejected()
    for seed in range(40):
        rng = random.Random(seed)
        view = TranscriptView(keep_lines=2 if seed % 2 else None)
        look: Callable[[], Transcript] = view.snapshot
        for entry in journal.entries:
            if rng.random() < 0.7:
                view.feed(entry)
                if rng.random() < 0.3:
                    look()
        assert isinstance(look(), Transcript)
