"""Clauses that are heard while the rest of them is still being made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.adapters.playing import BASIS, NEXT, RATE_HZ, Bench, HandClock
from voicetui.events.base import Basis, Fact
from voicetui.events.orders import Cut, FinishPlayback, Pause, Play, Resume, Synthesize
from voicetui.events.speak import (
    ClauseBegun,
    ClauseEnded,
    ClauseStarted,
    ClauseSynthesized,
    Discarded,
    PlaybackFinished,
    SpeakerDry,
    SynthesisFailed,
)
from voicetui.ports import PcmFloat, StageError
from voicetui.speak.audible import audible_span, frames_of
from voicetui.speak.growing import GrowingClause
from voicetui.speak.piper_voice import PiperVoice
from voicetui.speak.scripted import ScriptedVoice
from voicetui.speak.seams import SeamTrim
from voicetui.speak.synthesize import SynthesizedClause, Synthesizer
from voicetui.speak.timing import GrowingPiece

FIVE = "one two three four five"


def kept_span(samples: PcmFloat, rate_hz: int, lead_ms: float, trail_ms: float) -> tuple[int, int]:
    """What is left of a whole sentence: the plain form of the trimming, to compare with."""
    span = audible_span(samples, rate_hz)
    if span is None:
        return 0, min(len(samples), frames_of(trail_ms, rate_hz))
    first, end = span
    return max(0, first - frames_of(lead_ms, rate_hz)), min(len(samples), end + frames_of(trail_ms, rate_hz))


def fade_edges(samples: PcmFloat, rate_hz: int, fade_ms: float) -> PcmFloat:
    """A copy of float32 [n] that rises from and falls to zero over ``fade_ms`` (or half of it, where it is shorter)."""
    faded = samples.astype(np.float32, copy=True)
    count = min(frames_of(fade_ms, rate_hz), len(faded) // 2)
    if count == 0:
        faded[:] = 0.0
        return faded
    ramp = np.arange(count, dtype=np.float32) / np.float32(count)
    faded[:count] *= ramp
    faded[-count:] *= ramp[::-1]
    return faded


@given(
    lead=st.integers(0, 3000),
    speech=st.integers(800, 4000),
    trail=st.integers(0, 4000),
    cuts=st.lists(st.integers(1, 11_000), max_size=8),
)
def test_trimming_part_by_part_is_trimming_the_whole(lead: int, speech: int, trail: int, cuts: list[int]) -> None:
    tone = 0.3 * np.sin(np.arange(speech) / 3.0)
    whole = np.concatenate((np.zeros(lead), tone, np.zeros(trail))).astype(np.float32)
    first, end = kept_span(whole, RATE_HZ, 30.0, 120.0)
    trim = SeamTrim(RATE_HZ, 30.0, 120.0, 5.0)
    given_out = [trim.feed(part) for part in np.split(whole, sorted({cut for cut in cuts if cut < len(whole)}))]
    given_out.append(trim.finish())
    assert (trim.first, trim.given) == (first, end)
    assert np.allclose(np.concatenate(given_out), fade_edges(whole[first:end], RATE_HZ, 5.0), atol=1e-6)


def test_a_sentence_without_sound_leaves_its_short_silence() -> None:
    trim = SeamTrim(RATE_HZ, 30.0, 120.0, 5.0)
    assert len(trim.feed(np.zeros(16_000, np.float32))) == 0
    assert len(trim.finish()) == RATE_HZ * 120 // 1000


class Made:
    """A synthesizer at work: what it handed out, when, and what it posted."""

    def __init__(self, voice: object, cached_clauses: int = 0) -> None:
        self.clock = HandClock()
        self.facts: list[Fact] = []
        self.handed: list[tuple[float, GrowingClause]] = []
        self.synthesizer = Synthesizer(
            voice,  # type: ignore[arg-type]
            self.clock,
            lambda fact, _: self.facts.append(fact),
            cached_clauses=cached_clauses,
        )

    def run(
        self, spoken: str = FIVE, current: Callable[[Basis], bool] = lambda _: True, streamed: bool = True
    ) -> SynthesizedClause | GrowingClause | None:
        order = Synthesize(BASIS, 0, spoken, streamed)
        return self.synthesizer.run(order, current, 7.0, lambda clause: self.handed.append((self.clock.ms, clause)))


def working(clock_of: list[HandClock], **options: float) -> ScriptedVoice:
    """A voice whose every part (or sentence) costs 40 ms."""

    def work(_: str) -> None:
        clock_of[0].ms += 40.0

    return ScriptedVoice(RATE_HZ, 300.0, gap_ms=50.0, work=work, **options)


def made_by(part_ms: float | None = 200.0, cached_clauses: int = 0) -> Made:
    clocks: list[HandClock] = []
    made = Made(working(clocks, part_ms=part_ms) if part_ms else working(clocks), cached_clauses)
    clocks.append(made.clock)
    return made


class TestMaking:
    def test_the_first_part_is_handed_out_while_the_rest_is_made(self) -> None:
        made = made_by()
        clause = made.run()
        ((at_ms, handed),) = made.handed
        assert handed is clause
        assert at_ms == 40.0
        assert handed.begun == ClauseBegun(BASIS, 0, 0.0, 7.0, 0.0)
        assert handed.fact == ClauseSynthesized(BASIS, 0, 0.0, 40.0, 7.0, 0.0, handed.duration_ms)
        assert handed.at_ms == made.clock.ms == 8 * 40.0

    def test_it_is_the_same_sound_and_the_same_words(self) -> None:
        whole = made_by(None).run()
        grown = made_by().run()
        assert isinstance(whole, SynthesizedClause) and isinstance(grown, GrowingClause)
        parts, over = grown.take()
        assert over and len(parts) > 3
        assert np.allclose(np.concatenate(parts), whole.samples, atol=1e-6)
        assert len(grown.words) == len(whole.words) == 5

    def test_only_what_may_be_streamed_is(self) -> None:
        made = made_by()
        assert isinstance(made.run(streamed=False), SynthesizedClause)
        assert not made.handed

    def test_a_clause_that_is_void_stops_between_parts(self) -> None:
        made = made_by()
        asked = iter([True, True, True, False])
        assert made.run(current=lambda _: next(asked)) is None
        ((_, handed),) = made.handed
        assert not handed.whole
        (waste,) = [fact for fact in made.facts if isinstance(fact, Discarded)]
        assert made.clock.ms == 3 * 40.0
        assert handed.frames + waste.samples == 3 * RATE_HZ * 200 // 1000, "all that was made is accounted for, once"

    def test_a_kept_clause_is_there_at_once_and_whole(self) -> None:
        made = made_by(cached_clauses=4)
        first, again = made.run("one two"), made.run("one two")
        assert isinstance(first, GrowingClause) and isinstance(again, SynthesizedClause)
        assert np.array_equal(np.concatenate(first.take()[0]), again.samples)

    @pytest.mark.parametrize("good_parts", [0, 2])
    def test_a_voice_that_fails(self, good_parts: int) -> None:
        voice = Breaking(good_parts)
        made = Made(voice)
        clause = made.run()
        if good_parts:
            assert clause is None
            ((_, handed),) = made.handed
            assert handed.whole and handed.frames > 0, "what was heard of it ends there"
            (failed,) = made.facts
            assert isinstance(failed, SynthesisFailed) and failed.message == "broken"
        else:
            assert isinstance(clause, SynthesizedClause), "nothing was heard of it yet: made again, in one piece"
            assert not made.facts


class Breaking(ScriptedVoice):
    """Fails in its parts, after some good ones; whole sentences are made well."""

    def __init__(self, good_parts: int) -> None:
        super().__init__(RATE_HZ, 300.0, part_ms=200.0)
        self._good_parts = good_parts

    def synthesize_streamed(self, spoken: str) -> list[GrowingPiece]:
        (piece,) = super().synthesize_streamed(spoken)

        def parts() -> Iterator[PcmFloat]:
            for number, part in enumerate(piece.parts):
                if number == self._good_parts:
                    raise StageError("broken")
                yield part

        return [GrowingPiece(piece.frames, piece.groups, parts())]


def grown(bench: Bench, spoken: str, basis: Basis = BASIS) -> tuple[GrowingClause, list[PcmFloat]]:
    """A clause of which nothing was given yet, and the parts of 300 ms (a word) that it will have."""
    sound = bench.sound(basis, 0, spoken)
    begun = ClauseBegun(basis, 0, 0.0, 0.0, 0.0)
    clause = GrowingClause(begun, 0.0, spoken, sound.words, sound.rate_hz)
    return clause, [sound.samples[first : first + 4800] for first in range(0, len(sound.samples), 4800)]


def end(clause: GrowingClause) -> None:
    fact = ClauseSynthesized(clause.basis, 0, 0.0, 0.0, 0.0, 0.0, clause.duration_ms)
    clause.finish(clause.words, fact, 0.0)


class TestPlaying:
    def test_parts_that_come_in_time_play_as_one_clause(self) -> None:
        bench, plain = Bench(), Bench()
        clause, parts = grown(bench, FIVE)
        clause.give(parts[0])
        bench.player.play(Play(BASIS, 0, FIVE), clause)
        bench.player.finish(FinishPlayback(BASIS))
        plain.play(FIVE)
        plain.player.finish(FinishPlayback(BASIS))
        for part in parts[1:]:
            bench.run(100.0)
            clause.give(part)
        end(clause)
        bench.run_dry()
        plain.run_dry()
        size = min(len(bench.heard), len(plain.heard))
        assert np.array_equal(bench.heard[:size], plain.heard[:size])
        assert bench.only(ClauseStarted) == plain.only(ClauseStarted)
        assert bench.only(ClauseEnded) == plain.only(ClauseEnded)
        assert bench.only(PlaybackFinished) == plain.only(PlaybackFinished)
        assert not bench.of(SpeakerDry)

    def test_a_part_that_comes_late_is_a_dry_speaker_and_no_end(self) -> None:
        bench = Bench()
        clause, parts = grown(bench, FIVE)
        clause.give(parts[0])
        bench.player.play(Play(BASIS, 0, FIVE), clause)
        bench.player.finish(FinishPlayback(BASIS))
        bench.run(500.0)
        assert not bench.of(ClauseEnded, PlaybackFinished)
        for part in parts[1:]:
            clause.give(part)
        end(clause)
        bench.run_dry()
        dry = bench.only(SpeakerDry)[1]
        assert isinstance(dry, SpeakerDry) and 180.0 <= dry.ms <= 220.0
        assert len(bench.of(ClauseEnded)) == len(bench.of(PlaybackFinished)) == 1

    def test_of_one_that_breaks_off_its_beginning_was_heard(self) -> None:
        made = Made(Breaking(2))
        made.run()
        ((_, clause),) = made.handed
        bench = Bench()
        bench.player.play(Play(BASIS, 0, FIVE), clause)
        bench.play("six seven", 1)
        bench.player.finish(FinishPlayback(BASIS))
        bench.run_dry()
        finished = bench.only(PlaybackFinished)[1]
        assert isinstance(finished, PlaybackFinished)
        assert finished.heard_text == "one two six seven"

    def test_what_is_made_after_a_cut_is_never_heard(self) -> None:
        bench = Bench()
        clause, parts = grown(bench, FIVE)
        clause.give(parts[0])
        clause.give(parts[1])
        bench.player.play(Play(BASIS, 0, FIVE), clause)
        bench.run(320.0)
        bench.player.cut(Cut(BASIS))
        bench.run(50.0)
        for part in parts[2:]:
            clause.give(part)
        end(clause)
        after = bench.run(2000.0)
        assert not after.any()
        assert (bench.cut_fact().heard_text, bench.cut_fact().heard_words) == ("one", 1)
        assert bench.cut_fact().cut_words == 5
        bench.play("next", basis=NEXT)
        assert bench.run(500.0).any(), "the next reply is not held up by what never came"

    def test_a_pause_comes_back_at_the_start_of_its_word(self) -> None:
        bench = Bench()
        clause, parts = grown(bench, FIVE)
        clause.give(parts[0])
        clause.give(parts[1])
        bench.player.play(Play(BASIS, 0, FIVE), clause)
        bench.run(400.0)
        bench.player.pause(Pause(BASIS))
        bench.run(300.0)
        for part in parts[2:]:
            clause.give(part)
        end(clause)
        bench.player.finish(FinishPlayback(BASIS))
        bench.player.resume(Resume(BASIS))
        bench.run_dry()
        assert len(bench.of(PlaybackFinished)) == 1
        played_ms = np.count_nonzero(bench.heard) / RATE_HZ * 1e3
        assert 5 * 250 + 60 <= played_ms <= 5 * 250 + 160, "the word that was broken is said again, the others once"

    @pytest.mark.parametrize("rate_hz", [44_100, 48_000])
    def test_at_another_rate_no_frame_is_lost_at_a_seam(self, rate_hz: int) -> None:
        bench = Bench(rate_hz)
        clause, parts = grown(bench, FIVE)
        bench.player.play(Play(BASIS, 0, FIVE), clause)
        bench.player.finish(FinishPlayback(BASIS))
        for part in parts:
            clause.give(part)
            bench.run(20.0)
        end(clause)
        bench.run_dry()
        started, ended = bench.only(ClauseStarted)[0], bench.only(ClauseEnded)[0]
        assert ended - started == pytest.approx(5 * 300.0, abs=6.0)


@pytest.mark.models
class TestPiper:
    @pytest.fixture(scope="class")
    def voice(self, request: pytest.FixtureRequest) -> PiperVoice:
        path: Path = request.getfixturevalue("piper_path")
        voice = PiperVoice(path, clock=HandClock(), noise_scale=0.0, noise_w_scale=0.0)
        voice.warm()
        return voice

    @pytest.mark.parametrize(
        "text", ["Yes.", "The largest planet in our solar system is Jupiter.", "Good morning. How can I help you?"]
    )
    def test_parts_joined_are_the_sentences(self, voice: PiperVoice, text: str) -> None:
        whole = list(voice.synthesize_timed(text))
        pieces = voice.synthesize_streamed(text)
        assert len(pieces) == len(whole)
        for piece, sentence in zip(pieces, whole, strict=True):
            parts = list(piece.parts)
            joined = np.concatenate(parts)
            assert len(joined) == piece.frames == len(sentence.samples)
            assert np.allclose(joined, sentence.samples, atol=1e-4)
            assert piece.groups == sentence.groups

    def test_what_is_too_loud_is_bent_alike_in_parts_and_whole(self, voice: PiperVoice) -> None:
        usual, voice._gain = voice._gain, voice._gain * 4
        try:
            text = "The largest planet in our solar system is Jupiter."
            (whole,) = voice.synthesize(text)
            (piece,) = voice.synthesize_streamed(text)
            parts = np.concatenate(list(piece.parts))
        finally:
            voice._gain = usual
        assert 0.9 < np.abs(whole).max() <= 0.95
        assert np.allclose(parts, whole, atol=1e-4)

    def test_a_long_sentence_begins_with_a_short_part(self, voice: PiperVoice) -> None:
        (piece,) = voice.synthesize_streamed("The largest planet in our solar system is Jupiter.")
        parts = [len(part) for part in piece.parts]
        assert len(parts) >= 3
        assert parts[0] < piece.frames / 4

    def test_a_text_without_words_has_no_parts(self, voice: PiperVoice) -> None:
        assert voice.synthesize_streamed("...") == []
