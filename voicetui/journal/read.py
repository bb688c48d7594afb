"""Reading a journal, whole or while it is written. What cannot be read is skipped and named; nothing is rewritten."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

import msgspec

from voicetui.events import Entry
from voicetui.journal.append import JOURNAL_NAME
from voicetui.journal.codec import FORMAT, Header, LineError, UnknownEntry, decode

_BLANKS: Final = b" \t\r\n\0"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

ProblemKind = Literal[
    "header", "torn", "bad", "text", "unknown", "duplicate", "missing", "time", "start", "end", "track", "unfinished",
    "file",
]  # fmt: skip


class Problem(msgspec.Struct, frozen=True):
    """Something wrong in a session. ``line`` of ``file`` counts from 1, 0: no line in particular; ``message`` is for a
    person.

    Reading a journal finds "header" (missing, newer or out of place), "torn" (the last line is incomplete), "bad" (a
    line is no entry), "text" (an entry was kept whose text was not UTF-8), "unknown" (a record type of a newer
    version), "duplicate" (a sequence number came twice; the first is kept). Checking a session finds "missing"
    (entries that are not there), "time" (a time that cannot be), "start" and "end" (the session has none), "track" (a
    sound file is missing, damaged or too short), "unfinished" (its header is, as after a kill), "file" (something that
    was left lying about).
    """

    line: int
    kind: ProblemKind
    message: str
    file: str = JOURNAL_NAME

    @property
    def told(self) -> str:
        """Where, and what."""
        return f"{self.file}, line {self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


class ReadJournal(msgspec.Struct, frozen=True):
    """A journal as far as it can be read: entries in the order of their sequence numbers.

    ``unknown`` are the numbers of entries whose type a newer version knows.
    """

    header: Header | None
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]
    unknown: tuple[int, ...] = ()


class JournalReader:
    """Reads a journal that may still be written: each ``poll`` returns what is new.

    ``path`` is a journal file or the folder of a session. A half line at the end waits until the rest of it comes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path / JOURNAL_NAME if path.is_dir() else path
        self.header: Header | None = None
        self.problems: list[Problem] = []
        self.unknown: list[int] = []
        self._position_bytes = 0
        self._half = b""
        self._line = 0
        self._content_lines = 0
        self._seen: set[int] = set()

    def poll(self) -> list[Entry]:
        """The entries completed since the last call. A file that does not exist yet has none.

        Raises ``OSError`` for a file that exists and cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(self._position_bytes)
                new = file.read()
        except FileNotFoundError:
            return []
        self._position_bytes += len(new)
        *lines, self._half = (self._half + new).split(b"\n")
        return [entry for line in lines for entry in self._read_line(line)]

    def finish(self) -> list[Entry]:
        """Take what is left as the last line: a whole entry without its newline is kept, half of one is a problem."""
        last, self._half = self._half, b""
        entries = self._read_line(last, last=True) if last.strip(_BLANKS) else []
        if self._content_lines == 0:
            self.problems.append(Problem(max(1, self._line), "header", "the journal is empty"))
        return entries

    def _read_line(self, line: bytes, last: bool = False) -> list[Entry]:
        """The entries of a line: one, or those between the zeros that a crash of the system left instead of text."""
        self._line += 1
        pieces = [piece for piece in line.split(b"\0") if piece.strip(_BLANKS)]
        read = [self._read_piece(piece, last and number == len(pieces)) for number, piece in enumerate(pieces, 1)]
        return [entry for entry in read if entry is not None]

    def _read_piece(self, line: bytes, last: bool) -> Entry | None:
        line = line.removeprefix(_BYTE_ORDER_MARK).strip(_BLANKS)
        if not line:
            return None
        first = self._content_lines == 0
        self._content_lines += 1
        record = self._decoded(line, first, last)
        if isinstance(record, Header):
            self._take_header(record, first)
            return None
        if first:
            self._problem("header", "the first line is no journal header")
        if isinstance(record, UnknownEntry):
            self.unknown.append(record.seq)
            self._problem("unknown", f"entry {record.seq} is a {record.type!r}, which this version does not know")
            return None
        if record is not None and record.seq in self._seen:
            self._problem("duplicate", f"entry {record.seq} came before")
            return None
        if record is not None:
            self._seen.add(record.seq)
        return record

    def _decoded(self, line: bytes, first: bool, last: bool) -> Entry | Header | UnknownEntry | None:
        try:
            return decode(line)
        except LineError as error:
            try:
                record = decode(line.decode("utf-8", "replace").encode())
            except LineError:
                if last:
                    self._problem("torn", "the last line is incomplete")
                elif not first:
                    self._problem("bad", f"not an entry: {error}")
                return None
            self._problem("text", "not UTF-8; what could not be read is shown as U+FFFD")
            return record

    def _take_header(self, header: Header, first: bool) -> None:
        if self.header is None:
            self.header = header
        if not first:
            self._problem("header", "a header that is not the first line")
        elif header.voicetui_journal > FORMAT:
            self._problem(
                "header",
                f"written in format {header.voicetui_journal} by {header.program or 'a newer program'}; "
                f"this version reads up to {FORMAT} and may miss things",
            )

    def _problem(self, kind: ProblemKind, message: str) -> None:
        self.problems.append(Problem(self._line, kind, message))


def read_journal(path: Path) -> ReadJournal:
    """Read a journal (the file, or its session's folder) as far as it can be read.

    Raises ``OSError`` when there is no such file or it cannot be read; never for what is in it.
    """
    reader = JournalReader(path)
    if not reader.path.exists():
        raise FileNotFoundError(f"no journal at {reader.path}")
    entries = [*reader.poll(), *reader.finish()]
    entries.sort(key=lambda entry: entry.seq)
    return ReadJournal(reader.header, tuple(entries), tuple(reader.problems), tuple(reader.unknown))
