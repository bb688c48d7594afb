"""The interpreter's garbage collector stops every thread: what will never be garbage is taken out of its sight."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_settled = False


@contextmanager
def settled() -> Iterator[None]:
    """While inside, what is loaded by now (modules) is not looked at by the garbage collector; nor, from a call of
    ``settle_again`` on, what was loaded by then (models, and what they import).

    A full collection looks at every object; with some 70,000 of them from imports alone that holds up the engine for
    40 to 100 ms, again and again as the journal grows.
    """
    global _settled
    _freeze()
    _settled = True
    try:
        yield
    finally:
        _settled = False
        gc.unfreeze()


def settle_again() -> None:
    """Take what was loaded since out of the collector's sight, too. Outside ``settled`` it does nothing."""
    if _settled:
        _freeze()


def _freeze() -> None:
    gc.collect()
    gc.freeze()
