"""The session's log: where tracebacks and native libraries' chatter go, so that neither reaches the screen."""

from __future__ import annotations

import logging
from pathlib import Path


def log_to(path: Path | None) -> logging.Handler:
    """Send the program's log to a file of this session (mode 0600), or nowhere. Returns the handler, for ``stop_logging``."""
    if path is None:
        handler: logging.Handler = logging.NullHandler()
    else:
        path.touch(mode=0o600)
        handler = logging.FileHandler(path, encoding="utf-8", delay=True)
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
