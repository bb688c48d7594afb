"""A scripted person who is heard: clips on the speaker, mixed with what it plays anyway.

Without this only the answers of a demo can be heard, and no gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import soxr

from voicetui.events.sound import DeviceOpened
from voicetui.ports import RATE_HZ, Pcm16, PcmFloat, Renderer, Speaker
from voicetui.sound.microphone import FileMicrophone

_APART_MS: Final = 3.0
"""A clip this far from its time jumps there; less is the wander of the stamps, and stays."""


@dataclass(slots=True)
class _Said:
    """A clip at the speaker's rate; ``place`` is its next frame, -1 before its first."""

    samples: PcmFloat
    begins_ms: float
    place: int = -1


class Aloud:
    """A ``Speaker`` around another, on which clips can be said besides."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._rate_hz = 0
        self.said: tuple[_Said, ...] = ()
        """What the callback looks at; replaced, never changed in place."""

    async def prepare(self) -> int:
        """Choose the device and return its rate in Hz. Raises ``SoundError``."""
        self._rate_hz = await self._speaker.prepare()
        return self._rate_hz

    async def open(self, renderer: Renderer) -> DeviceOpened:
        """Start pulling from ``renderer`` and the clips. Raises ``SoundError``."""
        return await self._speaker.open(_Mixed(renderer, self))

    async def close(self) -> None:
        """Stop. Idempotent; never hangs."""
        await self._speaker.close()

    def say(self, samples: Pcm16, at_ms: float) -> None:
        """Let int16 [n] at 16 kHz be heard too, its first sample at the DAC at ``at_ms``, or as soon as possible."""
        if not self._rate_hz:
            return
        sound = soxr.resample(samples.astype(np.float32) / 32768, RATE_HZ, self._rate_hz, quality="HQ")
        still = [each for each in self.said if each.place < len(each.samples)]
        self.said = (*still, _Said(sound, at_ms))


class Mouth:
    """Says clips into a file microphone and, at the same times, on the speaker in use, if that is an ``Aloud`` one."""

    def __init__(self, microphone: FileMicrophone, speaker: Callable[[], Speaker]) -> None:
        self._microphone = microphone
        self._speaker = speaker

    def play(self, samples: Pcm16, at_ms: float | None = None) -> float:
        """Say int16 [n] at 16 kHz at ``at_ms``, or as soon as possible; when its first sample is at the ADC."""
        begins_ms = self._microphone.play(samples, at_ms)
        speaker = self._speaker()
        if isinstance(speaker, Aloud):
            speaker.say(samples, begins_ms)
        return begins_ms


class _Mixed:
    """What the callback of an ``Aloud`` speaker plays: no locks, no arrays made."""

    def __init__(self, renderer: Renderer, aloud: Aloud) -> None:
        self.rate_hz = renderer.rate_hz
        self._renderer = renderer
        self._aloud = aloud
        self._apart = round(_APART_MS * renderer.rate_hz / 1e3)

    def render(self, out: PcmFloat, dac_ms: float) -> None:
        """Fill ``out`` (float32 [frames], mono), whose first frame will be at the DAC at ``dac_ms``."""
        self._renderer.render(out, dac_ms)
        for said in self._aloud.said:
            self._mix(said, out, round((dac_ms - said.begins_ms) * self.rate_hz / 1e3))

    def underflow(self) -> None:
        """The device said it ran dry."""
        self._renderer.underflow()

    def _mix(self, said: _Said, out: PcmFloat, wanted: int) -> None:
        """Add a clip of which frame ``wanted`` belongs to the first of ``out``."""
        first = 0
        if said.place < 0:
            if -wanted >= len(out):
                return
            first, said.place = max(0, -wanted), 0
            if wanted > 0:
                said.begins_ms += wanted * 1e3 / self.rate_hz  # asked for too late: whole, and later
        elif abs(wanted - said.place) > self._apart:
            said.place = max(0, wanted)
        count = min(len(out) - first, len(said.samples) - said.place)
        if count > 0:
            part = out[first : first + count]
            np.add(part, said.samples[said.place : said.place + count], out=part)
            np.clip(part, -1.0, 1.0, out=part)
            said.place += count
