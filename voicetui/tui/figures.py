"""Numbers as the screen writes them."""

from __future__ import annotations

from voicetui.views.statistics import P95_FROM_N, Stats

MINUS = "−"


def whole(ms: float | None, none: str = "–") -> str:
    """Milliseconds without a unit, rounded; ``none`` where there is no number."""
    if ms is None:
        return none
    rounded = round(ms)
    return f"{MINUS}{-rounded}" if rounded < 0 else str(rounded)


def milliseconds(ms: float | None) -> str:
    """Milliseconds with their unit."""
    return "–" if ms is None else f"{whole(ms)} ms"


def tail(stats: Stats) -> str:
    """The 95th percentile, or why there is none."""
    return whole(stats.p95, f"n<{P95_FROM_N}")


def clock(ms: float) -> str:
    """A time of the session as minutes and seconds, with hours once there are any."""
    seconds = max(0, int(ms // 1000))
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def decibels(dbfs: float) -> str:
    """A level in dBFS."""
    return f"{MINUS}{round(-dbfs)} dB" if dbfs > -100 else "silent"


STAGES = {
    "off": "the real pipeline answers",
    "200": "conversation: what people leave between them",
    "700": "a steady delay, workable",
    "1500": "long: the caller talks again, thinking they were not heard",
    "200,1400": "uneven: worse than its mean",
}
"""The gaps that can be staged by hand, and what each is like."""


def gaps_text(gaps_ms: tuple[float, ...]) -> str:
    """Staged gaps as they are written: "off", "200", "200,1400"."""
    return ",".join(whole(gap_ms) for gap_ms in gaps_ms) or "off"


def gaps_of(text: str) -> tuple[float, ...]:
    """What ``gaps_text`` wrote."""
    return () if text == "off" else tuple(float(part) for part in text.split(","))
