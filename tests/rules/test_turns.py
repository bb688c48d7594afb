"""A turn from the first word to the last, by the rules alone."""

from __future__ import annotations

import pytest

from tests.rules.desk import Desk
from voicetui.events.orders import (
    BargeIn,
    Cancel,
    Commit,
    Cut,
    Duck,
    EndSession,
    EndTurn,
    FinishPlayback,
    GateMic,
    Generate,
    OpenUtterance,
    Pause,
    Play,
    Reject,
    Resume,
    Revise,
    Synthesize,
    Transcribe,
)
from voicetui.events.reply import GenerationEnded, GenerationFailed
from voicetui.events.session import InterruptAsked, Muted, OverlapChosen, Said, StopAsked, TalkKey, TierChosen
from voicetui.events.sound import DeviceLost


def roles(order: Generate) -> list[str]:
    return [message.role for message in order.messages]


def test_a_turn_is_committed_after_the_silence_and_answered_clause_by_clause() -> None:
    desk = Desk()
    desk.speech(1000, 2000)
    assert desk.last(OpenUtterance).turn == 1
    assert desk.last(Transcribe).final
    desk.words("What is the capital of France?")
    assert desk.last(Generate).speculative
    assert not desk.all(Commit)
    desk.run_to(2500)
    commit = desk.last(Commit)
    assert commit.text == "What is the capital of France?"
    assert commit.silence_ms == 500
    assert commit.basis == desk.last(Generate).basis
    assert len(desk.all(Generate)) == 1
    basis = desk.answer("The capital of France", " is Paris.")
    assert [order.clause for order in desk.all(Synthesize)] == [0]
    desk.synthesize()
    assert [order.clause for order in desk.all(Play)] == [0, 1]
    assert desk.all(FinishPlayback)
    desk.hear_out(basis)
    assert desk.last(EndTurn).outcome == "completed"
    assert desk.last(EndTurn).heard_text == "The capital of France is Paris."


def test_nothing_of_a_draft_is_played_before_its_commit() -> None:
    desk = Desk()
    desk.speech(1000, 2000)
    desk.words("What is the capital of France?")
    desk.answer("The capital of France", " is Paris.")
    desk.synthesize()
    assert not desk.all(Play)
    assert [order.clause for order in desk.all(Synthesize)] == [0], "of a draft, only the first clause"
    desk.run_to(2500)
    assert [order.clause for order in desk.all(Play)] == [0]


@pytest.mark.parametrize("mode", ["none", "clause"])
def test_without_full_overlap_everything_waits_for_the_silence(mode: str) -> None:
    desk = Desk(overlap=mode)
    desk.speech(1000, 2000)
    assert not [order for order in desk.all(Transcribe) if order.final]
    desk.run_to(2600)
    assert desk.last(Transcribe).final
    assert desk.last(Transcribe).window == "padded"
    assert not desk.all(Generate)
    desk.words("What is the capital of France?")
    assert desk.last(Commit).silence_ms == 600
    basis = desk.answer("The capital of France", " is Paris.", ended=False)
    assert bool(desk.all(Synthesize)) == (mode == "clause")
    desk.tell(GenerationEnded(basis, "complete", 2, 10, 10, False))
    if mode == "none":
        assert desk.last(Synthesize).spoken == "The capital of France is Paris."
    desk.synthesize()
    desk.hear_out(basis)
    assert desk.last(EndTurn).heard_text == "The capital of France is Paris."


def test_full_overlap_hears_finals_through_a_window_as_long_as_the_sound() -> None:
    desk = Desk()
    desk.speech(1000, 2000)
    assert desk.last(Transcribe).final
    assert desk.last(Transcribe).window == "short"


def test_a_resumed_utterance_is_one_turn_with_all_words() -> None:
    desk = Desk()
    desk.speech(1000, 2000)
    desk.words("I want to reset the")
    desk.run_to(2850)
    assert not desk.all(Commit), "a trailing article asks for more"
    desk.speech(2900, 3100)
    desk.words("I want to reset the, uh")
    desk.speech(3800, 4300)
    desk.words("I want to reset the, uh, panel.")
    desk.run_to(4800)
    assert [order.text for order in desk.all(Commit)] == ["I want to reset the, uh, panel."]
    drafts = [order.basis for order in desk.all(Generate)]
    assert desk.last(Commit).basis == drafts[-1]
    assert {order.basis for order in desk.all(Cancel)} == set(drafts[:-1])


def test_a_finished_sentence_is_committed_at_the_short_delay() -> None:
    desk = Desk()
    desk.speech(1000, 1500)
    desk.words("That is all.")
    desk.run_to(2000)
    assert desk.last(Commit).text == "That is all."


def test_case_and_punctuation_keep_a_draft_other_words_void_it() -> None:
    desk = Desk()
    desk.speech(1000, 2000)
    desk.words("what's the weather")
    desk.speech(2300, 2350)
    desk.words("What's the weather?")
    desk.run_to(3000)
    assert len(desk.all(Generate)) == 1
    assert not desk.all(Cancel)
    assert desk.last(Commit).text == "What's the weather?"

    desk = Desk()
    desk.speech(1000, 2000)
    desk.words("what's the weather")
    desk.speech(2300, 2800)
    desk.words("what's the weather in Paris")
    desk.run_to(3400)
    first, second = desk.all(Generate)
    assert [order.basis for order in desk.all(Cancel)] == [first.basis]
    assert desk.last(Commit).basis == second.basis
    assert second.messages[-1].text == "what's the weather in Paris"


def test_drafts_of_one_utterance_are_limited() -> None:
    desk = Desk(attempts=3)
    text = "tell me"
    desk.speech(1000, 2000)
    desk.words(text)
    at_ms = 2300.0
    for word in ("one", "two", "three", "four", "five", "six"):
        text += " " + word
        desk.speech(at_ms, at_ms + 300)
        desk.words(text)
        at_ms += 700
    desk.run_to(at_ms + 600)
    assert sum(order.speculative for order in desk.all(Generate)) == 3
    committed = desk.last(Commit)
    assert committed.text == text
    assert [order for order in desk.all(Generate) if order.basis == committed.basis]


def test_revision_rises_only_when_the_words_change() -> None:
    desk = Desk()
    desk.starts(1000)
    desk.run_to(1800)
    desk.words("hello")
    desk.run_to(2500)
    desk.words("Hello.")
    desk.run_to(3200)
    desk.words("hello world")
    assert [(order.revision, order.text) for order in desk.all(Revise)] == [(1, "hello"), (2, "hello world")]


def test_one_partial_at_a_time_and_none_after_the_pause() -> None:
    desk = Desk()
    desk.starts(1000)
    desk.run_to(4000)
    assert len(desk.all(Transcribe)) == 1, "the first is still being made"
    desk.words("so far")
    desk.run_to(4800)
    assert len(desk.all(Transcribe)) == 2
    desk.pauses(4850)
    assert desk.last(Transcribe).final
    desk.words("so far so good")
    count = len(desk.all(Transcribe))
    desk.run_to(9000)
    assert len(desk.all(Transcribe)) == count


@pytest.mark.parametrize(
    ("text", "doubt"), [("", ""), ("...", ""), ("Thank you.", "invented"), ("you you you", "repetition")]
)
def test_no_words_or_invented_words_are_no_turn(text: str, doubt: str) -> None:
    desk = Desk()
    desk.speech(1000, 1400)
    desk.words(text, doubt)
    desk.run_to(5000)
    assert not desk.all(Commit)
    assert not desk.all(Generate)
    assert desk.last(Reject).reason == (doubt or "no words")
    desk.speech(6000, 6500)
    desk.words("Hello there.")
    desk.run_to(7100)
    assert desk.last(Commit).basis.turn == 1


def test_pre_roll_reaches_back_before_the_onset_but_not_before_the_start() -> None:
    desk = Desk()
    desk.speech(1000, 1400)
    assert desk.last(Transcribe).start_sample == 16_000 - 4_800
    desk = Desk()
    desk.speech(100, 900)
    assert desk.last(Transcribe).start_sample == 0


def test_the_next_request_holds_what_was_heard_and_each_user_text_once() -> None:
    desk = Desk()
    desk.hear_out(desk.turn("One?", "First answer."))
    desk.hear_out(desk.turn("Two?", "Second answer."))
    desk.turn("Three?", "Third.")
    order = desk.last(Generate)
    assert roles(order) == ["system", "user", "assistant", "user", "assistant", "user"]
    assert [message.text for message in order.messages[1:]] == [
        "One?",
        "First answer.",
        "Two?",
        "Second answer.",
        "Three?",
    ]


def test_history_is_trimmed_in_blocks_so_that_the_prefix_stays() -> None:
    desk = Desk(history_exchanges=4)
    prefixes = []
    for number in range(12):
        desk.hear_out(desk.turn(f"Question {number}?", f"Answer {number}."))
        prefixes.append(desk.last(Generate).messages[1].text)
    assert len(set(prefixes)) <= 5
    assert all(len(order.messages) <= 2 + 2 * 4 for order in desk.all(Generate))


# speech over the reply


def test_a_bid_ducks_pauses_cuts_and_only_what_was_heard_is_remembered() -> None:
    desk = Desk()
    basis = desk.turn("Why is the sky blue?", "The sky is blue because", " of scattering.")
    start = desk.now_ms + 1500
    desk.run_to(start)
    desk.starts(start)
    assert desk.last(Duck).basis == basis
    assert not desk.all(Cut)
    desk.run_to(start + 200)
    assert desk.last(Pause).basis == basis
    desk.run_to(start + 460)
    desk.words("Stop")
    assert not desk.all(BargeIn), "one word of a partial may be a cough; the reply is silent already"
    desk.run_to(start + 1100)
    desk.words("Stop what")
    assert desk.last(BargeIn).kind == "bid"
    assert desk.last(BargeIn).onset_ms == start
    assert desk.last(Cut).basis == basis
    assert desk.last(Cancel).basis == basis
    assert not desk.all(EndTurn), "it is not known yet what was heard"
    desk.silent(basis, "The sky is blue")
    assert desk.last(EndTurn).outcome == "interrupted"
    desk.pauses(start + 1500)
    desk.words("Stop. What is the capital of Japan?")
    desk.run_to(start + 2200)
    assert [m.text for m in desk.last(Generate).messages[1:]] == [
        "Why is the sky blue?", "The sky is blue", "Stop. What is the capital of Japan?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "doubt", "kind"),
    [
        ("Mm-hmm.", "", "backchannel"),
        ("Yeah, okay.", "", "backchannel"),
        ("", "", "noise"),
        ("Thanks.", "no speech", "noise"),
    ],
)
def test_a_backchannel_or_noise_gives_the_voice_back_and_is_no_turn(text: str, doubt: str, kind: str) -> None:
    desk = Desk()
    basis = desk.turn("Why is the sky blue?", "The sky is blue because", " of scattering.")
    start = desk.now_ms + 1000
    desk.speech(start, start + 400)
    desk.words(text, doubt)
    assert desk.last(BargeIn).kind == kind
    assert desk.last(Resume).basis == basis
    assert desk.last(Reject)
    assert not desk.all(Cut)
    desk.hear_out(basis)
    assert desk.last(EndTurn).outcome == "completed"
    assert len(desk.all(Commit)) == 1


def test_a_reply_that_ended_just_before_its_cut_was_heard_whole() -> None:
    desk = Desk()
    basis = desk.turn("Why?", "Because", " of that.")
    start = desk.now_ms + 500
    desk.speech(start, start + 600)
    desk.words("Tell me about the moon.")
    from voicetui.events.speak import PlaybackFinished

    desk.tell(PlaybackFinished(basis))
    assert desk.last(EndTurn).heard_text == "Because of that."
    desk.run_to(start + 2000)
    assert desk.last(Commit).text == "Tell me about the moon."


def test_yeah_stop_is_a_bid_and_yes_while_idle_is_a_turn() -> None:
    desk = Desk()
    desk.turn("Why is the sky blue?", "The sky is blue because")
    start = desk.now_ms + 1000
    desk.speech(start, start + 500)
    desk.words("Yeah, stop.")
    assert desk.last(BargeIn).kind == "bid"
    desk = Desk()
    desk.speech(1000, 1300)
    desk.words("Yes.")
    desk.run_to(1900)
    assert desk.last(Commit).text == "Yes."


def test_long_speech_over_the_reply_is_a_bid_whatever_its_words() -> None:
    desk = Desk()
    basis = desk.turn("Why?", "The sky is blue because", " of scattering.")
    start = desk.now_ms + 500
    desk.starts(start)
    desk.run_to(start + 1500)
    assert desk.last(Cut).basis == basis


@pytest.mark.parametrize("doubt", ["", "no speech", "invented"])
def test_long_speech_that_was_read_and_has_no_words_holds_the_reply_and_cuts_nothing(doubt: str) -> None:
    desk = Desk()
    basis = desk.turn("Why?", "The sky is blue because", " of scattering.")
    start = desk.now_ms + 500
    desk.starts(start)
    desk.run_to(start + 500)
    desk.words("Hm hm." if doubt else "", doubt=doubt)
    desk.pauses(start + 3000)
    assert not desk.all(Cut) and not desk.all(Resume)
    desk.run_to(start + 3150)
    desk.words("Hm hm." if doubt else "", doubt=doubt)
    assert not desk.all(Cut) and desk.last(Resume).basis == basis


def test_the_new_reply_waits_until_the_old_one_is_silent() -> None:
    desk = Desk()
    basis = desk.turn("Why?", "The sky is blue because", " of scattering.")
    start = desk.now_ms + 500
    desk.speech(start, start + 600)
    desk.words("Tell me about the moon.")
    assert desk.last(Cut).basis == basis
    desk.run_to(start + 2000)
    assert len(desk.all(Commit)) == 1
    desk.silent(basis, "The sky")
    assert len(desk.all(Commit)) == 2


def test_words_before_the_answer_is_heard_take_the_turn_back_and_lose_nothing() -> None:
    desk = Desk()
    desk.speech(1000, 1500)
    desk.words("No.")
    desk.run_to(2000)
    first = desk.last(Commit).basis
    desk.speech(2300, 2900)
    desk.words("Date needed now.")
    assert desk.last(EndTurn).outcome == "cut_off"
    assert desk.last(Cancel).basis == first
    desk.run_to(3500)
    assert desk.last(Commit).text == "No. Date needed now."
    assert desk.last(Commit).basis.turn == 2
    assert not desk.all(Play)


def test_calling_again_after_a_long_wait_supersedes_the_turn() -> None:
    desk = Desk()
    desk.speech(1000, 1500)
    desk.words("What is the capital of France?")
    desk.run_to(2000)
    desk.speech(3200, 3900)
    desk.words("Hello? Are you there?")
    assert desk.last(EndTurn).outcome == "superseded"
    desk.run_to(4500)
    assert desk.last(Commit).text == "What is the capital of France? Hello? Are you there?"


def test_noise_while_thinking_holds_the_reply_and_then_lets_it_be_heard() -> None:
    desk = Desk()
    desk.speech(1000, 1500)
    desk.words("What is the capital of France?")
    desk.run_to(2000)
    desk.starts(2100)
    desk.answer("Paris.")
    desk.synthesize()
    assert not desk.all(Play)
    desk.pauses(2200)
    desk.words("", "no speech")
    assert desk.all(Play)


def test_a_bid_before_anything_was_heard_carries_the_question_over() -> None:
    desk = Desk()
    desk.speech(1000, 1500)
    desk.words("What is the capital of France?")
    desk.run_to(2000)
    basis = desk.answer("Paris.")
    desk.synthesize()
    desk.speech(2100, 2900)
    desk.words("and of Italy")
    desk.silent(basis, "")
    assert desk.last(EndTurn).outcome == "cut_off"
    desk.run_to(3600)
    assert desk.last(Commit).text == "What is the capital of France? and of Italy"


def test_half_duplex_shuts_the_microphone_while_the_reply_is_heard() -> None:
    desk = Desk(duplex="half")
    basis = desk.turn("Why?", "Because.")
    assert [order.closed for order in desk.all(GateMic)] == [True]
    desk.hear_out(basis)
    desk.run_to(desk.now_ms + 200)
    assert [order.closed for order in desk.all(GateMic)] == [True, False]


# hands


def test_the_interrupt_key_silences_the_reply() -> None:
    desk = Desk()
    basis = desk.turn("Why?", "Because", " of that.")
    desk.tell(InterruptAsked())
    assert desk.last(BargeIn).kind == "key"
    assert desk.last(Cut).basis == basis
    desk.silent(basis, "Because")
    assert desk.last(EndTurn).outcome == "interrupted"


def test_a_typed_turn_has_no_utterance_and_takes_the_floor() -> None:
    desk = Desk()
    basis = desk.turn("Why?", "Because", " of that.")
    desk.tell(Said("What about Paris?"))
    assert desk.last(Cut).basis == basis
    assert len(desk.all(Commit)) == 1
    desk.silent(basis, "Because")
    commit = desk.last(Commit)
    assert (commit.utterance, commit.text, commit.reason) == (None, "What about Paris?", "typed")


def test_a_muted_microphone_opens_no_utterance() -> None:
    desk = Desk()
    desk.starts(1000)
    desk.tell(Muted(True))
    assert desk.last(Reject).reason == "muted"
    desk.starts(2000)
    assert len(desk.all(OpenUtterance)) == 1


def test_releasing_the_talk_key_commits_without_waiting() -> None:
    desk = Desk()
    desk.tell(TalkKey(True), 900)
    desk.starts(1000)
    desk.pauses(1500)
    desk.words("One thing")
    desk.run_to(3000)
    assert not desk.all(Commit), "a held key means: not yet"
    desk.starts(3100)
    desk.tell(TalkKey(False), 3600)
    desk.pauses(3600)
    desk.words("One thing more")
    assert (desk.last(Commit).reason, desk.last(Commit).text) == ("key", "One thing more")


def test_the_next_turn_uses_a_chosen_tier_and_mode_and_a_draft_is_void() -> None:
    desk = Desk()
    desk.speech(1000, 2000)
    desk.words("What is the capital of France?")
    draft = desk.last(Generate)
    desk.tell(TierChosen("other"))
    assert desk.last(Cancel).basis == draft.basis
    desk.run_to(2600)
    assert desk.last(Generate).tier == "other"
    desk.tell(OverlapChosen("none"))
    assert desk.state.setting.overlap == "none"


def test_stopping_waits_for_what_was_heard_and_then_ends() -> None:
    desk = Desk()
    basis = desk.turn("Why?", "Because", " of that.")
    desk.tell(StopAsked("user"))
    assert not desk.all(EndSession)
    desk.silent(basis, "Because")
    assert desk.last(EndTurn).heard_text == "Because"
    assert desk.last(EndSession).why == "user"
    idle = Desk()
    idle.tell(StopAsked("user"))
    assert idle.all(EndSession)


def test_stopping_does_not_wait_for_a_speaker_that_says_nothing() -> None:
    desk = Desk()
    desk.turn("Why?", "Because", " of that.")
    desk.tell(StopAsked("user"))
    desk.run_to(desk.now_ms + 600)
    assert desk.all(EndTurn)
    assert desk.all(EndSession)


# failures


def test_a_dead_tier_fails_the_turn_with_its_sentence_and_the_session_goes_on() -> None:
    desk = Desk()
    desk.speech(1000, 1500)
    desk.words("Hello there.")
    desk.run_to(2200)
    desk.tell(GenerationFailed(desk.last(Generate).basis, "connect", "nobody answers at localhost"))
    assert (desk.last(EndTurn).outcome, desk.last(EndTurn).reason) == ("failed", "nobody answers at localhost")
    desk.hear_out(desk.turn("Again?", "Fine."))
    assert desk.last(EndTurn).outcome == "completed"
    assert roles(desk.last(Generate)) == ["system", "user"], "the failed pair is left out"


def test_a_failed_draft_is_tried_again_at_the_commit() -> None:
    desk = Desk()
    desk.speech(1000, 2000)
    desk.words("What is the capital of France?")
    desk.tell(GenerationFailed(desk.last(Generate).basis, "connect", "nobody answers"))
    assert not desk.all(EndTurn)
    desk.run_to(2600)
    assert [order.speculative for order in desk.all(Generate)] == [True, False]


def test_what_was_cut_before_a_failure_is_still_spoken() -> None:
    desk = Desk()
    desk.speech(1000, 2000)
    desk.words("What is the capital of France?")
    desk.run_to(2600)
    basis = desk.answer("The capital of France", ended=False)
    desk.tell(GenerationFailed(basis, "idle", "the tier fell silent"))
    desk.synthesize()
    desk.hear_out(basis)
    end = desk.last(EndTurn)
    assert (end.outcome, end.heard_text, end.reason) == ("failed", "The capital of France", "the tier fell silent")


def test_an_empty_answer_fails_and_one_with_nothing_to_say_is_unanswered() -> None:
    desk = Desk()
    desk.speech(1000, 2000)
    desk.words("Hello there.")
    desk.run_to(2600)
    desk.tell(GenerationEnded(desk.last(Generate).basis, "empty", 0, None, None, False))
    assert desk.last(EndTurn).outcome == "failed"

    from voicetui.events.reply import ClauseCut

    desk.speech(4000, 5000)
    desk.words("Hello again.")
    desk.run_to(5600)
    basis = desk.last(Generate).basis
    desk.tell(ClauseCut(basis, 0, "```code```", ""))
    desk.tell(GenerationEnded(basis, "complete", 1, 5, 5, False))
    assert desk.last(EndTurn).outcome == "unanswered"


def test_a_lost_speaker_fails_the_turn_and_a_lost_microphone_closes_the_utterance() -> None:
    desk = Desk()
    basis = desk.turn("Why?", "Because", " of that.")
    desk.tell(DeviceLost("output", "USB Headset", "it was unplugged"))
    desk.silent(basis, "Because")
    assert desk.last(EndTurn).outcome == "failed"
    assert "USB Headset" in desk.last(EndTurn).reason
    desk.starts(desk.now_ms + 100)
    desk.tell(DeviceLost("input", "USB Headset", "it was unplugged"))
    assert desk.last(Reject).reason == "failed"


def test_two_ends_of_turn_or_a_repeated_final_give_one_reply() -> None:
    desk = Desk()
    desk.speech(1000, 2000)
    desk.words("What is the capital of France?")
    final = desk.last(Transcribe)
    desk.run_to(2500)
    desk.words("What is the capital of France?")
    desk.run_to(2700)
    assert final == desk.last(Transcribe)
    assert len(desk.all(Commit)) == 1
    assert len(desk.all(Generate)) == 1
