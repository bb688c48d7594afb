"""Choosing a device and settling how to open it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.stub_audio import StubAudio, device, until
from voicetui.ports import SoundError
from voicetui.runtime.clock import ManualClock
from voicetui.sound.devices import (
    BAD_CHANNELS,
    BUSY,
    BackendError,
    Device,
    SavedDevice,
    choose,
    list_devices,
)
from voicetui.sound.settle import attempts, settle_on
from voicetui.sound.stream import call_apart

DESK = [
    device("HDA Intel PCH: ALC257 (hw:0,0)", inputs=2, outputs=2),
    device("USB Headset: Audio (hw:1,0)", inputs=1, outputs=2, rate_hz=44_100),
    device("HDMI", outputs=8),
    device("USB Headset", inputs=1, outputs=2, host=1),
    device("default", inputs=32, outputs=32),
]


def desk(**how: Any) -> StubAudio:
    """A desk with an internal card, a headset (also under JACK), HDMI and ALSA's default."""
    how = {"default": (4, 4), "hosts": ("ALSA", "JACK"), **how}
    return StubAudio(ManualClock(), how.pop("devices", DESK), **how)


def test_devices_are_listed_with_host_and_defaults() -> None:
    found = list_devices(desk())
    assert [item.name for item in found] == [item["name"] for item in DESK]
    assert found[3] == Device(3, "USB Headset", "JACK", 1, 2, 48_000)
    assert [item.index for item in found if item.default_input] == [4]


def test_no_device_is_an_empty_list_and_a_line_of_advice() -> None:
    nothing = StubAudio(ManualClock(), [], default=(-1, -1), hosts=())
    assert list_devices(nothing) == []
    with pytest.raises(SoundError, match=r"there is no microphone.*or type to it"):
        choose("input", None, nothing)
    with pytest.raises(SoundError, match="there is no speaker"):
        choose("output", "default", nothing)


def test_devices_without_inputs_are_no_microphone() -> None:
    with pytest.raises(SoundError, match="there is no microphone: no device has input channels"):
        choose("input", None, StubAudio(ManualClock(), [device("HDMI", outputs=8)]))


def test_a_sound_system_that_cannot_be_asked_is_an_error_in_words() -> None:
    audio = desk()
    audio.broken = "Internal PortAudio error"
    with pytest.raises(SoundError, match="does not list its devices: Internal PortAudio error"):
        list_devices(audio)
    with pytest.raises(SoundError, match="does not list"):
        choose("input", "USB Headset", audio)


def test_odd_reports_are_no_trouble() -> None:
    odd = {
        "name": "odd",
        "hostapi": 9,
        "max_input_channels": None,
        "max_output_channels": -1,
        "default_samplerate": None,
    }
    assert list_devices(desk(devices=[odd])) == [Device(0, "odd", "", 0, 0, 0)]
    assert attempts("input", Device(0, "odd", "", 1, 0, 0))[0] == (48_000, 1)


@pytest.mark.parametrize("wanted", [None, "", "default", " Default "])
def test_the_default_is_what_the_system_says(wanted: str | None) -> None:
    assert choose("input", wanted, desk()).device.index == 4


def test_a_missing_default_is_not_replaced_by_another_device() -> None:
    with pytest.raises(SoundError, match=r"no default speaker.*HDMI"):
        choose("output", None, desk(default=(-1, -1)))


def test_a_saved_device_is_found_by_name_and_host_whatever_its_index() -> None:
    choice = choose("output", SavedDevice("USB Headset", "JACK"), desk())
    assert (choice.device.index, choice.warning) == (3, "")
    shuffled = desk(devices=[DESK[2], DESK[3], DESK[0]], default=(0, 0))
    assert choose("output", SavedDevice("USB Headset", "JACK"), shuffled).device.index == 1


def test_a_saved_device_that_is_gone_is_never_replaced() -> None:
    gone = desk(devices=[DESK[0], DESK[2]], default=(0, 0))
    with pytest.raises(SoundError) as caught:
        choose("output", SavedDevice("USB Headset", "ALSA"), gone)
    assert "'USB Headset' (ALSA) is not there" in str(caught.value)
    assert "'HDMI' (ALSA)" in str(caught.value)
    assert "voicetui devices" in str(caught.value)


def test_the_same_device_under_another_host_is_used_with_a_warning() -> None:
    only_jack = desk(devices=[DESK[2], DESK[3]], default=(0, 0))
    choice = choose("output", SavedDevice("USB Headset", "ALSA"), only_jack)
    assert choice.device.name == "USB Headset"
    assert "is now under JACK" in choice.warning


def test_card_numbers_that_shuffle_do_not_hide_a_device() -> None:
    choice = choose("input", SavedDevice("USB Headset: Audio (hw:3,0)", "ALSA"), desk())
    assert choice.device.index == 1
    assert "is now called 'USB Headset: Audio (hw:1,0)'" in choice.warning


@pytest.mark.parametrize(("wanted", "index"), [("HDMI", 2), ("hdmi", 2), ("alc257", 0), ("Intel", 0)])
def test_a_part_of_a_name_is_enough_when_it_is_the_only_one(wanted: str, index: int) -> None:
    assert choose("output", wanted, desk()).device.index == index


def test_a_name_that_fits_several_is_asked_about() -> None:
    with pytest.raises(SoundError, match=r"more than one output device.*'USB Headset: Audio \(hw:1,0\)' \(ALSA\)"):
        choose("output", "headset", desk())


def test_a_device_without_channels_for_the_role_is_refused_with_that_reason() -> None:
    with pytest.raises(SoundError, match="'HDMI' has no input channels"):
        choose("input", "HDMI", desk())


def test_refreshing_looks_again() -> None:
    audio = desk(devices=[])
    audio.devices = list(DESK)
    assert len(list_devices(audio, refresh=True)) == len(DESK)
    assert audio.refreshed == 1


def settled(audio: StubAudio, role: Any = "input") -> tuple[int, int]:
    """(rate, channels) that the first device opens with."""
    found = list_devices(audio)[0]
    settings, _ = settle_on(audio, role, found, 0.025, lambda settings: audio.check(role, settings))
    return settings.rate_hz, settings.channels


def test_a_device_is_opened_at_its_own_rate_and_in_mono_where_it_can_be() -> None:
    audio = StubAudio(ManualClock(), [device("card", inputs=2, rate_hz=44_100)])
    assert settled(audio) == (44_100, 1)
    assert audio.tried == [(44_100, 1)]


@pytest.mark.parametrize(("rates", "rate_hz"), [({44_100, 192_000}, 44_100), ({192_000}, 192_000), ({8_000}, 8_000)])
def test_a_refused_rate_leads_to_the_next(rates: set[int], rate_hz: int) -> None:
    assert settled(StubAudio(ManualClock(), [device("card", inputs=2)], rates=rates)) == (rate_hz, 1)


@pytest.mark.parametrize(("most", "channels"), [(2, {2}), (8, {8}), (8, {2, 8}), (6, {6})])
def test_a_refused_number_of_channels_leads_to_the_next(most: int, channels: set[int]) -> None:
    audio = StubAudio(ManualClock(), [device("card", inputs=most)], channels=channels)
    assert settled(audio) == (48_000, min(channels))


def test_a_device_that_reports_no_channels_is_refused_in_words() -> None:
    audio = StubAudio(ManualClock(), [device("card", inputs=0)])
    with pytest.raises(SoundError, match="refused every number of channels up to the 0"):
        settled(audio)


def test_a_device_that_takes_no_rate_at_all_says_so() -> None:
    with pytest.raises(SoundError, match=r"'card' .* accepts none of the usual sample rates"):
        settled(StubAudio(ManualClock(), [device("card", inputs=1)], rates=set()))


def test_a_busy_device_is_named_with_what_else_there_is() -> None:
    audio = StubAudio(ManualClock(), [device("card", inputs=1), device("other card", inputs=1)], refuse=BUSY)
    with pytest.raises(SoundError) as caught:
        settled(audio)
    assert "'card' (ALSA) is in use by another program" in str(caught.value)
    assert "'other card' (ALSA)" in str(caught.value)
    assert len(audio.tried) == 1


def test_any_other_refusal_is_passed_on_in_words() -> None:
    audio = StubAudio(ManualClock(), [device("card", inputs=1)], refuse=-9999)
    with pytest.raises(SoundError, match=r"'card' \(ALSA\) cannot be opened: refused. There is no other input device"):
        settled(audio)


def test_an_error_at_opening_leads_to_the_next_as_one_at_checking_does() -> None:
    audio = StubAudio(ManualClock(), [device("card", inputs=2)])

    def use(settings: Any) -> str:
        if settings.channels == 1:
            raise BackendError("Invalid number of channels", BAD_CHANNELS)
        return "open"

    settings, made = settle_on(audio, "input", list_devices(audio)[0], 0.02, use)
    assert (settings.channels, made) == (2, "open")


MISSING = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "sounddevice":
            raise {error}
sys.meta_path.insert(0, Missing())
import voicetui.sound.devices, voicetui.sound.microphone, voicetui.sound.speaker
from voicetui.ports import SoundError
try:
    voicetui.sound.devices.list_devices()
except SoundError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        ('OSError("PortAudio library not found")', "apt install libportaudio2"),
        ('ModuleNotFoundError("No module named sounddevice")', "pip install sounddevice"),
    ],
)
def test_without_portaudio_everything_imports_and_the_advice_is_given(error: str, advice: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MISSING.format(error=error)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=True,
    )
    assert advice in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="ALSA is Linux's")
@pytest.mark.parametrize("path", ["/dev/null", "/nowhere/asound.conf"])
def test_an_alsa_without_configuration_is_an_error_and_not_the_end_of_the_process(path: str) -> None:
    code = "from voicetui.sound.devices import list_devices; list_devices()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "ALSA_CONFIG_PATH": path},
    )
    assert done.returncode == 1
    assert f"ALSA_CONFIG_PATH is {path}, which holds no ALSA configuration" in done.stderr


@pytest.mark.anyio
async def test_a_driver_that_hangs_is_left_behind_and_its_late_gift_undone() -> None:
    clock, go, undone = ManualClock(), threading.Event(), []

    def hang() -> str:
        go.wait(30)
        return "a stream"

    calling = asyncio.ensure_future(call_apart(clock, 2_000, "the card", hang, undone.append))
    await clock.advance(1_999)
    assert not calling.done()
    await clock.advance(1)
    with pytest.raises(SoundError, match="the card did not answer for 2 s"):
        await calling
    go.set()
    await until(lambda: undone)
    assert undone == ["a stream"]


@pytest.mark.anyio
async def test_what_a_driver_raises_arrives() -> None:
    def fail() -> None:
        raise BackendError("broken", -1)

    with pytest.raises(BackendError, match="broken"):
        await call_apart(ManualClock(), 2_000, "the card", fail)
