"""Making a reply quieter, holding it, bringing it back."""

from __future__ import annotations

import numpy as np
import pytest

from tests.adapters.playing import BASIS, LATENCY_MS, NEXT, RATE_HZ, TEN, Bench, audible_end_ms, names
from voicetui.events.orders import Duck, FinishPlayback, Pause, Play, Resume
from voicetui.events.speak import (
    PlaybackCut,
    PlaybackDucked,
    PlaybackPaused,
    PlaybackResumed,
)
from voicetui.speak.synthesize import SynthesizedClause


def test_ducking_is_fifteen_decibels_within_ten_milliseconds_and_told_when_it_is_heard() -> None:
    bench = Bench()
    bench.play("aaah " * 4)
    bench.run(500)
    bench.player.duck(Duck(BASIS))
    bench.player.duck(Duck(BASIS))
    ducked = bench.run(140)
    assert np.abs(ducked[RATE_HZ // 100 :]).max() == pytest.approx(0.5 * 10 ** (-15 / 20), rel=0.01)
    assert bench.only(PlaybackDucked)[0] == pytest.approx(500.0 + LATENCY_MS + 10.0)
    bench.player.resume(Resume(BASIS))
    bench.run(300)
    assert bench.only(PlaybackResumed)[0] == pytest.approx(640.0 + LATENCY_MS + 10.0)


def test_resuming_after_a_duck_goes_on_without_going_back() -> None:
    plain, bench = Bench(), Bench()
    for each in (plain, bench):
        each.play(TEN)
        each.player.finish(FinishPlayback(BASIS))
    whole = plain.run_dry()
    bench.run(500)
    bench.player.duck(Duck(BASIS))
    bench.run(200)
    bench.player.resume(Resume(BASIS))
    bench.run(50)
    rest = bench.run_dry()
    np.testing.assert_array_equal(rest, whole[len(whole) - len(rest) :])


def test_a_held_reply_is_silent_keeps_its_place_and_comes_back_at_the_start_of_the_word() -> None:
    bench = Bench()
    sound = bench.sound(BASIS, 0, TEN)
    bench.player.play(Play(BASIS, 0, TEN), sound)
    bench.player.finish(FinishPlayback(BASIS))
    before = bench.run(1000)
    bench.player.pause(Pause(BASIS))
    gap = bench.run(700)
    bench.player.resume(Resume(BASIS))
    after = bench.run_dry()
    assert not gap[RATE_HZ * 15 // 1000 :].any()
    at_ms, paused = bench.only(PlaybackPaused)
    assert isinstance(paused, PlaybackPaused) and (paused.clause, paused.heard_ms) == (0, pytest.approx(1015.0))
    assert at_ms == pytest.approx(1015.0 + LATENCY_MS)
    word_start = next(first for first, end in sound.words if first <= len(before) < end)
    fade = RATE_HZ // 100
    rest = sound.samples[word_start:]
    np.testing.assert_array_equal(before, sound.samples[: len(before)])
    np.testing.assert_array_equal(after[fade : len(rest)], rest[fade:])
    assert bench.only(PlaybackResumed)[0] == pytest.approx(1700.0 + LATENCY_MS + 10.0)
    assert names(bench.facts)[-1] == "PlaybackFinished"


def test_a_reply_held_by_a_noise_says_every_word_and_at_most_one_of_them_twice() -> None:
    bench = Bench(word_ms=300.0)
    for clause in range(4):
        bench.play(f"w{clause}a w{clause}b w{clause}c w{clause}d w{clause}e ", clause)
    bench.player.finish(FinishPlayback(BASIS))
    bench.run(1_010)
    bench.player.duck(Duck(BASIS))
    bench.run(150)
    bench.player.pause(Pause(BASIS))
    bench.run(400)
    bench.player.resume(Resume(BASIS))
    heard_from = len(bench.heard)
    bench.run_dry()
    rest_ms = audible_end_ms(bench.heard[heard_from:], RATE_HZ)
    left_ms = 6_000.0 - 50.0 - 1_175.0
    assert left_ms <= rest_ms <= left_ms + 300.0
    assert names(bench.facts)[-1] == "PlaybackFinished" and not bench.of(PlaybackCut)


def test_held_between_two_words_it_goes_on_where_it_was() -> None:
    bench = Bench(word_ms=400.0)
    sound = bench.sound(BASIS, 0, "one two three")
    words = tuple((first, end - RATE_HZ // 10) for first, end in sound.words)
    gappy = SynthesizedClause(BASIS, 0, sound.spoken, sound.samples, words, RATE_HZ, sound.fact, 0.0)
    bench.player.play(Play(BASIS, 0, sound.spoken), gappy)
    bench.run((words[0][1] + RATE_HZ // 100) * 1e3 / RATE_HZ)
    bench.player.pause(Pause(BASIS))
    bench.run(100)
    bench.player.resume(Resume(BASIS))
    played = len(sound.samples) / RATE_HZ * 1e3 + 100.0
    bench.run(played)
    total = sum(len(piece) for _, piece in bench.player.renderer.drain_played())
    assert total == len(sound.samples)


def test_the_fade_in_takes_place_in_the_pause_before_the_word() -> None:
    bench = Bench(word_ms=400.0)
    sound = bench.sound(BASIS, 0, "one two three")
    words = tuple((first, end - RATE_HZ // 10) for first, end in sound.words)
    gappy = SynthesizedClause(BASIS, 0, sound.spoken, sound.samples, words, RATE_HZ, sound.fact, 0.0)
    bench.player.play(Play(BASIS, 0, sound.spoken), gappy)
    bench.run((words[1][0] + RATE_HZ // 10) * 1e3 / RATE_HZ)
    bench.player.pause(Pause(BASIS))
    bench.run(100)
    bench.player.resume(Resume(BASIS))
    fade = RATE_HZ // 100
    np.testing.assert_array_equal(bench.run(300)[fade:4_000], sound.samples[words[1][0] :][: 4_000 - fade])


def test_resuming_while_the_fade_of_the_pause_runs_waits_for_it() -> None:
    bench = Bench()
    bench.play(TEN)
    bench.run(500)
    bench.player.pause(Pause(BASIS))
    bench.run(5, block_ms=5.0)
    bench.player.resume(Resume(BASIS))
    bench.run(200)
    assert names(bench.of(PlaybackPaused, PlaybackResumed)) == ["PlaybackPaused", "PlaybackResumed"]
    assert bench.run(100).any()


def test_pausing_twice_and_resuming_twice_is_told_once() -> None:
    bench = Bench()
    bench.play(TEN)
    bench.run(500)
    for _ in range(2):
        bench.player.pause(Pause(BASIS))
        bench.run(50)
    for _ in range(2):
        bench.player.resume(Resume(BASIS))
        bench.run(50)
    assert names(bench.of(PlaybackPaused, PlaybackResumed)) == ["PlaybackPaused", "PlaybackResumed"]


def test_resuming_what_was_neither_held_nor_ducked_does_nothing() -> None:
    plain, bench = Bench(), Bench()
    for each in (plain, bench):
        each.play("one two three")
        each.run(300)
    bench.player.resume(Resume(BASIS))
    bench.player.resume(Resume(NEXT))
    np.testing.assert_array_equal(bench.run(400), plain.run(400))
    assert bench.of(PlaybackResumed) == []


def test_a_pause_that_comes_when_everything_was_handed_out_holds_nothing() -> None:
    bench = Bench(latency_ms=200.0)
    bench.play("one")
    bench.player.finish(FinishPlayback(BASIS))
    bench.run(320)
    bench.player.pause(Pause(BASIS))
    bench.run(20)
    bench.player.resume(Resume(BASIS))
    assert not bench.run_dry().any()
    assert names(bench.facts) == ["ClauseStarted", "ClauseEnded", "PlaybackFinished"]
    bench.play("two", 0, NEXT)
    assert np.abs(bench.run(300)).max() == pytest.approx(0.5, rel=0.01)


def test_a_reply_that_is_finished_while_held_at_its_end_is_over_and_the_next_is_at_full_level() -> None:
    bench = Bench()
    bench.play("one")
    bench.run(400)
    bench.player.duck(Duck(BASIS))
    bench.player.pause(Pause(BASIS))
    bench.run(50)
    bench.player.finish(FinishPlayback(BASIS))
    bench.run_dry()
    assert names(bench.facts)[-2:] == ["PlaybackPaused", "PlaybackFinished"]
    bench.play("two", 0, NEXT)
    assert np.abs(bench.run(300)).max() == pytest.approx(0.5, rel=0.01)


def test_a_very_long_word_is_not_said_again_from_far_back() -> None:
    bench = Bench(word_ms=8_000.0)
    bench.play("aaaaaaaah")
    bench.run(6_000)
    bench.player.pause(Pause(BASIS))
    bench.run(100)
    bench.player.resume(Resume(BASIS))
    bench.player.finish(FinishPlayback(BASIS))
    assert audible_end_ms(bench.run_dry(), RATE_HZ) <= 8_000.0 - 6_000.0 + 1_515.0
