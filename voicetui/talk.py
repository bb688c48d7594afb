"""What commands say to people, beside their data."""

from __future__ import annotations

import sys


def say(text: str) -> None:
    """Print a message on stderr, with nothing in it that a terminal would obey: files and servers name things."""
    from voicetui.tui.literal import literal

    print("\n".join(map(literal, text.splitlines())), file=sys.stderr, flush=True)
