"""A desk to try the rules at: facts in, orders out, no clock and no models."""

from __future__ import annotations

from typing import TypeVar

from voicetui.conversation.decide import decide
from voicetui.conversation.state import State
from voicetui.events import Basis, Entry, Fact, Order
from voicetui.events.listen import Evidence, SpeechPaused, SpeechStarted, Transcribed, TurnScored, WordsScored
from voicetui.events.orders import Generate, Play, ScoreTurn, ScoreWords, Synthesize, Transcribe, WakeAt
from voicetui.events.reply import ClauseCut, GenerationEnded
from voicetui.events.session import SessionOpened, TierFacts, Woke
from voicetui.events.speak import ClauseEnded, ClauseStarted, ClauseSynthesized, PlaybackCut, PlaybackFinished

OrderT = TypeVar("OrderT", bound=Order)


class Desk:
    """Holds the state and everything ordered so far."""

    def __init__(self, overlap: str = "full", duplex: str = "full", **policy: object) -> None:
        self.state = State()
        self.orders: list[Order] = []
        self.now_ms = 0.0
        self._seq = 0
        opened = SessionOpened(
            session="s",
            started_utc="2026-01-01T00:00:00Z",
            program="voicetui",
            tier="local",
            tiers=(TierFacts("local", "local", "m"),),
            overlap=overlap,
            duplex=duplex,
            source="test",
            config={"policy": {"system_prompt": "Be brief.", **policy}},
        )
        self.tell(opened, 0.0)

    def tell(self, fact: Fact, at_ms: float | None = None) -> list[Order]:
        """Decide on one fact; the orders it gave. Due wakes before ``at_ms`` fire first."""
        at_ms = self.now_ms if at_ms is None else at_ms
        self.now_ms = max(self.now_ms, at_ms)
        self._seq += 1
        self.state, orders = decide(self.state, Entry(self._seq, at_ms, fact))
        self.orders += orders
        return list(orders)

    def run_to(self, at_ms: float) -> None:
        """Let every wake due by then fire, in order."""
        fired = getattr(self, "_fired", set())
        self._fired = fired
        while True:
            due = [o for o in self.all(WakeAt) if o.due_ms <= at_ms and o.wake not in fired]
            if not due:
                break
            wake = min(due, key=lambda order: (order.due_ms, order.wake))
            fired.add(wake.wake)
            self.tell(Woke(wake.wake), max(self.now_ms, wake.due_ms))
        self.now_ms = max(self.now_ms, at_ms)

    def all(self, kind: type[OrderT]) -> list[OrderT]:
        """Every order of a kind, oldest first."""
        return [order for order in self.orders if isinstance(order, kind)]

    def last(self, kind: type[OrderT]) -> OrderT:
        """The newest order of a kind."""
        return self.all(kind)[-1]

    def speech(self, start_ms: float, end_ms: float) -> None:
        """The user speaks; wakes that come due meanwhile fire; the pause is noticed 100 ms after the end."""
        self.starts(start_ms)
        self.pauses(end_ms)

    def starts(self, at_ms: float) -> None:
        self.run_to(at_ms + 64)
        self.tell(SpeechStarted(int(at_ms * 16), at_ms + 64), at_ms)

    def pauses(self, at_ms: float) -> None:
        self.run_to(at_ms + 100)
        self.tell(SpeechPaused(int(at_ms * 16), 5.0, at_ms + 100, -20.0, -60.0), at_ms)

    def words(
        self, text: str, doubt: str = "", at_ms: float | None = None, evidence: Evidence | None = None
    ) -> list[Order]:
        """Answer the newest transcription order."""
        order = self.last(Transcribe)
        at_ms = self.now_ms + 90 if at_ms is None else at_ms
        self.run_to(at_ms)
        end = order.end_sample if order.end_sample is not None else int(at_ms * 16)
        fact = Transcribed(
            order.utterance,
            order.request,
            text,
            order.final,
            order.start_sample,
            end,
            at_ms - 90,
            0.0,
            evidence or Evidence(),
            doubt,
        )
        return self.tell(fact, at_ms)

    def score(self, score: float, at_ms: float | None = None) -> list[Order]:
        """Answer the newest order to score the turn, 50 ms from now unless told when."""
        order = self.last(ScoreTurn)
        at_ms = self.now_ms + 50 if at_ms is None else at_ms
        self.run_to(at_ms)
        fact = TurnScored(order.utterance, order.request, order.start_sample, order.end_sample, score, at_ms - 40, 0.0)
        return self.tell(fact, at_ms)

    def score_words(self, score: float, at_ms: float | None = None) -> list[Order]:
        """Answer the newest order to score words, 20 ms from now unless told when."""
        order = self.last(ScoreWords)
        at_ms = self.now_ms + 20 if at_ms is None else at_ms
        self.run_to(at_ms)
        return self.tell(WordsScored(order.utterance, order.request, score, at_ms - 15, 0.0), at_ms)

    def answer(self, *clauses: str, ended: bool = True) -> Basis:
        """The tier answers the newest ``Generate`` in these clauses."""
        basis = self.last(Generate).basis
        for number, text in enumerate(clauses):
            self.tell(ClauseCut(basis, number, text, text.strip()))
        if ended:
            self.tell(GenerationEnded(basis, "complete", len(clauses), 10, 10, False))
        return basis

    def synthesize(self, basis: Basis | None = None) -> None:
        """Carry out every synthesis ordered so far (and what that leads to)."""
        done: set[tuple[Basis, int]] = getattr(self, "_done", set())
        self._done = done
        while True:
            orders = [o for o in self.all(Synthesize) if (o.basis, o.clause) not in done and basis in (None, o.basis)]
            if not orders:
                return
            order = orders[0]
            done.add((order.basis, order.clause))
            self.tell(ClauseSynthesized(order.basis, order.clause, self.now_ms, self.now_ms, 0.0, 10.0, 1000.0))

    def hear(self, basis: Basis, clause: int = 0, at_ms: float | None = None) -> None:
        """A clause becomes audible."""
        self.tell(ClauseStarted(basis, clause), at_ms)

    def hear_out(self, basis: Basis) -> None:
        """Everything queued is heard to its end."""
        heard: set[int] = set()
        while True:
            plays = [o for o in self.all(Play) if o.basis == basis and o.clause not in heard]
            if not plays:
                break
            heard.add(plays[0].clause)
            self.tell(ClauseStarted(basis, plays[0].clause))
            self.now_ms += 1000
            self.tell(ClauseEnded(basis, plays[0].clause))
            self.synthesize()
        self.tell(PlaybackFinished(basis))

    def silent(self, basis: Basis, heard_text: str, heard_words: int = 0) -> None:
        """The speaker says what was heard of a cut reply."""
        self.tell(PlaybackCut(basis, 100.0, heard_text, heard_words or len(heard_text.split()), 20, 0))

    def turn(self, text: str, *clauses: str, start_ms: float | None = None) -> Basis:
        """A whole undisturbed turn up to its reply being audible."""
        start_ms = self.now_ms + 500 if start_ms is None else start_ms
        self.speech(start_ms, start_ms + 800)
        self.words(text)
        self.run_to(start_ms + 800 + 1600)
        basis = self.answer(*clauses)
        self.synthesize()
        self.hear(basis)
        return basis
