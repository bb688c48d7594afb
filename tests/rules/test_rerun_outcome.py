"""What a re-run changed, in short."""

from __future__ import annotations

import pytest

from tests.journal_builder import COMMIT_LATE, JournalBuilder
from voicetui.rehearse.outcome import compared, word_errors
from voicetui.views.summary import summarise


@pytest.mark.parametrize(
    ("found", "errors"),
    [("what time is it", 0), ("what time was it", 1), ("what time is it now", 1), ("time", 3), ("", 4), ("no way", 4)],
)
def test_word_errors_are_the_least_number_of_changes(found: str, errors: int) -> None:
    assert word_errors(["what", "time", "is", "it"], found.split()) == errors


def talk(user: str, *, failed: bool = False, simulated: bool = False) -> JournalBuilder:
    journal = JournalBuilder().opened(simulated=simulated).ready().turn("Hello.", ["Hi."])
    journal.failed(user) if failed else journal.turn(user, ["It is noon."], COMMIT_LATE)
    return journal.closed()


def test_turns_gap_and_words_are_told_old_to_new() -> None:
    old, new = summarise(talk("What time is it?").entries), summarise(talk("What time was it?", failed=True).entries)
    found = compared(old, new)
    assert found.told() == [
        "turns 2 -> 2 (turn 2 completed -> failed)",
        f"gap p50 {old['gap_ms']['p50']:.0f} ms (n = 2) -> {new['gap_ms']['p50']:.0f} ms (n = 1)",
        "word errors 1 of 5 (20.0%)",
    ]
    assert found.told(complete=False)[0].endswith(" (ended early)") and len(found.told(complete=False)) == 2


def test_what_is_simulated_or_missing_is_said() -> None:
    old = summarise(JournalBuilder().opened().ready().closed().entries)
    new = summarise(talk("What time is it?", simulated=True).entries)
    _, gap, words = compared(old, new).told()
    assert gap.startswith("gap p50 none -> ") and gap.endswith("(n = 2, simulated)")
    assert words == "word errors cannot be told: there are no words of the old turns"


def test_the_words_of_a_turn_that_was_taken_back_count_once() -> None:
    once = summarise(talk("Do you know the largest planet?").entries)
    journal = JournalBuilder().opened().ready().turn("Hello.", ["Hi."])
    journal.cut_off("Do you know", "the largest planet?", ["Jupiter."]).closed()
    found = compared(once, summarise(journal.entries))
    assert (found.word_errors, found.words, found.turns) == (0, 7, (2, 3))
