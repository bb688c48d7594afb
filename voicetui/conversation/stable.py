"""What is certain of words that are still being said."""

from __future__ import annotations

_MARKS = ".,;:!?-–—…"


def stable_prefix(older: str, newer: str) -> str:
    """The words with which two transcripts of growing speech both begin, as the newer has them.

    A mark after the last of them is left out: the next transcript may have another.

    >>> stable_prefix("What's the weather. Like", "What's the weather. Like in Paris?")
    "What's the weather. Like"
    >>> stable_prefix("I want too", "I want to book a"), stable_prefix("", "Hello")
    ('I want', '')
    """
    pairs = list(zip(older.split(), newer.split(), strict=False))
    same = next((n for n, (one, other) in enumerate(pairs) if one != other), len(pairs))
    differs = same < len(pairs) and pairs[same][0].rstrip(_MARKS) == pairs[same][1].rstrip(_MARKS)
    words = [word for word, _ in pairs[: same + differs]]
    return " ".join(words).rstrip(_MARKS)


def goes_on_from(older: str, newer: str) -> bool:
    """Whether ``newer`` begins with ``older``, word for word.

    >>> goes_on_from("Hello th", "Hello there"), goes_on_from("Hello", "Hello there")
    (False, True)
    """
    return newer == older or not older or newer.startswith(f"{older} ")
