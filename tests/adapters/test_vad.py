"""The Silero network behind the detector's port, on real and on synthetic sound."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from tests.adapters.hearing import (
    BLOCKS,
    edges_of,
    join,
    noise,
    over,
    recording,
    say,
    silence,
    tone,
    without_edges,
)
from voicetui.listen.edges import FRAME_SAMPLES, EdgeLimits
from voicetui.listen.levels import hop_levels, mean_level
from voicetui.listen.scripted import EnergyDetector, ScriptedDetector
from voicetui.listen.vad import FrameScorer, SileroDetector, network, score_all
from voicetui.ports import RATE_HZ, Pcm16, StageError, VoiceDetector, VoiceEdge

MS = RATE_HZ // 1000
CLICKS = join(*[join(noise(0.01, -12, at), silence(0.115)) for at in range(40)])
BUMPS = np.tile(np.repeat(np.array([20000, 0], np.int16), [160, 1840]), 40)


def starts(found: list[VoiceEdge]) -> list[VoiceEdge]:
    return [edge for edge in found if edge.kind == "started"]


def ends(found: list[VoiceEdge]) -> list[VoiceEdge]:
    return [edge for edge in found if edge.kind == "paused"]


def loud_span(sound: Pcm16) -> tuple[int, int]:
    """First and last sample of what is at most 25 dB below the level of a clean recording of speech."""
    levels = hop_levels(sound)
    loud = np.flatnonzero(levels >= mean_level(levels) - 25)
    return int(loud[0]) * 80, (int(loud[-1]) + 1) * 80


@pytest.fixture
def sentence() -> Pcm16:
    """1.2 s of a room, a spoken sentence, 1.2 s of a room."""
    return over(join(silence(1.2), say("I would like to book a table for two people"), silence(1.2)), -65)


class TestDetectorContract:
    """The same for the real detector and its twin that goes by energy."""

    @pytest.fixture(params=[SileroDetector, EnergyDetector])
    def detector(self, request: pytest.FixtureRequest) -> VoiceDetector:
        made: VoiceDetector = request.param()
        return made

    @pytest.mark.parametrize("block", BLOCKS)
    def test_blocks_of_any_length_give_the_same_edges(
        self, detector: VoiceDetector, sentence: Pcm16, block: int
    ) -> None:
        sound = sentence[: 3 * RATE_HZ] if block == 1 else sentence
        expected = edges_of(type(detector)(), sound, FRAME_SAMPLES)
        assert edges_of(detector, sound, block) == expected
        assert expected

    def test_empty_blocks_are_nothing(self, detector: VoiceDetector) -> None:
        assert detector.feed(np.zeros(0, np.int16)) == []
        assert detector.drop() is None

    def test_starts_and_pauses_alternate_and_lie_inside_what_was_fed(
        self, detector: VoiceDetector, sentence: Pcm16
    ) -> None:
        found = edges_of(detector, join(sentence, sentence))
        assert [edge.kind for edge in found] == ["started", "paused"] * (len(found) // 2)
        assert all(0 <= edge.sample <= edge.noticed_sample <= 2 * sentence.size for edge in found)

    def test_dropped_speech_is_closed_and_does_not_come_back(self, detector: VoiceDetector, sentence: Pcm16) -> None:
        half = 2 * RATE_HZ + 77
        assert len(starts(edges_of(detector, sentence[:half]))) == 1
        closing = detector.drop()
        assert closing is not None
        assert closing.kind == "paused"
        assert closing.noticed_sample == half
        assert detector.drop() is None
        assert edges_of(detector, silence(1.0)) == []

    def test_sample_numbers_go_on_after_a_drop(self, detector: VoiceDetector, sentence: Pcm16) -> None:
        fresh = edges_of(type(detector)(), sentence)
        detector.feed(noise(0.5, -65)[:7777])
        detector.drop()
        for late, early in zip(edges_of(detector, sentence), fresh, strict=True):
            assert late.sample - 7777 == pytest.approx(early.sample, abs=FRAME_SAMPLES)


class TestTimes:
    @pytest.mark.parametrize("voice", ["slt", "rms", "awb", "en"])
    @pytest.mark.parametrize("text", ["what's the weather", "turn off the lights please"])
    def test_onset_and_end_of_clear_speech_are_right_within_20_ms_and_what_is_said_to_be_unsure(
        self, voice: str, text: str
    ) -> None:
        said = say(text, voice)
        begin, end = loud_span(said)
        found = edges_of(SileroDetector(), over(join(silence(1.5), said, silence(1.2)), -80))
        offset = round(1.5 * RATE_HZ)
        assert starts(found)[0].sample - offset == pytest.approx(begin, abs=20 * MS)
        last = ends(found)[-1]
        assert last.sample - offset == pytest.approx(end, abs=(20 + last.uncertainty_ms) * MS)
        assert ends(found)[-1].noticed_sample - offset - end <= 200 * MS

    def test_the_end_in_noise_20_dB_below_the_speech_is_early_by_less_than_its_own_tail(self) -> None:
        said = say("I would like to book a table", "rms")
        level = mean_level(hop_levels(said))
        _, end = loud_span(said)
        found = edges_of(SileroDetector(), over(join(silence(1.5), said, silence(1.2)), level - 20))
        assert -150 * MS <= ends(found)[-1].sample - round(1.5 * RATE_HZ) - end <= 20 * MS

    def test_the_same_words_give_the_same_end_whatever_sound_trails_them(self) -> None:
        for name in ("forever_2.wav", "forever_4.wav"):
            found = edges_of(SileroDetector(), join(recording(name), silence(0.5)))
            assert len(starts(found)) == len(ends(found)) >= 1

    def test_a_long_pause_inside_a_speech_is_found_and_the_speech_again_after_it(self) -> None:
        found = edges_of(SileroDetector(), join(recording("jfk.flac"), silence(0.5)))
        assert len(starts(found)) == len(ends(found)) >= 3


class TestShortWords:
    @pytest.mark.parametrize("word", ["stop", "no", "yes", "okay"])
    @pytest.mark.parametrize("voice", ["slt", "rms", "awb", "kal", "en"])
    def test_an_isolated_short_word_in_quiet_is_found_the_first_time(self, word: str, voice: str) -> None:
        found = edges_of(SileroDetector(), join(silence(1.0), without_edges(say(word, voice)), silence(0.8)))
        assert len(starts(found)) >= 1
        assert len(starts(found)) == len(ends(found))

    @pytest.mark.parametrize("word", ["stop", "no", "yes"])
    def test_a_word_of_about_200_ms_is_found_the_first_time(self, word: str) -> None:
        said = without_edges(say(word, "en", 330), -30.0)
        assert said.size / MS <= 230
        found = edges_of(SileroDetector(), over(join(silence(1.0), said, silence(0.8)), -75))
        assert [edge.kind for edge in found] == ["started", "paused"]


class TestNotSpeech:
    @pytest.mark.parametrize(
        "sound",
        [
            pytest.param(CLICKS, id="10 ms clicks, 8 a second"),
            pytest.param(BUMPS, id="10 ms bumps, 8 a second"),
            pytest.param(join(silence(1), noise(0.09, -12), silence(1)), id="90 ms burst"),
            pytest.param(join(silence(1), noise(0.35, -12), silence(1)), id="350 ms cough"),
            pytest.param(join(silence(1), noise(0.12, -10), silence(0.06), noise(0.15, -14)), id="double cough"),
            pytest.param(silence(3), id="silence"),
            pytest.param(noise(3, -55), id="soft noise"),
            pytest.param(noise(3, -30), id="loud noise"),
            pytest.param(tone(3, 50, -45), id="mains hum"),
            pytest.param(tone(3, 440, -20), id="a tone"),
        ],
    )  # fmt: skip
    def test_what_is_no_speech_gives_no_edge(self, sound: Pcm16) -> None:
        assert edges_of(SileroDetector(), sound) == []

    def test_speech_with_a_dip_of_120_ms_starts_within_the_least_speech_and_100_ms(self) -> None:
        said = without_edges(say("I would like to book a table", "rms"))[: round(0.7 * RATE_HZ)]
        said[round(0.3 * RATE_HZ) : round(0.42 * RATE_HZ)] = 0
        started = starts(edges_of(SileroDetector(), join(silence(1), said, silence(0.8))))[0]
        assert started.noticed_sample - RATE_HZ <= (EdgeLimits().min_speech_ms + 100) * MS

    def test_a_threshold_above_the_probabilities_finds_no_speech(self, sentence: Pcm16) -> None:
        highest = float(score_all(sentence).max())
        assert highest < 0.995
        assert edges_of(SileroDetector(EdgeLimits(threshold=0.995)), sentence) == []
        assert edges_of(SileroDetector(EdgeLimits(threshold=0.5)), sentence)


class TestState:
    def test_whole_clips_and_streams_of_frames_score_alike(self, sentence: Pcm16) -> None:
        scorer = FrameScorer()
        frames = sentence[: sentence.size // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)
        assert [scorer.score(frame) for frame in frames] == pytest.approx(score_all(sentence).tolist(), abs=1e-4)

    def test_speech_at_minute_ten_is_found_as_at_minute_one(self) -> None:
        detector = SileroDetector()
        said = say("I would like to book a table", "rms")[: 2 * RATE_HZ]
        onsets, noticed = [], []
        for turn in range(30):
            sound = over(join(said, silence(20 - said.size / RATE_HZ)), -55, seed=turn)
            begin = turn * 20 * RATE_HZ
            found = starts(edges_of(detector, sound, 4800))
            assert begin <= found[0].sample <= found[-1].sample < begin + said.size
            onsets.append(found[0].sample - begin)
            noticed.append(found[0].noticed_sample - begin)
        assert max(onsets) - min(onsets) <= 2 * FRAME_SAMPLES
        assert np.mean(noticed[-3:]) == pytest.approx(np.mean(noticed[:3]), abs=FRAME_SAMPLES)

    @pytest.mark.parametrize("first", ["speech", "noise", "long"])
    def test_what_was_heard_before_does_not_move_the_next_onset_by_more_than_a_frame(
        self, first: str, sentence: Pcm16
    ) -> None:
        kinds = {"speech": say("tell me a story", "awb"), "noise": noise(2, -30), "long": over(silence(12), -50)}
        before = join(kinds[first], silence(1))
        before = before[: before.size // FRAME_SAMPLES * FRAME_SAMPLES]
        used = SileroDetector()
        edges_of(used, before)
        fresh = starts(edges_of(SileroDetector(), sentence))[0]
        after = starts(edges_of(used, sentence))[0]
        assert after.sample - before.size == pytest.approx(fresh.sample, abs=FRAME_SAMPLES)
        assert after.noticed_sample - before.size == pytest.approx(fresh.noticed_sample, abs=FRAME_SAMPLES)

    def test_two_streams_taking_turns_on_one_network_are_as_two_alone(self, sentence: Pcm16) -> None:
        other = join(noise(0.7, -60), say("what's the weather", "awb"), silence(1))
        alone = [edges_of(SileroDetector(), sound, 480) for sound in (sentence, other)]
        shared = network()
        left, right = SileroDetector(shared=shared), SileroDetector(shared=shared)
        together: tuple[list[VoiceEdge], list[VoiceEdge]] = ([], [])
        for at in range(0, max(sentence.size, other.size), 480):
            together[0].extend(left.feed(sentence[at : at + 480]))
            together[1].extend(right.feed(other[at : at + 480]))
        assert list(together) == alone

    def test_two_threads_on_one_network_find_what_one_finds(self, sentence: Pcm16) -> None:
        alone = edges_of(SileroDetector(), sentence)
        found: list[list[VoiceEdge]] = [[], []]

        def work(at: int) -> None:
            found[at] = edges_of(SileroDetector(), sentence)

        threads = [threading.Thread(target=work, args=(at,)) for at in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [alone, alone]


class TestNetwork:
    def test_a_file_that_is_not_there_says_what_to_do(self, tmp_path: Path) -> None:
        with pytest.raises(StageError, match=r"nothing\.onnx") as caught:
            network(tmp_path / "nothing.onnx")
        assert "faster-whisper" in caught.value.remedy

    def test_a_file_that_is_no_network_says_so(self, tmp_path: Path) -> None:
        (tmp_path / "bad.onnx").write_bytes(b"not a network")
        with pytest.raises(StageError, match=r"bad\.onnx"):
            network(tmp_path / "bad.onnx")


class TestScriptedDetector:
    TABLE = (VoiceEdge("started", 1000, 1500), VoiceEdge("paused", 4000, 5600), VoiceEdge("started", 9000, 9500))

    def test_each_edge_of_the_table_comes_when_it_is_noticed(self) -> None:
        detector = ScriptedDetector(self.TABLE)
        assert detector.feed(np.zeros(1499, np.int16)) == []
        assert detector.feed(np.zeros(1, np.int16)) == [self.TABLE[0]]
        assert detector.feed(np.zeros(20_000, np.int16)) == list(self.TABLE[1:])

    def test_the_pause_of_dropped_speech_is_left_out(self) -> None:
        detector = ScriptedDetector(self.TABLE)
        detector.feed(np.zeros(2000, np.int16))
        assert detector.drop() == VoiceEdge("paused", 2000, 2000)
        assert detector.drop() is None
        assert detector.feed(np.zeros(20_000, np.int16)) == [self.TABLE[2]]
