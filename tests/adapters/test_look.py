"""What is plugged in now, seen by another process; and what a session makes of it."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from tests.adapters.stub_audio import StubAudio
from voicetui import wiring_sound
from voicetui.config import Audio
from voicetui.events import Fact
from voicetui.ports import SoundError
from voicetui.runtime.clock import ManualClock
from voicetui.runtime.engine import DeviceSeen
from voicetui.sound.aloud import Aloud
from voicetui.sound.devices import BackendError, Device
from voicetui.sound.look import look_apart, renew
from voicetui.sound.microphone import DeviceMicrophone, FileMicrophone
from voicetui.sound.rates import peaks_dbfs
from voicetui.sound.speaker import DeviceSpeaker, NullSpeaker
from voicetui.wiring_sound import SoundDevices

CARD = Device(0, "card", "ALSA", 2, 2, 48_000, default_input=True, default_output=True)
HEADSET = Device(1, "headset", "ALSA", 1, 2, 44_100)
HDMI = Device(2, "HDMI", "ALSA", 0, 8, 48_000)


def test_another_process_tells_its_list_whatever_libraries_print_besides() -> None:
    program = (
        "import msgspec, os, sys; from voicetui.sound import look; from voicetui.sound.devices import Device; "
        "os.write(1, b'jack server is not running\\n'); "
        "look.list_devices = lambda: [Device(0, 'Ger\\u00e4t \\u65e5', 'ALSA', 1, 2, 48000, True)]; look.tell()"
    )
    assert look_apart(program) == [Device(0, "Gerät 日", "ALSA", 1, 2, 48_000, True)]


@pytest.mark.parametrize("program", ["raise SystemExit(3)", "print('no list')", "pass", "import os; os.abort()"])
def test_a_process_that_tells_nothing_is_an_error_in_words(program: str) -> None:
    with pytest.raises(SoundError, match="what was plugged in since the start is not known"):
        look_apart(program)


def test_the_list_cannot_be_made_anew_while_a_device_is_open() -> None:
    class Open(StubAudio):
        def refresh(self) -> None:
            raise BackendError("a device is in use; close it to look again")

    with pytest.raises(SoundError, match="plugged in since the start cannot be used: a device is in use"):
        renew(Open(ManualClock()))
    audio = StubAudio(ManualClock())
    renew(audio)
    assert audio.refreshed == 1


def devices(scripted: str = "", aloud: bool = False) -> SoundDevices:
    def post(fact: Fact) -> None:
        raise AssertionError(fact)

    return SoundDevices(Audio(), ManualClock(), post, scripted, aloud)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The card was there when the program started; a headset and HDMI came since."""
    monkeypatch.setattr(wiring_sound, "list_devices", lambda: [CARD])
    monkeypatch.setattr(wiring_sound, "look_apart", lambda: [CARD, HEADSET, HDMI])


@pytest.mark.usefixtures("seen")
def test_what_came_since_the_start_is_marked_and_each_role_has_what_it_can_use() -> None:
    found = devices().listed()
    card, headset = DeviceSeen("card", "ALSA", default=True), DeviceSeen("headset", "ALSA", renew=True)
    assert found.inputs == (card, headset)
    assert found.outputs == (card, headset, DeviceSeen("HDMI", "ALSA", renew=True))
    assert (found.note, found.scripted) == ("", False)


@pytest.mark.usefixtures("seen")
def test_with_a_scripted_person_there_is_no_input_to_choose() -> None:
    found = devices(scripted="demo").listed()
    assert found.inputs == () and len(found.outputs) == 3 and found.scripted
    assert devices(scripted="demo").make_microphone is None


@pytest.mark.usefixtures("seen")
def test_when_nobody_can_look_the_list_is_the_one_of_the_start_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> list[Device]:
        raise SoundError("what was plugged in since the start is not known (TimeoutExpired)")

    monkeypatch.setattr(wiring_sound, "look_apart", fail)
    found = devices().listed()
    assert found.outputs == (DeviceSeen("card", "ALSA", default=True),) and "is not known" in found.note


def test_without_a_sound_system_there_is_nothing_and_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> list[Device]:
        raise SoundError("the PortAudio library is not installed")

    monkeypatch.setattr(wiring_sound, "list_devices", fail)
    found = devices().listed()
    assert found.inputs == found.outputs == () and "PortAudio" in found.note


def test_devices_are_made_by_name_and_the_silent_one_is_silent_again() -> None:
    made = devices()
    assert made.make_microphone is not None
    assert isinstance(made.make_microphone("card", "ALSA", 100), DeviceMicrophone)
    assert isinstance(made.make_speaker("card", "ALSA"), DeviceSpeaker)
    assert isinstance(made.make_speaker("null", "paced"), NullSpeaker)
    demo = devices(scripted="demo", aloud=True)
    assert isinstance(demo.make_speaker("card", "ALSA"), Aloud), "the person stays audible"
    assert isinstance(demo.first_microphone(None), FileMicrophone)


def test_the_list_is_made_anew_apart_from_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    audio = StubAudio(ManualClock())
    monkeypatch.setattr(wiring_sound, "renew", lambda: renew(audio))
    asyncio.run(devices().renew())
    assert audio.refreshed == 1


def test_the_largest_sample_of_each_piece_in_decibels() -> None:
    pieces = np.array([[0, -32768], [16_384, 5], [0, 0]], np.int16)
    assert peaks_dbfs(pieces) == pytest.approx((0.0, -6.02, -120.0), abs=0.01)
    assert peaks_dbfs(pieces[:0]) == ()
