"""What of a sound can be heard, and shaping its edges: levels in 5 ms hops, fades."""

from __future__ import annotations

from typing import Final

import numpy as np

from voicetui.ports import PcmFloat

HOP_MS: Final = 5.0
AUDIBLE_DBFS: Final = -50.0
"""A hop at or above this RMS level is audible; every number that says "audible" means this."""

AUDIBLE_RMS: Final = 10.0 ** (AUDIBLE_DBFS / 20.0)


def frames_of(ms: float, rate_hz: int) -> int:
    """How many frames ``ms`` milliseconds are, rounded."""
    return round(ms * rate_hz / 1e3)


def hop_frames(rate_hz: int) -> int:
    """Frames in one hop at ``rate_hz``."""
    return max(1, frames_of(HOP_MS, rate_hz))


def hop_levels(samples: PcmFloat, rate_hz: int) -> PcmFloat:
    """float32 [ceil(n / hop)]: the RMS of each 5 ms hop of float32 [n] from its start; the last may be shorter."""
    if len(samples) == 0:
        return np.zeros(0, np.float32)
    starts = np.arange(0, len(samples), hop_frames(rate_hz))
    counts = np.diff(np.append(starts, len(samples)))
    power = np.add.reduceat(np.square(samples, dtype=np.float64), starts) / counts
    return np.sqrt(power).astype(np.float32)


def audible_span(samples: PcmFloat, rate_hz: int) -> tuple[int, int] | None:
    """Where float32 [n] can be heard: (first frame of its first audible hop, end of its last one); None if nowhere."""
    loud = np.flatnonzero(hop_levels(samples, rate_hz) >= AUDIBLE_RMS)
    if len(loud) == 0:
        return None
    hop = hop_frames(rate_hz)
    return int(loud[0]) * hop, min(len(samples), (int(loud[-1]) + 1) * hop)
