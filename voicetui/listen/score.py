"""One ``ScoreTurn`` order to one fact. Runs on the scorer's worker thread."""

from __future__ import annotations

import numpy as np

from voicetui.events.listen import TurnScored
from voicetui.events.orders import ScoreTurn
from voicetui.ports import Clock, Pcm16, TurnScorer


class Scorer:
    """Answers ``ScoreTurn`` orders with what a ``TurnScorer`` makes of the sound. Keeps nothing in between."""

    def __init__(self, scorer: TurnScorer, clock: Clock) -> None:
        self._scorer = scorer
        self._clock = clock

    def run(self, order: ScoreTurn, sound: Pcm16, first_sample: int, waited_ms: float) -> TurnScored:
        """The answer to ``order`` about ``sound`` (int16 [n], 16 kHz), which starts at ``first_sample`` of the track.

        What was ordered but is not there yet is taken for silence.  ``waited_ms`` is how long the order stood in the
        queue; scoring begins now.  Blocks.  Raises ``StageError``.
        """
        started_ms = self._clock.now_ms()
        missing = max(0, order.end_sample - first_sample - sound.size)
        score = self._scorer.score(np.pad(sound, (0, missing)))
        return TurnScored(
            utterance=order.utterance,
            request=order.request,
            start_sample=first_sample,
            end_sample=first_sample + int(sound.size),
            score=round(score, 4),
            started_ms=started_ms,
            waited_ms=waited_ms,
        )
