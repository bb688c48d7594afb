"""A microphone judged by a few seconds of its sound: how loud, over what noise, clipped or not, in plain words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from voicetui.events.session import MIC_TEST_MS
from voicetui.runtime.engine import Levels
from voicetui.tui.figures import MINUS
from voicetui.tui.ink import Ink

PIECE_MS = 20.0
_NOTHING_DBFS = -100.0
"""Below this there is nothing, not even the noise of a converter."""
_CLIPPED_DBFS = -0.1
_SPEECH_OVER_DB = 10.0
"""Speech is what stands out of the noise by so much, as in the definition of the end of speech."""
_LEAST_SPEECH = 5
"""Pieces: less than 100 ms is a click."""
_QUIET_DBFS = -45.0
_NEAR_DB = 15.0
"""Speech that stands out of the noise by less is hard to tell from it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the test found. ``figures`` is "" where there are none."""

    words: str
    figures: str = ""
    ink: Ink = "notice"


class MicTest:
    """Collects the microphone's levels, before cancelling, for three seconds of session time, and judges them."""

    def __init__(self, now_ms: float) -> None:
        self.started_ms = now_ms
        self._next = int(now_ms // PIECE_MS)
        self._levels: list[float] = []
        self._peaks: list[float] = []

    def take(self, now_ms: float, levels: Levels) -> None:
        """Add what was heard since the last call."""
        end = int(min(now_ms, self.started_ms + MIC_TEST_MS) // PIECE_MS)
        count = end - self._next
        if count > 0:
            wave = levels.raw_wave or levels.user_wave or (levels.user_dbfs,)
            self._levels += wave[-count:]
            self._peaks += (levels.raw_peaks or wave)[-count:]
            self._next = end

    def left_ms(self, now_ms: float) -> float:
        """How much of the three seconds is left; 0 when the test is over."""
        return max(0.0, self.started_ms + MIC_TEST_MS - now_ms)

    def verdict(self) -> Verdict:
        """What is to be said of what was heard."""
        peak = max(self._peaks, default=-120.0)
        if peak <= _NOTHING_DBFS:
            return Verdict(
                "Nothing heard, not even noise: is it muted, or is this program not allowed to use it?", ink="alert"
            )
        levels = sorted(self._levels)
        noise = levels[len(levels) // 10]
        speech = _speech(levels, noise)
        clipped = peak >= _CLIPPED_DBFS
        spoken = f"speech {_db(speech)}" if speech is not None else "no speech"
        figures = f"peak {_db(peak)}   {spoken}   noise {_db(noise)}   {'clipped' if clipped else 'not clipped'}"
        words, ink = _judged(speech, noise, clipped)
        return Verdict(words, figures, ink)


def _speech(levels: list[float], noise: float) -> float | None:
    """The power mean of the levels that stand out of the noise; None where too few do."""
    loud = [level for level in levels if level >= max(noise, _NOTHING_DBFS) + _SPEECH_OVER_DB]
    if len(loud) < _LEAST_SPEECH:
        return None
    return 10 * math.log10(sum(10 ** (level / 10) for level in loud) / len(loud))


def _judged(speech: float | None, noise: float, clipped: bool) -> tuple[str, Ink]:
    if clipped:
        return "Too loud: it clips. Turn the microphone down, or sit farther from it.", "alert"
    if speech is None:
        return "Only the room was heard, no voice. Speak while it listens; is this the right microphone?", "alert"
    if speech < _QUIET_DBFS:
        return "Your voice is very quiet. Turn the microphone up, or come nearer.", "alert"
    if speech - noise < _NEAR_DB:
        return (
            f"Your voice is only {speech - noise:.0f} dB above the noise. Find a quieter place, or come nearer.",
            "alert",
        )
    return "Good: your voice is well above the noise, and nothing is clipped.", "band-conversation"


def _db(dbfs: float) -> str:
    """A level in dBFS, with what a person needs of its decimals."""
    if dbfs <= _NOTHING_DBFS:
        return "none"
    return f"{MINUS if round(dbfs, 1) < 0 else ''}{abs(dbfs):.1f} dBFS"
