"""Speech over the reply: what it costs the reply, what stops, what comes back, and what is remembered of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.sessions.stage import Finals, Heard, InlineWorker, SlowWorker, Stage, TimedWords, WatchedTier, twin_stage
from voicetui.events.listen import SpeechStarted, TranscribeFailed
from voicetui.events.orders import (
    BargeIn,
    Cancel,
    Commit,
    Cut,
    Duck,
    EndTurn,
    Generate,
    Play,
    Reject,
    Resume,
    Synthesize,
    Transcribe,
)
from voicetui.events.session import InterruptAsked, Said
from voicetui.events.speak import (
    ClauseStarted,
    PlaybackCut,
    PlaybackDucked,
    PlaybackPaused,
    PlaybackResumed,
)
from voicetui.listen.ear import Ear
from voicetui.listen.scripted import EnergyDetector, ScriptedDetector
from voicetui.listen.vad import SileroDetector
from voicetui.ports import Pcm16, PcmFloat, VoiceEdge
from voicetui.sound.speaker import NullSpeaker
from voicetui.speak.scripted import ScriptedVoice
from voicetui.views.barge_in import fold_barge_ins

WORD_MS = 250.0
SIX_SECONDS = " ".join(f"w{number}" for number in range(24)) + "."
TEN_WORDS = "one two three four five six seven eight nine ten."


@cache
def begins_ms(reply: str, tokens_per_second: float = 1000.0) -> float:
    """When the reply to what is typed at 500 ms is heard."""
    stage = twin_stage(reply, tokens_per_second=tokens_per_second)
    stage.run_to(2000, stage.post_at(Said("go on"), 500))
    return stage.all(ClauseStarted)[0].at


def typed_stage(
    reply: str, *bursts: tuple[float, float], tokens_per_second: float = 1000.0, voice: ScriptedVoice | None = None
) -> Stage:
    """A stage on which a typed question is answered; bursts count from the start of that answer."""
    begins = begins_ms(reply, tokens_per_second)
    spoken = [(begins + start_ms, begins + end_ms) for start_ms, end_ms in bursts]
    stage = twin_stage(reply, bursts=spoken, tokens_per_second=tokens_per_second, voice=voice)
    stage.parts.recorder = Heard()
    return stage


def run(stage: Stage, end_ms: float, *companions: object) -> Heard:
    stage.run_to(end_ms, stage.post_at(Said("go on"), 500), *companions)
    heard = stage.parts.recorder
    assert isinstance(heard, Heard)
    return heard


@cache
def undisturbed(reply: str) -> PcmFloat:
    return run(typed_stage(reply), 8000).sound


def around_the_gap(heard: Heard) -> tuple[PcmFloat, PcmFloat]:
    """What was played before and after the longest hole."""
    ends = [sample + len(samples) for sample, samples in heard.pieces]
    holes = [heard.pieces[index + 1][0] - ends[index] for index in range(len(ends) - 1)]
    at = int(np.argmax(holes)) + 1
    parts = heard.pieces[:at], heard.pieces[at:]
    before, after = (np.concatenate([samples for _, samples in pieces]) for pieces in parts)
    return before, after


# how soon the reply makes way


class LateDetector(EnergyDetector):
    """Knows of speech 200 ms after what loud hops would tell."""

    def __init__(self) -> None:
        super().__init__()
        self._late = np.zeros(3200, np.int16)

    def feed(self, samples: Pcm16) -> list[VoiceEdge]:
        sound = np.concatenate([self._late, samples])
        self._late = sound[samples.size :]
        edges = super().feed(sound[: samples.size])
        return [replace(edge, sample=edge.sample - 3200) for edge in edges]


def test_a_reply_is_quieter_after_100_ms_and_silent_after_250_though_the_detector_knows_later() -> None:
    stage = typed_stage(SIX_SECONDS, (1000, 2000))
    stage.parts.ear = Ear(LateDetector())
    stage.parts.transcriber = Finals("Stop, please.")
    run(stage, 8000)
    (figures,) = fold_barge_ins(stage.entries)[1]
    (started,) = stage.of(SpeechStarted)
    assert started.noticed_ms - figures.at_ms > 240, "so late"
    assert figures.kind == "bid" and figures.ducked_ms is not None and figures.stop_ms is not None
    assert 0 < figures.ducked_ms <= 100 and 100 < figures.stop_ms <= 250


def test_a_door_that_no_detector_takes_for_speech_holds_the_reply_for_less_than_400_ms_after_it() -> None:
    stage = typed_stage(SIX_SECONDS, (1000, 1150))
    stage.parts.ear = Ear(ScriptedDetector([]))
    heard = run(stage, 10_000)
    (paused,), (resumed,) = stage.all(PlaybackPaused), stage.all(PlaybackResumed)
    door_ms = begins_ms(SIX_SECONDS) + 1000
    assert paused.at - door_ms <= 250 and resumed.at - (door_ms + 150) <= 400
    assert not stage.of(BargeIn) and stage.of(EndTurn)[0].heard_text == SIX_SECONDS
    extra = len(heard.between(0, 9500).nonzero()[0]) - len(undisturbed(SIX_SECONDS).nonzero()[0])
    assert -32 <= extra <= WORD_MS * 16


# noises and backchannels


@pytest.mark.parametrize(
    ("words", "long_ms"),
    [(words, 400) for words in ("mm-hmm", "Mm-hmm.", "yeah", "ok", "Okay, right.", "uh-huh", "I see", "")]
    + [(words, 400) for words in ("right", "mm", "Right, right, right, right.", "Mm-hmm, mm-hmm.", "Got it.", "go on")]
    + [("mm-hmm", 120), ("", 120), ("yeah", 700), ("", 700), ("", 1200), ("", 2000)],
)
def test_what_is_no_bid_leaves_the_reply_whole_and_no_turn_behind(words: str, long_ms: float) -> None:
    stage = typed_stage(SIX_SECONDS, (1000, 1000 + long_ms))
    stage.parts.transcriber = Finals(words)
    heard = run(stage, 10_500, stage.post_at(Said("and then"), 10_000))
    assert stage.of(EndTurn)[0].outcome == "completed" and all(order.basis.turn == 2 for order in stage.of(Cut))
    assert [order.kind for order in stage.of(BargeIn)] == ["backchannel" if words else "noise"]
    assert stage.of(EndTurn)[0].heard_text == SIX_SECONDS
    assert isinstance(stage.tier, WatchedTier)
    assert [message.text for message in stage.tier.asked[-1]] == ["go on", SIX_SECONDS, "and then"]
    extra = len(heard.between(0, 9500).nonzero()[0]) - len(undisturbed(SIX_SECONDS).nonzero()[0])
    assert -32 <= extra <= WORD_MS * 16, "nothing is lost, and at most the word it was held in is said again"


@pytest.mark.parametrize("cause", ["empty", "doubted", "failed", "late"])
def test_a_reply_held_by_a_noise_goes_on_from_the_word_it_was_held_in_within_the_timeout(cause: str) -> None:
    stage = typed_stage(SIX_SECONDS, (1000, 1400))
    stage.parts.transcriber = Finals()
    if cause == "failed":
        stage.parts.transcriber = Failing()
    if cause == "late":
        stage.parts.make_worker = lambda name, clock: (
            SlowWorker(stage.clock, 5000) if name == "transcribe" else InlineWorker()
        )
    heard = run(stage, 14_000)
    before, after = around_the_gap(heard)
    whole = undisturbed(SIX_SECONDS)
    held_at, resumed_at = len(before), len(whole) - len(after)
    assert held_at - WORD_MS * 16 <= resumed_at <= held_at
    fade = 160
    np.testing.assert_array_equal(after[fade:], whole[resumed_at + fade :])
    (paused,), resumed = stage.all(PlaybackPaused), stage.all(PlaybackResumed)[-1]
    speech_end_ms = begins_ms(SIX_SECONDS) + 1400
    assert resumed.at - speech_end_ms <= (1000 if cause == "late" else 150) + 100
    assert paused.body.heard_ms == pytest.approx(held_at / 16, abs=1)
    assert not [order for order in stage.of(Commit) if order.utterance is not None]
    assert stage.of(Reject) and stage.of(EndTurn)[0].heard_text == SIX_SECONDS


def test_a_reply_that_waits_for_a_noise_to_be_read_is_heard_within_the_timeout() -> None:
    stage = twin_stage(SIX_SECONDS, bursts=[(700, 1000)], ttft_ms=400.0, tokens_per_second=1000.0)
    stage.parts.make_worker = lambda name, clock: (
        SlowWorker(stage.clock, 5000) if name == "transcribe" else InlineWorker()
    )
    stage.parts.transcriber = Finals()
    stage.parts.recorder = Heard()
    run(stage, 10_000)
    assert 1000 < stage.all(ClauseStarted)[0].at <= 1000 + 1000 + 100
    assert stage.outcomes == ["completed"] and len(stage.of(Commit)) == 1


def test_words_that_come_after_the_reply_was_given_back_still_cut_it() -> None:
    stage = typed_stage(SIX_SECONDS, (1000, 1500))
    stage.parts.make_worker = lambda name, clock: (
        SlowWorker(stage.clock, 2500) if name == "transcribe" else InlineWorker()
    )
    stage.parts.transcriber = Finals("stop that please")
    run(stage, 14_000)
    assert len(stage.of(Resume)) == 1
    assert [order.kind for order in stage.of(BargeIn)] == ["bid"]
    assert stage.outcomes == ["interrupted", "completed"]
    assert stage.of(Commit)[-1].text == "stop that please"


class Failing:
    """A recogniser that is broken."""

    def run(self, order: Transcribe, sound: Pcm16, first_sample: int, waited_ms: float) -> TranscribeFailed:
        return TranscribeFailed(order.utterance, order.request, order.final, "the model is not there")


def clicks() -> Pcm16:
    random = np.random.default_rng(3)
    track = np.zeros(16 * 5000, np.float64)
    for start in range(0, len(track), 2000):
        track[start : start + 160] = random.standard_normal(160) * 8000
    return np.clip(track, -32768, 32767).astype(np.int16)


def burst() -> Pcm16:
    random = np.random.default_rng(4)
    return np.clip(random.standard_normal(16 * 90) * 32768 * 10 ** (-12 / 20), -32768, 32767).astype(np.int16)


def cough() -> Pcm16:
    """350 ms: a burst of breath that dies away, and a shorter one."""
    random = np.random.default_rng(5)
    t = np.arange(16 * 350) / 16_000
    envelope = np.exp(-t / 0.06) + 0.6 * (t > 0.2) * np.exp(-np.maximum(0, t - 0.2) / 0.05)
    breath = np.convolve(random.standard_normal(len(t)), np.ones(6) / 6, "same")
    return np.clip(breath * envelope * 12_000, -32768, 32767).astype(np.int16)


@pytest.mark.parametrize("ear", ["silero", "energy"])
@pytest.mark.parametrize("sound", [clicks, burst, cough], ids=["clicks", "burst", "cough"])
def test_clicks_a_burst_and_a_cough_over_the_reply_do_not_cut_it(sound: object, ear: str) -> None:
    stage = typed_stage(SIX_SECONDS)
    made = Stage(
        clock=stage.clock,
        tier=stage.tier,
        clips=[(begins_ms(SIX_SECONDS) + 500, sound())],  # type: ignore[operator]
        detector=SileroDetector() if ear == "silero" else EnergyDetector(),
    )
    made.parts.recorder, made.parts.transcriber = Heard(), Finals()
    run(made, 14_000)
    assert not made.of(Cut) and not made.of(Commit)[1:]
    assert all(order.kind == "noise" for order in made.of(BargeIn))
    assert made.of(EndTurn)[0].heard_text == SIX_SECONDS


# bids


@pytest.mark.parametrize("words", ["yeah stop", "stop", "no", "okay but why", "What colour is the sky?"])
def test_what_asks_for_the_floor_cuts_the_reply_and_is_the_next_turn(words: str) -> None:
    stage = typed_stage(SIX_SECONDS, (1000, 1600))
    stage.parts.transcriber = Finals(words)
    run(stage, 14_000)
    assert [order.kind for order in stage.of(BargeIn)] == ["bid"]
    assert [order.text for order in stage.of(Commit)] == ["go on", words]
    assert stage.outcomes == ["interrupted", "completed"]


ASKING = "I can book it for you. Shall I book it now?"


@pytest.mark.parametrize(
    ("words", "before_end_ms", "reply", "answers"),
    [
        ("yes", 400, ASKING, True),
        ("Mm-hmm.", 200, ASKING, True),
        ("Sure, sure.", 50, ASKING, True),
        ("yes", 1000, ASKING, False),
        ("yes", 200, ASKING.replace("?", "."), False),
        ("yes", 200, ASKING + " Or later.", False),
        ("", 200, ASKING, False),
    ],
)
def test_a_yes_at_the_end_of_a_question_is_its_answer(
    words: str, before_end_ms: float, reply: str, answers: bool
) -> None:
    at_ms = WORD_MS * len(reply.split()) - before_end_ms
    stage = typed_stage(reply, (at_ms, at_ms + 400))
    stage.parts.transcriber = Finals(words)
    run(stage, 9000)
    assert [order.text for order in stage.of(Commit)] == ["go on", words][: 1 + answers]
    assert stage.of(EndTurn)[-1].outcome == "completed"
    if not answers:
        assert stage.of(EndTurn)[0].heard_text == reply


def test_speech_with_a_dip_in_it_is_heard_as_one_bid_soon() -> None:
    stage = typed_stage(SIX_SECONDS, (1000, 1300), (1420, 1700))
    stage.parts.transcriber = TimedWords(
        (begins_ms(SIX_SECONDS) + 1250, "wait a"), (begins_ms(SIX_SECONDS) + 1700, "moment")
    )
    run(stage, 14_000)
    onset_ms = begins_ms(SIX_SECONDS) + 1000
    (bid,) = stage.of(BargeIn)
    assert bid.kind == "bid" and bid.onset_ms == pytest.approx(onset_ms, abs=32)
    assert stage.all(Duck)[0].at - onset_ms <= 64 + 100
    assert stage.all(PlaybackDucked)[0].at - onset_ms <= 64 + 100 + 40
    assert stage.of(Commit)[-1].text == "wait a moment"


def test_a_reply_is_cut_at_the_second_word_and_the_next_is_not_queued_behind_it() -> None:
    stage = typed_stage(SIX_SECONDS, (1000, 2400))
    begins = begins_ms(SIX_SECONDS)
    words = ((1300, "what"), (1700, "colour"), (1900, "is"), (2100, "the"), (2400, "sky"))
    stage.parts.transcriber = TimedWords(*((begins + ms, word) for ms, word in words))
    heard = run(stage, 14_000)
    (cut,) = stage.all(Cut)
    assert begins + 1700 <= cut.at <= begins + 1700 + 500 + 30, "at the first look after the second word"
    assert stage.of(Commit)[-1].text == "what colour is the sky"
    second = stage.of(Commit)[-1].basis
    again = next(entry.at for entry in stage.all(ClauseStarted) if entry.body.basis == second)
    assert again - (begins + 2400) < 700
    assert not heard.between(cut.at + 60, again - 20).any()


@pytest.mark.parametrize("latency_ms", [10.0, 30.0, 300.0])
def test_nothing_of_the_old_reply_is_played_after_the_cut_though_its_next_clause_comes_later(latency_ms: float) -> None:
    reply = "one two three four five six seven eight. " + TEN_WORDS
    stage = typed_stage(reply)
    stage.parts.speaker = NullSpeaker(stage.clock, latency_ms=latency_ms)
    stage.parts.make_worker = lambda name, clock: (
        SlowWorker(stage.clock, 1250) if name == "synthesize" else InlineWorker()
    )
    first_ms = 500 + 100 + 1250
    heard = run(stage, 14_000, stage.post_at(InterruptAsked(), first_ms + 1000), stage.post_at(Said("next"), 5000))
    (cut, *_), (old, new) = stage.all(Cut), stage.of(Generate)
    assert cut.body.basis == old.basis
    begins = next(entry.at for entry in stage.all(ClauseStarted) if entry.body.basis == new.basis)
    block_ms, fade_ms = 10, 15
    assert not heard.between(cut.at + latency_ms + 2 * block_ms + fade_ms, begins - 5).any()
    assert heard.between(cut.at - 200, cut.at).any() and begins > 5000
    assert [order.clause for order in stage.of(Play) if order.basis == old.basis] == [0]


def test_a_model_that_goes_on_writing_is_stopped_and_nothing_more_of_it_is_synthesised() -> None:
    sentences = " ".join(f"This is sentence number {number} of the count." for number in range(60))
    spoken_ms: list[float] = []
    voice = ScriptedVoice(work=lambda sentence: spoken_ms.append(0.0))
    stage = typed_stage(sentences, (1000, 1700), tokens_per_second=20.0, voice=voice)
    stage.parts.transcriber = Finals("stop it now")
    spoken_ms.clear()
    heard = run(stage, 12_000, stage.post_at(InterruptAsked(), 6000))
    cut, cancelled = stage.all(Cut)[0], stage.all(Cancel)[0]
    assert isinstance(stage.tier, WatchedTier)
    assert stage.tier.closed_ms[0] - cancelled.at <= 100
    after = [entry for entry in stage.all(Synthesize, Play) if entry.seq > cut.seq]
    assert all(entry.body.basis != cut.body.basis for entry in after)
    new_ms = next(entry.at for entry in stage.all(ClauseStarted) if entry.body.basis != cut.body.basis)
    assert not heard.between(cut.at + 60, new_ms - 5).any()


# what is remembered


@pytest.mark.parametrize("after_ms", [310, 700, 1000, 1600, 2222, 2650])
def test_what_was_heard_of_an_interrupted_reply_is_remembered_to_the_word(after_ms: float) -> None:
    stage = typed_stage(TEN_WORDS, voice=ScriptedVoice(word_ms=300.0))
    at_ms = begins_ms(TEN_WORDS) + after_ms
    run(stage, 12_000, stage.post_at(InterruptAsked(), at_ms), stage.post_at(Said("and"), 8000))
    end = stage.of(EndTurn)[0]
    words = end.heard_text.split()
    assert end.outcome == "interrupted"
    assert words == TEN_WORDS.split()[: len(words)]
    assert abs(len(words) - after_ms / 300) <= 1
    assert stage.of(PlaybackCut)[0].heard_words == len(words)
    assert isinstance(stage.tier, WatchedTier)
    assert [message.text for message in stage.tier.asked[-1]] == ["go on", end.heard_text, "and"]
    assert stage.session.state.history[0].interrupted


def test_of_a_reply_interrupted_by_a_voice_what_was_heard_until_it_was_held_is_remembered() -> None:
    stage = typed_stage(TEN_WORDS, (1600, 2200), voice=ScriptedVoice(word_ms=300.0))
    stage.parts.transcriber = Finals("stop")
    run(stage, 12_000)
    assert isinstance(stage.tier, WatchedTier)
    user, heard, stop = (message.text for message in stage.tier.asked[-1])
    assert (user, stop) == ("go on", "stop")
    assert abs(len(heard.split()) - 5) <= 1 and TEN_WORDS.startswith(heard)


@pytest.mark.parametrize("after_ms", [-25, -10, 0])
def test_a_reply_interrupted_before_it_was_heard_leaves_no_message(after_ms: float) -> None:
    stage = typed_stage(TEN_WORDS, voice=ScriptedVoice(word_ms=300.0))
    at_ms = begins_ms(TEN_WORDS) + after_ms
    run(stage, 12_000, stage.post_at(InterruptAsked(), at_ms), stage.post_at(Said("and"), 8000))
    assert stage.of(EndTurn)[0].outcome == "interrupted" and not stage.of(EndTurn)[0].heard_text
    assert isinstance(stage.tier, WatchedTier)
    assert [message.text for message in stage.tier.asked[-1]] == ["and"]


def test_a_bid_after_the_end_leaves_the_whole_reply_in_the_history() -> None:
    stage = typed_stage(TEN_WORDS, (2600, 3200))
    stage.parts.transcriber = Finals("what about the moon")
    run(stage, 12_000)
    assert stage.outcomes == ["completed", "completed"]
    assert isinstance(stage.tier, WatchedTier)
    assert [message.text for message in stage.tier.asked[-1]] == ["go on", TEN_WORDS, "what about the moon"]
    assert len(stage.of(Generate)) == 2
