"""Files that are the old one or the new one at every instant, and for their owner's eyes only."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

FILE_MODE = 0o600


def write_beside(path: Path, pieces: Iterable[bytes], ending: str = ".new") -> Path:
    """Write a file named like ``path`` and ``ending`` beside it, down to the disk. Raises ``OSError``, leaving none."""
    beside = path.with_name(path.name + ending)
    beside.unlink(missing_ok=True)
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return beside


def put_in_place(beside: Path, path: Path) -> None:
    """Let what was written beside ``path`` take its place. Raises ``OSError``."""
    beside.replace(path)
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_private(path: Path, content: bytes) -> None:
    """Write a whole file, or leave what was there. Raises ``OSError``."""
    put_in_place(write_beside(path, (content,), f".{os.getpid()}"), path)
