"""A recorded session as a tape: where it is, what is shown there, how it moves, how it ends."""

from __future__ import annotations

import fcntl
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.journal_builder import JournalBuilder
from tests.tui.replay_stage import FakeTrack, Watch
from voicetui.events import Entry
from voicetui.events.session import SessionClosed, Woke
from voicetui.events.sound import ClockMapped
from voicetui.rehearse.open_tape import open_tape
from voicetui.rehearse.replay_tape import SPEEDS, Tape
from voicetui.sound.wav import WavWriter


def entries(*times_ms: float) -> list[Entry]:
    return [Entry(seq, at_ms, Woke(seq)) for seq, at_ms in enumerate(times_ms)]


def closed(*times_ms: float) -> list[Entry]:
    return [*entries(*times_ms), Entry(len(times_ms), times_ms[-1], SessionClosed("user"))]


def tape(watch: Watch, shown: Sequence[Entry], track: FakeTrack | None = None) -> Tape:
    return Tape(watch.now_ms, shown, track or FakeTrack(), FakeTrack())


def test_it_plays_stands_and_keeps_its_speed() -> None:
    watch = Watch()
    one = tape(watch, closed(0, 1000, 2000, 60_000))
    watch.ms = 500
    assert (one.now_ms(), one.state) == (0, "paused")
    one.play()
    watch.ms = 1700
    assert (one.now_ms(), one.state, len(one.entries_since(0)), len(one.entries_since(1))) == (1200, "playing", 2, 1)
    one.quicken(1)
    watch.ms = 2100
    assert one.now_ms() == 2000 and one.speed == 2
    one.pause()
    watch.ms = 9000
    assert one.now_ms() == 2000
    for _ in range(9):
        one.quicken(-1)
    assert one.speed == SPEEDS[0] and one.now_ms() == 2000
    one.play()
    watch.ms = 10_000
    assert one.now_ms() == 2500


def test_an_entry_is_shown_at_the_latest_time_so_far() -> None:
    watch = Watch()
    one = tape(watch, entries(0, 900, 700, 1000))
    one.seek(800)
    assert one.shown == 1, "what was noticed later is not known before"
    one.seek(900)
    assert one.shown == 3


def test_a_damaged_time_does_not_take_the_rest_with_it() -> None:
    one = tape(Watch(), entries(0, 1000, 9e12, math.nan, 2000, 3000))
    assert one.length_ms == 3000
    one.seek(1500)
    assert one.shown == 2


def test_events_are_stepped_through_one_at_a_time_even_where_they_share_a_time() -> None:
    watch = Watch()
    one = tape(watch, closed(0, 500, 500, 500, 800))
    one.play()
    seen = []
    for _ in range(4):
        one.step(1)
        seen.append((one.shown, one.now_ms(), one.state))
    assert seen == [(2, 500, "paused"), (3, 500, "paused"), (4, 500, "paused"), (5, 800, "paused")]
    one.step(-3)
    assert (one.shown, one.now_ms()) == (2, 500)
    one.step(-9)
    assert one.shown == 1
    one.seek(500)
    assert one.shown == 4


def test_the_end_is_the_end_and_play_begins_again() -> None:
    watch = Watch()
    one = tape(watch, closed(0, 1000))
    one.play()
    watch.ms = 5000
    assert (one.now_ms(), one.state, one.running) == (1000, "end", True)
    one.play()
    watch.ms = 5100
    assert (one.now_ms(), one.state) == (100, "playing")
    one.seek(1e9)
    assert one.now_ms() == 1000
    one.seek(-5)
    assert one.now_ms() == 0
    one.stop()
    assert not one.running and one.join(1)


def test_a_session_that_is_being_written_is_waited_for() -> None:
    watch, four = Watch(), entries(0, 1000, 2000, 3000)
    polls: list[tuple[list[Entry], bool]] = [(four[2:], True)]
    one = Tape(watch.now_ms, four[:2], FakeTrack(), FakeTrack(), lambda: polls.pop() if polls else ([], True))
    watch.ms += 300
    one.play()
    assert one.growing and one.length_ms == 3000, "it grew"
    watch.ms += 4000
    assert (one.now_ms(), one.state) == (3000, "waiting")
    watch.ms += 1000
    assert (one.now_ms(), one.state) == (3000, "waiting")
    polls.append(([Entry(4, 9000, SessionClosed("user"))], False))
    watch.ms += 300
    assert one.now_ms() == 3000 and one.state == "playing", "more has come"
    watch.ms += 700
    assert one.now_ms() == 3700 and not one.growing and one.closed


def test_a_session_that_broke_off_while_it_was_followed_has_ended() -> None:
    watch, polls = Watch(), [([], True), ([], False)]
    one = Tape(watch.now_ms, entries(0, 1000), FakeTrack(), FakeTrack(), lambda: polls.pop(0))
    one.play()
    watch.ms = 2000
    assert one.now_ms() == 1000 and one.state == "waiting"
    watch.ms = 2300
    assert (one.now_ms(), one.state, one.growing, one.closed) == (1000, "end", False, False)


def test_levels_are_those_of_the_tracks_at_the_position() -> None:
    loud = np.zeros(16 * 4000, np.int16)
    loud[16 * 2000 : 16 * 3000] = 3277
    mapped = [Entry(0, 500.0, ClockMapped(0)), Entry(1, 5000.0, SessionClosed("user"))]
    one = tape(Watch(), mapped, FakeTrack(loud))
    one.seek(2400)
    assert one.levels().user_dbfs == -120 and one.levels().reply_dbfs == -120
    one.seek(3000)
    levels = one.levels()
    assert levels.user_dbfs == pytest.approx(-20, abs=0.1)
    assert sum(level > -21 for level in levels.user_wave) == 25, "half a second in pieces of 20 ms"
    assert one.length_ms == 5000


def written(folder: Path, *, ends: bool = True) -> Path:
    journal = JournalBuilder().opened().ready()
    journal.turn("What time is it?", ["It is noon."])
    if ends:
        journal.closed()
    folder.mkdir()
    journal.write(folder / "journal.jsonl")
    for stem in ("user", "reply"):
        track = WavWriter(folder / f"{stem}.wav")
        track.append(np.full(16_000, 1000, np.int16))
        track.close()
    return folder


def test_a_session_on_disk_is_entered_when_it_was_ready(tmp_path: Path) -> None:
    one = open_tape(written(tmp_path / "s"), Watch().now_ms)
    assert one.now_ms() == 500 and one.closed and not one.growing
    assert one.tracks["user"].read(15_999, 2).tolist() == [1000, 0]


def test_a_torn_session_shows_what_is_good_and_names_the_rest(tmp_path: Path) -> None:
    folder = written(tmp_path / "s", ends=False)
    path = folder / "journal.jsonl"
    lines = path.read_bytes().splitlines()
    lines[9] = b"{nonsense"
    path.write_bytes(b"\n".join(lines) + b'\n{"seq":900,"at":1')
    (folder / "reply.wav").unlink()
    before = path.read_bytes()
    one = open_tape(folder, Watch().now_ms)
    assert len(one.entries) == len(lines) - 2
    told = "\n".join(one.problems)
    assert "line 10: not an entry" in told and "the last line is incomplete" in told and "reply.wav: is missing" in told
    assert not one.closed and not one.growing and path.read_bytes() == before


def test_the_rest_of_a_line_that_is_only_half_written_is_no_damage(tmp_path: Path) -> None:
    folder = written(tmp_path / "s", ends=False)
    path = folder / "journal.jsonl"
    *lines, last = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join(lines) + b"\n" + last[:20])
    watch = Watch()
    with path.open("ab", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        one = open_tape(folder, watch.now_ms)
        count, length_ms = len(one.entries), one.length_ms
        assert one.growing and one.now_ms() == length_ms - 1000
        assert not any("incomplete" in each for each in one.problems)
        file.write(last[20:] + b"\n")
        track = WavWriter(folder / "reply.2.wav")
        track.append(np.zeros(160_000, np.int16))
        track.close()
        watch.ms += 300
        assert one.now_ms() == length_ms - 1000
        assert len(one.entries) == count + 1 and one.length_ms == 11_000
    watch.ms += 300
    one.look()
    assert not one.growing and any("has no end" in each for each in one.problems)
