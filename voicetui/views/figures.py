"""Numbers as people read them."""

from __future__ import annotations

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


def clock(ms: float) -> str:
    """A time of the session as minutes and seconds, with hours once there are any."""
    seconds = max(0, int(ms // 1000))
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"
