"""A voice that says tone bursts: for tests and for sessions that must sound the same each time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from voicetui.ports import PcmFloat, StageError
from voicetui.speak.timing import GrowingPiece

_SENTENCE: Final = re.compile(r"[^.!?]+[.!?]*")
_AMPLITUDE: Final = 0.5
_EDGE_MS: Final = 5.0


class ScriptedVoice:
    """One tone burst for each word, another pitch for each call."""

    def __init__(
        self,
        rate_hz: int = 22_050,
        word_ms: float = 250.0,
        *,
        gap_ms: float = 30.0,
        lead_ms: float = 0.0,
        trail_ms: float = 0.0,
        part_ms: float | None = None,
        failures: Callable[[int, str], str | None] | None = None,
        work: Callable[[str], None] | None = None,
    ) -> None:
        """``word_ms`` includes ``gap_ms`` of silence after each word; ``lead_ms`` and ``trail_ms`` frame each sentence.

        With ``part_ms`` a sentence can be had in parts of that length.
        ``failures(call, spoken)`` gives the message to fail with, or None; calls count from 0. ``work(sentence)`` is
        called for each sentence (or part) before its sound is made, to let a test's clock move by what that would have
        cost.
        """
        self.rate_hz = rate_hz
        self.calls = 0
        self._word_ms = word_ms
        self._gap_ms = gap_ms
        self._lead_ms = lead_ms
        self._trail_ms = trail_ms
        self._part_ms = part_ms
        self._failures = failures
        self._work = work

    @staticmethod
    def frequency_hz(call: int) -> float:
        """The pitch of the ``call``-th call's tones: 300 to 1425 Hz, in steps of 75, then from the start."""
        return 300.0 + 75.0 * (call % 16)

    def warm(self) -> float:
        """Nothing to load: 0 ms."""
        return 0.0

    def synthesize(self, spoken: str) -> Iterator[PcmFloat]:
        """float32 [n] at ``rate_hz`` for each sentence with words. Raises ``StageError`` where the script says so."""
        call = self.calls
        self.calls += 1
        message = self._failures(call, spoken) if self._failures else None
        if message is not None:
            raise StageError(message, "This voice fails because its script says so.", "synthesize")
        for sentence in _SENTENCE.findall(spoken):
            words = [word for word in sentence.split() if any(character.isalnum() for character in word)]
            if words:
                if self._work:
                    self._work(sentence)
                yield self._say(len(words), self.frequency_hz(call))

    def synthesize_streamed(self, spoken: str) -> list[GrowingPiece]:
        """The sentences of ``synthesize``, part by part; empty without ``part_ms``. Raises as it does."""
        if self._part_ms is None:
            return []
        work, self._work = self._work, None
        whole = list(self.synthesize(spoken))
        self._work = work
        sentences = [each for each in _SENTENCE.findall(spoken) if any(map(str.isalnum, each))]
        return [
            GrowingPiece(len(sound), None, self._parts(sentence, sound))
            for sentence, sound in zip(sentences, whole, strict=True)
        ]

    def _parts(self, sentence: str, sound: PcmFloat) -> Iterator[PcmFloat]:
        size = max(1, self._frames(self._part_ms or 0.0))
        for first in range(0, len(sound), size):
            if self._work:
                self._work(sentence)
            yield sound[first : first + size]

    def _say(self, words: int, frequency_hz: float) -> PcmFloat:
        whole, tone = self._frames(self._word_ms), self._frames(self._word_ms - self._gap_ms)
        edge = min(self._frames(_EDGE_MS), tone // 2)
        envelope = np.ones(tone, np.float32)
        envelope[:edge] = np.arange(edge, dtype=np.float32) / max(1, edge)
        envelope[tone - edge :] = envelope[:edge][::-1]
        phase = 2.0 * np.pi * frequency_hz / self.rate_hz * np.arange(tone)
        word = np.zeros(whole, np.float32)
        word[:tone] = np.float32(_AMPLITUDE) * np.sin(phase).astype(np.float32) * envelope
        lead, trail = self._frames(self._lead_ms), self._frames(self._trail_ms)
        return np.concatenate((np.zeros(lead, np.float32), np.tile(word, words), np.zeros(trail, np.float32)))

    def _frames(self, ms: float) -> int:
        return max(0, round(ms * self.rate_hz / 1e3))
