"""Which texts of a journal belong together, and when what they say could be heard."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from voicetui.journal.lines import Line, Lines, number

FREE: Final[dict[str, tuple[str, ...]]] = {
    "fault": ("message", "remedy"),
    "generation_failed": ("message", "remedy"),
    "transcribe_failed": ("message",),
    "synthesis_failed": ("message",),
    "generation_ended": ("note",),
    "prewarm_ended": ("note",),
    "context_assembled": ("note",),
    "discarded": ("reason",),
    "end_turn": ("reason",),
    "device_opened": ("name",),
    "device_lost": ("name", "reason"),
    "device_chosen": ("name",),
    "use_device": ("name",),
}
"""Fields of other records that may repeat what was said; all further ones hold the program's own words."""


@dataclass(slots=True)
class Slot:
    """A place in the journal that holds a text."""

    line: Line
    within: Any
    key: Any

    @property
    def text(self) -> str:
        """What stands there."""
        text: str = self.within[self.key]
        return text

    def put(self, text: str) -> None:
        """Let that stand there instead."""
        if text != self.within[self.key]:
            self.within[self.key] = text
            self.line.touch()


@dataclass
class Utterance:
    """One utterance: every wording of it, and from when to when it lasted, ms on the session clock."""

    start_ms: float
    end_ms: float
    turn: int
    slots: list[Slot] = field(default_factory=list)


@dataclass
class Clause:
    """One clause: as it was written, as it was to be said, and when it could be heard (None: never)."""

    written: list[Slot] = field(default_factory=list)
    said: list[Slot] = field(default_factory=list)
    start_ms: float | None = None
    end_ms: float | None = None


@dataclass
class Reply:
    """What was made on one basis: the pieces with their times, the clauses, what was told to be heard of it."""

    turn: int
    pieces: list[tuple[Slot, float | None]] = field(default_factory=list)
    reasoning: list[tuple[Slot, float | None]] = field(default_factory=list)
    clauses: dict[int, Clause] = field(default_factory=lambda: defaultdict(Clause))
    heard: list[Slot] = field(default_factory=list)


@dataclass
class Asked:
    """The messages of one request, for turn ``turn``: who says each, and its text."""

    turn: int
    messages: list[tuple[str, Slot]]


@dataclass
class Spoken:
    """All texts of a journal."""

    utterances: dict[int, Utterance] = field(default_factory=dict)
    typed: list[tuple[float | None, Slot]] = field(default_factory=list)
    replies: dict[tuple[Any, ...], Reply] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    queries: list[tuple[int, Slot]] = field(default_factory=list)
    passages: list[tuple[float, float, Slot]] = field(default_factory=list)
    others: list[Slot] = field(default_factory=list)
    unreadable: list[Line] = field(default_factory=list)
    maps: list[tuple[float, int]] = field(default_factory=list)
    taken_back: set[int] = field(default_factory=set)

    def pieces(self) -> Iterator[Slot]:
        """Every place that holds only a piece of a text, often of a word."""
        yield from (slot for reply in self.replies.values() for slot, _ in (*reply.pieces, *reply.reasoning))

    def slots(self) -> Iterator[Slot]:
        """Every place that holds a whole text."""
        for utterance in self.utterances.values():
            yield from utterance.slots
        for reply in self.replies.values():
            for clause in reply.clauses.values():
                yield from (*clause.written, *clause.said)
            yield from reply.heard
        yield from (slot for asked in self.asked for _, slot in asked.messages)
        yield from (slot for _, slot in (*self.typed, *self.queries))
        yield from (slot for _, _, slot in self.passages)
        yield from self.others


def texts_of(lines: Lines, known: frozenset[str]) -> Spoken:
    """Sort the texts of a journal; ``known`` are the types of records whose fields this version knows."""
    reader = _Reader(known)
    for line in lines:
        try:
            reader.read(line)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError):
            reader.spoken.others += _strings(line, line.record)
    return reader.spoken


class _Reader:
    def __init__(self, known: frozenset[str]) -> None:
        self.spoken = Spoken()
        self._known = known
        self._onset_ms: float | None = None
        self._open: Utterance | None = None

    def read(self, line: Line) -> None:
        spoken, body, at_ms = self.spoken, line.body, line.at_ms
        if line.record is None:
            spoken.unreadable.append(line)
            return
        if "voicetui_journal" in line.record:
            return
        kind = body.get("type", "")
        if kind not in self._known:
            spoken.others += _strings(line, line.record)
            return
        spoken.others += [Slot(line, body, key) for key in FREE.get(kind, ()) if isinstance(body.get(key), str)]
        match kind:
            case "session_opened":
                spoken.others += [slot for slot in _strings(line, body.get("config")) if len(slot.text.split()) > 1]
            case "clock_mapped" if at_ms is not None:
                spoken.maps.append((at_ms, int(body["sample"])))
            case "speech_started" | "speech_paused" | "open_utterance" | "said" | "commit" | "reject" | "revise":
                self._user(kind, line, body, at_ms)
            case "transcribed" | "score_words":
                self._wording(_whole(body["utterance"]), Slot(line, body, "text"), at_ms)
            case "generate" | "prewarm":
                turn = _whole(body["basis"][0] if kind == "generate" else body["turn"])
                messages = [(message[0], _slot(line, message, 1)) for message in body["messages"]]
                spoken.asked.append(Asked(turn, messages))
            case "assemble_context":
                spoken.queries.append((_whole(body["turn"]), _slot(line, body, "query")))
            case "adopt_context":
                spoken.others += _strings(line, body["sources"])
            case "context_assembled":
                span = (number(body["started_ms"]) or at_ms or 0.0, at_ms or 0.0)
                spoken.passages += [(*span, slot) for slot in _strings(line, body["passages"])]
            case _:
                self._reply(kind, line, body, at_ms)

    def _user(self, kind: str, line: Line, body: dict[str, Any], at_ms: float | None) -> None:
        if kind == "speech_started":
            self._onset_ms = at_ms
            if self._open is not None and at_ms is not None:
                self._open.end_ms = max(self._open.end_ms, at_ms)
        elif kind == "speech_paused":
            if self._open is not None and at_ms is not None:
                self._open.end_ms = max(self._open.end_ms, at_ms)
        elif kind == "open_utterance":
            onset_ms = self._onset_ms if self._onset_ms is not None else at_ms or 0.0
            utterance = self._utterance(_whole(body["utterance"]), onset_ms)
            utterance.turn, self._open = _whole(body["turn"]), utterance
        elif kind == "said" or body.get("utterance") is None:
            self.spoken.typed.append((at_ms, _slot(line, body, "text")))
        else:
            self._wording(_whole(body["utterance"]), Slot(line, body, "text"), at_ms)

    def _utterance(self, name: int, at_ms: float) -> Utterance:
        return self.spoken.utterances.setdefault(name, Utterance(at_ms, at_ms, 0))

    def _wording(self, name: int, slot: Slot, at_ms: float | None) -> None:
        if isinstance(slot.within.get("text"), str):
            self._utterance(name, at_ms or 0.0).slots.append(slot)

    def _reply(self, kind: str, line: Line, body: dict[str, Any], at_ms: float | None) -> None:
        if "basis" not in body:
            return
        basis = tuple(map(_whole, body["basis"]))
        reply = self.spoken.replies.setdefault(basis, Reply(basis[0]))
        match kind:
            case "tokens_arrived":
                pieces = reply.reasoning if body.get("reasoning") else reply.pieces
                pieces += [(_slot(line, token, 0), number(token[1])) for token in body["tokens"]]
            case "clause_cut":
                clause = reply.clauses[_whole(body["clause"])]
                clause.written.append(_slot(line, body, "text"))
                clause.said.append(_slot(line, body, "spoken"))
            case "synthesize":
                reply.clauses[_whole(body["clause"])].said.append(_slot(line, body, "spoken"))
            case "play":
                reply.clauses[_whole(body["clause"])].written.append(_slot(line, body, "text"))
            case "clause_started" if at_ms is not None:
                clause = reply.clauses[_whole(body["clause"])]
                clause.start_ms = at_ms if clause.start_ms is None else min(clause.start_ms, at_ms)
            case "clause_ended" if at_ms is not None:
                reply.clauses[_whole(body["clause"])].end_ms = at_ms
            case "playback_cut" | "playback_finished" | "end_turn":
                if body.get("outcome") in ("cut_off", "superseded"):
                    self.spoken.taken_back.add(_whole(body["turn"]))
                if isinstance(body.get("heard_text"), str):
                    reply.heard.append(Slot(line, body, "heard_text"))
                for clause in reply.clauses.values():
                    if clause.start_ms is not None and clause.end_ms is None and at_ms is not None:
                        clause.end_ms = max(at_ms, clause.start_ms)
            case _:
                pass


def _slot(line: Line, within: Any, key: Any) -> Slot:
    if not isinstance(within[key], str):
        raise TypeError("no text")
    return Slot(line, within, key)


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError("no number")
    return value


def _strings(line: Line, value: Any) -> list[Slot]:
    """Every text below ``value`` but for tags."""
    found: list[Slot] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        if isinstance(each, str) and key != "type":
            found.append(Slot(line, value, key))
        elif isinstance(each, dict | list):
            found += _strings(line, each)
    return found
