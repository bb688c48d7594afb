"""Microphones and speakers by name, on a manual clock: ones that open, and ones that do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.sessions.stage import Stage
from voicetui.events.sound import DeviceOpened
from voicetui.ports import Pcm16, PcmFloat, Renderer, SoundError
from voicetui.sound.microphone import FileMicrophone
from voicetui.sound.speaker import NullSpeaker

REFUSALS = {
    "busy": "the {} device 'busy' (ALSA) is in use by another program. Close that, or choose another device",
    "gone": "the {} device 'gone' (ALSA) is not there, and no other is used unasked",
}


class NamedSpeaker(NullSpeaker):
    """Takes a while to open, and remembers when it was audible."""

    def __init__(self, stage: Stage, name: str, rate_hz: int = 48_000, opening_ms: float = 100.0) -> None:
        super().__init__(stage.clock, rate_hz, name=name)
        self.name = name
        self._opening_ms = opening_ms
        self.audible_ms: list[float] = []
        self.closed = False

    async def open(self, renderer: Renderer) -> DeviceOpened:
        if self.name in REFUSALS:
            raise SoundError(REFUSALS[self.name].format("output"))
        if self.name == "broken":
            raise RuntimeError("driver bug")
        await self._clock.sleep_until(self._clock.now_ms() + self._opening_ms)
        self.closed = False
        return await super().open(_Tapped(renderer, self.audible_ms))

    async def close(self) -> None:
        self.closed = True
        await super().close()


class _Tapped:
    def __init__(self, renderer: Renderer, audible_ms: list[float]) -> None:
        self.rate_hz = renderer.rate_hz
        self._renderer = renderer
        self._audible_ms = audible_ms

    def render(self, out: PcmFloat, dac_ms: float) -> None:
        self._renderer.render(out, dac_ms)
        if np.abs(out).max() > 0.01:
            self._audible_ms.append(dac_ms)

    def underflow(self) -> None:
        self._renderer.underflow()


class NamedMicrophone(FileMicrophone):
    """Takes a while to open; ``clips`` are said at times of the session, if it is open then."""

    def __init__(
        self, stage: Stage, name: str, clips: Sequence[tuple[float, Pcm16]] = (), opening_ms: float = 200.0
    ) -> None:
        super().__init__(stage.clock, name=name)
        self.name = name
        self._opening_ms = opening_ms
        self._said = clips
        self.closed = False

    async def open(self) -> DeviceOpened:
        if self.name in REFUSALS:
            raise SoundError(REFUSALS[self.name].format("input"))
        if self.name == "broken":
            raise RuntimeError("driver bug")
        await self._clock.sleep_until(self._clock.now_ms() + self._opening_ms)
        opened = await super().open()
        for at_ms, samples in self._said:
            if at_ms >= self._clock.now_ms():
                self.play(samples, at_ms)
        return opened

    async def close(self) -> None:
        self.closed = True
        await super().close()


class Shelf:
    """Gives a stage devices by name, and keeps those that were asked for."""

    def __init__(self, stage: Stage, clips: Sequence[tuple[float, Pcm16]] = (), fallback: bool = True) -> None:
        self.stage = stage
        self.clips = clips
        self.microphones: list[NamedMicrophone] = []
        self.speakers: list[NamedSpeaker] = []
        self.first_samples: list[int] = []
        self.renewed = 0
        self.open_while_renewed: list[str] = []
        parts = stage.parts
        parts.make_speaker = self.speaker
        parts.make_microphone = self.microphone
        parts.renew_devices = self.renew
        if fallback:
            parts.fallback_speaker = lambda: NullSpeaker(stage.clock, name="silent")
        self.speaker("first", "ALSA")
        parts.speaker = self.speakers[0]
        if parts.microphone is not None:
            self.microphone("first", "ALSA", 0)
            stage.microphone = parts.microphone = self.microphones[0]

    def speaker(self, name: str, host: str) -> NamedSpeaker:
        self.speakers.append(NamedSpeaker(self.stage, name))
        return self.speakers[-1]

    def microphone(self, name: str, host: str, first_sample: int) -> NamedMicrophone:
        self.first_samples.append(first_sample)
        self.microphones.append(NamedMicrophone(self.stage, name, self.clips))
        return self.microphones[-1]

    async def renew(self) -> None:
        self.renewed += 1
        self.open_while_renewed += [each.name for each in (*self.speakers, *self.microphones) if not each.closed]

    def audible_on(self, name: str) -> list[float]:
        """When speakers of that name were audible, ms."""
        return [at_ms for speaker in self.speakers if speaker.name == name for at_ms in speaker.audible_ms]
