"""A voice that has said some things before anyone asks: their sound is there at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from voicetui.ports import PcmFloat, StageError, Voice
from voicetui.speak.timing import TimedPiece


class ReadyVoice:
    """A ``Voice`` around another, which keeps the sound of the texts it was made with."""

    def __init__(self, voice: Voice, texts: Sequence[str]) -> None:
        """``texts`` as they will be asked for: what is to be spoken, clauses joined by a space."""
        self.rate_hz = voice.rate_hz
        self._voice = voice
        self._texts = tuple(dict.fromkeys(texts))
        self._kept: dict[str, tuple[TimedPiece, ...]] = {}

    def warm(self) -> float:
        """Warm the voice and say every text once. The voice's first run's ms. Raises ``StageError`` as it does."""
        first_ms = self._voice.warm()
        for text in self._texts:
            with suppress(StageError):  # it will be tried again when it is asked for
                self._kept[text] = tuple(self._say(text))
        return first_ms

    def synthesize(self, spoken: str) -> Iterator[PcmFloat]:
        """float32 [n] pieces at ``rate_hz``, kept ones where there are. Raises ``StageError``."""
        for piece in self.synthesize_timed(spoken):
            yield piece.samples

    def synthesize_timed(self, spoken: str) -> Iterator[TimedPiece]:
        """The same with the times of words, where the voice knows them. Raises ``StageError``."""
        yield from self._kept.get(spoken) or self._say(spoken)

    def _say(self, spoken: str) -> Iterator[TimedPiece]:
        timed: Callable[[str], Iterator[TimedPiece]] | None = getattr(self._voice, "synthesize_timed", None)
        if timed is not None:
            yield from timed(spoken)
        else:
            for samples in self._voice.synthesize(spoken):
                yield TimedPiece(samples, None)
