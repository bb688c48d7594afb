"""Whole sessions with staged gaps, on a manual clock: heard exactly when it was asked for, told apart from the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from tests.sessions.stage import Heard, Stage, clip
from voicetui.config import assets
from voicetui.events.orders import STAGED, Commit, EndTurn, Generate
from voicetui.events.session import GapStaged, StopAsked
from voicetui.ports import PcmFloat
from voicetui.rehearse.person import Person, Watch
from voicetui.rehearse.scenario import Line, Scenario, load_scenario
from voicetui.reply.ready_made_tier import ReadyMadeTier
from voicetui.sound.wav import read_audio
from voicetui.speak.scripted import ScriptedVoice
from voicetui.views.latency import TurnLatency, fold_latency
from voicetui.views.session_state import SessionStateView
from voicetui.views.summary import summarise

QUESTIONS = ("capital-of-france", "capital-of-italy", "einstein")
SOUNDS = {name: clip(name) for name in QUESTIONS}
TEXTS = ("What is the capital of France?", "What is the capital of Italy?", "Tell me who Albert Einstein was.")


def stage_of(*gaps_ms: float, texts: Sequence[str] = TEXTS * 2, **options: object) -> tuple[Stage, Heard]:
    """A stage where these gaps are staged, and what is heard there. The voice is silent for 45 ms first."""
    voice, policy = ScriptedVoice(lead_ms=45.0), {"staged_gaps_ms": list(gaps_ms)}
    stage = Stage(texts, voice=voice, policy=policy, **options)  # type: ignore[arg-type]
    stage.parts.tiers = {**stage.parts.tiers, STAGED: ReadyMadeTier(stage.clock, ("It is so.", "So it is, I think."))}
    heard = Heard()
    stage.parts.recorder = heard
    return stage, heard


def ask(stage: Stage, turns: int, *companions: object) -> tuple[TurnLatency, ...]:
    """Ask so many questions, one after the other; the turns."""
    lines = [Line(say=(QUESTIONS[number % len(QUESTIONS)],)) for number in range(turns)]
    asyncio.run(play(stage, Scenario(title="staged", lines=tuple(lines)), SOUNDS, *companions))
    return fold_latency(stage.entries)


async def play(stage: Stage, scenario: Scenario, sounds: dict[str, np.ndarray], *companions: object) -> None:
    """A person says these lines, impatient where the scenario says so; the session ends after the last."""
    watch, told = Watch(), 0
    person = Person(scenario, sounds, stage.microphone, watch, stage.clock)

    def feed() -> None:
        nonlocal told
        entries = stage.journal.entries_since(told)
        told += len(entries)
        watch.feed(entries)

    async def perform() -> None:
        await person.perform()
        stage.session.post(StopAsked("finished"))

    stage.session.on_entries = feed
    await stage.run(perform, *companions)


def first_audible_ms(sound: PcmFloat) -> float:
    """Where float32 at 16 kHz is first as loud as -50 dBFS, ms."""
    return float(np.flatnonzero(np.abs(sound) >= 10**-2.5)[0]) / 16


@pytest.mark.parametrize("overlap", ["full", "none"])
@pytest.mark.parametrize("gaps_ms", [(200.0,), (700.0,), (1500.0,), (200.0, 1400.0), (345.6, 5000.0, 333.3)])
def test_the_reply_is_heard_exactly_one_gap_after_the_user_ends(gaps_ms: tuple[float, ...], overlap: str) -> None:
    stage, heard = stage_of(*gaps_ms, overlap=overlap)
    turns = ask(stage, 4)
    asked_ms = [gaps_ms[number % len(gaps_ms)] for number in range(4)]
    assert [turn.outcome for turn in turns] == ["completed"] * 4
    assert [turn.gap_ms for turn in turns] == pytest.approx(asked_ms, abs=1)
    assert [turn.staged_ms for turn in turns] == pytest.approx(asked_ms, abs=0.01)
    for turn, gap_ms in zip(turns, asked_ms, strict=True):
        end_ms = turn.points.user_end
        assert turn.staged and end_ms is not None
        assert first_audible_ms(heard.between(end_ms, end_ms + gap_ms + 500)) == pytest.approx(gap_ms, abs=1.5)
    assert all(entry.body.tier == STAGED for entry in stage.all(Generate))


def test_the_words_are_on_the_screen_although_nothing_waited_for_them() -> None:
    stage, _ = stage_of(200.0)
    ask(stage, 3)
    summary = summarise(stage.entries)
    assert [turn["user_text"] for turn in summary["turns"]] == list(TEXTS)
    assert [turn["heard_text"] for turn in summary["turns"]] == ["It is so.", "So it is, I think.", "It is so."]


def test_staged_turns_are_told_apart_and_the_real_tiers_figures_know_nothing_of_them() -> None:
    """Switched on and off while the session runs: real, 200, 1400, real."""
    stage, _ = stage_of()

    async def switch() -> None:
        for gaps_ms, turns in (((200.0, 1400.0), 1), ((), 3)):
            while len(stage.all(EndTurn)) < turns:
                await stage.clock.sleep_until(stage.clock.now_ms() + 20)
            stage.session.post(GapStaged(gaps_ms))

    turns = ask(stage, 4, switch)
    shown: list[tuple[float, ...]] = []
    view = SessionStateView()
    for entry in stage.entries:
        view.feed(entry)
        if not shown or shown[-1] != view.snapshot().staged_gaps_ms:
            shown.append(view.snapshot().staged_gaps_ms)
    assert shown == [(), (200.0, 1400.0), ()]
    assert [turn.staged for turn in turns] == [False, True, True, False]
    assert [turn.tier for turn in turns] == ["twin", STAGED, STAGED, "twin"]
    real_ms = [turn.gap_ms for turn in turns if not turn.staged]
    summary = summarise(stage.entries)
    assert [turn["staged"] for turn in summary["turns"]] == [False, True, True, False]
    assert summary["gap_ms"]["n"] == 2
    assert summary["gap_ms"]["max"] == max(real_ms)  # type: ignore[type-var]
    assert summary["staged_gap_ms"]["n"] == 2
    assert summary["staged_gap_ms"]["max"] == pytest.approx(1400, abs=1)
    assert summary["staged_gap_ms"]["rhythm"] == pytest.approx(1200, abs=1)
    assert summary["tier"] == "twin"
    assert summary["ledger"]["attempts"] == 2, "a ready-made reply is no speculation"
    for turn in turns[1:3]:
        assert turn.stages_ms.unaccounted == turn.gap_ms
        assert turn.stages_ms.endpoint is turn.stages_ms.output is None


def test_without_staged_gaps_the_summary_has_none_and_a_session_of_them_says_so() -> None:
    stage, _ = stage_of()
    ask(stage, 1)
    assert summarise(stage.entries)["staged_gap_ms"] is None
    stage, _ = stage_of(700.0)
    ask(stage, 1)
    summary = summarise(stage.entries)
    assert (summary["tier"], summary["simulated"], summary["gap_ms"]["n"]) == (STAGED, True, 0)


def test_a_gap_too_short_for_the_ear_is_as_short_as_can_be_and_the_figures_say_so() -> None:
    stage, _ = stage_of(50.0)
    for turn in ask(stage, 3):
        assert turn.staged_ms == pytest.approx(50, abs=0.01)
        assert turn.gap_ms is not None and 50 < turn.gap_ms < 140


def shipped() -> tuple[Scenario, dict[str, np.ndarray]]:
    scenario = load_scenario(assets() / "scenarios" / "staged.toml")
    says = [each for line in (*scenario.lines, Line(say=scenario.impatient)) for each in line.say]
    return scenario, {name: read_audio(name)[0] for name in says if isinstance(name, str)}


@pytest.mark.parametrize("gaps_ms", [(200.0,), (700.0,), (200.0, 1400.0)])
def test_the_shipped_person_waits_for_an_answer_that_comes_in_time(gaps_ms: tuple[float, ...]) -> None:
    scenario, sounds = shipped()
    stage, _ = stage_of(*gaps_ms, texts=[line.text for line in scenario.lines])
    asyncio.run(play(stage, scenario, sounds))
    turns = fold_latency(stage.entries)
    asked_ms = [gaps_ms[number % len(gaps_ms)] for number in range(len(scenario.lines))]
    assert [turn.gap_ms for turn in turns] == pytest.approx(asked_ms, abs=1)
    summary = summarise(stage.entries)
    assert (summary["collisions"], summary["cut_offs"], summary["rejected"]) == (0, 0, [])


def test_after_a_second_and_a_half_the_shipped_person_asks_again_and_collides_with_the_answer() -> None:
    scenario, sounds = shipped()
    scenario = msgspec.structs.replace(scenario, lines=scenario.lines[:2])
    texts = [text for line in scenario.lines for text in (line.text, "Hello? Are you there?")]
    stage, _ = stage_of(1500.0, texts=texts)
    asyncio.run(play(stage, scenario, sounds))
    turns = fold_latency(stage.entries)
    summary = summarise(stage.entries)
    assert (summary["collisions"], summary["staged_collisions"]) == (2, 2)
    assert [turn.outcome for turn in turns][1::2] == ["completed"] * 2, "the second question is answered"
    assert all(turn.outcome in ("superseded", "interrupted") for turn in turns[::2])
    assert [turn.gap_ms for turn in turns[1::2]] == pytest.approx([1500, 1500], abs=1)
    assert [entry.body.reason for entry in stage.all(Commit)] == [STAGED] * 4
