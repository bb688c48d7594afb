"""A recorded person talks to another session: on scripted parts and a manual clock, in zero time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from tests.sessions.stage import Stage, assert_ended_in_order, twin_stage
from voicetui.events import Entry
from voicetui.events.listen import SpeechStarted
from voicetui.events.orders import Commit, Reject
from voicetui.events.session import InterruptAsked, Muted, Said, StopAsked
from voicetui.events.speak import ClauseStarted, PlaybackCut, PlaybackFinished
from voicetui.journal.read import read_journal
from voicetui.ports import Pcm16
from voicetui.rehearse.again import Again, Straight
from voicetui.rehearse.person import Watch
from voicetui.rehearse.rerun import missed, plan
from voicetui.rehearse.tape import room_of
from voicetui.sound.microphone import FileMicrophone
from voicetui.sound.wav import read_parts

Recording: TypeAlias = tuple[tuple[Entry, ...], Pcm16]

ONE = ["What time is it?"]
THREE = ["What time is it?", "Stop. And tomorrow?", "Thank you."]
LONG = "It is noon where I am, and it is midnight where you are, and so it will be for ever and ever."
SHORT = "It is noon."


def recorded(folder: Path, stage: Stage, end_ms: float, *companions: object) -> Recording:
    """Run a session that records itself: its journal and its microphone's track."""
    stage.run_to(end_ms, *companions)
    return read_journal(folder).entries, read_parts(folder, "user")[0]


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """A question, a barge-in into the reply to it, and thanks."""
    folder = tmp_path_factory.mktemp("talk")
    bursts = [(1000, 2000), (4400, 5600), (10_000, 10_800)]
    stage = twin_stage(LONG, SHORT, SHORT, texts=THREE, bursts=bursts, folder=folder)
    found = recorded(folder, stage, 14_000)
    assert stage.outcomes == ["interrupted", "completed", "completed"]
    return found


def run_again(
    stage: Stage, entries: tuple[Entry, ...], track: Pcm16, *companions: object, straight: bool = False
) -> Again:
    """Let the recorded person talk to ``stage`` until it ends."""
    made = plan(entries, len(track))
    stage.microphone = FileMicrophone(stage.clock, room=room_of(track, made.taken))
    stage.parts.microphone = stage.microphone
    watch, told = Watch(), 0
    make = Straight if straight else Again
    person = make(made, track, stage.microphone, watch, stage.clock, stage.session.post)

    def feed() -> None:
        nonlocal told
        new = stage.journal.entries_since(told)
        told += len(new)
        watch.feed(new)

    async def perform() -> None:
        await person.perform()
        stage.session.post(StopAsked("finished"))

    stage.session.on_entries = feed
    asyncio.run(stage.run(perform, *companions))
    assert_ended_in_order(stage)
    return person


def onsets_ms(entries: object) -> list[float]:
    return [entry.at for entry in entries if isinstance(entry.body, SpeechStarted)]  # type: ignore[attr-defined]


def replies_ms(entries: object) -> list[tuple[float, float]]:
    """When each reply began and ended, as it was heard."""
    starts = [entry.at for entry in entries if isinstance(entry.body, ClauseStarted) and entry.body.clause == 0]  # type: ignore[attr-defined]
    ends = [entry.at for entry in entries if isinstance(entry.body, PlaybackFinished | PlaybackCut)]  # type: ignore[attr-defined]
    return list(zip(starts, ends, strict=True))


@pytest.mark.parametrize("ttft_ms", [100.0, 1900.0])
def test_everything_is_said_as_far_from_the_reply_as_there_however_long_that_takes(
    talk: Recording, ttft_ms: float
) -> None:
    entries, track = talk
    stage = twin_stage(LONG, SHORT, SHORT, texts=THREE, ttft_ms=ttft_ms)
    person = run_again(stage, entries, track)
    assert person.finished and stage.outcomes == ["interrupted", "completed", "completed"]
    old, new = replies_ms(entries), replies_ms(stage.entries)
    (_, bid, thanks), (_, new_bid, new_thanks) = onsets_ms(entries), onsets_ms(stage.entries)
    assert new_bid - new[0][0] == pytest.approx(bid - old[0][0], abs=25)
    assert new_thanks - new[1][1] == pytest.approx(thanks - old[1][1], abs=25)
    assert not missed(plan(entries, len(track)).pieces, person.onsets_ms, stage.entries)


def test_a_reply_that_is_over_too_soon_is_not_interrupted_and_that_is_told(talk: Recording) -> None:
    entries, track = talk
    stage = twin_stage(SHORT, texts=THREE)
    person = run_again(stage, entries, track)
    assert stage.outcomes == ["completed", "completed", "completed"]
    (lost,) = missed(plan(entries, len(track)).pieces, person.onsets_ms, stage.entries)
    assert lost.text == THREE[1] and "over" in lost.why


def test_a_bid_that_is_none_here_does_not_put_off_the_next(tmp_path: Path) -> None:
    bursts = [(1000, 2000), (4400, 5000), (8000, 9000)]
    old = twin_stage(
        LONG, LONG, SHORT, texts=["Tell me.", "Stop, go on.", "And now stop."], bursts=bursts, folder=tmp_path
    )
    entries, track = recorded(tmp_path, old, 12_000)
    assert old.outcomes == ["interrupted", "interrupted", "completed"]
    stage = twin_stage(LONG + " " + LONG, SHORT, texts=["Tell me.", "Mm-hmm.", "And now stop."])
    person = run_again(stage, entries, track)
    assert stage.outcomes == ["interrupted", "completed"]
    assert not missed(plan(entries, len(track)).pieces, person.onsets_ms, stage.entries)


def test_the_tape_is_heard_as_it_was(talk: Recording) -> None:
    entries, track = talk
    stage = twin_stage(SHORT, texts=THREE)
    person = run_again(stage, entries, track, straight=True)
    old, new = onsets_ms(entries), onsets_ms(stage.entries)
    assert np.diff(new) == pytest.approx(np.diff(old), abs=1)
    lost = missed(plan(entries, len(track)).pieces, person.onsets_ms, stage.entries)
    assert [each.text for each in lost] == [THREE[1]]


@pytest.mark.parametrize("straight", [False, True])
def test_what_was_said_is_said_whole_and_the_room_is_heard_around_it(
    talk: Recording, tmp_path: Path, straight: bool
) -> None:
    entries, track = talk
    stage = twin_stage(LONG, SHORT, SHORT, texts=THREE, folder=tmp_path)
    run_again(stage, entries, track, straight=straight)
    again = read_parts(tmp_path, "user")[0]
    assert np.count_nonzero(abs(again) > 3000) == np.count_nonzero(abs(track) > 3000)
    quiet = [np.std(sound[abs(sound) < 300]) for sound in (track, again)]
    assert quiet[1] == pytest.approx(quiet[0], rel=0.1)


def test_typed_turns_and_keys_come_at_the_same_places_and_muted_stretches_stay_silent(tmp_path: Path) -> None:
    stage = twin_stage(SHORT, LONG, SHORT, texts=ONE, bursts=[(1000, 2000), (7000, 8000)], folder=tmp_path / "old")
    deeds = [(Muted(True), 6000), (Muted(False), 9000), (Said("Tell me more."), 10_000), (InterruptAsked(), 12_000)]
    entries, track = recorded(tmp_path / "old", stage, 14_000, *(stage.post_at(*deed) for deed in deeds))
    assert stage.outcomes == ["completed", "interrupted"]
    new = twin_stage(SHORT, LONG, SHORT, texts=ONE, ttft_ms=900, folder=tmp_path / "new")
    run_again(new, entries, track)
    assert new.outcomes == ["completed", "interrupted"]
    assert [fact.text for fact in new.of(Said)] == ["Tell me more."]
    muted, shown = (entry.at for entry in new.all(Muted))
    assert shown - muted == pytest.approx(3000, abs=30)
    (_, quiet), (start, _) = replies_ms(new.entries)
    (_, old_quiet), (old_start, _) = replies_ms(entries)
    assert new.all(Said)[0].at - quiet == pytest.approx(10_000 - old_quiet, abs=30)
    assert new.all(InterruptAsked)[0].at - start == pytest.approx(12_000 - old_start, abs=30)
    assert not read_parts(tmp_path / "new", "user")[0][round(muted * 16) + 640 : round(shown * 16) - 640].any()


def test_what_was_no_turn_is_said_again_and_what_is_not_noticed_holds_nothing_up(tmp_path: Path) -> None:
    bursts = [(1000, 1200), (4000, 5000)]
    entries, track = recorded(tmp_path, twin_stage(SHORT, texts=["", *ONE], bursts=bursts, folder=tmp_path), 9000)
    stage = twin_stage(SHORT, texts=["", *ONE])
    run_again(stage, entries, track)
    assert len(stage.of(Reject)) == 1 and [order.text for order in stage.of(Commit)] == ONE
    deaf = twin_stage(SHORT, texts=["", *ONE])
    run_again(deaf, entries, track // 100)
    assert not deaf.outcomes and deaf.entries[-1].at < 15_000


def test_a_sentence_with_a_pause_in_it_is_said_in_one_go(tmp_path: Path) -> None:
    bursts = [(1000, 1800), (2350, 3200)]
    halves = ["Do you know", "Do you know the largest planet?"]
    entries, track = recorded(tmp_path, twin_stage(SHORT, texts=halves[1:], bursts=bursts, folder=tmp_path), 8000)
    stage = twin_stage(SHORT, texts=halves[1:])
    run_again(stage, entries, track)
    old, new = onsets_ms(entries), onsets_ms(stage.entries)
    assert len(old) == len(new) == 2 and new[1] - new[0] == pytest.approx(old[1] - old[0], abs=1)


def test_a_run_that_is_stopped_keeps_what_there_is(talk: Recording, tmp_path: Path) -> None:
    entries, track = talk
    stage = twin_stage(LONG, SHORT, SHORT, texts=THREE, folder=tmp_path)
    person = run_again(stage, entries, track, stage.post_at(StopAsked("signal"), 5000))
    assert not person.finished
    assert [order.text for order in stage.of(Commit)] == THREE[:1]
    assert len(read_parts(tmp_path, "user")[0]) > 4900 * 16
