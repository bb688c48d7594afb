"""When speech starts and pauses: frames and energy to edges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicetui.listen.edges import FRAME_SAMPLES, EdgeFinder, EdgeLimits
from voicetui.listen.levels import HOP_SAMPLES, SILENCE_DBFS, LevelTrack, hop_levels, mean_level
from voicetui.ports import RATE_HZ, Pcm16, VoiceEdge

MS = RATE_HZ // 1000
FRAME_MS = FRAME_SAMPLES / MS


def sound(*parts: tuple[float, float], seed: int = 0) -> Pcm16:
    """White noise, in parts of (ms, dBFS)."""
    rng = np.random.default_rng(seed)
    pieces = [rng.standard_normal(round(ms * MS)) * 32768 * 10 ** (dbfs / 20) for ms, dbfs in parts]
    return np.clip(np.round(np.concatenate(pieces)), -32768, 32767).astype(np.int16)


def speech_from(start_ms: float, end_ms: float, frames: int, high: float = 0.95, low: float = 0.02) -> list[float]:
    """The probability of each frame when those that begin from ``start_ms`` to before ``end_ms`` are speech."""
    return [high if start_ms <= frame * FRAME_MS < end_ms else low for frame in range(frames)]


def edges(samples: Pcm16, probabilities: Sequence[float], limits: EdgeLimits | None = None) -> list[VoiceEdge]:
    finder = EdgeFinder(limits)
    found = []
    for at, probability in enumerate(probabilities):
        edge = finder.feed(probability, samples[at * FRAME_SAMPLES : (at + 1) * FRAME_SAMPLES])
        if edge is not None:
            found.append(edge)
    return found


def ms_of(sample: int) -> float:
    return sample / MS


# Speech from 1000 to 2000 ms at -20 dBFS in a room of -70 dBFS; the frames notice it 60 ms late at both ends.
TALK = sound((1000, -70), (1000, -20), (1000, -70))
TALK_FRAMES = speech_from(1060, 2060, 93)


class TestNoRoom:
    def test_between_digital_silences_speech_does_not_pass_for_the_room(self) -> None:
        """The frames notice a voice late: its first 60 ms, and what fades after it, are not the noise floor."""
        one = (1000, -200), (1000, -20), (40, -40)
        talk = sound(*one * 8, (992, -200))
        frames = [
            0.95 if 1060 <= frame * FRAME_MS % 2040 < 2060 else 0.02 for frame in range(talk.size // FRAME_SAMPLES)
        ]
        paused = [edge for edge in edges(talk, frames) if edge.kind == "paused"]
        assert len(paused) == 8
        for number, edge in enumerate(paused):
            assert edge.noise_dbfs < -38
            assert 1995 <= ms_of(edge.sample) - 2040 * number <= 2045


class TestQuick:
    def test_a_quick_finder_announces_the_same_pause_a_frame_sooner(self) -> None:
        finder, found = EdgeFinder(), []
        finder.quick = True
        for at, probability in enumerate(TALK_FRAMES):
            edge = finder.feed(probability, TALK[at * FRAME_SAMPLES : (at + 1) * FRAME_SAMPLES])
            found += [edge] if edge is not None else []
        usual, quick = edges(TALK, TALK_FRAMES)[1], found[1]
        assert quick.sample == usual.sample
        assert usual.noticed_sample - quick.noticed_sample == FRAME_SAMPLES


class TestTimes:
    def test_onset_and_end_are_where_the_energy_is_and_not_where_the_frames_are(self) -> None:
        started, paused = edges(TALK, TALK_FRAMES)
        assert started.kind == "started"
        assert ms_of(started.sample) == pytest.approx(1000, abs=5)
        assert paused.kind == "paused"
        assert ms_of(paused.sample) == pytest.approx(2000, abs=5)
        assert paused.uncertainty_ms <= 5

    def test_speech_is_announced_after_two_frames_of_it(self) -> None:
        started, _ = edges(TALK, TALK_FRAMES)
        first_speech_frame = next(at for at, probability in enumerate(TALK_FRAMES) if probability > 0.5)
        assert started.noticed_sample == (first_speech_frame + 2) * FRAME_SAMPLES

    def test_a_pause_is_announced_about_100_ms_after_the_acoustic_end(self) -> None:
        _, paused = edges(TALK, TALK_FRAMES)
        assert 100 <= ms_of(paused.noticed_sample - paused.sample) <= 165

    def test_levels_of_speech_and_room_come_with_the_edges(self) -> None:
        for edge in edges(TALK, TALK_FRAMES):
            assert edge.level_dbfs == pytest.approx(-20, abs=1)
            assert edge.noise_dbfs == pytest.approx(-70, abs=1)

    @pytest.mark.parametrize("late_ms", [96, 200, 400])
    def test_a_soft_onset_that_the_frames_notice_late_is_found_where_it_rises(self, late_ms: float) -> None:
        soft = sound((1000, -70), (late_ms, -40), (900, -20), (500, -70))
        started, *_ = edges(soft, speech_from(1000 + late_ms, 1900 + late_ms, soft.size // FRAME_SAMPLES))
        assert ms_of(started.sample) == pytest.approx(1000, abs=5)

    def test_a_click_long_before_the_onset_is_not_taken_for_it(self) -> None:
        clicked = sound((800, -70), (10, -15), (190, -70), (900, -20), (500, -70))
        started, *_ = edges(clicked, speech_from(1030, 1930, clicked.size // FRAME_SAMPLES))
        assert ms_of(started.sample) == pytest.approx(1000, abs=5)

    def test_an_onset_never_lies_before_the_stream_or_the_edge_before(self) -> None:
        at_once = sound((700, -20), (160, -70), (700, -20), (400, -70))
        probabilities = [*speech_from(0, 730, 27), *[0.95] * 25, *[0.02] * 8]
        first, paused, second, _ = edges(at_once, probabilities)
        assert first.sample == 0
        assert paused.sample < second.sample
        assert ms_of(second.sample) == pytest.approx(860, abs=35)

    def test_the_end_is_the_last_hop_10_dB_above_a_loud_room(self) -> None:
        # 25 dB below the speech is -45 dBFS, under the room: what counts is 10 dB above the room, -30 dBFS.
        loud_room = sound((1500, -40), (800, -20), (100, -28), (100, -33), (600, -40))
        _, paused = edges(loud_room, speech_from(1530, 2530, loud_room.size // FRAME_SAMPLES))
        assert ms_of(paused.sample) == pytest.approx(2400, abs=10)

    def test_the_end_is_the_last_hop_25_dB_below_the_speech_in_a_quiet_room(self) -> None:
        fading = sound((1000, -80), (800, -20), (60, -42), (60, -48), (600, -80))
        _, paused = edges(fading, speech_from(1030, 1930, fading.size // FRAME_SAMPLES))
        assert ms_of(paused.sample) == pytest.approx(1860, abs=10)

    def test_a_fading_end_is_marked_as_uncertain_by_what_5_dB_would_move_it(self) -> None:
        fading = sound((1000, -80), (800, -20), *[(5, -30 - at) for at in range(30)], (600, -80))
        _, paused = edges(fading, speech_from(1030, 1960, fading.size // FRAME_SAMPLES))
        assert 20 <= paused.uncertainty_ms <= 35

    def test_a_room_too_loud_for_energy_still_pauses_with_its_uncertainty_said(self) -> None:
        drowned = sound((3000, -20))
        probabilities = speech_from(1000, 2000, 93)
        _, paused = edges(drowned, probabilities)
        assert ms_of(paused.sample) == pytest.approx(2000, abs=70)
        assert paused.uncertainty_ms >= 32
        assert ms_of(paused.noticed_sample) <= 2000 + 5 * FRAME_MS

    def test_a_key_pressed_after_the_speech_does_not_move_its_end(self) -> None:
        typed = sound((1000, -70), (1000, -20), (150, -70), (10, -10), (800, -70))
        _, paused = edges(typed, speech_from(1030, 2060, typed.size // FRAME_SAMPLES))
        assert ms_of(paused.sample) == pytest.approx(2000, abs=5)

    def test_a_constant_offset_of_the_sound_card_changes_nothing(self) -> None:
        with_offset = (TALK.astype(np.int32) + 3000).astype(np.int16)
        for plain, offset in zip(edges(TALK, TALK_FRAMES), edges(with_offset, TALK_FRAMES), strict=True):
            assert offset.sample == pytest.approx(plain.sample, abs=HOP_SAMPLES)

    def test_silence_in_place_of_gated_sound_is_not_taken_for_the_room(self) -> None:
        loud_room = sound((1500, -40), (800, -20), (700, -40))
        gated = np.concatenate((loud_room[: 700 * MS], np.zeros(5000 * MS, np.int16), loud_room[1490 * MS :]))
        _, paused = edges(gated, speech_from(5740, 6540, gated.size // FRAME_SAMPLES))
        assert paused.noise_dbfs == pytest.approx(-40, abs=1)
        assert ms_of(paused.sample) == pytest.approx(6510, abs=10)

    def test_speech_from_the_first_sample_on_has_a_right_end_though_the_room_is_unknown(self) -> None:
        at_once = sound((1000, -20), (600, -60))
        _, paused = edges(at_once, speech_from(0, 1040, at_once.size // FRAME_SAMPLES))
        assert ms_of(paused.sample) == pytest.approx(1000, abs=10)


class TestThresholds:
    def test_a_threshold_of_point_9_makes_no_speech_of_probabilities_of_point_8(self) -> None:
        assert edges(TALK, speech_from(1060, 2060, 93, high=0.8), EdgeLimits(threshold=0.9)) == []
        assert len(edges(TALK, speech_from(1060, 2060, 93, high=0.8))) == 2

    def test_one_frame_of_speech_is_not_announced(self) -> None:
        assert edges(TALK, [0.9 if at == 34 else 0.1 for at in range(93)]) == []

    def test_two_lone_frames_of_speech_apart_are_not_announced(self) -> None:
        assert edges(TALK, [0.9 if at in (40, 43, 46) else 0.1 for at in range(93)]) == []

    def test_frames_between_the_thresholds_go_on_with_what_was(self) -> None:
        wavering = [0.9 if 33 <= at < 40 else 0.4 if 40 <= at < 62 else 0.02 for at in range(93)]
        started, paused = edges(TALK, wavering)
        assert (started.kind, paused.kind) == ("started", "paused")
        assert paused.noticed_sample > 62 * FRAME_SAMPLES
        assert edges(TALK, [0.4] * 93) == []

    def test_a_dip_of_one_frame_inside_speech_is_no_pause(self) -> None:
        dipped = list(TALK_FRAMES)
        dipped[45] = 0.1
        assert len(edges(TALK, dipped)) == 2

    def test_speech_after_a_pause_is_a_new_start_and_a_new_pause(self) -> None:
        twice = sound((500, -70), (700, -20), (300, -70), (700, -20), (500, -70))
        probabilities = [
            0.95 if 500 <= at * FRAME_MS < 1230 or 1530 <= at * FRAME_MS < 2230 else 0.02
            for at in range(twice.size // FRAME_SAMPLES)
        ]
        found = edges(twice, probabilities)
        assert [edge.kind for edge in found] == ["started", "paused", "started", "paused"]
        assert [round(ms_of(edge.sample), -1) for edge in found] == [500, 1200, 1500, 2200]

    @pytest.mark.parametrize("limits", [{"threshold": 0.0}, {"threshold": 1.0}, {"end_threshold": 0.6}])
    def test_thresholds_that_make_no_sense_are_refused(self, limits: dict[str, float]) -> None:
        with pytest.raises(ValueError, match="threshold"):
            EdgeLimits(**limits)


class TestDrop:
    def test_dropping_closes_running_speech_and_what_comes_next_is_fresh(self) -> None:
        finder = EdgeFinder()
        for at in range(45):
            finder.feed(TALK_FRAMES[at], TALK[at * FRAME_SAMPLES : (at + 1) * FRAME_SAMPLES])
        rest = TALK[45 * FRAME_SAMPLES :][:100]
        edge = finder.drop(rest)
        assert edge is not None
        assert edge.kind == "paused"
        assert edge.sample <= edge.noticed_sample == 45 * FRAME_SAMPLES + 100
        assert not finder.speaking
        assert finder.drop() is None
        quiet = np.zeros(FRAME_SAMPLES, np.int16)
        assert [finder.feed(0.02, quiet) for _ in range(20)] == [None] * 20

    def test_dropping_without_speech_gives_nothing(self) -> None:
        assert EdgeFinder().drop() is None


class TestAlways:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.tuples(st.floats(0, 1), st.integers(-100, -3)), min_size=1, max_size=80), st.integers(0, 99))
    def test_edges_alternate_and_never_run_backwards(self, frames: list[tuple[float, int]], seed: int) -> None:
        samples = sound(*[(FRAME_MS, dbfs) for _, dbfs in frames], seed=seed)
        found = edges(samples, [probability for probability, _ in frames])
        assert [edge.kind for edge in found] == (["started", "paused"] * len(found))[: len(found)]
        for edge in found:
            assert 0 <= edge.sample <= edge.noticed_sample
            assert edge.uncertainty_ms >= 0
        for before, after in pairwise(found):
            assert before.sample <= after.sample
            assert before.noticed_sample < after.noticed_sample


class TestLevels:
    def test_a_full_scale_sine_reads_minus_3_dBFS_and_silence_minus_120(self) -> None:
        sine = np.round(32767 * np.sin(2 * np.pi * 1000 * np.arange(1600) / RATE_HZ)).astype(np.int16)
        assert hop_levels(sine) == pytest.approx(np.full(20, -3.01), abs=0.02)
        assert hop_levels(np.zeros(159, np.int16)).tolist() == [SILENCE_DBFS]

    def test_a_mean_level_leaves_out_what_is_far_below_the_loudest(self) -> None:
        assert mean_level(np.array([-20.0, -20.0, -90.0])) == pytest.approx(-20.0)
        assert mean_level(np.zeros(0)) == SILENCE_DBFS

    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.integers(0, 700), max_size=20))
    def test_a_track_has_the_same_hops_however_it_is_fed(self, lengths: list[int]) -> None:
        whole = sound((1000 * sum(lengths) / RATE_HZ, -20)) if sum(lengths) else np.zeros(0, np.int16)
        track, at = LevelTrack(10_000), 0
        for length in lengths:
            track.feed(whole[at : at + length])
            at += length
        levels, first = track.between(0, at)
        assert (first, levels.size) == (0, at // HOP_SAMPLES)
        assert levels == pytest.approx(hop_levels(whole), abs=1.5)

    def test_a_track_gives_the_hops_of_a_range_that_are_still_kept(self) -> None:
        track = LevelTrack(10)
        track.feed(np.zeros(40 * HOP_SAMPLES + 3, np.int16))
        assert track.between(0, 10**6)[1] == 30 * HOP_SAMPLES
        levels, first = track.between(32 * HOP_SAMPLES + 1, 35 * HOP_SAMPLES)
        assert (first, levels.size) == (33 * HOP_SAMPLES, 2)
