"""A virtual sound card stumbles when its machine stands still, and then nobody hears what was said: one more try."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def once_more(check: Callable[[Path], None], folder: Path) -> None:
    """Run ``check`` in a folder of its own, and again in another if it fails; the second failure counts."""
    for number in (1, 2):
        own = folder / f"try{number}"
        own.mkdir()
        try:
            check(own)
            return
        except AssertionError as error:
            if number == 2:
                raise
            print("once more, because of:", error)
