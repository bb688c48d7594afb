"""What speculation cost and saved: work begun before the turn was over, kept or thrown away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from voicetui.events import Basis, Entry
from voicetui.events.orders import STAGED, Cancel, Commit, EndTurn, Generate
from voicetui.events.reply import GenerationCancelled, GenerationEnded, TokensArrived
from voicetui.events.speak import ClauseSynthesized, Discarded
from voicetui.views.breakdown import difference_ms, finite


class Speculation(msgspec.Struct, frozen=True):
    """The speculation of one turn.

    ``attempts``: generations begun before the commit. ``kept``: the committed basis was one of them.
    ``wasted_tokens`` were made for nothing; ``estimated`` where a count is not the tier's own. ``saved_ms``: the
    earlier of audio ready and commit, minus the start of the kept attempt; 0 for a reply that has no sound or was
    taken back.
    """

    attempts: int = 0
    kept: bool = False
    wasted_tokens: int = 0
    saved_ms: float = 0.0
    estimated: bool = False


class Waste(msgspec.Struct, frozen=True):
    """What one stage made for nothing: how often, and how much. ``samples`` at 16 kHz."""

    count: int = 0
    tokens: int = 0
    samples: int = 0
    ms: float = 0.0


class Ledger(msgspec.Struct, frozen=True):
    """Speculation by turn, what was discarded by stage, and the session's sums (``kept`` counts turns).

    The sums hold attempts for speech that never became a turn, too. Ready-made replies of staged gaps are no
    speculation, and no waste.
    """

    turns: dict[int, Speculation]
    discarded: dict[str, Waste]
    attempts: int
    kept: int
    wasted_tokens: int
    saved_ms: float


@dataclass(slots=True)
class _Attempt:
    """One generation, speculative or not."""

    basis: Basis
    started_ms: float | None = None
    speculative: bool = False
    staged: bool = False
    cancelled: bool = False
    audio_ready_ms: float | None = None
    reported_tokens: int | None = None
    estimated: bool = False
    pieces: int = 0
    discarded_tokens: int = 0

    def tokens(self) -> int:
        """What it made: the tier's count where there is one, never less than what was discarded late."""
        made = self.reported_tokens if self.reported_tokens is not None else self.pieces
        return max(made, self.discarded_tokens)


@dataclass(slots=True)
class _Turn:
    committed_ms: float | None = None
    committed: Basis | None = None
    taken_back: bool = False
    attempts: dict[Basis, _Attempt] = field(default_factory=dict)


class LedgerView:
    """Folds a journal to its ledger. ``feed`` is O(1); ``snapshot`` costs only the turns that changed."""

    def __init__(self) -> None:
        self._turns: dict[int, _Turn] = {}
        self._measured: dict[int, Speculation] = {}
        self._discarded: dict[str, Waste] = {}
        self._stale: set[int] = set()

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        at_ms, body = finite(entry.at), entry.body
        match body:
            case Commit():
                turn = self._turn(body.basis.turn)
                turn.committed, turn.committed_ms = body.basis, at_ms
            case EndTurn():
                self._turn(body.turn).taken_back = body.outcome in ("superseded", "cut_off")
            case Discarded():
                self._discard(body)
            case Generate():
                attempt = self._attempt(body.basis)
                attempt.started_ms = at_ms
                attempt.staged = body.tier == STAGED
                attempt.speculative = body.speculative and not attempt.staged
            case Cancel():
                self._attempt(body.basis).cancelled = True
            case TokensArrived():
                self._attempt(body.basis).pieces += sum(1 for token in body.tokens if token.text)
            case GenerationEnded() if body.completion_tokens is not None:
                attempt = self._attempt(body.basis)
                attempt.reported_tokens, attempt.estimated = body.completion_tokens, body.estimated
            case GenerationCancelled():
                self._attempt(body.basis).reported_tokens = body.tokens
            case ClauseSynthesized():
                attempt = self._attempt(body.basis)
                if attempt.audio_ready_ms is None:
                    attempt.audio_ready_ms = at_ms
            case _:
                pass

    def snapshot(self) -> Ledger:
        """The ledger so far."""
        for number in self._stale:
            self._measured[number] = _speculation(self._turns[number])
        self._stale.clear()
        turns = self._measured.values()
        return Ledger(
            turns=dict(sorted(self._measured.items())),
            discarded=dict(self._discarded),
            attempts=sum(turn.attempts for turn in turns),
            kept=sum(turn.kept for turn in turns),
            wasted_tokens=sum(turn.wasted_tokens for turn in turns),
            saved_ms=round(sum(turn.saved_ms for turn in turns), 3),
        )

    def _turn(self, number: int) -> _Turn:
        self._stale.add(number)
        return self._turns.setdefault(number, _Turn())

    def _attempt(self, basis: Basis) -> _Attempt:
        attempts = self._turn(basis.turn).attempts
        return attempts.setdefault(basis, _Attempt(basis))

    def _discard(self, body: Discarded) -> None:
        if self._attempt(body.basis).staged:
            return
        waste = self._discarded.get(body.stage, Waste())
        self._discarded[body.stage] = Waste(
            count=waste.count + 1,
            tokens=waste.tokens + body.tokens,
            samples=waste.samples + body.samples,
            ms=waste.ms + (finite(body.ms) or 0.0),
        )
        self._attempt(body.basis).discarded_tokens += body.tokens


def fold_ledger(entries: Iterable[Entry]) -> Ledger:
    """The ledger of ``entries``."""
    view = LedgerView()
    for entry in entries:
        view.feed(entry)
    return view.snapshot()


def _speculation(turn: _Turn) -> Speculation:
    attempts = [attempt for attempt in turn.attempts.values() if attempt.speculative]
    kept = next((attempt for attempt in attempts if attempt.basis == turn.committed), None)
    wasted = [attempt for attempt in attempts if _wasted(attempt, turn)]
    return Speculation(
        attempts=len(attempts),
        kept=kept is not None,
        wasted_tokens=sum(attempt.tokens() for attempt in wasted),
        saved_ms=_saved_ms(kept, turn) if kept is not None else 0.0,
        estimated=any(attempt.reported_tokens is None or attempt.estimated for attempt in wasted),
    )


def _wasted(attempt: _Attempt, turn: _Turn) -> bool:
    """Whether nobody will hear it: cancelled before the commit, left behind by it, or taken back with it."""
    if attempt.basis == turn.committed:
        return turn.taken_back
    return attempt.cancelled or turn.committed is not None


def _saved_ms(kept: _Attempt, turn: _Turn) -> float:
    if kept.started_ms is None or turn.committed_ms is None or kept.audio_ready_ms is None or turn.taken_back:
        return 0.0
    return max(0.0, difference_ms(min(kept.audio_ready_ms, turn.committed_ms), kept.started_ms))
