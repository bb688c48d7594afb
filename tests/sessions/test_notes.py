"""Whole sessions with notes: looked up while the question is asked, in the request when it is over."""

from __future__ import annotations

import pytest

from tests.sessions.stage import Stage, TimedWords, WatchedTier, assert_ended_in_order, tone
from voicetui.events.orders import AdoptContext, AssembleContext, Commit, EndTurn, Generate
from voicetui.events.reply import ContextAssembled, Passage
from voicetui.events.session import Fault, Said
from voicetui.listen.scripted import EnergyDetector
from voicetui.reply.knowledge import ScriptedKnowledge
from voicetui.runtime.clock import ManualClock

BIKE = Passage("bikes.md", "The red bike costs ninety euros.")
WORDS = TimedWords((1300, "What"), (1400, "does"), (1500, "the"), (1600, "bike"), (2600, "cost?"))


def session(overlap: str = "full", broken: str = "") -> tuple[Stage, WatchedTier]:
    clock = ManualClock()
    tier = WatchedTier(clock, "Ninety euros. Do you want it?")
    stage = Stage(
        clock=clock, tier=tier, detector=EnergyDetector(), clips=[(1000, tone(1700))], overlap=overlap,
        policy={"knowledge": True},
    )  # fmt: skip
    stage.parts.transcriber = WORDS
    stage.parts.knowledge = ScriptedKnowledge({"bike": BIKE}, broken)
    return stage, tier


@pytest.mark.parametrize("overlap", ["full", "clause", "none"])
def test_what_the_notes_say_is_in_the_request(overlap: str) -> None:
    stage, tier = session(overlap)
    stage.run_to(9000)
    assert "ninety euros" in tier.asked[-1][-1].text
    assert tier.asked[-1][-1].text.endswith("What does the bike cost?")
    assert [order.outcome for order in stage.of(EndTurn)] == ["completed"]
    assert_ended_in_order(stage)


def test_with_full_overlap_the_notes_are_there_before_the_question_is_over() -> None:
    stage, _ = session()
    stage.run_to(9000)
    asked, adopted = stage.all(AssembleContext), stage.all(AdoptContext)
    assert asked[0].at < 2600, "while the person still spoke"
    assert len(adopted) == 1
    assert adopted[0].at < stage.all(Generate)[0].at <= stage.all(Commit)[0].at
    assert len(stage.of(Generate)) == 1, "no draft was made for nothing"


def test_notes_that_cannot_be_searched_cost_the_notes_and_not_the_turn() -> None:
    stage, tier = session(broken="the index is gone")
    stage.run_to(9000, stage.post_at(Said("And the bike pump?"), 6500))
    assert {fact.note for fact in stage.of(ContextAssembled)} == {"the index is gone"}
    assert [messages[-1].text for messages in tier.asked] == ["What does the bike cost?", "And the bike pump?"]
    assert len(stage.of(EndTurn)) == 2
    assert len(stage.of(ContextAssembled)) > 1
    (fault,) = [fault for fault in stage.of(Fault) if fault.stage == "context"]
    assert "the index is gone" in fault.message and fault.remedy
