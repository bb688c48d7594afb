"""Whether to believe a transcript: a rule on what was measured, not on a list of phrases. Pure.

Whisper invents text over silence, noise and languages it does not know.  What tells it apart (tiny.en int8; 405 clips
of six synthetic voices and two people, in the quiet and over noise; 37 foreign clips; 9 without speech):

================================  ===============  ======================  =======================================
what was heard                    Silero's speech  no-speech probability   mean log-probability of the text tokens
================================  ===============  ======================  =======================================
4 words or more, right            over 500 ms      .53 at most             -0.80 at least
2 or 3 words, right               over 250 ms      .53 at most             -0.94 at least
1 word, right                     over 190 ms      .39 at most             -1.61 at least
speech in another language        over 900 ms      .07 to .55              -0.74 to -2.24, median -1.5
silence, noise, hum, clicks       0 ms             .80 to .99              -0.2 to -2.4
================================  ===============  ======================  =======================================

People: a famous speech -0.23, two telephone-like sentences -0.10 and -0.08, fast digits -0.55; 9.4 s of Russian -1.69,
three-second parts of it -1.21 to -2.05.  With the limits below, none of the 214 right transcripts of 240 further clips
(20 other sentences) was doubted; their lowest were -0.51, -0.80 and -1.25.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from voicetui.events.listen import UNSURE, Evidence
from voicetui.listen.repeats import degenerate, hurried_repeat, words_of

NO_SPEECH: Final = "no speech"
INVENTED: Final = "invented"
REPETITION: Final = "repetition"

STOCK_PHRASES: Final = (
    "you", "thank you", "thanks", "thank you very much", "thank you so much", "thank you for watching",
    "thanks for watching", "i hope you enjoyed this video", "see you next time", "see you in the next video", "bye",
    "bye bye", "please subscribe", "like and subscribe", "subtitles by the amara org community", "i'm sorry", "the end",
)  # fmt: skip
"""What Whisper likes to say over nothing. People say these too: being one only makes weak evidence count for more."""

_ANNOTATION = re.compile(r"\s*[\[(*♪（【].*[\])*♪）】]\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DoubtLimits:
    """The limits of the rule; the defaults sit between the groups of the table above.

    ``stock_words_per_s``: "thank you" really said took 480 ms of speech at least (five voices); over a "hey" of 190 ms
    it was invented. ``logprob_one``, ``logprob_few`` and ``logprob_many`` are for transcripts of one word, of two or
    three, and of more: a mean over few tokens says little.
    """

    least_speech_ms: float = 64.0
    short_speech_ms: float = 400.0
    no_speech: float = 0.75
    no_speech_stock: float = 0.6
    logprob_one: float = -1.9
    logprob_few: float = -1.25
    logprob_many: float = -0.9
    words_per_s: float = 8.0
    stock_words_per_s: float = 4.5
    repeats_per_s: float = 6.0


def doubt(text: str, evidence: Evidence, limits: DoubtLimits | None = None, hot_words: str = "") -> str:
    """The reason not to believe ``text``: "no speech", "invented", "repetition" or "unsure"; "" to believe it.

    Evidence the recogniser could not give (None) speaks neither way.  Text that only repeats ``hot_words``, the names
    the recogniser was told to expect, is believed only where speech was found.
    """
    limits = limits or DoubtLimits()
    words = words_of(text)
    spoken_ms = evidence.speech_ms
    if spoken_ms is not None and spoken_ms < limits.least_speech_ms:
        return NO_SPEECH
    if not words:
        return (REPETITION if degenerate(text) else NO_SPEECH) if text.strip() else ""
    if _ANNOTATION.fullmatch(text):
        return NO_SPEECH
    if implausible_repeat(text, spoken_ms, limits):
        return REPETITION
    if _sounds_empty(words, evidence, limits):
        return INVENTED
    if spoken_ms is not None and len(words) > 3 + limits.words_per_s * spoken_ms / 1000:
        return INVENTED
    if spoken_ms is not None and _is_stock(words) and len(words) > 1 + limits.stock_words_per_s * spoken_ms / 1000:
        return INVENTED
    if spoken_ms is None and hot_words and set(words) <= set(words_of(hot_words)):
        return INVENTED
    return UNSURE if evidence.logprob is not None and evidence.logprob < _least_logprob(len(words), limits) else ""


def implausible_repeat(text: str, speech_ms: float | None, limits: DoubtLimits) -> bool:
    """Whether ``text`` repeats itself as no speaker would: by its structure, or faster than anyone speaks."""
    return degenerate(text) or (speech_ms is not None and hurried_repeat(text, speech_ms, limits.repeats_per_s))


def _sounds_empty(words: list[str], evidence: Evidence, limits: DoubtLimits) -> bool:
    """Whether Whisper itself heard no speech; the more speech the detector found, the surer it has to be."""
    if evidence.no_speech is None:
        return False
    limit = limits.no_speech_stock if _is_stock(words) else limits.no_speech
    if evidence.speech_ms is not None and evidence.speech_ms >= limits.short_speech_ms:
        limit = (1.0 + limit) / 2
    return evidence.no_speech > limit


def _is_stock(words: list[str]) -> bool:
    return " ".join(words) in STOCK_PHRASES


def _least_logprob(words: int, limits: DoubtLimits) -> float:
    if words == 1:
        return limits.logprob_one
    return limits.logprob_few if words <= 3 else limits.logprob_many
