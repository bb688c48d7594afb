"""The program's standard streams: closed, full or gone, they end nothing but what was to be written to them."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import platformdirs

MISTAKES = "mistake.txt"
"""Where the last mistake of the program's own is described, in the user's log folder."""


class Talk(io.TextIOWrapper):
    """A stream for talk: what cannot be written is lost, and nothing else with it."""

    def write(self, text: str) -> int:
        """Write, or not. How many characters were asked for."""
        with suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Hand on what is held back, or not."""
        with suppress(OSError):
            super().flush()

    def close(self) -> None:
        """Close; what is still held back may be lost."""
        with suppress(OSError):
            super().close()


def talk_to(descriptor: int, *, close: bool = False) -> Talk:
    """Talk to a descriptor, which is closed with the stream if ``close``."""
    raw = io.FileIO(descriptor, "w", closefd=close)
    return Talk(io.BufferedWriter(raw), encoding="utf-8", errors="replace", line_buffering=True)


def sink_to(path: Path | None) -> int:
    """A descriptor that adds to a log (mode 0600); to nowhere without one, and where it cannot be opened."""
    with suppress(OSError):
        return os.open(path or os.devnull, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    return os.open(os.devnull, os.O_WRONLY)


def make_usable() -> None:
    """Make the three standard streams such that the program can go on whatever becomes of them.

    Descriptors that came closed lead to nowhere: else the first files that are opened would stand in their places, and
    be written to by whoever prints. What an encoding has no letter for is shown as "?".
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    talk = talk_to(2)
    talk.reconfigure(encoding=encoding)
    sys.stderr = talk


def no_screen() -> str:
    """Why there can be no screen here, as a sentence; "" where there can be one."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return "this is no terminal, so there is no screen."
    if os.environ.get("TERM") == "dumb":
        return "this terminal draws no screen (TERM is dumb)."
    return ""


def ended(status: int) -> int:
    """The exit status, once standard output has taken everything: 1 where it cannot."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains once more, at its end
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"voicetui: {system_text(error)}\n")
        return status or 1
    return status


def system_text(error: OSError) -> str:
    """What the system refused, where, and what to do next."""
    where = f"{os.fsdecode(error.filename)}" if isinstance(error.filename, str | bytes) else "what was to be written"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        advice = "Make room, or name another place."
    elif error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        advice = "Close other programs, then try again."
    else:
        advice = "Check that it is there and that you may use it."
    return f"{where}: {error.strerror or error}. {advice}"


def mistake_text(error: BaseException) -> str:
    """A sentence on what no command expected; where it came from is written to the user's log folder."""
    kept = _keep(error)
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if "voicetui" in Path(frame.filename).parts]
    where = f" in {'/'.join(Path(own[-1].filename).parts[-2:])}, line {own[-1].lineno}" if own else ""
    details = f"Details are in {kept}" if kept is not None else "Nothing could be written about it"
    return (
        f"a mistake of the program's own{where}: {type(error).__name__}: {str(error)[:200]}. "
        f"What was recorded until then is kept. {details}: please report it with what you typed."
    )


def _keep(error: BaseException) -> Path | None:
    with suppress(OSError, RuntimeError):
        folder = platformdirs.user_log_path("voicetui")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / MISTAKES
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.writelines(traceback.format_exception(error))
        return path
    return None
