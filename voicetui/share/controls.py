"""Control characters in what was said: they command terminals, and turn lines around; a file for others has none."""

from __future__ import annotations

import re
from typing import Final

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_RAW_IN_JSON: Final = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def without_controls(text: str) -> str:
    """``text`` without control characters, but for tabs and newlines, and without marks of direction."""
    return _CONTROLS.sub("", text)


def escape_controls(json: str) -> str:
    """JSON that means the same, with every control character in its strings escaped; ``json.dumps`` leaves some."""
    return _RAW_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", json)
