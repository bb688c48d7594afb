"""Words as they are compared."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def normalise_words(text: str) -> tuple[str, ...]:
    """Casefolded words without punctuation; apostrophes inside words are kept, curly as straight."""
    return tuple(word.casefold().replace("’", "'") for word in _WORD.findall(text))
