"""Facts about what the user said."""

from __future__ import annotations

from typing import Final

import msgspec

from voicetui.events.base import Fact

UNSURE: Final = "unsure"
"""The doubt about words that were said, but read with little confidence."""


class SpeechStarted(Fact, frozen=True):
    """Speech begins, or resumes after a pause. The entry's time is the onset at the ADC; ``sample`` is that onset.

    ``noticed_ms`` is when the detector knew.
    """

    sample: int
    noticed_ms: float


class SoundRose(Fact, frozen=True):
    """Something is heard over the reply, by its energy alone: perhaps speech begins. The entry's time is its onset at
    the ADC, ``sample`` that instant on the track. It has lasted until ``noticed_ms``, and is told again if it goes on.
    """

    sample: int
    noticed_ms: float


class SpeechPaused(Fact, frozen=True):
    """About 100 ms of silence after speech: perhaps the end of the turn.

    The entry's time is ``user_end``, the acoustic end of the speech (the last 5 ms hop near the detector's edge
    louder than max(noise floor + 10 dB, speech level - 25 dB)), ``sample`` that instant on the track,
    ``uncertainty_ms`` how sure it is, ``noticed_ms`` when the detector knew.  ``level_dbfs`` is the level of the
    speech, ``noise_dbfs`` of the room.
    """

    sample: int
    uncertainty_ms: float
    noticed_ms: float
    level_dbfs: float
    noise_dbfs: float


class Evidence(msgspec.Struct, frozen=True, gc=False):
    """What speaks for or against a transcript.

    ``no_speech`` is Whisper's no-speech probability, ``logprob`` the mean token log-probability, ``compression``
    the zlib ratio of the text, ``speech_ms`` how much of the sound the detector called speech, ``level_dbfs`` its
    level.  None where the recogniser does not tell.
    """

    no_speech: float | None = None
    logprob: float | None = None
    compression: float | None = None
    speech_ms: float | None = None
    level_dbfs: float | None = None
    language: str | None = None
    language_probability: float | None = None


class Transcribed(Fact, frozen=True):
    """The answer to one ``Transcribe`` order. ``doubt`` is the reason not to believe the text ("" when it is believed).

    The sound from ``start_sample`` to ``end_sample`` was decoded; ``started_ms`` is when decoding began, after
    ``waited_ms`` in the worker's queue; the entry's time is when the text existed.
    """

    utterance: int
    request: int
    text: str
    final: bool
    start_sample: int
    end_sample: int
    started_ms: float
    waited_ms: float
    evidence: Evidence
    doubt: str = ""


class TurnScored(Fact, frozen=True):
    """The answer to one ``ScoreTurn`` order: the probability, 0 to 1, that the turn is over, by its sound alone.

    The sound from ``start_sample`` to ``end_sample`` was scored (and silence after it, up to what was ordered);
    ``started_ms`` is when scoring began, after ``waited_ms`` in the worker's queue; the entry's time is when the score
    existed.
    """

    utterance: int
    request: int
    start_sample: int
    end_sample: int
    score: float
    started_ms: float
    waited_ms: float


class WordsScored(Fact, frozen=True):
    """The answer to one ``ScoreWords`` order: the probability, 0 to 1, that a sentence is over after those words.

    ``started_ms`` is when scoring began, after ``waited_ms`` in the worker's queue; the entry's time is when the score
    existed.
    """

    utterance: int
    request: int
    score: float
    started_ms: float
    waited_ms: float


class TranscribeFailed(Fact, frozen=True):
    """A ``Transcribe`` order came to nothing, for a technical reason."""

    utterance: int
    request: int
    final: bool
    message: str
