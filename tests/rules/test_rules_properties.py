"""Whatever comes in, in whatever order: the rules never raise, and never order what must not be."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.rules.desk import Desk
from voicetui.events import Basis, Fact, Order
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
    STAGED,
    AssembleContext,
    BargeIn,
    Cancel,
    Commit,
    Cut,
    Duck,
    EndSession,
    EndTurn,
    FinishPlayback,
    GateMic,
    Generate,
    OpenUtterance,
    Pause,
    Play,
    Prewarm,
    Reject,
    Resume,
    ScoreTurn,
    ScoreWords,
    Synthesize,
    Transcribe,
    WakeAt,
)
from voicetui.events.reply import (
    ClauseCut,
    ContextAssembled,
    GenerationCancelled,
    GenerationEnded,
    GenerationFailed,
    Passage,
)
from voicetui.events.session import (
    DeviceChosen,
    Fault,
    GapStaged,
    InterruptAsked,
    MicTested,
    Muted,
    OverlapChosen,
    Said,
    StopAsked,
    TalkKey,
    TierChosen,
    Woke,
)
from voicetui.events.sound import DeviceLost
from voicetui.events.speak import (
    ClauseBegun,
    ClauseEnded,
    ClauseStarted,
    ClauseSynthesized,
    Discarded,
    PlaybackCut,
    PlaybackFinished,
    SynthesisFailed,
)

TEXTS = (
    "", "...", "yes", "mm-hmm", "No.", "I want to reset the", "what's the weather", "What's the weather?", "stop it",
)  # fmt: skip
DOUBTS = ("", "", "", "", "", "no speech", "invented")
SPEECH = ("start", "pause", "words", "words", "score", "ended", "context", "wakes")
WORK = ("clause", "clause", "sound_begun", "sound", "sound", "heard", "heard", "clause_over", "ended", "finished")
MISHAPS = (
    "words_failed", "failed", "sound_failed", "cut", "cancelled", "discarded", "woke",
    "said", "muted", "interrupt", "key", "tier", "overlap", "gap", "lost", "unscored", "unread", "device", "test",
)  # fmt: skip
IDLE = SPEECH * 24 + WORK + MISHAPS
ANSWERING = SPEECH * 5 + WORK * 9 + MISHAPS


class Judge:
    """Follows the orders and objects to what must not be."""

    def __init__(self) -> None:
        self.generated: set[Basis] = set()
        self.committed: dict[Basis, int | None] = {}
        self.cut: set[Basis] = set()
        self.cancelled: set[Basis] = set()
        self.ended: set[Basis] = set()
        self.played: set[tuple[Basis, int]] = set()
        self.synthesized: set[tuple[Basis, int]] = set()
        self.open: set[int] = set()
        self.closed: set[int] = set()
        self.gated = False
        self.over = False

    def hear(self, orders: Sequence[Order]) -> None:
        assert sum(isinstance(order, AssembleContext) for order in orders) <= 1, "nobody asks beside anybody else"
        for order in orders:
            assert not self.over, f"{order} after the end of the session"
            self._hear(order)

    def _hear(self, order: Order) -> None:
        match order:
            case Generate():
                assert order.basis not in self.generated
                self.generated.add(order.basis)
                self._roles(order)
            case Prewarm():
                roles = [message.role for message in order.messages]
                assert roles == ["system", *["user", "assistant"] * ((len(roles) - 2) // 2), "user"]
            case Synthesize():
                assert order.basis in self.generated - self.cancelled - self.ended
                assert (order.basis, order.clause) not in self.synthesized
                self.synthesized.add((order.basis, order.clause))
            case Play():
                assert (order.basis, order.clause) in self.synthesized - self.played
                self._sounds(order.basis)
                self.played.add((order.basis, order.clause))
            case FinishPlayback() | Duck() | Pause() | Resume() | BargeIn():
                self._sounds(order.basis)
            case Cut():
                self._sounds(order.basis)
                self.cut.add(order.basis)
            case Cancel():
                assert order.basis in self.generated - self.cancelled - self.ended
                self.cancelled.add(order.basis)
            case EndTurn():
                assert order.basis in self.committed and order.basis not in self.ended
                self.ended.add(order.basis)
            case GateMic():
                assert order.closed != self.gated
                self.gated = order.closed
            case EndSession():
                assert set(self.committed) == self.ended
                self.over = True
            case OpenUtterance() | Reject() | Commit():
                self._utterance(order)
            case _:
                pass

    def _utterance(self, order: OpenUtterance | Reject | Commit) -> None:
        if isinstance(order, OpenUtterance):
            assert not self.open and order.utterance not in self.closed
            self.open.add(order.utterance)
            return
        if isinstance(order, Commit):
            assert set(self.committed) == self.ended, "a turn is committed while another is being answered"
            assert order.basis not in self.committed
            assert all(order.basis.turn > basis.turn for basis in self.committed)
            self.committed[order.basis] = order.utterance
            if order.utterance is None:
                return
        assert order.utterance not in self.closed, "an utterance ends once"
        self.open.discard(order.utterance)
        self.closed.add(order.utterance)

    def _sounds(self, basis: Basis) -> None:
        assert basis in self.committed, "nothing is heard of a turn that is not committed"
        assert basis not in self.cut and basis not in self.ended, "nothing is heard of a reply that is over"

    @staticmethod
    def _roles(order: Generate) -> None:
        if order.tier == STAGED:
            assert not order.messages, "a ready-made reply needs no messages"
            return
        roles = [message.role for message in order.messages]
        assert roles == ["system", *["user", "assistant"] * ((len(roles) - 2) // 2), "user"]
        assert all(message.text.strip() for message in order.messages)


class Chaos:
    """Makes facts up: mostly ones that could come next, in any order, some twice, some of work long void.

    The first steps of a seed are the same however many follow, so a failure shrinks to the step that failed.
    """

    def __init__(self, seed: int, duplex: str, overlap: str, knowledge: bool = False) -> None:
        self.random = random.Random(seed)
        turn_end = self.random.choice(("silence", "model"))
        self.desk = Desk(overlap=overlap, duplex=duplex, turn_end=turn_end, knowledge=knowledge)
        self.judge = Judge()
        self.now_ms = 1000.0
        self.clauses: list[Basis] = []

    def tell(self, fact: Fact, at_ms: float | None = None) -> None:
        self.judge.hear(self.desk.tell(fact, self.now_ms if at_ms is None else at_ms))

    def step(self) -> None:
        self.now_ms += self.random.randint(0, 400)
        kind = self.random.choice(IDLE if self.desk.state.reply is None else ANSWERING)
        if kind == "wakes":
            self.now_ms += self.random.choice((0, 300, 1600))
            self.wake_all()
            return
        at_ms = self.now_ms - self.random.choice((0, 0, 64, 100, 300))
        self.tell(self._fact(kind), at_ms)

    def wake_all(self) -> None:
        """Every wake that is due fires."""
        fired = self.desk.__dict__.setdefault("_fired", set())
        while due := [o for o in self.desk.all(WakeAt) if o.due_ms <= self.now_ms and o.wake not in fired]:
            wake = min(due, key=lambda order: (order.due_ms, order.wake))
            fired.add(wake.wake)
            self.tell(Woke(wake.wake))

    def _fact(self, kind: str) -> Fact:
        sample = int(self.now_ms * 16)
        match kind:
            case "start":
                return SpeechStarted(sample, self.now_ms)
            case "pause":
                return SpeechPaused(sample, 5.0, self.now_ms, -20.0, -60.0)
            case "words" | "words_failed":
                return self._words(kind)
            case "score":
                scored = self._one_of(self.desk.all(ScoreTurn)[-2:], ScoreTurn(self.random.randint(0, 3), 0, 0, 16_000))
                score = self.random.choice((0.0, 0.03, 0.5, 0.97, 1.0))
                return TurnScored(scored.utterance, scored.request, 0, 16_000, score, 0.0, 0.0)
            case "context":
                asked = self._one_of(self.desk.all(AssembleContext)[-2:], AssembleContext(0, 1, "reset", 2))
                found = self.random.choice(((), (Passage("a.md", "Hold the button."),), (Passage("b.md", "Rain."),)))
                return ContextAssembled(asked.context, asked.turn, found, 0.0)
            case "ended":
                asked_words = self._one_of(
                    self.desk.all(ScoreWords)[-2:], ScoreWords(self.random.randint(0, 3), 0, "so")
                )
                score = self.random.choice((0.0, 0.03, 0.6, 1.0))
                return WordsScored(asked_words.utterance, asked_words.request, score, 0.0, 0.0)
            case "unread":
                return Fault("words", "the model broke")
            case "unscored":
                return Fault("score", "the model broke")
            case "woke":
                return Woke(self._one_of([order.wake for order in self.desk.all(WakeAt)], 0))
            case "said":
                return Said(self.random.choice(TEXTS))
            case "muted":
                return Muted(self.random.random() < 0.5)
            case "interrupt":
                return InterruptAsked()
            case "key":
                return TalkKey(self.random.random() < 0.5)
            case "tier":
                return TierChosen(self.random.choice(("local", "fast")))
            case "overlap":
                return OverlapChosen(self.random.choice(("none", "clause", "full")))
            case "gap":
                return GapStaged(self.random.choice(((), (200.0,), (1500.0,), (200.0, 1400.0))))
            case "device":
                return DeviceChosen(self.random.choice(("input", "output")), "USB", "ALSA", self.random.random() < 0.5)
            case "test":
                return MicTested(self.random.random() < 0.5)
            case "lost":
                return DeviceLost(self.random.choice(("input", "output")), "USB", "it was unplugged")
            case _:
                return self._of_reply(kind)

    def _words(self, kind: str) -> Fact:
        orders = self.desk.all(Transcribe)[-4:]
        order = self._one_of(orders, Transcribe(self.random.randint(0, 3), 0, 0, 16_000, True))
        if kind == "words_failed":
            return TranscribeFailed(order.utterance, order.request, order.final, "the recogniser broke")
        text, doubt = self.random.choice(TEXTS), self.random.choice(DOUBTS)
        end = order.end_sample or int(self.now_ms * 16)
        return Transcribed(
            order.utterance, order.request, text, order.final, order.start_sample, end, 0.0, 0.0, Evidence(), doubt
        )

    def _of_reply(self, kind: str) -> Fact:
        bases = [order.basis for order in self.desk.all(Generate)][-3:]
        basis = self._one_of(bases, Basis(1, 1, 1))
        cut = sum(basis == told for told in self.clauses)
        clause = self._one_of([cut], self.random.randint(0, 2))
        if kind == "clause":
            self.clauses.append(basis)
        synths = [(o.basis, o.clause) for o in self.desk.all(Synthesize)][-2:]
        plays = [(o.basis, o.clause) for o in self.desk.all(Play)][-2:]
        outcome: Any = self.random.choice(("complete", "complete", "length", "truncated", "empty"))
        made, heard = self._one_of(synths, (basis, clause)), self._one_of(plays, (basis, clause))
        facts: dict[str, Fact] = {
            "clause": ClauseCut(basis, clause, f" clause {clause}.", self.random.choice(("say it", "say", "so", ""))),
            "ended": GenerationEnded(basis, outcome, 1, None, None, True),
            "failed": GenerationFailed(basis, "connect", "nobody answers"),
            "cancelled": GenerationCancelled(basis, 3, 5.0),
            "sound_begun": ClauseBegun(*made, 0.0, 0.0, 10.0),
            "sound": ClauseSynthesized(*made, 0.0, 0.0, 0.0, 10.0, 500.0),
            "sound_failed": SynthesisFailed(*made, "the voice broke"),
            "heard": ClauseStarted(*heard),
            "clause_over": ClauseEnded(*heard),
            "finished": PlaybackFinished(heard[0]),
            "cut": PlaybackCut(heard[0], 300.0, self.random.choice(("", "clause")), 1, 4, 0),
            "discarded": Discarded(basis, "synthesize"),
        }
        return facts[kind]

    def _one_of(self, choices: Sequence[Any], otherwise: Any) -> Any:
        """One of the choices, the newest most often; something else now and then, or if there is none."""
        if not choices or self.random.random() < 0.06:
            return otherwise
        return choices[-1] if self.random.random() < 0.5 else self.random.choice(choices)

    def silence(self) -> None:
        """The speaker says what was heard of every reply that was cut."""
        for order in self.desk.all(Cut):
            self.tell(PlaybackCut(order.basis, 0.0, "", 0, 0, 0))


anything = settings(
    max_examples=250, deadline=None, derandomize=True, database=None, phases=(Phase.generate, Phase.shrink)
)
seeds = st.integers(0, 2**32)
modes = st.sampled_from(("none", "clause", "full", "full"))
duplexes = st.sampled_from(("half", "full"))


@anything
@given(seeds, duplexes, modes, st.integers(1, 120))
def test_no_order_that_must_not_be_is_ever_given_and_a_stop_ends_every_turn(
    seed: int, duplex: str, overlap: str, steps: int
) -> None:
    chaos = Chaos(seed, duplex, overlap, knowledge=seed % 2 == 1)
    for _ in range(steps):
        chaos.step()
    chaos.tell(StopAsked("user"))
    for _ in range(3):
        chaos.step()
    chaos.now_ms += 600
    chaos.wake_all()
    assert chaos.judge.over


@anything
@given(seeds, duplexes, modes, st.integers(1, 120))
def test_whatever_happened_a_typed_turn_and_a_spoken_turn_are_answered_after_it(
    seed: int, duplex: str, overlap: str, steps: int
) -> None:
    chaos = Chaos(seed, duplex, overlap)
    for _ in range(steps):
        chaos.step()
    desk = chaos.desk
    chaos.tell(GapStaged(()))
    chaos.tell(Said("a typed question"))
    chaos.silence()
    assert desk.last(Commit).text.endswith("a typed question")
    chaos.tell(TalkKey(False))
    chaos.tell(Muted(False))
    chaos.tell(MicTested(False))
    chaos.tell(InterruptAsked())
    chaos.silence()
    chaos.now_ms += 5000
    chaos.wake_all()
    chaos.tell(SpeechStarted(int(chaos.now_ms * 16), chaos.now_ms + 64))
    chaos.now_ms += 600
    chaos.tell(SpeechPaused(int(chaos.now_ms * 16), 5.0, chaos.now_ms + 100, -20.0, -60.0))
    chaos.now_ms += 700
    chaos.wake_all()
    order = desk.last(Transcribe)
    assert order.final and order.end_sample is not None
    evidence = Evidence()
    words = "Is anybody there?"
    chaos.tell(
        Transcribed(order.utterance, order.request, words, True, order.start_sample, order.end_sample, 0, 0, evidence)
    )
    chaos.now_ms += 2000
    chaos.wake_all()
    chaos.silence()
    assert desk.last(Commit).text.endswith(words)
    assert desk.last(Generate).basis == desk.last(Commit).basis


@anything
@given(seeds, duplexes, modes, st.integers(1, 120))
def test_whatever_happened_what_is_looked_up_for_a_typed_turn_comes_to_an_end(
    seed: int, duplex: str, overlap: str, steps: int
) -> None:
    chaos = Chaos(seed, duplex, overlap, knowledge=True)
    for _ in range(steps):
        chaos.step()
    desk = chaos.desk
    chaos.tell(GapStaged(()))
    chaos.tell(Said("reset the red bike"))
    chaos.silence()
    for order in desk.all(AssembleContext):  # grows while answers lead to more
        assert len(desk.all(AssembleContext)) < 2000
        chaos.tell(ContextAssembled(order.context, order.turn, (), chaos.now_ms))
    chaos.tell(ContextAssembled(desk.last(AssembleContext).context, desk.last(AssembleContext).turn, (), 0.0))
    assert desk.last(Commit).text.endswith("reset the red bike")
