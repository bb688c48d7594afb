"""Choosing a microphone and a speaker on the screen, and what a test of the microphone says."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from tests.tui.conftest import CompareGolden
from tests.tui.scenes import SCENES, SIZES, Scene
from tests.tui.stage import Stage, on_stage
from voicetui.events import Entry
from voicetui.events.session import DeviceChosen, Fault, MicTested, Muted
from voicetui.events.sound import DeviceLost, DeviceOpened
from voicetui.runtime.engine import DeviceList, DeviceSeen, Levels
from voicetui.tui.screens.devices import DevicesScreen, TryPanel

pytestmark = pytest.mark.anyio

DESK = DeviceList(
    (DeviceSeen("file", "test", default=True), DeviceSeen("USB Headset: Audio (hw:1,0)", "ALSA"),
     DeviceSeen("Podcast microphone", "ALSA", renew=True)),
    (DeviceSeen("null speaker", "test", default=True), DeviceSeen("HDMI 0", "ALSA")),
)  # fmt: skip
WAVE_PIECES = 100


def heard(level: Callable[[float], float], peak: Callable[[float], float] | None = None) -> Callable[[float], Levels]:
    """Meters that show a level in dBFS for every time of the session; peaks are 10 dB above, unless given."""
    peak = peak or (lambda at_ms: min(0.0, level(at_ms) + 10) if level(at_ms) > -120 else -120.0)

    def levels(now_ms: float) -> Levels:
        times = [now_ms - 20 * back for back in range(WAVE_PIECES, 0, -1)]
        wave = tuple(map(level, times))
        return Levels(wave[-1], -120.0, wave, (), tuple(map(peak, times[-25:])))

    return levels


def talking(speech: float, noise: float) -> Callable[[float], float]:
    """Half a second of speech, half a second of none, and so on."""
    return lambda at_ms: speech + 2 * math.sin(at_ms) if at_ms % 1000 < 500 else noise


def cancelled(now_ms: float) -> Levels:
    """Cancelling takes away what the microphone hears well."""
    raw = heard(talking(-22, -62))(now_ms)
    return Levels(-120.0, -120.0, (-120.0,) * WAVE_PIECES, (), raw.raw_peaks, raw.user_wave)


@asynccontextmanager
async def choosing(
    size: tuple[int, int] = (80, 24), devices: DeviceList = DESK, scene: Scene | None = None
) -> AsyncIterator[Stage]:
    """The dialog is open, and what is plugged in is listed."""
    async with on_stage(scene or SCENES["finished"](), size) as stage:
        stage.engine.plugged_in = devices
        await stage.press("d")
        await stage.app.workers.wait_for_complete()
        await stage.settle()
        yield stage


def dialog(seen: str) -> str:
    """The dialog alone, without what lies below it."""
    lines = seen.splitlines()
    top = next(at for at, line in enumerate(lines) if "╭─ microphone and speaker" in line)
    left, right = lines[top].index("╭"), lines[top].index("╮")
    bottom = next(at for at, line in enumerate(lines) if at > top and line[left : left + 1] == "╰")
    return "".join(f"{line[left : right + 1]}\n" for line in lines[top : bottom + 1])


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_picture(size: tuple[int, int], golden: CompareGolden) -> None:
    async with choosing(size) as stage:
        golden(f"devices-{size[0]}x{size[1]}", dialog(stage.text()))


async def test_what_is_in_use_and_what_is_the_default_is_marked() -> None:
    async with choosing() as stage:
        lines = stage.text().splitlines()
        (used,) = [line for line in lines if "● file" in line]
        assert "in use, default" in used
        (new,) = [line for line in lines if "Podcast microphone" in line]
        assert new.split("ALSA")[1].split()[0] == "new" and "●" not in new
        assert "closes both devices" in stage.text()


async def test_choosing_applies_at_once_and_tells_how_it_turned_out() -> None:
    async with choosing() as stage:
        await stage.press("down", "enter")
        assert stage.engine.posted == [DeviceChosen("input", "USB Headset: Audio (hw:1,0)", "ALSA")]
        assert "Opening 'USB Headset" in stage.text()
        opened = DeviceOpened("input", "USB Headset: Audio (hw:1,0)", "ALSA", 48_000, 1, 24.0, "stream")
        stage.engine.add(Entry(9000, stage.engine.now_ms(), opened))
        await stage.settle()
        seen = stage.text()
        assert "is in use: 48000 Hz, latency 24 ms" in seen and "● USB Headset" in seen and "● file" not in seen
        await stage.press("escape")
        assert not isinstance(stage.app.screen, DevicesScreen)


async def test_a_device_that_does_not_open_is_told_where_it_was_chosen() -> None:
    async with choosing() as stage:
        await stage.press("down", "down", "down", "down", "enter")
        assert stage.engine.posted == [DeviceChosen("output", "HDMI 0", "ALSA")]
        fault = Fault("speaker", "the output device 'HDMI 0' is in use by another program.", "'null' is used again.")
        stage.engine.add(Entry(9000, stage.engine.now_ms(), fault))
        await stage.settle()
        assert "✖ the output device 'HDMI 0' is in use" in stage.text() and "is used again" in stage.text()


async def test_a_fault_of_something_else_does_not_pass_for_the_choice() -> None:
    async with choosing() as stage:
        await stage.press("down", "enter")
        stage.engine.add(Entry(9000, stage.engine.now_ms(), Fault("record", "the disk is full", "Make room.")))
        await stage.settle()
        assert "Opening 'USB Headset" in stage.text()


async def test_a_silent_speaker_is_called_one() -> None:
    scene = SCENES["finished"]()
    scene.journal.add(DeviceOpened("output", "null", "paced", 16_000, 1, 30.0, "paced"))
    async with choosing(scene=scene) as stage:
        assert "● silent: nothing is heard" in stage.text()


async def test_a_new_device_is_chosen_as_one_and_the_one_in_use_is_no_choice() -> None:
    async with choosing() as stage:
        await stage.press("enter")
        assert stage.engine.posted == [] and "is in use already" in stage.text()
        await stage.press("down", "down", "enter")
        assert stage.engine.posted == [DeviceChosen("input", "Podcast microphone", "ALSA", renew=True)]


async def test_a_lost_device_can_be_chosen_again() -> None:
    async with choosing() as stage:
        stage.engine.add(Entry(9000, stage.engine.now_ms(), DeviceLost("input", "file", "it was unplugged")))
        await stage.settle()
        await stage.press("enter")
        assert "lost" in stage.text() and stage.engine.posted == [DeviceChosen("input", "file", "test")]


async def test_the_mouse_chooses_tests_and_goes_back() -> None:
    async with choosing() as stage:
        lines = stage.text().splitlines()

        async def click(text: str) -> None:
            y = next(at for at, line in enumerate(lines) if text in line)
            await stage.pilot.click(offset=(lines[y].index(text) + 1, y))
            await stage.settle()

        await click("HDMI 0")
        assert stage.engine.posted == [DeviceChosen("output", "HDMI 0", "ALSA")]
        await click("test the microphone")
        assert stage.engine.posted[1:] == [MicTested(True)]
        await click("use it")
        assert stage.engine.posted[2:] == [MicTested(False)] and not isinstance(stage.app.screen, DevicesScreen)


async def test_looking_again_finds_what_was_plugged_in_meanwhile() -> None:
    async with choosing(devices=DeviceList(outputs=DESK.outputs)) as stage:
        assert "none is plugged in" not in stage.text(), "what is in use is there"
        stage.engine.plugged_in = DESK
        await stage.press("r")
        await stage.app.workers.wait_for_complete()
        await stage.settle()
        assert "Podcast microphone" in stage.text()


async def test_without_any_device_it_says_so() -> None:
    note = "the PortAudio library is not installed, so no sound device can be used."
    scene = SCENES["starting"]()
    scene.journal.entries[1:] = []
    async with choosing(devices=DeviceList(note=note), scene=scene) as stage:
        assert stage.text().count("none is plugged in") == 2 and note in stage.text()
        await stage.press("enter", "t")
        assert stage.engine.posted == [] and "No microphone is open" in stage.text()


async def test_a_typed_session_can_choose_a_microphone_and_says_that_it_has_one() -> None:
    async with choosing((120, 36), scene=SCENES["no_devices"]()) as stage:
        await stage.press("enter")
        assert stage.engine.posted == [DeviceChosen("input", "file", "test")]
        opened = DeviceOpened("input", "file", "test", 48_000, 1, 24.0, "stream")
        stage.engine.add(Entry(9000, stage.engine.now_ms(), opened))
        await stage.settle()
        await stage.press("escape")
        assert "in file" in stage.text().splitlines()[0]


async def test_a_demo_offers_only_speakers() -> None:
    async with choosing(devices=DeviceList(outputs=DESK.outputs, scripted=True)) as stage:
        assert "the scripted person; no microphone is heard in a demo" in stage.text()
        await stage.press("t")
        assert "there is no microphone to test" in stage.text()
        await stage.press("down", "enter")
        assert stage.engine.posted == [DeviceChosen("output", "HDMI 0", "ALSA")]


# the test of the microphone

VERDICTS = {
    "good": (heard(talking(-22, -62)), "Good: your voice is well above the noise", "not clipped"),
    "clips": (heard(talking(-6, -62), lambda at_ms: 0.0), "Too loud: it clips", "peak 0.0 dBFS"),
    "room": (heard(lambda at_ms: -61), "Only the room was heard", "no speech   noise −61.0 dBFS"),
    "zeros": (heard(lambda at_ms: -120), "Nothing heard, not even noise: is it muted", ""),
    "quiet": (heard(talking(-51, -75)), "Your voice is very quiet", "noise −75.0 dBFS"),
    "noisy": (heard(talking(-25, -37)), "dB above the noise", "noise −37.0 dBFS"),
    "gate": (heard(talking(-22, -120)), "Good: your voice", "noise none"),
    "cancelled": (cancelled, "Good: your voice is well above the noise", "noise −62.0 dBFS"),
    "click": (heard(lambda at_ms: -20 if at_ms % 4000 < 40 else -60), "Only the room was heard", ""),
}


@pytest.mark.parametrize("name", VERDICTS)
async def test_three_seconds_end_in_a_verdict_in_words_and_numbers(name: str) -> None:
    meters, words, figures = VERDICTS[name]
    async with choosing() as stage:
        stage.engine.heard = meters
        await stage.press("t")
        assert stage.engine.posted == [MicTested(True)]
        await stage.advance(2900, step_ms=50)
        assert "Listening, 0.1 s left" in stage.text() and stage.engine.posted == [MicTested(True)]
        await stage.advance(150, step_ms=50)
        assert words in stage.text() and figures in stage.text()
        assert stage.engine.posted == [MicTested(True), MicTested(False)]


async def test_the_meter_is_live_and_a_second_t_does_not_begin_anew() -> None:
    async with choosing() as stage:
        stage.engine.heard = heard(lambda at_ms: -12)
        await stage.press("t")
        assert "−12 dB" in stage.app.screen.query_one(TryPanel).rows[1].text
        await stage.advance(1000, step_ms=50)
        await stage.press("t")
        assert stage.engine.posted == [MicTested(True)]
        stage.engine.heard = heard(lambda at_ms: -33)
        await stage.advance(50, step_ms=50)
        assert "−33 dB" in stage.app.screen.query_one(TryPanel).rows[1].text


async def test_leaving_in_the_middle_ends_the_test() -> None:
    async with choosing() as stage:
        await stage.press("t")
        await stage.press("escape")
        assert stage.engine.posted == [MicTested(True), MicTested(False)]


async def test_a_muted_microphone_is_not_tested_but_told() -> None:
    async with choosing() as stage:
        stage.engine.add(Entry(9000, stage.engine.now_ms(), Muted(True)))
        await stage.settle()
        await stage.press("t")
        assert "muted in this program" in stage.text() and stage.engine.posted == []


async def test_names_from_outside_are_shown_as_they_are() -> None:
    odd = DeviceSeen("[red]\x1b[2Jevil[/]", "ALSA")
    async with choosing(devices=replace(DESK, inputs=(*DESK.inputs, odd))) as stage:
        assert "[red]␛[2Jevil[/]" in stage.text()
