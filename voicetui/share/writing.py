"""Writing a file for others: whole or not at all, and never over something that is not ours."""

from __future__ import annotations

from pathlib import Path

from voicetui.journal.atomic import write_private
from voicetui.journal.target import target_refused


class WriteError(Exception):
    """A file cannot be written. ``str(error)`` says what happened, where, and what to do next."""


def check_target(path: Path, mark: str) -> None:
    """Whether a file can be written at ``path``: nothing is there, or one that has ``mark`` near its beginning.

    Raises ``WriteError``.
    """
    refused = target_refused(path)
    if refused:
        raise WriteError(refused)
    if not path.exists():
        return
    if not path.is_file():
        raise WriteError(f"{path} is no ordinary file. Name another one.")
    try:
        with path.open("rb") as file:
            begins = file.read(4096)
    except OSError as error:
        raise WriteError(f"{path} is there and cannot be read: {error.strerror}. Name another file.") from error
    if mark.encode() not in begins:
        raise WriteError(f"{path} is there already, and was not made by this command. Name another file.")


def write_whole(path: Path, data: bytes, mark: str) -> None:
    """Write ``data`` to ``path`` in one step, for its owner's eyes; half a file is never seen there.

    Raises ``WriteError``.
    """
    check_target(path, mark)
    try:
        write_private(path, data)
    except OSError as error:
        reason = error.strerror or error
        raise WriteError(f"{path} cannot be written: {reason}. Choose a place where you may write.") from error
