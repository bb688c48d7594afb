"""Another microphone or speaker is chosen while the session runs: idle, in mid-utterance, in mid-reply; and ones that
do not open.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.sessions.devices import Shelf
from tests.sessions.stage import Finals, Heard, Stage, assert_ended_in_order, tone, twin_stage
from tests.sessions.test_purity import assert_decided_again
from voicetui.events.listen import SpeechStarted
from voicetui.events.orders import Commit, EndTurn, Reject
from voicetui.events.session import DeviceChosen, Fault, MicTested, Muted, Said
from voicetui.events.sound import ClockMapped, DeviceLost, DeviceOpened, SoundLost
from voicetui.events.speak import PlaybackCut
from voicetui.listen.ear import Ear
from voicetui.listen.scripted import EnergyDetector
from voicetui.ports import Pcm16
from voicetui.sound.echo import LATENCY_SAMPLES, EchoCanceller
from voicetui.sound.wav import read_parts

REPLY = "One two three four five six. Seven eight nine ten eleven twelve. And that is all."


def opened(stage: Stage, role: str) -> list[str]:
    return [fact.name for fact in stage.of(DeviceOpened) if fact.role == role]


def assert_in_order(stage: Stage) -> None:
    assert_ended_in_order(stage)
    assert_decided_again(stage.entries)


# the speaker


def test_a_speaker_chosen_while_nothing_plays_gets_the_next_reply() -> None:
    stage = twin_stage(REPLY)
    shelf = Shelf(stage)
    stage.run_to(9000, stage.post_at(DeviceChosen("output", "headset", "ALSA"), 1000), stage.post_at(Said("one"), 2000))
    assert opened(stage, "output") == ["first", "headset"]
    assert shelf.speakers[0].closed and not shelf.audible_on("first") and shelf.audible_on("headset")
    assert stage.outcomes == ["completed"] and not stage.of(Fault)
    assert_in_order(stage)


def test_a_speaker_chosen_in_mid_reply_cuts_it_keeps_what_was_heard_and_gets_the_next() -> None:
    stage = twin_stage(REPLY)
    shelf = Shelf(stage)
    stage.run_to(
        14_000,
        stage.post_at(Said("one"), 500),
        stage.post_at(DeviceChosen("output", "headset"), 2000),
        stage.post_at(Said("two"), 5000),
    )
    first, second = stage.of(EndTurn)
    assert (first.outcome, first.reason) == ("interrupted", "the speaker was changed")
    assert REPLY.startswith(first.heard_text) and 0 < len(first.heard_text.split()) < 8
    assert (second.outcome, second.heard_text) == ("completed", REPLY)
    (cut,) = stage.all(PlaybackCut)
    assert 2000 <= cut.at <= 2080, "within a fade and the speaker's latency"
    assert max(shelf.audible_on("first")) < 2080 and min(shelf.audible_on("headset")) > 5000
    assert "one" in str(stage.tier.asked[1]) and first.heard_text.strip() in str(stage.tier.asked[1])  # type: ignore[attr-defined]
    assert_in_order(stage)


def test_a_reply_that_becomes_ready_while_the_speaker_is_changed_is_heard_whole_on_the_new_one() -> None:
    stage = twin_stage(REPLY, ttft_ms=300.0)
    shelf = Shelf(stage)
    stage.run_to(9000, stage.post_at(Said("one"), 1000), stage.post_at(DeviceChosen("output", "headset"), 1290))
    assert stage.outcomes == ["completed"] and stage.of(EndTurn)[0].heard_text == REPLY
    assert not shelf.audible_on("first") and min(shelf.audible_on("headset")) > 1390
    assert_in_order(stage)


@pytest.mark.parametrize("name", ["busy", "gone", "broken"])
def test_a_speaker_that_does_not_open_is_named_and_the_one_before_is_used_again(name: str) -> None:
    stage = twin_stage(REPLY)
    shelf = Shelf(stage)
    stage.run_to(9000, stage.post_at(DeviceChosen("output", name, "ALSA"), 1000), stage.post_at(Said("one"), 2000))
    (fault,) = stage.of(Fault)
    assert fault.stage == "speaker" and f"'{name}'" in fault.message
    assert fault.remedy == "The speaker 'first' is used again."
    assert opened(stage, "output") == ["first", "first"] and shelf.audible_on("first")
    assert stage.outcomes == ["completed"]
    assert_in_order(stage)


def test_when_the_speaker_before_is_gone_too_the_reply_goes_to_a_silent_one_never_to_another() -> None:
    stage = twin_stage(REPLY)
    shelf = Shelf(stage)
    make = shelf.speaker
    stage.parts.make_speaker = lambda name, host: make("gone", host)
    stage.run_to(9000, stage.post_at(DeviceChosen("output", "busy"), 1000), stage.post_at(Said("one"), 2000))
    (fault,) = stage.of(Fault)
    assert "silent" in fault.remedy
    assert opened(stage, "output") == ["first", "silent"]
    assert stage.outcomes == ["completed"]
    assert_in_order(stage)


def test_choices_made_one_after_the_other_are_carried_out_in_turn() -> None:
    stage = twin_stage(REPLY)
    shelf = Shelf(stage)
    chosen = [(DeviceChosen("output", name), 1000.0 + 10 * number) for number, name in enumerate("abc")]
    stage.run_to(9000, stage.post_at(Said("one"), 500), *(stage.post_at(fact, at_ms) for fact, at_ms in chosen),
                 stage.post_at(Said("two"), 3000))  # fmt: skip
    assert opened(stage, "output") == ["first", "a", "b", "c"]
    assert [speaker.closed for speaker in shelf.speakers[:3]] == [True, True, True]
    assert stage.outcomes[-1] == "completed" and shelf.audible_on("c")
    assert_in_order(stage)


def test_a_speaker_whose_loss_is_noticed_when_another_is_chosen_already_costs_neither_it_nor_the_next_reply() -> None:
    stage = twin_stage(REPLY)
    shelf = Shelf(stage)
    stage.run_to(
        12_000,
        stage.post_at(Said("one"), 500),
        stage.post_at(DeviceChosen("output", "headset"), 2000),
        stage.post_at(DeviceLost("output", "speaker", "it was unplugged"), 2030),
        stage.post_at(Said("two"), 2050),
    )
    assert opened(stage, "output") == ["first", "headset"] and not stage.of(DeviceLost)
    assert stage.outcomes == ["interrupted", "completed"] and shelf.audible_on("headset")
    assert_in_order(stage)


def test_a_choice_made_while_the_session_starts_waits_for_it() -> None:
    stage = twin_stage(REPLY)
    shelf = Shelf(stage)
    stage.run_to(
        6000,
        stage.post_at(DeviceChosen("output", "headset"), 20),
        stage.post_at(DeviceChosen("input", "headset"), 20),
        stage.post_at(Said("one"), 1500),
    )
    assert opened(stage, "output") == ["first", "headset"] and opened(stage, "input")[-1] == "headset"
    assert stage.outcomes == ["completed"] and shelf.audible_on("headset")
    assert_in_order(stage)


# the microphone


def assert_one_track(stage: Stage) -> None:
    """Every sample is at the time that its number says: the time without a microphone is silence, and said so."""
    for entry in stage.all(ClockMapped):
        assert isinstance(entry.body, ClockMapped)
        first = stage.all(ClockMapped)[0]
        assert isinstance(first.body, ClockMapped)
        assert entry.at - first.at == pytest.approx((entry.body.sample - first.body.sample) / 16, abs=2)


def test_another_microphone_goes_on_with_the_track_and_is_heard(tmp_path: Path) -> None:
    stage = twin_stage(REPLY, folder=tmp_path / "session")
    shelf = Shelf(stage, [(1000, tone(600)), (8000, tone(600))])
    stage.parts.transcriber = Finals("hello there", "and again")
    stage.run_to(14_000, stage.post_at(DeviceChosen("input", "headset", "ALSA"), 6000))
    assert opened(stage, "input") == ["first", "headset"] and shelf.microphones[0].closed
    assert shelf.first_samples[1] > 90_000, "numbers go on"
    assert stage.outcomes == ["completed", "completed"]
    (lost,) = stage.of(SoundLost)
    assert lost.role == "input" and lost.reason == "no microphone was open"
    assert lost.samples / 16 == pytest.approx(220, abs=60)
    (first, *_) = [entry for entry in stage.all(SpeechStarted) if entry.at > 6000]
    assert first.at == pytest.approx(8000, abs=40)
    assert_one_track(stage)
    assert any(entry.at > 6000 for entry in stage.all(ClockMapped)), "a new device's clock is noted at once"
    user, _ = read_parts(tmp_path / "session", "user")
    loud = np.flatnonzero(np.abs(user) > 3000)
    assert loud[-1] / 16 == pytest.approx(8600 - first_block_ms(stage), abs=40)
    assert_in_order(stage)


class Passing:
    """A canceller's delay, and nothing taken away."""

    def __init__(self) -> None:
        self._last = np.zeros(LATENCY_SAMPLES, np.int16)

    def process(self, near: Pcm16, far: Pcm16, /) -> Pcm16:
        late = np.concatenate((self._last, near))
        self._last = late[len(near) :]
        return late[: len(near)]


def test_with_a_canceller_the_recorded_track_does_not_slip_at_a_change_of_the_microphone() -> None:
    stage = twin_stage(REPLY)
    Shelf(stage)
    canceller = stage.parts.canceller = EchoCanceller(Passing)
    stage.parts.ear = ear = Ear(EnergyDetector(), canceller)
    recorded = 0

    class Counting(Heard):
        def user(self, samples: Pcm16, lost: int) -> None:
            nonlocal recorded
            recorded += len(samples) + lost

    stage.parts.recorder = Counting()
    stage.run_to(
        6000,
        stage.post_at(DeviceChosen("input", "a"), 1500),
        stage.post_at(DeviceChosen("input", "b"), 3000),
        stage.post_at(DeviceChosen("input", "a"), 4500),
    )
    assert opened(stage, "input") == ["first", "a", "b", "a"]
    assert recorded == ear.end + canceller.held
    assert_one_track(stage)
    assert_in_order(stage)


def first_block_ms(stage: Stage) -> float:
    """When sample 0 was at the ADC."""
    entry = stage.all(ClockMapped)[0]
    assert isinstance(entry.body, ClockMapped)
    return entry.at - entry.body.sample / 16


def test_a_microphone_chosen_in_mid_utterance_ends_it_as_a_lost_one_does() -> None:
    stage = twin_stage(REPLY)
    Shelf(stage, [(1000, tone(1500)), (4000, tone(600))])
    stage.parts.transcriber = Finals("and again")
    stage.run_to(9000, stage.post_at(DeviceChosen("input", "headset"), 1600))
    (reject,) = stage.of(Reject)
    assert (reject.reason, reject.text) == ("failed", "the microphone was changed")
    assert [order.text for order in stage.of(Commit)] == ["and again"]
    assert not stage.of(DeviceLost) and not stage.of(Fault)
    assert_one_track(stage)
    assert_in_order(stage)


def test_a_microphone_chosen_in_mid_reply_leaves_the_reply_alone_and_can_interrupt_it() -> None:
    stage = twin_stage(REPLY * 3)
    Shelf(stage, [(4000, tone(1600))])
    stage.parts.transcriber = Finals("stop it now")
    stage.run_to(20_000, stage.post_at(Said("one"), 500), stage.post_at(DeviceChosen("input", "headset"), 2500))
    assert stage.outcomes == ["interrupted", "completed"]
    (cut,) = stage.all(PlaybackCut)
    assert 4000 < cut.at < 5800
    assert_in_order(stage)


@pytest.mark.parametrize("name", ["busy", "gone", "broken"])
def test_a_microphone_that_does_not_open_is_named_and_the_one_before_is_heard_again(name: str) -> None:
    stage = twin_stage(REPLY)
    Shelf(stage, [(3000, tone(600))])
    stage.parts.transcriber = Finals("hello there")
    stage.run_to(9000, stage.post_at(DeviceChosen("input", name, "ALSA"), 1000))
    (fault,) = stage.of(Fault)
    assert fault.stage == "microphone" and f"'{name}'" in fault.message
    assert fault.remedy == "The microphone 'first' is used again."
    assert opened(stage, "input") == ["first", "first"] and not stage.of(DeviceLost)
    assert stage.outcomes == ["completed"]
    assert_in_order(stage)


def test_when_no_microphone_opens_any_more_the_session_goes_on_typed_and_one_can_be_chosen_later() -> None:
    stage = twin_stage(REPLY)
    shelf = Shelf(stage, [(9000, tone(600))])
    stage.parts.transcriber = Finals("hello there")
    make = shelf.microphone
    stage.parts.make_microphone = lambda name, host, first: make(
        "headset" if name == "headset" else "gone", host, first
    )
    stage.run_to(
        15_000,
        stage.post_at(DeviceChosen("input", "busy"), 1000),
        stage.post_at(Said("one"), 2000),
        stage.post_at(DeviceChosen("input", "headset"), 7000),
    )
    (fault,) = stage.of(Fault)
    assert "'gone'" in fault.message and "type" in fault.remedy
    assert [fact.name for fact in stage.of(DeviceLost)] == ["first"]
    assert stage.outcomes == ["completed", "completed"]
    assert_one_track(stage)
    assert_in_order(stage)


def test_a_typed_session_hears_a_microphone_that_is_chosen_later() -> None:
    stage = twin_stage(REPLY)
    stage.parts.microphone = None
    shelf = Shelf(stage, [(61_000, tone(600))])
    stage.parts.recorder = heard = Heard()
    stage.parts.transcriber = Finals("hello there")
    stage.run_to(69_000, stage.post_at(Said("one"), 1000), stage.post_at(DeviceChosen("input", "headset"), 60_000))
    assert shelf.first_samples == [0] and opened(stage, "input") == ["headset"]
    assert stage.outcomes == ["completed", "completed"]
    (start,) = stage.all(SpeechStarted)
    assert start.at == pytest.approx(61_000, abs=40)
    assert heard.pieces[0][0] < 16 * 3000 and heard.pieces[-1][0] > 16 * 61_000, "both tracks on one clock"
    assert_in_order(stage)


def test_a_muted_session_stays_muted_on_another_microphone() -> None:
    stage = twin_stage(REPLY)
    Shelf(stage, [(3000, tone(600))])
    stage.run_to(6000, stage.post_at(Muted(True), 800), stage.post_at(DeviceChosen("input", "headset"), 1000))
    assert opened(stage, "input") == ["first", "headset"] and not stage.of(SpeechStarted)
    assert_in_order(stage)


def test_a_scripted_person_cannot_be_exchanged_and_goes_on() -> None:
    stage = twin_stage(REPLY)
    Shelf(stage, [(3000, tone(600))])
    stage.parts.make_microphone = None
    stage.parts.transcriber = Finals("hello there")
    stage.run_to(9000, stage.post_at(DeviceChosen("input", "headset"), 1000))
    (fault,) = stage.of(Fault)
    assert "cannot be changed" in fault.message and stage.outcomes == ["completed"]
    assert_in_order(stage)


# both


@pytest.mark.parametrize("role", ["input", "output"])
def test_a_device_plugged_in_since_closes_both_looks_again_and_opens_both(role: str) -> None:
    stage = twin_stage(REPLY)
    shelf = Shelf(stage, [(8000, tone(600))])
    stage.parts.transcriber = Finals("hello there")
    stage.run_to(
        14_000,
        stage.post_at(Said("one"), 500),
        stage.post_at(DeviceChosen(role, "new", "ALSA", renew=True), 2000),  # type: ignore[arg-type]
    )
    assert shelf.renewed == 1 and shelf.open_while_renewed == []
    assert opened(stage, role) == ["first", "new"]
    assert opened(stage, "output" if role == "input" else "input") == ["first", "first"]
    assert stage.outcomes == ["interrupted", "completed"] and not stage.of(Fault)
    assert_one_track(stage)
    assert_in_order(stage)


def test_what_is_said_while_the_microphone_is_tested_is_not_answered() -> None:
    stage = twin_stage(REPLY)
    Shelf(stage, [(1500, tone(600)), (6000, tone(600))])
    stage.parts.transcriber = Finals("hello there")
    stage.run_to(12_000, stage.post_at(MicTested(True), 1000), stage.post_at(MicTested(False), 4000))
    assert [order.text for order in stage.of(Commit)] == ["hello there"]
    assert_in_order(stage)
