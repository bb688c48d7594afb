"""What every end-of-turn scorer promises, asked of the real one and of its twin; and the stage that runs either."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from faster_whisper.feature_extractor import FeatureExtractor

from tests.adapters.hearing import join, noise, over, say, silence, tone, without_edges
from tests.adapters.pausing import PAUSED, halves, in_room
from voicetui.events.orders import ScoreTurn
from voicetui.listen.score import Scorer
from voicetui.listen.scripted import ScriptedScorer
from voicetui.listen.turn_end import SmartTurn, log_mel
from voicetui.ports import RATE_HZ, Pcm16, StageError, TurnScorer
from voicetui.runtime.clock import ManualClock, SystemClock

FINISHED = "Turn off the lights in the kitchen."
CUT = "I was thinking that"


def turn(text: str) -> Pcm16:
    return over(join(silence(0.3), without_edges(say(text)), silence(0.2)), -65)


@pytest.fixture(scope="module")
def real(request: pytest.FixtureRequest) -> TurnScorer:
    return SmartTurn(request.getfixturevalue("smart_turn_path"), clock=SystemClock())


@pytest.fixture(params=["twin", pytest.param("real", marks=pytest.mark.models)])
def scorer(request: pytest.FixtureRequest) -> TurnScorer:
    if request.param == "twin":
        return ScriptedScorer({turn(FINISHED).size / RATE_HZ: 0.97, turn(CUT).size / RATE_HZ: 0.03})
    made: TurnScorer = request.getfixturevalue("real")
    return made


class TestContract:
    def test_warming_up_says_how_long_it_took(self, scorer: TurnScorer) -> None:
        assert scorer.warm() >= 0.0

    def test_a_finished_sentence_scores_high_and_a_cut_one_low_again_and_again(self, scorer: TurnScorer) -> None:
        first = scorer.score(turn(FINISHED)), scorer.score(turn(CUT))
        assert first[0] > 0.8 and first[1] < 0.3
        assert (scorer.score(turn(FINISHED)), scorer.score(turn(CUT))) == first

    @pytest.mark.parametrize(
        "sound",
        [
            *(pytest.param(noise(samples / RATE_HZ, -10), id=f"{samples} samples") for samples in (0, 1, 159, 511)),
            pytest.param(silence(3), id="silence"),
            pytest.param(tone(3, 50, -46), id="mains hum"),
            pytest.param(np.full(16_000, -32768, np.int16), id="stuck low"),
            pytest.param(np.tile(np.array([32767, -32768], np.int16), 8000), id="full scale"),
            pytest.param(np.repeat(noise(0.5, -10), 2)[::2], id="not contiguous"),
            pytest.param(noise(31, -20), id="longer than a window"),
        ],
    )
    def test_odd_sound_gets_a_score_too_and_is_left_as_it_was(self, scorer: TurnScorer, sound: Pcm16) -> None:
        before = sound.copy()
        sound.flags.writeable = False
        assert 0.0 <= scorer.score(sound) <= 1.0
        assert np.array_equal(sound, before)

    def test_two_sounds_at_once_get_each_their_own_score(self, scorer: TurnScorer) -> None:
        sounds = [turn(FINISHED), turn(CUT)]
        expected = [scorer.score(sound) for sound in sounds]
        found: list[list[float]] = [[], []]

        def listen(at: int) -> None:
            found[at] = [scorer.score(sounds[at]) for _ in range(3)]

        threads = [threading.Thread(target=listen, args=(at,)) for at in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [[score] * 3 for score in expected]


def reference_log_mel(samples: Pcm16) -> np.ndarray:
    """The published preprocessing, step by step in float64."""
    window = np.zeros(128_000)
    newest = samples[-128_000:].astype(np.float64) / 32768
    window[128_000 - newest.size :] = newest
    normal = (window - window.mean()) / np.sqrt(window.var() + 1e-7)
    padded = np.pad(normal, 200, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, 400)[::160][:800]
    power = np.abs(np.fft.rfft(frames * np.hanning(401)[:-1])) ** 2
    mel = np.log10(np.maximum(power @ FeatureExtractor.get_mel_filters(16_000, 400, 80).T, 1e-10)).T
    return (np.maximum(mel, mel.max() - 8) + 4) / 4


class TestSmartTurn:
    @pytest.mark.parametrize("seconds", [0.5, 8.0, 9.5])
    def test_the_input_is_the_newest_8_s_padded_in_front_normalised_and_as_whisper_s_mel(self, seconds: float) -> None:
        sound = over(join(noise(seconds / 2, -20), tone(seconds / 2, 440, -12)), -60)
        mel = log_mel(sound, FeatureExtractor(chunk_length=8))
        assert mel.shape == (80, 800) and mel.dtype == np.float32
        assert np.abs(mel - reference_log_mel(sound)).max() < 1e-3

    def test_loudness_does_not_matter(self) -> None:
        sound = turn(FINISHED)
        extractor = FeatureExtractor(chunk_length=8)
        assert np.abs(log_mel(sound, extractor) - log_mel(sound // 4, extractor)).max() < 0.2

    @pytest.mark.models
    def test_sentences_score_higher_than_their_own_beginnings_on_average(self, smart_turn_path: Path) -> None:
        scorer = SmartTurn(smart_turn_path)
        whole, begun = [], []
        for sentence in PAUSED[:10]:
            head, tail = halves(sentence, "slt")
            whole.append(scorer.score(in_room(silence(0.5), head, tail, silence(0.2))))
            begun.append(scorer.score(in_room(silence(0.5), head, silence(0.2))))
        assert np.mean(whole) > np.mean(begun) + 0.2, (whole, begun)

    @pytest.mark.parametrize("content", [None, b"no network"])
    def test_a_missing_or_damaged_model_is_a_sentence_with_a_remedy(
        self, tmp_path: Path, content: bytes | None
    ) -> None:
        path = tmp_path / "turn.onnx"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(StageError, match=r"turn\.onnx") as caught:
            SmartTurn(path).warm()
        assert "voicetui models pull" in caught.value.remedy and caught.value.stage == "score"

    @pytest.mark.models
    def test_another_network_is_refused(self, piper_path: Path) -> None:
        with pytest.raises(StageError, match="another network"):
            SmartTurn(piper_path).score(silence(1))


class TestScorer:
    ORDER = ScoreTurn(utterance=3, request=7, start_sample=1600, end_sample=1700 + 16_000 + 1000)
    SOUND = tone(1.0, 300, -20)

    @pytest.mark.anyio
    async def test_the_answer_names_its_order_its_sound_and_its_times(self) -> None:
        clock = ManualClock()
        await clock.advance(250.0)
        answer = Scorer(ScriptedScorer([0.9]), clock).run(self.ORDER, self.SOUND, 1700, 12.5)
        assert (answer.utterance, answer.request, answer.score) == (3, 7, 0.9)
        assert (answer.start_sample, answer.end_sample) == (1700, 1700 + self.SOUND.size)
        assert (answer.started_ms, answer.waited_ms) == (250.0, 12.5)

    def test_what_is_not_there_yet_is_taken_for_silence(self) -> None:
        twin = ScriptedScorer([0.9])
        Scorer(twin, ManualClock()).run(self.ORDER, self.SOUND, 1700, 0.0)
        assert twin.heard[0].size == self.SOUND.size + 1000 and not twin.heard[0][-1000:].any()

    def test_a_broken_model_is_told(self) -> None:
        broken = ScriptedScorer([StageError("The model is gone.", "Pull it again.", "score")])
        with pytest.raises(StageError, match="gone"):
            Scorer(broken, ManualClock()).run(self.ORDER, self.SOUND, 0, 0.0)
