"""Words read unsurely are no turn by themselves, and lose nothing: what soon follows is read together with them."""

from __future__ import annotations

import pytest

from tests.rules.desk import Desk
from voicetui.conversation.words import hushes
from voicetui.events.orders import BargeIn, Commit, Cut, Reject, Resume, Transcribe

PREROLL_SAMPLES = 300 * 16


def over_a_reply() -> tuple[Desk, float]:
    desk = Desk()
    desk.turn("Tell me a story.", "Once upon a time there was a king", " who had three daughters.")
    return desk, desk.now_ms + 500


def test_speech_that_goes_on_soon_after_doubted_words_is_read_with_them() -> None:
    desk, start = over_a_reply()
    desk.speech(start, start + 380)
    desk.words("start", doubt="unsure")
    assert [order.reason for order in desk.all(Reject)] == ["unsure"]
    desk.speech(start + 560, start + 1800)
    assert desk.last(Transcribe).start_sample == int(start * 16) - PREROLL_SAMPLES
    desk.words("Stop. What is the capital of Japan?")
    assert [order.kind for order in desk.all(BargeIn)] == ["noise", "bid"]
    desk.silent(desk.last(Cut).basis, "Once upon")
    desk.run_to(start + 3000)
    assert desk.last(Commit).text == "Stop. What is the capital of Japan?"


@pytest.mark.parametrize(("doubt", "later_ms"), [("unsure", 1400.0), ("invented", 560.0), ("no speech", 560.0)])
def test_what_comes_long_after_or_after_no_speech_is_read_alone(doubt: str, later_ms: float) -> None:
    desk, start = over_a_reply()
    desk.speech(start, start + 380)
    desk.words("start", doubt=doubt)
    desk.speech(start + later_ms, start + later_ms + 1200)
    assert desk.last(Transcribe).start_sample == int((start + later_ms) * 16) - PREROLL_SAMPLES


def test_mumbling_is_read_again_once_and_never_piles_up() -> None:
    desk, start = over_a_reply()
    for number in range(3):
        at_ms = start + number * 900
        desk.speech(at_ms, at_ms + 380)
        desk.words("start", doubt="unsure")
    first_ms = start + 900
    assert desk.last(Transcribe).start_sample == int(first_ms * 16) - PREROLL_SAMPLES


def test_doubted_words_while_nothing_is_said_open_the_next_utterance_too() -> None:
    desk = Desk()
    desk.speech(1000, 1300)
    desk.words("tell", doubt="unsure")
    desk.run_to(2000)
    assert desk.last(Reject).reason == "unsure"
    desk.speech(2100, 3000)
    assert desk.last(Transcribe).start_sample == 1000 * 16 - PREROLL_SAMPLES


@pytest.mark.parametrize("text", ["stop", "Wait, wait.", "Hold on!"])
def test_words_that_ask_for_silence_stop_the_reply_even_where_they_were_read_unsurely(text: str) -> None:
    desk, start = over_a_reply()
    desk.speech(start, start + 380)
    desk.words(text, doubt="unsure")
    assert [order.kind for order in desk.all(BargeIn)] == ["bid"] and not desk.all(Resume)
    desk.silent(desk.last(Cut).basis, "Once upon")
    desk.run_to(start + 3000)
    assert desk.last(Reject).reason == "unsure", "nobody answers words that may not have been said"
    assert len(desk.all(Commit)) == 1


def test_they_are_read_with_what_follows_before_the_silence_is_over() -> None:
    desk, start = over_a_reply()
    desk.speech(start, start + 380)
    desk.words("stop", doubt="unsure")
    desk.speech(start + 560, start + 1800)
    desk.words("Stop. What is the capital of Japan?")
    desk.silent(desk.last(Cut).basis, "Once upon")
    desk.run_to(start + 3000)
    assert desk.last(Commit).text == "Stop. What is the capital of Japan?"
    assert [order.kind for order in desk.all(BargeIn)] == ["bid"] and not desk.all(Reject)


@pytest.mark.parametrize("doubt", ["no speech", "invented", "repetition"])
def test_what_was_never_said_stops_nothing(doubt: str) -> None:
    desk, start = over_a_reply()
    desk.speech(start, start + 380)
    desk.words("stop", doubt=doubt)
    assert [order.kind for order in desk.all(BargeIn)] == ["noise"] and not desk.all(Cut)


@pytest.mark.parametrize("text", ["", "Mm-hmm.", "start", "Hold the door", "Wait until I know more about it"])
def test_other_words_ask_for_no_silence(text: str) -> None:
    assert not hushes(text)
