"""Which language to decode in: the pinned one, or the session's until a guess is sure enough to change it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

SURE: Final = 0.6
"""The probability from which a guess changes the session's language."""
SURE_WHEN_SHORT: Final = 0.85
"""The same for less than ``SHORT_MS`` of speech, where Whisper guesses wildly."""
SHORT_MS: Final = 1500.0


class LanguageMemory:
    """The language of the session. ``pinned`` always wins; else ``first`` holds until a sure guess replaces it."""

    def __init__(self, pinned: str | None = None, first: str = "en") -> None:
        self._pinned = pinned
        self._session = pinned or first

    @property
    def language(self) -> str:
        """What the next sound is decoded in if nothing sure is guessed about it."""
        return self._session

    def choose(
        self, guesses: Sequence[tuple[str, float]], speech_ms: float, remember: bool
    ) -> tuple[str, float | None]:
        """The language to use, and its own probability among ``guesses`` (None if it is not there).

        ``guesses`` are (code, probability), likeliest first, about sound with ``speech_ms`` of speech.  With
        ``remember`` a sure guess becomes the session's language; a partial transcript should not decide that.
        """
        chosen = self._session
        if guesses and self._pinned is None:
            guess, probability = guesses[0]
            if probability >= (SURE_WHEN_SHORT if speech_ms < SHORT_MS else SURE):
                chosen = guess
                if remember:
                    self._session = guess
        return chosen, dict(guesses).get(chosen)
