"""A device or disk that fails costs one turn at most, and says why; the session goes on and ends in order."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.sessions.stage import Finals, Heard, Stage, TimedWords, WatchedTier, assert_ended_in_order, tone, twin_stage
from voicetui.events.orders import Commit, EndTurn, Reject
from voicetui.events.session import Fault, Ready, Said, StopAsked
from voicetui.events.sound import DeviceLost, DeviceOpened
from voicetui.events.speak import PlaybackCut
from voicetui.journal.read import read_journal
from voicetui.journal.record import Recorder
from voicetui.ports import Block, Renderer, SoundError
from voicetui.sound.microphone import FileMicrophone
from voicetui.sound.speaker import NullSpeaker
from voicetui.sound.wav import read_parts

REPLY = "One two three four five six. Seven eight nine ten eleven twelve. And that is all."


# the speaker


class Absent(NullSpeaker):
    """A speaker that cannot be opened."""

    async def open(self, renderer: Renderer) -> DeviceOpened:
        raise SoundError("The speaker 'USB' is busy. Close the program that uses it.")


def test_without_a_speaker_the_reply_goes_to_a_silent_one_and_the_session_says_so() -> None:
    stage = twin_stage(REPLY)
    stage.parts.speaker = Absent(stage.clock)
    stage.parts.fallback_speaker = lambda: NullSpeaker(stage.clock, name="silent")
    stage.run_to(9000, stage.post_at(Said("one"), 500))
    assert [fault.message for fault in stage.of(Fault)] == [
        "The speaker 'USB' is busy. Close the program that uses it."
    ]
    assert [fact.name for fact in stage.of(DeviceOpened)] == ["silent", "file"]
    assert stage.outcomes == ["completed"]
    assert_ended_in_order(stage)


def test_without_any_speaker_the_session_says_so_and_ends() -> None:
    stage = twin_stage(REPLY)
    stage.parts.speaker = Absent(stage.clock)
    asyncio.run(stage.run(most_ms=1000))
    assert "busy" in stage.of(Fault)[0].message
    assert_ended_in_order(stage)


class Unplugged(NullSpeaker):
    """Stops pulling sound at a time, as a device does whose cable is pulled, and opens again later."""

    stops_ms = 1500.0

    async def open(self, renderer: Renderer) -> DeviceOpened:
        opened = await super().open(renderer)
        if self._clock.now_ms() < self.stops_ms:
            self._stopping = asyncio.create_task(self._stop())
        return opened

    async def _stop(self) -> None:
        await self._clock.sleep_until(self.stops_ms)
        assert self._task is not None
        self._task.cancel()


@pytest.mark.parametrize("back", [True, False])
def test_a_speaker_lost_in_mid_reply_fails_the_turn_and_the_next_is_heard_on_another(back: bool) -> None:
    stage = twin_stage(REPLY)
    speaker = Unplugged(stage.clock, name="USB")
    stage.parts.speaker = speaker
    stage.parts.fallback_speaker = lambda: NullSpeaker(stage.clock, 48_000, name="silent")
    if not back:

        async def gone() -> int:
            raise SoundError("There is no speaker. Plug one in.")

        stage.post_lost = lambda: setattr(speaker, "prepare", gone)  # type: ignore[attr-defined]
    stage.parts.recorder = Heard()
    lost = DeviceLost("output", "USB", "it was unplugged")

    async def unplug() -> None:
        await stage.clock.sleep_until(1600)
        if not back:
            stage.post_lost()  # type: ignore[attr-defined]
        stage.session.post(lost)

    stage.run_to(14_000, stage.post_at(Said("one"), 500), unplug, stage.post_at(Said("two"), 3000))
    first, second = stage.of(EndTurn)
    assert first.outcome == "failed" and first.reason == "USB: it was unplugged"
    assert 0 < len(first.heard_text.split()) <= 4, "what was played after the cable was pulled was not heard"
    assert (second.outcome, second.heard_text) == ("completed", REPLY)
    assert [fact.name for fact in stage.of(DeviceOpened) if fact.role == "output"] == [
        "USB",
        "USB" if back else "silent",
    ]
    assert bool(stage.of(Fault)) is not back
    assert_ended_in_order(stage)


def test_a_reply_given_to_a_speaker_that_is_being_replaced_ends_failed_not_never() -> None:
    stage = twin_stage(REPLY)
    speaker = stage.parts.speaker = Unplugged(stage.clock, name="USB")

    async def slow() -> int:
        await stage.clock.sleep_until(4000)
        return 16_000

    async def unplug() -> None:
        await stage.clock.sleep_until(1600)
        speaker.prepare = slow  # type: ignore[method-assign]
        stage.session.post(DeviceLost("output", "USB", "it was unplugged"))

    stage.run_to(14_000, stage.post_at(Said("one"), 500), unplug, *(stage.post_at(Said(t), ms) for t, ms in LATER))
    assert stage.outcomes == ["failed", "failed", "completed"]
    assert len(stage.of(PlaybackCut)) == 2
    assert_ended_in_order(stage)


LATER = (("two", 2500.0), ("three", 6000.0))


# the microphone


class Dying(FileMicrophone):
    """Delivers until a time, then raises."""

    dies_ms = 1300.0
    error: Exception = SoundError("The microphone 'USB' stopped. Plug it in again.")

    async def blocks(self) -> AsyncIterator[Block]:
        async for block in super().blocks():
            if block.at_ms >= self.dies_ms:
                raise self.error
            yield block


def with_microphone(stage: Stage, dies_ms: float, error: Exception | None = None) -> Stage:
    microphone = Dying(stage.clock, [(1000, tone(600))])
    microphone.dies_ms = dies_ms
    microphone.error = error or microphone.error
    stage.microphone = stage.parts.microphone = microphone
    return stage


@pytest.mark.parametrize("error", [None, RuntimeError("driver bug")])
def test_a_microphone_that_dies_in_mid_utterance_closes_it_and_a_typed_turn_is_answered(
    error: Exception | None,
) -> None:
    stage = with_microphone(twin_stage(REPLY), 1300, error)
    stage.run_to(9000, stage.post_at(Said("one"), 3000))
    assert [order.reason for order in stage.of(Reject)] == ["failed"]
    (lost,) = stage.of(DeviceLost)
    assert lost.role == "input" and stage.of(Fault)
    assert stage.outcomes == ["completed"]
    assert_ended_in_order(stage)


def test_what_was_said_before_the_microphone_died_is_still_a_turn() -> None:
    stage = with_microphone(twin_stage(REPLY), 1900)
    stage.parts.transcriber = TimedWords((1600, "hello there"))
    stage.run_to(9000)
    assert [order.text for order in stage.of(Commit)] == ["hello there"]
    assert stage.outcomes == ["completed"] and stage.of(Fault)
    assert_ended_in_order(stage)


def test_a_microphone_that_does_not_open_leaves_a_session_for_typing() -> None:
    stage = twin_stage(REPLY)

    class Absent(FileMicrophone):
        async def open(self) -> DeviceOpened:
            raise SoundError("There is no microphone. Plug one in.")

    stage.microphone = stage.parts.microphone = Absent(stage.clock)
    stage.run_to(6000, stage.post_at(Said("one"), 500))
    assert stage.of(DeviceLost) and stage.of(Fault)[0].remedy and stage.outcomes == ["completed"]
    assert_ended_in_order(stage)


# the disk


def test_a_full_disk_stops_the_recording_once_and_not_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = twin_stage(REPLY, bursts=[(1000, 1600), (11_000, 11_600)], folder=tmp_path / "session")
    stage.parts.transcriber = Finals("hello", "again")
    report = stage.session.post
    stage.parts.recorder = Recorder(tmp_path, lambda text: report(Fault("record", text)))
    write, room = os.write, [150_000]

    def limited(file: int, data: bytes) -> int:
        if room[0] < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        room[0] -= len(data)
        return write(file, data)

    monkeypatch.setattr(os, "write", limited)
    stage.run_to(18_000)
    monkeypatch.undo()
    assert stage.outcomes == ["completed", "completed"]
    (fault,) = stage.of(Fault)
    assert fault.stage == "record" and "No space left" in fault.message and "Free some space" in fault.message
    assert not read_journal(tmp_path / "session").problems
    user, _ = read_parts(tmp_path, "user")
    assert len(user) > 16_000
    assert_ended_in_order(stage)


def test_a_recorder_that_cannot_be_closed_does_not_keep_the_session_open() -> None:
    stage = twin_stage(REPLY)

    class Stuck(Heard):
        def close(self) -> None:
            raise SoundError("user.wav cannot be written: the disk is gone")

    stage.parts.recorder = Stuck()
    stage.run_to(2000)
    assert "the disk is gone" in stage.of(Fault)[0].message
    assert_ended_in_order(stage)


# the end


def test_parts_that_cannot_be_closed_do_not_keep_the_session_from_ending() -> None:
    stage = twin_stage(REPLY)

    class Stubborn(WatchedTier):
        async def close(self) -> None:
            raise RuntimeError("no")

    class Speaker(NullSpeaker):
        async def close(self) -> None:
            was_open = self._task is not None
            await super().close()
            if was_open:
                raise SoundError("the driver hangs and hangs")

    stage.parts.tiers, stage.parts.speaker = {"twin": Stubborn(stage.clock, REPLY)}, Speaker(stage.clock)
    stage.run_to(1500, stage.post_at(Said("one"), 500))
    assert stage.outcomes == ["interrupted"]
    assert_ended_in_order(stage)


def test_a_session_can_be_stopped_while_its_models_load() -> None:
    stage = twin_stage(REPLY)

    class Loading(WatchedTier):
        async def warm(self) -> float:
            await self.clock.sleep_until(60_000)
            return 0.0

    stage.parts.tiers = {"twin": Loading(stage.clock, REPLY)}
    asyncio.run(stage.run(stage.post_at(StopAsked("user"), 1000), most_ms=3000))
    assert stage.clock.now_ms() < 1500 and not stage.of(Ready)
    assert_ended_in_order(stage)
