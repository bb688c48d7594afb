"""Golden journals: conversations written as the session would write them, with every time chosen by the test.

A builder keeps a session clock. Each method adds a piece of conversation and moves the clock behind it::

    journal = JournalBuilder().opened().ready()
    journal.turn("What time is it?", ["It is noon. ", "Lunch is ready."])
    journal.barge_in("Tell me a story.", ["Once upon a time there was a king. ", "He was old."], onset_ms=900)
    journal.closed()
    journal.entries
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from voicetui.events import AnyFact, AnyOrder, Basis, Entry, listen, orders, reply, session, sound, speak
from voicetui.journal.codec import FORMAT, Header, encode

WORD_MS = 300.0
"""How long a spoken word takes."""


@dataclass(frozen=True)
class Timing:
    """When things of a turn happen, ms after the end of the user's speech; ``device`` is from play order to ear.

    ``asked`` is when the final transcript is asked for: at the noticed pause, or later where the silence is waited for.
    A commit after the transcript makes the generation speculative.
    """

    speech: float = 1200.0
    noticed: float = 100.0
    asked: float = 100.0
    transcript: float = 190.0
    committed: float = 450.0
    token: float = 230.0
    clause: float = 310.0
    audio: float = 400.0
    device: float = 30.0
    uncertainty: float = 5.0


COMMIT_LATE = Timing(committed=450.0)
COMMIT_EARLY = Timing(committed=250.0)
SEQUENTIAL = Timing(asked=600, transcript=700, committed=700, token=740, clause=820, audio=910)


@dataclass
class Item:
    """A record, the time of its source, and when it reaches the journal."""

    when: float
    at: float
    body: AnyFact | AnyOrder


@dataclass(frozen=True)
class TurnTimes:
    """Where a turn lies on the session clock."""

    turn: int
    utterance: int | None
    basis: Basis
    onset: float
    user_end: float
    committed: float
    reply_start: float
    reply_end: float


class JournalBuilder:
    """Writes a conversation entry by entry. ``times`` says where each turn lies."""

    def __init__(self, start_ms: float = 0.0) -> None:
        self.entries: list[Entry] = []
        self.now_ms = start_ms
        self.times: dict[int, TurnTimes] = {}
        self._turn = self._utterance = self._request = self._wake = 0
        self._tier, self._carried = "local", ""

    # ---- single records

    def add(self, body: AnyFact | AnyOrder, at_ms: float | None = None) -> Self:
        """Append one record, now or with the time given."""
        self.entries.append(Entry(len(self.entries), self.now_ms if at_ms is None else at_ms, body))
        return self

    def wait(self, ms: float) -> Self:
        """Let time pass."""
        self.now_ms += ms
        return self

    def opened(self, tier: str = "local", *, simulated: bool = False, overlap: session.Overlap = "full") -> Self:
        """The session opens with one tier (and another named "other"), and its devices."""
        self._tier = tier
        kind = "simulated" if simulated else "local"
        tiers = (session.TierFacts(tier, kind, "model", simulated), session.TierFacts("other", "openai", "m"))
        config: dict[str, object] = {"policy": {}}
        started, program = "2030-01-01T00:00:00Z", "voicetui"
        self.add(session.SessionOpened("golden", started, program, tier, tiers, overlap, "full", "test", config))
        self.add(sound.DeviceOpened("output", "null speaker", "test", 48000, 1, 30.0, "paced"))
        return self.add(sound.DeviceOpened("input", "file", "test", 16000, 1, 10.0, "paced"))

    def ready(self) -> Self:
        """The models are warm."""
        return self.wait(500).add(session.Ready({"transcribe": 480.0, "tier": 300.0}))

    def closed(self, reason: str = "user") -> Self:
        """The session ends."""
        return self.add(session.SessionClosed(reason))

    def write(self, path: Path) -> Path:
        """Write the journal as a file."""
        lines = [encode(Header(FORMAT, "voicetui", "golden")), *map(encode, self.entries)]
        path.write_bytes(b"\n".join(lines) + b"\n")
        return path

    # ---- whole turns

    def turn(self, user: str, clauses: Sequence[str], timing: Timing = COMMIT_EARLY, *, dropped: int = 0) -> Self:
        """A spoken turn whose reply is heard to its end. ``dropped`` speculations on other words came before."""
        items, times = self._spoken(user, clauses, timing, drafts=dropped)
        self._end(items, times, "completed", "".join(clauses).strip())
        return self._write(items, times.reply_end)

    def typed(self, user: str, clauses: Sequence[str], timing: Timing = COMMIT_EARLY) -> Self:
        """A typed turn; the times of ``timing`` count from the typing, which commits at once."""
        timing = replace(timing, transcript=0, committed=0)
        self._turn += 1
        basis, now = Basis(self._turn, 0, 1), self.now_ms
        items = [Item(now, now, session.Said(user)), Item(now, now, orders.Commit(basis, None, user, "typed"))]
        self._generate(items, basis, user, now, speculative=False)
        start, end = self._reply(items, basis, clauses, timing, now)
        times = self.times[self._turn] = TurnTimes(self._turn, None, basis, now, now, now, start, end)
        self._end(items, times, "completed", "".join(clauses).strip())
        return self._write(items, end)

    def barge_in(
        self,
        user: str,
        clauses: Sequence[str],
        *,
        onset_ms: float = 900.0,
        ducked: float = 50.0,
        stop: float = 230.0,
        decided: float = 560.0,
        said: str = "Stop, what about tomorrow?",
        answer: Sequence[str] = ("Tomorrow is fine.",),
        timing: Timing = COMMIT_EARLY,
    ) -> Self:
        """A turn whose reply is interrupted ``onset_ms`` after it began, and the turn that the interruption became."""
        items, times = self._spoken(user, clauses, timing)
        onset = times.reply_start + onset_ms
        items = [item for item in items if item.when <= onset + decided and not _played_after(item, onset + stop)]
        utterance = self._make_way(items, times, onset, ducked, stop, f"{said.split()[0]}", decided)
        basis, decided_at = times.basis, onset + decided
        heard, count = _heard(clauses, onset + stop - times.reply_start)
        cancel, cut = orders.Cancel(basis, "the user spoke"), orders.Cut(basis)
        self._put(items, decided_at, orders.BargeIn(basis, utterance, "bid", onset), cancel, cut)
        cut_words = sum(len(clause.split()) for clause in clauses)
        heard_ms = onset + stop - times.reply_start
        silent = speak.PlaybackCut(basis, heard_ms, heard, count, cut_words, dropped_samples=4800)
        items.append(Item(decided_at + 20, onset + stop, silent))
        if not any(isinstance(item.body, reply.GenerationEnded) for item in items):
            self._put(items, decided_at + 21, reply.GenerationCancelled(basis, tokens=count + 2, closed_ms=12.0))
        self._put(items, decided_at + 22, orders.EndTurn(basis.turn, basis, "interrupted", heard, "the user spoke"))
        self._write(items, onset)
        items, times = self._spoken(said, answer, replace(timing, speech=decided + 400), opened=utterance)
        self._end(items, times, "completed", "".join(answer).strip())
        return self._write(items, times.reply_end)

    def false_interruption(
        self,
        user: str,
        clauses: Sequence[str],
        *,
        kind: str = "backchannel",
        text: str = "mm-hmm",
        onset_ms: float = 900.0,
        ducked: float = 50.0,
        stop: float = 230.0,
        decided: float = 700.0,
        timing: Timing = COMMIT_EARLY,
    ) -> Self:
        """A turn whose reply is held for a backchannel or noise, comes back 40 ms after the decision, and is heard."""
        items, times = self._spoken(user, clauses, timing)
        onset, basis = times.reply_start + onset_ms, times.basis
        back = onset + decided + 40
        for item in items:
            if _played_after(item, onset + stop):
                item.at += back - (onset + stop)
                item.when = item.at
        times = self.times[times.turn] = replace(times, reply_end=times.reply_end + back - (onset + stop))
        utterance = self._make_way(items, times, onset, ducked, stop, "", decided)
        order = orders.BargeIn(basis, utterance, "backchannel" if kind == "backchannel" else "noise", onset)
        self._put(items, onset + decided, orders.Reject(utterance, kind, text), order, orders.Resume(basis))
        self._put(items, back, speak.PlaybackResumed(basis))
        self._end(items, times, "completed", "".join(clauses).strip())
        return self._write(items, times.reply_end)

    def cut_off(self, user: str, rest: str, clauses: Sequence[str], *, resumed: float = 120.0) -> Self:
        """A turn committed too early: the user goes on ``resumed`` ms after the commit, before anything is heard."""
        return self._taken_back(user, rest, clauses, "cut_off", resumed)

    def superseded(self, user: str, rest: str, clauses: Sequence[str], *, resumed: float = 120.0) -> Self:
        """A turn whose user speaks again before the reply is heard, as something new."""
        return self._taken_back(user, rest, clauses, "superseded", resumed)

    def rejected(self, reason: str = "noise", text: str = "", speech_ms: float = 200.0) -> Self:
        """An utterance that is no turn."""
        items: list[Item] = []
        utterance = self._open(items, self.now_ms, over_reply=False)
        user_end = self.now_ms + speech_ms
        self._pause(items, user_end, 100, 5)
        self._put(items, user_end + 500, orders.Reject(utterance, reason, text))
        return self._write(items, user_end + 500)

    def failed(self, user: str, message: str = "the tier did not answer") -> Self:
        """A turn whose tier fails."""
        return self._unheard(user, "failed", message)

    def unanswered(self, user: str) -> Self:
        """A turn whose answer has nothing that can be spoken."""
        return self._unheard(user, "unanswered", "the answer has nothing that can be spoken")

    # ---- pieces

    def _write(self, items: list[Item], until_ms: float) -> Self:
        """Append the items in the order they reach the journal; the clock moves half a second behind ``until_ms``."""
        for item in sorted(items, key=lambda item: item.when):
            self.add(item.body, item.at)
        self.now_ms = until_ms + 500
        return self

    def _put(self, items: list[Item], at: float, *bodies: AnyFact | AnyOrder) -> None:
        items.extend(Item(at, at, body) for body in bodies)

    def _end(self, items: list[Item], times: TurnTimes, outcome: str, heard: str, reason: str = "") -> None:
        end = orders.EndTurn(times.turn, times.basis, outcome, heard, reason)  # type: ignore[arg-type]
        self._put(items, times.reply_end, end)

    def _open(self, items: list[Item], onset: float, over_reply: bool) -> int:
        self._utterance += 1
        items.append(Item(onset + 60, onset, listen.SpeechStarted(int(onset * 16), onset + 60)))
        self._put(items, onset + 60, orders.OpenUtterance(self._utterance, self._turn + 1, int(onset * 16), over_reply))
        return self._utterance

    def _pause(self, items: list[Item], end: float, noticed: float, uncertainty: float) -> None:
        fact = listen.SpeechPaused(int(end * 16), uncertainty, end + noticed, -30.0, -60.0)
        items.append(Item(end + noticed, end, fact))

    def _transcribe(self, items: list[Item], utterance: int, text: str, asked: float, at: float, final: bool) -> None:
        self._request += 1
        end_sample = int(asked * 16) if final else None
        self._put(items, asked, orders.Transcribe(utterance, self._request, 0, end_sample, final))
        sound, evidence = (0, int(asked * 16)), listen.Evidence()
        self._put(items, at, listen.Transcribed(utterance, self._request, text, final, *sound, asked, 0.0, evidence))

    def _woke(self, items: list[Item], ordered: float, at: float, why: str) -> None:
        self._wake += 1
        self._put(items, ordered, orders.WakeAt(self._wake, at, why))
        self._put(items, at, session.Woke(self._wake))

    def _generate(self, items: list[Item], basis: Basis, user: str, at: float, speculative: bool) -> None:
        self._put(items, at, orders.Generate(basis, self._tier, (orders.Message("user", user),), speculative))
        self._put(items, at, reply.ContextReady(basis, 1, at), reply.RequestSent(basis, self._tier, "reused"))

    def _spoken(
        self, user: str, clauses: Sequence[str], timing: Timing, *, drafts: int = 0, opened: int | None = None
    ) -> tuple[list[Item], TurnTimes]:
        """The user's speech, its commit and the whole reply, without the end of the turn."""
        items: list[Item] = []
        onset = self.now_ms if opened is None else self.now_ms - 500
        utterance = self._open(items, onset, over_reply=False) if opened is None else opened
        end, words = onset + timing.speech, user.split()
        first_half = " ".join(words[: len(words) // 2])
        if timing.speech > 900 and first_half and opened is None:
            self._transcribe(items, utterance, first_half, onset + 700, onset + 790, final=False)
            self._put(items, onset + 790, orders.Revise(utterance, 1, first_half, False))
        turn = self._turn = self._turn + 1
        for number in range(1, drafts + 1):
            self._draft(items, Basis(turn, number, number), first_half, onset + 700 + 20 * number)
        basis = Basis(turn, drafts + 2, drafts + 1)
        self._pause(items, end, timing.noticed, timing.uncertainty)
        if timing.asked > timing.noticed:
            self._woke(items, end + timing.noticed, end + timing.asked, "endpoint")
        self._transcribe(items, utterance, user, end + timing.asked, end + timing.transcript, final=True)
        self._put(items, end + timing.transcript, orders.Revise(utterance, basis.revision, user, True))
        speculative, committed = timing.committed > timing.transcript, end + timing.committed
        text, self._carried = f"{self._carried} {user}".strip(), ""
        if speculative:
            self._generate(items, basis, text, end + timing.transcript, speculative=True)
            self._woke(items, end + timing.noticed, committed, "endpoint")
        self._put(items, committed, orders.Commit(basis, utterance, text, "silence", timing.committed))
        if not speculative:
            self._generate(items, basis, text, committed, speculative=False)
        start, reply_end = self._reply(items, basis, clauses, timing, end)
        self.times[turn] = TurnTimes(turn, utterance, basis, onset, end, committed, start, reply_end)
        return items, self.times[turn]

    def _draft(self, items: list[Item], basis: Basis, user: str, at: float) -> None:
        """A speculation that is dropped 15 ms after it began, with 3 tokens and some sound made."""
        self._generate(items, basis, user, at, speculative=True)
        self._put(items, at + 10, reply.TokensArrived(basis, (reply.TimedToken("Well, so, ", at + 10),)))
        self._put(items, at + 15, orders.Cancel(basis, "words changed"), reply.GenerationCancelled(basis, 3, 2.0))
        self._put(items, at + 16, speak.Discarded(basis, "synthesize", samples=1600, ms=20.0, reason="words changed"))

    def _reply(
        self, items: list[Item], basis: Basis, clauses: Sequence[str], timing: Timing, end: float
    ) -> tuple[float, float]:
        """Tokens, clauses and sound of a reply; when it is first and last heard."""
        committed, heard_until, start = end + timing.committed, 0.0, 0.0
        self._put(items, end + timing.token, reply.FirstByte(basis))
        for number, clause in enumerate(clauses):
            cut, audio = end + timing.clause + 60 * number, end + timing.audio + 120 * number
            first = end + timing.token if number == 0 else cut - 50
            pieces = tuple(reply.TimedToken(f"{word} ", first + 5 * place) for place, word in enumerate(clause.split()))
            self._put(items, first, reply.TokensArrived(basis, pieces))
            spoken = clause.strip()
            self._put(items, cut, reply.ClauseCut(basis, number, clause, spoken))
            self._put(items, cut, orders.Synthesize(basis, number, spoken))
            length = WORD_MS * len(clause.split())
            made_from = cut if number == 0 else audio - 60
            self._put(items, audio, speak.ClauseSynthesized(basis, number, made_from, audio, 0.0, 10.0, length))
            ordered = max(audio, committed)
            self._put(items, ordered, orders.Play(basis, number, clause))
            heard_from = max(heard_until, ordered + timing.device)
            start, heard_until = heard_from if number == 0 else start, heard_from + length
            self._put(items, heard_from, speak.ClauseStarted(basis, number))
            self._put(items, heard_until, speak.ClauseEnded(basis, number))
        tokens = sum(len(clause.split()) for clause in clauses)
        ended = end + timing.clause + 60 * len(clauses)
        self._put(items, ended, reply.GenerationEnded(basis, "complete", len(clauses), 40, tokens, estimated=False))
        self._put(items, max(ended, start), orders.FinishPlayback(basis))
        self._put(items, heard_until, speak.PlaybackFinished(basis))
        return start, heard_until

    def _make_way(
        self, items: list[Item], times: TurnTimes, onset: float, ducked: float, stop: float, word: str, decided: float
    ) -> int:
        """Speech over the reply: it is ducked, then held; with ``word`` a partial transcript decides."""
        basis = times.basis
        utterance = self._open(items, onset, over_reply=True)
        self._put(items, onset + 60, orders.Duck(basis))
        items.append(Item(onset + 70, onset + ducked, speak.PlaybackDucked(basis)))
        self._woke(items, onset + 60, onset + 200, "bid_pause")
        self._put(items, onset + 200, orders.Pause(basis))
        items.append(Item(onset + 240, onset + stop, speak.PlaybackPaused(basis, 0, onset + stop - times.reply_start)))
        if word:
            self._transcribe(items, utterance, word, onset + 450, onset + decided, final=False)
            self._put(items, onset + decided, orders.Revise(utterance, 1, word, False))
        else:
            end = onset + 350
            self._pause(items, end, 100, 5)
        return utterance

    def _taken_back(self, user: str, rest: str, clauses: Sequence[str], outcome: str, resumed: float) -> Self:
        timing = replace(COMMIT_EARLY, audio=900)
        items, times = self._spoken(user, clauses, timing)
        onset = times.committed + resumed
        items = [item for item in items if item.when <= onset + 60]
        utterance = self._open(items, onset, over_reply=False)
        basis, seen = times.basis, onset + 400
        self._transcribe(items, utterance, rest, onset + 310, seen, final=False)
        self._put(items, seen, orders.Revise(utterance, 1, rest, False), orders.Cancel(basis, "the user spoke"))
        self._put(items, seen, orders.EndTurn(basis.turn, basis, outcome, "", "the user spoke"))  # type: ignore[arg-type]
        self._put(items, seen + 15, reply.GenerationCancelled(basis, tokens=6, closed_ms=15.0))
        self._write(items, onset)
        self._carried = user
        items, times = self._spoken(rest, clauses, COMMIT_EARLY, opened=utterance)
        self._end(items, times, "completed", "".join(clauses).strip())
        return self._write(items, times.reply_end)

    def _unheard(self, user: str, outcome: str, message: str) -> Self:
        items, times = self._spoken(user, [], COMMIT_EARLY)
        ended = times.user_end + 500
        played = orders.FinishPlayback | speak.PlaybackFinished | reply.GenerationEnded
        items = [item for item in items if not isinstance(item.body, played)]
        if outcome == "failed":
            items = [item for item in items if not isinstance(item.body, reply.FirstByte)]
            self._put(items, ended, reply.GenerationFailed(times.basis, "connect", message, "Check the network."))
        else:
            self._put(items, ended, reply.GenerationEnded(times.basis, "complete", 0, 40, 2, estimated=True))
        self._end(items, replace(times, reply_end=ended), outcome, "", message)
        return self._write(items, ended)


def _played_after(item: Item, silent: float) -> bool:
    return isinstance(item.body, speak.ClauseStarted | speak.ClauseEnded | speak.PlaybackFinished) and item.at > silent


def _heard(clauses: Sequence[str], heard_ms: float) -> tuple[str, int]:
    """The words heard of a reply after so many milliseconds of it, a word counting from its middle."""
    count = int((heard_ms + WORD_MS / 2) // WORD_MS)
    words = "".join(clauses).split()[:count]
    return " ".join(words), len(words)
