"""Keeps what native libraries print off the screen: while it is up, descriptors 1 and 2 lead to the session's log."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

from voicetui.streams import sink_to

_STREAMS = ("__stdout__", "__stderr__")


@contextmanager
def quiet(log: Path | None) -> Iterator[TextIO]:
    """Yield the terminal as a text stream of its own; whatever else is written to descriptors 1 and 2 goes to ``log``.

    Without a log, or where it cannot be opened, it goes nowhere.  The terminal is where descriptor 1 leads, or 2 if
    only that is one (a browser's is a pipe); ``sys.__stdout__`` and ``sys.__stderr__``, which the framework writes to
    and asks for the terminal's size, lead there meanwhile.  Children
    inherit the log.  Everything is put back at the end.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    with ExitStack() as after:
        sink = sink_to(log)
        after.callback(os.close, sink)
        source = 2 if os.isatty(2) and not os.isatty(1) else 1
        terminal = os.fdopen(os.dup(source), "w", encoding="utf-8", errors="replace")
        after.callback(_close, terminal)
        for descriptor in (1, 2):
            kept = os.dup(descriptor)
            after.callback(os.close, kept)
            after.callback(os.dup2, kept, descriptor)
            os.dup2(sink, descriptor)
        for name in _STREAMS:
            after.callback(setattr, sys, name, getattr(sys, name))
            setattr(sys, name, terminal)
        after.callback(_flush_python)
        yield terminal


def takes_output(stream: TextIO) -> bool:
    """Whether the terminal behind ``stream`` has room for more; one that is slow, or that nobody reads, has none.

    One that cannot be asked (a descriptor too great for ``select``, a platform that asks only sockets) is believed to.
    """
    try:
        return bool(select.select([], [stream.fileno()], [], 0)[1])
    except (OSError, ValueError):
        return True


def _close(stream: TextIO) -> None:
    """A terminal that has gone takes nothing more."""
    with suppress(OSError):
        stream.close()


def _flush_python() -> None:
    """What Python's own streams still hold was written while the log was in their place."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
