"""Writing the journal: at once, for the user's eyes only, and never in the session's way."""

from __future__ import annotations

import os
import stat
import threading
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

import msgspec
import pytest

from tests.journal_builder import JournalBuilder
from voicetui.events import Basis, Entry
from voicetui.events.orders import Commit
from voicetui.events.session import Ready, Said, Woke
from voicetui.journal.append import Journal, JournalWriter, session_folder
from voicetui.journal.codec import FORMAT, Header
from voicetui.journal.read import read_journal

STORY = ["Once upon a time there was a king. ", "He was old and very wise."]


def said(seq: int, text: str = "hello") -> Entry:
    return Entry(seq, seq * 10.0, Said(text))


def test_what_is_appended_is_on_disk_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "recordings" / "now-local"
    journal = Journal(JournalWriter(folder, "voicetui 0.1.0"))
    for number in range(3):
        assert journal.append(number * 10.0, Said("hello")) == said(number)
        assert read_journal(folder).entries == tuple(map(said, range(number + 1)))
    assert read_journal(folder).header == Header(FORMAT, "voicetui 0.1.0", "now-local")
    journal.close()
    journal.close()


def test_only_the_user_may_look_into_a_recording(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        writer = JournalWriter(tmp_path / "recordings" / "now-local")
    finally:
        os.umask(before)
    assert stat.S_IMODE(writer.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o600
    writer.close()


def test_a_journal_without_a_file_is_kept_in_memory() -> None:
    journal = Journal()
    journal.append(1.0, Said("hello"))
    journal.append(0.5, Commit(Basis(1, 1, 1), None, "hello", "typed"))
    assert [entry.seq for entry in journal.entries_since(0)] == [0, 1]
    assert journal.entries_since(1)[0].at == 0.5
    assert (len(journal.entries_since(2)), len(journal)) == (0, 2)
    journal.close()


def test_another_thread_reads_the_tail_while_it_grows() -> None:
    journal = Journal()
    seen: list[int] = []

    def follow() -> None:
        while len(seen) < 5000:
            seen.extend(entry.seq for entry in journal.entries_since(len(seen)))

    thread = threading.Thread(target=follow)
    thread.start()
    for number in range(5000):
        journal.append(float(number), Woke(number))
    thread.join(20)
    assert seen == list(range(5000))


def test_a_folder_that_cannot_be_made_is_told_once_and_the_session_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    told: list[str] = []
    journal = Journal(JournalWriter(tmp_path / "file" / "now-local", report=told.append))
    for _ in range(3):
        journal.append(0.0, Said("hello"))
    assert len(told) == 1 and "now-local" in told[0]
    assert len(journal) == 3
    assert journal.writer is not None and journal.writer.lost == 3


class FullDisk:
    """Takes so many bytes, then is full until there is room again."""

    def __init__(self, patch: pytest.MonkeyPatch, room: int) -> None:
        self.room = room
        write = FileIO.write

        def limited(file: FileIO, data: memoryview) -> int:
            if self.room == 0:
                raise OSError(28, "No space left on device")
            part = min(self.room, len(data), 50)
            self.room -= part
            return write(file, data[:part])

        class Limited(FileIO):
            write = limited  # type: ignore[assignment]

        patch.setattr("voicetui.journal.append.FileIO", Limited)


def test_a_full_disk_is_told_once_and_later_lines_are_whole_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    disk = FullDisk(monkeypatch, room=230)
    journal = Journal(JournalWriter(tmp_path / "s", report=told.append))
    for _ in range(8):
        journal.append(0.0, Said("hello"))
    disk.room = 100_000
    for _ in range(8, 12):
        journal.append(0.0, Said("hello"))
    assert len(told) == 1 and "No space left" in told[0]
    read = read_journal(tmp_path / "s")
    numbers = [entry.seq for entry in read.entries]
    assert numbers[-4:] == [8, 9, 10, 11]
    assert journal.writer is not None and journal.writer.lost == 12 - len(numbers)
    assert {problem.kind for problem in read.problems} <= {"bad"}
    journal.close()


def test_an_entry_that_cannot_be_written_does_not_stop_the_session(tmp_path: Path) -> None:
    class Odd:
        def item(self) -> object:
            raise ValueError("not now")

    told: list[str] = []
    journal = Journal(JournalWriter(tmp_path / "s", report=told.append))
    journal.append(0.0, Ready({"tier": Odd()}))  # type: ignore[dict-item]
    journal.append(10.0, Said("hello"))
    journal.close()
    assert len(told) == 1
    assert [entry.seq for entry in read_journal(tmp_path / "s").entries] == [1]


def test_sessions_of_the_same_second_get_different_folders(tmp_path: Path) -> None:
    started = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    first = session_folder(tmp_path, started, "pretend/750 tok")
    assert first == tmp_path / "20300102T030405Z-pretend-750-tok"
    first.mkdir()
    assert session_folder(tmp_path, started, "pretend/750 tok").name == "20300102T030405Z-pretend-750-tok-2"
    assert session_folder(tmp_path, started, "../..").parent == tmp_path


def test_an_hour_of_turns_is_under_20_megabytes(tmp_path: Path) -> None:
    journal = JournalBuilder().opened().ready()
    while journal.now_ms < 10 * 60_000:
        journal.turn("What time is it in the capital of Peru?", STORY)
    size = journal.write(tmp_path / "journal.jsonl").stat().st_size
    assert size * 6 < 20e6
    assert msgspec.json.decode((tmp_path / "journal.jsonl").read_bytes().splitlines()[0])["voicetui_journal"] == 1


def test_a_tiers_long_name_makes_no_folder_name_that_is_too_long(tmp_path: Path) -> None:
    folder = session_folder(tmp_path, datetime(2026, 11, 30, tzinfo=UTC), "语" * 300)
    folder.mkdir()
    assert len(folder.name.encode()) < 255
