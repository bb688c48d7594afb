"""What is measured of an echo while the microphone is muted, or loses sound: nothing is invented."""

from __future__ import annotations

import numpy as np
import pytest

from voicetui.ports import RATE_HZ, Pcm16, PcmFloat
from voicetui.sound.echo import EchoCanceller
from voicetui.sound.echo_level import echo_delay

DELAY = 120 * RATE_HZ // 1000


class Letting:
    """Cancels nothing; counts how many of it were made."""

    made = 0

    def __init__(self) -> None:
        Letting.made += 1

    def process(self, near: Pcm16, far: Pcm16, /) -> Pcm16:
        return near


@pytest.fixture
def canceller() -> EchoCanceller:
    Letting.made = 0
    return EchoCanceller(Letting)


def reply(seconds: float) -> PcmFloat:
    """float32 at 16 kHz: noise, as loud as a reply."""
    return (0.1 * np.random.default_rng(1).standard_normal(round(seconds * RATE_HZ))).astype(np.float32)


def echo(sound: PcmFloat) -> Pcm16:
    """What the microphone hears of it, 12 dB below and 120 ms late, in a little noise."""
    heard = np.concatenate((np.zeros(DELAY, np.float32), sound))[: len(sound)] * np.float32(0.25)
    noise = 0.0003 * np.random.default_rng(2).standard_normal(len(sound))
    return np.round((heard + noise) * 32767).astype(np.int16)


def test_of_silence_no_echo_is_found() -> None:
    zeros, played = np.zeros(RATE_HZ, np.int16), echo(reply(1.0))
    assert echo_delay(zeros, played) is None
    assert echo_delay(played, zeros) is None
    assert echo_delay(zeros, zeros) is None


@pytest.mark.parametrize("lost", [False, True])
def test_a_reply_that_a_muted_microphone_did_not_hear_is_not_measured_and_what_was_learnt_is_kept(
    canceller: EchoCanceller, lost: bool
) -> None:
    sound = reply(3.0)
    canceller.played(0, sound, RATE_HZ)
    for _ in range(3):
        canceller.skip(RATE_HZ) if lost else canceller.clean(np.zeros(RATE_HZ, np.int16))
    assert canceller.measuring(1)() is None
    assert Letting.made == 1


@pytest.mark.parametrize("muted", [slice(0, 2), slice(2, 4)], ids=["at first", "at last"])
def test_what_was_heard_before_or_after_muting_is_measured_alone(canceller: EchoCanceller, muted: slice) -> None:
    sound = reply(4.0)
    heard = echo(sound)
    heard[muted.start * RATE_HZ : muted.stop * RATE_HZ] = 0
    canceller.played(0, sound, RATE_HZ)
    canceller.clean(heard)
    found = canceller.measuring(1)()
    assert found is not None and found.delay_ms is not None
    assert found.delay_ms == pytest.approx(120.0, abs=1.0)
    assert found.heard_dbfs == pytest.approx(found.played_dbfs - 12.0, abs=1.0)
    canceller.align(found)
    assert Letting.made == 1


def test_muted_sound_is_not_taken_for_a_quiet_room(canceller: EchoCanceller) -> None:
    noise = np.round(100 * np.random.default_rng(3).standard_normal(2 * RATE_HZ)).astype(np.int16)
    sound = reply(2.0)
    canceller.clean(noise)
    canceller.clean(np.zeros(2 * RATE_HZ, np.int16))
    canceller.played(4 * RATE_HZ, sound, RATE_HZ)
    canceller.clean(echo(sound))
    found = canceller.measuring(1)()
    assert found is not None and found.room_dbfs == pytest.approx(-50.3, abs=1.5)
