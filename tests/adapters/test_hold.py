"""A reply that is held until it is due: its first audible frame is at the DAC then, to the frame."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tests.adapters.playing import BASIS, NEXT, Bench
from tests.adapters.test_output import RATE_HZ, Device, marks, numbered, numbers
from voicetui.events.base import Basis
from voicetui.events.orders import Cut, Duck, FinishPlayback, Pause, Play, Resume
from voicetui.events.speak import ClauseStarted, PlaybackCut, PlaybackFinished, SpeakerDry
from voicetui.speak.output import Change, Kind, OutputRing

LEAD = 240
"""Frames of silence in front: 30 ms."""


def held(due_ms: float, count: int = 800, lead: int = LEAD) -> tuple[OutputRing, Device]:
    """A ring with ``count`` numbered frames, of which the one numbered ``lead`` is due at ``due_ms``."""
    ring = OutputRing(RATE_HZ)
    ring.hold(0, lead, due_ms)
    ring.write(numbered(0, count))
    return ring, Device(ring)


def heard_at(sound: np.ndarray, number: int) -> int:
    """In which frame of what was rendered the frame of this number is."""
    frames = [round(float(value) * (1 << 20)) - 1 for value in sound]
    return frames.index(number)


@pytest.mark.parametrize("block", [1, 7, 80, 333, 2000])
@pytest.mark.parametrize("due_ms", [30.0, 100.0, 123.4])
def test_the_audible_frame_is_at_the_dac_when_it_is_due_whatever_the_block_size(block: int, due_ms: float) -> None:
    ring, device = held(due_ms)
    sound = device.pull(2000, block)
    assert heard_at(sound, LEAD) == round(due_ms * RATE_HZ / 1e3)
    assert numbers(sound) == list(range(800))
    assert not sound[: heard_at(sound, 0)].any()
    assert ring.written == 800


@pytest.mark.parametrize(("due_ms", "first"), [(20.0, 80), (5.0, 200), (0.0, LEAD), (-500.0, LEAD)])
def test_too_late_for_the_silence_in_front_it_is_left_out_and_no_more(due_ms: float, first: int) -> None:
    _, device = held(due_ms)
    sound = device.pull(800)
    assert numbers(sound)[0] == first
    assert heard_at(sound, LEAD) == max(0, round(due_ms * RATE_HZ / 1e3))


def test_a_clock_that_is_corrected_while_it_waits_is_followed() -> None:
    _, device = held(100.0)
    device.pull(400)
    device.dac_ms += 20.0
    sound = device.pull(1000)
    assert heard_at(sound, LEAD) == 400 - 160


def test_what_was_written_before_plays_to_its_end_first() -> None:
    ring = OutputRing(RATE_HZ)
    ring.write(numbered(0, 400))
    ring.hold(400, 400 + LEAD, 200.0)
    ring.write(numbered(400, 800))
    sound = Device(ring).pull(3000)
    assert numbers(sound) == list(range(1200))
    assert numbers(sound[:400]) == list(range(400))
    assert heard_at(sound, 400 + LEAD) == 1600


@pytest.mark.parametrize("change", [Change.DROP, Change.HUSH])
def test_dropped_while_it_waits_nothing_of_it_is_heard(change: Change) -> None:
    ring, device = held(100.0)
    device.pull(80)
    ring.ask(change)
    assert not device.pull(1600).any()
    (mark,) = marks(ring)
    assert mark.kind is Kind.DROPPED
    ring.write(numbered(800, 100))
    assert numbers(device.pull(200)) == list(range(800, 900))


def test_ducked_while_it_waits_it_begins_quiet_and_on_time() -> None:
    ring, device = held(100.0)
    device.pull(80)
    ring.ask(Change.DUCK)
    sound = device.pull(720 + 400)
    loud = np.flatnonzero(sound)[0]
    assert loud == 800 - 80 - LEAD
    assert next(mark.kind for mark in marks(ring)) is Kind.DUCKED


def test_held_for_the_user_beyond_its_time_it_plays_at_once_when_it_may() -> None:
    ring, device = held(100.0)
    ring.ask(Change.HOLD)
    assert not device.pull(1600).any()
    ring.ask(Change.BACK, 0)
    sound = device.pull(800)
    assert np.flatnonzero(sound)[0] == 0
    assert len(np.flatnonzero(sound)) == 800 - LEAD


def test_given_back_in_time_it_is_still_due_when_it_was() -> None:
    ring, device = held(100.0)
    ring.ask(Change.HOLD)
    device.pull(400)
    ring.ask(Change.BACK, 0)
    sound = device.pull(1600)
    assert heard_at(sound, LEAD) == 800 - 400


def test_waiting_allocates_nothing_to_speak_of() -> None:
    ring, _ = held(5000.0)
    out = np.zeros(4000, np.float32)
    ring.render(out, 0.0)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for block in range(9):
            ring.render(out, block * 500.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - before < out.nbytes / 2


def play(bench: Bench, due_ms: float, basis: Basis = BASIS) -> None:
    bench.player.play(Play(basis, 0, "one two", due_ms), bench.sound(basis, 0, "one two"))
    bench.player.finish(FinishPlayback(basis))


@pytest.mark.parametrize("rate_hz", [16_000, 44_100, 48_000])
@pytest.mark.parametrize("due_ms", [60.0, 237.7, 1234.5])
def test_the_player_tells_that_its_reply_was_heard_when_it_was_due(rate_hz: int, due_ms: float) -> None:
    bench = Bench(rate_hz=rate_hz)
    play(bench, due_ms)
    bench.run_dry()
    assert bench.only(ClauseStarted)[0] == pytest.approx(due_ms, abs=1e3 / rate_hz)
    assert bench.only(PlaybackFinished)
    assert not bench.of(SpeakerDry)


def test_a_second_reply_is_due_at_a_time_of_its_own() -> None:
    bench = Bench()
    play(bench, 100.0)
    bench.run(1000)
    play(bench, 1500.0, NEXT)
    bench.run_dry()
    assert [round(at_ms) for at_ms, _ in bench.of(ClauseStarted)] == [100, 1500]


def test_cut_while_it_waits_it_was_never_heard() -> None:
    bench = Bench()
    play(bench, 500.0)
    bench.run(100)
    bench.player.cut(Cut(BASIS))
    bench.run(1000)
    assert (bench.cut_fact().heard_ms, bench.cut_fact().heard_text) == (0.0, "")
    assert not bench.heard.any()
    assert not bench.of(ClauseStarted) and len(bench.of(PlaybackCut)) == 1


def test_ducked_paused_and_given_back_it_is_whole() -> None:
    bench = Bench()
    play(bench, 300.0)
    bench.run(100)
    bench.player.duck(Duck(BASIS))
    bench.run(50)
    bench.player.pause(Pause(BASIS))
    bench.run(400)
    assert not bench.heard.any()
    bench.player.resume(Resume(BASIS))
    asked_ms = bench.clock.ms
    bench.run_dry()
    assert bench.only(ClauseStarted)[0] == pytest.approx(asked_ms + bench.latency_ms, abs=11)
    assert bench.only(PlaybackFinished)
