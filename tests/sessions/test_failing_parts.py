"""A part that fails costs one turn at most, and says why in a sentence; the session goes on and ends in order."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from tests.sessions.stage import Finals, TimedWords, WatchedTier, assert_ended_in_order, twin_stage
from voicetui.events.listen import Transcribed, TranscribeFailed
from voicetui.events.orders import Commit, EndTurn, Message, Reject, Synthesize, Transcribe
from voicetui.events.reply import ClauseCut
from voicetui.events.session import Fault, Ready, Said
from voicetui.events.speak import ClauseEnded, SynthesisFailed
from voicetui.listen.scripted import ScriptedRecogniser
from voicetui.listen.transcribe import Transcriber
from voicetui.ports import Pcm16, StageError, StreamItem
from voicetui.speak.scripted import ScriptedVoice

REPLY = "One two three four five six. Seven eight nine ten eleven twelve. And that is all."


# the recogniser


class Raising(Finals):
    """Raises what no recogniser should, the first time it is asked for final words."""

    def run(self, order: Transcribe, sound: Pcm16, first_sample: int, waited_ms: float) -> Transcribed:
        if order.final and order.utterance == 1:
            raise RuntimeError("CUDA out of memory")
        return super().run(order, sound, first_sample, waited_ms)


def test_a_transcriber_that_raises_costs_its_utterance_and_the_next_one_is_a_turn() -> None:
    stage = twin_stage(REPLY, bursts=[(1000, 1600), (11_000, 11_600)])
    stage.parts.transcriber = Raising("hello again")
    stage.run_to(18_000)
    (rejected,) = stage.of(Reject)
    assert rejected.reason == "failed" and "recogniser" in rejected.text
    assert stage.of(Fault) and stage.outcomes == ["completed"]
    assert_ended_in_order(stage)


def test_a_recogniser_that_is_broken_says_what_to_do_and_typing_still_works() -> None:
    stage = twin_stage(REPLY, bursts=[(1000, 1600)])
    broken = StageError("The model file is damaged.", "Run voicetui models pull.", "transcribe")
    stage.parts.transcriber = Transcriber(ScriptedRecogniser([broken] * 4), stage.clock)
    stage.run_to(9000, stage.post_at(Said("hello"), 3000))
    assert stage.of(TranscribeFailed)[0].message == "The model file is damaged. Run voicetui models pull."
    assert [order.reason for order in stage.of(Reject)] == ["failed"]
    assert stage.outcomes == ["completed"]
    assert_ended_in_order(stage)


def test_a_question_that_was_taken_back_is_answered_though_the_words_after_it_cannot_be_read() -> None:
    stage = twin_stage(REPLY, bursts=[(1000, 1600), (2300, 4000)], ttft_ms=2500.0, policy={"bid_words_ms": 300})

    class Half(TimedWords):
        def run(self, order, sound, first_sample, waited_ms):  # type: ignore[no-untyped-def]
            if order.final and order.utterance == 2:
                raise RuntimeError("out of memory")
            return super().run(order, sound, first_sample, waited_ms)

    stage.parts.transcriber = Half((1600, "what is the time"), (2500, "no really"))
    stage.run_to(14_000)
    assert [order.text for order in stage.of(Commit)] == ["what is the time", "what is the time"]
    assert stage.outcomes[-1] == "completed"
    assert_ended_in_order(stage)


# the tier


class Breaking(WatchedTier):
    """Raises in the middle of its first stream."""

    error: Exception

    async def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[StreamItem, None]:
        count = 0
        async for item in super().stream(messages):
            yield item
            count += 1
            if len(self.asked) == 1 and count == 14:
                raise self.error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (StageError("the tier fell silent", "Try again.", "idle"), "the tier fell silent"),
        (RuntimeError("sk-12345"), "stopped for a reason of its own"),
    ],
)
def test_a_tier_that_raises_in_mid_stream_fails_the_turn_and_what_was_heard_stays(
    error: Exception, reason: str
) -> None:
    stage = twin_stage(REPLY)
    tier = Breaking(stage.clock, REPLY)
    tier.error = error
    stage.parts.tiers = {"twin": tier}
    stage.run_to(14_000, stage.post_at(Said("one"), 500), stage.post_at(Said("two"), 6000))
    first, second = stage.of(EndTurn)
    assert (first.outcome, first.heard_text) == ("failed", "One two three four five six.")
    assert reason in first.reason and "sk-12345" not in str(stage.entries)
    assert second.outcome == "completed"
    assert [message.text for message in tier.asked[1]] == ["one", "One two three four five six.", "two"]
    assert_ended_in_order(stage)


@pytest.mark.parametrize("kind", [StageError, RuntimeError])
def test_a_tier_that_does_not_get_ready_fails_the_turn_with_its_sentence(kind: type[Exception]) -> None:
    stage = twin_stage(REPLY)

    class Cold(WatchedTier):
        async def warm(self) -> float:
            raise kind("nobody answers at localhost")

    stage.parts.tiers = {"twin": Cold(stage.clock, REPLY)}
    stage.run_to(4000, stage.post_at(Said("one"), 500))
    assert stage.of(Ready) and stage.of(Fault)
    (end,) = stage.of(EndTurn)
    assert end.outcome == "failed" and len(end.reason.split()) > 3
    assert_ended_in_order(stage)


# the voice


def failing_voice(*calls: int) -> ScriptedVoice:
    return ScriptedVoice(failures=lambda call, spoken: "the model broke" if call in calls else None)


def test_a_clause_that_fails_once_is_said_at_the_second_try() -> None:
    stage = twin_stage(REPLY, voice=failing_voice(1))
    stage.run_to(9000, stage.post_at(Said("one"), 500))
    assert not stage.of(SynthesisFailed)
    assert (stage.outcomes, stage.of(EndTurn)[0].heard_text) == (["completed"], REPLY)


def test_a_clause_that_fails_twice_is_skipped_and_is_not_in_the_history() -> None:
    sentences = [f"Sentence {word} of it is long enough to be one clause of its own." for word in "abc"]
    stage = twin_stage(" ".join(sentences), voice=failing_voice(1, 2))
    stage.run_to(14_000, stage.post_at(Said("one"), 500))
    (end,) = stage.of(EndTurn)
    spoken = [fact for fact in stage.of(ClauseCut) if fact.clause != 1]
    assert [fact.clause for fact in stage.of(ClauseEnded)] == [fact.clause for fact in spoken]
    assert (end.outcome, end.heard_text) == ("completed", "".join(fact.text for fact in spoken))
    assert "the voice failed" in end.reason and "the model broke" in end.reason
    assert_ended_in_order(stage)


@pytest.mark.parametrize("overlap", ["full", "clause", "none"])
def test_a_voice_that_fails_at_every_clause_fails_the_turn_and_the_next_is_spoken(overlap: str) -> None:
    stage = twin_stage("It is so.", voice=failing_voice(0, 1), overlap=overlap)
    stage.run_to(9000, stage.post_at(Said("one"), 500), stage.post_at(Said("two"), 3000))
    assert stage.outcomes == ["failed", "completed"]
    assert stage.of(EndTurn)[0].reason == "the voice failed: the model broke"
    assert_ended_in_order(stage)


def test_a_synthesizer_that_raises_is_a_failed_clause() -> None:
    stage = twin_stage(REPLY)

    class Broken:
        def run(self, order: Synthesize, is_current: object, waited_ms: float, begun: object) -> None:
            raise RuntimeError("no memory")

    stage.parts.make_synthesizer = lambda post: Broken()  # type: ignore[assignment,return-value]
    stage.run_to(6000, stage.post_at(Said("one"), 500))
    assert stage.outcomes == ["failed"] and "the voice" in stage.of(EndTurn)[0].reason
    assert_ended_in_order(stage)
