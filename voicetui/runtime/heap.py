"""The interpreter's garbage collector stops every thread: what will never be garbage is taken out of its sight."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def settled() -> Iterator[None]:
    """While inside, what is loaded by now (modules, models) is not looked at by the garbage collector.

    A full collection looks at every object; with some 70,000 of them from imports alone that holds up the engine for
    40 to 100 ms, again and again as the journal grows.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
