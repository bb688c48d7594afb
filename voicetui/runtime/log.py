"""The session's log: where tracebacks and native libraries' chatter go, so that neither reaches the screen."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from voicetui.streams import sink_to, talk_to


class _LogFile(logging.FileHandler):
    """A log that is given up where it cannot be written: the session matters more."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Say nothing: what is wrong with the disk is told about the recording."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, if there is a file to write it to."""
        with suppress(OSError):
            super().emit(record)

    def close(self) -> None:
        """Close the file; what it could not take is lost."""
        with suppress(OSError):
            super().close()


def log_to(path: Path | None) -> logging.Handler:
    """Send the program's log to a file of this session (mode 0600), or nowhere.

    Returns the handler, for ``stop_logging``.
    """
    if path is None:
        handler: logging.Handler = logging.NullHandler()
    else:
        with suppress(OSError):
            path.touch(mode=0o600)
        handler = _LogFile(path, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    for chatty in ("httpx", "httpcore", "faster_whisper", "piper"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    return handler


def stop_logging(handler: logging.Handler) -> None:
    """Close the session's log."""
    logging.getLogger().removeHandler(handler)
    handler.close()


@contextmanager
def native_chatter_to(path: Path | None) -> Iterator[None]:
    """What native libraries print on descriptor 2 goes to ``path`` (None, or where it cannot be written: nowhere);
    Python's ``sys.stderr`` stays where it was.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    sink = sink_to(path)
    python_stderr = sys.stderr
    os.dup2(sink, 2)
    os.close(sink)
    sys.stderr = talk_to(os.dup(kept), close=True)
    try:
        yield
    finally:
        sys.stderr.close()
        sys.stderr = python_stderr
        os.dup2(kept, 2)
        os.close(kept)
