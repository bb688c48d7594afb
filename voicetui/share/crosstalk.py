"""Where one side of a call is heard in the other side's channel: a headset's leak, a line's sidetone. Pure."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from voicetui.listen.levels import SILENCE_DBFS, mean_level

Hops = NDArray[np.float32]

UNDER_DB: Final = 12.0
"""A side this far below the other, both measured against how loud they speak, is the other's leak. A reply ducked by
more while the user speaks is then taken to have stopped.
"""
SOFT_HOPS: Final = 6
"""Within 30 ms of a side's own sound what is softer belongs to it."""
_DELAY_HOPS: Final = 10
"""A leak may come up to 50 ms after, or before, what it is of."""
_MOST_BALANCE_DB: Final = 20.0
_LEAK_SHARE: Final = 0.8
"""A stretch with this share of its energy in such hops is nothing but leak."""


def leaked(own: Hops, other: Hops, reach: int = SOFT_HOPS) -> NDArray[np.bool_]:
    """bool [len(own)]: the hops in which a side has nothing but the other's leak, from both sides' levels, dBFS.

    No hop within ``reach`` hops of the side's own sound is one.
    """
    count = len(own)
    if not count:
        return np.zeros(0, np.bool_)
    other = np.concatenate((other, np.full(max(0, count - len(other)), SILENCE_DBFS, np.float32)))[:count]
    balance_db = _speech_dbfs(other, own) - _speech_dbfs(own, other)
    if not abs(balance_db) <= _MOST_BALANCE_DB:
        balance_db = 0.0  # one of them never speaks up
    loud = _loudest(other, _DELAY_HOPS)
    under: NDArray[np.bool_] = _loudest(own, reach) + balance_db + UNDER_DB < loud
    return under


def is_leak(own: Hops, leak: NDArray[np.bool_], first: int, last: int) -> bool:
    """Whether the stretch of hops from ``first`` to ``last`` is nothing but leak, by its energy."""
    power = 10.0 ** (own[first:last].astype(np.float64) / 10.0)
    return bool(power[leak[first:last]].sum() >= _LEAK_SHARE * power.sum()) if len(power) else False


def _speech_dbfs(side: Hops, other: Hops) -> float:
    """How loud a side speaks, where it is the louder one."""
    return mean_level(side[side > other].astype(np.float64))


def _loudest(levels: Hops, reach: int) -> Hops:
    """The largest of each hop and ``reach`` hops to both sides."""
    padded = np.pad(levels, reach, constant_values=SILENCE_DBFS)
    largest: Hops = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1)
    return largest
