"""The recorded microphone made ready: its echo taken out, the noise of its room found and heard around what is said."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from voicetui.events import Entry
from voicetui.events.session import SessionOpened
from voicetui.journal.recorded import Recorded
from voicetui.ports import RATE_HZ, Pcm16
from voicetui.rehearse.tape import recorded_track, room_of, without_echo
from voicetui.runtime.clock import ManualClock
from voicetui.sound.microphone import FileMicrophone
from voicetui.sound.rates import level_dbfs
from voicetui.sound.wav import WavWriter, read_audio

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
            await clock.advance(10)
            got.append((await coming).samples)
        return np.concatenate(got)

    return asyncio.run(take())


def test_a_clip_takes_the_place_of_the_room_it_is_from() -> None:
    clock = ManualClock()
    sound = heard(FileMicrophone(clock, room=np.tile(np.array([50, -50], np.int16), 777)), clock, 80)
    assert (sound[3400:6200] == 1000).all()
    assert set(abs(sound[:3200])) == set(abs(sound[6400:])) == {50}
    clock = ManualClock()
    assert not heard(FileMicrophone(clock, room=np.zeros(0, np.int16)), clock, 80)[:3200].any()


@pytest.fixture(scope="module")
def open_speakers() -> tuple[Pcm16, Pcm16, Pcm16]:
    """What the microphone heard, what was played, what the person said after it; int16 [n] at 16 kHz."""
    clips = [read_audio(path)[0] for path in sorted(CLIPS.glob("*.wav"))]
    reply = np.concatenate((*clips, np.zeros(len(clips[0]) + RATE_HZ, np.int16)))
    person = np.concatenate((np.zeros(sum(map(len, clips)), np.int16), clips[0], np.zeros(RATE_HZ, np.int16)))
    late = round(0.08 * RATE_HZ)
    echo = np.concatenate((np.zeros(late, np.int16), reply[:-late])) // 4
    return echo + person + noise(len(reply) / RATE_HZ, 8, seed=4), reply, person


@pytest.mark.usefixtures("canceller_package")
def test_the_old_echo_is_taken_out_and_the_person_is_kept(open_speakers: tuple[Pcm16, Pcm16, Pcm16]) -> None:
    user, reply, person = open_speakers
    made = without_echo(user, reply)
    assert len(made) == len(user) and made.dtype == np.int16
    spoken = np.flatnonzero(person)
    over = slice(6 * RATE_HZ, spoken[0])
    assert level_dbfs(made[over]) < level_dbfs(user[over]) - 20
    kept = slice(spoken[0] + 4000, spoken[-1] - 4000)
    assert level_dbfs(made[kept]) == pytest.approx(level_dbfs(person[kept]), abs=2)
    place = np.correlate(made[kept].astype(float), person[kept].astype(float)[200:-200], "valid").argmax()
    assert abs(place - 200) < 8


def kept(folder: Path, source: str, echo: str, **tracks: Pcm16) -> Recorded:
    """A recorded session."""
    opened = SessionOpened("s", "", "", "local", (), "full", "full", source, {}, echo=echo)  # type: ignore[arg-type]
    for name, track in tracks.items():
        writer = WavWriter(folder / f"{name}.wav")
        writer.append(track)
        writer.close()
    return Recorded(folder, None, (Entry(0, 0.0, opened),), ())


@pytest.mark.usefixtures("canceller_package")
@pytest.mark.parametrize(
    ("source", "echo", "changed"),
    [
        ("microphone", "cancelled", True),
        ("microphone", "", True),
        ("microphone", "headphones", False),
        ("run", "", False),
    ],
)
def test_only_what_heard_the_speaker_is_cleaned(
    open_speakers: tuple[Pcm16, Pcm16, Pcm16], tmp_path: Path, source: str, echo: str, changed: bool
) -> None:
    user, reply, _ = open_speakers
    told: list[str] = []
    track = recorded_track(kept(tmp_path, source, echo, user=user[:48_000], reply=reply[:48_000]), told.append)
    assert np.array_equal(track, user[:48_000]) != changed and not told


@pytest.mark.usefixtures("canceller_package")
def test_an_echo_that_has_to_stay_in_is_told(open_speakers: tuple[Pcm16, Pcm16, Pcm16], tmp_path: Path) -> None:
    user, told = open_speakers[0][:16_000], list[str]()
    assert np.array_equal(recorded_track(kept(tmp_path, "microphone", "cancelled", user=user), told.append), user)
    assert len(told) == 1 and told[0].startswith("The echo of the old replies stays in: ") and "reply.wav" in told[0]
