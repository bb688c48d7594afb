"""At a pause the words are scored once the draft's first clause is known: before, the score would delay that."""

from __future__ import annotations

from tests.rules.desk import Desk
from voicetui.events.listen import Evidence, SpeechStarted, Transcribed
from voicetui.events.orders import Commit, Generate, ScoreTurn, ScoreWords, Transcribe
from voicetui.events.reply import ClauseCut, GenerationFailed
from voicetui.events.session import Fault

QUESTION = "What is the capital of France?"


def paused(text: str = QUESTION, **policy: object) -> Desk:
    """One second of speech from 1000 on, and its words 190 ms after it."""
    desk = Desk(**{"turn_end": "model", "score_words": True, "words_after_ms": 400.0, "reply_wait_ms": 700.0, **policy})
    desk.speech(1000, 2000)
    desk.words(text, at_ms=2190)
    return desk


def test_they_are_scored_when_the_first_clause_is_known() -> None:
    desk = paused()
    assert len(desk.all(Generate)) == 1 and not desk.all(ScoreWords)
    desk.run_to(2340)
    desk.tell(ClauseCut(desk.last(Generate).basis, 0, "Paris.", "Paris."))
    assert [order.text for order in desk.all(ScoreWords)] == [QUESTION]
    desk.score_words(0.7, 2360)
    desk.run_to(2420)
    desk.synthesize()
    assert (desk.last(Commit).reason, desk.last(Commit).words_score) == ("turn model", 0.7)
    assert len(desk.all(ScoreWords)) == 1


def test_a_slow_tier_does_not_keep_them_waiting() -> None:
    desk = paused()
    desk.run_to(2395)
    assert not desk.all(ScoreWords)
    desk.run_to(2405)
    assert len(desk.all(ScoreWords)) == 1
    desk.score_words(0.001, 2430)
    assert len(desk.all(ScoreTurn)) == 1, "they leave the end open, and the sound is due"


def test_without_a_draft_they_are_scored_at_once() -> None:
    desk = paused(attempts=0)
    assert not desk.all(Generate) and len(desk.all(ScoreWords)) == 1
    desk = paused(words_after_ms=0.0)
    assert len(desk.all(ScoreWords)) == 1


def test_a_draft_that_fails_keeps_them_no_longer() -> None:
    desk = paused()
    desk.run_to(2250)
    desk.tell(GenerationFailed(desk.last(Generate).basis, "connect", "it is gone"))
    assert len(desk.all(ScoreWords)) == 1


def test_whoever_goes_on_costs_no_score_until_new_words_are_there() -> None:
    desk = paused("What is the capital of")
    desk.run_to(2300)
    desk.tell(SpeechStarted(2240 * 16, 2300), 2240)
    assert not desk.all(ScoreWords)
    desk.pauses(3000)
    desk.words(QUESTION, at_ms=3190)
    desk.run_to(3405)
    assert [order.text for order in desk.all(ScoreWords)][-1] == QUESTION


def test_words_said_while_nobody_pauses_are_scored_at_once() -> None:
    desk = Desk(turn_end="model", score_words=True, words_after_ms=400.0, partial_first_ms=300)
    desk.starts(1000)
    desk.run_to(1310)
    desk.words("What is the capital", at_ms=1400)
    assert [order.text for order in desk.all(ScoreWords)] == ["What is the capital"]


def test_a_model_that_breaks_meanwhile_is_not_waited_for() -> None:
    desk = paused()
    desk.run_to(2250)
    desk.tell(Fault("words", "it broke", "Pull it again."))
    desk.run_to(2420)
    assert not desk.all(ScoreWords) and len(desk.all(ScoreTurn)) == 1


def partial_read_in_the_pause() -> Desk:
    """A partial transcript of speech that ends at 1900, read while the final one is asked for already."""
    desk = Desk(turn_end="model", score_words=True, words_after_ms=400.0, partial_first_ms=850)
    desk.starts(1000)
    desk.run_to(1860)
    partial = desk.last(Transcribe)
    desk.pauses(1900)
    assert desk.last(Transcribe).final and not partial.final
    span = (partial.start_sample, 1860 * 16)
    desk.tell(Transcribed(partial.utterance, partial.request, QUESTION, False, *span, 1860.0, 0.0, Evidence()))
    return desk


def test_words_of_a_partial_that_come_in_the_pause_do_not_keep_the_final_ones_waiting() -> None:
    desk = partial_read_in_the_pause()
    assert not desk.all(ScoreWords), "the final words are being read"
    desk.words(QUESTION, at_ms=2100)
    assert len(desk.all(Generate)) == 1 and not desk.all(ScoreWords)
    desk.tell(ClauseCut(desk.last(Generate).basis, 0, "Paris.", "Paris."))
    assert [order.text for order in desk.all(ScoreWords)] == [QUESTION]


def test_final_words_that_do_not_come_keep_the_score_no_longer_than_its_silence() -> None:
    desk = partial_read_in_the_pause()
    desk.run_to(2295)
    assert not desk.all(ScoreWords)
    desk.run_to(2305)
    assert len(desk.all(ScoreWords)) == 1
