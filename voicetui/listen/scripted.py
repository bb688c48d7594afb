"""Twins of detector, recogniser and scorers that follow a script: for tests, and sessions that go one way only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from voicetui.events.listen import Evidence
from voicetui.events.orders import Window
from voicetui.listen.doubt import NO_SPEECH, doubt
from voicetui.listen.edges import FRAME_SAMPLES, EdgeFinder, EdgeLimits
from voicetui.listen.levels import HOP_SAMPLES, hop_levels, mean_level
from voicetui.listen.repeats import compression_ratio
from voicetui.ports import RATE_HZ, Pcm16, Recognition, StageError, VoiceEdge

LOUD_DBFS: Final = -45.0
"""What the twins take for speech."""

_LEAST_SAMPLES: Final = 1600


class ScriptedDetector:
    """A ``VoiceDetector`` that finds the edges of a table, each when its ``noticed_sample`` has been fed."""

    def __init__(self, edges: Sequence[VoiceEdge]) -> None:
        self._waiting = sorted(edges, key=lambda edge: edge.noticed_sample)
        self._samples = 0
        self._speaking = False

    def feed(self, samples: Pcm16) -> list[VoiceEdge]:
        """The edges noticed in the next ``samples`` (int16 [n], any n >= 0); a pause of dropped speech is left out."""
        self._samples += samples.size
        found = []
        while self._waiting and self._waiting[0].noticed_sample <= self._samples:
            edge = self._waiting.pop(0)
            if edge.kind == "started" or self._speaking:
                found.append(edge)
            self._speaking = edge.kind == "started"
        return found

    @property
    def fading(self) -> bool:
        """The table's pauses come without warning."""
        return False

    def quicken(self, on: bool) -> None:
        """The table says when: nothing to do."""

    def drop(self) -> VoiceEdge | None:
        """Forget the running speech: a pause here and now if there was any."""
        was, self._speaking = self._speaking, False
        return VoiceEdge("paused", self._samples, self._samples) if was else None


class EnergyDetector:
    """A ``VoiceDetector`` for which loud is speech: every 32 ms frame with a hop above ``loud_dbfs``."""

    def __init__(self, limits: EdgeLimits | None = None, loud_dbfs: float = LOUD_DBFS) -> None:
        self._finder = EdgeFinder(limits)
        self._loud_dbfs = loud_dbfs
        self._rest: Pcm16 = np.zeros(0, np.int16)

    def feed(self, samples: Pcm16) -> list[VoiceEdge]:
        """The edges found in the next ``samples`` (int16 [n], any n >= 0)."""
        sound = np.concatenate((self._rest, samples))
        whole = sound.size // FRAME_SAMPLES * FRAME_SAMPLES
        self._rest = sound[whole:]
        found = []
        for at in range(0, whole, FRAME_SAMPLES):
            frame = sound[at : at + FRAME_SAMPLES]
            loud = hop_levels(frame).max() >= self._loud_dbfs
            edge = self._finder.feed(0.99 if loud else 0.0, frame)
            if edge is not None:
                found.append(edge)
        return found

    @property
    def fading(self) -> bool:
        """Whether speech is running whose newest frames hold none: a pause may be near."""
        return self._finder.fading

    def quicken(self, on: bool) -> None:
        """Announce pauses sooner and with less certainty, or as usual again."""
        self._finder.quick = on

    def drop(self) -> VoiceEdge | None:
        """Forget the running speech: its closing edge if there was one."""
        edge = self._finder.drop(self._rest)
        self._rest = self._rest[:0]
        return edge


class ScriptedRecogniser:
    """A ``Recogniser`` with a table of what is heard: a sequence, by call, or a mapping from seconds, by length.

    An entry is a text, whose evidence is then measured on the sound and judged by the real rule; a ``Recognition``,
    which is given back as it is; or a message ``StageError`` to raise.  Sound too short or too quiet for speech uses up
    no entry, and after the last one nothing is heard.
    """

    def __init__(
        self,
        table: Sequence[str | Recognition | StageError] | Mapping[float, str | Recognition | StageError],
        *,
        no_speech: float = 0.05,
        logprob: float = -0.2,
        work: Callable[[Pcm16], None] | None = None,
    ) -> None:
        """``work(sound)`` is called for each decoding, to let a test's clock move by what that would have cost."""
        self._by_s = dict(table) if isinstance(table, Mapping) else None
        self._lines = [] if isinstance(table, Mapping) else list(table)
        self._plain = Evidence(no_speech=no_speech, logprob=logprob, language="en")
        self._work = work
        self.heard: list[tuple[Pcm16, bool]] = []
        self.windows: list[Window] = []

    def warm(self) -> float:
        """Nothing to load: 0 ms."""
        return 0.0

    def recognise(self, samples: Pcm16, final: bool, window: Window = "short") -> Recognition:
        """The table's answer for ``samples`` (int16 [n], any n >= 0), which are kept in ``heard`` with ``final``."""
        if samples.size < _LEAST_SAMPLES:
            return Recognition("", Evidence(speech_ms=0.0))
        levels = hop_levels(samples)
        speech_ms = float(np.count_nonzero(levels >= LOUD_DBFS)) * 1000 * HOP_SAMPLES / RATE_HZ
        if not speech_ms:
            return Recognition("", Evidence(speech_ms=0.0, level_dbfs=mean_level(levels)), NO_SPEECH)
        self.heard.append((samples, final))
        self.windows.append(window)
        if self._work is not None:
            self._work(samples)
        line = self._line(samples.size / RATE_HZ)
        if isinstance(line, StageError):
            raise line
        if isinstance(line, Recognition):
            return line
        evidence = msgspec.structs.replace(
            self._plain, speech_ms=speech_ms, level_dbfs=mean_level(levels), compression=compression_ratio(line)
        )
        return Recognition(line, evidence, doubt(line, evidence))

    def _line(self, seconds: float) -> str | Recognition | StageError:
        if self._by_s is not None:
            return self._by_s[min(self._by_s, key=lambda known: abs(known - seconds))] if self._by_s else ""
        return self._lines.pop(0) if self._lines else ""


class ScriptedScorer:
    """A ``TurnScorer`` with a table of scores: a sequence, by call, or a mapping from seconds, by length.

    An entry is a score from 0 to 1, or a ``StageError`` to raise.  Sound too short or too quiet for speech uses up no
    entry and scores 0; so does everything after the last one.
    """

    def __init__(self, table: Sequence[float | StageError] | Mapping[float, float | StageError]) -> None:
        self._by_s = dict(table) if isinstance(table, Mapping) else None
        self._lines = [] if isinstance(table, Mapping) else list(table)
        self.heard: list[Pcm16] = []

    def warm(self) -> float:
        """Nothing to load: 0 ms."""
        return 0.0

    def score(self, samples: Pcm16) -> float:
        """The table's answer for ``samples`` (int16 [n], any n >= 0), which are kept in ``heard``."""
        if samples.size < _LEAST_SAMPLES or hop_levels(samples).max() < LOUD_DBFS:
            return 0.0
        self.heard.append(samples)
        if self._by_s is not None:
            seconds = samples.size / RATE_HZ
            line = self._by_s[min(self._by_s, key=lambda known: abs(known - seconds))] if self._by_s else 0.0
        else:
            line = self._lines.pop(0) if self._lines else 0.0
        if isinstance(line, StageError):
            raise line
        return line


class ScriptedWords:
    """A ``WordsScorer`` with a table of scores by text, without case and the signs a text ends with.

    An entry is a score from 0 to 1, or a ``StageError`` to raise; what is not in the table scores 0.
    """

    def __init__(self, table: Mapping[str, float | StageError]) -> None:
        self._by_text = {_bare(text): entry for text, entry in table.items()}
        self.read: list[str] = []

    def warm(self) -> float:
        """Nothing to load: 0 ms."""
        return 0.0

    def score(self, text: str) -> float:
        """The table's answer for ``text``, which is kept in ``read``."""
        self.read.append(text)
        entry = self._by_text.get(_bare(text), 0.0)
        if isinstance(entry, StageError):
            raise entry
        return entry


def _bare(text: str) -> str:
    return text.strip().rstrip(".?! ").lower()
