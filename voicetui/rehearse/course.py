"""The course of a recorded session: when what was said, heard and settled. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from voicetui.events import Entry
from voicetui.events.listen import SpeechPaused, SpeechStarted
from voicetui.events.orders import Commit, EndTurn, OpenUtterance, Reject, Revise
from voicetui.events.session import MIC_TEST_MS, InterruptAsked, MicTested, Muted, Ready, Said, StopAsked, TalkKey
from voicetui.events.sound import RATE_HZ, ClockMapped
from voicetui.events.speak import ClauseStarted, PlaybackCut, PlaybackFinished

REACTION_MS = 300.0
"""Nobody answers a reply sooner than this after its first sound (``Policy.reaction_ms``)."""

PER_MS = RATE_HZ / 1e3
_ECHO = "echo"
"""Why an utterance was rejected that was the program itself."""

Deed: TypeAlias = Said | Muted | InterruptAsked | TalkKey | MicTested
"""What hands do: the commands that belong to a conversation. A choice of tier, mode or device is none."""


class Span(NamedTuple):
    """Speech as the detector saw it; ``end`` is where the track ends if the speech never did."""

    at_ms: float
    onset: int
    end: int


class Course:
    """When what was said, heard and settled, ms on the old session's clock."""

    def __init__(self, entries: Sequence[Entry], samples: int) -> None:
        self.spans: list[Span] = []
        """What was said to the program: without its own echo, microphone tests, and what came after it was to stop."""
        self.all_spans: list[Span] = []
        self.replies: list[tuple[float, float]] = []
        self.cut_off: list[float] = []
        """Starts of replies into which the user went on."""
        self.open: list[tuple[float, float]] = []
        self.answered: list[tuple[float, float]] = []
        """From the onset of an utterance (or its typing) to where it is a turn or dropped; to the end of that turn."""
        self.settled_ms: list[float] = [0.0]
        self.acts: list[tuple[float, Deed]] = []
        self.words: list[tuple[float, str]] = []
        self.zero_ms: float | None = None
        self.end_ms = max((entry.at for entry in entries if math.isfinite(entry.at)), default=0.0)
        self.stopped_ms = float("inf")
        self._onset_ms: dict[int, float] = {}
        self._text: dict[int, str] = {}
        self._begun_ms: dict[int, float] = {}
        self._heard_ms: dict[int, float] = {}
        self._quiet_ms: dict[int, float] = {}
        self._cut: set[int] = set()
        self._speaking: SpeechStarted | None = None
        self._speaking_ms = 0.0
        self._typed_ms: float | None = None
        self._echoes: list[tuple[float, float]] = []
        at_ms = 0.0
        for entry in entries:  # one that has lost its time is taken to come with the one before
            if math.isfinite(entry.at):
                at_ms = entry.at
            elif isinstance(entry.body, ClockMapped):
                continue
            self._take(at_ms, entry.body)
        self._finish(samples)

    def idle_since(self, at_ms: float) -> float:
        """When the last thing before ``at_ms`` was settled."""
        return max((ms for ms in self.settled_ms if ms <= at_ms), default=0.0)

    def sample_at(self, at_ms: float) -> int:
        """The sample of the track that was at the ADC then."""
        return max(0, round((at_ms - (self.zero_ms or 0.0)) * PER_MS))

    def reply_at(self, at_ms: float) -> float | None:
        """The start of the reply that was being heard, if one was."""
        return next((start for start, end in self.replies if start <= at_ms < end), None)

    def goes_on(self, at_ms: float) -> bool:
        """Whether what begins at ``at_ms`` is no reaction to anything but the person's own words before."""
        if any(onset < at_ms <= closed for onset, closed in self.open):
            return True
        reply = self.reply_at(at_ms)
        if reply is not None:
            return at_ms - reply < REACTION_MS or reply in self.cut_off
        return any(onset < at_ms < end for onset, end in self.answered)

    def words_of(self, start_ms: float, end_ms: float) -> str:
        """The words of the utterances that began then."""
        return " ".join(text for onset_ms, text in self.words if text and start_ms - 1 <= onset_ms <= end_ms)

    def _take(self, at_ms: float, body: object) -> None:
        match body:
            case Ready():
                self.settled_ms.append(at_ms)
            case ClockMapped():
                self.zero_ms = at_ms - body.sample / PER_MS if self.zero_ms is None else self.zero_ms
            case SpeechStarted():
                self._close_span(body.sample)
                self._speaking, self._speaking_ms = body, at_ms
            case SpeechPaused():
                self._close_span(body.sample)
            case StopAsked():
                self.stopped_ms = min(self.stopped_ms, at_ms)
            case Said() | Muted() | InterruptAsked() | TalkKey() | MicTested():
                self.acts.append((at_ms, body))
                if isinstance(body, Said) and self._typed_ms is None:
                    self._typed_ms = at_ms
            case OpenUtterance() | Revise() | Reject() | Commit() | EndTurn():
                self._order(at_ms, body)
            case ClauseStarted():
                self._heard_ms.setdefault(body.basis.turn, at_ms)
            case PlaybackFinished() | PlaybackCut():
                self._quiet_ms[body.basis.turn] = at_ms
                if isinstance(body, PlaybackCut):
                    self._cut.add(body.basis.turn)
            case _:
                pass

    def _order(self, at_ms: float, body: OpenUtterance | Revise | Reject | Commit | EndTurn) -> None:
        match body:
            case OpenUtterance():
                self._onset_ms[body.utterance] = self._speaking_ms
            case Revise():
                self._text[body.utterance] = body.text
            case Reject():
                self._text[body.utterance] = body.text or self._text.get(body.utterance, "")
                onset_ms = self._resolve(body.utterance, at_ms)
                self.settled_ms.append(at_ms)
                if body.reason == _ECHO:
                    self._echoes.append((onset_ms, at_ms))
            case Commit():
                turn = body.basis.turn
                if body.utterance is None:
                    self._begun_ms[turn] = at_ms if self._typed_ms is None else self._typed_ms
                    self._typed_ms = None
                else:
                    self._begun_ms[turn] = self._resolve(body.utterance, at_ms)
            case EndTurn():
                turn = body.turn
                heard_ms = self._heard_ms.get(turn)
                end_ms = at_ms if heard_ms is None else self._quiet_ms.get(turn, at_ms)
                self.settled_ms.append(end_ms)
                # A reply that was cut went on until then, though its last sound may have come before a hole in it.
                until_ms = max(end_ms, at_ms) if turn in self._cut else end_ms
                if turn in self._begun_ms:
                    self.answered.append((self._begun_ms[turn], until_ms))
                if heard_ms is not None:
                    self.replies.append((heard_ms, until_ms))
                    if body.outcome == "cut_off":
                        self.cut_off.append(heard_ms)
                    self._heard_ms.pop(turn)

    def _resolve(self, utterance: int, at_ms: float) -> float:
        """The utterance is a turn, or none; its onset."""
        onset_ms = self._onset_ms.get(utterance, at_ms)
        self.open.append((onset_ms, at_ms))
        self.words.append((onset_ms, self._text.get(utterance, "")))
        self._onset_ms.pop(utterance, None)
        return onset_ms

    def _close_span(self, sample: int) -> None:
        if self._speaking is not None:
            onset = max(0, self._speaking.sample)
            self.spans.append(Span(self._speaking_ms, onset, max(onset, sample)))
            self._speaking = None

    def _finish(self, samples: int) -> None:
        """The journal may end in the middle of everything."""
        self._close_span(samples)
        end_ms = self.end_ms
        self.open += [(onset_ms, end_ms) for onset_ms in self._onset_ms.values()]
        self.words += [(onset_ms, self._text.get(number, "")) for number, onset_ms in self._onset_ms.items()]
        self.replies += [(start, self._quiet_ms.get(turn, end_ms)) for turn, start in self._heard_ms.items()]
        if self.zero_ms is None:
            self.zero_ms = self.spans[0].at_ms - self.spans[0].onset / PER_MS if self.spans else 0.0
        self.all_spans = list(self.spans)
        tests = [at_ms for at_ms, deed in self.acts if isinstance(deed, MicTested) and deed.on]
        ended = [at_ms for at_ms, deed in self.acts if isinstance(deed, MicTested) and not deed.on]
        for began in tests:
            over = min((at_ms for at_ms in ended if at_ms > began), default=began + MIC_TEST_MS)
            self.spans = [span for span in self.spans if not began <= span.at_ms < over]
        for onset_ms, over in self._echoes:
            self.spans = [span for span in self.spans if not onset_ms <= span.at_ms < over]
        self.spans = [span for span in self.spans if span.at_ms < self.stopped_ms and span.onset < samples]
        self.acts = [(at_ms, deed) for at_ms, deed in self.acts if at_ms < self.stopped_ms]
