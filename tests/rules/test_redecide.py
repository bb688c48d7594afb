"""What is recorded is decided again the same by the same rules, and otherwise by others, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec
import pytest

from tests.sessions.paper import PaperSession, paper_session
from voicetui.conversation.policy import Policy
from voicetui.events import Entry, Order
from voicetui.events.listen import WordsScored
from voicetui.events.orders import Commit, OpenUtterance, Prewarm, WakeAt
from voicetui.events.session import Said, SessionOpened
from voicetui.rehearse.redecide.changes import Turn, differs, turns_of
from voicetui.rehearse.redecide.decisions import decisions_of
from voicetui.rehearse.redecide.implied import Implied
from voicetui.rehearse.redecide.meaning import meaning
from voicetui.rehearse.redecide.session import NoBeginning, recorded_policy, redecide

SEEDS = range(200)


@cache
def made_up(seed: int) -> tuple[Entry, ...]:
    return tuple(paper_session(seed).entries)


def turns(entries: Sequence[Entry], **changes: object) -> list[Turn]:
    return turns_of(redecide(entries, changes))


def spoken(entries: Sequence[Entry], **changes: object) -> dict[int, str]:
    """What is said of each turn."""
    return {turn.number: meaning(turn) for turn in turns(entries, **changes) if turn.number is not None}


# the same rules


@pytest.mark.parametrize("start", SEEDS[::20])
def test_the_same_rules_give_every_recorded_order_on_the_fact_on_which_it_was_given(start: int) -> None:
    ordered = 0
    for seed in SEEDS[start : start + 20]:
        for result in redecide(made_up(seed), every=True):
            run = result.run
            assert result.same_rules and run is not None
            assert [given.order for given in run.given] == [each.order for each in run.recorded]
            assert [given.cause for given in run.given] == [each.cause for each in run.recorded]
            assert run.compared == len(run.recorded)
            assert not run.unknown and not run.orphans and not run.unanswered and not run.moved
            ordered += len(run.given)
        assert not differs(turns(made_up(seed)))
    assert ordered > 1000, "sessions in which nothing happens prove nothing"


def test_what_the_recorded_orders_imply_is_what_the_rules_knew() -> None:
    compared = 0
    for seed in SEEDS[:100]:
        implied = Implied(recorded_policy(made_up(seed)), decisions_of(made_up(seed)))
        for number, result in enumerate(redecide(made_up(seed))):
            if number:
                assert implied.state(result.before) == result.before
                compared += 1
            implied.follow(result.episode.decisions)
    assert compared > 300


# other numbers


def asked(*speech: tuple[float, float], texts: Sequence[str], overlap: str = "full", **policy: object) -> PaperSession:
    """A calm session in which this is said."""
    session = PaperSession(1, overlap=overlap, speech=list(speech), texts=list(texts), calm=True, **policy)
    return session.run(max(end for _, end in speech) + 9000)


def questions(**policy: object) -> tuple[Entry, ...]:
    """Two questions, the second with a pause of 400 ms in it, both committed after 500 ms of silence."""
    said = asked(
        (1000, 2200), (9000, 9800), (10_200, 11_000),
        texts=["What time is it?", "I would like some tea", "I would like some tea with milk."], **policy,
    )  # fmt: skip
    return tuple(said.entries)


def test_a_shorter_silence_commits_sooner_and_cuts_into_a_pause() -> None:
    recorded = questions()
    assert [entry.body.reason for entry in recorded if isinstance(entry.body, Commit)] == ["silence", "silence"]
    said = spoken(recorded, silence_ms=300.0)
    assert said[1] == "committed 200 ms earlier (after 300 ms of silence instead of 500 ms)"
    assert said[2].startswith('would cut in: "I would like some tea" is committed 300 ms into a pause of 400 ms')
    assert "not known from this recording" in said[2], "nobody recorded a reply to half the question"


def test_a_silence_that_no_pause_reaches_changes_the_commits_alone() -> None:
    said = spoken(questions(), silence_ms=480.0)
    assert said == {
        1: "committed 20 ms earlier (after 480 ms of silence instead of 500 ms)",
        2: "committed 20 ms earlier (after 480 ms of silence instead of 500 ms)",
    }


def test_each_turn_starts_from_the_recorded_state() -> None:
    first, second = (turn for turn in turns(questions(), silence_ms=480.0) if turn.number)
    for turn in (first, second):
        assert {type(change.either) for change in turn.changes} == {WakeAt, Commit}
        assert turn.unknown is None and turn.result.run is not None
        assert turn.result.run.state.history[: turn.number], "the reply was heard as recorded"


def test_a_longer_silence_says_from_when_on_the_reply_is_another() -> None:
    said = spoken(questions(), silence_ms=2000.0)
    assert said[1].startswith("committed 1500 ms later (after 2000 ms of silence instead of 500 ms)")
    assert "what follows is not known from this recording, for the reply would be heard at another time" in said[1]


def test_a_turn_that_was_cut_off_would_still_wait() -> None:
    cut_off = asked((1000, 2200), (2900, 4200), texts=["What time is it", "What time is it in Rome?"])
    outcomes = [turn.outcome for turn in turns(cut_off.entries) if turn.number]
    assert outcomes[0] in ("cut_off", "superseded")
    said = spoken(cut_off.entries, silence_ms=900.0)
    assert said[1] == "would not cut in: it still waits when the user goes on, 700 ms after the last word"


def test_words_asked_for_sooner_come_as_long_after() -> None:
    said = asked((1000, 2200), texts=["What time is it?"], overlap="none")
    assert spoken(said.entries)[1] == "as recorded"
    (turn,) = (turn for turn in turns(said.entries, sequential_silence_ms=400.0) if turn.number)
    assert meaning(turn).startswith("committed 200 ms earlier (after 400 ms of silence instead of 600 ms)")
    assert turn.moved_answers and turn.unknown is not None and not turn.unknown.commit
    assert turn.unknown.why == "the reply would be asked for at another time"


def test_a_score_that_nobody_made_is_not_invented() -> None:
    (turn, *_) = (turn for turn in turns(questions(), turn_end="model") if turn.number)
    assert turn.unknown is not None and turn.unknown.commit
    assert meaning(turn).startswith("not known from this recording, for the end-of-turn model was not asked then")


def test_a_score_of_the_words_is_not_invented_either_and_one_that_was_made_is_used_again() -> None:
    (turn, *_) = (
        turn for turn in turns(questions(turn_end="model"), turn_end="model", score_words=True) if turn.number
    )
    assert turn.unknown is not None and turn.unknown.commit
    assert meaning(turn).startswith("not known from this recording, for the model that scores words was not asked then")
    recorded = questions(turn_end="model", score_words=True)
    assert any(isinstance(entry.body, WordsScored) for entry in recorded)
    assert spoken(recorded)[1] == "as recorded"
    orphans = [turn.orphans for turn in turns(recorded, turn_end="model", score_words=False) if turn.number]
    assert {type(entry.body).__name__ for some in orphans for entry in some} == {"WordsScored"}


def test_scores_that_nobody_asks_for_are_orphans() -> None:
    recorded = questions(turn_end="model")
    (turn, *_) = (turn for turn in turns(recorded, turn_end="silence") if turn.number)
    assert [type(entry.body).__name__ for entry in turn.orphans] == ["TurnScored"]


def test_sound_cut_elsewhere_has_no_recorded_words() -> None:
    (turn, *_) = (turn for turn in turns(questions(), preroll_ms=100.0) if turn.number)
    assert turn.unknown is not None and turn.unknown.why == "the words up to that pause were not transcribed"
    assert {type(order).__name__ for order in turn.unanswered} == {"Transcribe"}


def test_speech_over_a_reply_counts_sooner() -> None:
    texts = ["What time is it?", "What is the weather like in Rome?"]
    said = asked((1000, 2200), (3100, 5000), texts=texts, bid_words_ms=1500.0)
    recorded = spoken(said.entries, bid_long_ms=1000.0)
    assert recorded[1] == "what the speech over it was (bid) is decided 400 ms earlier"
    assert recorded[2].endswith("the reply would be given up at another time")


def test_settings_that_change_nothing_leave_every_turn_as_recorded() -> None:
    for changes in ({"attempts": 4}, {"gate_tail_ms": 90.0}, {"history_exchanges": 6}):
        assert set(spoken(questions(), **changes).values()) == {"as recorded"}


@pytest.mark.parametrize(
    "changes",
    [
        {"silence_ms": 200.0, "sequential_silence_ms": 250.0},
        {"turn_end": "model", "sure_ms": 100.0},
        {"reply_wait_ms": 1200.0, "prewarm": False},
        {"bid_pause_ms": 50.0, "bid_words_ms": 200.0, "bid_long_ms": 300.0},
        {"staged_gaps_ms": (300.0,), "knowledge": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_whatever_is_changed_every_turn_gets_a_sentence_and_later_turns_start_anew(changes: dict[str, object]) -> None:
    changed = 0
    for seed in SEEDS[:25]:
        results = redecide(made_up(seed), changes)
        assert [result.before for result in results] == [result.before for result in redecide(made_up(seed))]
        for turn in turns_of(results):
            assert meaning(turn)
            changed += bool(turn.changes)
    assert changed > 3


# other rules, and journals that are not whole


def without(entries: Sequence[Entry], *kinds: type[Order]) -> list[Entry]:
    return [entry for entry in entries if not isinstance(entry.body, kinds)]


def by_other_rules(entries: Sequence[Entry], **policy: object) -> list[Entry]:
    """The same journal, had its rules given these orders with other numbers: today's would not."""
    opened = entries[0].body
    assert isinstance(opened, SessionOpened)
    config = {"policy": {"system_prompt": "Be brief.", **policy}}
    return [Entry(0, entries[0].at, msgspec.structs.replace(opened, config=config)), *entries[1:]]


def test_rules_that_have_changed_show_turn_by_turn_and_no_turn_drags_the_next_along() -> None:
    older = by_other_rules(questions(), silence_ms=480.0)
    assert all(turn.by_rules and turn.by_settings is False for turn in turns(older) if turn.number)
    assert spoken(older) == spoken(questions(), silence_ms=480.0)
    for seed in SEEDS[:20]:
        for turn in turns(by_other_rules(made_up(seed), silence_ms=300.0, turn_end="model")):
            assert meaning(turn)


def test_what_a_setting_does_is_told_from_what_other_rules_do() -> None:
    older = by_other_rules(questions(), silence_ms=480.0)
    assert not any(turn.by_settings for turn in turns(older, gate_tail_ms=90.0))
    assert all(turn.by_settings for turn in turns(older, silence_ms=400.0) if turn.number)


def test_work_ahead_that_older_rules_did_not_do_leaves_the_turns_as_recorded() -> None:
    said = turns(without(questions(), Prewarm))
    assert all(turn.by_rules for turn in said if turn.number)
    assert {type(change.either) for turn in said for change in turn.changes} == {Prewarm}
    assert all(meaning(turn).startswith("as recorded") for turn in said)


def test_a_journal_that_breaks_off_differs_in_nothing() -> None:
    recorded = list(made_up(3))
    for end in range(len(recorded) // 2, len(recorded), 7):
        assert not differs(turns(recorded[:end])), f"broken off after {recorded[end - 1]}"


def test_a_lost_entry_is_found_where_it_is_lost_and_nowhere_else() -> None:
    recorded = questions()
    lost = next(entry for entry in recorded if isinstance(entry.body, Commit))
    (first, second) = (turn for turn in turns([e for e in recorded if e is not lost]) if turn.utterance)
    assert any(change.kind == "new" and isinstance(change.order, Commit) for change in first.changes)
    assert not second.changes or second.by_rules


def test_a_damaged_time_moves_nothing_that_comes_after() -> None:
    entries = list(questions())
    opened = next(n for n, each in enumerate(entries) if isinstance(each.body, OpenUtterance))
    first = next(n for n in range(opened, 0, -1) if not isinstance(entries[n - 1].body, Order))
    damaged = [*entries[:first], msgspec.structs.replace(entries[first], at=1e12), *entries[first + 1 :]]
    assert spoken(damaged, silence_ms=350.0) == spoken(entries, silence_ms=350.0)


def test_without_its_beginning_nothing_can_be_decided() -> None:
    for entries in ((), questions()[1:], (Entry(0, 0.0, Said("hello")),)):
        with pytest.raises(NoBeginning):
            redecide(entries)


def test_a_policy_that_is_none_is_refused() -> None:
    opened = questions()[0]
    assert isinstance(opened.body, SessionOpened)
    broken = msgspec.structs.replace(opened.body, config={"policy": {"silence_ms": "long"}})
    with pytest.raises(msgspec.ValidationError):
        redecide((Entry(0, 0.0, broken),))
    assert redecide((Entry(0, 0.0, msgspec.structs.replace(opened.body, config={})),))[0].before.policy == Policy()
