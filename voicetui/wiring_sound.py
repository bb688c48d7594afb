"""The sound devices of a session: the first ones, others by name, what there is to choose from, how loud it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from voicetui.config import Audio
from voicetui.events import Fact
from voicetui.events.session import Fault
from voicetui.events.sound import DeviceLost, Role
from voicetui.listen.ear import Ear
from voicetui.ports import Clock, Microphone, Pcm16, SoundError, Speaker
from voicetui.runtime.engine import DeviceList, DeviceSeen, Levels
from voicetui.runtime.meter import Meter
from voicetui.sound.aloud import Aloud
from voicetui.sound.devices import Device, SavedDevice, list_devices
from voicetui.sound.look import look_apart, renew
from voicetui.sound.microphone import DeviceMicrophone, FileMicrophone
from voicetui.sound.rates import level_dbfs, levels_dbfs, peaks_dbfs
from voicetui.sound.speaker import DeviceSpeaker, NullSpeaker
from voicetui.sound.stream import call_apart

_RENEW_LIMIT_MS: Final = 8_000.0
_PACED: Final = "paced"
_WAVE_PIECES: Final = 100
_PEAK_PIECES: Final = 25


@dataclass
class SoundDevices:
    """Makes the microphones and speakers of one session.

    ``scripted`` names the scripted person who is heard instead of a microphone ("": none is); ``aloud``: on the
    speaker, too.
    """

    audio: Audio
    clock: Clock
    post: Callable[[Fact], None]
    scripted: str = ""
    aloud: bool = False

    def first_microphone(self, wanted: str | None) -> FileMicrophone | DeviceMicrophone:
        """What the session begins with: the scripted person, or the input device of that name (None: the default)."""
        return FileMicrophone(self.clock, name=self.scripted) if self.scripted else self._microphone(wanted, 0)

    def first_speaker(self, silent: bool) -> Speaker:
        """What the session begins with."""
        return NullSpeaker(self.clock) if silent else self._speaker(self.audio.output)

    @property
    def make_microphone(self) -> Callable[[str, str, int], Microphone] | None:
        """As in ``Parts``."""
        if self.scripted:
            return None
        return lambda name, host, first_sample: self._microphone(SavedDevice(name, host), first_sample)

    def make_speaker(self, name: str, host: str) -> Speaker:
        """As in ``Parts``."""
        return NullSpeaker(self.clock) if host == _PACED else self._speaker(SavedDevice(name, host))

    async def renew(self) -> None:
        """As in ``Parts``."""
        await call_apart(self.clock, _RENEW_LIMIT_MS, "the sound system", renew)

    def listed(self) -> DeviceList:
        """What there is to choose from now. Blocking, about half a second; never raises."""
        try:
            known = list_devices()
        except SoundError as error:
            return DeviceList(note=str(error), scripted=bool(self.scripted))
        try:
            now, note = look_apart(), ""
        except SoundError as error:
            now, note = known, str(error)
        return DeviceList(
            () if self.scripted else _seen("input", now, known), _seen("output", now, known), note, bool(self.scripted)
        )

    def _microphone(self, wanted: SavedDevice | str | None, first_sample: int) -> DeviceMicrophone:
        return DeviceMicrophone(
            self.clock,
            wanted,
            on_fault=lambda text: self.post(Fault("microphone", text)),
            first_sample=first_sample,
        )

    def _speaker(self, wanted: SavedDevice | str | None) -> Speaker:
        device = DeviceSpeaker(
            self.clock,
            wanted,
            on_lost=lambda text: self.post(DeviceLost("output", "speaker", text)),
            on_fault=lambda text: self.post(Fault("speaker", text)),
            latency_ms=self.audio.output_latency_ms,
        )
        return Aloud(device) if self.aloud else device


def _seen(role: Role, now: list[Device], known: list[Device]) -> tuple[DeviceSeen, ...]:
    old = {device.saved for device in known if device.channels(role)}
    return tuple(
        DeviceSeen(
            device.name,
            device.host,
            default=device.default_input if role == "input" else device.default_output,
            renew=device.saved not in old,
        )
        for device in now
        if device.channels(role)
    )


def levels(ear: Ear, meter: Meter, now_ms: float) -> Levels:
    """How loud both sides are."""
    newest, _ = ear.read(max(0, ear.end - 320 * _WAVE_PIECES), None)
    raw = _pieces(ear.newest_raw(320 * _WAVE_PIECES))
    reply = meter.wave(now_ms, _WAVE_PIECES)
    return Levels(
        level_dbfs(newest[-800:]),
        max(reply[-3:]),
        levels_dbfs(_pieces(newest)),
        reply,
        peaks_dbfs(raw[-_PEAK_PIECES:]),
        levels_dbfs(raw),
    )


def _pieces(samples: Pcm16) -> Pcm16:
    """The newest whole pieces of 20 ms: int16 [pieces, 320]."""
    return samples[len(samples) % 320 :].reshape(-1, 320)
