"""How long a server asks us to wait before trying again."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:\s*,\s*[0-9]+(?:\.[0-9]+)?)*", re.ASCII)


def retry_after_s(headers: Mapping[str, str], wall_time_s: float) -> float | None:
    """Return the wait in seconds that response `headers` ask for, or None to use the caller's own back-off.

    `retry-after-ms` goes before `Retry-After`; the latter is seconds (fractions allowed) or an HTTP date, which is
    compared with `wall_time_s` (Unix time); a date in the past is 0. The caller knows whether the wait fits its budget.
    """
    lowered = {name.lower(): value for name, value in headers.items()}
    milliseconds = _number(lowered.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = lowered.get("retry-after", "")
    seconds = _number(value)
    return seconds if seconds is not None else _seconds_until(value, wall_time_s)


def _number(value: str) -> float | None:
    """Read a non-negative decimal; of a header sent several times (joined by commas) the longest wait counts."""
    value = value.strip()
    if len(value) > 64 or not _NUMBERS.fullmatch(value):
        return None
    return max(float(part) for part in value.split(","))


def _seconds_until(value: str, wall_time_s: float) -> float | None:
    """Read an HTTP date in any of its three forms (RFC 9110, section 5.6.7)."""
    try:
        moment = parsedate_to_datetime(value.strip())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.fromtimestamp(wall_time_s, UTC)).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
