"""Whatever happened to a session on disk, all that is good of it is shown and what is not is named."""

from __future__ import annotations

import importlib
import inspect
import math
import os
import pkgutil
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voicetui.views
from tests.journal_builder import JournalBuilder
from voicetui.events import Entry
from voicetui.events.session import Said
from voicetui.events.sound import ClockMapped, DeviceOpened
from voicetui.journal.append import Journal, JournalWriter, being_written
from voicetui.journal.codec import LineError, decode, encode
from voicetui.journal.read import read_journal
from voicetui.journal.recorded import RecordedError, open_recorded, session_folders
from voicetui.sound.wav import WavWriter, part_path

OLD_FORMATS = Path(__file__).parents[1] / "old_formats"
STORY = ["Once upon a time there was a king. ", "He was old and very wise."]


def conversation(mapped: bool = True) -> JournalBuilder:
    journal = JournalBuilder().opened().ready()
    if mapped:
        journal.add(ClockMapped(int(journal.now_ms * 16)))
    journal.turn("What time is it?", ["It is noon."])
    journal.barge_in("Tell me a story", STORY).rejected().typed("Hm?", ["Yes."])
    if mapped:
        journal.add(ClockMapped(int(journal.now_ms * 16)))
    return journal.closed()


def session(folder: Path, journal: JournalBuilder | None = None, samples: int | None = None) -> Path:
    """A whole session: the journal, and two tracks as long as its clock."""
    journal = journal or conversation()
    folder.mkdir(parents=True, exist_ok=True)
    journal.write(folder / "journal.jsonl")
    for stem in ("user", "reply"):
        writer = WavWriter(folder / f"{stem}.wav")
        writer.pad_to(int(journal.now_ms * 16) if samples is None else samples)
        writer.close()
    return folder


def told(folder: Path) -> list[str]:
    """The problems, by file and in words; looking must not rewrite anything."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    found = [problem.told for problem in open_recorded(folder).problems]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    return found


@cache
def all_views() -> tuple[Callable[[], Any], ...]:
    """Every fold there is over a whole journal."""
    modules = [
        importlib.import_module(f"voicetui.views.{each.name}") for each in pkgutil.iter_modules(voicetui.views.__path__)
    ]
    found = {
        kind
        for module in modules
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if kind.__module__.startswith("voicetui.views.") and hasattr(kind, "feed") and hasattr(kind, "snapshot")
    }
    return tuple(sorted(filter(_is_plain, found), key=lambda kind: kind.__name__))


def _is_plain(kind: type) -> bool:
    """Whether it needs nothing but entries."""
    made, feed, snapshot = kind, getattr(kind, "feed"), getattr(kind, "snapshot")  # noqa: B009
    needed = [_needed(made), _needed(feed), _needed(snapshot)]
    return needed == [[], ["self", "entry"], ["self"]]


def _needed(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.default is each.empty]


def fold_all(entries: Sequence[Entry]) -> None:
    views = [make() for make in all_views()]
    assert len(views) >= 6
    for view in views:
        for entry in entries:
            view.feed(entry)
        view.snapshot()


def test_a_whole_session_has_no_problems(tmp_path: Path) -> None:
    assert told(session(tmp_path / "s")) == []


# ---- the journal

GOLDEN = conversation()


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return GOLDEN.write(tmp_path_factory.mktemp("golden") / "journal.jsonl").read_bytes()


def test_cut_at_every_byte_a_session_keeps_all_before_the_cut(tmp_path: Path, golden: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    entries = tuple(GOLDEN.entries)
    path.write_bytes(golden)
    for cut in range(len(golden), -1, -1):
        if cut % 7 and golden[cut : cut + 1] != b"\n" and cut > 3000:
            continue
        os.truncate(path, cut)
        read = read_journal(path)
        whole = max(0, golden.count(b"\n", 0, cut) - 1)
        assert len(read.entries) in (whole, whole + 1)
        assert read.entries == entries[: len(read.entries)]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_cut_or_spoilt_anywhere_a_session_opens_and_every_view_of_it_can_be_made(
    tmp_path_factory: pytest.TempPathFactory, golden: bytes, data: st.DataObject
) -> None:
    spoilt = bytearray(golden)
    places = data.draw(st.lists(st.integers(0, len(golden) - 1), max_size=6), "places")
    for place in places:
        spoilt[place] = data.draw(st.integers(0, 255), "byte")
    cut = data.draw(st.one_of(st.just(len(golden)), st.integers(0, len(golden))), "cut")
    folder = tmp_path_factory.mktemp("spoilt")
    (folder / "journal.jsonl").write_bytes(spoilt[:cut])
    recorded = open_recorded(folder)
    first = min([*places, cut])
    untouched = max(0, golden.count(b"\n", 0, first) - 1)
    kept = {entry.seq: entry for entry in recorded.entries}
    assert [kept[number] for number in range(untouched)] == GOLDEN.entries[:untouched]
    fold_all(recorded.entries)


@pytest.mark.parametrize("seed", range(4))
def test_with_entries_lost_repeated_moved_or_with_other_numbers_every_view_can_be_made(seed: int) -> None:
    chance = random.Random(seed)
    strange = read_journal(OLD_FORMATS / "format-1-records.jsonl").entries
    for _ in range(25):
        entries = list(GOLDEN.entries)
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(entries))
            match chance.randrange(5):
                case 0:
                    del entries[place : place + chance.randint(1, 10)]
                case 1:
                    entries.insert(chance.randrange(len(entries)), entries[place])
                case 2:
                    entries.append(entries.pop(place))
                case 3:
                    entries.insert(place, chance.choice(strange))
                case _:
                    entries[place] = _renumbered(entries[place], chance)
        fold_all([msgspec.structs.replace(entry, seq=number) for number, entry in enumerate(entries)])


def _renumbered(entry: Entry, chance: random.Random) -> Entry:
    """The entry with each whole number of it another one, perhaps."""
    number = re.compile(rb"(?<=[:\[,])\d+(?=[,\]}])")
    other = (b"0", b"1", b"2", b"3", b"999999999")
    line = number.sub(lambda found: chance.choice((found[0], *other)), encode(entry))
    try:
        changed = decode(line)
    except LineError:
        return entry
    return changed if isinstance(changed, Entry) else entry


@pytest.mark.parametrize("at_ms", [math.nan, 1e300, -1e300, 8.64e10, -3.6e6])
def test_a_time_that_cannot_be_is_named_and_every_view_can_be_made(tmp_path: Path, at_ms: float) -> None:
    journal = conversation()
    for number in (3, 12, 40):
        journal.entries[number] = Entry(number, at_ms, journal.entries[number].body)
    folder = session(tmp_path / "s", journal)
    found = [each for each in told(folder) if "far from those around it" in each]
    assert [each.split(" has ")[0] for each in found] == [f"journal.jsonl: entry {number}" for number in (3, 12, 40)]
    fold_all(open_recorded(folder).entries)


def test_hours_without_an_entry_are_no_clock_jump(tmp_path: Path) -> None:
    journal = JournalBuilder().opened().ready().typed("Hm?", ["Yes."])
    journal.wait(4 * 3.6e6).typed("And now?", ["No."]).wait(8.64e7).closed()
    assert told(session(tmp_path / "s", journal, samples=0)) == []


def test_a_clock_that_jumps_against_the_sound_is_named(tmp_path: Path) -> None:
    journal = JournalBuilder().opened().ready()
    for number in range(4):
        journal.add(ClockMapped(160_000 * number)).wait(10_000 if number != 1 else 100_000)
    jumped = session(tmp_path / "jumped", journal.closed(), samples=500_000)
    assert told(jumped) == [
        "journal.jsonl: entry 6: since the pairing before, the clock jumped forward against the sound, by 90.0 s"
    ]
    journal = JournalBuilder().opened().ready().add(ClockMapped(0)).wait(100_000)
    journal.add(DeviceOpened("input", "another", "test", 16_000, 1, 10.0, "paced")).add(ClockMapped(160_000)).closed()
    assert told(session(tmp_path / "changed", journal, samples=200_000)) == []


def test_missing_and_repeated_entries_are_named(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "journal.jsonl").write_bytes(b"".join([*lines[:6], *lines[9:12], lines[11], *lines[13:]]))
    assert told(folder) == [
        "journal.jsonl, line 10: entry 10 came before",
        "journal.jsonl: entries 5 to 7 are missing",
        "journal.jsonl: entry 11 is missing",
    ]


def test_many_gaps_are_counted_instead_of_named(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "journal.jsonl").write_bytes(b"".join([*lines[:3], *lines[3:29:2], *lines[29:]]))
    assert told(folder)[-1] == "journal.jsonl: 8 more entries are missing, at 8 places"


def test_zeros_between_entries_lose_nothing_but_what_they_lie_on(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    lines = (folder / "journal.jsonl").read_bytes().splitlines()
    lines[4] = lines[4] + bytes(4096) + lines[5][:30] + bytes(512) + lines[6]
    (folder / "journal.jsonl").write_bytes(b"\n".join([*lines[:5], *lines[7:], bytes(700)]))
    kept = [entry.seq for entry in open_recorded(folder).entries]
    assert kept == [number for number in range(len(GOLDEN.entries)) if number != 4]
    assert [each.split(":")[0] for each in told(folder)] == ["journal.jsonl, line 5", "journal.jsonl"]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_what_other_programs_take_for_a_line_end_is_text(tmp_path: Path, mark: str) -> None:
    journal = conversation()
    journal.entries[4] = Entry(4, journal.entries[4].at, Said(f"one{mark}two"))
    folder = session(tmp_path / "s", journal)
    assert told(folder) == []
    assert open_recorded(folder).entries[4].body == Said(f"one{mark}two")


def test_a_session_without_its_beginning_or_its_end_says_so(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "journal.jsonl").write_bytes(b"".join([lines[0], *lines[2:-1]]))
    assert told(folder) == [
        "journal.jsonl: entry 0 is missing",
        "journal.jsonl: the session's beginning is missing, and with it tier and settings",
        "journal.jsonl: the session has no end: it was cut short",
    ]


def test_a_session_that_is_being_written_is_not_damaged(tmp_path: Path) -> None:
    journal = Journal(JournalWriter(tmp_path / "s"))
    for entry in GOLDEN.entries[:20]:
        journal.append(entry.at, entry.body)
    tracks = [WavWriter(tmp_path / "s" / f"{stem}.wav") for stem in ("user", "reply")]
    tracks[0].append(np.ones(700, np.int16))
    assert being_written(tmp_path / "s")
    recorded = open_recorded(tmp_path / "s")
    assert recorded.written and recorded.problems == ()
    journal.close()
    assert not open_recorded(tmp_path / "s").written and "cut short" in told(tmp_path / "s")[0]
    for track in tracks:
        track.close()


WRITE = """
import sys
from pathlib import Path
from voicetui.events.session import Said
from voicetui.journal.append import Journal, JournalWriter
journal = Journal(JournalWriter(Path(sys.argv[1])))
journal.append(0.0, Said("hello"))
print("there", flush=True)
sys.stdin.readline()
"""


def test_a_killed_program_writes_no_more(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, str(tmp_path / "s")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    process.stdout.readline()
    assert being_written(tmp_path / "s")
    process.kill()
    process.communicate()
    assert not being_written(tmp_path / "s")


# ---- the tracks


def test_a_track_that_is_missing_is_named(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    (folder / "reply.wav").unlink()
    assert told(folder) == ["reply.wav: is missing"]


def test_a_part_that_is_missing_leaves_a_hole_that_is_named(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    (folder / "user.wav").unlink()
    writer = WavWriter(folder / "user.wav", limit_bytes=120_044)
    writer.pad_to(int(GOLDEN.now_ms * 16))
    writer.close()
    assert told(folder) == []
    part_path(folder / "user.wav", 2).unlink()
    assert told(folder) == ["user.2.wav: is missing: the track has a hole"]
    (folder / "user.99999999.wav").write_bytes(b"")
    assert len(told(folder)) == 3, "a wild number costs no million names"


def test_a_track_that_ends_before_the_journal_does_is_named(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    size = (folder / "user.wav").stat().st_size
    os.truncate(folder / "user.wav", size // 2)
    found = told(folder)
    assert "user.wav: the header promises" in found[0] and "user.wav: ends at" in found[1]
    assert "the two tracks are not equally long" in found[2]


def test_a_track_that_goes_on_after_the_journal_is_named(tmp_path: Path) -> None:
    (found, _) = told(session(tmp_path / "s", samples=int(GOLDEN.now_ms * 16) + 400_000))
    assert found.startswith("user.wav: goes on to")


def test_a_file_that_is_no_track_is_named(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    (folder / "user.wav").write_bytes(b"not a sound at all, only words")
    (folder / "reply.wav").write_bytes(b"")
    assert told(folder) == ["user.wav: is no WAV file of samples", "reply.wav: is empty (0 bytes)"]


def test_what_an_interrupted_redaction_left_is_named(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    (folder / "user.wav.redacting").write_bytes(b"half")
    assert told(folder) == ["user.wav.redacting: left by a redaction that was interrupted: redact again"]


# ---- permissions


def test_a_session_that_may_not_be_read_is_listed_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session(tmp_path / "open")
    session(tmp_path / "shut")
    real_stat, real_open = os.stat, Path.open

    def refuse(path: Any) -> None:
        if "shut" in str(path) and "journal" in str(path):
            raise PermissionError(13, "Permission denied", str(path))

    def locked_stat(path: Any, *arguments: Any, **named: Any) -> os.stat_result:
        refuse(path)
        return real_stat(path, *arguments, **named)

    def locked_open(path: Path, *arguments: Any, **named: Any) -> Any:
        refuse(path)
        return real_open(path, *arguments, **named)

    monkeypatch.setattr(os, "stat", locked_stat)
    monkeypatch.setattr(Path, "open", locked_open)
    assert [folder.name for folder in session_folders(tmp_path)] == ["open", "shut"]
    with pytest.raises(RecordedError, match=r"Permission denied\. Check"):
        open_recorded(tmp_path / "shut")


def test_an_entry_is_one_line() -> None:
    assert all(encode(entry).count(b"\n") == 0 for entry in GOLDEN.entries)
