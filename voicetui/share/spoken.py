"""Who said what when, on the clock of the two recorded tracks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Literal

import msgspec

from voicetui.events import Basis, Entry
from voicetui.events.listen import SpeechPaused, SpeechStarted
from voicetui.events.orders import STAGED, Commit, OpenUtterance, Revise
from voicetui.events.sound import RATE_HZ, ClockMapped
from voicetui.events.speak import ClauseEnded, ClauseStarted, PlaybackCut
from voicetui.views.breakdown import finite
from voicetui.views.transcript import ClauseLine, Transcript, TranscriptView, UserLine

Speaker = Literal["User", "voicetui"]


class Spoken(msgspec.Struct, frozen=True):
    """A stretch of one speaker. Times in ms on the tracks (sample / 16); None for what was not heard, or typed.

    ``text`` was said or heard, ``unheard`` was meant to follow. ``note`` says what is special about it.
    ``wordless``: there was speech, and no words of it are known.
    """

    speaker: Speaker
    turn: int | None
    start_ms: float | None
    end_ms: float | None
    text: str
    unheard: str = ""
    note: str = ""
    wordless: bool = False


class TrackClock:
    """Maps session ms to ms on the tracks, by the journal's pairings of samples with the clock; without any, itself."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        pairs = [(entry.at, entry.body.sample) for entry in entries if isinstance(entry.body, ClockMapped)]
        known = sorted(pair for pair in pairs if finite(pair[0]) is not None)
        self._at_ms = [at_ms for at_ms, _ in known]
        self._track_ms = [sample * 1000 / RATE_HZ for _, sample in known]

    def track_ms(self, at_ms: float) -> float:
        """Where on the tracks ``at_ms`` is; never below 0."""
        if not self._at_ms:
            return max(0.0, at_ms)
        place = max(0, bisect_right(self._at_ms, at_ms) - 1)
        return max(0.0, self._track_ms[place] + at_ms - self._at_ms[place])


def spoken(entries: Iterable[Entry]) -> list[Spoken]:
    """Everything said by anyone, each utterance and each clause by itself, in the order it began."""
    entries = tuple(entries)
    clock, times, view = TrackClock(entries), _Times(), TranscriptView()
    for entry in entries:
        view.feed(entry)
        times.feed(entry)
    lines = [*_user_lines(view.snapshot(), times, clock), *_reply_lines(view.snapshot(), times, clock)]
    return [line for _, line in sorted(lines, key=lambda pair: pair[0])]


class _Times:
    """When utterances and clauses were heard, and turns committed: [start, end] in session ms.

    ``words`` are an utterance's own; its turn's text may begin with those of one before that was taken back.
    """

    def __init__(self) -> None:
        self.users: dict[int, list[float | None]] = {}
        self.clauses: dict[tuple[Basis, int], list[float | None]] = {}
        self.committed: dict[int, float] = {}
        self.words: dict[int, str] = {}
        self.staged: set[int] = set()
        self._onset_ms: float | None = None
        self._utterance: int | None = None

    def feed(self, entry: Entry) -> None:
        at_ms, body = finite(entry.at), entry.body
        if at_ms is None:
            return
        match body:
            case SpeechStarted():
                self._onset_ms = at_ms
            case OpenUtterance():
                self._utterance = body.utterance
                self.users[body.utterance] = [at_ms if self._onset_ms is None else self._onset_ms, None]
            case SpeechPaused() if self._utterance is not None:
                self.users[self._utterance][1] = at_ms
            case Revise():
                self.words[body.utterance] = body.text
            case Commit():
                self.committed[body.basis.turn] = at_ms
                if body.reason == STAGED:
                    self.staged.add(body.basis.turn)
            case ClauseStarted():
                self.clauses.setdefault((body.basis, body.clause), [at_ms, None])
            case ClauseEnded() if (body.basis, body.clause) in self.clauses:
                self.clauses[body.basis, body.clause][1] = at_ms
            case PlaybackCut():
                for (basis, _), times in self.clauses.items():
                    if basis == body.basis and times[1] is None:
                        times[1] = at_ms
            case _:
                pass


def _user_lines(transcript: Transcript, times: _Times, clock: TrackClock) -> Iterable[tuple[float, Spoken]]:
    for line in transcript.lines:
        if not isinstance(line, UserLine):
            continue
        start_ms, end_ms = times.users.get(line.utterance, [None, None]) if line.utterance is not None else [None, None]
        text = (times.words.get(line.utterance) if line.utterance is not None else None) or line.text
        if start_ms is None and not text:
            continue
        note = f"no turn: {line.reason}" if line.state == "rejected" else "typed" if line.utterance is None else ""
        on_track = [None if ms is None else clock.track_ms(ms) for ms in (start_ms, end_ms)]
        wordless = not text and line.state == "committed"
        yield line.at_ms, Spoken("User", line.turn, on_track[0], on_track[1], text, note=note, wordless=wordless)


def _reply_lines(transcript: Transcript, times: _Times, clock: TrackClock) -> Iterable[tuple[float, Spoken]]:
    replies = transcript.replies()
    shown: set[tuple[Basis, int]] = set()
    for (basis, number), (start_ms, end_ms) in times.clauses.items():
        reply = replies.get(basis.turn)
        clauses = {clause.clause: clause for clause in reply.clauses} if reply and reply.basis == basis else {}
        clause = clauses.get(number)
        shown.add((basis, number))
        assert start_ms is not None
        track_end_ms = None if end_ms is None else clock.track_ms(end_ms)
        note = "staged gap" if basis.turn in times.staged else ""
        line = Spoken("voicetui", basis.turn, clock.track_ms(start_ms), track_end_ms, "", "", note, clause is None)
        if clause is not None:
            line = msgspec.structs.replace(line, text=clause.heard.strip(), unheard=clause.unheard.strip())
        yield start_ms, line
    for turn, reply in replies.items():
        left = [clause for clause in reply.clauses if (reply.basis, clause.clause) not in shown and clause.text.strip()]
        if left:
            heard_ms = [ms[0] for (basis, _), ms in times.clauses.items() if basis == reply.basis and ms[0] is not None]
            at_ms = max([times.committed.get(turn, 0.0), *heard_ms])
            yield at_ms, Spoken("voicetui", turn, None, None, "", unheard=_joined(left))


def _joined(clauses: Iterable[ClauseLine]) -> str:
    return " ".join(clause.text.strip() for clause in clauses)
