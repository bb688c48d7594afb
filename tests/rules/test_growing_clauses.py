"""A clause that may be heard before it is whole: what waits for its beginning, and what for its end."""

from __future__ import annotations

import pytest

from tests.rules.desk import Desk
from voicetui.events.base import Basis
from voicetui.events.orders import Cancel, Commit, EndTurn, FinishPlayback, Play, Synthesize
from voicetui.events.speak import ClauseBegun, ClauseEnded, ClauseSynthesized, PlaybackFinished, SynthesisFailed


def committed(desk: Desk, *clauses: str) -> Basis:
    """A committed turn whose reply has these clauses, none of them synthesised yet."""
    desk.speech(1000, 2000)
    desk.words("What is the capital of France?")
    desk.run_to(2500)
    assert desk.all(Commit)
    return desk.answer(*clauses)


def begun(basis: Basis, clause: int = 0) -> ClauseBegun:
    return ClauseBegun(basis, clause, 0.0, 0.0, 10.0)


def whole(basis: Basis, clause: int = 0) -> ClauseSynthesized:
    return ClauseSynthesized(basis, clause, 0.0, 0.0, 0.0, 10.0, 1000.0)


def test_it_is_played_from_its_beginning_and_the_next_is_made_after_its_end() -> None:
    desk = Desk()
    basis = committed(desk, "The capital of France", " is Paris.")
    desk.tell(begun(basis))
    assert [order.clause for order in desk.all(Play)] == [0]
    assert [order.clause for order in desk.all(Synthesize)] == [0]
    desk.tell(whole(basis))
    assert [order.clause for order in desk.all(Synthesize)] == [0, 1]
    assert [order.clause for order in desk.all(Play)] == [0], "it is not played twice"
    desk.tell(begun(basis, 1))
    assert [order.clause for order in desk.all(Play)] == [0, 1]


@pytest.mark.parametrize(("mode", "streamed"), [("full", True), ("clause", False), ("none", False)])
def test_only_full_overlap_streams(mode: str, streamed: bool) -> None:
    desk = Desk(overlap=mode)
    desk.speech(1000, 2000)
    desk.run_to(2600)
    desk.words("What is the capital of France?")
    desk.answer("The capital of France is Paris.")
    assert [order.streamed for order in desk.all(Synthesize)] == [streamed]


def test_a_draft_that_has_begun_is_heard_at_the_commit_and_not_before() -> None:
    desk = Desk()
    desk.speech(1000, 2000)
    desk.words("What is the capital of France?")
    assert not desk.all(Commit)
    basis = desk.answer("The capital of France", " is Paris.")
    desk.tell(begun(basis))
    assert not desk.all(Play)
    desk.run_to(2500)
    assert desk.last(Commit).basis == basis
    assert [order.clause for order in desk.all(Play)] == [0]
    assert [order.clause for order in desk.all(Synthesize)] == [0]


def test_an_end_before_the_beginning_was_told_is_enough() -> None:
    desk = Desk()
    basis = committed(desk, "The capital of France", " is Paris.")
    desk.tell(whole(basis))
    desk.tell(begun(basis))
    assert [order.clause for order in desk.all(Play)] == [0]
    assert [order.clause for order in desk.all(Synthesize)] == [0, 1], "nothing waits for what is whole already"


@pytest.mark.parametrize(
    ("told", "heard"),
    [(None, "is Paris."), ("The capital is Paris.", "The capital is Paris."), ("", "")],
    ids=["an old journal claims nothing of it", "its beginning was heard", "nothing was heard"],
)
def test_one_that_breaks_off_ends_there_and_the_next_goes_on(told: str | None, heard: str) -> None:
    desk = Desk()
    basis = committed(desk, "The capital of France", " is Paris.")
    desk.tell(begun(basis))
    desk.tell(SynthesisFailed(basis, 0, "broken"))
    assert [order.clause for order in desk.all(Synthesize)] == [0, 1]
    desk.tell(begun(basis, 1))
    desk.tell(whole(basis, 1))
    assert desk.all(FinishPlayback)
    desk.hear(basis, 0)
    desk.tell(ClauseEnded(basis, 0))
    desk.tell(ClauseEnded(basis, 1))
    desk.tell(PlaybackFinished(basis, told))
    end = desk.last(EndTurn)
    assert end.heard_text.strip() == heard
    assert [exchange.assistant for exchange in desk.state.history] == ([heard] if heard else [])
    assert "broken" in end.reason


def test_a_draft_that_has_begun_is_dropped_when_the_user_goes_on() -> None:
    desk = Desk()
    desk.speech(1000, 2000)
    desk.words("What is the capital")
    basis = desk.answer("It depends", " on the country.")
    desk.tell(begun(basis))
    desk.speech(2400, 3000)
    desk.words("What is the capital of France?")
    assert basis in [order.basis for order in desk.all(Cancel)]
    desk.tell(whole(basis))
    assert not desk.all(Play)
