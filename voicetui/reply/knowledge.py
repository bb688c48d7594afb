"""What the person's own notes say about a question: a folder of Markdown and text files, searched by their words."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from voicetui.events.reply import Passage
from voicetui.ports import Clock, StageError

__all__ = ["FolderKnowledge", "ScriptedKnowledge", "passages_of"]

PASSAGE_WORDS = 60
"""Passages are cut at about this length: all of one goes into the prompt, at 4 to 12 ms a word on a small machine."""

FILE_BYTES = 1 << 20
FILES = 2_000
PASSAGES = 50_000
_ENDINGS = (".md", ".markdown", ".txt")
_QUERY_WORDS = 32
_NEAR_BEST = 0.5
"""A passage that scores less than this share of the best one is left out."""

_FIND = "SELECT rowid, text, source, rank FROM passages WHERE passages MATCH ? ORDER BY rank, rowid LIMIT ?"
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_log = logging.getLogger(__name__)


class FolderKnowledge:
    """Indexes a folder, with all below it, in memory. One thread at a time uses it.

    Files and folders that cannot be used (unreadable, no UTF-8 in text or name, more than 1 MiB) are left out; so are
    those beyond 2,000 files or 50,000 passages. ``report`` is told once, with the first; the log names all. Hidden
    files and other endings than .md, .markdown and .txt are not looked at, and links to folders are not followed.
    """

    def __init__(self, folder: Path, clock: Clock, report: Callable[[str], None]) -> None:
        self._folder = folder
        self._clock = clock
        self._report = report
        self._index: sqlite3.Connection | None = None
        self._left_out: list[str] = []

    def warm(self) -> float:
        """Read and index the folder; the ms it took. Raises ``StageError`` where there is no such folder."""
        started_ms = self._clock.now_ms()
        if not self._folder.is_dir():
            raise StageError(
                f"The knowledge folder {self._folder} is not there",
                "Correct knowledge.folder, or take the line out; replies are given without it.",
                "context",
            )
        index = sqlite3.connect(":memory:", check_same_thread=False)
        index.execute("CREATE VIRTUAL TABLE passages USING fts5(text, source UNINDEXED, tokenize='porter unicode61')")
        index.executemany("INSERT INTO passages(text, source) VALUES (?, ?)", self._passages())
        self._index = index
        self._tell()
        return self._clock.now_ms() - started_ms

    def find(self, query: str, most: int) -> tuple[Passage, ...]:
        """At most ``most`` passages that fit the words of ``query``, as they stand in the files; none before ``warm``.

        Ranked by BM25, any word counts; ``query`` may hold anything. Raises ``StageError`` for a broken index.
        """
        words = re.findall(r"\w+", query)[:_QUERY_WORDS]
        if self._index is None or not words or most < 1:
            return ()
        match = " OR ".join(f'"{word}"' for word in words)
        try:
            rows = self._index.execute(_FIND, (match, most)).fetchall()
        except sqlite3.Error as error:
            raise StageError(f"The knowledge index cannot be searched: {error}", "Start anew.", "context") from None
        near = [row for row in rows if row[3] <= rows[0][3] * _NEAR_BEST]  # the better, the further below zero
        return tuple(Passage(source, text) for _, text, source, _ in sorted(near))

    def close(self) -> None:
        """Forget the index. Idempotent."""
        index, self._index = self._index, None
        if index is not None:
            index.close()

    def _passages(self) -> Iterator[tuple[str, str]]:
        count = 0
        for number, path in enumerate(self._files()):
            if number >= FILES or count >= PASSAGES:
                self._leave_out(f"The knowledge folder is too large: {_shown(path)} and what follows is left out.")
                return
            source = path.relative_to(self._folder).as_posix()
            if _shown(source) != source:
                self._leave_out(f"{_shown(path)} is left out of the knowledge: its name is no UTF-8. Rename it.")
                continue
            text = self._text(path)
            for passage in passages_of(text) if text else ():
                count += 1
                yield passage, source

    def _files(self) -> Iterator[Path]:
        for folder, folders, names in os.walk(self._folder, onerror=self._unreadable):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if not name.startswith(".") and name.lower().endswith(_ENDINGS):
                    yield Path(folder, name)

    def _unreadable(self, error: OSError) -> None:
        self._leave_out(f"{_shown(error.filename)} is left out of the knowledge: {error.strerror or error}.")

    def _leave_out(self, sentence: str) -> None:
        self._left_out.append(sentence)
        _log.warning("%s", sentence)

    def _tell(self) -> None:
        """One sentence for all that was left out."""
        left_out, self._left_out = self._left_out, []
        if len(left_out) > 1:
            count = f"{len(left_out)} files or folders are left out of the knowledge"
            self._report(f"{count}. The first: {left_out[0]} The session's log.txt names all.")
        elif left_out:
            self._report(left_out[0])

    def _text(self, path: Path) -> str:
        try:
            if path.stat().st_size > FILE_BYTES:
                self._leave_out(f"{_shown(path)} is left out of the knowledge: it is larger than 1 MiB. Split it.")
                return ""
            raw = path.read_bytes() if path.is_file() else b""
        except OSError as error:
            self._leave_out(f"{_shown(path)} is left out of the knowledge: {error.strerror or error}.")
            return ""
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            self._leave_out(f"{_shown(path)} is left out of the knowledge: it is no UTF-8 text.")
            return ""
        return text


class ScriptedKnowledge:
    """The twin without files: passages by a word of the query (letter case ignored), in the order of the table."""

    def __init__(self, table: Mapping[str, Passage], broken: str = "") -> None:
        """``broken``: what every search fails with."""
        self._table = table
        self._broken = broken
        self.asked: list[str] = []

    def warm(self) -> float:
        """Nothing to read: 0 ms."""
        return 0.0

    def find(self, query: str, most: int) -> tuple[Passage, ...]:
        """The passages whose word is in ``query``. Raises ``StageError`` if it is to be broken."""
        self.asked.append(query)
        if self._broken:
            raise StageError(self._broken, stage="context")
        words = {word.lower() for word in re.findall(r"\w+", query)}
        return tuple(passage for word, passage in self._table.items() if word.lower() in words)[: max(0, most)]

    def close(self) -> None:
        """Nothing to close."""


def passages_of(text: str) -> list[str]:
    """``text`` in pieces of about ``PASSAGE_WORDS`` words at most, each under its Markdown heading, on one line.

    >>> passages_of("# Hours\\n\\nWe open at nine.\\n\\nWe close at six.")
    ['Hours: We open at nine. We close at six.']
    """
    found: list[str] = []
    heading, words = "", list[str]()

    def emit() -> None:
        if words:
            found.append(f"{heading}: {' '.join(words)}" if heading else " ".join(words))
            words.clear()

    for block in re.split(r"\n\s*\n|\n(?=#{1,6}\s)|(?<=\n)(?=#{1,6}\s)", text):
        first, _, rest = block.strip().partition("\n")
        title = _HEADING.fullmatch(first.strip())
        if title:
            emit()
            heading = " ".join(title[1].split()[:12])
        for piece in _pieces(rest if title else block):
            if len(words) + len(piece) > PASSAGE_WORDS:
                emit()
            words += piece
    emit()
    return found


def _shown(path: Path | str) -> str:
    """A path as text that can be written down, whatever bytes are in it."""
    return str(path).encode("utf-8", "backslashreplace").decode("utf-8")


def _pieces(block: str) -> Iterable[list[str]]:
    """The words of each sentence of a block; of an endless one, by the length of a passage."""
    for sentence in _SENTENCE.split(" ".join(block.split())):
        words = [word[:80] for word in sentence.split()]
        for start in range(0, len(words), PASSAGE_WORDS):
            yield words[start : start + PASSAGE_WORDS]
