"""Staged gaps, by the rules alone: a ready-made reply is due exactly one gap after the user's end."""

from __future__ import annotations

import pytest

from tests.rules.desk import Desk
from voicetui.events import Basis
from voicetui.events.orders import (
    STAGED,
    Cancel,
    Commit,
    Cut,
    Duck,
    EndTurn,
    Generate,
    OpenUtterance,
    Pause,
    Play,
    QuickenEar,
    Reject,
    Revise,
    Synthesize,
    Transcribe,
)
from voicetui.events.reply import GenerationFailed
from voicetui.events.session import GapStaged, OverlapChosen, Ready, Said

QUESTION = "What is the capital of France?"
REPLY = "It is Paris."


def staged(*gaps_ms: float, **options: str) -> Desk:
    """A desk at which these gaps are staged from the start, and models are ready."""
    desk = Desk(staged_gaps_ms=list(gaps_ms), **options)
    desk.tell(Ready({}))
    return desk


def asked(desk: Desk, start_ms: float, end_ms: float) -> Basis:
    """The user says something; its reply is ready by the end."""
    desk.starts(start_ms)
    basis = desk.answer(REPLY)
    desk.synthesize()
    desk.pauses(end_ms)
    return basis


def turn(desk: Desk, start_ms: float, end_ms: float) -> Basis:
    """A whole turn, heard out."""
    basis = asked(desk, start_ms, end_ms)
    desk.run_to(end_ms + 6000)
    desk.hear_out(basis)
    return basis


def test_the_reply_is_made_while_the_user_speaks_in_one_piece_and_without_words() -> None:
    desk = staged(700)
    desk.starts(1000)
    order = desk.last(Generate)
    assert (order.tier, order.messages, order.speculative) == (STAGED, (), True)
    desk.answer("It is Paris.", " I am sure.")
    assert [order.spoken for order in desk.all(Synthesize)] == ["It is Paris. I am sure."]
    desk.synthesize()
    assert not desk.all(Play)


@pytest.mark.parametrize("mode", ["none", "clause", "full"])
@pytest.mark.parametrize(("gap_ms", "committed_ms", "given_ms"), [(200, 0, 0), (700, 500, 500), (1500, 500, 1300)])
def test_a_turn_is_committed_without_words_and_its_reply_due_one_gap_after_the_end(
    mode: str, gap_ms: float, committed_ms: float, given_ms: float
) -> None:
    """Commit and speaker get theirs as late as the real pipeline's silence and the speaker's needs allow."""
    desk = staged(gap_ms, overlap=mode)
    basis = asked(desk, 1000, 2000)
    for ms in range(0, 2000, 10):
        desk.run_to(max(desk.now_ms, 2000 + ms))
        noticed = ms <= 100
        if ms < committed_ms and not noticed:
            assert not desk.all(Commit)
        if ms < given_ms and not noticed:
            assert not desk.all(Play)
    commit = desk.last(Commit)
    assert (commit.basis, commit.reason, commit.silence_ms) == (basis, STAGED, committed_ms)
    (play,) = desk.all(Play)
    assert (play.basis, play.due_ms) == (basis, 2000 + gap_ms)
    assert len(desk.all(Generate)) == 1


def test_a_reply_that_is_not_ready_in_time_is_given_to_the_speaker_when_it_is() -> None:
    desk = staged(200)
    desk.speech(1000, 2000)
    desk.run_to(3000)
    assert not desk.all(Play)
    desk.answer(REPLY)
    desk.synthesize()
    assert desk.last(Play).due_ms == 2200


def test_the_words_come_later_for_the_screen_and_the_history() -> None:
    desk = staged(200)
    basis = asked(desk, 1000, 2000)
    assert desk.last(Commit).text == ""
    desk.words(QUESTION)
    revise = desk.last(Revise)
    assert (revise.text, revise.final) == (QUESTION, True)
    desk.hear_out(basis)
    assert desk.last(EndTurn).outcome == "completed"
    assert [(each.user, each.assistant) for each in desk.state.history] == [(QUESTION, REPLY)]
    assert len(desk.all(OpenUtterance)) == len(desk.all(Commit)) == 1


def test_words_that_are_known_in_time_are_committed_and_noise_is_no_turn() -> None:
    desk = staged(700)
    asked(desk, 1000, 2000)
    desk.words(QUESTION)
    desk.run_to(2500)
    assert desk.last(Commit).text == QUESTION
    noise = staged(700)
    asked(noise, 1000, 2000)
    noise.words("", doubt="noise")
    noise.run_to(4000)
    assert noise.last(Reject).reason == "noise"
    assert noise.last(Cancel).basis == noise.last(Generate).basis
    assert not noise.all(Play)


def test_words_that_ask_for_more_do_not_prolong_the_gap() -> None:
    desk = staged(700)
    asked(desk, 1000, 2000)
    desk.words("I want to reset the")
    desk.run_to(2700)
    assert desk.last(Play).due_ms == 2700


def test_gaps_take_turns_and_a_new_choice_begins_anew() -> None:
    desk = staged(200, 1400)
    for number in range(3):
        turn(desk, 10_000 * number + 1000, 10_000 * number + 2000)
    desk.tell(GapStaged((700.0,)))
    turn(desk, 41_000, 42_000)
    desk.tell(GapStaged((1400.0, 200.0)))
    turn(desk, 51_000, 52_000)
    due = [(order.due_ms or 0) % 10_000 - 2000 for order in desk.all(Play)]
    assert due == [200, 1400, 200, 700, 1400]


def test_switched_off_the_real_pipeline_answers_and_switched_on_the_ready_made_reply() -> None:
    desk = Desk()
    real = desk.turn(QUESTION, "It is Paris.")
    desk.hear_out(real)
    desk.tell(GapStaged((700.0,)))
    turn(desk, 20_000, 21_000)
    desk.tell(GapStaged(()))
    desk.hear_out(desk.turn(QUESTION, "It is Paris.", start_ms=30_000))
    assert [order.tier for order in desk.all(Generate)] == ["local", STAGED, "local"]
    assert [order.reason for order in desk.all(Commit)] == ["silence", STAGED, "silence"]
    assert [order.due_ms for order in desk.all(Play)] == [None, 21_700, None]


def test_switched_while_the_user_speaks_the_draft_is_void_and_the_turn_is_the_new_kind() -> None:
    desk = staged(700)
    desk.starts(1000)
    ready_made = desk.answer(REPLY)
    desk.tell(GapStaged(()))
    assert [order.basis for order in desk.all(Cancel)] == [ready_made]
    desk.pauses(2000)
    desk.words(QUESTION)
    desk.run_to(2500)
    assert (desk.last(Commit).reason, desk.last(Generate).tier) == ("silence", "local")
    desk.tell(GapStaged((700.0,)))
    desk.run_to(2600)
    assert desk.last(Commit).basis.turn == 1, "a turn that is committed keeps its reply"


def test_a_typed_turn_is_answered_by_the_real_tier() -> None:
    desk = staged(700)
    desk.tell(Said("Hello"))
    assert (desk.last(Commit).reason, desk.last(Generate).tier) == ("typed", "local")
    assert desk.last(Generate).messages[-1].text == "Hello"


def test_the_caller_who_goes_on_takes_the_turn_back() -> None:
    """A pause inside a sentence, longer than the silence that was waited for: nothing of the reply is heard."""
    desk = staged(1500)
    basis = asked(desk, 1000, 2000)
    desk.words("I want to know")
    desk.run_to(2600)
    assert desk.last(Commit).basis == basis
    desk.speech(2700, 3500)
    desk.words("what is the capital of France?")
    assert desk.last(EndTurn).outcome == "cut_off"
    assert not desk.all(Play)
    desk.answer(REPLY)
    desk.synthesize()
    desk.run_to(5000)
    assert desk.last(Commit).text == "I want to know what is the capital of France?"
    assert desk.last(Play).due_ms == 3500 + 1500


def test_the_caller_who_asks_again_collides_and_the_answer_waits_for_the_second_question() -> None:
    """As real callers do after a second and a half: they begin just before the reply does."""
    desk = staged(1500)
    basis = asked(desk, 1000, 2000)
    desk.words(QUESTION)
    desk.run_to(3400)
    assert desk.last(Play).due_ms == 3500
    desk.starts(3470)
    desk.hear(basis, at_ms=3500)
    desk.run_to(3700)
    assert [type(order) for order in desk.orders if isinstance(order, (Duck, Pause))] == [Duck, Pause]
    desk.pauses(4300)
    desk.words("Hello? Are you there?")
    assert desk.last(Cut).basis == basis
    desk.silent(basis, "")
    assert desk.last(EndTurn).outcome == "superseded"
    desk.answer(REPLY)
    desk.synthesize()
    desk.run_to(6000)
    assert desk.last(Commit).text == f"{QUESTION} Hello? Are you there?"
    assert desk.last(Play).due_ms == 4300 + 1500


def test_a_cough_while_waiting_does_not_cost_the_reply() -> None:
    desk = staged(1500)
    asked(desk, 1000, 2000)
    desk.words(QUESTION)
    desk.speech(2600, 2700)
    desk.run_to(2900)
    desk.words("", doubt="noise", at_ms=2900)
    assert desk.last(Reject).reason == "noise"
    desk.run_to(4000)
    assert [order.due_ms for order in desk.all(Play)] == [3500]


def test_a_ready_made_reply_that_fails_is_tried_again_and_the_turn_ends() -> None:
    desk = staged(700)
    desk.starts(1000)
    for _ in range(desk.state.policy.attempts):
        desk.tell(GenerationFailed(desk.last(Generate).basis, "provider", "broken"))
    assert len(desk.all(Generate)) == desk.state.policy.attempts
    desk.pauses(2000)
    desk.run_to(2500)
    desk.tell(GenerationFailed(desk.last(Commit).basis, "provider", "broken"))
    assert desk.last(EndTurn).outcome == "failed"


def test_the_ear_is_quick_only_while_a_short_gap_is_staged() -> None:
    assert not staged().all(QuickenEar)
    desk = staged(200, 1400)
    assert [order.on for order in desk.all(QuickenEar)] == [True]
    for gaps_ms in ((200.0,), (700.0,), (1500.0,), (300.0,), ()):
        desk.tell(GapStaged(gaps_ms))
    assert [order.on for order in desk.all(QuickenEar)] == [True, False, True, False]


def test_partial_transcripts_go_on_for_the_screen() -> None:
    desk = staged(200)
    desk.starts(1000)
    desk.run_to(1800)
    assert desk.all(Transcribe) and not desk.last(Transcribe).final
    desk.words("What is the")
    desk.answer(REPLY)
    desk.pauses(2600)
    assert desk.last(Commit).text == "What is the"


def test_the_ear_is_quick_where_work_begins_at_a_pause_and_calm_where_silence_decides() -> None:
    desk = Desk(quick_pauses=True)
    desk.tell(Ready({}), 0)
    assert desk.last(QuickenEar).on
    desk.tell(OverlapChosen("clause"), 1)
    assert not desk.last(QuickenEar).on
    desk.tell(OverlapChosen("full"), 2)
    assert desk.last(QuickenEar).on
    desk.tell(GapStaged((700.0,)), 3)
    assert not desk.last(QuickenEar).on, "a staged reply is ready long before"
    desk.tell(GapStaged(()), 4)
    assert desk.last(QuickenEar).on and len(desk.all(QuickenEar)) == 5
