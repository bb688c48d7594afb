"""What a change of microphone or speaker ends, what it lets go on, and what a test of the microphone keeps out."""

from __future__ import annotations

import pytest

from tests.rules.desk import Desk
from voicetui.events.orders import (
    Cancel,
    Commit,
    Cut,
    EndTurn,
    OpenUtterance,
    Play,
    Reject,
    Resume,
    Transcribe,
    UseDevice,
)
from voicetui.events.session import DeviceChosen, MicTested, StopAsked

SPEAKER = DeviceChosen("output", "Headset", "ALSA")
MICROPHONE = DeviceChosen("input", "Headset", "ALSA")


@pytest.mark.parametrize("fact", [SPEAKER, MICROPHONE, DeviceChosen("output", "New", "ALSA", renew=True)])
def test_with_nothing_going_on_the_device_is_used_and_nothing_else_happens(fact: DeviceChosen) -> None:
    desk = Desk()
    assert desk.tell(fact) == [UseDevice(fact.role, fact.name, fact.host, fact.renew)]


def test_a_reply_that_is_heard_is_cut_first_and_what_was_heard_of_it_is_kept() -> None:
    desk = Desk()
    basis = desk.turn("Why?", "Because", " of that.")
    orders = desk.tell(SPEAKER)
    assert [type(order) for order in orders] == [Cancel, Cut, UseDevice]
    desk.silent(basis, "Because")
    end = desk.last(EndTurn)
    assert (end.outcome, end.heard_text, end.reason) == ("interrupted", "Because", "the speaker was changed")
    assert desk.state.history[-1].assistant == "Because"


def test_a_reply_that_has_not_begun_is_heard_on_the_new_speaker() -> None:
    desk = Desk()
    desk.speech(1000, 1800)
    desk.words("Why?")
    desk.run_to(3000)
    basis = desk.answer("Because.")
    assert [type(order) for order in desk.tell(SPEAKER)] == [UseDevice]
    desk.synthesize()
    assert desk.last(Play).basis == basis


def test_speech_that_runs_when_the_microphone_is_changed_is_no_turn() -> None:
    desk = Desk()
    desk.starts(1000)
    desk.tell(MICROPHONE, 1500)
    assert (desk.last(Reject).reason, desk.last(Reject).text) == ("failed", "the microphone was changed")
    desk.pauses(1600)
    desk.run_to(5000)
    assert not desk.all(Commit)
    desk.turn("Why?", "Because.")
    assert len(desk.all(Commit)) == 1


def test_what_was_said_before_the_microphone_was_changed_is_answered() -> None:
    desk = Desk()
    desk.speech(1000, 1800)
    desk.tell(MICROPHONE, 1950)
    desk.words("Why?")
    desk.run_to(3500)
    assert desk.last(Commit).text == "Why?"


def test_another_microphone_leaves_the_reply_alone() -> None:
    desk = Desk()
    desk.turn("Why?", "Because", " of that.")
    assert [type(order) for order in desk.tell(MICROPHONE)] == [UseDevice]


def test_a_reply_held_for_speech_over_it_comes_back_when_the_microphone_is_changed() -> None:
    desk = Desk()
    basis = desk.turn("Why?", "Because", " of that.")
    desk.starts(desk.now_ms + 100)
    desk.tell(MICROPHONE, desk.now_ms + 100)
    assert desk.last(Resume).basis == basis and not desk.all(Cut)


def test_a_device_plugged_in_since_reopens_both_so_both_sides_end() -> None:
    desk = Desk()
    desk.turn("Why?", "Because", " of that.")
    desk.starts(desk.now_ms + 100)
    desk.tell(DeviceChosen("input", "New", "ALSA", renew=True), desk.now_ms + 100)
    assert desk.all(Cut) and desk.last(Reject).reason == "failed"


def test_nothing_is_changed_once_the_session_ends() -> None:
    desk = Desk()
    desk.turn("Why?", "Because.")
    desk.tell(StopAsked("user"))
    assert desk.tell(SPEAKER) == []


def test_what_is_said_to_test_the_microphone_is_not_answered() -> None:
    desk = Desk()
    desk.starts(900)
    desk.tell(MicTested(True), 1000)
    assert desk.last(Reject).reason == "microphone test"
    desk.pauses(1200)
    desk.speech(1500, 2500)
    desk.run_to(4000)
    desk.tell(MicTested(False))
    assert len(desk.all(OpenUtterance)) == 1 and not desk.all(Transcribe)
    desk.turn("Why?", "Because.")
    assert desk.last(Commit).text == "Why?"


def test_a_test_of_the_microphone_that_nobody_ends_is_over_after_its_time() -> None:
    desk = Desk()
    desk.tell(MicTested(True), 1000)
    desk.run_to(3900)
    desk.starts(3900)
    assert not desk.all(OpenUtterance)
    desk.pauses(4200)
    desk.turn("Why?", "Because.", start_ms=4500)
    assert desk.last(Commit).text == "Why?"


def test_the_end_of_an_older_test_does_not_end_a_newer_one() -> None:
    desk = Desk()
    desk.tell(MicTested(True), 1000)
    desk.tell(MicTested(False), 2000)
    desk.tell(MicTested(True), 3000)
    desk.starts(4500)
    assert not desk.all(OpenUtterance)
