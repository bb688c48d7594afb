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
    rate = (usage - 1) / (0.5 * (len(chunks) - 1))
    assert turn.tokens_per_second == (None if turn.gathered else pytest.approx(rate))


@pytest.mark.parametrize(
    ("times_ms", "gathered"),
    [
        ([2000.0] * 64, "one piece"),
        ([2000.0 + number * 0.05 for number in range(64)], "one piece"),
        ([2000.0 + 400 * (number // 8) for number in range(64)], "bursts"),
        ([2000.0 + 400 * (number // 8) + number % 8 * 0.3 for number in range(64)], "bursts"),
        ([2000.0 + 20 * number for number in range(64)], ""),
        ([2000.0 + 5.5 * (number // 4) for number in range(64)], ""),
        ([2000.0] * 3, ""),
    ],
)
def test_what_came_gathered_has_no_rate_and_says_so(times_ms: list[float], gathered: str) -> None:
    journal = JournalBuilder().opened()
    basis = Basis(1, 0, 1)
    journal.add(Commit(basis, None, "Go", "typed"), 0).add(Generate(basis, "local", (), False), 0)
    for at_ms in times_ms:
        journal.add(TokensArrived(basis, (TimedToken("a ", at_ms),)), at_ms)
    journal.add(GenerationEnded(basis, "complete", 1, 10, len(times_ms), False), times_ms[-1] + 1)
    turn = latency_of(journal)
    assert turn.gathered == gathered
    if gathered or times_ms[0] == times_ms[-1]:
        assert turn.tokens_per_second is None
    else:
        assert turn.tokens_per_second == pytest.approx(63 / (times_ms[-1] - times_ms[0]) * 1000)


def test_one_long_piece_came_gathered_too() -> None:
    journal = JournalBuilder().opened()
    basis = Basis(1, 0, 1)
    journal.add(Commit(basis, None, "Go", "typed"), 0).add(Generate(basis, "local", (), False), 0)
    journal.add(TokensArrived(basis, (TimedToken("a whole answer " * 10, 2000),)), 2000)
    journal.add(GenerationEnded(basis, "complete", 1, 10, 31, False), 2001)
    assert latency_of(journal).gathered == "one piece"


def test_reasoning_that_was_never_sent_is_in_no_rate() -> None:
    journal = JournalBuilder().opened()
    basis = Basis(1, 0, 1)
    journal.add(Commit(basis, None, "Go", "typed"), 0).add(Generate(basis, "local", (), False), 0)
    for number in range(51):
        journal.add(TokensArrived(basis, (TimedToken("a ", 900.0 + 20 * number),)), 900 + 20 * number)
    journal.add(GenerationEnded(basis, "complete", 1, 10, 501, False, unseen_tokens=450), 2000)
    turn = latency_of(journal)
    assert turn.tokens == 501 and turn.tokens_per_second == pytest.approx(50)
