"""Playing chirps and hearing them: how far the speaker's and the microphone's times are from the truth together."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from statistics import median

import numpy as np

from voicetui.ports import RATE_HZ, Clock, Microphone, Pcm16, PcmFloat, SoundError, Speaker

CHIRPS = 5
APART_MS = 600.0
_LENGTH_MS = 40.0
_LOW_HZ, _HIGH_HZ = 800.0, 3800.0
_LEAST_RATIO = 8.0
"""A correlation peak this many times its median is a chirp that was heard."""


@dataclass(frozen=True, slots=True)
class Loopback:
    """``residual_ms`` is the time between a chirp at the DAC and the same chirp at the ADC, by the stamps, for each
    that was heard.

    It is the way through the air or the cable, plus what the stamps are wrong by: steady is good, small is better.
    """

    residual_ms: tuple[float, ...]
    played: int

    @property
    def median_ms(self) -> float:
        """The middle residual; NaN if nothing was heard."""
        return median(self.residual_ms) if self.residual_ms else float("nan")


def chirp(rate_hz: int) -> PcmFloat:
    """float32 [40 ms]: a Hann-windowed linear sweep from 0.8 to 3.8 kHz at half scale."""
    time_s = np.arange(round(rate_hz * _LENGTH_MS / 1e3)) / rate_hz
    sweep_hz = _LOW_HZ * time_s + (_HIGH_HZ - _LOW_HZ) / (2 * _LENGTH_MS / 1e3) * time_s**2
    wave = 0.5 * np.sin(2 * np.pi * sweep_hz) * np.hanning(len(time_s))
    return wave.astype(np.float32)


class ChirpRenderer:
    """A ``Renderer`` that plays a chirp every ``APART_MS`` and notes when each was at the DAC."""

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self.played_ms: list[float] = []
        self._period = round(rate_hz * APART_MS / 1e3)
        self._signal = np.zeros(self._period * CHIRPS, np.float32)
        for start in range(0, len(self._signal), self._period):
            self._signal[start : start + round(rate_hz * _LENGTH_MS / 1e3)] = chirp(rate_hz)
        self._frame = 0

    def render(self, out: PcmFloat, dac_ms: float) -> None:
        """Fill ``out`` float32 [frames], mono."""
        piece = self._signal[self._frame : self._frame + len(out)]
        out[: len(piece)] = piece
        out[len(piece) :] = 0.0
        begins = -self._frame % self._period
        if begins < len(piece):
            self.played_ms.append(dac_ms + begins * 1e3 / self.rate_hz)
        self._frame += len(out)

    def underflow(self) -> None:
        """A chirp that was torn is not found again; nothing to do."""


async def measure(speaker: Speaker, microphone: Microphone, clock: Clock) -> Loopback:
    """Play ``CHIRPS`` chirps and listen to them, about four seconds.

    Raises ``SoundError`` when a device cannot be used.
    """
    renderer = ChirpRenderer(await speaker.prepare())
    heard: list[Pcm16] = []
    times: list[tuple[int, float]] = []
    count = 0
    try:
        await microphone.open()
        await speaker.open(renderer)
        end_ms = clock.now_ms() + APART_MS * (CHIRPS + 1)
        async for block in microphone.blocks():
            times.append((count, block.at_ms))
            heard.append(block.samples)
            count += len(block.samples)
            if clock.now_ms() > end_ms:
                break
    finally:
        await asyncio.gather(speaker.close(), microphone.close())
    if not heard:
        raise SoundError("The microphone delivered nothing. Choose another input (`voicetui devices`).")
    return Loopback(tuple(residuals(np.concatenate(heard), times, renderer.played_ms)), len(renderer.played_ms))


def residuals(sound: Pcm16, times: list[tuple[int, float]], played_ms: list[float]) -> list[float]:
    """For each chirp played, the ms until it was at the ADC; those that were not heard are left out.

    ``sound`` is int16 [n] at 16 kHz; ``times`` pairs sample numbers with ms, ascending.
    """
    match = np.abs(np.correlate(sound.astype(np.float64), chirp(RATE_HZ).astype(np.float64), "valid"))
    floor = float(np.median(match)) + 1.0
    samples, at_ms = (np.array(each, dtype=np.float64) for each in zip(*times, strict=True))
    found = []
    for chirp_ms in played_ms:
        first = int(np.interp(chirp_ms - 20, at_ms, samples))
        last = min(len(match), first + round(RATE_HZ * (APART_MS - 50) / 1e3))
        if last <= first:
            continue
        peak = first + int(np.argmax(match[first:last]))
        if match[peak] >= _LEAST_RATIO * floor:
            found.append(float(np.interp(peak, samples, at_ms)) - chirp_ms)
    return found
