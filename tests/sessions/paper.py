"""Sessions on paper: a person, models and a speaker made up from a seed answer the real rules, with no sound, no loop
and no waiting. Their journals are like recorded ones, some hundred entries each, in a few milliseconds.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from typing import Any

from voicetui.conversation.decide import decide
from voicetui.conversation.state import State
from voicetui.events import Basis, Entry, Fact, Order
from voicetui.events.listen import (
    Evidence,
    SpeechPaused,
    SpeechStarted,
    Transcribed,
    TranscribeFailed,
    TurnScored,
    WordsScored,
)
from voicetui.events.orders import (
    AssembleContext,
    Cancel,
    Cut,
    EndSession,
    EndTurn,
    FinishPlayback,
    GateMic,
    Generate,
    Pause,
    Play,
    Resume,
    ScoreTurn,
    ScoreWords,
    Synthesize,
    Transcribe,
    WakeAt,
)
from voicetui.events.reply import ClauseCut, ContextAssembled, GenerationEnded, GenerationFailed, Passage
from voicetui.events.session import (
    DeviceChosen,
    Fault,
    GapStaged,
    InterruptAsked,
    MicTested,
    Muted,
    OverlapChosen,
    Ready,
    Said,
    SessionClosed,
    SessionOpened,
    StopAsked,
    TalkKey,
    TierChosen,
    TierFacts,
    Woke,
)
from voicetui.events.sound import DeviceLost, EchoMeasured
from voicetui.events.speak import (
    ClauseBegun,
    ClauseEnded,
    ClauseStarted,
    ClauseSynthesized,
    PlaybackCut,
    PlaybackFinished,
    SynthesisFailed,
)

WORDS = ("what", "is", "the", "capital", "of", "France", "and", "why", "stop", "yes", "mm-hmm", "um", "tell", "me")
CLAUSES = ("It is Paris.", " And so on,", " which is all there is to say.", " `code`", " Well then.")
COMMANDS: tuple[Fact, ...] = (
    Said("typed"), InterruptAsked(), TierChosen("fast"), OverlapChosen("none"), OverlapChosen("full"), Muted(True),
    Muted(False), TalkKey(True), TalkKey(False), GapStaged((200.0, 1400.0)), GapStaged(()), MicTested(True),
    DeviceLost("output", "USB", "it was unplugged"), DeviceChosen("output", "other"), DeviceChosen("input", "other"),
)  # fmt: skip


class PaperSession:
    """One session; ``entries`` are its journal. ``speech`` is what is said: (start ms, end ms); else made up.

    ``texts`` are what was said by the end of each stretch of speech, from its utterance's beginning; else made up.
    """

    def __init__(
        self,
        seed: int,
        *,
        overlap: str = "full",
        duplex: str = "full",
        speech: list[tuple[float, float]] | None = None,
        texts: list[str] | None = None,
        calm: bool = False,
        **policy: object,
    ) -> None:
        self.random = random.Random(seed)
        self.entries: list[Entry] = []
        self.calm = calm
        """Nothing fails, and every answer takes the same time."""
        self._texts = texts
        self._state = State()
        self._queue: list[tuple[float, int, float, Callable[[], Fact | None]]] = []
        self._posted = 0
        self._now_ms = 0.0
        self._newest = {"words": 0, "score": 0, "words score": 0}
        self._living: set[Basis] = set()
        self._voided: set[tuple[Basis, str]] = set()
        self._free_ms = 0.0
        self._held: list[tuple[float, int, float, Callable[[], Fact | None]]] = []
        self._heard: dict[Basis, list[str]] = {}
        self._gated = False
        self._over = False
        tiers = tuple(TierFacts(name, "simulated", "m", True) for name in ("twin", "fast"))
        opened = SessionOpened(
            "paper", "2026-01-01T00:00:00Z", "voicetui", "twin", tiers, overlap, duplex, "paper",  # type: ignore[arg-type]
            {"policy": {"system_prompt": "Be brief.", **policy}},
        )  # fmt: skip
        self._take(opened, 0.0)
        self._later(50, lambda: Ready({}))
        self._speech = self._made_up_speech() if speech is None else speech
        for start_ms, end_ms in self._speech:
            self._says(start_ms, end_ms)

    def run(self, end_ms: float) -> PaperSession:
        """Converse until it is asked to stop at ``end_ms``."""
        self._later(end_ms, lambda: StopAsked("finished"))
        while self._queue and not self._over:
            now_ms, _, at_ms, make = heapq.heappop(self._queue)
            self._now_ms = max(self._now_ms, now_ms)
            fact = make()
            if fact is not None:
                self._take(fact, at_ms if at_ms >= 0 else self._now_ms)
        self._append(SessionClosed("finished"), self._now_ms)
        return self

    def command(self, at_ms: float, fact: Fact) -> None:
        """The user's hands do something."""
        self._later(at_ms, lambda: fact)

    def _made_up_speech(self) -> list[tuple[float, float]]:
        speech, at_ms = [], 400.0
        while at_ms < 20_000:
            end_ms = at_ms + self.random.uniform(100, 2000)
            speech.append((at_ms, end_ms))
            at_ms = end_ms + self.random.choice((180.0, 350.0, 700.0, 1600.0, 4000.0)) * self.random.uniform(0.8, 1.2)
        return speech

    def _says(self, start_ms: float, end_ms: float) -> None:
        started, paused = int(start_ms * 16), int(end_ms * 16)
        edge = lambda fact: lambda: None if self._gated else fact  # noqa: E731
        self._later(start_ms + 64, edge(SpeechStarted(started, start_ms + 64)), start_ms)
        self._later(end_ms + 100, edge(SpeechPaused(paused, 5.0, end_ms + 100, -20.0, -60.0)), end_ms)

    def _later(self, now_ms: float, make: Callable[[], Fact | None], at_ms: float = -1.0) -> None:
        self._posted += 1
        heapq.heappush(self._queue, (now_ms, self._posted, at_ms, make))

    def _ms(self, *choices: float) -> float:
        return choices[0] if self.calm else self.random.choice(choices) * self.random.uniform(0.8, 1.2)

    def _chance(self, share: float) -> bool:
        return not self.calm and self.random.random() < share

    def _append(self, body: Any, at_ms: float) -> Entry:
        self.entries.append(Entry(len(self.entries), round(at_ms, 3), body))
        return self.entries[-1]

    def _take(self, fact: Fact, at_ms: float) -> None:
        entry = self._append(fact, at_ms)
        self._state, orders = decide(self._state, entry)
        for order in orders:
            self._append(order, self._now_ms)
        for order in orders:
            self._carry_out(order)

    def _carry_out(self, order: Order) -> None:
        match order:
            case WakeAt():
                late_ms = 0.0 if self.calm else self.random.uniform(0, 4)
                self._later(max(self._now_ms, order.due_ms) + late_ms, lambda: Woke(order.wake))
            case Transcribe():
                self._newest["words"] = order.request
                self._later(self._now_ms + self._ms(110, 60, 300, 2500), lambda: self._words(order))
            case ScoreTurn():
                self._newest["score"] = order.request
                self._later(self._now_ms + self._ms(60, 200, 900), lambda: self._score(order))
            case ScoreWords():
                self._newest["words score"] = order.request
                self._later(self._now_ms + self._ms(40, 10, 900), lambda: self._score_words(order))
            case AssembleContext():
                found = self.random.choice(((), (Passage("a.md", "Hold it."),), (Passage("b.md", "Rain."),)))
                self._later(
                    self._now_ms + self._ms(5, 80), lambda: ContextAssembled(order.context, order.turn, found, 0.0)
                )
            case Generate():
                self._generate(order)
            case Synthesize():
                self._synthesize(order)
            case Cancel() | EndTurn():
                self._living.discard(order.basis)
                if isinstance(order, EndTurn):
                    self._later(self._now_ms + 20, lambda: self._echo(order.turn))
            case GateMic():
                self._gated = order.closed
            case EndSession():
                self._over = True
            case _:
                self._speaker(order)

    def _echo(self, turn: int) -> Fact | None:
        if not self._chance(0.2):
            return None
        return EchoMeasured(turn, 100.0, -20.0, -30.0, self.random.choice((-70.0, -30.0)), -60.0)

    def _words(self, order: Transcribe) -> Fact | None:
        if order.request != self._newest["words"]:
            return None
        if self._chance(0.04):
            return TranscribeFailed(order.utterance, order.request, order.final, "the model broke")
        end = order.end_sample or int(self._now_ms * 16)
        doubt = self.random.choice(("no speech", "invented")) if self._chance(0.08) else ""
        evidence = Evidence(logprob=-0.1 if self.calm else self.random.choice((None, -0.1, -0.9)))
        text = self._text(order, end)
        sound = (order.start_sample, end)
        return Transcribed(
            order.utterance, order.request, text, order.final, *sound, self._now_ms, 0.0, evidence, doubt
        )

    def _text(self, order: Transcribe, end: int) -> str:
        if self._texts is not None:
            ended = sum(end_ms * 16 <= end for _, end_ms in self._speech)
            return self._texts[max(0, ended - 1)] if order.final else ""
        seeded = random.Random(order.start_sample)
        words = [seeded.choice(WORDS) for _ in range(12)][: max(0, (end - order.start_sample) // 5000)]
        return " ".join(words) + ("." if seeded.random() < 0.5 and words else "")

    def _score(self, order: ScoreTurn) -> Fact | None:
        if order.request != self._newest["score"]:
            return None
        if self._chance(0.02):
            return Fault("score", "The end-of-turn model broke.")
        sound = (order.start_sample, order.end_sample)
        return TurnScored(order.utterance, order.request, *sound, self.random.choice((0.02, 0.5, 0.97)), 0.0, 0.0)

    def _score_words(self, order: ScoreWords) -> Fact | None:
        if order.request != self._newest["words score"]:
            return None
        if self._chance(0.02):
            return Fault("words", "The model that scores words broke.")
        return WordsScored(order.utterance, order.request, self.random.choice((0.0, 0.03, 0.6)), 0.0, 0.0)

    def _alive(self, basis: Basis, fact: Fact) -> Callable[[], Fact | None]:
        return lambda: fact if basis in self._living else None

    def _generate(self, order: Generate) -> None:
        basis = order.basis
        self._living.add(basis)
        at_ms = self._now_ms + self._ms(150, 60, 500, 1500)
        if self._chance(0.05):
            self._later(at_ms, self._alive(basis, GenerationFailed(basis, "connect", "nobody answers")))
            return
        texts = [CLAUSES[0], CLAUSES[2]] if self.calm else self.random.sample(CLAUSES, self.random.randint(1, 4))
        for number, text in enumerate(texts):
            at_ms += self._ms(100, 40, 300)
            spoken = "" if "`" in text else text.strip()
            self._later(at_ms, self._alive(basis, ClauseCut(basis, number, text, spoken)))
        outcome: Any = "complete" if self.calm else self.random.choice(("complete", "complete", "truncated", "empty"))
        self._later(at_ms + 5, self._alive(basis, GenerationEnded(basis, outcome, len(texts), 20, 20, estimated=True)))

    def _synthesize(self, order: Synthesize) -> None:
        basis, clause = order.basis, order.clause
        took_ms = self._ms(120, 60, 400)
        if self._chance(0.05):
            failed = SynthesisFailed(basis, clause, "the voice broke")
            self._later(self._now_ms + took_ms, self._alive(basis, failed))
            return
        if order.streamed:
            begun = ClauseBegun(basis, clause, self._now_ms, 0.0, 10.0)
            self._later(self._now_ms + took_ms / 3, self._alive(basis, begun))
        made = ClauseSynthesized(basis, clause, self._now_ms, self._now_ms + 20, 0.0, 10.0, 400.0)
        self._later(self._now_ms + took_ms, self._alive(basis, made))

    # the speaker: one reply at a time; what it still has to tell is in the queue, or held

    def _speaker(self, order: Order) -> None:
        match order:
            case Play():
                start_ms = max(self._free_ms, self._now_ms + 40, order.due_ms or 0.0)
                length_ms = 90.0 * len(order.text.split()) + 50
                self._free_ms = start_ms + length_ms
                self._tells(start_ms, order.basis, "play", lambda: ClauseStarted(order.basis, order.clause))
                self._tells(self._free_ms, order.basis, "play", lambda: self._ended(order))
            case FinishPlayback():
                at_ms = max(self._free_ms, self._now_ms) + 1
                self._tells(at_ms, order.basis, "play", lambda: PlaybackFinished(order.basis))
            case Pause():
                mine = [each for each in self._queue if getattr(each[3], "basis", None) == order.basis]
                self._queue = [each for each in self._queue if each not in mine]
                heapq.heapify(self._queue)
                self._held, self._paused_ms = mine, self._now_ms
            case Resume():
                for now_ms, _, _, make in self._held:
                    self._later(now_ms + self._now_ms - self._paused_ms, make)
                self._free_ms += self._now_ms - self._paused_ms if self._held else 0.0
                self._held = []
            case Cut():
                self._voided.add((order.basis, "play"))
                self._free_ms, self._held = self._now_ms, []
                heard = "".join(self._heard.get(order.basis, [])).strip()
                self._later(self._now_ms + 15, lambda: PlaybackCut(order.basis, 300.0, heard, 1, 4, 0))
            case _:
                pass

    def _tells(self, at_ms: float, basis: Basis, kind: str, make: Callable[[], Fact]) -> None:
        self._later(at_ms, _Told(lambda: None if (basis, kind) in self._voided else make(), basis))

    def _ended(self, order: Play) -> Fact:
        self._heard.setdefault(order.basis, []).append(order.text)
        return ClauseEnded(order.basis, order.clause)


class _Told:
    """What the speaker will tell of a reply."""

    def __init__(self, make: Callable[[], Fact | None], basis: Basis) -> None:
        self._make = make
        self.basis = basis

    def __call__(self) -> Fact | None:
        return self._make()


def paper_session(seed: int) -> PaperSession:
    """A session in which anything may happen."""
    choose = random.Random(-seed - 1)
    session = PaperSession(
        seed,
        overlap=choose.choice(("none", "clause", "full", "full")),
        duplex=choose.choice(("half", "full", "full")),
        turn_end=choose.choice(("silence", "model")),
        knowledge=choose.random() < 0.4,
        prewarm=choose.random() < 0.8,
        staged_gaps_ms=choose.choice(((), (), (), (200.0,), (300.0, 1500.0))),
        reply_wait_ms=choose.choice((0.0, 700.0)),
    )
    for _ in range(choose.randrange(6)):
        session.command(choose.uniform(0, 22_000), choose.choice(COMMANDS))
    return session.run(28_000)
