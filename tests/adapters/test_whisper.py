"""The Whisper recogniser: its guards on a decoder that is told what to say, and the real model on real sound."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from faster_whisper.feature_extractor import FeatureExtractor

from tests.adapters.hearing import join, noise, over, recording, say, silence
from voicetui.events.words import normalise_words
from voicetui.listen.decode import FULL_FRAMES, Decoded, WhisperDecoder
from voicetui.listen.whisper import WhisperRecogniser
from voicetui.ports import RATE_HZ, Pcm16, Recognition, StageError
from voicetui.runtime.clock import SystemClock

KENNEDY = "and so my fellow americans ask not what your country can do for you ask what you can do for your country"


class Told:
    """A decoder that says what it is told, in order, and remembers what it was asked."""

    def __init__(self, *says: Decoded | Exception, guesses: Sequence[tuple[str, float]] = ()) -> None:
        self.says = list(says)
        self.guesses = list(guesses)
        self.multilingual = bool(guesses)
        self.sounds: list[Pcm16] = []
        self.frames: list[int] = []
        self.languages_used: list[str] = []
        self.limits: list[int] = []

    def encode(self, sound: Pcm16, frames: int) -> object:
        self.sounds.append(sound)
        self.frames.append(frames)
        return len(self.sounds) - 1

    def languages(self, encoded: object) -> list[tuple[str, float]]:
        return self.guesses

    def generate(self, encoded: object, language: str, most_tokens: int) -> Decoded:
        self.languages_used.append(language)
        self.limits.append(most_tokens)
        said = self.says.pop(0) if self.says else heard("")
        if isinstance(said, Exception):
            raise said
        return said


def heard(text: str, logprob: float = -0.2, no_speech: float = 0.05, capped: bool = False) -> Decoded:
    return Decoded(text, no_speech, logprob, len(text.split()), capped)


def on(decoder: Told, language: str | None = None, hot_words: str = "") -> WhisperRecogniser:
    path = Path("nowhere")
    return WhisperRecogniser(path, language=language, hot_words=hot_words, load=lambda: decoder)


def spoken(text: str = "what time is it", voice: str = "slt") -> Pcm16:
    return over(join(silence(0.5), say(text, voice), silence(0.5)), -65)


def words(text: str) -> str:
    return " ".join(normalise_words(text))


class TestLoops:
    LOOP = "What time is it? What time is it? What time is it? What time"

    def test_a_loop_is_decoded_again_behind_other_silence(self) -> None:
        decoder = Told(heard(self.LOOP, capped=True), heard("What time is it?"))
        recognition = on(decoder).recognise(spoken(), True)
        assert (recognition.text, recognition.doubt) == ("What time is it?", "")
        assert decoder.sounds[0].size < decoder.sounds[1].size
        assert decoder.frames == [1000, 1000]

    def test_a_final_that_loops_twice_is_decoded_in_the_full_window(self) -> None:
        decoder = Told(*[heard(self.LOOP)] * 2, heard("What time is it?"))
        assert on(decoder).recognise(spoken(), True).text == "What time is it?"
        assert decoder.frames[-1] == FULL_FRAMES

    def test_a_final_that_loops_everywhere_is_doubted(self) -> None:
        assert on(Told(*[heard("you " * 40)] * 3)).recognise(spoken(), True).doubt == "repetition"

    def test_a_partial_never_takes_the_full_window_and_loses_its_repeat(self) -> None:
        decoder = Told(*[heard(self.LOOP)] * 2)
        recognition = on(decoder).recognise(spoken(), False)
        assert (recognition.text, recognition.doubt) == ("What time is it?", "")
        assert max(decoder.frames) < FULL_FRAMES

    def test_a_repeat_cut_off_by_the_token_limit_is_trimmed(self) -> None:
        slow = "I said no. I said no."
        decoder = Told(*[heard(slow, capped=True)] * 3)
        assert on(decoder).recognise(spoken("I would like to book a table for two people"), True).text == "I said no."

    def test_a_long_repeat_that_two_decodings_agree_on_is_kept(self) -> None:
        twice = "what time is it what time is it"
        decoder = Told(*[heard(twice)] * 3)
        recognition = on(decoder).recognise(spoken("what time is it, what time is it"), True)
        assert (recognition.text, recognition.doubt) == (twice, "")
        assert len(decoder.frames) <= 2

    @pytest.mark.parametrize("text", ["No, no, no.", "Bye bye.", "Okay."])
    def test_repeats_that_people_say_are_decoded_once(self, text: str) -> None:
        decoder = Told(heard(text))
        assert on(decoder).recognise(spoken("no no no"), True).text == text
        assert len(decoder.frames) == 1

    def test_a_hopeless_decoding_is_not_tried_again(self) -> None:
        decoder = Told(heard(self.LOOP, logprob=-2.0))
        assert on(decoder).recognise(spoken(), True).doubt
        assert len(decoder.frames) == 1


class TestWindow:
    def test_short_sound_is_decoded_in_10_s_and_longer_in_its_length_and_5_s(self) -> None:
        decoder = Told()
        recogniser = on(decoder)
        recogniser.recognise(spoken(), True)
        eight_s = over(join(*[say("I would like to book a table for two people")] * 3), -65)
        recogniser.recognise(eight_s, True)
        assert decoder.frames[0] == 1000
        assert decoder.frames[1] == pytest.approx(eight_s.size / 160 + 500, abs=60)
        assert decoder.frames[1] % 2 == 0

    def test_padded_always_takes_the_full_window(self) -> None:
        decoder = Told()
        on(decoder).recognise(spoken(), True, "padded")
        assert decoder.frames == [FULL_FRAMES]

    def test_the_token_limit_grows_with_the_sound(self) -> None:
        decoder = Told()
        recogniser = on(decoder)
        recogniser.recognise(spoken("no"), True)
        recogniser.recognise(spoken("I would like to book a table for two people"), True)
        assert 12 <= decoder.limits[0] < decoder.limits[1] < 50

    def test_only_the_speech_and_a_little_around_it_is_decoded(self) -> None:
        said = say("what's the weather")
        decoder = Told()
        on(decoder).recognise(join(silence(3), said, noise(4, -50)), True)
        assert decoder.sounds[0].size <= said.size + 1.3 * RATE_HZ

    def test_more_than_25_s_is_cut_at_pauses_and_joined(self) -> None:
        sentence = join(say("I would like to book a table for two people", "rms"), silence(0.6))
        long = over(join(*[sentence] * 12), -65)
        decoder = Told(heard("one"), heard("two"), heard("three"))
        recognition = on(decoder).recognise(long, True)
        assert recognition.text == "one two" if len(decoder.sounds) == 2 else "one two three"
        assert len(decoder.sounds) >= 2
        assert all(sound.size <= 26 * RATE_HZ for sound in decoder.sounds)
        assert sum(sound.size for sound in decoder.sounds) >= 0.8 * long.size


class TestErrors:
    def test_a_value_error_over_nothing_is_an_empty_recognition(self) -> None:
        recogniser = on(Told(ValueError("max() arg is an empty sequence"), heard("hello")))
        assert recogniser.recognise(spoken(), True).text == ""
        assert recogniser.recognise(spoken(), True).text == "hello"

    def test_a_broken_model_says_what_to_do(self) -> None:
        with pytest.raises(StageError, match="broken") as caught:
            on(Told(RuntimeError("broken"))).recognise(spoken(), True)
        assert caught.value.remedy

    def test_a_model_that_is_not_there_says_to_pull_it_and_does_not_look_elsewhere(self, tmp_path: Path) -> None:
        with pytest.raises(StageError, match=r"model\.bin") as caught:
            WhisperRecogniser(tmp_path).warm()
        assert "voicetui models pull" in caught.value.remedy

    def test_a_damaged_model_says_to_pull_it(self, tmp_path: Path) -> None:
        for name in ("model.bin", "config.json", "tokenizer.json"):
            (tmp_path / name).write_bytes(b"{}")
        with pytest.raises(StageError, match="cannot be loaded") as caught:
            WhisperRecogniser(tmp_path).warm()
        assert "voicetui models pull" in caught.value.remedy


class TestLanguage:
    GUESSES = (("ms", 0.41), ("en", 0.3))

    def test_a_weak_guess_does_not_change_the_language_and_its_probability_is_shown(self) -> None:
        decoder = Told(heard("okay yes"), guesses=self.GUESSES)
        recognition = on(decoder).recognise(join(silence(2), say("okay yes")), True)
        assert decoder.languages_used == ["en"]
        assert (recognition.evidence.language, recognition.evidence.language_probability) == ("en", 0.3)

    def test_a_pinned_language_is_used_without_asking(self) -> None:
        decoder = Told(heard("ja"), guesses=(("en", 0.99),))
        recognition = on(decoder, language="de").recognise(spoken(), True)
        assert decoder.languages_used == ["de"]
        assert (recognition.evidence.language, recognition.evidence.language_probability) == ("de", None)

    def test_a_sure_guess_is_used_and_kept_for_the_next_unsure_one(self) -> None:
        decoder = Told(guesses=(("de", 0.9), ("en", 0.1)))
        recogniser = on(decoder)
        recogniser.recognise(spoken("I would like to book a table for two people"), True)
        decoder.guesses = list(self.GUESSES)
        recogniser.recognise(spoken(), True)
        assert decoder.languages_used == ["de", "de"]

    def test_hot_words_that_come_back_over_silence_are_dropped_and_over_speech_kept(self) -> None:
        echo = "alpha mode, bravo mode, bravo mode"
        recogniser = on(Told(heard(echo)), hot_words="alpha mode, bravo mode")
        assert recogniser.recognise(silence(3), True).text == ""
        kept = recogniser.recognise(spoken("alpha mode, bravo mode, bravo mode"), True)
        assert (kept.text, kept.doubt) == (echo, "")


@pytest.fixture(scope="module")
def whisper(whisper_folder: Path) -> WhisperRecogniser:
    return WhisperRecogniser(whisper_folder, clock=SystemClock(), language="en")


@pytest.fixture(scope="module")
def decoder(whisper_folder: Path) -> WhisperDecoder:
    return WhisperDecoder(whisper_folder)


@pytest.mark.models
class TestRealSpeech:
    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("forever_2.wav", "feels like these days go on forever"),
            ("forever_4.wav", "feels like these days go on forever"),
            ("jfk.flac", KENNEDY),
        ],
    )
    def test_people_are_understood_and_believed(self, whisper: WhisperRecogniser, name: str, text: str) -> None:
        recognition = whisper.recognise(recording(name), True)
        assert words(recognition.text) == text
        assert recognition.doubt == ""

    def test_digits_said_fast_are_believed(self, whisper: WhisperRecogniser) -> None:
        recognition = whisper.recognise(recording("numbers.wav"), True)
        assert recognition.doubt == ""
        assert sum(letter.isdigit() for letter in recognition.text) >= 3

    @pytest.mark.parametrize(("begin_s", "end_s"), [(0, 9.4), (0, 3), (1, 5), (3, 6), (2, 9.4)])
    def test_words_invented_over_a_language_the_model_does_not_know_are_unsure(
        self, whisper: WhisperRecogniser, begin_s: float, end_s: float
    ) -> None:
        russian = recording("vad_leak.wav")[round(begin_s * RATE_HZ) : round(end_s * RATE_HZ)]
        recognition = whisper.recognise(russian, True)
        assert recognition.text
        assert recognition.doubt == "unsure"

    @pytest.mark.parametrize("voice", ["slt", "rms", "awb", "en"])
    def test_a_spoken_thank_you_is_believed(self, whisper: WhisperRecogniser, voice: str) -> None:
        recognition = whisper.recognise(spoken("thank you", voice), True)
        assert (words(recognition.text), recognition.doubt) == ("thank you", "")

    @pytest.mark.parametrize("text", ["no no no", "bye bye", "stop"])
    def test_short_and_repeated_words_are_believed(self, whisper: WhisperRecogniser, text: str) -> None:
        recognition = whisper.recognise(spoken(text, "rms"), True)
        assert (words(recognition.text), recognition.doubt) == (text, "")

    @pytest.mark.parametrize("voice", ["slt", "rms", "awb"])
    @pytest.mark.parametrize("after", ["silence", "noise"])
    def test_nothing_is_invented_after_a_good_sentence(
        self, whisper: WhisperRecogniser, voice: str, after: str
    ) -> None:
        tail = silence(4) if after == "silence" else noise(4, -50)
        recognition = whisper.recognise(join(say("what's the weather", voice), tail), True)
        assert words(recognition.text) == "what's the weather"
        assert recognition.doubt == ""

    def test_the_padded_window_hears_the_same_words(self, whisper: WhisperRecogniser) -> None:
        sound = spoken("I would like to book a table for two people", "rms")
        padded = whisper.recognise(sound, True, "padded")
        assert words(padded.text) == words(whisper.recognise(sound, True).text)

    def test_a_long_speech_is_heard_to_its_end(self, whisper: WhisperRecogniser) -> None:
        sentence = join(say("I would like to book a table for two people", "rms"), silence(0.7))
        recognition = whisper.recognise(over(join(*[sentence] * 10), -65), True)
        assert words(recognition.text).count("i would like to book a table for two people") >= 9

    @pytest.mark.parametrize("samples", [0, 1, 159, 4000, 4001, 48_000, 47_999, 500_000])
    def test_the_spectrogram_is_that_of_sound_padded_with_zeros(self, decoder: WhisperDecoder, samples: int) -> None:
        sound = noise(samples / RATE_HZ, -20)
        padded = np.zeros(1000 * 160, np.float32)
        padded[: min(samples, padded.size)] = sound[: padded.size] / np.float32(32768)
        plain = FeatureExtractor()(padded)[:, :1000]
        # The last frames of a cut differ: what the window sees after it is silence here, a mirror image there.
        same = slice(0, 1000 if samples < padded.size else 997)
        ours = decoder.features(sound, 1000)
        assert ours.shape == (80, 1000)
        assert ours[:, same] == pytest.approx(plain[:, same], abs=2e-3)

    def test_a_token_limit_that_is_hit_is_noticed(self, decoder: WhisperDecoder) -> None:
        encoded = decoder.encode(join(silence(0.3), spoken("I would like to book a table")), 1000)
        assert decoder.generate(encoded, "en", 4).capped
        assert not decoder.generate(encoded, "en", 60).capped

    def test_a_language_that_an_english_model_does_not_know_is_refused(self, whisper_folder: Path) -> None:
        with pytest.raises(StageError, match="'de'") as caught:
            WhisperRecogniser(whisper_folder, language="de").warm()
        assert "English-only" in caught.value.remedy

    def test_an_english_model_says_english_and_no_probability(self, whisper_folder: Path) -> None:
        recognition = WhisperRecogniser(whisper_folder).recognise(spoken(), True)
        assert (recognition.evidence.language, recognition.evidence.language_probability) == ("en", None)


@pytest.fixture(scope="module")
def multilingual(whisper_base_folder: Path) -> WhisperRecogniser:
    return WhisperRecogniser(whisper_base_folder)


@pytest.mark.models
class TestManyLanguages:
    def test_the_language_is_guessed_shown_and_not_translated(self, multilingual: WhisperRecogniser) -> None:
        request = spoken("Ich möchte bitte einen Tisch für zwei Personen", "de")
        german: Recognition = multilingual.recognise(request, True)
        assert german.evidence.language == "de"
        assert german.evidence.language_probability is not None
        assert german.evidence.language_probability > 0.6
        assert "tisch" in words(german.text)
        english = multilingual.recognise(spoken("I would like to book a table for two people", "rms"), True)
        assert english.evidence.language == "en"

    def test_a_short_word_after_silence_keeps_the_language_of_the_session(
        self, multilingual: WhisperRecogniser
    ) -> None:
        before = multilingual.recognise(spoken("I would like to book a table for two people", "rms"), True)
        after = multilingual.recognise(join(silence(2), say("okay yes")), True)
        assert (before.evidence.language, after.evidence.language) == ("en", "en")
