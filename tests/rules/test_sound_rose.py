"""A reply makes way for whatever is heard over it, before anyone knows what it is; and comes back if it was nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tests.rules.desk import Desk
from voicetui.events import Basis
from voicetui.events.listen import SoundRose, SpeechPaused, SpeechStarted
from voicetui.events.orders import BargeIn, Cut, Duck, Pause, Resume, Transcribe
from voicetui.events.session import Muted
from voicetui.listen.rise import TOLD_AFTER_MS, RiseFinder
from voicetui.ports import Pcm16, VoiceEdge


def audible() -> tuple[Desk, Basis]:
    desk = Desk()
    basis = desk.turn("Tell me a story.", "Once upon a time there was a king", " who had three daughters.")
    desk.run_to(desk.now_ms + 500)
    return desk, basis


def rises(desk: Desk, at_ms: float, lasted_ms: float) -> None:
    desk.run_to(at_ms + lasted_ms)
    desk.tell(SoundRose(int(at_ms * 16), at_ms + lasted_ms), at_ms)


def test_a_sound_ducks_the_reply_holds_it_if_it_lasts_and_lets_it_go_when_no_speech_comes_of_it() -> None:
    desk, basis = audible()
    onset_ms = desk.now_ms
    rises(desk, onset_ms, 30)
    assert [order.basis for order in desk.all(Duck)] == [basis] and not desk.all(Pause)
    rises(desk, onset_ms, 110)
    assert [order.basis for order in desk.all(Pause)] == [basis]
    desk.run_to(onset_ms + 409)
    assert not desk.all(Resume)
    desk.run_to(onset_ms + 411)
    assert len(desk.all(Resume)) == 1 and not desk.all(BargeIn), "nobody spoke"


def test_speech_that_begins_meanwhile_is_decided_by_its_words_and_ducked_only_once() -> None:
    desk, basis = audible()
    onset_ms = desk.now_ms
    rises(desk, onset_ms, 30)
    desk.starts(onset_ms)
    desk.run_to(onset_ms + 420)
    assert len(desk.all(Duck)) == 1 and len(desk.all(Pause)) == 1 and not desk.all(Resume)
    desk.pauses(onset_ms + 700)
    desk.words("Stop, please.")
    assert [order.kind for order in desk.all(BargeIn)] == ["bid"]
    assert [order.basis for order in desk.all(Cut)] == [basis]


def test_a_hum_gives_the_voice_back() -> None:
    desk, _ = audible()
    onset_ms = desk.now_ms
    rises(desk, onset_ms, 30)
    rises(desk, onset_ms, 110)
    desk.speech(onset_ms, onset_ms + 350)
    desk.words("Mm-hmm.")
    assert [order.kind for order in desk.all(BargeIn)] == ["backchannel"]
    assert len(desk.all(Resume)) == 1
    desk.run_to(onset_ms + 2000)
    assert len(desk.all(Resume)) == 1


def no_bid_and_then_a_sound() -> tuple[Desk, float]:
    """The reply made way at the onset for what was no bid, and something is heard again 545 ms after it."""
    desk, _ = audible()
    onset_ms = desk.now_ms
    rises(desk, onset_ms, 30)
    desk.speech(onset_ms, onset_ms + 380)
    rises(desk, onset_ms + 545, 30)
    desk.words("start", doubt="unsure")
    return desk, onset_ms


def test_a_reply_does_not_come_back_for_a_moment_when_more_is_heard_after_what_was_no_bid() -> None:
    desk, onset_ms = no_bid_and_then_a_sound()
    assert [order.kind for order in desk.all(BargeIn)] == ["noise"]
    assert not desk.all(Resume)
    desk.starts(onset_ms + 550)
    desk.run_to(onset_ms + 1400)
    assert len(desk.all(Duck)) == 1 and not desk.all(Resume), "made way all the time"
    desk.pauses(onset_ms + 1500)
    desk.words("What is the capital of Japan?")
    assert [order.kind for order in desk.all(BargeIn)] == ["noise", "bid"]


def test_it_comes_back_when_nothing_comes_of_that() -> None:
    desk, onset_ms = no_bid_and_then_a_sound()
    desk.run_to(onset_ms + 874)
    assert not desk.all(Resume)
    desk.run_to(onset_ms + 876)
    assert len(desk.all(Resume)) == 1


def test_sounds_while_nothing_is_played_or_nobody_listens_mean_nothing() -> None:
    desk = Desk()
    rises(desk, 1000, 110)
    desk.speech(2000, 2800)
    rises(desk, 2900, 110)
    assert not desk.all(Duck)
    desk, _ = audible()
    desk.tell(Muted(True))
    rises(desk, desk.now_ms, 110)
    assert not desk.all(Duck)


def test_a_sound_that_comes_again_before_the_reply_is_back_starts_the_wait_anew() -> None:
    desk, _ = audible()
    onset_ms = desk.now_ms
    rises(desk, onset_ms, 30)
    rises(desk, onset_ms + 250, 30)
    desk.run_to(onset_ms + 579)
    assert not desk.all(Resume)
    desk.run_to(onset_ms + 581)
    assert len(desk.all(Resume)) == 1


# what rises


def noise(ms: float, dbfs: float) -> Pcm16:
    level = 32768 * 10 ** (dbfs / 20)
    return np.random.default_rng(1).normal(0, level, round(ms * 16)).astype(np.int16)


def found(*pieces: Pcm16, block: int = 320) -> list[tuple[float, float]]:
    """Every rise in the pieces one after the other: its onset, and when it was told, ms."""
    finder, sound = RiseFinder(), np.concatenate(pieces)
    edges: list[VoiceEdge] = []
    for first in range(0, sound.size, block):
        edges += finder.feed(sound[first : first + block])
    assert all(edge.kind == "rose" for edge in edges)
    return [(edge.sample / 16, edge.noticed_sample / 16) for edge in edges]


@pytest.mark.parametrize("block", [1, 160, 320, 441])
def test_a_rise_is_told_twice_with_its_onset(block: int) -> None:
    pieces = noise(1000, -65), noise(300, -25), noise(500, -65)
    assert found(*pieces, block=block) == [(1000, 1000 + told_ms) for told_ms in TOLD_AFTER_MS]


def test_clicks_a_loud_room_and_a_faint_sound_are_no_rise() -> None:
    assert not found(noise(1000, -65), noise(20, -10), noise(500, -65), noise(20, -10), noise(500, -65))
    assert not found(noise(3000, -35), noise(300, -28)), "13 dB are not enough where it is loud"
    assert not found(noise(1000, -90), noise(300, -55))


def test_a_rise_goes_on_across_the_holes_of_a_syllable_and_a_new_one_begins_after_silence() -> None:
    syllables = noise(40, -25), noise(15, -65), noise(80, -25), noise(200, -65), noise(60, -25), noise(100, -65)
    assert [onset for onset, _ in found(noise(1000, -65), *syllables)] == [1000, 1000, 1335]


def test_speech_over_the_reply_is_read_once_its_pause_is_as_long_as_a_calm_ear_needs() -> None:
    desk, _ = audible()
    onset_ms = desk.now_ms
    desk.starts(onset_ms)
    desk.run_to(onset_ms + 260)
    desk.tell(SpeechPaused(int((onset_ms + 200) * 16), 5.0, onset_ms + 250, -20.0, -60.0), onset_ms + 200)
    asked = len(desk.all(Transcribe))
    desk.run_to(onset_ms + 299)
    assert len(desk.all(Transcribe)) == asked
    desk.run_to(onset_ms + 301)
    assert desk.last(Transcribe).final and len(desk.all(Transcribe)) == asked + 1


def test_speech_that_goes_on_in_such_a_hole_is_not_read_there() -> None:
    desk, _ = audible()
    onset_ms = desk.now_ms
    desk.starts(onset_ms)
    desk.run_to(onset_ms + 260)
    asked = len(desk.all(Transcribe))
    desk.tell(SpeechPaused(int((onset_ms + 200) * 16), 5.0, onset_ms + 250, -20.0, -60.0), onset_ms + 200)
    desk.tell(SpeechStarted(int((onset_ms + 280) * 16), onset_ms + 290), onset_ms + 280)
    desk.run_to(onset_ms + 400)
    assert len(desk.all(Transcribe)) == asked
