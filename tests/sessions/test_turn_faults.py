"""Turns under the conditions that people report as faults: echo, pauses, late words, slow parts, signals twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.rules.desk import Desk
from tests.sessions.stage import (
    Finals,
    Heard,
    InlineWorker,
    SlowWorker,
    Stage,
    TimedWords,
    Told,
    WatchedTier,
    tone,
    twin_stage,
)
from voicetui.config import parse_config
from voicetui.events.listen import Evidence, SpeechPaused, SpeechStarted, Transcribed
from voicetui.events.orders import (
    BargeIn,
    Cancel,
    Commit,
    EndTurn,
    Generate,
    Message,
    OpenUtterance,
    Play,
    Reject,
    Synthesize,
)
from voicetui.events.reply import RequestSent
from voicetui.events.session import InterruptAsked, Said, TalkKey
from voicetui.events.speak import ClauseStarted, PlaybackFinished, SpeakerDry
from voicetui.ports import Block, PcmFloat
from voicetui.reply.simulated_tier import SimulatedFault, SimulatedTier
from voicetui.runtime.clock import ManualClock
from voicetui.sound.microphone import FileMicrophone
from voicetui.views.latency import fold_latency
from voicetui.views.ledger import fold_ledger
from voicetui.views.summary import summarise
from voicetui.wiring import Choice, wire

REPLY = "One two three four five six. Seven eight nine ten eleven twelve."


def asked(stage: Stage) -> list[tuple[Message, ...]]:
    assert isinstance(stage.tier, WatchedTier)
    return stage.tier.asked


def assert_well_formed(requests: list[tuple[Message, ...]]) -> None:
    """No two messages of one role in a row, and each user's text once in each request."""
    for messages in requests:
        roles = [message.role for message in messages if message.role != "system"]
        assert roles[0] == roles[-1] == "user"
        assert all(one != other for one, other in pairwise(roles))
        users = [message.text for message in messages if message.role == "user"]
        assert len(users) == len(set(users))


class LateMicrophone(FileMicrophone):
    """A device whose blocks come ``late_ms`` after their sound."""

    late_ms = 100.0

    async def blocks(self) -> AsyncIterator[Block]:
        async for block in super().blocks():
            await self._clock.sleep_until(block.at_ms + 20.0 + self.late_ms)
            yield block


# the agent hears itself


@pytest.mark.parametrize(("delay_ms", "late_ms"), [(120.0, 0.0), (0.0, 0.0), (40.0, 0.0), (120.0, 100.0)])
def test_in_half_duplex_the_echo_of_the_reply_is_no_turn_and_no_interruption(delay_ms: float, late_ms: float) -> None:
    stage = twin_stage(REPLY, duplex="half")
    stage.microphone = LateMicrophone(stage.clock, [(1000, tone(800)), (8000, tone(600))])
    stage.microphone.late_ms = late_ms
    stage.parts.microphone = stage.microphone
    stage.parts.transcriber = TimedWords((1800, "hello"), (8600, "again"))

    def echo(sample: int, samples: PcmFloat) -> None:
        quiet = np.clip(samples * 10 ** (-12 / 20) * 32767, -32768, 32767).astype(np.int16)
        stage.microphone.play(quiet, (sample / 16) + delay_ms)

    stage.parts.recorder = Heard(echo)
    stage.run_to(15_000)
    assert [order.text for order in stage.of(Commit)] == ["hello", "again"]
    assert len(stage.of(OpenUtterance)) == 2 and not stage.of(Reject) and not stage.of(BargeIn)
    assert stage.outcomes == ["completed", "completed"]


# pauses and slow recognisers


def test_thinking_pauses_keep_one_turn_and_a_finished_sentence_is_committed_at_the_short_delay() -> None:
    bursts = [(1000, 2200), (3100, 3300), (4000, 4400)]
    stage = twin_stage(REPLY, bursts=bursts)
    stage.parts.transcriber = TimedWords((2200, "I want to reset the"), (3300, "uh"), (4400, "panel"))
    stage.run_to(9000)
    (commit,) = stage.all(Commit)
    assert commit.body.text == "I want to reset the uh panel"
    assert commit.body.reason == "silence" and commit.at - 4400 == pytest.approx(500, abs=30)
    stage = twin_stage(REPLY, bursts=[(1000, 2000)])
    stage.parts.transcriber = TimedWords((2000, "That is all."))
    stage.run_to(4000)
    (commit,) = stage.all(Commit)
    assert commit.at - 2000 == pytest.approx(500, abs=30) and commit.body.silence_ms == 500


@pytest.mark.parametrize("overlap", ["full", "clause"])
def test_a_recogniser_that_takes_seconds_postpones_no_edge_of_the_speech(overlap: str) -> None:
    bursts = [(1000, 2000), (2500, 3200), (3800, 4500)]
    stage = twin_stage(REPLY, bursts=bursts, overlap=overlap)
    stage.parts.make_worker = lambda name, clock: (
        SlowWorker(stage.clock, 3000) if name == "transcribe" else InlineWorker()
    )
    stage.parts.transcriber = TimedWords((2000, "I was"), (3200, "going to say"), (4500, "this"))
    stage.run_to(20_000)
    edges = stage.all(SpeechStarted, SpeechPaused)
    truth = [ms for burst in bursts for ms in burst]
    assert [entry.at for entry in edges] == pytest.approx(truth, abs=32)
    assert all(entry.body.noticed_ms - entry.at <= 160 for entry in edges)
    (commit,) = stage.of(Commit)
    assert commit.text == "I was going to say this"
    assert stage.of(EndTurn)[-1].outcome == "completed"


@pytest.mark.parametrize("end_ms", [1605, 1610, 1620])
def test_no_partial_begins_while_the_voice_is_dying_away(end_ms: int) -> None:
    """It is due 700 ms after the onset, when there is silence, of which it is not known yet that it is a pause."""
    stage = twin_stage(REPLY, bursts=[(1000, end_ms)])
    stage.parts.make_worker = lambda name, clock: (
        SlowWorker(stage.clock, 200) if name == "transcribe" else InlineWorker()
    )
    stage.parts.transcriber = TimedWords((end_ms, "That is all."))
    stage.run_to(4000)
    (final,) = [fact for fact in stage.of(Transcribed) if fact.final]
    assert final.waited_ms == 0.0


def test_a_partial_that_waited_for_a_dip_is_made_when_the_voice_goes_on() -> None:
    stage = twin_stage(REPLY, bursts=[(1000, 1680), (1740, 2150)])
    stage.parts.transcriber = TimedWords((1680, "That"), (2150, "is all."))
    stage.run_to(4000)
    partials = [fact for fact in stage.of(Transcribed) if not fact.final]
    assert partials and partials[0].text == "That"


# words and signals that come late, twice, or alone


def late(utterance: int, text: str, end_sample: int = 32_000) -> Transcribed:
    return Transcribed(utterance, 9, text, True, 16_000, end_sample, 0.0, 0.0, Evidence())


@pytest.mark.parametrize("utterance", [0, 1, 7])
def test_a_transcript_without_speech_is_a_turn_whose_speech_times_are_unknown(utterance: int) -> None:
    stage = twin_stage(REPLY)
    stage.run_to(8000, stage.post_at(late(utterance, "is anybody there"), 1000))
    (commit,) = stage.all(Commit)
    assert commit.body.text == "is anybody there" and commit.at == pytest.approx(1000, abs=20)
    assert stage.of(EndTurn)[-1].outcome == "completed"
    (latency,) = fold_latency(stage.entries)
    assert latency.gap_ms is None and latency.points.user_end is None and latency.heard
    assert summarise(stage.entries)["turns"][0]["gap_ms"] is None


def test_a_doubted_empty_or_partial_transcript_without_speech_is_no_turn() -> None:
    desk = Desk()
    desk.tell(Transcribed(1, 1, "Thank you.", True, 0, 16_000, 0.0, 0.0, Evidence(), "invented"))
    desk.tell(Transcribed(1, 1, " ... ", True, 0, 16_000, 0.0, 0.0, Evidence()))
    desk.tell(Transcribed(1, 1, "is anybody", False, 0, 16_000, 0.0, 0.0, Evidence()))
    assert not desk.all(Commit)


@pytest.mark.parametrize(("ttft_ms", "outcome"), [(2500.0, "cut_off"), (100.0, "interrupted")])
def test_words_said_after_the_commit_are_not_lost_and_no_two_replies_are_heard(ttft_ms: float, outcome: str) -> None:
    stage = twin_stage(REPLY, bursts=[(1000, 1300), (2200, 2900)], ttft_ms=ttft_ms)
    stage.parts.transcriber = TimedWords((1300, "No."), (2900, "date needed now"))
    stage.parts.recorder = Heard()
    stage.run_to(14_000)
    first, second = stage.all(Commit)
    assert first.body.text == "No."
    assert second.body.text == ("No. date needed now" if outcome == "cut_off" else "date needed now")
    assert second.at - 2900 < 600, "nobody waits for anything"
    assert stage.outcomes == [outcome, "completed"]
    assert_well_formed(asked(stage))
    assert "No." in " ".join(message.text for message in asked(stage)[-1])


def test_words_that_come_after_the_silence_are_committed_when_they_come() -> None:
    stage = twin_stage(REPLY, bursts=[(1000, 1600)], overlap="clause")
    stage.parts.make_worker = lambda name, clock: (
        SlowWorker(stage.clock, 300) if name == "transcribe" else InlineWorker()
    )
    stage.parts.transcriber = TimedWords((1600, "date needed now"))
    stage.run_to(9000)
    (commit,) = stage.all(Commit)
    assert commit.at - 1600 == pytest.approx(600 + 300, abs=60)
    assert stage.of(EndTurn)[-1].outcome == "completed"


def test_late_final_words_of_a_committed_or_wordless_utterance_make_a_turn_and_repeated_ones_do_not() -> None:
    desk = Desk()
    desk.speech(1000, 1300)
    desk.words("No.")
    desk.run_to(1900)
    desk.tell(late(1, "no"))
    desk.tell(late(1, "No!"))
    assert len(desk.all(Commit)) == 1 and not desk.all(Cancel)
    desk.tell(late(1, "No. Date needed now"), 2100)
    assert desk.last(Commit).text == "No. Date needed now"
    assert desk.last(EndTurn).outcome == "cut_off"
    desk = Desk()
    desk.speech(1000, 1300)
    desk.words("")
    desk.run_to(1900)
    assert desk.last(Reject).reason == "no words"
    desk.tell(late(1, "date needed now"), 2200)
    assert desk.last(Commit).text == "date needed now"


def test_two_ends_of_a_turn_and_a_repeated_final_give_one_request_one_reply_and_one_message() -> None:
    stage = twin_stage(REPLY, bursts=[(1000, 1800), (8000, 8600)])
    stage.parts.transcriber = Told(["what is the time", "and the date"])
    end = SpeechPaused(28_800, 5.0, 2400.0, -20.0, -70.0)
    twice = [stage.post_at(end, 1980), stage.post_at(end, 2380), stage.post_at(TalkKey(False), 2380)]
    finals = [stage.post_at(late(1, "what is the time?"), ms) for ms in (2250, 2320, 2600)]
    stage.run_to(14_000, *twice, *finals)
    assert [order.text for order in stage.of(Commit)] == ["what is the time", "and the date"]
    assert len(stage.of(RequestSent)) == 2
    assert [message.role for message in asked(stage)[-1]] == ["user", "assistant", "user"]


# what the tier is asked


def test_a_turn_cancelled_before_its_reply_leaves_no_user_message_behind() -> None:
    stage = twin_stage(REPLY, bursts=[(1000, 1600), (5000, 5600), (12_000, 12_600)], ttft_ms=900.0)
    stage.parts.transcriber = TimedWords((1600, "first"), (5600, "second"), (12_600, "third"))
    stage.run_to(18_000, stage.post_at(InterruptAsked(), 2300))
    assert stage.outcomes == ["interrupted", "completed", "completed"]
    assert_well_formed(asked(stage))
    assert [message.text for message in asked(stage)[1]] == ["second"]
    assert [message.text for message in asked(stage)[2]] == ["second", REPLY, "third"]


def test_what_is_typed_at_once_is_one_turn_and_nothing_of_it_waits_behind_an_answer() -> None:
    stage = twin_stage(REPLY, bursts=[(1000, 1600)])
    stage.parts.transcriber = TimedWords((1600, "first"))
    typed = [stage.post_at(Said(text), 2600) for text in ("second", "and third")]
    stage.run_to(12_000, *typed)
    assert [order.text for order in stage.of(Commit)] == ["first", "second and third"]
    assert_well_formed(asked(stage))


# speculation


def test_a_draft_is_kept_while_its_words_hold_whatever_their_case() -> None:
    stage = twin_stage(REPLY, bursts=[(1000, 1900), (2200, 2280), (2600, 2680)])
    stage.parts.transcriber = Finals("what's the weather", "What's the weather?", "What’s the weather")
    stage.run_to(9000)
    (draft,), (commit,) = stage.of(Generate), stage.of(Commit)
    assert draft.speculative and draft.basis == commit.basis and not stage.of(Cancel)
    assert fold_ledger(stage.entries).wasted_tokens == 0


def test_other_words_cancel_a_draft_once_and_the_waste_is_counted() -> None:
    stage = twin_stage(REPLY, bursts=[(1000, 1900), (2200, 2900)])
    stage.parts.transcriber = Finals("what's the weather", "what's the weather in Paris")
    stage.run_to(9000)
    first, second = stage.of(Generate)
    assert [order.basis for order in stage.of(Cancel)] == [first.basis]
    assert {order.basis for order in stage.of(Play)} == {second.basis}
    ledger = fold_ledger(stage.entries)
    assert (ledger.attempts, ledger.kept) == (2, 1) and ledger.wasted_tokens > 0


def test_words_that_change_at_every_pause_cost_a_limited_number_of_drafts_and_one_is_spoken() -> None:
    bursts = [(1000.0 + 700 * number, 1400.0 + 700 * number) for number in range(7)]
    stage = twin_stage(REPLY, bursts=bursts, policy={"attempts": 3})
    stage.parts.transcriber = TimedWords(*((end_ms, f"word{number}") for number, (_, end_ms) in enumerate(bursts)))
    stage.run_to(14_000)
    drafts = [order for order in stage.of(Generate) if order.speculative]
    (commit,) = stage.of(Commit)
    assert len(drafts) == 3 and len(stage.of(Generate)) == 4
    assert commit.text == " ".join(f"word{number}" for number in range(7))
    assert {order.basis for order in stage.of(Play)} == {commit.basis}
    assert fold_ledger(stage.entries).wasted_tokens > 0


# starts and stops, and what is not said again


def test_a_hole_of_two_seconds_in_the_reply_ends_no_turn_and_starts_it_once() -> None:
    clock = ManualClock()
    stall = SimulatedFault("stall", after_tokens=9, ms=4000.0)
    tier = SimulatedTier(clock, "twin", tokens_per_second=50, replies=(REPLY,), faults=(stall,))
    stage = Stage(clock=clock, tier=tier)
    stage.run_to(14_000, stage.post_at(Said("hello"), 500))
    (dry,) = stage.of(SpeakerDry)
    assert dry.ms > 2000
    assert len(stage.of(PlaybackFinished)) == len(stage.of(EndTurn)) == 1
    assert [fact.clause for fact in stage.of(ClauseStarted)] == [0, 1]
    assert stage.of(EndTurn)[0].heard_text == REPLY


def test_nothing_of_the_reply_before_is_said_while_a_slow_tier_thinks() -> None:
    stage = twin_stage("The first answer is this.", "The second answer is that.", ttft_ms=3000.0)
    heard = stage.parts.recorder = Heard()
    stage.run_to(16_000, stage.post_at(Said("one"), 500), stage.post_at(Said("two"), 7000))
    first, second = stage.of(Generate)
    assert stage.outcomes == ["completed", "completed"]
    assert [order.spoken for order in stage.of(Synthesize)] == [
        "The first answer is this.",
        "The second answer is that.",
    ]
    assert [order.basis for order in stage.of(Play)] == [first.basis, second.basis]
    assert not heard.between(7000, 10_000).any()


# what is configured


class Unsure:
    """A detector's network that is 80 % sure of everything."""

    def run(self, outputs: object, feed: dict[str, NDArray[np.float32]]) -> tuple[NDArray[np.float32], ...]:
        return np.full((len(feed["input"]), 1), 0.8, np.float32), feed["h"], feed["c"]


@pytest.mark.models
@pytest.mark.parametrize(("threshold", "speech"), [(0.9, False), (0.7, True)])
def test_the_threshold_of_the_configuration_is_the_one_that_listens(
    threshold: float, speech: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voicetui.listen.vad.network", lambda path=None: Unsure())
    config = parse_config(f"[listen]\nvad_threshold = {threshold}", "my.toml")
    wired = wire(config, Choice("test", output="null", microphone=False, record=False), ManualClock())
    edges = [
        edge for block in range(20) for edge in wired.ear.hear(Block(tone(20), 320 * block, 20.0 * block), False, False)
    ]
    assert [edge.kind for edge in edges] == (["started"] if speech else [])
