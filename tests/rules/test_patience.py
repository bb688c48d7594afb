"""How long a pause is waited out: by the score of the voice, by the words, and by how this speaker pauses."""

from __future__ import annotations

import pytest

from tests.rules.desk import Desk
from voicetui.conversation import patience
from voicetui.conversation.policy import Policy
from voicetui.conversation.state import Words
from voicetui.events.listen import Evidence, TurnScored, WordsScored
from voicetui.events.orders import Commit, EndTurn, ScoreTurn, ScoreWords, Transcribe, WakeAt
from voicetui.events.session import Fault, StopAsked

RULES = Policy()
QUESTION = "What is the capital of France?"


def desk_of(**policy: object) -> Desk:
    return Desk(**{"turn_end": "model", **policy})


def waited(text: str, score: float, own_ms: tuple[float, ...] = (), logprob: float | None = None) -> float:
    return patience.wait_for(RULES, RULES.silence_ms, score, Words(text, logprob), own_ms).ms


def said(desk: Desk, text: str, score: float, start_ms: float = 1000, end_ms: float = 2000) -> None:
    """Speech, its score and its words, all of which are there 190 ms after it."""
    desk.speech(start_ms, end_ms)
    desk.score(score)
    desk.words(text, at_ms=end_ms + 190)


# the table of cases


def test_a_turn_that_sounds_and_reads_finished_is_over_within_250_ms() -> None:
    desk = desk_of()
    said(desk, QUESTION, 0.97)
    desk.run_to(2230)
    assert not desk.all(Commit)
    desk.run_to(2250)
    commit = desk.last(Commit)
    assert (commit.text, commit.reason, commit.silence_ms, commit.score) == (QUESTION, "turn model", 240, 0.97)


def test_a_pause_in_a_sentence_that_sounds_and_reads_unfinished_is_waited_out() -> None:
    desk = desk_of()
    said(desk, "Do you know if", 0.03)
    desk.run_to(2690)
    assert not desk.all(Commit)
    desk.speech(2700, 3500)
    desk.score(0.97)
    desk.words("Do you know if the museum is open?")
    desk.run_to(3745)
    assert [order.text for order in desk.all(Commit)] == ["Do you know if the museum is open?"]


def test_a_trailing_um_is_waited_out_though_the_voice_sounds_finished_and_costs_no_three_seconds() -> None:
    desk = desk_of()
    said(desk, "I would like, um", 0.98)
    desk.run_to(3490)
    assert not desk.all(Commit)
    desk.run_to(3510)
    assert (desk.last(Commit).reason, desk.last(Commit).silence_ms) == ("unfinished words", 1500)


@pytest.mark.parametrize("text", [QUESTION, "What is the capital of France", "I think it was."])
def test_a_low_score_waits_longer_but_not_for_ever(text: str) -> None:
    assert 500 <= waited(text, 0.02) <= 1200


def test_the_surer_the_shorter() -> None:
    scores = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0)
    for text in (QUESTION, "What is the capital of France"):
        waits = [waited(text, score) for score in scores]
        assert waits == sorted(waits, reverse=True) and waits[0] > waits[-1]
    assert all(waited(QUESTION, score) <= waited("What is the capital of France", score) for score in scores)


def test_one_score_is_no_decision() -> None:
    assert waited("I was thinking of", 0.98) == 1500, "words that ask for more outweigh any score"
    assert waited(QUESTION, 0.01) < waited("I have seen the", 0.01), "so do finished words a low one"


@pytest.mark.parametrize(
    "text", ["I was thinking that we", "Is there another", "It lies between", "Do you know whether"]
)
def test_words_that_never_stand_last_ask_for_more(text: str) -> None:
    assert waited(text, 0.98) == 1500


@pytest.mark.parametrize(
    "text", ["So do we.", "Who are they?", "What is it like?", "I would like another.", "Yes, I am."]
)
def test_the_same_words_end_finished_sentences(text: str) -> None:
    assert waited(text, 0.97) == 240


def test_a_clause_that_comes_before_its_main_clause_is_waited_for() -> None:
    assert waited("If it rains tomorrow.", 0.6) >= 700 > waited("It rains tomorrow.", 0.6)
    assert waited("If it rains tomorrow, we stay at home.", 0.97) == waited("When does it rain?", 0.97) == 240


def test_words_that_were_not_read_clearly_may_have_been_cut_in_the_middle() -> None:
    assert waited("Could you spell your letter?", 0.95, logprob=-0.3) >= 500
    desk = desk_of()
    desk.speech(1000, 2000)
    desk.score(0.95)
    desk.words("Could you spell your letter?", at_ms=2190, evidence=Evidence(logprob=-0.5))
    desk.run_to(2450)
    assert not desk.all(Commit)


# the words' own score


def scored(text: str, score: float | None, words_score: float) -> float:
    return patience.wait_for(RULES, RULES.silence_ms, score, Words(text, True, words_score), ()).ms


def test_words_that_end_a_sentence_end_the_turn_though_the_sound_goes_on() -> None:
    assert scored("Tell me who he was.", 0.03, 0.6) == 240 < waited("Tell me who he was.", 0.03)


def test_words_that_do_not_keep_it_open_though_the_sound_ends() -> None:
    assert scored("Tell me of the story", 0.97, 0.001) >= 700 > waited("Tell me of the story.", 0.97)


def test_the_likelier_a_sentence_is_over_the_shorter_the_wait() -> None:
    waits = [scored(QUESTION, 0.5, share) for share in (0.0, 0.001, 0.01, 0.1, 0.5, 1.0)]
    assert waits == sorted(waits, reverse=True) and waits[0] > waits[-1] == 240


def words_desk(**policy: object) -> Desk:
    return desk_of(**{"score_words": True, **policy})


def read(desk: Desk, text: str, words_score: float | None, start_ms: float = 1000, end_ms: float = 2000) -> None:
    """Speech; its words 190 ms after it, and their score 20 ms later."""
    desk.speech(start_ms, end_ms)
    desk.words(text, at_ms=end_ms + 190)
    if words_score is not None:
        desk.score_words(words_score, at_ms=end_ms + 210)


def test_where_the_words_are_sure_the_sound_is_not_asked() -> None:
    desk = words_desk()
    read(desk, QUESTION, 0.7)
    desk.run_to(2250)
    commit = desk.last(Commit)
    assert (commit.reason, commit.silence_ms, commit.score, commit.words_score) == ("turn model", 240, None, 0.7)
    assert not desk.all(ScoreTurn)
    desk = words_desk()
    read(desk, "Do you know if the", 0.0)
    desk.run_to(3400)
    assert not desk.all(Commit) and not desk.all(ScoreTurn), "words that ask for more are waited for, whatever it says"


@pytest.mark.parametrize("score", [0.03, 0.97])
def test_where_they_ask_for_a_long_wait_the_sound_is_asked_and_decides(score: float) -> None:
    text, words_score = "Could you tell me of the time", 0.1
    waits = {each: scored(text, each, words_score) for each in (0.03, None, 0.97)}
    assert waits[0.97] < waits[None] < waits[0.03] and waits[None] > RULES.sound_after_ms
    desk = words_desk()
    read(desk, text, words_score)
    desk.run_to(2390)
    assert not desk.all(ScoreTurn), "a draft needs the processor, and could not be heard sooner"
    desk.run_to(2405)
    desk.score(score, at_ms=2480)
    desk.run_to(2000 + max(480.0, waits[score]) + 5)
    assert (desk.last(Commit).score, desk.last(Commit).silence_ms) == (score, waits[score])


def test_until_the_sound_answers_the_words_count_alone() -> None:
    text, words_score = "Could you tell me of the time", 0.1
    desk = words_desk()
    read(desk, text, words_score)
    desk.run_to(2000 + scored(text, None, words_score) - 5)
    assert not desk.all(Commit)
    desk.run_to(2000 + scored(text, None, words_score) + 5)
    assert (desk.last(Commit).score, desk.last(Commit).words_score) == (None, words_score)


def test_whoever_goes_on_before_that_costs_no_score() -> None:
    desk = words_desk()
    read(desk, "Could you tell me of the time", 0.01)
    desk.starts(2300)
    desk.run_to(3000)
    assert not desk.all(ScoreTurn)


def test_the_words_score_is_waited_for() -> None:
    desk = words_desk()
    read(desk, QUESTION, None)
    desk.run_to(2300)
    assert not desk.all(Commit), "until it is there the silence alone counts"
    desk.score_words(0.7, 2310)
    desk.run_to(2315)
    assert (desk.last(Commit).silence_ms, desk.last(Commit).words_score) == (240, 0.7)


def test_words_that_ask_for_more_need_no_score_for_that() -> None:
    desk = words_desk()
    read(desk, "Do you know the...", None)
    desk.run_to(3490)
    assert not desk.all(Commit)
    desk.run_to(3510)
    assert desk.last(Commit).reason == "unfinished words"


def test_one_that_never_comes_costs_the_usual_silence() -> None:
    desk = words_desk()
    read(desk, QUESTION, None)
    desk.run_to(2510)
    assert (desk.last(Commit).reason, desk.last(Commit).silence_ms) == ("silence", 500)


def test_only_other_words_are_scored_anew() -> None:
    desk = words_desk(partial_first_ms=300)
    desk.starts(1000)
    desk.run_to(1310)
    desk.words("What is the capital of France", at_ms=1400)
    assert [order.text for order in desk.all(ScoreWords)] == ["What is the capital of France"]
    desk.score_words(0.8, 1430)
    desk.pauses(2000)
    desk.words(QUESTION, at_ms=2190)
    assert len(desk.all(ScoreWords)) == 1, "a question mark makes no other words"
    desk.run_to(2250)
    assert desk.last(Commit).words_score == 0.8


def test_a_score_of_older_words_is_void() -> None:
    desk = words_desk(partial_first_ms=300)
    desk.starts(1000)
    desk.run_to(1310)
    desk.words("What is", at_ms=1400)
    old = desk.last(ScoreWords)
    desk.pauses(2000)
    desk.words(QUESTION, at_ms=2190)
    desk.tell(WordsScored(old.utterance, old.request, 1.0, 0.0, 0.0), 2195)
    desk.run_to(2400)
    assert not desk.all(Commit)


@pytest.mark.parametrize("overlap", ["none", "clause"])
def test_sequential_modes_score_no_words(overlap: str) -> None:
    desk = words_desk(overlap=overlap)
    desk.speech(1000, 2000)
    desk.run_to(2610)
    desk.words(QUESTION)
    assert desk.all(Commit) and not desk.all(ScoreWords)


def test_staged_gaps_need_no_score() -> None:
    desk = words_desk(staged_gaps_ms=[700.0], partial_first_ms=300)
    desk.starts(1000)
    desk.run_to(1310)
    desk.words("What is the", at_ms=1400)
    desk.pauses(2000)
    assert not desk.all(ScoreWords)
    desk.tell(Fault("words", "the model broke"))
    assert not desk.all(ScoreTurn)


def test_when_the_model_of_words_breaks_the_sound_is_asked_instead() -> None:
    desk = words_desk()
    read(desk, QUESTION, None)
    desk.tell(Fault("words", "the model broke"), 2250)
    desk.score(0.97, at_ms=2300)
    desk.run_to(2310)
    assert (desk.last(Commit).silence_ms, desk.last(Commit).score, desk.last(Commit).words_score) == (240, 0.97, None)
    desk.speech(9000, 9600)
    desk.score(0.97)
    desk.words("It is late.", at_ms=9790)
    assert len(desk.all(ScoreWords)) == 1


def test_with_neither_model_silence_ends_the_turn() -> None:
    desk = words_desk()
    desk.tell(Fault("score", "the model broke"), 500)
    read(desk, "What is the time", 0.03)
    assert not desk.all(ScoreTurn)
    desk.run_to(2000 + RULES.unsure_ms + 10)
    assert len(desk.all(Commit)) == 1
    desk.tell(Fault("words", "the model broke"), 4000)
    read(desk, QUESTION, None, 9000, 9600)
    desk.run_to(10_110)
    assert (desk.last(Commit).reason, desk.last(Commit).silence_ms) == ("silence", 500)


# what this speaker does


def test_a_speaker_with_long_pauses_is_given_more_time_and_one_with_short_pauses_less() -> None:
    usual = waited(QUESTION, 0.5)
    assert waited(QUESTION, 0.5, (900.0,) * 8) > usual > waited(QUESTION, 0.5, (210.0,) * 12)
    assert waited(QUESTION, 0.97, (900.0,) * 12) == 240, "one who is sure is answered at once, whoever spoke"
    assert waited(QUESTION, 0.03, (1990.0,) * 12) <= 1200


def test_one_long_pause_does_not_make_a_slow_speaker() -> None:
    assert waited(QUESTION, 0.6, (1900.0,)) - waited(QUESTION, 0.6) <= 100


def test_pauses_are_learnt_where_the_speaker_went_on() -> None:
    desk = desk_of()
    at_ms = 1000.0
    desk.starts(at_ms)
    for pause_ms in (120, 350, 640):
        desk.pauses(at_ms + 800)
        at_ms += 800 + pause_ms
        desk.starts(at_ms)
    assert desk.state.own_pauses_ms == (350.0, 640.0), "120 ms between two words is no pause for thought"
    for _ in range(20):
        desk.pauses(at_ms + 500)
        at_ms += 900
        desk.starts(at_ms)
    assert desk.state.own_pauses_ms == (400.0,) * RULES.pauses_kept, "the newest, and no more of them than that"


def test_a_turn_taken_back_is_a_cut_off_whose_words_and_pause_are_kept() -> None:
    desk = desk_of()
    said(desk, "How long does it take?", 0.97)
    desk.run_to(2300)
    assert desk.last(Commit).silence_ms == 240
    desk.answer("It takes", " a while.")
    desk.speech(2500, 3300)
    desk.words("to boil an egg?", at_ms=3490)
    assert desk.last(EndTurn).outcome == "cut_off"
    desk.score(0.97, at_ms=3495)
    desk.run_to(4600)
    assert desk.last(Commit).text == "How long does it take? to boil an egg?"
    assert desk.state.own_pauses_ms == (500.0,)


# orders and facts


def test_at_a_pause_the_words_are_asked_for_first_and_the_score_beside_them() -> None:
    desk = desk_of()
    desk.speech(1000, 2000)
    words, score = desk.last(Transcribe), desk.last(ScoreTurn)
    assert desk.orders.index(words) < desk.orders.index(score)
    assert (score.utterance, score.start_sample, score.end_sample) == (1, words.start_sample, words.end_sample)
    assert score.request != words.request


@pytest.mark.parametrize("overlap", ["none", "clause"])
def test_the_other_modes_wait_for_silence_alone(overlap: str) -> None:
    desk = Desk(overlap=overlap, turn_end="model")
    desk.speech(1000, 2000)
    desk.run_to(2600)
    desk.words(QUESTION)
    assert not desk.all(ScoreTurn)
    assert (desk.last(Commit).reason, desk.last(Commit).silence_ms, desk.last(Commit).score) == ("silence", 600, None)


def test_the_order_in_which_score_and_words_come_does_not_matter() -> None:
    for score_ms, words_ms in ((2110, 2190), (2190, 2110)):
        desk = desk_of()
        desk.speech(1000, 2000)
        if score_ms < words_ms:
            desk.score(0.97, at_ms=score_ms)
        desk.words(QUESTION, at_ms=words_ms)
        if score_ms > words_ms:
            desk.score(0.97, at_ms=score_ms)
        desk.run_to(2250)
        assert desk.last(Commit).silence_ms == 240


def test_without_a_score_silence_decides_and_a_score_that_comes_too_late_changes_nothing() -> None:
    desk = desk_of()
    desk.speech(1000, 2000)
    order = desk.last(ScoreTurn)
    desk.words(QUESTION)
    desk.run_to(2510)
    assert (desk.last(Commit).reason, desk.last(Commit).silence_ms) == ("silence", 500)
    late = TurnScored(order.utterance, order.request, order.start_sample, order.end_sample, 0.02, 2500.0, 300.0)
    assert not desk.tell(late, 2600)


def test_words_that_come_later_than_the_wait_are_committed_at_once() -> None:
    desk = desk_of()
    desk.speech(1000, 2000)
    desk.score(0.97)
    desk.words(QUESTION, at_ms=2900)
    desk.run_to(2901)
    assert desk.all(Commit)


def test_the_score_of_an_older_pause_is_void() -> None:
    desk = desk_of()
    desk.speech(1000, 2000)
    old = desk.last(ScoreTurn)
    desk.starts(2300)
    fact = TurnScored(old.utterance, old.request, old.start_sample, old.end_sample, 0.99, 2100.0, 0.0)
    assert not desk.tell(fact, 2380)
    desk.pauses(2900)
    assert desk.last(ScoreTurn).request != old.request
    assert not desk.tell(fact, 3010)
    desk.words("It was a", at_ms=3090)
    desk.run_to(3300)
    assert not desk.all(Commit)


def test_doubtful_words_are_no_reason_to_hurry() -> None:
    desk = desk_of()
    desk.speech(1000, 2000)
    desk.score(0.97)
    desk.words("Thank you.", doubt="invented", at_ms=2150)
    assert {order.due_ms for order in desk.all(WakeAt) if order.why == "endpoint"} == {2500}


def test_a_broken_model_is_not_asked_again_and_turns_end_by_silence() -> None:
    desk = desk_of()
    desk.speech(1000, 2000)
    desk.tell(Fault("score", "The end-of-turn network failed."), 2130)
    desk.words(QUESTION, at_ms=2190)
    desk.run_to(2510)
    assert desk.last(Commit).reason == "silence"
    desk.speech(3000, 3400)
    assert len(desk.all(ScoreTurn)) == 1
    desk.tell(StopAsked("user"))


def test_the_surest_words_and_the_heaviest_score_are_waited_for_the_least_and_no_less() -> None:
    rules = Policy(score_weight=10.0, words_odds=1000.0)
    wait = patience.wait_for(rules, rules.silence_ms, 1.0, Words(QUESTION), ())
    assert wait.ms == rules.sure_ms


def test_weights_beyond_any_measure_still_give_a_wait() -> None:
    rules = Policy(words_weight=1e9, beside_score_weight=1e9, even_words=1e-300)
    assert patience.wait_for(rules, rules.silence_ms, 1.0, Words(QUESTION, score=1.0), ()).ms == rules.sure_ms
    assert patience.wait_for(rules, rules.silence_ms, 0.0, Words(QUESTION, score=0.5), ()).ms <= rules.unsure_ms


def test_the_model_can_be_asked_when_the_words_are_nearly_read_and_not_if_the_speaker_goes_on() -> None:
    desk = desk_of(score_after_ms=200.0)
    desk.speech(1000, 2000)
    assert not desk.all(ScoreTurn), "noticed after 100 ms"
    desk.run_to(2200)
    words, score = desk.last(Transcribe), desk.last(ScoreTurn)
    assert (score.start_sample, score.end_sample) == (words.start_sample, words.end_sample)
    desk.starts(2250)
    desk.pauses(3000)
    desk.starts(3100)
    desk.run_to(3600)
    assert len(desk.all(ScoreTurn)) == 1
