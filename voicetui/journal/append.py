"""Appending to the journal: the tail in memory that everything reads, and the file that outlives the process."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from io import FileIO
from pathlib import Path
from typing import Final

from voicetui.events import AnyFact, AnyOrder, Entry
from voicetui.journal.codec import FORMAT, Header, encode

JOURNAL_NAME: Final = "journal.jsonl"

_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_NAME_CHARS: Final = 60
"""As much of a tier's name is in its session's: no file system takes more than 255 bytes in all."""


def session_folder(recordings: Path, started: datetime, tier: str) -> Path:
    """Where a session that started then keeps its files: a folder in ``recordings`` that does not exist yet.

    ``started`` is UTC and only a label; two sessions of the same second, or a clock set back, get different folders.
    """
    safe_tier = re.sub(r"[^\w.-]+", "-", tier).strip("-.")[:_NAME_CHARS] or "tier"
    name = f"{started:%Y%m%dT%H%M%SZ}-{safe_tier}"
    folder, number = recordings / name, 2
    while folder.exists():
        folder, number = recordings / f"{name}-{number}", number + 1
    return folder


class JournalWriter:
    """Writes ``journal.jsonl`` in a session's folder, one ``write`` an entry, so that a killed process loses nothing.

    A folder or disk that cannot be written is told once to ``report`` and never raised; later entries are still
    tried, and ``lost`` counts those that are not in the file.
    """

    def __init__(
        self, folder: Path, program: str = "", session: str = "", report: Callable[[str], None] | None = None
    ) -> None:
        self.path = folder / JOURNAL_NAME
        self.lost = 0
        self._report = report
        self._reported = False
        self._torn = False
        self._file: FileIO | None = None
        try:
            _make_private_folder(folder)
            self._file = FileIO(self.path, "ab", opener=_open_private)
            _mark_as_written(self._file)
            self._torn = self._file.tell() > 0
            if not self._torn:
                self._write(encode(Header(FORMAT, program, session or folder.name)))
        except OSError as error:
            self._tell(error)

    def append(self, entry: Entry) -> None:
        """Write one entry. Never raises for what the disk does."""
        if self._file is None:
            self.lost += 1
            return
        try:
            self._write(encode(entry))
        except (OSError, TypeError, ValueError) as error:
            self.lost += 1
            self._tell(error)

    def close(self) -> None:
        """Close the file. Idempotent."""
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError as error:
                self._tell(error)

    def _write(self, line: bytes) -> None:
        """Write a whole line; after one that got torn, start on a new line."""
        assert self._file is not None
        rest = memoryview(b"\n" + line + b"\n" if self._torn else line + b"\n")
        while rest:
            written = self._file.write(rest)
            if not written:
                raise OSError("nothing was written")
            self._torn = True
            rest = rest[written:]
        self._torn = False

    def _tell(self, error: Exception) -> None:
        if not self._reported and self._report is not None:
            self._reported = True
            self._report(
                f"the journal {self.path} cannot be written: {error}. The session goes on, but is not fully recorded"
            )


class Journal:
    """The journal of the running session: every entry in memory, and in a file if there is a writer.

    One thread appends. Any thread may read ``entries_since``: entries are immutable and are never removed.
    """

    def __init__(self, writer: JournalWriter | None = None) -> None:
        self.writer = writer
        self._entries: list[Entry] = []

    def append(self, at: float, body: AnyFact | AnyOrder) -> Entry:
        """Give ``body`` the next sequence number (from 0) and keep it. ``at`` is the time of its source, ms."""
        entry = Entry(len(self._entries), at, body)
        if self.writer is not None:
            self.writer.append(entry)
        self._entries.append(entry)
        return entry

    def entries_since(self, index: int) -> Sequence[Entry]:
        """The entries from number ``index`` on, in order. ``index`` plus their number is the next index to ask for."""
        return self._entries[max(0, index) :]

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def close(self) -> None:
        """Close the file, if there is one; the memory stays readable. Idempotent."""
        if self.writer is not None:
            self.writer.close()


def _make_private_folder(folder: Path) -> None:
    """Make ``folder`` for this user's eyes only; folders above it are made as the system likes them."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)
    folder.chmod(_FOLDER_MODE)


def being_written(folder: Path) -> bool:
    """Whether a program is writing the session in ``folder`` now. The mark goes with the process, however it ends.

    False where that cannot be told: no journal, no permission, a file system without locks.
    """
    try:
        with (folder / JOURNAL_NAME).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _mark_as_written(file: FileIO) -> None:
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_SH)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, _FILE_MODE)
