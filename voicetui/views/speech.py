"""The user's side of a turn: when the speech of an utterance began and ended, and when its words came."""

from __future__ import annotations

from dataclasses import dataclass

from voicetui.events import Entry, Fact
from voicetui.events.listen import SpeechPaused, SpeechStarted, Transcribed
from voicetui.events.orders import Commit, OpenUtterance, Transcribe
from voicetui.views.breakdown import finite


@dataclass(frozen=True, slots=True)
class Words:
    """One believed transcript, ms on the session clock.

    ``asked_ms`` is when what it waited for had come: the pause was noticed, or the silence had lasted; None for a
    partial.
    """

    at_ms: float | None
    started_ms: float | None
    asked_ms: float | None


@dataclass(slots=True)
class Speech:
    """The speech of one utterance. ``user_end_ms`` is its acoustic end, None while the user speaks."""

    utterance: int
    onset_ms: float | None = None
    speaking: bool = False
    user_end_ms: float | None = None
    noticed_ms: float | None = None
    uncertainty_ms: float | None = None
    words: Words | None = None
    turn: int | None = None
    """The turn it was committed as. Its end is then settled, unless the user still spoke (a key ended the turn)."""


class SpeechFold:
    """Follows the detector and the recogniser. Their edges name no utterance: they belong to the one opened last."""

    def __init__(self) -> None:
        self.settled: Speech | None = None
        """The committed speech whose end became known with the last entry."""
        self._trigger: Entry | None = None
        self._onset_ms: float | None = None
        self._current: Speech | None = None
        self._speeches: dict[int, Speech] = {}
        self._by_turn: dict[int, Speech] = {}
        self._asked_ms: dict[tuple[int, int], float | None] = {}

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        at_ms, body = entry.at, entry.body
        self.settled = None
        if isinstance(body, Fact):
            self._trigger = entry
        match body:
            case SpeechStarted():
                self._onset_ms = finite(at_ms)
                if self._current is not None and self._current.turn is None:
                    self._current.speaking, self._current.user_end_ms = True, None
            case OpenUtterance():
                self._current = self._speech(body.utterance)
                self._current.onset_ms, self._current.speaking = self._onset_ms, True
                self._by_turn[body.turn] = self._current
            case SpeechPaused():
                self._pause(body, at_ms)
            case Transcribe() if body.final:
                self._asked_ms[body.utterance, body.request] = self._can_start_ms(at_ms)
            case Transcribed():
                asked_ms = self._asked_ms.pop((body.utterance, body.request), None)
                if not body.doubt:
                    words = Words(finite(at_ms), finite(body.started_ms), asked_ms)
                    self._speech(body.utterance).words = words
            case Commit() if body.utterance is not None:
                speech = self._speech(body.utterance)
                speech.turn = body.basis.turn
                self._by_turn[body.basis.turn] = speech
            case _:
                pass

    def of_turn(self, turn: int) -> Speech | None:
        """The speech that is, or may become, this turn."""
        return self._by_turn.get(turn)

    def words_just_came(self, utterance: int | None) -> bool:
        """Whether the orders now being read answer a transcript of ``utterance``; orders follow their fact."""
        fact = self._trigger.body if self._trigger is not None else None
        return isinstance(fact, Transcribed) and fact.utterance == utterance

    def _speech(self, utterance: int) -> Speech:
        return self._speeches.setdefault(utterance, Speech(utterance))

    def _pause(self, fact: SpeechPaused, at_ms: float) -> None:
        speech = self._current
        if speech is None or not speech.speaking:
            return
        speech.speaking = False
        speech.user_end_ms, speech.noticed_ms = finite(at_ms), finite(fact.noticed_ms)
        speech.uncertainty_ms = finite(fact.uncertainty_ms)
        if speech.turn is not None:
            self.settled = speech

    def _can_start_ms(self, ordered_ms: float) -> float | None:
        """When what a final transcription waits for had come: a pause noticed, or else whatever made it ordered."""
        noticed_ms = self._current.noticed_ms if self._current is not None else None
        if noticed_ms is None:
            return finite(ordered_ms)
        if self._trigger is not None and isinstance(self._trigger.body, SpeechPaused):
            return noticed_ms
        return max(noticed_ms, finite(ordered_ms) or noticed_ms)
