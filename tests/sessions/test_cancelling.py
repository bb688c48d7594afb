"""Cancelling is complete: nothing of void work is heard, told as if it counted, or left running."""

from __future__ import annotations

import asyncio
import random
import threading

import numpy as np
import pytest

from tests.sessions.stage import Finals, Heard, Stage, WatchedTier, twin_stage
from voicetui.events import Basis, Fact
from voicetui.events.listen import Evidence, Transcribed
from voicetui.events.orders import Cancel, Commit, EndTurn, Generate, Play, Synthesize, Transcribe
from voicetui.events.reply import GenerationCancelled, GenerationEnded, RequestSent, TokensArrived
from voicetui.events.session import Fault, InterruptAsked, Said, SessionClosed, StopAsked, TierChosen
from voicetui.events.speak import (
    ClauseBegun,
    ClauseEnded,
    ClauseStarted,
    Discarded,
    PlaybackCut,
    PlaybackDucked,
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
)
from voicetui.ports import Pcm16, Post
from voicetui.runtime.stale import as_waste
from voicetui.runtime.worker import Worker
from voicetui.speak.growing import GrowingClause
from voicetui.speak.synthesize import Synthesizer
from voicetui.speak.timing import GrowingPiece

AFTER_A_CUT = (
    GenerationCancelled, Discarded, PlaybackCut, PlaybackFinished,
    ClauseStarted, ClauseEnded, PlaybackDucked, PlaybackPaused, PlaybackResumed,
)  # fmt: skip
"""What may still be told of a cancelled basis: that it is over, what it wasted, what was heard until then."""

REPLY = "One two three four five six. Seven eight nine ten eleven twelve. And so on it goes for a while."


def assert_cancelled_for_good(stage: Stage) -> None:
    """After a ``Cancel`` nothing is told of its basis but its end, and its stream is closed within 100 ms."""
    for cancel in stage.all(Cancel):
        basis = cancel.body.basis
        later = [e for e in stage.entries if e.seq > cancel.seq and getattr(e.body, "basis", None) == basis]
        told = [entry.body for entry in later if isinstance(entry.body, Fact)]
        assert all(isinstance(fact, AFTER_A_CUT) for fact in told), (cancel, told)
        assert all(fact.closed_ms <= 100 for fact in told if isinstance(fact, GenerationCancelled))
        ordered = [entry.body for entry in later if not isinstance(entry.body, Fact)]
        assert not [order for order in ordered if isinstance(order, Generate | Synthesize | Play)], cancel
        audible = [entry.at for entry in later if isinstance(entry.body, ClauseStarted)]
        assert all(at <= cancel.at + 100 for at in audible), "only what was on its way to the ear already"


def assert_streams_closed(stage: Stage) -> None:
    tier = stage.tier
    assert isinstance(tier, WatchedTier)
    assert len(tier.closed_ms) == len(tier.opened_ms)


@pytest.mark.parametrize("after_ms", [0, 30, 99, 101, 130, 180, 260, 300, 333, 420, 700, 1500])
def test_after_a_cut_nothing_of_the_old_basis_is_told_but_its_end(after_ms: float) -> None:
    stage = twin_stage(REPLY, tokens_per_second=40.0)
    stage.run_to(4000, stage.post_at(Said("go on"), 500), stage.post_at(InterruptAsked(), 500 + after_ms))
    assert_cancelled_for_good(stage)
    assert_streams_closed(stage)
    assert len(stage.of(Cancel)) == 1
    assert len(stage.of(GenerationCancelled)) + len(stage.of(GenerationEnded)) == len(stage.of(RequestSent))
    assert bool(stage.session.state.history) == bool(stage.of(EndTurn)[0].heard_text)


def test_work_told_of_after_its_basis_was_void_is_journalled_as_waste() -> None:
    stage = twin_stage(REPLY, tokens_per_second=40.0)

    async def late() -> None:
        await stage.clock.sleep_until(900)
        basis = stage.of(Generate)[0].basis
        stage.session.post(InterruptAsked())
        stage.session.post(TokensArrived(basis, (), False))
        stage.session.post(GenerationCancelled(basis, 3, 1.0))

    stage.run_to(3000, stage.post_at(Said("go on"), 500), late)
    assert_cancelled_for_good(stage)
    assert [fact.stage for fact in stage.of(Discarded)][:1] == ["generate"]


def test_only_waste_and_what_was_heard_is_left_of_a_void_basis() -> None:
    basis = Basis(1, 1, 1)
    heard = ClauseStarted(basis, 0)
    assert as_waste(heard) is heard
    assert as_waste(RequestSent(basis, "twin", "none")) is None


# two hundred times


def test_two_hundred_replies_cancelled_at_any_moment_leave_a_session_that_still_answers() -> None:
    seeded = random.Random(16)
    stage = twin_stage(REPLY, tokens_per_second=60.0)
    threads = set(threading.enumerate())
    tasks: set[asyncio.Task[object]] = set()

    async def cycles() -> None:
        tasks.update(asyncio.all_tasks())
        for number in range(200):
            started_ms = stage.clock.now_ms()
            stage.session.post(Said(f"question {number}"))
            await stage.clock.sleep_until(started_ms + seeded.uniform(0, 300))
            stage.session.post(InterruptAsked())
            await stage.clock.sleep_until(started_ms + 400)
            turns = [order.turn for order in stage.of(EndTurn)]
            assert turns == list(range(1, number + 2)), "each is over before the next begins"
        tasks.symmetric_difference_update(asyncio.all_tasks())
        stage.session.post(Said("the last question"))

    stage.run_to(90_000, cycles)
    outcomes = [order.outcome for order in stage.of(EndTurn)]
    assert outcomes == ["interrupted"] * 200 + ["completed"]
    assert stage.of(EndTurn)[-1].heard_text == REPLY
    assert not [task for task in tasks if not task.done()]
    assert set(threading.enumerate()) <= threads
    assert_cancelled_for_good(stage)
    assert_streams_closed(stage)
    assert not stage.of(Fault)


class Slow:
    """A voice that says a clause only when it is let."""

    rate_hz = 16_000

    def __init__(self) -> None:
        self.begun, self.let, self.done = threading.Event(), threading.Event(), threading.Event()

    def warm(self) -> float:
        return 0.0

    def synthesize(self, spoken: str):  # type: ignore[no-untyped-def]
        self.begun.set()
        assert self.let.wait(10)
        yield np.full(16 * 600, 0.3, np.float32)
        self.done.set()


def test_a_clause_that_a_thread_finishes_after_the_cut_is_waste_and_the_thread_ends() -> None:
    voice = Slow()
    stage = twin_stage(REPLY, tokens_per_second=1000.0, voice=voice)
    stage.parts.make_worker = Worker
    heard = stage.parts.recorder = Heard()
    before = set(threading.enumerate())

    async def companion() -> None:
        await stage.clock.sleep_until(500)
        stage.session.post(Said("go on"))
        assert await asyncio.to_thread(voice.begun.wait, 10)
        stage.session.post(InterruptAsked())
        await stage.clock.sleep_until(stage.clock.now_ms() + 250)
        assert [order.outcome for order in stage.of(EndTurn)] == ["interrupted"], "nobody waits for the thread"
        voice.let.set()
        while not stage.of(Discarded):
            await asyncio.to_thread(voice.done.wait, 0)
        stage.session.post(StopAsked("finished"))

    asyncio.run(stage.run(companion, most_ms=1e9))
    assert stage.of(Discarded)[0].stage == "synthesize" and stage.of(Discarded)[0].samples > 0
    assert not stage.of(Play) and not len(heard.sound)
    assert isinstance(stage.entries[-1].body, SessionClosed)
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()


class Marked(Synthesizer):
    """Gives each clause a level of its own, so that what is heard tells whose it is."""

    levels: dict[Basis, list[float]]

    def run(self, order, is_current, waited_ms=0.0, begun=None):  # type: ignore[no-untyped-def]
        self.levels.setdefault(order.basis, []).append(self._voice.begin())
        return super().run(order, is_current, waited_ms, begun)


class LevelVoice:
    """Says everything as 600 ms at one level, another for each clause."""

    rate_hz = 16_000

    def __init__(self) -> None:
        self.count = 0

    def begin(self) -> float:
        self.count += 1
        return 0.2 + self.count / 4096

    def warm(self) -> float:
        return 0.0

    def synthesize(self, spoken: str):  # type: ignore[no-untyped-def]
        yield np.full(16 * 600, 0.2 + self.count / 4096, np.float32)

    def synthesize_streamed(self, spoken: str) -> list[GrowingPiece]:
        (whole,) = self.synthesize(spoken)
        return [GrowingPiece(len(whole), None, iter(np.split(whole, 3)))]


class NeverDone:
    """A synthesizer that hands out the first 200 ms of a clause and is still at the rest when the session ends."""

    def run(self, order: Synthesize, is_current: object, waited_ms: float, begun: object) -> None:
        fact = ClauseBegun(order.basis, order.clause, started_ms=0.0, waited_ms=0.0, lead_ms=0.0)
        clause = GrowingClause(fact, 0.0, order.spoken, (), 16_000)
        clause.give(np.full(3200, 0.2, np.float32))
        begun(clause)  # type: ignore[operator]


def test_a_draft_dropped_while_its_clause_is_still_being_made_is_waste_and_no_fault() -> None:
    stage = twin_stage("It is so. And so it is.", bursts=[(500, 1300), (1700, 2500)], ttft_ms=30.0)
    stage.parts.make_synthesizer = lambda post: NeverDone()  # type: ignore[assignment, return-value]
    stage.parts.transcriber = Finals("what is the", "what is the time")
    stage.run_to(2900)
    (draft, *_) = stage.of(Generate)
    wasted = [fact for fact in stage.of(Discarded) if fact.stage == "synthesize" and fact.basis == draft.basis]
    assert draft.basis in {order.basis for order in stage.of(Cancel)}
    assert [(fact.samples, fact.ms) for fact in wasted] == [(3200, 0.0)], "whoever makes it tells what it cost"
    assert not stage.of(Fault)


class AnyWords:
    """Final words that change with the seed, or do not."""

    def __init__(self, seeded: random.Random) -> None:
        self._random = seeded
        self._words: dict[int, str] = {}

    def run(self, order: Transcribe, sound: Pcm16, first_sample: int, waited_ms: float) -> Transcribed:
        known = self._words.get(order.utterance, f"what about {order.utterance}")
        if self._random.random() < 0.4:
            known += f" and {self._random.randrange(9)}"
        self._words[order.utterance] = known
        end = first_sample + len(sound)
        return Transcribed(
            order.utterance, order.request, known, order.final, first_sample, end, 0.0, waited_ms, Evidence()
        )


@pytest.mark.parametrize("seed", range(6))
def test_no_sample_of_a_cancelled_speculation_is_played_whenever_turns_end_go_on_or_change_tier(seed: int) -> None:
    """Six times about thirty-five turns, with pauses, resumptions and changes of tier at random times."""
    seeded = random.Random(seed)
    bursts, changes, at_ms = [], [], 500.0
    for _ in range(20):
        for _ in range(seeded.randint(1, 4)):
            bursts.append((at_ms, at_ms + seeded.uniform(120, 500)))
            changes.append(bursts[-1][1] + seeded.uniform(0, 900))
            at_ms = bursts[-1][1] + seeded.uniform(130, 700)
        at_ms += seeded.uniform(400, 2200)
    stage = twin_stage("It is so. And so it is.", bursts=bursts, ttft_ms=60.0)
    voice, heard, levels = LevelVoice(), Heard(), {}

    def make(post: Post) -> Synthesizer:
        made = Marked(voice, stage.clock, post)
        made.levels = levels
        return made

    stage.parts.make_synthesizer = make
    stage.parts.recorder, stage.parts.transcriber = heard, AnyWords(seeded)
    stage.run_to(at_ms + 3000, *(stage.post_at(TierChosen("twin"), ms) for ms in seeded.sample(changes, 8)))
    committed = {order.basis for order in stage.of(Commit)}
    void = [level for basis, made in levels.items() if basis not in committed for level in made]
    played = heard.sound
    for level in void:
        assert np.count_nonzero(np.abs(played - level) < 2e-5) < 16, "a fade passes a level, a clause stays on it"
    played_bases = {order.basis for order in stage.of(Play)}
    assert played_bases and played_bases <= committed and len(committed) >= 25
    spoken = [level for basis in committed for level in levels.get(basis, [])]
    assert any(np.count_nonzero(np.abs(played - level) < 2e-5) > 1000 for level in spoken)
    assert_cancelled_for_good(stage)
    assert void, "some speculation was cancelled after its sound was made"
