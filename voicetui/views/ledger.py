"""What speculation cost and saved: work begun before the turn was over, kept or thrown away."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from voicetui.events import Basis, Entry
from voicetui.events.orders import STAGED, Cancel, Commit, EndTurn, Generate
from voicetui.events.reply import GenerationCancelled, GenerationEnded, TokensArrived
from voicetui.events.session import Overlap, OverlapChosen, Price, SessionOpened
from voicetui.events.speak import ClauseBegun, ClauseSynthesized, Discarded
from voicetui.views.breakdown import difference_ms, finite
from voicetui.views.partials import Partials, PartialsFold
from voicetui.views.prewarm import PrewarmFold, Prewarming
from voicetui.views.retrieval import Retrieval, RetrievalFold


class Waste(msgspec.Struct, frozen=True):
    """What one stage made for nothing: how often, and how much. ``samples`` at 16 kHz."""

    count: int = 0
    tokens: int = 0
    samples: int = 0
    ms: float = 0.0


class Speculation(msgspec.Struct, frozen=True, gc=False):
    """The speculation of one turn.

    ``tried``: a spoken turn that allowed it. ``attempts``: generations begun before the commit. ``kept``: the committed
    basis was one of them. ``wasted_tokens`` were made for nothing, in ``wasted_ms`` of work (generating from the order
    to the end, and synthesis); ``estimated`` where a count is not the tier's own. ``saved_ms``: the earlier of audio
    ready and commit, minus the start of the kept attempt; 0 for a reply that has no sound or was taken back.
    ``used_tokens`` are those of the reply that stands. ``usd`` is what all its generations cost, ``wasted_usd`` those
    made for nothing; None where no tier of it has a price. ``discarded``: what was dropped, by stage, whether
    speculative or not.
    """

    attempts: int = 0
    kept: bool = False
    wasted_tokens: int = 0
    saved_ms: float = 0.0
    estimated: bool = False
    wasted_ms: float = 0.0
    used_tokens: int = 0
    usd: float | None = None
    wasted_usd: float | None = None
    discarded: dict[str, Waste] = {}
    tried: bool = False


class Ledger(msgspec.Struct, frozen=True):
    """Speculation by turn, what was discarded by stage, and the session's sums (``kept`` counts turns).

    The sums hold attempts for speech that never became a turn, too. Ready-made replies of staged gaps are no
    speculation, and no waste. ``tried`` counts the spoken turns that allowed speculation; ``used_tokens`` are theirs.
    ``tokens_per_100_ms`` is the rate of exchange: wasted tokens for each 100 ms saved; None where nothing was saved.
    The two sums of money are USD for 1000 turns like those that were tried, for all generations and for the wasted ones
    alone; None where no tier used has a price.
    """

    turns: dict[int, Speculation]
    discarded: dict[str, Waste]
    attempts: int
    kept: int
    wasted_tokens: int
    saved_ms: float
    tried: int = 0
    wasted_ms: float = 0.0
    used_tokens: int = 0
    estimated: bool = False
    tokens_per_100_ms: float | None = None
    usd_per_1000_turns: float | None = None
    wasted_usd_per_1000_turns: float | None = None
    prewarm: Prewarming = Prewarming()
    retrieval: Retrieval = Retrieval()
    partials: Partials = Partials()


_CHARS_PER_TOKEN = 4.0
"""English text with the tokenizers in use."""


@dataclass(slots=True)
class _Attempt:
    """One generation, speculative or not."""

    basis: Basis
    started_ms: float | None = None
    ended_ms: float | None = None
    speculative: bool = False
    staged: bool = False
    cancelled: bool = False
    audio_ready_ms: float | None = None
    reported_tokens: int | None = None
    estimated: bool = False
    pieces: int = 0
    discarded_tokens: int = 0
    synthesized_ms: float = 0.0
    discarded_ms: float = 0.0
    price: Price | None = None
    prompt_chars: int = 0
    prompt_tokens: int | None = None

    def tokens(self) -> int:
        """What it made: the tier's count where there is one, never less than what was discarded late."""
        made = self.reported_tokens if self.reported_tokens is not None else self.pieces
        return max(made, self.discarded_tokens)

    def work_ms(self) -> float:
        """How long was worked on it. Sound that was made and then dropped is told of twice."""
        generated_ms = 0.0
        if self.started_ms is not None and self.ended_ms is not None:
            generated_ms = max(0.0, difference_ms(self.ended_ms, self.started_ms))
        return generated_ms + max(self.synthesized_ms, self.discarded_ms)

    def usd(self) -> float | None:
        """What the tier asks for it; a prompt the tier did not count is guessed from its letters."""
        if self.price is None:
            return None
        prompt = self.prompt_tokens if self.prompt_tokens is not None else self.prompt_chars / _CHARS_PER_TOKEN
        return (prompt * self.price.input + self.tokens() * self.price.output) / 1e6


@dataclass(slots=True)
class _Turn:
    committed_ms: float | None = None
    committed: Basis | None = None
    tried: bool = False
    taken_back: bool = False
    attempts: dict[Basis, _Attempt] = field(default_factory=dict)
    discarded: dict[str, Waste] = field(default_factory=dict)


@dataclass(slots=True)
class _Sums:
    """What the turns come to. Times are whole microseconds, so that a turn can be taken out again without a trace."""

    attempts: int = 0
    kept: int = 0
    wasted_tokens: int = 0
    saved_us: int = 0
    tried: int = 0
    wasted_us: int = 0
    used_tokens: int = 0
    estimated: int = 0
    priced: int = 0

    def add(self, turn: Speculation, times: int) -> None:
        """Put a turn in, or (-1 times) take it out."""
        self.attempts += times * turn.attempts
        self.kept += times * turn.kept
        self.wasted_tokens += times * turn.wasted_tokens
        self.saved_us += times * round(turn.saved_ms * 1000)
        self.tried += times * turn.tried
        self.wasted_us += times * round(turn.wasted_ms * 1000)
        self.used_tokens += times * turn.used_tokens * turn.tried
        self.estimated += times * turn.estimated
        self.priced += times * (turn.usd is not None)


class LedgerView:
    """Folds a journal to its ledger. ``feed`` is O(1); ``snapshot`` costs only the turns that changed."""

    def __init__(self) -> None:
        self._turns: dict[int, _Turn] = {}
        self._measured: dict[int, Speculation] = {}
        self._sums = _Sums()
        self._discarded: dict[str, Waste] = {}
        self._stale: set[int] = set()
        self._prices: dict[str, Price | None] = {}
        self._overlap: Overlap = "full"
        self._prewarm = PrewarmFold()
        self._retrieval = RetrievalFold()
        self._partials = PartialsFold()

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        at_ms, body = finite(entry.at), entry.body
        self._prewarm.feed(entry)
        self._retrieval.feed(entry)
        self._partials.feed(entry)
        match body:
            case SessionOpened():
                self._overlap = body.overlap
                self._prices = {tier.name: tier.price for tier in body.tiers}
            case OverlapChosen():
                self._overlap = body.overlap
            case Commit():
                turn = self._turn(body.basis.turn)
                turn.committed, turn.committed_ms = body.basis, at_ms
                turn.tried = self._overlap == "full" and body.utterance is not None and body.reason != STAGED
            case EndTurn():
                self._turn(body.turn).taken_back = body.outcome in ("superseded", "cut_off")
            case Discarded():
                self._discard(body)
            case Generate():
                self._generate(body, at_ms)
            case Cancel():
                attempt = self._attempt(body.basis)
                attempt.cancelled = True
                attempt.ended_ms = at_ms if attempt.ended_ms is None else attempt.ended_ms
            case ClauseBegun() | ClauseSynthesized():
                attempt = self._attempt(body.basis)
                if attempt.audio_ready_ms is None:
                    attempt.audio_ready_ms = at_ms
                whole = isinstance(body, ClauseSynthesized)  # one that grew is told of twice
                if whole and at_ms is not None and finite(body.started_ms) is not None:
                    attempt.synthesized_ms += max(0.0, difference_ms(at_ms, body.started_ms))
            case _:
                self._generation(entry)

    def snapshot(self) -> Ledger:
        """The ledger so far."""
        for number in sorted(self._stale):
            if number in self._measured:
                self._sums.add(self._measured[number], -1)
            self._measured[number] = _speculation(self._turns[number])
            self._sums.add(self._measured[number], 1)
        self._stale.clear()
        sums, saved_ms = self._sums, self._sums.saved_us / 1000
        priced = self._measured.values() if sums.priced else ()
        return Ledger(
            turns=dict(sorted(self._measured.items())),
            discarded=dict(self._discarded),
            attempts=sums.attempts,
            kept=sums.kept,
            wasted_tokens=sums.wasted_tokens,
            saved_ms=saved_ms,
            tried=sums.tried,
            wasted_ms=sums.wasted_us / 1000,
            used_tokens=sums.used_tokens,
            estimated=sums.estimated > 0,
            tokens_per_100_ms=sums.wasted_tokens / saved_ms * 100 if saved_ms > 0 else None,
            usd_per_1000_turns=_per_1000([turn.usd for turn in priced if turn.tried], sums.tried),
            wasted_usd_per_1000_turns=_per_1000([turn.wasted_usd for turn in priced], sums.tried),
            prewarm=self._prewarm.snapshot(),
            retrieval=self._retrieval.snapshot(),
            partials=self._partials.snapshot(),
        )

    def _generate(self, order: Generate, at_ms: float | None) -> None:
        attempt = self._attempt(order.basis)
        attempt.started_ms = at_ms
        attempt.staged = order.tier == STAGED
        attempt.speculative = order.speculative and not attempt.staged
        attempt.price = self._prices.get(order.tier)
        attempt.prompt_chars = sum(len(message.text) for message in order.messages)

    def _generation(self, entry: Entry) -> None:
        body = entry.body
        match body:
            case TokensArrived():
                self._attempt(body.basis).pieces += sum(1 for token in body.tokens if token.text)
            case GenerationEnded():
                attempt = self._attempt(body.basis)
                attempt.ended_ms = finite(entry.at) if attempt.ended_ms is None else attempt.ended_ms
                attempt.prompt_tokens = body.prompt_tokens
                if body.completion_tokens is not None:
                    attempt.reported_tokens, attempt.estimated = body.completion_tokens, body.estimated
            case GenerationCancelled():
                self._attempt(body.basis).reported_tokens = body.tokens
            case _:
                pass

    def _turn(self, number: int) -> _Turn:
        self._stale.add(number)
        return self._turns.setdefault(number, _Turn())

    def _attempt(self, basis: Basis) -> _Attempt:
        attempts = self._turn(basis.turn).attempts
        return attempts.setdefault(basis, _Attempt(basis))

    def _discard(self, body: Discarded) -> None:
        attempt = self._attempt(body.basis)
        if attempt.staged:
            return
        for wastes in (self._discarded, self._turn(body.basis.turn).discarded):
            waste = wastes.get(body.stage, Waste())
            wastes[body.stage] = Waste(
                count=waste.count + 1,
                tokens=waste.tokens + body.tokens,
                samples=waste.samples + body.samples,
                ms=waste.ms + (finite(body.ms) or 0.0),
            )
        attempt.discarded_tokens += body.tokens
        attempt.discarded_ms += finite(body.ms) or 0.0


def fold_ledger(entries: Iterable[Entry]) -> Ledger:
    """The ledger of ``entries``."""
    view = LedgerView()
    for entry in entries:
        view.feed(entry)
    return view.snapshot()


def _per_1000(usd: list[float | None], turns: int) -> float | None:
    known = [each for each in usd if each is not None]
    return sum(known) / turns * 1000 if known and turns else None


def _speculation(turn: _Turn) -> Speculation:
    real = [attempt for attempt in turn.attempts.values() if not attempt.staged]
    attempts = [attempt for attempt in real if attempt.speculative]
    kept = next((attempt for attempt in attempts if attempt.basis == turn.committed), None)
    wasted = [attempt for attempt in attempts if _wasted(attempt, turn)]
    used = [attempt for attempt in real if attempt.basis == turn.committed and not turn.taken_back]
    priced = any(attempt.price is not None for attempt in real)
    return Speculation(
        attempts=len(attempts),
        kept=kept is not None,
        wasted_tokens=sum(attempt.tokens() for attempt in wasted),
        saved_ms=_saved_ms(kept, turn) if kept is not None else 0.0,
        estimated=any(attempt.reported_tokens is None or attempt.estimated for attempt in wasted),
        wasted_ms=round(math.fsum(attempt.work_ms() for attempt in wasted), 3),
        used_tokens=sum(attempt.tokens() for attempt in used),
        usd=sum(attempt.usd() or 0.0 for attempt in real) if priced else None,
        wasted_usd=sum(attempt.usd() or 0.0 for attempt in wasted) if priced else None,
        discarded=dict(turn.discarded),
        tried=turn.tried,
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
