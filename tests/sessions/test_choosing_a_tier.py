"""Another tier is chosen in mid-session: what is being answered goes on, the next turn is the other tier's."""

from __future__ import annotations

import pytest

from tests.sessions.stage import WatchedTier, assert_ended_in_order, twin_stage
from voicetui.events.orders import EndTurn, Generate
from voicetui.events.session import Said, TierChosen
from voicetui.views.summary import summarise

FIRST = "One two three four five six."
OTHER = "Seven eight nine ten."


@pytest.mark.parametrize("chosen_ms", [900, 1500, 5000], ids=["before a word", "in mid-reply", "between turns"])
def test_the_next_turn_is_answered_by_the_tier_that_was_chosen(chosen_ms: float) -> None:
    stage = twin_stage(FIRST)
    stage.parts.tiers["other"] = WatchedTier(stage.clock, OTHER)  # type: ignore[index]
    stage.run_to(
        12_000,
        stage.post_at(Said("one"), 500),
        stage.post_at(TierChosen("other"), chosen_ms),
        stage.post_at(Said("two"), 6000),
    )
    assert [order.body.tier for order in stage.all(Generate)] == ["twin", "other"]
    ends = [(end.body.outcome, end.body.heard_text.strip()) for end in stage.all(EndTurn)]
    assert ends == [("completed", FIRST), ("completed", OTHER)]
    assert summarise(stage.entries)["tier"] == "twin+other"
    assert_ended_in_order(stage)
