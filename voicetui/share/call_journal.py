"""A call that was recorded elsewhere as the journal a session would have written, as far as sound alone can tell.

The user's speech stands in it as the live ear writes it: onsets, pauses, utterances, by sample. Of the reply only when
it was audible is known; no words, no stages, no decisions. Turns say so by their reason, ``IMPORTED``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from voicetui.events import AnyFact, AnyOrder, Basis
from voicetui.events.listen import SpeechPaused, SpeechStarted
from voicetui.events.orders import IMPORTED, BargeIn, Commit, EndTurn, OpenUtterance, Outcome, Reject
from voicetui.events.session import Ready, SessionClosed, SessionOpened, TierFacts
from voicetui.events.sound import RATE_HZ, ClockMapped, DeviceOpened
from voicetui.events.speak import ClauseEnded, ClauseStarted, PlaybackCut, PlaybackFinished
from voicetui.ports import VoiceEdge
from voicetui.share.call_turns import CallTurn, Talk

_MAP_EVERY_SAMPLES = 10 * RATE_HZ
NO_REPLY_TRACK = "the recording has no reply track"


@dataclass(frozen=True)
class Call:
    """What is known of a call. ``edges`` are those of the user's side, ``samples`` how long the longer side is."""

    turns: Sequence[CallTurn]
    edges: Sequence[tuple[VoiceEdge, VoiceEdge]]
    samples: int
    user: DeviceOpened
    reply: DeviceOpened | None


@dataclass(frozen=True, slots=True)
class _Item:
    """A record, its own time, and the time it would have reached a journal."""

    when_ms: float
    at_ms: float
    body: AnyFact | AnyOrder


def opened(session: str, started_utc: str, program: str, files: Iterable[str], notes: Iterable[str]) -> SessionOpened:
    """The first fact. ``started_utc`` is when the call was imported: a sound file does not say when it was held."""
    config: dict[str, object] = {"imported": {"files": list(files), "notes": list(notes)}}
    tiers = (TierFacts(IMPORTED, IMPORTED, ""),)
    return SessionOpened(session, started_utc, program, IMPORTED, tiers, "none", "full", IMPORTED, config)


def call_records(first: SessionOpened, call: Call) -> Iterator[tuple[float, AnyFact | AnyOrder]]:
    """(time, record) of the whole journal, in order. The session clock is the tracks' own: sample / 16."""
    yield 0.0, first
    if call.reply is not None:
        yield 0.0, call.reply
    yield 0.0, Ready({})
    yield 0.0, call.user
    end_ms = _ms(call.samples)
    maps = (_Item(_ms(n), _ms(n), ClockMapped(n)) for n in range(0, max(1, call.samples), _MAP_EVERY_SAMPLES))
    for item in sorted([*maps, *_Writer(call).items()], key=lambda item: item.when_ms):
        yield round(item.at_ms, 3), item.body
    yield round(end_ms, 3), SessionClosed("the recording is over")


class _Writer:
    """Writes turn by turn; no turn's records come before the end of the one before it."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._edges = {_ms(started.sample): (started, paused) for started, paused in call.edges}
        self._items: list[_Item] = []
        self._utterances: dict[Talk, int] = {}
        self._over_ms = 0.0

    def items(self) -> list[_Item]:
        turns = self._call.turns
        becomes = {turn.utterance: number for number, turn in enumerate(turns, 1) if turn.utterance is not None}
        aside_of = {aside: number + 1 for number, turn in enumerate(turns, 1) for aside in turn.asides}
        over_reply = {*aside_of, *(turn.cut_by for turn in turns if turn.cut_by is not None)}
        for number, talk in enumerate(sorted({**becomes, **aside_of}, key=lambda talk: talk.start_ms), 1):
            self._utterances[talk] = number
            self._speech(talk, number, becomes.get(talk) or aside_of[talk], talk in over_reply)
        for number, turn in enumerate(turns, 1):
            self._turn(number, turn)
        return self._items

    def _put(self, when_ms: float, at_ms: float, body: AnyFact | AnyOrder) -> None:
        self._items.append(_Item(when_ms, at_ms, body))

    def _speech(self, talk: Talk, utterance: int, turn: int, over_reply: bool) -> None:
        for place, stretch in enumerate(talk.stretches):
            started, paused = self._edges[stretch.start_ms]
            noticed_ms = _ms(started.noticed_sample)
            self._put(noticed_ms, stretch.start_ms, SpeechStarted(started.sample, round(noticed_ms, 1)))
            if place == 0:
                self._put(noticed_ms, noticed_ms, OpenUtterance(utterance, turn, started.sample, over_reply))
            pause = SpeechPaused(
                paused.sample,
                round(paused.uncertainty_ms, 1),
                round(_ms(paused.noticed_sample), 1),
                round(paused.level_dbfs, 1),
                round(paused.noise_dbfs, 1),
            )
            self._put(_ms(paused.noticed_sample), stretch.end_ms, pause)

    def _noticed_ms(self, talk: Talk) -> tuple[float, float]:
        """When the detector knew of an utterance's onset, and of its end."""
        first, last = self._edges[talk.stretches[0].start_ms], self._edges[talk.stretches[-1].start_ms]
        return _ms(first[0].noticed_sample), _ms(last[1].noticed_sample)

    def _turn(self, number: int, turn: CallTurn) -> None:
        basis, said, reply = Basis(number, 1, 1), turn.utterance, turn.reply
        over_ms, known_ms = math.inf, self._over_ms
        if reply is not None:
            over_ms = reply.start_ms
            known_ms = max(known_ms, over_ms if said is None else 0.0)
        if said is not None:
            opened_ms, ended_ms = self._noticed_ms(said)
            known_ms = max(known_ms, opened_ms, min(ended_ms, over_ms))
            over_ms = min(over_ms, said.end_ms)
        utterance = self._utterances[said] if said is not None else None
        self._put(known_ms, over_ms, Commit(basis, utterance, "", IMPORTED))
        if reply is None:
            reason = "nobody answered" if self._call.reply is not None else NO_REPLY_TRACK
            self._end(basis, known_ms, over_ms, "unanswered", reason)
            return
        for place, stretch in enumerate(reply.stretches):
            self._put(max(known_ms, stretch.start_ms), stretch.start_ms, ClauseStarted(basis, place))
            self._put(max(known_ms, stretch.end_ms), stretch.end_ms, ClauseEnded(basis, place))
        for aside in turn.asides:
            decided_ms = max(known_ms, self._noticed_ms(aside)[1])
            self._put(decided_ms, decided_ms, Reject(self._utterances[aside], "backchannel"))
            self._put(decided_ms, decided_ms, BargeIn(basis, self._utterances[aside], "backchannel", aside.start_ms))
        self._reply_ends(basis, reply, turn.cut_by, known_ms)

    def _reply_ends(self, basis: Basis, reply: Talk, cut_by: Talk | None, known_ms: float) -> None:
        silent_ms = reply.end_ms
        known_ms = max(known_ms, silent_ms)
        if cut_by is None:
            self._put(known_ms, silent_ms, PlaybackFinished(basis))
            self._end(basis, known_ms, silent_ms, "completed", "")
            return
        known_ms = max(known_ms, self._noticed_ms(cut_by)[0])
        self._put(known_ms, silent_ms, BargeIn(basis, self._utterances[cut_by], "bid", cut_by.start_ms))
        self._put(known_ms, silent_ms, PlaybackCut(basis, silent_ms - reply.start_ms, "", 0, 0, 0))
        self._end(basis, known_ms, silent_ms, "interrupted", "the user spoke")

    def _end(self, basis: Basis, known_ms: float, at_ms: float, outcome: Outcome, reason: str) -> None:
        self._put(known_ms, at_ms, EndTurn(basis.turn, basis, outcome, "", reason))
        self._over_ms = known_ms


def _ms(sample: float) -> float:
    return sample * 1000 / RATE_HZ
