"""What counts as a token, and how fast they came."""

from __future__ import annotations

import pytest

from tests.journal_builder import JournalBuilder
from voicetui.events import Basis
from voicetui.events.orders import Commit, Generate
from voicetui.events.reply import GenerationEnded, TimedToken, TokensArrived
from voicetui.views.latency import TurnLatency, fold_latency


def latency_of(journal: JournalBuilder) -> TurnLatency:
    [turn] = fold_latency(journal.entries)
    return turn


def missing(turn: TurnLatency) -> dict[str, str]:
    return {one.point: one.reason for one in turn.missing}


def test_reasoning_is_a_token_but_not_an_answer() -> None:
    journal = JournalBuilder().opened()
    basis = Basis(1, 0, 1)
    journal.add(Commit(basis, None, "Why?", "typed"), 0).add(Generate(basis, "local", (), False), 0)
    for at in (100, 200, 300):
        journal.add(TokensArrived(basis, (TimedToken("hm ", at),), reasoning=True), at)
    only_reasoning = latency_of(journal)
    assert only_reasoning.points.first_token == 100
    assert only_reasoning.points.first_answer_token is None
    assert missing(only_reasoning)["first_answer_token"] == "only reasoning arrived"
    journal.add(TokensArrived(basis, (TimedToken("So.", 900),)), 900)
    points = latency_of(journal).points
    assert (points.first_token, points.first_answer_token) == (100, 900)


@pytest.mark.parametrize(
    ("chunks", "usage", "estimated"),
    [(("Hel", "lo", " world"), 2, False), (tuple(["eight tokens in one chunk "] * 8), 64, True)],
)
def test_tokens_are_the_tiers_count_never_one_for_each_chunk(
    chunks: tuple[str, ...], usage: int, estimated: bool
) -> None:
    journal = JournalBuilder().opened()
    basis = Basis(1, 0, 1)
    journal.add(Commit(basis, None, "Go", "typed"), 0).add(Generate(basis, "local", (), False), 0)
    for number, chunk in enumerate(chunks):
        journal.add(TokensArrived(basis, (TimedToken(chunk, 100.0 + 500 * number),)), 100 + 500 * number)
    journal.add(GenerationEnded(basis, "complete", 1, 10, usage, estimated), 5000)
    turn = latency_of(journal)
    assert (turn.tokens, turn.tokens_estimated) == (usage, estimated)
    assert turn.tokens_per_second == pytest.approx((usage - 1) / (0.5 * (len(chunks) - 1)))


def test_a_reply_that_came_in_one_piece_has_no_rate() -> None:
    journal = JournalBuilder().opened()
    basis = Basis(1, 0, 1)
    journal.add(Commit(basis, None, "Go", "typed"), 0).add(Generate(basis, "local", (), False), 0)
    journal.add(TokensArrived(basis, tuple(TimedToken("a ", 2000) for _ in range(64))), 2000)
    journal.add(GenerationEnded(basis, "complete", 1, 10, 64, False), 2001)
    assert latency_of(journal).tokens_per_second is None
