"""Playback of a reply from its first audible sample to its end, and of replies one after another."""

from __future__ import annotations

import numpy as np
import pytest

from tests.adapters.playing import BASIS, LATENCY_MS, NEXT, RATE_HZ, TEN, Bench, names, tone_frames
from voicetui.events.orders import Cut, FinishPlayback, Pause, Play, Resume, Synthesize
from voicetui.events.speak import (
    ClauseEnded,
    ClauseStarted,
    Discarded,
    PlaybackCut,
    PlaybackFinished,
    SpeakerDry,
)
from voicetui.speak.audible import hop_levels
from voicetui.speak.scripted import ScriptedVoice
from voicetui.speak.synthesize import SynthesizedClause, Synthesizer

# ---- a reply from start to end


def test_a_reply_is_told_from_its_first_audible_sample_to_its_end() -> None:
    bench = Bench()
    bench.play("one two", 0)
    bench.play("three", 1)
    bench.player.finish(FinishPlayback(BASIS))
    bench.run_dry()
    assert names(bench.facts) == ["ClauseStarted", "ClauseEnded", "ClauseStarted", "ClauseEnded", "PlaybackFinished"]
    times = [at_ms for at_ms, _ in bench.facts]
    assert times == pytest.approx([30.0, 630.0, 630.0, 930.0, 930.0], abs=5.0)


def test_silence_before_the_first_word_is_not_the_start() -> None:
    bench = Bench()
    sound = bench.sound(BASIS, 0, "word")
    quiet = np.concatenate((np.zeros(RATE_HZ // 5, np.float32), sound.samples))
    late = SynthesizedClause(BASIS, 0, "word", quiet, ((3200, 8000),), RATE_HZ, sound.fact, 0.0)
    bench.player.play(Play(BASIS, 0, "word"), late)
    bench.run(400)
    assert bench.only(ClauseStarted)[0] == pytest.approx(LATENCY_MS + 200.0, abs=5.0)


def test_nothing_is_told_before_it_is_at_the_dac() -> None:
    bench = Bench(latency_ms=120.0)
    bench.play(TEN)
    bench.run(500)
    bench.player.pause(Pause(BASIS))
    bench.run(300)
    bench.player.resume(Resume(BASIS))
    bench.player.finish(FinishPlayback(BASIS))
    bench.run_dry()
    assert all(posted_ms >= at_ms for posted_ms, (at_ms, _) in zip(bench.posted_ms, bench.facts, strict=True))


def test_a_wrong_dac_stamp_cannot_hold_facts_up_for_ever() -> None:
    bench = Bench(latency_ms=3_600_000.0)
    bench.play("word")
    bench.player.finish(FinishPlayback(BASIS))
    bench.run(1500)
    assert names(bench.facts) == ["ClauseStarted", "ClauseEnded", "PlaybackFinished"]
    assert not bench.player.busy


def test_each_sample_is_played_once_at_the_devices_rate() -> None:
    bench = Bench()
    sounds = [bench.sound(BASIS, clause, text) for clause, text in enumerate(("one two", "three", "four five six"))]
    for sound in sounds:
        bench.player.play(Play(BASIS, sound.clause, sound.spoken), sound)
    bench.player.finish(FinishPlayback(BASIS))
    whole = np.concatenate([sound.samples for sound in sounds])
    np.testing.assert_array_equal(bench.run_dry()[: len(whole)], whole)


@pytest.mark.parametrize("device_hz", [8_000, 16_000, 44_100, 48_000, 96_000])
@pytest.mark.parametrize("voice_hz", [16_000, 22_050])
def test_a_second_of_voice_lasts_a_second_on_any_device_and_keeps_its_pitch(voice_hz: int, device_hz: int) -> None:
    bench = Bench(rate_hz=device_hz)
    voice = Synthesizer(ScriptedVoice(voice_hz, 1000.0, gap_ms=0.0), bench.clock, bench.post)
    sound = voice.run(Synthesize(BASIS, 0, "aaah"), lambda _: True)
    assert sound is not None
    bench.player.play(Play(BASIS, 0, "aaah"), sound)
    bench.player.finish(FinishPlayback(BASIS))
    heard = bench.run_dry()
    assert bench.only(ClauseEnded)[0] - LATENCY_MS == pytest.approx(1000.0, abs=0.1)
    spectrum = np.abs(np.fft.rfft(heard[:device_hz]))
    assert int(np.argmax(spectrum)) == pytest.approx(ScriptedVoice.frequency_hz(0), abs=1)
    assert abs(heard[0]) < 0.01 and np.abs(heard[device_hz - 1 :]).max() < 0.01


def test_a_reply_longer_than_the_ring_is_played_whole() -> None:
    bench = Bench(rate_hz=8_000)
    long = np.sin(np.arange(8_000 * 75) / 7.0).astype(np.float32) * 0.3
    sound = bench.sound(BASIS, 0, "word")
    whole = SynthesizedClause(BASIS, 0, "word", long, ((0, len(long)),), 8_000, sound.fact, 0.0)
    bench.player.play(Play(BASIS, 0, "word"), whole)
    bench.player.finish(FinishPlayback(BASIS))
    np.testing.assert_array_equal(bench.run_dry()[: len(long)], long)
    assert names(bench.facts) == ["ClauseStarted", "ClauseEnded", "PlaybackFinished"]


# ---- holes, late and empty sound


def test_a_hole_between_clauses_is_told_with_its_length_and_ends_nothing() -> None:
    bench = Bench()
    bench.play("one two", 0)
    bench.run(2_600)
    bench.play("three", 1)
    bench.player.finish(FinishPlayback(BASIS))
    bench.run_dry()
    at_ms, dry = bench.only(SpeakerDry)
    assert isinstance(dry, SpeakerDry) and (dry.clause, dry.ms) == (1, pytest.approx(2_000.0, abs=0.1))
    assert at_ms == pytest.approx(2_630.0)
    assert names(bench.facts)[-1] == "PlaybackFinished" and len(bench.of(PlaybackFinished, PlaybackCut)) == 1


def test_clauses_that_follow_in_time_leave_no_hole() -> None:
    bench = Bench()
    bench.play("one two", 0)
    bench.run(595)
    bench.play("three", 1)
    bench.player.finish(FinishPlayback(BASIS))
    bench.run_dry()
    assert bench.of(SpeakerDry) == []


def test_time_spent_held_is_not_counted_as_a_hole() -> None:
    bench = Bench()
    bench.play("one two", 0)
    bench.run(700)
    bench.player.pause(Pause(BASIS))
    bench.run(1_000)
    bench.play("three", 1)
    bench.run(300)
    bench.player.resume(Resume(BASIS))
    bench.player.finish(FinishPlayback(BASIS))
    bench.run_dry()
    dry = bench.only(SpeakerDry)[1]
    assert isinstance(dry, SpeakerDry) and dry.ms == pytest.approx(100.0, abs=0.1)


@pytest.mark.parametrize("end", ["finished", "cut"])
def test_sound_that_comes_after_the_end_is_discarded_and_not_heard(end: str) -> None:
    bench = Bench()
    late = bench.sound(BASIS, 1, "seven eight")
    bench.play("one two three", 0)
    bench.run(300)
    if end == "finished":
        bench.player.finish(FinishPlayback(BASIS))
        bench.run_dry()
    else:
        bench.player.cut(Cut(BASIS))
    for _ in range(3):
        bench.player.play(Play(BASIS, 1, "seven eight"), late)
        silent_from = len(bench.heard)
        bench.run(100)
    assert not bench.heard[silent_from:].any()
    wasted = [fact for _, fact in bench.of(Discarded)]
    assert [(fact.stage, fact.samples) for fact in wasted if isinstance(fact, Discarded)] == [("speaker", 9_600)] * 3
    assert len(bench.of(PlaybackFinished, PlaybackCut)) == 1
    assert tone_frames(bench.heard, RATE_HZ, ScriptedVoice.frequency_hz(0)) == 0


def test_clauses_without_sound_neither_block_the_reply_nor_count_as_heard() -> None:
    bench = Bench()
    bench.play("🙂", 0, spoken="")
    bench.play("one two ", 1)
    bench.play("(quietly)", 2, spoken="")
    bench.run(200)
    assert names(bench.facts) == ["ClauseEnded", "ClauseStarted"]
    bench.run(1_000)
    assert [fact.clause for _, fact in bench.of(ClauseEnded) if isinstance(fact, ClauseEnded)] == [0, 1, 2]
    bench.player.cut(Cut(BASIS))
    bench.run_dry()
    assert (bench.cut_fact().heard_text, bench.cut_fact().heard_words) == ("🙂one two", 2)


def test_a_reply_of_empty_clauses_is_finished_without_having_begun() -> None:
    bench = Bench()
    bench.play("...", 0, spoken="")
    bench.player.finish(FinishPlayback(BASIS))
    bench.run_dry()
    assert names(bench.facts) == ["ClauseEnded", "PlaybackFinished"]


def test_finishing_before_any_sound_came_ends_the_reply_once() -> None:
    bench = Bench()
    bench.player.finish(FinishPlayback(BASIS))
    bench.player.finish(FinishPlayback(BASIS))
    assert names(bench.facts) == ["PlaybackFinished"]
    bench.play("one")
    assert not bench.run(100).any()
    assert names(bench.facts) == ["PlaybackFinished", "Discarded"] and not bench.player.busy


def test_seams_between_clauses_hold_at_most_150_ms_of_silence_and_do_not_click() -> None:
    bench = Bench()
    voice = ScriptedVoice(RATE_HZ, 400.0, gap_ms=0.0, lead_ms=400.0, trail_ms=400.0)
    synthesizer = Synthesizer(voice, bench.clock, bench.post)
    for clause in range(3):
        sound = synthesizer.run(Synthesize(BASIS, clause, "hum"), lambda _: True)
        assert sound is not None
        bench.player.play(Play(BASIS, clause, "hum"), sound)
    bench.player.finish(FinishPlayback(BASIS))
    heard = bench.run_dry()
    loud = np.flatnonzero(hop_levels(heard, RATE_HZ) >= 10**-2.5)
    assert np.diff(loud).max() * 5.0 - 5.0 <= 150.0
    steepest = 0.5 * 2 * np.pi * ScriptedVoice.frequency_hz(2) / RATE_HZ
    assert np.abs(np.diff(heard)).max() <= steepest * 1.05


# ---- two replies


def test_a_newer_reply_waits_for_the_end_of_the_older() -> None:
    bench = Bench()
    bench.play("one two", 0)
    bench.play("three", 0, NEXT)
    bench.play("late", 1)
    bench.player.finish(FinishPlayback(NEXT))
    bench.run_dry()
    told = [(type(fact).__name__, getattr(fact, "basis", None)) for _, fact in bench.facts]
    assert told == [
        ("Discarded", BASIS),
        ("ClauseStarted", BASIS),
        ("ClauseEnded", BASIS),
        ("PlaybackFinished", BASIS),
        ("ClauseStarted", NEXT),
        ("ClauseEnded", NEXT),
        ("PlaybackFinished", NEXT),
    ]


def test_a_held_reply_does_not_block_a_newer_one() -> None:
    bench = Bench()
    bench.play(TEN)
    bench.run(500)
    bench.player.pause(Pause(BASIS))
    bench.run(100)
    bench.play("on we go", 0, NEXT)
    bench.player.finish(FinishPlayback(NEXT))
    bench.run_dry()
    assert names(bench.of(PlaybackCut, PlaybackFinished)) == ["PlaybackCut", "PlaybackFinished"]


def test_a_waiting_reply_can_be_cut_while_the_older_plays_on() -> None:
    bench = Bench()
    bench.play("one two", 0)
    bench.play("three", 0, NEXT)
    bench.player.cut(Cut(NEXT))
    bench.run_dry()
    assert bench.cut_fact().basis == NEXT and bench.cut_fact().heard_text == ""
    assert names(bench.of(PlaybackFinished)) == ["PlaybackFinished"]
