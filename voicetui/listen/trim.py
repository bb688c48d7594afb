"""Where in a recording the speech is, from the detector's frames: what to cut off, where to cut in two. Pure."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from voicetui.listen.edges import FRAME_SAMPLES
from voicetui.ports import RATE_HZ

SPEECH_PROBABILITY: Final = 0.35
"""A frame this likely is speech here: the detector's own end threshold."""

_FRAME_MS: Final = 1000 * FRAME_SAMPLES / RATE_HZ


def speech_ms(probabilities: NDArray[np.float32]) -> float:
    """How much of the sound is speech, given the probability of each 32 ms frame, float32 [frames]."""
    return float(np.count_nonzero(probabilities >= SPEECH_PROBABILITY)) * _FRAME_MS


def speech_span(probabilities: NDArray[np.float32], samples: int, pad_ms: float = 300.0) -> tuple[int, int] | None:
    """The sample range of the speech with ``pad_ms`` on either side, within 0..``samples``; None without speech.

    ``probabilities`` are those of each 32 ms frame, float32 [frames].
    """
    frames = np.flatnonzero(probabilities >= SPEECH_PROBABILITY)
    if not frames.size:
        return None
    pad = round(pad_ms * RATE_HZ / 1000)
    return max(0, int(frames[0]) * FRAME_SAMPLES - pad), min(samples, (int(frames[-1]) + 1) * FRAME_SAMPLES + pad)


def pieces(probabilities: NDArray[np.float32], longest_s: float = 25.0) -> list[tuple[int, int]]:
    """Frame ranges [start, end) of at most ``longest_s`` that cover ``probabilities`` (float32 [frames]).

    Each cut is in the middle of the longest pause in the second half of what fits, or where speech is least likely.
    """
    longest = max(2, int(longest_s * RATE_HZ / FRAME_SAMPLES))
    cuts = [0]
    while probabilities.size - cuts[-1] > longest:
        low = cuts[-1] + longest // 2
        cuts.append(low + _quietest(probabilities[low : cuts[-1] + longest]))
    return list(zip(cuts, [*cuts[1:], probabilities.size], strict=True))


def _quietest(probabilities: NDArray[np.float32]) -> int:
    quiet = np.concatenate(([False], probabilities < SPEECH_PROBABILITY, [False]))
    turns = np.flatnonzero(quiet[1:] != quiet[:-1])
    if not turns.size:
        return max(1, int(np.argmin(probabilities)))
    starts, ends = turns[::2], turns[1::2]
    longest = int(np.argmax(ends - starts))
    return max(1, int(starts[longest] + ends[longest]) // 2)
