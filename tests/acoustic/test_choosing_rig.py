"""Real devices chosen while a session runs: the sound moves to the other sink, and the other source is heard.

Rules, journal, playback and PortAudio are real; the words of both sides are scripted.
"""

from __future__ import annotations

import asyncio
import os
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.acoustic.bus import AUDIBLE, Bus, levels, speak
from tests.acoustic.conftest import Rig
from tests.sessions.stage import Finals, Stage, WatchedTier, assert_ended_in_order
from voicetui.config import Audio
from voicetui.events.listen import SpeechStarted
from voicetui.events.orders import EndTurn
from voicetui.events.session import DeviceChosen, Fault, Ready, Said, StopAsked
from voicetui.events.sound import ClockMapped, DeviceOpened, SoundLost
from voicetui.listen.scripted import EnergyDetector
from voicetui.runtime.clock import SystemClock
from voicetui.sound.devices import PortAudio
from voicetui.sound.speaker import NullSpeaker
from voicetui.wiring_sound import SoundDevices

pytestmark = [pytest.mark.acoustic, pytest.mark.anyio]

REPLY = "One two three four five six. Seven eight nine ten eleven twelve. Thirteen fourteen fifteen. And that is all."
HOP_MS = 5


def plug_in(rig: Rig, name: str, device: str) -> None:
    """Let ALSA have a device of that name."""
    server = os.environ["PULSE_SERVER"]
    with Path(os.environ["ALSA_CONFIG_PATH"]).open("a") as file:
        file.write(f'\npcm.{name} {{ type pulse server "{server}" device "{device}" }}\n')


@pytest.fixture
def two_desks(rig: Rig) -> Iterator[Rig]:
    """A second sink, and a second way to the microphone, that PortAudio knows."""
    config = Path(os.environ["ALSA_CONFIG_PATH"])
    before = config.read_text()
    modules = [
        rig.run("pactl", "load-module", "module-null-sink", "sink_name=second", "rate=48000", "channels=2"),
        rig.run("pactl", "load-module", "module-remap-source", "source_name=micb", "master=bus.monitor", "channels=1",
                "channel_map=mono", "master_channel_map=front-right", "remix=no"),
    ]  # fmt: skip
    plug_in(rig, "second", "second")
    plug_in(rig, "micb", "micb")
    PortAudio().refresh()
    try:
        yield rig
    finally:
        for module in reversed(modules):
            rig.run("pactl", "unload-module", module.strip())
        config.write_text(before)
        PortAudio().refresh()


def real_stage() -> tuple[Stage, SoundDevices]:
    """A stage on the rig's devices and in real time."""
    clock = SystemClock()
    stage = Stage(clock=clock, tier=WatchedTier(clock, REPLY), detector=EnergyDetector())  # type: ignore[arg-type]
    devices = SoundDevices(Audio(), clock, stage.session.post)
    parts = stage.parts
    parts.microphone, parts.speaker = devices.first_microphone(None), devices.first_speaker(silent=False)
    parts.make_microphone, parts.make_speaker = devices.make_microphone, devices.make_speaker
    parts.renew_devices = devices.renew
    parts.fallback_speaker = lambda: NullSpeaker(clock)
    return stage, devices


async def until(stage: Stage, kind: type, count: int = 1, limit_ms: float = 15_000) -> None:
    """Wait until the journal has so many facts of a kind."""
    end_ms = stage.clock.now_ms() + limit_ms
    while len(stage.all(kind)) < count:
        assert stage.clock.now_ms() < end_ms, f"{kind.__name__} did not come: {stage.of(Fault)}"
        await stage.clock.sleep_until(stage.clock.now_ms() + 20)


def audible_hops(bus: Bus) -> list[int]:
    return np.flatnonzero(levels(bus.sound()[:, 0]) >= AUDIBLE).tolist()


async def test_a_speaker_chosen_in_mid_reply_takes_over_and_the_first_falls_silent(two_desks: Rig) -> None:
    stage, devices = real_stage()
    with Bus() as first, Bus("second.monitor") as second:
        await asyncio.to_thread(first.wait_hops, 400)  # a sink that was just loaded makes the others stumble
        running = asyncio.create_task(stage.session.run())
        await until(stage, Ready)
        stage.session.post(Said("one"))
        await asyncio.to_thread(first.wait_voice, 0)
        await asyncio.to_thread(first.wait_hops, 200)
        chosen = first.hops()
        seen = next(each for each in devices.listed().outputs if each.name == "second")
        assert not seen.renew, "it was there when PortAudio looked"
        stage.session.post(DeviceChosen("output", seen.name, seen.host))
        await until(stage, DeviceOpened, 3)
        stage.session.post(Said("two"))
        begun = await asyncio.to_thread(second.wait_voice, 0)
        await asyncio.to_thread(second.wait_hops, 100)

        plug_in(two_desks, "late", "speaker")
        seen = next(each for each in devices.listed().outputs if each.name == "late")
        assert seen.renew, "it was plugged in since"
        second_chosen = second.hops()
        stage.session.post(DeviceChosen("output", seen.name, seen.host, seen.renew))
        await until(stage, DeviceOpened, 5)
        moved = first.hops()
        stage.session.post(Said("three"))
        await asyncio.to_thread(first.wait_voice, moved)
        stage.session.post(StopAsked("finished"))
        await asyncio.wait_for(running, 10)
    on_first, on_second = audible_hops(first), audible_hops(second)
    before = [hop for hop in on_first if hop < moved]
    stopped_ms, second_ms = (before[-1] - chosen) * HOP_MS, (on_second[-1] - second_chosen) * HOP_MS
    print(f"silent after the choice: the first speaker {stopped_ms} ms, the second {second_ms} ms")
    assert stopped_ms < 1_500, "the look at what is plugged in takes about half a second of this"
    assert min(on_second) >= begun and second_ms < 500
    assert [fact.name for fact in stage.of(DeviceOpened) if fact.role == "output"] == ["default", "second", "late"]
    assert [order.outcome for order in stage.of(EndTurn)] == ["interrupted"] * 3
    assert all(REPLY.startswith(order.heard_text) and order.heard_text for order in stage.of(EndTurn)[:2])
    assert not [fault for fault in stage.of(Fault) if "input silent" not in fault.message]
    assert_ended_in_order(stage)


async def test_another_microphone_is_heard_on_the_same_track_and_one_that_does_not_open_gives_way(
    two_desks: Rig, tmp_path: Path
) -> None:
    stage, _ = real_stage()
    stage.parts.transcriber = Finals("hello", "again")
    path = tmp_path / "tone.wav"
    sound = (12_000 * np.sin(2 * np.pi * 440 * np.arange(38_400) / 48_000)).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 48_000, 0, "NONE", ""))
        file.writeframes(sound.tobytes())
    with Bus() as bus:
        await asyncio.to_thread(bus.wait_hops, 400)
    running = asyncio.create_task(stage.session.run())
    await until(stage, Ready)
    await until(stage, ClockMapped)
    speak(path).wait(10)
    await until(stage, EndTurn)
    stage.session.post(DeviceChosen("input", "micb", "ALSA"))
    await until(stage, SoundLost)
    speak(path).wait(10)
    await until(stage, EndTurn, 2)
    stage.session.post(DeviceChosen("input", "second", "ALSA"))
    await until(stage, ClockMapped, 3)
    stage.session.post(StopAsked("finished"))
    await asyncio.wait_for(running, 10)
    assert [fact.name for fact in stage.of(DeviceOpened) if fact.role == "input"] == ["default", "micb", "micb"]
    assert len(stage.all(SpeechStarted)) >= 2 and stage.outcomes == ["completed", "completed"]
    (fault,) = [fault for fault in stage.of(Fault) if "input silent" not in fault.message]
    assert "'second'" in fault.message and fault.remedy == "The microphone 'micb' is used again."
    first, *later = stage.all(ClockMapped)
    for entry in later:
        off_ms = (entry.at - first.at) - (entry.body.sample - first.body.sample) / 16  # type: ignore[union-attr]
        assert abs(off_ms) < 40, "numbers and times go on together"
    assert_ended_in_order(stage)
