"""Cutting a reply: what was heard, and that nothing of it sounds afterwards."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adapters.playing import BASIS, LATENCY_MS, NEXT, RATE_HZ, TEN, Bench, audible_end_ms, names, tone_frames
from voicetui.events.base import Basis
from voicetui.events.orders import Cut, Duck, FinishPlayback, Pause, Play, Resume
from voicetui.events.speak import (
    ClauseStarted,
    Discarded,
    PlaybackCut,
    PlaybackFinished,
    PlaybackPaused,
)
from voicetui.reply.speakable import Speakable
from voicetui.speak.play import CUT_PATIENCE_MS
from voicetui.speak.scripted import ScriptedVoice
from voicetui.speak.synthesize import SynthesizedClause
from voicetui.speak.words import count_words

# ---- cut


@pytest.mark.parametrize(("at_ms", "words"), [(1600, 5), (310, 1), (430, 1), (470, 2), (2_980, 10), (200, 1), (120, 0)])
def test_a_cut_keeps_the_words_that_were_heard_at_least_by_half(at_ms: float, words: int) -> None:
    bench = Bench(word_ms=300.0)
    bench.play("aaa bbb ccc ddd eee fff ggg hhh iii jjj")
    bench.run(at_ms - 15.0)
    bench.player.cut(Cut(BASIS))
    bench.run_dry()
    cut = bench.cut_fact()
    assert cut.heard_words == pytest.approx(words, abs=0)
    assert cut.heard_text == " ".join(c * 3 for c in "abcdefghij"[:words])
    assert cut.cut_words == 10
    assert cut.heard_ms == pytest.approx(at_ms)
    assert cut.dropped_samples == RATE_HZ * (3000 - at_ms) // 1000


def test_a_cut_is_at_the_last_audible_sample_and_nothing_follows() -> None:
    bench = Bench()
    bench.play("aaah " * 10)
    bench.run(1_000)
    bench.player.cut(Cut(BASIS))
    after = bench.run_dry()
    silent_ms = 1_000.0 + audible_end_ms(after, RATE_HZ)
    assert bench.only(PlaybackCut)[0] - LATENCY_MS == pytest.approx(silent_ms, abs=5.0)
    assert silent_ms <= 1_015.0 + 1.0
    assert not bench.run(500).any()


def test_a_cut_in_a_silent_part_is_told_at_the_sound_before_it() -> None:
    bench = Bench(word_ms=300.0)
    bench.play("one two")
    bench.run(900)
    bench.player.cut(Cut(BASIS))
    bench.run_dry()
    assert bench.only(PlaybackCut)[0] == pytest.approx(550.0 + LATENCY_MS, abs=5.0)
    assert bench.cut_fact().heard_text == "one two"


def test_a_cut_before_any_sound_heard_nothing_and_is_told_when_it_was_asked() -> None:
    bench = Bench()
    bench.run(100)
    bench.player.cut(Cut(BASIS))
    bench.player.cut(Cut(BASIS))
    assert bench.only(PlaybackCut)[0] == 100.0
    assert (bench.cut_fact().heard_text, bench.cut_fact().heard_ms, bench.cut_fact().heard_words) == ("", 0.0, 0)
    bench.play("too late")
    assert not bench.run(300).any()
    assert names(bench.facts) == ["PlaybackCut", "Discarded"]


def test_a_cut_between_queueing_and_the_first_block_lets_out_no_more_than_the_fade() -> None:
    bench = Bench()
    bench.play("one two")
    bench.player.cut(Cut(BASIS))
    after = bench.run_dry()
    assert not after[RATE_HZ * 15 // 1000 :].any()
    assert bench.cut_fact().heard_text == ""


def test_a_second_cut_and_one_after_the_end_change_nothing() -> None:
    bench = Bench()
    bench.play("one two three")
    bench.run(400)
    bench.player.cut(Cut(BASIS))
    bench.run(5, block_ms=5.0)
    bench.player.cut(Cut(BASIS))
    bench.run(200)
    bench.player.cut(Cut(BASIS))
    bench.run(100)
    assert len(bench.of(PlaybackCut)) == 1
    bench.play("four", 0, NEXT)
    bench.player.finish(FinishPlayback(NEXT))
    bench.run_dry()
    bench.player.cut(Cut(NEXT))
    bench.run(100)
    assert names(bench.of(PlaybackCut, PlaybackFinished)) == ["PlaybackCut", "PlaybackFinished"]


def test_a_cut_while_the_last_sound_is_on_its_way_to_the_dac_is_a_cut_that_heard_everything() -> None:
    bench = Bench(latency_ms=200.0)
    bench.play("one two.")
    bench.player.finish(FinishPlayback(BASIS))
    bench.run(700)
    assert not bench.of(PlaybackFinished)
    bench.player.cut(Cut(BASIS))
    bench.run_dry()
    assert names(bench.of(PlaybackCut, PlaybackFinished)) == ["PlaybackCut"]
    assert (bench.cut_fact().heard_text, bench.cut_fact().dropped_samples) == ("one two.", 0)


def test_a_held_reply_is_cut_without_another_sound() -> None:
    bench = Bench()
    bench.play(TEN)
    bench.run(1_000)
    bench.player.pause(Pause(BASIS))
    bench.run(300)
    bench.player.cut(Cut(BASIS))
    assert not bench.run_dry().any()
    assert bench.only(PlaybackCut)[0] == bench.only(PlaybackPaused)[0]
    assert bench.cut_fact().heard_ms == pytest.approx(1_015.0)


def test_a_pause_overtaken_by_a_cut_is_only_a_cut() -> None:
    bench = Bench()
    bench.play(TEN)
    bench.run(500)
    bench.player.pause(Pause(BASIS))
    bench.run(5, block_ms=5.0)
    bench.player.cut(Cut(BASIS))
    bench.player.resume(Resume(BASIS))
    bench.player.duck(Duck(BASIS))
    bench.player.pause(Pause(BASIS))
    bench.run_dry()
    assert names(bench.facts) == ["ClauseStarted", "PlaybackCut"]


def test_a_word_said_again_after_a_pause_is_counted_once() -> None:
    bench = Bench(word_ms=300.0)
    bench.play("aaa bbb ccc ddd")
    bench.run(560)
    bench.player.pause(Pause(BASIS))
    bench.run(100)
    bench.player.resume(Resume(BASIS))
    bench.run(100)
    bench.player.cut(Cut(BASIS))
    bench.run_dry()
    assert (bench.cut_fact().heard_text, bench.cut_fact().heard_ms) == ("aaa bbb", pytest.approx(575.0))


def test_heard_text_is_the_models_text_though_other_words_were_said() -> None:
    bench = Bench(word_ms=200.0)
    bench.play("It costs **$49** in all,\n", 0, spoken="It costs forty nine dollars in all,")
    bench.play("not more.", 1)
    bench.run(400 + 3 * 200 - 15.0)
    bench.player.cut(Cut(BASIS))
    bench.run_dry()
    assert bench.cut_fact().heard_text == "It costs **$49**"


WRITTEN = ("Dr. Lee costs **$49.99** at 3:30 pm, ", "that is 1,200.50 kg, i.e. 5% more; ", "see `example.com` 😀 now.")


def test_a_cut_at_any_moment_leaves_the_reply_up_to_a_whole_written_word() -> None:
    whole, before = "".join(WRITTEN), ""
    sayer = Speakable()
    spoken = [sayer.spoken(text) for text in WRITTEN]
    length_ms = 150.0 * count_words(" ".join(spoken))
    for at_ms in np.arange(0.0, length_ms + 200, 95.0):
        bench = Bench(word_ms=150.0)
        for clause, text in enumerate(WRITTEN):
            bench.play(text, clause, spoken=spoken[clause])
        bench.run(at_ms, block_ms=20.0)
        bench.player.cut(Cut(BASIS))
        bench.run_dry()
        heard = bench.cut_fact().heard_text
        assert whole.startswith(heard) and heard.startswith(before)
        assert not heard or not whole[len(heard) :][:1].strip(), "not in the middle of a word"
        before = heard
    assert before == whole


def test_nothing_of_a_cut_reply_is_heard_in_the_next_one() -> None:
    bench = Bench()
    bench.play("one two three four", 0)
    second = bench.sound(BASIS, 1, "five six seven")
    bench.player.play(Play(BASIS, 1, "five six seven"), second)
    bench.run(400)
    bench.player.cut(Cut(BASIS))
    bench.play("a new reply", 0, NEXT)
    bench.run(250)
    bench.player.play(Play(BASIS, 2, "five six seven"), second)
    bench.player.finish(FinishPlayback(NEXT))
    bench.run_dry()
    after = bench.heard[RATE_HZ * 420 // 1000 :]
    assert tone_frames(after, RATE_HZ, ScriptedVoice.frequency_hz(2)) > 60
    assert tone_frames(after, RATE_HZ, ScriptedVoice.frequency_hz(0)) == 0
    assert tone_frames(after, RATE_HZ, ScriptedVoice.frequency_hz(1)) == 0
    assert names(bench.of(PlaybackCut, PlaybackFinished, Discarded)) == ["PlaybackCut", "Discarded", "PlaybackFinished"]


def test_a_device_that_stopped_pulling_cannot_hold_a_cut_up_and_stays_silent_when_it_comes_back() -> None:
    bench = Bench()
    bench.play(TEN)
    bench.run(500)
    bench.player.cut(Cut(BASIS))
    bench.clock.ms += CUT_PATIENCE_MS + 1.0
    bench.player.poll()
    assert bench.cut_fact().heard_ms == pytest.approx(500.0)
    assert not bench.player.busy
    assert not bench.run(200).any()
    bench.play("on we go", 0, NEXT)
    assert bench.run(200).any()


def test_closing_cuts_what_plays_and_what_waits_and_tells_all_of_it() -> None:
    bench = Bench()
    bench.play("one two three four")
    bench.run(700)
    bench.play("waiting", 0, NEXT)
    bench.player.close()
    assert names(bench.of(PlaybackCut)) == ["PlaybackCut"] * 2
    assert not bench.player.busy
    assert not bench.run(200).any()


# ---- many


def test_two_hundred_random_starts_and_cuts_and_the_next_reply_still_plays() -> None:
    chance = random.Random(7)
    bench = Bench(rate_hz=8_000, word_ms=100.0)
    sound = bench.sound(BASIS, 0, "one two three")
    for turn in range(1, 201):
        basis = Basis(turn, 1, 1)
        for clause in range(chance.randrange(3)):
            bench.player.play(Play(basis, clause, "one two three"), sound)
        bench.run(chance.uniform(0, 300), block_ms=chance.choice((1.0, 10.0, 23.0)))
        for order in chance.choices((Duck, Pause, Resume, FinishPlayback), k=chance.randrange(3)):
            {
                Duck: bench.player.duck,
                Pause: bench.player.pause,
                Resume: bench.player.resume,
                FinishPlayback: bench.player.finish,
            }[order](order(basis))
        bench.run(chance.uniform(0, 30))
        bench.player.cut(Cut(basis))
        before_ms = bench.clock.ms
        bench.run_dry()
        assert bench.clock.ms - before_ms <= 15.0 + LATENCY_MS + 30.0
    ends = [fact.basis.turn for _, fact in bench.of(PlaybackCut, PlaybackFinished)]  # type: ignore[attr-defined]
    assert ends == list(range(1, 201))
    last = Basis(201, 1, 1)
    bench.player.play(Play(last, 0, "one two three"), sound)
    bench.player.finish(FinishPlayback(last))
    assert np.abs(bench.run_dry()).max() == pytest.approx(0.5, rel=0.05)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), st.integers(1, 400)),
        st.tuples(st.just("block"), st.integers(1, 40)),
        st.tuples(st.sampled_from(["play", "finish", "duck", "pause", "resume", "cut"]), st.integers(1, 2)),
    ),
    max_size=40,
)


@settings(max_examples=120, deadline=None)
@given(STEPS)
def test_whatever_is_ordered_when_each_reply_has_one_start_and_one_end_and_nothing_clicks(
    steps: list[tuple[str, int]],
) -> None:
    bench = Bench(rate_hz=8_000, word_ms=100.0)
    hum = np.full(2_400, 0.5, np.float32)
    hum[:40] = np.linspace(0.0, 0.5, 40, endpoint=False)
    hum[-40:] = hum[:40][::-1]
    made = bench.sound(BASIS, 0, "a")
    block_ms, clauses = 10.0, 0
    touched: set[Basis] = set()
    for step, number in steps:
        basis = Basis(number, 1, 1)
        if step == "run":
            bench.run(float(number), block_ms)
        elif step == "block":
            block_ms = float(number)
        elif step == "play":
            clause = SynthesizedClause(
                basis, clauses, "a b c", hum, ((0, 800), (800, 1600), (1600, 2400)), 8_000, made.fact, 0
            )
            bench.player.play(Play(basis, clauses, "a b c"), clause)
            clauses += 1
            touched.add(basis)
        else:
            order = {"finish": FinishPlayback, "duck": Duck, "pause": Pause, "resume": Resume, "cut": Cut}[step](basis)
            getattr(bench.player, step)(order)
            touched |= {basis} if step in ("finish", "cut") else set()
    for basis in sorted(touched):
        bench.player.cut(Cut(basis))
    bench.run_dry()
    ends = [fact.basis for _, fact in bench.of(PlaybackCut, PlaybackFinished)]  # type: ignore[attr-defined]
    assert sorted(ends) == sorted(touched)
    assert np.abs(np.diff(np.concatenate(([0.0], bench.heard, [0.0])))).max() <= 0.5 / 40 + 0.5 / 80 + 1e-3
    started = [fact.clause for _, fact in bench.of(ClauseStarted)]  # type: ignore[attr-defined]
    assert len(started) == len(set(started))
    over: set[Basis] = set()
    for _, fact in bench.facts:
        if isinstance(fact, PlaybackCut | PlaybackFinished):
            over.add(fact.basis)
        elif not isinstance(fact, Discarded):
            assert fact.basis not in over, f"{fact} after the end"  # type: ignore[attr-defined]
