"""Which sound device, and how it opens. PortAudio is behind :class:`Backend`: everything else runs without it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from voicetui.events.sound import Role
from voicetui.ports import SoundError

BUSY: Final = -9985
BAD_RATE: Final = -9997
BAD_CHANNELS: Final = -9998
"""PortAudio's error codes (portaudio.h) that have a cure of their own."""

DEFAULT: Final = "default"
"""The name for whatever device the system prefers."""

_T = TypeVar("_T")


class BackendError(Exception):
    """PortAudio refused. ``code`` is its error code (0 where there is none)."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Stream(Protocol):
    """An open PortAudio stream."""

    latency: float
    """The latency it reports, in s."""

    def start(self) -> None:
        """Let the callbacks come."""

    def stop(self) -> None:
        """Stop when the callback that runs has returned, and what is buffered has been played."""

    def close(self) -> None:
        """Give the device back."""


StreamCallback: TypeAlias = Callable[[Any, int, Any, Any], None]
"""As PortAudio's: (float32 [frames, channels], frames, time info, status flags)."""


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """How to open a stream: ``blocksize`` in frames, ``latency_s`` as asked for."""

    device: int
    rate_hz: int
    channels: int
    blocksize: int
    latency_s: float


class Backend(Protocol):
    """The part of PortAudio that is used. Every method may raise ``BackendError``."""

    def query_devices(self) -> Sequence[Mapping[str, Any]]:
        """The devices, as ``sounddevice.query_devices()`` gives them."""

    def query_hostapis(self) -> Sequence[Mapping[str, Any]]:
        """The host APIs, as ``sounddevice.query_hostapis()`` gives them."""

    def default_index(self, role: Role) -> int:
        """The index of the system's default device, -1 where there is none."""

    def check(self, role: Role, settings: StreamSettings) -> None:
        """Raise ``BackendError`` when the device would not open like this."""

    def open(
        self, role: Role, settings: StreamSettings, callback: StreamCallback, finished: Callable[[], None]
    ) -> Stream:
        """An opened, not yet started, stream. ``finished`` is called when it ends by itself or is stopped."""

    def refresh(self) -> None:
        """Look again at what is plugged in. Only while no stream is open."""


class PortAudio:
    """The real thing, through ``sounddevice``, which is imported at the first use."""

    def query_devices(self) -> Sequence[Mapping[str, Any]]:
        """See :class:`Backend`."""
        return self._call(lambda sd: [dict(device) for device in sd.query_devices()])

    def query_hostapis(self) -> Sequence[Mapping[str, Any]]:
        """See :class:`Backend`."""
        return self._call(lambda sd: [dict(host) for host in sd.query_hostapis()])

    def default_index(self, role: Role) -> int:
        """See :class:`Backend`."""
        return self._call(lambda sd: int(sd.default.device[0 if role == "input" else 1]))

    def check(self, role: Role, settings: StreamSettings) -> None:
        """See :class:`Backend`."""

        def ask(sd: Any) -> None:
            check = sd.check_input_settings if role == "input" else sd.check_output_settings
            check(device=settings.device, channels=settings.channels, dtype="float32", samplerate=settings.rate_hz)

        self._call(ask)

    def open(
        self, role: Role, settings: StreamSettings, callback: StreamCallback, finished: Callable[[], None]
    ) -> Stream:
        """See :class:`Backend`."""

        def make(sd: Any) -> Stream:
            kind = sd.InputStream if role == "input" else sd.OutputStream
            stream: Stream = kind(
                device=settings.device,
                samplerate=settings.rate_hz,
                channels=settings.channels,
                dtype="float32",
                blocksize=settings.blocksize,
                latency=settings.latency_s,
                callback=callback,
                finished_callback=finished,
            )
            return stream

        return _Guarded(self._call(make))

    def refresh(self) -> None:
        """See :class:`Backend`."""

        def again(sd: Any) -> None:
            if _OPEN:
                raise BackendError("a device is in use; close it to look again")
            sd._terminate()
            sd._initialize()

        self._call(again)

    def _call(self, use: Callable[[Any], _T]) -> _T:
        with _PORTAUDIO:
            return _translated(use)


_PORTAUDIO: Final = threading.Lock()
"""PortAudio's list of devices and streams is not thread-safe: one call at a time."""

_OPEN: Final[set[object]] = set()
"""Streams that are not closed. Freeing one would free the code that its thread goes on calling."""


def _translated(use: Callable[[Any], _T]) -> _T:
    """What ``use`` makes of the module ``sounddevice``; its errors as ``BackendError``."""
    sd = _sounddevice()
    try:
        return use(sd)
    except sd.PortAudioError as error:
        code = error.args[1] if len(error.args) > 1 and isinstance(error.args[1], int) else 0
        raise BackendError(str(error), code) from error
    except ValueError as error:
        raise BackendError(str(error)) from error


class _Guarded:
    """A PortAudio stream whose errors are ``BackendError``. Where starting or stopping hangs it holds up no other."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        _OPEN.add(stream)
        latency = stream.latency
        self.latency = float(latency[0] if isinstance(latency, tuple) else latency)

    def start(self) -> None:
        _translated(lambda _: self._stream.start())

    def stop(self) -> None:
        # Never abort(): on Linux that cancels the thread wherever it is, even in the middle of a callback.
        _translated(lambda _: self._stream.stop())

    def close(self) -> None:
        with _PORTAUDIO:
            _translated(lambda _: self._stream.close())
            _OPEN.discard(self._stream)


def _sounddevice() -> Any:
    paths = [Path(path) for path in os.environ.get("ALSA_CONFIG_PATH", "").split(":") if path]
    if paths and not any(path.is_file() and path.stat().st_size for path in paths):
        # PortAudio would end the process: an assertion fails in its device list.
        raise SoundError(f"ALSA_CONFIG_PATH is {paths[0]}, which holds no ALSA configuration. Unset or correct it.")
    try:
        import sounddevice
    except OSError as error:
        raise SoundError(
            "the PortAudio library is not installed, so no sound device can be used. "
            "Install it (Debian, Ubuntu: apt install libportaudio2; Fedora: dnf install portaudio; macOS: brew install "
            "portaudio), or work without a microphone: voicetui demo, voicetui run FILE."
        ) from error
    except ImportError as error:
        raise SoundError("the Python package sounddevice is missing. Install it: pip install sounddevice") from error
    return sounddevice


@dataclass(frozen=True, slots=True)
class SavedDevice:
    """A device as a person chose it, to be found again: indices shuffle, names stay. ``host`` "" means any host API."""

    name: str
    host: str = ""


@dataclass(frozen=True, slots=True)
class Device:
    """A sound device that is there now. ``index`` is good until the list is refreshed."""

    index: int
    name: str
    host: str
    input_channels: int
    output_channels: int
    default_rate_hz: int
    default_input: bool = False
    default_output: bool = False

    def channels(self, role: Role) -> int:
        """How many channels it has for ``role``; 0 when it cannot be used so."""
        return self.input_channels if role == "input" else self.output_channels

    @property
    def saved(self) -> SavedDevice:
        """What to keep to find it again."""
        return SavedDevice(self.name, self.host)


@dataclass(frozen=True, slots=True)
class Choice:
    """The device to use. ``warning`` is a sentence for the person when it is not exactly what was saved, else ""."""

    device: Device
    warning: str = ""


def list_devices(backend: Backend | None = None, refresh: bool = False) -> list[Device]:
    """What is plugged in; [] when nothing is. ``refresh`` looks again (only while no stream is open).

    Raises ``SoundError`` when the sound system cannot be asked.
    """
    backend = backend or PortAudio()
    try:
        if refresh:
            backend.refresh()
        hosts = [str(host.get("name", "")) for host in backend.query_hostapis()]
        found = list(backend.query_devices())
        default_input, default_output = _default(backend, "input"), _default(backend, "output")
    except BackendError as error:
        raise SoundError(f"the sound system does not list its devices: {error}. Is a sound server running?") from error
    return [
        Device(
            index=index,
            name=str(device.get("name", f"device {index}")),
            host=hosts[host] if 0 <= (host := int(device.get("hostapi", -1))) < len(hosts) else "",
            input_channels=max(0, int(device.get("max_input_channels") or 0)),
            output_channels=max(0, int(device.get("max_output_channels") or 0)),
            default_rate_hz=_whole_rate(device.get("default_samplerate")),
            default_input=index == default_input,
            default_output=index == default_output,
        )
        for index, device in enumerate(found)
    ]


def _default(backend: Backend, role: Role) -> int:
    with suppress(BackendError):
        return backend.default_index(role)
    return -1


def _whole_rate(rate: object) -> int:
    return round(rate) if isinstance(rate, int | float) and 0 < rate < 1e9 else 0


def choose(role: Role, wanted: SavedDevice | str | None, backend: Backend | None = None) -> Choice:
    """The device for ``role``: the system's default for None, "" and "default", else the one of that name.

    A name is matched exactly, then without case and ALSA's shuffling "(hw:1,0)", then as a part of a name. Raises
    ``SoundError``, naming what there is, when nothing or more than one matches: another device is never taken instead.
    """
    devices = list_devices(backend)
    usable = [device for device in devices if device.channels(role) > 0]
    what = "microphone" if role == "input" else "speaker"
    if not usable:
        advice = "type to it, or try: voicetui demo" if role == "input" else "read the replies"
        raise SoundError(f"there is no {what}: no device has {role} channels. Plug one in and look again, or {advice}")
    if wanted is None or (isinstance(wanted, str) and wanted.strip().lower() in ("", DEFAULT)):
        for device in usable:
            if device.default_input if role == "input" else device.default_output:
                return Choice(device)
        raise SoundError(f"the system has no default {what}. {offer(usable, role)}")
    saved = wanted if isinstance(wanted, SavedDevice) else SavedDevice(wanted.strip())
    named = f"'{saved.name}'" + (f" ({saved.host})" if saved.host else "")
    same_host = [device for device in usable if not saved.host or device.host == saved.host]
    for matches in _matches(saved.name, same_host):
        if len(matches) == 1 or (matches and all(match.name == saved.name for match in matches) and saved.host):
            device = matches[0]
            renamed = isinstance(wanted, SavedDevice) and device.name != saved.name
            return Choice(device, f"the {role} device {named} is now called '{device.name}'" if renamed else "")
        if matches:
            raise SoundError(f"more than one {role} device is called {named}: say which. {offer(matches, role)}")
    elsewhere = [device for device in usable if device.name == saved.name]
    if len(elsewhere) == 1:
        device = elsewhere[0]
        return Choice(device, f"the {role} device {named} is now under {device.host}; it is used there")
    unusable = [device for device in devices if device.name == saved.name]
    why = f"has no {role} channels" if unusable else "is not there"
    raise SoundError(f"the {role} device {named} {why}, and no other is used unasked. {offer(usable, role)}")


def _matches(name: str, devices: Sequence[Device]) -> Iterator[list[Device]]:
    """Ever looser matches."""
    yield [device for device in devices if device.name == name]
    yield [device for device in devices if _plain(device.name) == _plain(name)]
    yield [device for device in devices if _plain(name) and _plain(name) in _plain(device.name)]


def _plain(name: str) -> str:
    """Without case and without ALSA's "(hw:1,0)", which changes with the order of plugging in."""
    head, _, tail = name.partition("(hw:")
    return (head if tail else name).strip().lower()


def offer(devices: Sequence[Device], role: Role) -> str:
    """Which devices there are and how to name one, as a sentence for a person."""
    names = "; ".join(f"'{device.name}' ({device.host})" for device in devices[:8])
    return f'There is: {names}. Set [audio] {role} to one of them or to "default" (voicetui devices lists them all).'
