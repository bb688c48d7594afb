"""Facts about devices, and the pairing of samples with the session clock.

Sample numbers count 16 kHz mono samples of the microphone track from 0 at the session's start. Times are
milliseconds on the session clock; a fact's own time (``at`` of its journal entry) is the time of its source.
"""

from __future__ import annotations

from typing import Literal

from voicetui.events.base import Fact

Role = Literal["input", "output"]

RATE_HZ = 16_000
"""The rate of the listening side and of both recorded tracks."""


class DeviceOpened(Fact, frozen=True):
    """A device is open. ``rate_hz`` and ``channels`` are the device's own; ``latency_ms`` is what it reports.

    ``clock`` says where its times come from: "stream" (ADC or DAC stamps), "counted" (samples counted plus reported
    latency, because stamps were implausible) or "paced" (no hardware; a clock-paced file microphone or null
    speaker).
    """

    role: Role
    name: str
    host: str
    rate_hz: int
    channels: int
    latency_ms: float
    clock: Literal["stream", "counted", "paced"]


class DeviceLost(Fact, frozen=True):
    """A device stopped delivering or accepting sound, or delivers nothing but one frozen block or zeros."""

    role: Role
    name: str
    reason: str


class ClockMapped(Fact, frozen=True):
    """At this entry's time the microphone track's sample ``sample`` was at the ADC. At every open and every 10 s."""

    sample: int


class SoundLost(Fact, frozen=True):
    """Sound was lost (overflow) or the speaker ran dry (underflow) at the device; silence fills the loss.

    ``sample`` is where, on the microphone track; ``samples`` how many are filled (0 where it cannot be known);
    ``count`` how many times the device said so since the last such fact.
    """

    role: Role
    sample: int
    samples: int
    count: int
    reason: str


class EchoMeasured(Fact, frozen=True):
    """What the microphone got of the reply of ``turn`` while that was heard: levels in dBFS, medians of 200 ms pieces.

    ``played_dbfs`` is the reply at the speaker, ``heard_dbfs`` the microphone meanwhile, ``left_dbfs`` the same after
    cancelling, ``room_dbfs`` the cleaned microphone when nothing is played. ``delay_ms`` is how long after its DAC
    stamp the echo was at the ADC; None where no echo was found.
    """

    turn: int
    delay_ms: float | None
    played_dbfs: float
    heard_dbfs: float
    left_dbfs: float
    room_dbfs: float


class EchoLost(Fact, frozen=True):
    """Echo is not cancelled any more, for this reason."""

    reason: str
