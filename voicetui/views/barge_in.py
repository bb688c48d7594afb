"""Speech over the reply: what it was, how soon the reply made way, and how much of it was heard."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

import msgspec

from voicetui.events import Basis, Entry
from voicetui.events.listen import SoundRose
from voicetui.events.orders import IMPORTED, BargeIn, Commit, EndTurn
from voicetui.events.reply import ClauseCut
from voicetui.events.speak import (
    ClauseEnded,
    ClauseStarted,
    PlaybackCut,
    PlaybackDucked,
    PlaybackPaused,
    PlaybackResumed,
)
from voicetui.views.breakdown import difference_ms, finite

_CJK: Final = "\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
_WORD: Final = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")

_ATTACK_MS: Final = 60.0
"""Sound that rose this long before the detector's edge, at most, is the beginning of the same speech: the edge has to
stand out of the room, and its bar is higher where the room was loud lately.
"""
_RISES_KEPT: Final = 64

Kind = Literal["bid", "backchannel", "noise", "key"]


class BargeInFigures(msgspec.Struct, frozen=True, gc=False):
    """Decided speech over an audible reply. Times are ms after its onset, but ``onset_ms`` after the reply's start.

    Its onset is the detector's edge, or where the sound rose that became it, if that is a little earlier.

    ``stop_ms`` is when the reply's last audible sample was at the DAC, None for a reply that went on. ``in_silence``:
    the onset fell where the reply was silent anyway; a reply that stayed silent then has stop 0. ``away_ms`` is how
    long the voice was gone before it came back, 0 where it was only quieter, None where it did not come back.
    Of a call recorded elsewhere nobody knows when, or whether, it was decided, nor the words.
    """

    turn: int
    basis: Basis
    utterance: int
    kind: Kind
    at_ms: float
    onset_ms: float
    ducked_ms: float | None
    stop_ms: float | None
    decided_ms: float | None
    in_silence: bool
    heard_words: int | None
    generated_words: int
    away_ms: float | None

    @property
    def false_interruption(self) -> bool:
        """Whether it was no bid for the floor."""
        return self.kind in ("backchannel", "noise")


@dataclass(slots=True)
class _Episode:
    """From the reply making way until it is cut or comes back. Times on the session clock."""

    ducked_ms: float | None = None
    paused_ms: float | None = None
    order: BargeIn | None = None
    onset_ms: float = 0.0
    decided_ms: float | None = None
    resumed_ms: float | None = None


@dataclass(slots=True)
class _Reply:
    """What is known of one reply's playing."""

    spans: list[tuple[int, float, float | None]] = field(default_factory=list)
    """(clause, start, end) of what was audible, in order."""
    episodes: list[_Episode] = field(default_factory=list)
    cut_ms: float | None = None
    cut: PlaybackCut | None = None
    cut_words: int = 0
    heard_text: str | None = None
    imported: bool = False


class BargeInView:
    """Folds a journal to its barge-ins. ``feed`` is O(1); ``snapshot`` costs only the replies that changed."""

    def __init__(self) -> None:
        self._replies: dict[Basis, _Reply] = {}
        self._measured: dict[Basis, tuple[BargeInFigures, ...]] = {}
        self._stale: set[Basis] = set()
        self._rises_ms: deque[float] = deque(maxlen=_RISES_KEPT)

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        at_ms, body = finite(entry.at), entry.body
        if isinstance(body, Commit):
            self._forget_drafts(body.basis)
            if body.reason == IMPORTED:
                self._replies.setdefault(body.basis, _Reply()).imported = True
        if isinstance(body, SoundRose) and at_ms is not None:
            self._rises_ms.append(at_ms)
        if at_ms is None or not isinstance(
            body,
            ClauseCut | ClauseStarted | ClauseEnded | PlaybackDucked | PlaybackPaused | PlaybackResumed | PlaybackCut
            | BargeIn | EndTurn,
        ):  # fmt: skip
            return
        reply = self._replies.setdefault(body.basis, _Reply())
        self._stale.add(body.basis)
        match body:
            case ClauseCut():
                reply.cut_words += count_words(body.text)
            case ClauseStarted():
                reply.spans.append((body.clause, at_ms, None))
            case ClauseEnded():
                _end_span(reply, body.clause, at_ms)
            case EndTurn():
                reply.heard_text = body.heard_text
            case PlaybackCut():
                reply.cut, reply.cut_ms = body, at_ms
            case _:
                _episode_fact(reply, body, at_ms)
        if isinstance(body, BargeIn):
            reply.episodes[-1].onset_ms = self._onset_ms(body)

    def _onset_ms(self, order: BargeIn) -> float:
        if order.kind == "key":
            return order.onset_ms
        rises_ms = [rise_ms for rise_ms in self._rises_ms if 0.0 <= order.onset_ms - rise_ms <= _ATTACK_MS]
        return min(rises_ms, default=order.onset_ms)

    def snapshot(self) -> dict[int, tuple[BargeInFigures, ...]]:
        """The decided barge-ins by turn, each turn's in order."""
        for basis in self._stale:
            reply = self._replies.get(basis)
            figures = _figures(basis, reply) if reply is not None else ()
            if figures:
                self._measured[basis] = figures
        self._stale.clear()
        found: dict[int, tuple[BargeInFigures, ...]] = {}
        for basis in sorted(self._measured):
            found[basis.turn] = (*found.get(basis.turn, ()), *self._measured[basis])
        return found

    def _forget_drafts(self, committed: Basis) -> None:
        """Other drafts of a committed turn are never heard; replies of turns long over never change."""
        for basis in list(self._replies):
            draft = basis.turn == committed.turn and basis != committed and not self._replies[basis].spans
            if draft or basis.turn < committed.turn - 1:
                self.snapshot()
                del self._replies[basis]


def fold_barge_ins(entries: Iterable[Entry]) -> dict[int, tuple[BargeInFigures, ...]]:
    """The barge-ins in ``entries`` by turn."""
    view = BargeInView()
    for entry in entries:
        view.feed(entry)
    return view.snapshot()


def chief_barge_in(figures: tuple[BargeInFigures, ...]) -> BargeInFigures | None:
    """The one to show where there is room for one: the bid that took the floor, else the first."""
    return next((one for one in figures if not one.false_interruption), figures[0] if figures else None)


def count_words(text: str) -> int:
    """Words as the speaker counts them: runs without spaces that hold a letter or digit; in CJK, characters."""
    return sum(1 for found in _WORD.finditer(text) if any(map(str.isalnum, found.group())))


def _end_span(reply: _Reply, clause: int, at_ms: float) -> None:
    for place in range(len(reply.spans) - 1, -1, -1):
        number, start_ms, end_ms = reply.spans[place]
        if number == clause and end_ms is None:
            reply.spans[place] = (number, start_ms, max(start_ms, at_ms))
            return


def _episode_fact(
    reply: _Reply, body: PlaybackDucked | PlaybackPaused | PlaybackResumed | BargeIn, at_ms: float
) -> None:
    """Put the fact into the episode that is still open, or begin one."""
    last = reply.episodes[-1] if reply.episodes else None
    if last is None or last.resumed_ms is not None:
        if isinstance(body, PlaybackResumed):
            return
        last = _Episode()
        reply.episodes.append(last)
    elif last.order is not None and isinstance(body, BargeIn):
        last = _Episode(ducked_ms=last.ducked_ms, paused_ms=last.paused_ms)
        reply.episodes.append(last)
    match body:
        case PlaybackDucked():
            last.ducked_ms = at_ms if last.ducked_ms is None else last.ducked_ms
        case PlaybackPaused():
            last.paused_ms = at_ms if last.paused_ms is None else last.paused_ms
        case PlaybackResumed():
            last.resumed_ms = at_ms
        case BargeIn():
            last.order, last.decided_ms = body, at_ms


def _figures(basis: Basis, reply: _Reply) -> tuple[BargeInFigures, ...]:
    start_ms = min((start_ms for clause, start_ms, _ in reply.spans if clause >= 0), default=None)
    if start_ms is None:
        return ()
    heard = count_words(reply.heard_text) if reply.heard_text is not None else None
    cut = reply.cut
    found = []
    for episode in reply.episodes:
        order, decided_ms = episode.order, episode.decided_ms
        if order is None or decided_ms is None or finite(order.onset_ms) is None:
            continue
        onset_ms = episode.onset_ms
        bid = order.kind in ("bid", "key")
        in_silence = _silent_at(reply, onset_ms)
        found.append(
            BargeInFigures(
                turn=basis.turn,
                basis=basis,
                utterance=order.utterance,
                kind=order.kind,
                at_ms=onset_ms,
                onset_ms=difference_ms(onset_ms, start_ms),
                ducked_ms=difference_ms(episode.ducked_ms, onset_ms) if episode.ducked_ms is not None else None,
                stop_ms=_stop_ms(reply, episode, onset_ms) if bid else None,
                decided_ms=None if reply.imported else difference_ms(decided_ms, onset_ms),
                in_silence=in_silence,
                heard_words=None if reply.imported else cut.heard_words if cut is not None else heard,
                generated_words=max(cut.cut_words if cut is not None else 0, reply.cut_words),
                away_ms=None if bid else _away_ms(episode),
            )
        )
    return tuple(found)


def _stop_ms(reply: _Reply, episode: _Episode, onset_ms: float) -> float | None:
    """From the onset to the reply's last audible sample: where it was held for good, else where it was cut."""
    if reply.cut_ms is None and episode.paused_ms is None:
        return None
    silent_ms = episode.paused_ms if episode.paused_ms is not None else reply.cut_ms
    assert silent_ms is not None
    heard_until = [end_ms for _, _, end_ms in reply.spans]
    if heard_until and None not in heard_until:
        last_end_ms = max(end_ms for end_ms in heard_until if end_ms is not None)
        silent_ms = min(silent_ms, last_end_ms)
    return max(0.0, difference_ms(silent_ms, onset_ms))


def _silent_at(reply: _Reply, onset_ms: float) -> bool:
    """Whether no clause was audible at the onset; what was held or last heard before it was silent too."""
    held = any(
        episode.paused_ms is not None
        and episode.paused_ms <= onset_ms
        and (episode.resumed_ms is None or onset_ms < episode.resumed_ms)
        for episode in reply.episodes
    )
    if reply.cut_ms is not None and reply.cut_ms <= onset_ms:
        return True
    audible = any(
        start_ms <= onset_ms and (end_ms is None or onset_ms <= end_ms) for _, start_ms, end_ms in reply.spans
    )
    return held or not audible


def _away_ms(episode: _Episode) -> float | None:
    if episode.resumed_ms is None:
        return None
    return max(0.0, difference_ms(episode.resumed_ms, episode.paused_ms)) if episode.paused_ms is not None else 0.0
