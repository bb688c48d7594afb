"""What every recogniser promises, asked of the real one and of its twin; and the transcriber that runs either."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

from tests.adapters.hearing import join, noise, over, say, silence, tone
from voicetui.events.listen import Evidence, Transcribed, TranscribeFailed
from voicetui.events.orders import Transcribe, Window
from voicetui.events.words import normalise_words
from voicetui.listen.scripted import ScriptedRecogniser
from voicetui.listen.transcribe import Transcriber
from voicetui.listen.whisper import WhisperRecogniser
from voicetui.ports import RATE_HZ, Pcm16, Recogniser, Recognition, StageError
from voicetui.runtime.clock import ManualClock, SystemClock

WEATHER = "what's the weather"
TABLE = "I would like to book a table for two people"


def weather() -> Pcm16:
    return over(join(silence(0.3), say(WEATHER), silence(0.3)), -65)


def table() -> Pcm16:
    return over(join(silence(0.3), say(TABLE, "rms"), silence(0.3)), -65)


def words(recognition: Recognition) -> str:
    return " ".join(normalise_words(recognition.text))


@pytest.fixture(scope="module")
def real(request: pytest.FixtureRequest) -> Recogniser:
    return WhisperRecogniser(request.getfixturevalue("whisper_folder"), clock=SystemClock(), language="en")


@pytest.fixture(params=["twin", pytest.param("real", marks=pytest.mark.models)])
def recogniser(request: pytest.FixtureRequest) -> Recogniser:
    if request.param == "twin":
        by_length = {weather().size / RATE_HZ: WEATHER, table().size / RATE_HZ: TABLE}
        return ScriptedRecogniser(by_length)
    made: Recogniser = request.getfixturevalue("real")
    return made


class TestContract:
    def test_warming_up_says_how_long_it_took(self, recogniser: Recogniser) -> None:
        assert recogniser.warm() >= 0.0

    @pytest.mark.parametrize("samples", [0, 1, 159, 511, 1599])
    @pytest.mark.parametrize("make", [silence, lambda seconds: noise(seconds, -10)], ids=["silence", "noise"])
    def test_tiny_or_empty_sound_gives_an_empty_recognition(
        self, recogniser: Recogniser, samples: int, make: Callable[[float], Pcm16]
    ) -> None:
        recognition = recogniser.recognise(make(samples / RATE_HZ), True)
        assert recognition.text == ""
        assert recognition.evidence.speech_ms == 0.0

    @pytest.mark.parametrize(
        "sound",
        [
            pytest.param(silence(3), id="silence"),
            pytest.param(silence(2.048), id="2.048 s of silence"),
            pytest.param(silence(6.64), id="6.64 s of silence"),
            pytest.param(noise(3, -55), id="soft noise"),
            pytest.param(tone(3, 50, -46), id="mains hum"),
        ],
    )
    @pytest.mark.parametrize("final", [True, False])
    def test_sound_without_speech_gives_no_words_and_says_why(
        self, recogniser: Recogniser, sound: Pcm16, final: bool
    ) -> None:
        recognition = recogniser.recognise(sound, final)
        assert recognition.text == ""
        assert recognition.doubt == "no speech"
        assert recognition.evidence.speech_ms == 0.0

    def test_clear_speech_gives_its_words_believed_and_with_evidence(self, recogniser: Recogniser) -> None:
        recognition = recogniser.recognise(table(), True)
        assert words(recognition) == normalised(TABLE)
        assert recognition.doubt == ""
        evidence = recognition.evidence
        assert evidence.speech_ms is not None
        assert 1000 < evidence.speech_ms < 3500
        assert evidence.level_dbfs is not None
        assert -35 < evidence.level_dbfs < -5
        assert evidence.no_speech is not None
        assert evidence.logprob is not None
        assert evidence.compression is not None
        assert (evidence.language, evidence.language_probability) == ("en", None)

    def test_a_partial_has_the_words_of_the_final_on_the_same_sound(self, recogniser: Recogniser) -> None:
        assert words(recogniser.recognise(weather(), False)) == words(recogniser.recognise(weather(), True))

    def test_one_recognition_leaves_nothing_behind_for_the_next(self, recogniser: Recogniser) -> None:
        first = recogniser.recognise(weather(), True)
        recogniser.recognise(table(), True)
        assert recogniser.recognise(weather(), True) == first

    @pytest.mark.parametrize(
        "sound",
        [
            pytest.param(np.full(16_000, -32768, np.int16), id="stuck low"),
            pytest.param(np.tile(np.array([32767, -32768], np.int16), 8000), id="full scale"),
            pytest.param(np.repeat(noise(0.5, -10), 2)[::2], id="not contiguous"),
            pytest.param(noise(0.11, -3), id="short and loud"),
            pytest.param(noise(31, -50), id="longer than a window"),
        ],
    )
    def test_odd_sound_never_raises_and_is_left_as_it_was(self, recogniser: Recogniser, sound: Pcm16) -> None:
        before = sound.copy()
        sound.flags.writeable = False
        assert isinstance(recogniser.recognise(sound, True), Recognition)
        assert np.array_equal(sound, before)

    def test_two_sounds_at_once_get_each_their_own_words(self, recogniser: Recogniser) -> None:
        sounds = [weather(), table()]
        found: list[list[str]] = [[], []]

        def listen(at: int) -> None:
            found[at] = [words(recogniser.recognise(sounds[at], bool(turn % 2))) for turn in range(3)]

        threads = [threading.Thread(target=listen, args=(at,)) for at in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [[normalised(WEATHER)] * 3, [normalised(TABLE)] * 3]


def normalised(text: str) -> str:
    return " ".join(normalise_words(text))


class TestScriptedRecogniser:
    SPEECH = tone(1.0, 300, -20)

    def test_lines_come_in_the_order_of_calls_and_then_nothing(self) -> None:
        twin = ScriptedRecogniser(["one", "two"])
        assert [twin.recognise(self.SPEECH, True).text for _ in range(3)] == ["one", "two", ""]
        assert [final for _, final in twin.heard] == [True, True, True]

    def test_silence_uses_up_no_line(self) -> None:
        twin = ScriptedRecogniser(["one"])
        twin.recognise(silence(1), True)
        assert twin.recognise(self.SPEECH, True).text == "one"

    def test_given_recognitions_come_back_as_they_are(self) -> None:
        given = Recognition("salam", Evidence(language="ms", language_probability=0.41), "unsure")
        assert ScriptedRecogniser([given]).recognise(self.SPEECH, True) is given

    def test_texts_are_judged_by_the_real_rule(self) -> None:
        assert ScriptedRecogniser(["you " * 40]).recognise(self.SPEECH, True).doubt == "repetition"
        assert ScriptedRecogniser(["what is it now"], logprob=-2.0).recognise(self.SPEECH, True).doubt == "unsure"

    def test_the_text_of_the_nearest_length_is_taken(self) -> None:
        twin = ScriptedRecogniser({0.9: "short", 3.0: "long"})
        assert twin.recognise(self.SPEECH, True).text == "short"
        assert twin.recognise(tone(2.5, 300, -20), True).text == "long"


class Broken:
    """A recogniser that fails as it is told."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def warm(self) -> float:
        return 0.0

    def recognise(self, samples: Pcm16, final: bool, window: Window = "short") -> Recognition:
        raise self.error


class TestTranscriber:
    ORDER = Transcribe(utterance=3, request=7, start_sample=1600, end_sample=None, final=True)
    SOUND = tone(1.0, 300, -20)

    @pytest.mark.anyio
    async def test_the_answer_names_its_order_its_sound_and_its_times(self) -> None:
        clock = ManualClock()
        await clock.advance(250.0)
        twin = ScriptedRecogniser(["hello there"])
        answer = Transcriber(twin, clock).run(self.ORDER, self.SOUND, 1700, 12.5)
        assert isinstance(answer, Transcribed)
        assert (answer.utterance, answer.request, answer.final) == (3, 7, True)
        assert (answer.start_sample, answer.end_sample) == (1700, 1700 + self.SOUND.size)
        assert (answer.started_ms, answer.waited_ms) == (250.0, 12.5)
        assert (answer.text, answer.doubt) == ("hello there", "")
        assert answer.evidence.speech_ms == pytest.approx(1000, abs=10)

    @pytest.mark.parametrize("window", ["short", "padded"])
    def test_the_window_of_the_order_is_the_recognisers(self, window: Window) -> None:
        twin = ScriptedRecogniser(["hello"])
        order = Transcribe(utterance=3, request=7, start_sample=0, end_sample=None, final=True, window=window)
        Transcriber(twin, ManualClock()).run(order, self.SOUND, 0, 0.0)
        assert twin.windows == [window]

    def test_doubt_and_language_are_passed_on(self) -> None:
        given = Recognition("salam", Evidence(language="ms", language_probability=0.41), "unsure")
        answer = Transcriber(ScriptedRecogniser([given]), ManualClock()).run(self.ORDER, self.SOUND, 0, 0.0)
        assert isinstance(answer, Transcribed)
        assert (answer.doubt, answer.evidence) == ("unsure", given.evidence)

    @pytest.mark.parametrize("samples", [0, 1, 159, 511, 1599])
    def test_tiny_sound_is_an_empty_transcript(self, samples: int) -> None:
        answer = Transcriber(ScriptedRecogniser(["x"]), ManualClock()).run(self.ORDER, self.SOUND[:samples], 0, 0.0)
        assert isinstance(answer, Transcribed)
        assert answer.text == ""
        assert answer.end_sample == samples

    def test_a_failed_stage_becomes_a_sentence_with_its_remedy(self) -> None:
        broken = Broken(StageError("The model is gone.", "Pull it again.", "transcribe"))
        answer = Transcriber(broken, ManualClock()).run(self.ORDER, self.SOUND, 0, 0.0)
        assert answer == TranscribeFailed(3, 7, True, "The model is gone. Pull it again.")

    @pytest.mark.parametrize("error", [ValueError("nothing"), MemoryError(), KeyError("x"), RuntimeError("gone")])
    def test_nothing_a_recogniser_raises_gets_out(self, error: Exception) -> None:
        answer = Transcriber(Broken(error), ManualClock()).run(self.ORDER, self.SOUND, 0, 0.0)
        assert isinstance(answer, TranscribeFailed)
        assert type(error).__name__ in answer.message
