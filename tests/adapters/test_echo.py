"""Echo cancelling with WebRTC's canceller: sample numbers, what is left of a real voice, what is kept of a person."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import soxr

from tests.adapters.hearing import BLOCKS
from voicetui.events.sound import EchoMeasured
from voicetui.listen.vad import SileroDetector
from voicetui.ports import RATE_HZ, Pcm16, PcmFloat
from voicetui.runtime.clock import SystemClock
from voicetui.sound.echo import EchoCanceller
from voicetui.sound.rates import level_dbfs, to_float, to_int16
from voicetui.sound.wav import read_audio
from voicetui.speak.piper_voice import PiperVoice

pytestmark = pytest.mark.usefixtures("canceller_package")

CLIPS = Path(__file__).resolve().parents[2] / "assets" / "clips"
BLOCK = RATE_HZ // 50
DELAY_MS = 120
SAID = (
    "The capital of France is Paris, and it is known for the Eiffel Tower.",
    "To make a cup of tea, boil some water, put a tea bag into a cup, and pour the water over it.",
)


@pytest.fixture(scope="module")
def reply(piper_path: Path) -> tuple[PcmFloat, int]:
    """Twelve seconds of the program's own voice after one of silence: float32 [n], and its rate."""
    voice = PiperVoice(piper_path, clock=SystemClock())
    pause = np.zeros(voice.rate_hz // 2, np.float32)
    spoken = [piece for text in SAID for piece in (*voice.synthesize(text), pause)]
    return np.concatenate((pause, pause, *spoken, pause, pause)), voice.rate_hz


def echo_of(reply: tuple[PcmFloat, int], level_db: float, delay_ms: float = DELAY_MS) -> PcmFloat:
    """What a microphone gets of it, at 16 kHz, with a little noise."""
    played = soxr.resample(reply[0], reply[1], RATE_HZ)
    late = round(delay_ms * RATE_HZ / 1e3)
    heard = np.zeros_like(played)
    heard[max(0, late) : len(played) + min(0, late)] = played[max(0, -late) : len(played) - max(0, late)]
    noise = np.random.default_rng(1).standard_normal(len(played)) * 10 ** (-70 / 20)
    return (heard * 10 ** (level_db / 20) + noise).astype(np.float32)


def cleaned(
    canceller: EchoCanceller, raw: Pcm16, reply: tuple[PcmFloat, int], *, ahead_ms: float = 40.0, first: int = 0
) -> Pcm16:
    """All that can be known of the cleaned track from sample ``first`` on, the reply being told as it is rendered."""
    sound, rate_hz = reply
    made, told = [], 0
    for start in range(0, len(raw), BLOCK):
        until = min(len(sound), round((start + BLOCK + ahead_ms * RATE_HZ / 1e3) * rate_hz / RATE_HZ))
        if until > told:
            canceller.played(first + round(told * RATE_HZ / rate_hz), sound[told:until], rate_hz)
            told = until
        made.append(canceller.clean(raw[start : start + BLOCK]))
    return np.concatenate(made)


def measured(canceller: EchoCanceller, turn: int) -> EchoMeasured | None:
    """Measure, and let the canceller go by it."""
    found = canceller.measuring(turn)()
    if found is not None:
        canceller.align(found)
    return found


def at_level(samples: PcmFloat, level_db: float) -> PcmFloat:
    """Scaled so that its louder half has this level."""
    hops = samples[: len(samples) // 160 * 160].reshape(-1, 160)
    power = np.mean(np.square(hops), axis=1)
    loud = float(np.mean(power[power >= np.median(power)]))
    return samples * np.float32(10 ** (level_db / 20) / np.sqrt(loud))


def speech_level(samples: PcmFloat) -> float:
    return -20 * float(np.log10(np.max(np.abs(at_level(samples, 0.0))) / np.max(np.abs(samples))))


@pytest.mark.parametrize("block", BLOCKS)
def test_cleaned_sample_n_is_raw_sample_n_whatever_the_blocks(block: int) -> None:
    click = np.zeros(RATE_HZ, np.int16)
    click[7000] = 16_000
    canceller = EchoCanceller()
    sound = np.concatenate([canceller.clean(click[start : start + block]) for start in range(0, len(click), block)])
    assert int(np.argmax(np.abs(sound))) == 7000
    assert len(sound) + canceller.held == len(click)
    assert canceller.held <= 18 * RATE_HZ // 1000


def test_sample_numbers_go_on_over_lost_sound() -> None:
    click = np.zeros(4000, np.int16)
    click[2000] = 16_000
    for lost in (0, 333, 5 * RATE_HZ):
        canceller = EchoCanceller()
        sound = np.concatenate((canceller.clean(click), canceller.skip(lost), canceller.clean(click)))
        assert np.flatnonzero(np.abs(sound) > 8000).tolist() == [2000, 4000 + lost + 2000]


@pytest.mark.models
@pytest.mark.parametrize("level_db", [-6.0, -12.0, -25.0])
def test_of_the_echo_alone_nothing_is_speech(reply: tuple[PcmFloat, int], level_db: float) -> None:
    raw = to_int16(echo_of(reply, level_db))
    assert SileroDetector().feed(raw), "uncancelled, it is"
    assert not SileroDetector().feed(cleaned(EchoCanceller(), raw, reply))


@pytest.mark.models
@pytest.mark.parametrize("delay_ms", [-20.0, 0.0, 60.0, 300.0])
def test_stamps_may_be_wrong_by_so_much(reply: tuple[PcmFloat, int], delay_ms: float) -> None:
    raw = to_int16(echo_of(reply, -12.0, delay_ms))
    assert not SileroDetector().feed(cleaned(EchoCanceller(), raw, reply))


@pytest.mark.models
@pytest.mark.parametrize("over_db", [3.0, -3.0])
@pytest.mark.parametrize("at_s", [1.5, 4.0, 8.0])
def test_a_person_over_the_echo_is_heard(reply: tuple[PcmFloat, int], over_db: float, at_s: float) -> None:
    echo = echo_of(reply, -12.0)
    person = to_float(read_audio(CLIPS / "stop-capital-of-japan.wav")[0])
    onset, both = round(at_s * RATE_HZ), echo.copy()
    both[onset : onset + len(person)] += at_level(person, speech_level(echo) + over_db)
    edges = SileroDetector().feed(cleaned(EchoCanceller(), to_int16(both), reply))
    starts = [edge.sample / RATE_HZ for edge in edges if edge.kind == "started"]
    assert starts and at_s <= starts[0] <= at_s + len(person) / RATE_HZ


def test_what_nobody_plays_over_is_left_as_it_is() -> None:
    person = read_audio(CLIPS / "capital-of-france.wav")[0]
    sound = EchoCanceller().clean(person)
    assert abs(level_dbfs(sound) - level_dbfs(person[: len(sound)])) < 1.0
    one, other = SileroDetector().feed(person), SileroDetector().feed(sound)
    assert one[0].kind == other[0].kind == "started" and abs(one[0].sample - other[0].sample) <= 160


@pytest.mark.models
@pytest.mark.parametrize("delay_ms", [0.0, 120.0, 250.0])
def test_it_tells_when_and_how_loud_the_echo_came_back_and_what_is_left(
    reply: tuple[PcmFloat, int], delay_ms: float
) -> None:
    canceller = EchoCanceller()
    cleaned(canceller, to_int16(echo_of(reply, -12.0, delay_ms)), reply)
    found = measured(canceller, 7)
    assert found is not None and found.turn == 7
    assert found.delay_ms is not None and abs(found.delay_ms - delay_ms) <= 1.0
    assert abs(found.heard_dbfs - found.played_dbfs + 12.0) <= 2.0
    assert found.left_dbfs - found.played_dbfs <= -40.0
    assert measured(canceller, 8) is None, "nothing was played since"


@pytest.mark.models
def test_without_an_echo_no_delay_is_invented(reply: tuple[PcmFloat, int]) -> None:
    canceller = EchoCanceller()
    cleaned(canceller, to_int16(echo_of(reply, -200.0)), reply)
    found = measured(canceller, 1)
    assert found is not None and found.delay_ms is None


@pytest.mark.models
@pytest.mark.parametrize("delay_ms", [-50.0, 580.0])
def test_an_echo_outside_what_can_be_aligned_moves_the_reference(reply: tuple[PcmFloat, int], delay_ms: float) -> None:
    canceller, raw = EchoCanceller(), to_int16(echo_of(reply, -12.0, delay_ms))
    assert SileroDetector().feed(cleaned(canceller, raw, reply, ahead_ms=100)), "at first it is heard"
    found = measured(canceller, 1)
    assert found is not None and found.delay_ms is not None and abs(found.delay_ms - delay_ms) <= 1.0
    assert not SileroDetector().feed(cleaned(canceller, raw, reply, ahead_ms=100, first=len(raw)))


def test_a_canceller_that_breaks_costs_the_cancelling_alone() -> None:
    class Broken:
        def process(self, near: Pcm16, far: Pcm16, /) -> Pcm16:
            raise RuntimeError("no")

    canceller = EchoCanceller(Broken)
    click = np.zeros(4000, np.int16)
    click[2000] = 16_000
    sound = canceller.clean(click)
    assert canceller.trouble and int(np.argmax(sound)) == 2000


@pytest.mark.long
@pytest.mark.models
def test_it_costs_a_few_percent_of_a_core(reply: tuple[PcmFloat, int]) -> None:
    raw = to_int16(echo_of(reply, -12.0))
    began_s = time.process_time()
    cleaned(EchoCanceller(), raw, reply)
    cost = (time.process_time() - began_s) / (len(raw) / RATE_HZ)
    print(f"{cost:.1%} of a core")
    assert cost < 0.08
