"""A bench's figures from golden journals: known gaps, who owns what, and what is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.journal_builder import COMMIT_EARLY, SEQUENTIAL, JournalBuilder, Timing
from voicetui.bench.measure import ArmResult, compare, lines_said, results
from voicetui.bench.plan import OVERLAP_ARMS, Trial, overlap_arms
from voicetui.bench.statistics import Paired
from voicetui.events import Basis
from voicetui.events.orders import Cancel, Generate, Reject
from voicetui.events.reply import GenerationCancelled
from voicetui.events.session import OverlapChosen, TierChosen
from voicetui.events.speak import Discarded

ANSWER = ["It is noon. ", "Lunch is ready."]
VERY_LATE = replace(SEQUENTIAL, token=5000, clause=5100, audio=5200)
GAPS_MS = {"none": 940.0, "full": 430.0}
TIMES: dict[str, Timing] = {"none": SEQUENTIAL, "full": COMMIT_EARLY}


def begin() -> JournalBuilder:
    return JournalBuilder().opened().ready()


def say(journal: JournalBuilder, arm: str, timing: Timing | None = None) -> None:
    journal.add(OverlapChosen("none" if arm == "none" else "full"))
    journal.turn("What time is it?", ANSWER, timing or TIMES[arm])


def plan(turns: int, cold: bool = False) -> tuple[Trial, ...]:
    warm_up = (Trial("none", 0, None), Trial("full", 0, None)) if cold else ()
    return (*warm_up, *(Trial(arm, 0, number) for number in range(turns) for arm in ("none", "full")))


def found(journal: JournalBuilder, trials: tuple[Trial, ...]) -> dict[str, ArmResult]:
    assert lines_said(journal.entries, OVERLAP_ARMS) == len(trials)
    return results(journal.entries, trials, OVERLAP_ARMS)


def test_each_setting_has_its_own_gaps_and_the_pairs_their_difference() -> None:
    journal = begin()
    for trial in plan(7):
        say(journal, trial.arm)
    arms = found(journal, plan(7))
    assert [arms[arm].summary.gap_ms.p50 for arm in ("none", "full")] == [940, 430]
    assert arms["none"].summary.gap_ms.rhythm == 0, "turns of the other setting in between are no change of rhythm"
    assert compare(arms) == {"full-none": Paired(7, 0, -510.0, -510.0, -510.0)}


def test_cold_turns_are_shown_apart_and_enter_no_figure() -> None:
    journal = begin()
    say(journal, "none", VERY_LATE)
    say(journal, "full", replace(COMMIT_EARLY, audio=4000))
    for trial in plan(3):
        say(journal, trial.arm)
    arms = found(journal, plan(3, cold=True))
    assert arms["none"].summary.gap_ms.max == 940
    assert arms["full"].summary.gap_ms.max == 430
    assert arms["none"].cold_ms == (5230,)
    assert arms["full"].cold_ms == (4030,)


def test_a_cut_off_on_one_side_drops_the_pair_and_counts_on_that_side_alone() -> None:
    journal = begin()
    for number in range(3):
        say(journal, "none")
        if number == 1:
            journal.add(OverlapChosen("full"))
            journal.cut_off("What time", "is it?", ANSWER)
        else:
            say(journal, "full")
    arms = found(journal, plan(3))
    assert (arms["full"].summary.cut_offs, arms["none"].summary.cut_offs) == (1, 0)
    assert arms["full"].missing == {"cut off": 1}
    assert compare(arms)["full-none"] == Paired(2, 1, -510.0)


@pytest.mark.parametrize("kind", ["failed", "unanswered", "rejected"])
def test_turns_that_failed_are_in_no_quantile_but_counted_beside_it(kind: str) -> None:
    journal = begin()
    say(journal, "none")
    journal.add(OverlapChosen("full"))
    if kind == "rejected":
        journal.rejected("noise")
    else:
        getattr(journal, kind)("What time is it?")
    arms = found(journal, plan(1))
    assert arms["full"].summary.gap_ms.n == 0
    assert sum(arms["full"].missing.values()) == 1
    assert compare(arms)["full-none"] == Paired(0, 1)


def test_what_comes_late_belongs_to_the_setting_that_caused_it() -> None:
    """A draft of mode full is cancelled; the tier says so when the next turn, in mode none, has begun."""
    journal, draft = begin(), Basis(1, 1, 1)
    journal.add(OverlapChosen("full"))
    journal.add(Generate(draft, "local", (), speculative=True)).add(Cancel(draft, "rejected"))
    journal.add(Reject(1, "noise"))
    journal.add(OverlapChosen("none"))
    journal.add(GenerationCancelled(draft, 9, 900.0)).add(Discarded(draft, "generate", tokens=9, reason="late"))
    arms = found(journal, (Trial("full", 0, 0), Trial("none", 0, 0)))
    assert arms["full"].ledger.wasted_tokens == 9
    assert arms["full"].summary.ledger.discarded["generate"].tokens == 9
    assert arms["none"].ledger.wasted_tokens == 0
    assert not arms["none"].summary.ledger.discarded


def test_a_bench_without_a_single_turn_has_empty_figures_and_no_error() -> None:
    arms = results(begin().entries, plan(1), OVERLAP_ARMS)
    assert lines_said(begin().entries, OVERLAP_ARMS) == 0
    assert all(result.summary.gap_ms.n == 0 for result in arms.values())
    assert [arms[arm].summary.overlap for arm in ("none", "full")] == ["none", "full"]
    assert compare(arms)["full-none"] == Paired(0, 1)


def test_the_median_share_of_each_stage_is_that_of_the_turns_with_a_gap() -> None:
    journal = begin()
    for trial in plan(3):
        say(journal, trial.arm)
    stages = found(journal, plan(3))["none"].median_stages_ms()
    assert (stages.endpoint, stages.transcribe, stages.output) == (600, 100, 30)


def test_everything_overlapped_on_another_tier_is_a_setting_of_its_own_in_the_same_run() -> None:
    arms, journal = overlap_arms("local", "other"), begin()
    trials = tuple(Trial(arm, 0, number) for number in range(3) for arm in ("none", "full on other"))
    for trial in trials:
        chosen = next(arm.choose for arm in arms if arm.name == trial.arm)
        assert [type(fact) for fact in chosen] == [OverlapChosen, TierChosen]
        for fact in chosen:
            journal.add(fact)
        journal._tier = "local" if trial.arm == "none" else "other"
        journal.turn("What time is it?", ANSWER, SEQUENTIAL if trial.arm == "none" else COMMIT_EARLY)
    assert lines_said(journal.entries, arms) == len(trials)
    told = results(journal.entries, trials, arms)
    assert [(name, each.summary.tier, each.summary.overlap) for name, each in told.items()] == [
        ("none", "local", "none"), ("full on other", "other", "full")
    ]  # fmt: skip
    assert compare(told)["full on other-none"] == Paired(3, 0, -510.0)
