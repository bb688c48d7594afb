"""Two golden sessions side by side: pairs, what is left out and why, the figures, what they can tell."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from tests.journal_builder import COMMIT_EARLY, COMMIT_LATE, SEQUENTIAL, JournalBuilder, Timing
from tests.tui.scenes import staged
from voicetui.bench.compared import Compared, compare_all, compared_json
from voicetui.bench.pair_words import differs_text
from voicetui.events.orders import Outcome
from voicetui.events.session import SessionOpened
from voicetui.views.compare import Comparison, Session, compare, fold_session

ASKED = ("What is the capital of France?", "And of Italy?", "How do I make a cup of tea?", "Who was Albert Einstein?")
ANSWER = ("It is a short answer.",)
FAST, SLOW = COMMIT_EARLY, SEQUENTIAL
FAST_MS, SLOW_MS = 430.0, 940.0


def session(journal: JournalBuilder, name: str = "one") -> Session:
    return fold_session(name, journal.entries)


def opened(**told: object) -> JournalBuilder:
    """A session that has begun; ``told`` replaces fields of its ``SessionOpened``."""
    journal = JournalBuilder().opened().ready()
    for place, entry in enumerate(journal.entries):
        if isinstance(entry.body, SessionOpened):
            journal.entries[place] = msgspec.structs.replace(entry, body=msgspec.structs.replace(entry.body, **told))
    return journal


def asked(timing: Timing, *texts: str, name: str = "one", **told: object) -> Session:
    journal = opened(**told)
    for text in texts:
        journal.turn(text, ANSWER, timing)
    return session(journal.closed(), name)


def of(comparison: Comparison) -> list[tuple[tuple[int, ...], tuple[int, ...], str]]:
    return [(pair.one, pair.other, pair.left_out) for pair in comparison.pairs]


def compared(one: Session, other: Session) -> Compared:
    (found,) = compare_all([one, other])
    return found


def test_the_first_pair_is_cold_and_the_others_are_compared() -> None:
    found = compared(asked(SLOW, *ASKED), asked(FAST, *ASKED, name="two"))
    assert of(found.comparison) == [((1,), (1,), "cold"), *(((turn,), (turn,), "") for turn in (2, 3, 4))]
    assert found.figures.cold == ((SLOW_MS, FAST_MS),) and found.figures.gap.n == 3


def test_differences_are_the_others_minus_the_first_ones() -> None:
    found = compared(asked(SLOW, *ASKED * 3), asked(FAST, *ASKED * 3, name="two"))
    figures = found.figures
    assert (figures.one_p50_ms, figures.other_p50_ms) == (SLOW_MS, FAST_MS)
    assert figures.gap.median_ms == FAST_MS - SLOW_MS == figures.gap.low_ms == figures.gap.high_ms
    parts = {part.stage: part.paired.median_ms for part in figures.parts}
    assert parts["endpoint"] == 100.0 - 600.0 and parts["output"] == 0.0
    assert "B's gaps are shorter than A's" in found.notes[0]


def test_few_pairs_give_no_interval_and_say_so() -> None:
    found = compared(asked(SLOW, *ASKED), asked(FAST, *ASKED, name="two"))
    assert found.figures.gap.median_ms == FAST_MS - SLOW_MS and found.figures.gap.low_ms is None
    assert "Too few pairs for an interval, it takes 6" in found.notes[0]


def test_an_interval_around_0_tells_nothing() -> None:
    ones, others = opened(), opened()
    for place, text in enumerate(ASKED * 4):
        ones.turn(text, ANSWER, (FAST, SLOW)[place % 2])
        others.turn(text, ANSWER, (SLOW, FAST)[place % 2])
    found = compared(session(ones.closed()), session(others.closed(), "two"))
    assert found.figures.gap.low_ms is not None and "do not tell which gap is shorter" in found.notes[0]


def test_a_cut_off_turn_and_what_it_went_on_to_be_are_one_utterance() -> None:
    cut = opened().turn(ASKED[0], ANSWER).cut_off("Do you know the", "largest planet?", ANSWER).turn(ASKED[2], ANSWER)
    whole = asked(FAST, ASKED[0], "Do you know the largest planet?", ASKED[2], name="two")
    found = compared(session(cut.closed()), whole)
    assert of(found.comparison)[1] == ((2, 3), (2,), "cut off")
    assert "1 of them said in several turns on one side or both" in found.aligned
    assert found.figures.left_out["cut off"] == 1 and found.figures.gap.dropped >= 1


def test_a_question_asked_again_pairs_with_the_one_asked_once() -> None:
    again = opened().turn(ASKED[0], ANSWER).superseded("And of Italy?", "Hello, are you there?", ANSWER)
    found = compare(session(again.closed()), asked(FAST, *ASKED[:2], name="two"))
    assert of(found)[1] == ((2, 3), (2,), "superseded")


def test_a_turn_that_became_two_is_no_pair_of_gaps() -> None:
    parted = asked(FAST, ASKED[0], "Do you know the", "largest planet?", ASKED[2])
    whole = asked(FAST, ASKED[0], "Do you know the largest planet?", ASKED[2], name="two")
    assert of(compare(parted, whole))[1] == ((2, 3), (2,), "several turns")


def test_turns_without_a_counterpart_are_named() -> None:
    found = compared(asked(FAST, *ASKED), asked(FAST, ASKED[0], ASKED[2], ASKED[3], name="two"))
    assert "only in A: turn 2" in found.aligned and "3 pairs" in found.aligned
    assert found.figures.left_out["no counterpart"] == 1


def test_what_was_not_heard_has_no_gap_to_compare() -> None:
    outcomes: dict[Outcome, JournalBuilder] = {
        "failed": opened().turn(ASKED[0], ANSWER).failed(ASKED[1]),
        "unanswered": opened().turn(ASKED[0], ANSWER).unanswered(ASKED[1]),
    }
    for outcome, journal in outcomes.items():
        found = compare(session(journal.closed()), asked(FAST, *ASKED[:2], name="two"))
        assert of(found)[1] == ((2,), (2,), outcome)
    typed = opened().turn(ASKED[0], ANSWER).typed(ASKED[1], ANSWER)
    assert of(compare(session(typed.closed()), asked(FAST, *ASKED[:2], name="two")))[1] == ((2,), (2,), "no gap")


def test_staged_gaps_are_compared_with_staged_gaps_alone() -> None:
    made = session(staged().journal)
    assert len(made.turns) == 5
    same = compared(made, fold_session("two", staged().journal.entries))
    assert same.figures.staged_gap is not None and same.figures.staged_gap.n == 3
    assert same.figures.gap.n <= 2
    texts = [turn.user_text for turn in made.summary.turns]
    mixed = compare(made, asked(FAST, *texts, name="two"))
    assert [left_out for _, _, left_out in of(mixed)][2:] == ["one side staged"] * 3
    assert not any(pair.staged for pair in mixed.pairs)


def test_different_conversations_are_said_to_be_and_no_figure_compares_them() -> None:
    found = compared(asked(SLOW, *ASKED), asked(FAST, "Good morning.", "Sing me a song, please.", name="two"))
    assert "different conversations" in found.aligned
    assert found.figures.gap.n == 0 and not found.figures.staged_gap
    assert {left_out for _, _, left_out in of(found.comparison)} == {"different words", "no counterpart"}


def test_sessions_without_words_are_not_called_different_conversations() -> None:
    found = compared(asked(SLOW, *ASKED), asked(FAST, *[""] * 4, name="two", session="second"))
    assert "what was said is not known in B" in found.aligned and found.figures.gap.n == 0
    assert found.figures.left_out == {"words not known": 4}
    again = compared(asked(SLOW, *ASKED), asked(FAST, *[""] * 4, name="two", session="second", parent="golden"))
    assert "4 of them by their place alone" in again.aligned and again.figures.gap.n == 3


def test_a_misheard_turn_counts_where_both_heard_the_same_sound() -> None:
    one = asked(SLOW, ASKED[0], "Yellow.", ASKED[2], session="first")
    other = asked(FAST, ASKED[0], "Hello?", ASKED[2], name="two", session="second")
    again = asked(FAST, ASKED[0], "Hello?", ASKED[2], name="two", session="second", parent="first")
    assert of(compare(one, other))[1] == ((2,), (2,), "different words")
    assert of(compare(one, again))[1] == ((2,), (2,), "")
    assert compare(one, again).same_sound and not compare(one, other).same_sound


def test_a_session_without_turns_has_nothing_to_pair() -> None:
    found = compared(asked(FAST), asked(FAST, *ASKED, name="two"))
    assert found.aligned == "A has no turns: there is nothing to pair."
    assert compared(asked(FAST), asked(FAST, name="two")).aligned.startswith("A and B have no turns")
    assert fold_session("empty", []).summary.turns == ()


def test_what_differs_is_told_once_each_the_chosen_settings_first() -> None:
    ones = {"endpoint": {"silence_ms": 500.0}, "policy": {"silence_ms": 500.0, "attempts": 3}, "record": {"on": True}}
    others = {
        "endpoint": {"silence_ms": 700.0},
        "policy": {"silence_ms": 700.0, "attempts": 2},
        "record": {"on": False},
    }
    one = asked(FAST, *ASKED, overlap="none", config=ones)
    other = asked(FAST, *ASKED, name="two", overlap="full", config=others, program="voicetui 2")
    assert [(each.what, each.one, each.other) for each in compare(one, other).differs] == [
        ("overlap", "none", "full"),
        ("program", "voicetui", "voicetui 2"),
        ("endpoint.silence_ms", "500", "700"),
        ("policy.attempts", "3", "2"),
    ]
    assert "Several settings differ" in " ".join(compared(one, other).notes)


def test_what_only_one_session_tells_is_not_said_to_differ() -> None:
    one = asked(FAST, *ASKED, overlap="none", config={"endpoint": {}})
    other = asked(FAST, *ASKED, name="two", overlap="full", config={"endpoint": {"quick": True, "sure_ms": 400.0}})
    found = compared(one, other)
    assert differs_text(found.labels, found.comparison) == (
        "overlap none → full; only B tells endpoint.quick on; only B tells endpoint.sure_ms 400"
    )
    assert differs_text(found.labels, found.comparison, 1) == "overlap none → full; and 2 more"
    many = asked(FAST, *ASKED, name="two", overlap="full", config={"endpoint": dict.fromkeys("abcd", 1.0)})
    assert differs_text(("A", "B"), compare(one, many)) == "overlap none → full; 4 settings that only B tells"
    assert "Several settings differ" not in " ".join(found.notes)


def test_a_simulated_tier_and_how_far_apart_the_sessions_are_is_told() -> None:
    one = asked(FAST, *ASKED, started_utc="2030-01-01T00:00:00Z")
    pretend = JournalBuilder().opened("pretend-750", simulated=True).ready()
    for text in ASKED:
        pretend.turn(text, ANSWER, replace(COMMIT_LATE))
    found = compared(one, session(pretend.closed(), "two"))
    assert differs_text(found.labels, found.comparison).startswith("tier local → pretend-750 (simulated)")
    told = " ".join(found.notes)
    assert "B's tier is simulated" in told and "at the time of A" in told
    later = asked(FAST, *ASKED, name="two", started_utc="2030-01-01T00:10:00Z")
    assert "10 min after A" in " ".join(compared(one, later).notes)


def test_the_json_is_strict_and_whole() -> None:
    sessions = [asked(SLOW, *ASKED * 2), asked(FAST, *ASKED * 2, name="two"), asked(FAST, *ASKED, name="three")]
    values = compared_json(sessions, compare_all(sessions))
    assert [each["label"] for each in values["sessions"]] == ["A", "B", "C"]
    assert [(each["one"], each["other"]) for each in values["comparisons"]] == [("A", "B"), ("A", "C")]
    pair = values["comparisons"][0]["pairs"][1]
    assert pair["gap_ms"] == {"one": SLOW_MS, "other": FAST_MS, "difference": FAST_MS - SLOW_MS}
    stages = pair["stages_ms"]
    assert sum(stage["difference"] for stage in stages.values()) == FAST_MS - SLOW_MS
    assert values["sessions"][0]["summary"]["turns"][0]["user_text"] == ASKED[0]
    assert values["comparisons"][0]["figures"]["gap"] == {
        "n": 7, "dropped": 1, "median_ms": FAST_MS - SLOW_MS, "low_ms": FAST_MS - SLOW_MS, "high_ms": FAST_MS - SLOW_MS
    }  # fmt: skip
