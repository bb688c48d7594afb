"""What a gap of so many milliseconds reads as: a word, a shape and the name of a colour for each band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BandInk = Literal["band-conversation", "band-quick", "band-workable", "band-slow", "band-late"]


@dataclass(frozen=True, slots=True)
class Band:
    """Gaps up to ``upto_ms``. ``word`` for tight places, ``says`` the meaning; ``shape`` tells it without colour.

    From what callers do, not from a standard: people leave about 200 ms between their turns.
    """

    upto_ms: float
    word: str
    says: str
    shape: str
    ink: BandInk


BANDS: tuple[Band, ...] = (
    Band(300, "conversation", "reads as conversation: people leave about 200 ms", "●", "band-conversation"),
    Band(500, "quick", "quick", "◆", "band-quick"),
    Band(1000, "workable", "noticeably machine-like, workable", "▲", "band-workable"),
    Band(1500, "slow", "slow", "■", "band-slow"),
    Band(float("inf"), "too late", "the caller talks again, thinking they were not heard", "×", "band-late"),
)

STAGED_SHAPE = "s"
"""Stands for a staged gap in place of its band's shape: such a gap says nothing about the pipeline."""


def band(gap_ms: float) -> Band:
    """The band a gap falls into; a gap below 0 (the reply began over the user's speech) is in the first."""
    return next(each for each in BANDS if gap_ms <= each.upto_ms)
