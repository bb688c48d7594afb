"""The program beside its own echo: the real canceller, the real detector and the real voice, in zero time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.absent import absent
from tests.sessions.stage import Heard, Stage, TimedWords, WatchedTier, assert_ended_in_order, clip
from voicetui.events.orders import BargeIn, ChangeDuplex, Commit, Cut, Duck, OpenUtterance, Reject
from voicetui.events.session import Fault
from voicetui.events.sound import EchoLost, EchoMeasured
from voicetui.events.speak import ClauseStarted
from voicetui.listen.ear import Ear
from voicetui.listen.vad import SileroDetector
from voicetui.models import ModelError, path_of
from voicetui.ports import Pcm16, PcmFloat
from voicetui.runtime.clock import ManualClock
from voicetui.sound.echo import EchoCanceller
from voicetui.speak.piper_voice import PiperVoice

pytestmark = [pytest.mark.models, pytest.mark.usefixtures("canceller_package")]

QUESTION_MS = 1000.0
REPLIES = (
    "The capital of France is Paris, and it is known for the Eiffel Tower.",
    "Boil some water, put a tea bag into a cup, and pour the water over it.",
    "Jupiter is the largest planet in our solar system.",
)


def echoing(
    *lines: tuple[float, str], level_db: float = -12.0, canceller: EchoCanceller | None = None, said: float = 1.0
) -> Stage:
    """A stage whose microphone hears its speaker 120 ms late; ``lines`` are clips, and when they are said."""
    try:
        path = path_of("piper-en_US-joe-medium")
    except ModelError as error:
        absent(str(error))
    clock = ManualClock()
    clips = [(at_ms, (clip(name) * said).astype(np.int16)) for at_ms, name in lines]
    stage = Stage(tier=WatchedTier(clock, *REPLIES), clock=clock, clips=clips, voice=PiperVoice(path, clock=clock))
    stage.parts.canceller = canceller
    stage.parts.ear = Ear(SileroDetector(), canceller)

    def echo(sample: int, samples: PcmFloat) -> None:
        quiet = np.clip(samples * 10 ** (level_db / 20) * 32767, -32768, 32767).astype(np.int16)
        stage.microphone.play(quiet, sample / 16 + 120.0)

    stage.parts.recorder = Heard(echo)
    return stage


def test_of_the_echo_alone_there_is_no_turn_no_barge_in_and_no_duck() -> None:
    stage = echoing((QUESTION_MS, "capital-of-france"), (12_000, "cup-of-tea"), canceller=EchoCanceller())
    stage.parts.transcriber = TimedWords((2300, "hello"), (13_500, "again"))
    stage.run_to(20_000)
    assert [order.text for order in stage.of(Commit)] == ["hello", "again"]
    assert stage.outcomes == ["completed", "completed"]
    assert len(stage.of(OpenUtterance)) == 2
    assert not stage.of(Duck) and not stage.of(BargeIn) and not stage.of(Reject)
    assert_ended_in_order(stage)


def test_the_echo_is_measured_once_a_reply() -> None:
    stage = echoing((QUESTION_MS, "capital-of-france"), (12_000, "cup-of-tea"), canceller=EchoCanceller())
    stage.parts.transcriber = TimedWords((2300, "hello"), (13_500, "again"))
    stage.run_to(20_000)
    one, other = stage.of(EchoMeasured)
    assert (one.turn, other.turn) == (1, 2)
    for found in (one, other):
        assert found.delay_ms is not None and abs(found.delay_ms - 120.0) <= 2.0
        assert found.left_dbfs - found.played_dbfs <= -40.0
    assert not stage.of(ChangeDuplex)


def test_without_cancelling_the_same_echo_interrupts_the_reply() -> None:
    stage = echoing((QUESTION_MS, "capital-of-france"))
    stage.parts.transcriber = TimedWords((2300, "hello"))
    stage.run_to(12_000)
    assert stage.of(Duck)


def test_a_person_over_the_echo_interrupts() -> None:
    probe = echoing((QUESTION_MS, "capital-of-france"), canceller=EchoCanceller())
    probe.parts.transcriber = TimedWords((2300, "hello"))
    probe.run_to(8000)
    over_ms = probe.all(ClauseStarted)[0].at + 1000
    lines = ((QUESTION_MS, "capital-of-france"), (over_ms, "stop-capital-of-japan"))
    # The echo is 12 dB below the voice, and the clips about as loud as that: 15 dB less is 3 dB under the echo.
    stage = echoing(*lines, canceller=EchoCanceller(), said=10 ** (-15 / 20))
    stage.parts.transcriber = TimedWords((2300, "hello"), (over_ms + 2300, "stop it now"))
    stage.run_to(over_ms + 8000)
    assert [order.kind for order in stage.of(BargeIn)][-1] == "bid" and stage.of(Cut)
    assert stage.outcomes[0] == "interrupted"


def test_a_canceller_that_breaks_makes_the_session_half_duplex_and_says_so() -> None:
    class Breaking:
        def process(self, near: Pcm16, far: Pcm16, /) -> Pcm16:
            raise RuntimeError("no")

    stage = echoing((QUESTION_MS, "capital-of-france"), canceller=EchoCanceller(Breaking))
    stage.parts.transcriber = TimedWords((2300, "hello"))
    stage.run_to(12_000)
    assert len(stage.of(EchoLost)) == 1
    (change,) = stage.of(ChangeDuplex)
    assert change.duplex == "half"
    (fault,) = stage.of(Fault)
    assert "half duplex" in fault.message and "Start the program again" in fault.remedy
    assert stage.outcomes == ["completed"] and not stage.of(Duck)


def test_user_wav_is_the_raw_microphone(tmp_path: Path) -> None:
    from voicetui.journal.record import Recorder
    from voicetui.sound.wav import read_audio

    stage = echoing((QUESTION_MS, "capital-of-france"), canceller=EchoCanceller())
    stage.parts.transcriber = TimedWords((2300, "hello"))
    heard, recorder = stage.parts.recorder, Recorder(tmp_path, print)
    assert isinstance(heard, Heard)

    class Both:
        def user(self, samples: Pcm16, lost: int) -> None:
            recorder.user(samples, lost)

        def reply(self, sample: int, samples: PcmFloat, rate_hz: int) -> None:
            heard.reply(sample, samples, rate_hz)
            recorder.reply(sample, samples, rate_hz)

        def close(self) -> None:
            recorder.close()

    stage.parts.recorder = Both()
    stage.run_to(8000)
    user, reply = read_audio(tmp_path / "user.wav")[0], read_audio(tmp_path / "reply.wav")[0]
    began = int(stage.all(ClauseStarted)[0].at * 16)
    played, echo = reply[began : began + 16_000].astype(float), user[began + 1920 : began + 17_920].astype(float)
    assert np.corrcoef(played, echo)[0, 1] > 0.95
