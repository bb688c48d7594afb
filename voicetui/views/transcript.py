"""The conversation as text: what the user said, what the reply says, and how much of it was heard."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from voicetui.events import Basis, Entry
from voicetui.events.listen import SpeechStarted
from voicetui.events.orders import (
    STAGED,
    Cancel,
    Commit,
    EndTurn,
    Generate,
    OpenUtterance,
    Outcome,
    Play,
    Reject,
    Revise,
)
from voicetui.events.reply import ClauseCut, TokensArrived
from voicetui.events.speak import ClauseEnded, ClauseStarted, PlaybackCut, SynthesisFailed

UserState = Literal["partial", "final", "committed", "rejected"]
ClauseState = Literal["waiting", "playing", "heard", "cut", "unheard", "silent", "failed"]


class UserLine(msgspec.Struct, frozen=True, gc=False):
    """One utterance, or a typed turn (``utterance`` None).

    ``turn`` is the turn it became, or may become; None once rejected.  ``reason`` says why it was rejected, or, once
    committed, why the turn was over.  ``at_ms`` is the onset of the speech.
    """

    at_ms: float
    utterance: int | None
    turn: int | None
    text: str
    revision: int
    state: UserState
    reason: str = ""
    over_reply: bool = False


class ClauseLine(msgspec.Struct, frozen=True, gc=False):
    """One clause as the model wrote it: ``heard`` and ``unheard`` together are its text.

    ``state``: "waiting" for its turn to be heard, "playing", "heard", "cut" (in part heard), "unheard" (it never will
    be), "silent" (nothing to say in it) or "failed" (no sound could be made of it).
    """

    clause: int
    text: str
    heard: str
    unheard: str
    state: ClauseState


class ReplyLine(msgspec.Struct, frozen=True, gc=False):
    """The reply to one turn. ``pending`` is text that arrived and is not cut into clauses yet.

    ``heard_text`` is what entered the history once the turn has an ``outcome``, until then the clauses heard so far.
    """

    turn: int
    basis: Basis
    clauses: tuple[ClauseLine, ...]
    pending: str
    text: str
    heard_text: str
    outcome: Outcome | None = None
    reason: str = ""


class Transcript(msgspec.Struct, frozen=True):
    """Lines in the order they began. ``dropped`` older ones are no longer kept."""

    lines: tuple[UserLine | ReplyLine, ...]
    dropped: int = 0

    def replies(self) -> dict[int, ReplyLine]:
        """The reply lines by turn."""
        return {line.turn: line for line in self.lines if isinstance(line, ReplyLine)}

    def users(self) -> dict[int, UserLine]:
        """The committed user lines by turn."""
        chosen = (line for line in self.lines if isinstance(line, UserLine) and line.state == "committed")
        return {line.turn: line for line in chosen if line.turn is not None}


@dataclass(slots=True)
class _Clause:
    text: str
    spoken: str
    state: ClauseState


@dataclass(slots=True)
class _Reply:
    """A reply while it grows; also one that is still speculative and not shown."""

    basis: Basis
    clauses: dict[int, _Clause] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    cut_text: str | None = None
    outcome: Outcome | None = None
    heard_text: str = ""
    reason: str = ""

    def clause_cut(self, fact: ClauseCut) -> None:
        """Take a clause, and its text out of what is pending."""
        self.clauses[fact.clause] = _Clause(fact.text, fact.spoken, "waiting" if fact.spoken else "silent")
        pending = "".join(self.pending)
        text = fact.text if fact.text in pending else fact.text.strip()
        rest = pending.partition(text)[2] if text else pending
        self.pending = [rest] if rest.strip() else []

    def played_as(self, number: int, text: str) -> None:
        """A clause was queued with this text; one that holds the whole reply takes the place of the later ones."""
        clause = self.clauses.get(number)
        if clause is None or len(text.strip()) <= len(clause.text.strip()):
            return
        clause.text = text
        self.clauses = {n: kept for n, kept in self.clauses.items() if n <= number}

    def line(self) -> ReplyLine:
        """The reply as it stands, immutable."""
        clauses = _heard_by_clause(self)
        heard = "".join(clause.heard for clause in clauses).strip()
        pending = "".join(self.pending)
        return ReplyLine(
            turn=self.basis.turn,
            basis=self.basis,
            clauses=clauses,
            pending=pending,
            text=("".join(clause.text for clause in clauses) + pending).strip(),
            heard_text=self.heard_text if self.outcome is not None else heard,
            outcome=self.outcome,
            reason=self.reason,
        )


class TranscriptView:
    """Folds a journal to the conversation. A snapshot rebuilds only the lines that changed.

    With ``keep_lines`` only about that many of the newest lines are kept.
    """

    def __init__(self, keep_lines: int | None = None) -> None:
        self._keep_lines = keep_lines
        self._lines: list[UserLine | ReplyLine] = []
        self._dropped = 0
        self._onset_ms: float | None = None
        self._user_place: dict[int, int] = {}
        self._reply_place: dict[int, int] = {}
        self._replies: dict[int, _Reply] = {}
        self._drafts: dict[Basis, _Reply] = {}
        self._stale: set[int] = set()
        self._shown: Transcript | None = None

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        match entry.body:
            case SpeechStarted():
                self._onset_ms = entry.at
            case OpenUtterance() | Revise() | Reject() | Commit():
                self._user(entry, entry.body)
            case Generate():
                self._generate(entry.body)
            case Cancel():
                self._drafts.pop(entry.body.basis, None)
            case EndTurn():
                self._end(entry.body)
            case _:
                self._reply(entry)

    def snapshot(self) -> Transcript:
        """The conversation so far. The same object as before when nothing changed."""
        for turn in self._stale:
            if turn in self._reply_place:
                self._lines[self._reply_place[turn] - self._dropped] = self._replies[turn].line()
                self._shown = None
        self._stale.clear()
        if self._shown is None:
            self._shown = Transcript(tuple(self._lines), self._dropped)
        return self._shown

    def _user(self, entry: Entry, body: OpenUtterance | Revise | Reject | Commit) -> None:
        self._shown = None
        if isinstance(body, OpenUtterance):
            at_ms = self._onset_ms if self._onset_ms is not None else entry.at
            line = UserLine(at_ms, body.utterance, body.turn, "", 0, "partial", over_reply=body.over_reply)
            self._user_place = {body.utterance: self._add(line)}
            return
        place = self._user_place.get(body.utterance) if body.utterance is not None else None
        old = self._lines[place - self._dropped] if place is not None else None
        if not isinstance(old, UserLine):
            old = UserLine(entry.at, body.utterance, None, "", 0, "partial")
            place = self._add(old)
            if body.utterance is not None:
                self._user_place[body.utterance] = place
        assert place is not None
        match body:
            case Revise():
                state: UserState = "final" if body.final else "partial"
                state = "committed" if old.state == "committed" else state
                new = msgspec.structs.replace(old, text=body.text, revision=body.revision, state=state)
            case Reject():
                text = body.text or old.text
                new = msgspec.structs.replace(old, turn=None, text=text, state="rejected", reason=body.reason)
            case Commit():
                turn = body.basis.turn
                new = msgspec.structs.replace(old, turn=turn, text=body.text, state="committed", reason=body.reason)
        self._lines[place - self._dropped] = new
        waits_for_words = isinstance(body, Commit) and body.reason == STAGED
        if new.state in ("rejected", "committed") and body.utterance is not None and not waits_for_words:
            self._user_place.pop(body.utterance, None)
        if isinstance(body, Commit):
            self._show_reply(body.basis)

    def _show_reply(self, basis: Basis) -> None:
        """From the commit on, the reply on this basis is the turn's."""
        turn = basis.turn
        self._replies[turn] = self._drafts.pop(basis) if basis in self._drafts else _Reply(basis)
        for stale in [draft for draft in self._drafts if draft.turn <= turn]:
            del self._drafts[stale]
        if turn not in self._reply_place:
            self._reply_place[turn] = self._add(self._replies[turn].line())
        self._stale.add(turn)

    def _generate(self, body: Generate) -> None:
        shown = self._replies.get(body.basis.turn)
        if body.speculative or shown is None:
            self._drafts.setdefault(body.basis, _Reply(body.basis))
        elif shown.basis != body.basis:
            self._replies[body.basis.turn] = _Reply(body.basis)
            self._stale.add(body.basis.turn)

    def _reply(self, entry: Entry) -> None:
        body = entry.body
        if not isinstance(
            body, TokensArrived | ClauseCut | Play | ClauseStarted | ClauseEnded | PlaybackCut | SynthesisFailed
        ):
            return
        reply = self._replies.get(body.basis.turn)
        if reply is None or reply.basis != body.basis:
            reply = self._drafts.get(body.basis)
        if reply is None or reply.outcome is not None:
            return
        self._stale.add(body.basis.turn)
        match body:
            case TokensArrived() if not body.reasoning:
                reply.pending.extend(token.text for token in body.tokens)
            case ClauseCut():
                reply.clause_cut(body)
            case Play():
                reply.played_as(body.clause, body.text)
            case ClauseStarted():
                _set_state(reply, body.clause, "playing")
            case ClauseEnded():
                _set_state(reply, body.clause, "heard")
            case SynthesisFailed():
                _set_state(reply, body.clause, "failed")
            case PlaybackCut():
                reply.cut_text = body.heard_text
            case _:
                pass

    def _end(self, body: EndTurn) -> None:
        reply = self._replies.get(body.turn)
        if reply is None:
            self._show_reply(Basis(body.turn, body.basis.revision, body.basis.attempt))
            reply = self._replies[body.turn]
        reply.outcome, reply.heard_text, reply.reason = body.outcome, body.heard_text.strip(), body.reason
        self._stale.add(body.turn)
        self.snapshot()
        del self._replies[body.turn], self._reply_place[body.turn]

    def _add(self, line: UserLine | ReplyLine) -> int:
        """Append a line and drop the oldest ones beyond what is kept. Its place, counting the dropped ones too."""
        self._shown = None
        self._lines.append(line)
        if self._keep_lines is not None and len(self._lines) > 2 * max(1, self._keep_lines):
            self._drop_oldest(len(self._lines) - max(1, self._keep_lines))
        return self._dropped + len(self._lines) - 1

    def _drop_oldest(self, count: int) -> None:
        """Drop ``count`` lines, but none that can still change."""
        growing = [*self._user_place.values(), *self._reply_place.values()]
        count = min([count, *(place - self._dropped for place in growing)])
        del self._lines[:count]
        self._dropped += count


def _set_state(reply: _Reply, number: int, state: ClauseState) -> None:
    clause = reply.clauses.get(number)
    if clause is not None:
        clause.state = state


def _heard_by_clause(reply: _Reply) -> tuple[ClauseLine, ...]:
    """Share out what was heard among the clauses: by the text of the cut if there was one, else by what was played."""
    over = reply.outcome is not None or reply.cut_text is not None
    heard_text = reply.cut_text
    if heard_text is None and reply.outcome is not None and reply.outcome != "completed":
        heard_text = reply.heard_text
    lines = []
    rest = (heard_text or "").strip()
    for number, clause in sorted(reply.clauses.items()):
        state = clause.state
        if heard_text is None:
            heard = clause.text if state == "heard" or (over and state == "playing") else ""
        else:
            heard, rest = _heard_prefix(clause, rest)
        if over and state in ("waiting", "playing", "heard"):
            state = "heard" if heard == clause.text else "cut" if heard else "unheard"
        lines.append(ClauseLine(number, clause.text, heard, clause.text[len(heard) :], state))
    return tuple(lines)


def _heard_prefix(clause: _Clause, heard_text: str) -> tuple[str, str]:
    """The part of the clause that the heard text begins with, and the rest of the heard text, for later clauses.

    Where the two differ in more than the space between clauses, words are counted.
    """
    text = clause.text.strip()
    if not text or not heard_text:
        return "", heard_text
    if heard_text.startswith(text):
        return clause.text, heard_text[len(text) :].lstrip()
    silent = not clause.spoken or clause.state == "failed"
    if not silent and text.startswith(heard_text):
        return _up_to(clause.text, clause.text.index(heard_text) + len(heard_text)), ""
    if silent:
        return "", heard_text
    words, heard_words = list(re.finditer(r"\S+", clause.text)), list(re.finditer(r"\S+", heard_text))
    count = min(len(words), len(heard_words))
    return _up_to(clause.text, words[count - 1].end()), heard_text[heard_words[count - 1].end() :].lstrip()


def _up_to(text: str, end: int) -> str:
    """``text`` up to ``end``, or all of it where no letter or digit follows."""
    return text[:end] if any(map(str.isalnum, text[end:])) else text
