"""A session on disk: finding it by what a person calls it, and opening it whatever state it is in."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import msgspec

from voicetui.events import Entry
from voicetui.events.session import SessionOpened
from voicetui.journal.append import JOURNAL_NAME, being_written
from voicetui.journal.check import check_session
from voicetui.journal.codec import Header, Redaction
from voicetui.journal.read import Problem, read_journal

NEWEST = "latest"


class RecordedError(Exception):
    """A session cannot be opened. ``str(error)`` says what happened, where, and what to do next."""


class Recorded(msgspec.Struct, frozen=True):
    """A session as far as it can be read: its entries in order, and all that is wrong with it, tracks included.

    Its two tracks are read apart (``voicetui.sound.wav.read_parts(folder, "user")`` and ``"reply"``). ``written``: it
    was being written when it was opened.
    """

    folder: Path
    header: Header | None
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]
    written: bool = False

    @property
    def name(self) -> str:
        """What people call it: its folder's name."""
        return self.folder.name

    @property
    def redactions(self) -> tuple[Redaction, ...]:
        """What was taken out of it, and when: its texts and its sound are not all that there once was."""
        return self.header.redactions if self.header is not None else ()

    @property
    def opened(self) -> SessionOpened | None:
        """What the session began with; None where the journal has lost that."""
        return next((entry.body for entry in self.entries if isinstance(entry.body, SessionOpened)), None)


def session_folders(recordings: Path) -> list[Path]:
    """Every folder in ``recordings`` that holds a journal, oldest first by name."""
    try:
        return sorted(folder for folder in recordings.iterdir() if _holds_journal(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        reason = error.strerror or error
        raise RecordedError(f"{recordings} cannot be read: {reason}. Check the folder's permissions.") from error


def _named_by_time(folder: Path) -> bool:
    """Whether its name begins with when it was recorded; those of samples and renamed sessions tell nothing of it."""
    return re.match(r"\d{8}T\d{6}Z", folder.name) is not None


def _holds_journal(folder: Path) -> bool:
    """Whether this is a session. One that may not be looked into counts, so that it is named where it is listed."""
    try:
        return stat.S_ISREG((folder / JOURNAL_NAME).stat().st_mode)
    except PermissionError:
        return not folder.name.startswith(".")
    except (OSError, ValueError):
        return False


def find_session(called: str, recordings: Path) -> Path:
    """The folder of the session ``called`` so.

    That is a path (the folder, or its journal), a name in ``recordings``, the beginning of one that only one has, or
    "latest". Raises ``RecordedError``.
    """
    path = _path(called)
    if path.name == JOURNAL_NAME and _holds_journal(path.parent):
        return _named(path.parent)
    for folder in (path, recordings / called):
        if called and _holds_journal(folder):
            return _named(folder)
    known = session_folders(recordings)
    if called == NEWEST and known:
        return max(known, key=lambda folder: (_named_by_time(folder), folder.name))
    alike = [folder for folder in known if called and folder.name.startswith(called)]
    if len(alike) == 1:
        return alike[0]
    if alike:
        names = ", ".join(folder.name for folder in alike[:5])
        raise RecordedError(f"{called} begins the names of {len(alike)} sessions: {names}. Write more of it.")
    if os.path.isdir(path):  # noqa: PTH112  Path.is_dir raises for a name that is too long
        raise RecordedError(f"{path} holds no {JOURNAL_NAME}, so it is no session. Name the folder of a recorded one.")
    raise RecordedError(
        f"There is no session {called!r}, neither as a folder nor in {recordings}. `voicetui sessions` lists them."
    )


def _path(called: str) -> Path:
    try:
        return Path(called).expanduser()
    except RuntimeError:  # "~somebody" who is not known here
        return Path(called)


def _named(folder: Path) -> Path:
    """The folder by a path that ends in its name: "." and ".." do not."""
    return folder if folder.name not in ("", "..") else folder.resolve()


def open_recorded(folder: Path) -> Recorded:
    """The session in ``folder``, finished, torn or still being written. Raises ``RecordedError``."""
    written = being_written(folder)
    try:
        journal = read_journal(folder)
    except OSError as error:
        reason = error.strerror or error
        raise RecordedError(
            f"{folder / JOURNAL_NAME} cannot be read: {reason}. Check the file's permissions."
        ) from error
    problems = check_session(folder, journal, written)
    return Recorded(folder, journal.header, journal.entries, problems, written)
