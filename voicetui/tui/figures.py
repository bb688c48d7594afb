"""Numbers as the screen writes them."""

from __future__ import annotations

from voicetui.views.figures import MINUS, clock, milliseconds, whole
from voicetui.views.statistics import P95_FROM_N, Stats

__all__ = ["MINUS", "STAGES", "clock", "decibels", "gaps_of", "gaps_text", "milliseconds", "signed", "tail", "whole"]


def tail(stats: Stats) -> str:
    """The 95th percentile, or why there is none."""
    return whole(stats.p95, f"n<{P95_FROM_N}")


def signed(ms: float) -> str:
    """Whole milliseconds before or after something: "+120", "−3"."""
    return whole(ms) if round(ms) < 0 else f"+{whole(ms)}"


def decibels(dbfs: float) -> str:
    """A level in dBFS."""
    return f"{MINUS}{round(-dbfs)} dB" if dbfs > -100 else "silent"


STAGES = {
    "off": "the real pipeline answers",
    "200": "conversation: what people leave between them",
    "700": "a steady delay, workable",
    "1500": "too long: the caller talks again, thinking nobody heard",
    "200,1400": "uneven: worse than its mean",
}
"""The gaps that can be staged by hand, and what each is like."""


def gaps_text(gaps_ms: tuple[float, ...]) -> str:
    """Staged gaps as they are written: "off", "200", "200,1400"."""
    return ",".join(whole(gap_ms) for gap_ms in gaps_ms) or "off"


def gaps_of(text: str) -> tuple[float, ...]:
    """What ``gaps_text`` wrote."""
    return () if text == "off" else tuple(float(part) for part in text.split(","))
