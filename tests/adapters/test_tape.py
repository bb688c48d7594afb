"""The recorded microphone made ready: its echo taken out, the noise of its room found and heard around what is said."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from voicetui.ports import RATE_HZ, Pcm16
from voicetui.rehearse.tape import room_of, without_echo
from voicetui.runtime.clock import ManualClock
from voicetui.sound.microphone import FileMicrophone
from voicetui.sound.rates import level_dbfs
from voicetui.sound.wav import read_audio

CLIPS = Path(__file__).resolve().parents[2] / "assets" / "clips"


def noise(seconds: float, level: float, seed: int = 1) -> Pcm16:
    return np.rint(np.random.default_rng(seed).standard_normal(round(seconds * RATE_HZ)) * level).astype(np.int16)


def test_the_room_is_a_stretch_of_middling_loudness_where_nothing_is_said() -> None:
    slam, hum = noise(2, 3000), noise(2, 12)
    track = np.concatenate((noise(2, 10), slam, noise(3, 9000), hum, noise(2, 14), np.zeros(4 * RATE_HZ, np.int16)))
    room = room_of(track, [(4 * RATE_HZ, 7 * RATE_HZ)])
    assert level_dbfs(room) == pytest.approx(level_dbfs(hum), abs=2)
    assert RATE_HZ < len(room) < 2 * RATE_HZ


def test_the_room_goes_round_without_a_jump() -> None:
    t = np.arange(2 * RATE_HZ) / RATE_HZ
    room = room_of(np.rint(3000 * np.sin(2 * np.pi * 120 * t)).astype(np.int16), [])
    twice = np.concatenate((room, room)).astype(float)
    assert abs(np.diff(twice)).max() < 1.5 * 3000 * 2 * np.pi * 120 / RATE_HZ


def test_digital_silence_is_the_room_only_where_there_is_nothing_else() -> None:
    assert not room_of(np.zeros(4 * RATE_HZ, np.int16), []).any()
    assert not len(room_of(noise(3, 100), [(0, 3 * RATE_HZ)]))
    assert not len(room_of(np.zeros(0, np.int16), []))


def heard(microphone: FileMicrophone, clock: ManualClock, blocks: int) -> Pcm16:
    async def take() -> Pcm16:
        await microphone.open()
        microphone.play(np.full(3200, 1000, np.int16), 200.0)
        stream, got = microphone.blocks(), []
        for _ in range(blocks):
            coming = asyncio.ensure_future(anext(stream))
            await clock.advance(20)
            got.append((await coming).samples)
        return np.concatenate(got)

    return asyncio.run(take())


def test_a_clip_takes_the_place_of_the_room_it_is_from() -> None:
    clock = ManualClock()
    sound = heard(FileMicrophone(clock, room=np.tile(np.array([50, -50], np.int16), 777)), clock, 40)
    assert (sound[3400:6200] == 1000).all()
    assert set(abs(sound[:3200])) == set(abs(sound[6400:])) == {50}
    clock = ManualClock()
    assert not heard(FileMicrophone(clock, room=np.zeros(0, np.int16)), clock, 40)[:3200].any()


@pytest.mark.usefixtures("canceller_package")
def test_the_old_echo_is_taken_out_and_the_person_is_kept() -> None:
    clips = [read_audio(path)[0] for path in sorted(CLIPS.glob("*.wav"))]
    reply = np.concatenate(clips)
    person = np.concatenate((np.zeros(len(reply), np.int16), clips[0], np.zeros(RATE_HZ, np.int16)))
    reply = np.concatenate((reply, np.zeros(len(person) - len(reply), np.int16)))
    late = round(0.08 * RATE_HZ)
    echo = np.concatenate((np.zeros(late, np.int16), reply[:-late])) // 4
    room = noise(len(reply) / RATE_HZ, 8, seed=4)
    made = without_echo(echo + person + room, reply)
    assert len(made) == len(reply) and made.dtype == np.int16
    over = slice(6 * RATE_HZ, sum(map(len, clips)))
    assert level_dbfs(made[over]) < level_dbfs(echo[over]) - 20
    kept = slice(over.stop + 4000, over.stop + len(clips[0]) - 4000)
    assert level_dbfs(made[kept]) == pytest.approx(level_dbfs(person[kept]), abs=2)
    place = np.correlate(made[kept].astype(float), person[kept].astype(float)[200:-200], "valid").argmax()
    assert abs(place - 200) < 8
