"""What every voice must do, over the scripted one and the real one alike."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

from tests.adapters.playing import BASIS
from voicetui.events.base import Fact
from voicetui.events.orders import Synthesize
from voicetui.ports import Voice
from voicetui.runtime.clock import SystemClock
from voicetui.speak.audible import audible_span
from voicetui.speak.growth import LEAD_MS, TRAIL_MS
from voicetui.speak.piper_voice import PiperVoice
from voicetui.speak.ready_voice import ReadyVoice
from voicetui.speak.scripted import ScriptedVoice
from voicetui.speak.synthesize import Synthesizer


@functools.cache
def warm_piper(path: Path) -> PiperVoice:
    """Loading takes half a second; once is enough."""
    piper = PiperVoice(path, clock=SystemClock())
    piper.warm()
    return piper


@pytest.fixture(params=["scripted", "ready", pytest.param("piper", marks=pytest.mark.models)])
def voice(request: pytest.FixtureRequest) -> Voice:
    """Each voice, ready to speak."""
    if request.param == "ready":
        ready = ReadyVoice(
            ScriptedVoice(), ["Good morning, how can I help you?", "Hello there. How are you? I am fine!"]
        )
        ready.warm()
        return ready
    return ScriptedVoice() if request.param == "scripted" else warm_piper(request.getfixturevalue("piper_path"))


def test_its_rate_is_known_and_it_can_be_warmed_again(voice: Voice) -> None:
    assert 8_000 <= voice.rate_hz <= 48_000
    assert voice.warm() >= 0.0


def test_it_gives_finite_mono_floats_within_full_scale(voice: Voice) -> None:
    pieces = list(voice.synthesize("Good morning, how can I help you?"))
    assert pieces
    for piece in pieces:
        assert piece.dtype == np.float32 and piece.ndim == 1 and len(piece)
        assert np.isfinite(piece).all() and np.abs(piece).max() <= 1.0
        assert audible_span(piece, voice.rate_hz) is not None


def test_it_gives_one_piece_for_each_sentence(voice: Voice) -> None:
    assert len(list(voice.synthesize("Hello there. How are you? I am fine!"))) == 3


@pytest.mark.parametrize("spoken", ["", "   ", "\n", "...", "—", "?!", "🙂", "**"])
def test_it_says_nothing_for_text_without_words(voice: Voice, spoken: str) -> None:
    assert list(voice.synthesize(spoken)) == []


def test_more_words_take_longer(voice: Voice) -> None:
    few, many = (
        sum(map(len, voice.synthesize(text))) for text in ("Yes.", "Yes, on Tuesday afternoon at half past two.")
    )
    assert many > 2 * few


@pytest.mark.parametrize(
    "spoken", ["a\x00b", "\ud800 hello", "[[ x ]] hello", "tab\there", "\x1b[31mred", "1234 €50 @ 9:30"]
)
def test_odd_characters_are_said_or_skipped_but_never_raise(voice: Voice, spoken: str) -> None:
    for piece in voice.synthesize(spoken):
        assert np.isfinite(piece).all()


def test_giving_up_half_way_leaves_it_usable(voice: Voice) -> None:
    stream = voice.synthesize("One sentence. Another sentence.")
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert list(voice.synthesize("Still here."))


def test_what_the_synthesizer_makes_of_it_has_soft_edges_bounded_silence_and_every_word_in_order(voice: Voice) -> None:
    facts: list[Fact] = []
    synthesizer = Synthesizer(voice, SystemClock(), lambda fact, _: facts.append(fact))
    sound = synthesizer.run(Synthesize(BASIS, 0, "We close at five in the afternoon."), lambda _: True)
    assert sound is not None and facts == []
    assert abs(float(sound.samples[0])) < 0.01 and abs(float(sound.samples[-1])) < 0.01
    span = audible_span(sound.samples, sound.rate_hz)
    assert span is not None
    assert span[0] / sound.rate_hz * 1e3 <= LEAD_MS + 5.0
    assert (len(sound.samples) - span[1]) / sound.rate_hz * 1e3 <= TRAIL_MS + 5.0
    frames = [frame for word in sound.words for frame in word]
    assert len(sound.words) == 7 and frames == sorted(frames) and frames[-1] <= len(sound.samples)
