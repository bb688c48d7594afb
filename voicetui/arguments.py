"""Numbers on the command line: what was found, and what is allowed."""

from __future__ import annotations

import argparse
import re

GAP_LEAST_MS = 100
GAP_MOST_MS = 5000
"""What gaps can be staged: sooner no detector knows that the user stopped, later nobody waits."""
_MOST_SECONDS = 1e7


def gaps(text: str) -> tuple[float, ...]:
    """Milliseconds, separated by commas."""
    allowed = f"one or more numbers of milliseconds from {GAP_LEAST_MS} to {GAP_MOST_MS}, such as 200 or 200,1400"
    parts = [each.strip() for each in text.split(",")]
    if all(re.fullmatch(r"\d{1,9}(\.\d{1,3})?", each, re.ASCII) for each in parts):
        gaps_ms = tuple(float(each) for each in parts)
        if all(GAP_LEAST_MS <= gap_ms <= GAP_MOST_MS for gap_ms in gaps_ms):
            return gaps_ms
    raise argparse.ArgumentTypeError(f"found {text!r}; allowed: {allowed}")


def port(text: str) -> int:
    """A TCP port."""
    if not re.fullmatch(r"\d{1,5}", text, re.ASCII) or not 1 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: a port from 1 to 65535")
    return int(text)


def seconds(text: str) -> float:
    """How long something is to last."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < _MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: a positive number of seconds")
    return value
