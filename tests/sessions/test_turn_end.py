"""Turns that end by the voice's own melody, in whole sessions on the manual clock."""

from __future__ import annotations

import asyncio

import pytest

from tests.sessions.stage import InlineWorker, SlowWorker, Stage, TimedWords, assert_ended_in_order, twin_stage
from voicetui.config import parse_config
from voicetui.events.listen import Transcribed, TurnScored
from voicetui.events.orders import Commit, ScoreTurn, ScoreWords
from voicetui.events.session import Fault, StopAsked
from voicetui.listen.score import Scorer
from voicetui.listen.scripted import ScriptedScorer, ScriptedWords
from voicetui.ports import StageError
from voicetui.runtime.clock import ManualClock
from voicetui.views.latency import fold_latency
from voicetui.views.timeline import fold_timeline
from voicetui.wiring import Choice, wire

REPLY = "One two three four five six. Seven eight nine ten eleven twelve."


def scored_stage(
    *scores: float | StageError,
    bursts: list[tuple[float, float]],
    words: list[tuple[float, str]],
    reply_wait_ms: float = 0,
    policy: dict[str, object] | None = None,
    **more: object,
) -> Stage:
    rules = {"turn_end": "model", "reply_wait_ms": reply_wait_ms} | (policy or {})
    stage = twin_stage(REPLY, bursts=bursts, policy=rules, **more)
    stage.parts.scorer = Scorer(ScriptedScorer(scores), stage.clock)
    stage.parts.transcriber = TimedWords(*words)
    return stage


def test_what_sounds_and_reads_finished_is_answered_after_a_quarter_of_a_second_and_the_screen_says_why() -> None:
    stage = scored_stage(0.97, bursts=[(1000, 2000)], words=[(2000, "That is all.")])
    stage.run_to(6000)
    (commit,) = stage.all(Commit)
    assert commit.at - 2000 == pytest.approx(240, abs=20)
    (turn,) = fold_latency(stage.entries)
    assert turn.ended_by == "turn model, 240 ms, score 0.97"
    timeline = fold_timeline(stage.entries)
    assert [mark.label for mark in timeline.marks if mark.kind == "commit"] == [turn.ended_by]
    assert turn.ended_by in [span.label for span in timeline.spans if span.lane == "endpoint"]
    assert_ended_in_order(stage)


def test_the_time_a_turn_stays_open_for_its_reply_is_charged_to_the_work_it_waited_for() -> None:
    stage = scored_stage(0.97, bursts=[(1000, 2000)], words=[(2000, "That is all.")], reply_wait_ms=700)
    stage.parts.make_worker = lambda name, clock: SlowWorker(clock, {"transcribe": 90}.get(name, 0))
    stage.run_to(6000)
    (commit,) = stage.all(Commit)
    assert commit.body.silence_ms == 240 and commit.body.held_ms == pytest.approx(commit.at - 2240, abs=5)
    (turn,) = fold_latency(stage.entries)
    assert turn.ended_by == f"turn model, 240 ms, score 0.97, open {commit.body.held_ms:.0f} ms more for the reply"
    stages = turn.stages_ms
    assert stages.endpoint == pytest.approx(100, abs=20), "the pause was noticed, and work began"
    assert stages.transcribe == pytest.approx(90, abs=10)


def test_a_sentence_that_is_over_by_its_words_is_answered_though_its_sound_goes_on_and_the_screen_says_why() -> None:
    stage = scored_stage(
        0.05, bursts=[(1000, 2000)], words=[(2000, "Tell me who he was.")], policy={"score_words": True}
    )
    stage.parts.words = ScriptedWords({"tell me who he was": 0.8})
    stage.run_to(6000)
    (commit,) = stage.all(Commit)
    assert commit.at - 2000 == pytest.approx(240, abs=20)
    (turn,) = fold_latency(stage.entries)
    assert turn.ended_by == "turn model, 240 ms, words 0.80"
    assert stage.parts.words.read == ["Tell me who he was."]
    assert_ended_in_order(stage)


def test_words_that_nobody_waits_for_any_more_are_not_scored() -> None:
    bursts = [(1000, 1500), (1700, 2200), (2400, 2900)]
    words = [(1500, "I think"), (2200, "we could"), (2900, "go.")]
    stage = scored_stage(0.5, 0.5, 0.5, bursts=bursts, words=words, policy={"score_words": True})
    stage.parts.words = ScriptedWords({})
    stage.parts.make_worker = lambda name, clock: SlowWorker(clock, 1000 if name == "words" else 0)
    stage.run_to(8000)
    assert len(stage.parts.words.read) < len(stage.all(ScoreWords)) == 3
    assert stage.parts.words.read[-1] == "I think we could go."


def test_a_model_of_words_that_breaks_is_a_fault_and_turns_end_without_it() -> None:
    words = [(2000, "That is all."), (8000, "It is late.")]
    stage = scored_stage(0.97, 0.97, bursts=[(1000, 2000), (7000, 8000)], words=words, policy={"score_words": True})
    stage.parts.words = ScriptedWords({"that is all": StageError("The model of words broke.", "Pull it.", "words")})
    stage.run_to(12_000)
    assert [entry.body.stage for entry in stage.all(Fault)] == ["words"]
    assert [entry.at - end for entry, end in zip(stage.all(Commit), (2000, 8000), strict=True)] == [
        pytest.approx(240, abs=20), pytest.approx(240, abs=20)
    ]  # fmt: skip
    assert len(stage.all(ScoreWords)) == 1


def test_thinking_pauses_of_700_ms_and_a_trailing_um_keep_one_turn() -> None:
    bursts = [(1000, 2200), (2900, 3200), (3900, 4400)]
    words = [(2200, "I want to reset the"), (3200, "um"), (4400, "panel.")]
    stage = scored_stage(0.05, 0.9, 0.97, bursts=bursts, words=words)
    stage.run_to(9000)
    (commit,) = stage.all(Commit)
    assert commit.body.text == "I want to reset the um panel."
    assert commit.at - 4400 == pytest.approx(240, abs=20)
    assert stage.session.state.own_pauses_ms == (pytest.approx(700, abs=30), pytest.approx(700, abs=30))


def test_a_slow_score_does_not_keep_the_words_waiting() -> None:
    stage = scored_stage(0.97, bursts=[(1000, 2000)], words=[(2000, "That is all.")])
    stage.parts.make_worker = lambda name, clock: SlowWorker(clock, {"score": 2000, "transcribe": 90}.get(name, 0))
    stage.run_to(6000)
    (words,) = [entry for entry in stage.all(Transcribed) if entry.body.final]
    assert words.at - 2000 < 260
    (commit,) = stage.all(Commit)
    assert (commit.body.reason, commit.at - 2000) == ("silence", pytest.approx(500, abs=20))


def test_a_score_that_nobody_waits_for_any_more_is_not_made() -> None:
    bursts = [(1000, 1500), (1700, 2200), (2400, 2900)]
    stage = scored_stage(0.1, 0.1, 0.97, bursts=bursts, words=[(end_ms, "and so") for _, end_ms in bursts])
    stage.parts.make_worker = lambda name, clock: SlowWorker(clock, 1000 if name == "score" else 0)
    stage.run_to(6000)
    assert len(stage.of(ScoreTurn)) == 3
    assert [fact.request for fact in stage.of(TurnScored)] == [stage.of(ScoreTurn)[-1].request]


def test_a_broken_model_is_told_once_and_the_session_goes_on_with_silence_alone() -> None:
    broken = StageError("The end-of-turn network failed.", "Pull it again.", "score")
    bursts = [(1000, 2000), (6000, 7000)]
    stage = scored_stage(broken, broken, bursts=bursts, words=[(2000, "That is all."), (7000, "And that, too.")])
    stage.run_to(12_000)
    assert [(fault.message, fault.remedy) for fault in stage.of(Fault)] == [(str(broken), "Pull it again.")]
    assert [order.reason for order in stage.of(Commit)] == ["silence", "silence"]
    assert stage.outcomes == ["completed", "completed"]


def test_a_model_that_does_not_load_is_told_once() -> None:
    stage = scored_stage(bursts=[(1000, 2000)], words=[(2000, "That is all.")])

    def fail() -> float:
        raise StageError("There is no such network.", "Pull it.", "score")

    stage.parts.warm = {"score": fail}
    stage.run_to(6000)
    assert [fault.stage for fault in stage.of(Fault)] == ["score"]
    assert not stage.of(ScoreTurn) and stage.of(Commit)[0].reason == "silence"


@pytest.mark.models
def test_without_the_model_s_file_the_session_says_so_once_and_goes_on() -> None:
    config = parse_config("[endpoint]\nmodel = 'org/nowhere:turn.onnx'", "my.toml")
    choice = Choice("test", tier="pretend-750", output="null", microphone=False, record=False)
    clock = ManualClock()
    wired = wire(config, choice, clock)
    wired.session.parts.warm, wired.session.parts.make_worker = {}, lambda name, clock: InlineWorker()

    async def main() -> None:
        running = asyncio.create_task(wired.session.run())
        wired.session.post(StopAsked("finished"), 100.0)
        while not running.done():
            await clock.advance(10)

    asyncio.run(main())
    (fault,) = [entry.body for entry in wired.journal.entries_since(0) if isinstance(entry.body, Fault)]
    assert "org/nowhere" in fault.message and "voicetui models pull" in fault.message
    assert "silence alone" in fault.remedy and wired.session.state.unscored
