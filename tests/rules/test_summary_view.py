"""The session summary: its schema, what is counted, and what is told beside the figures."""

from __future__ import annotations

import gc
import json
import math
import random

import msgspec
import pytest

from tests.journal_builder import COMMIT_EARLY, COMMIT_LATE, SEQUENTIAL, JournalBuilder, Timing
from voicetui.events import Basis, Entry
from voicetui.events.listen import SpeechStarted
from voicetui.events.orders import EndTurn, OpenUtterance, Reject
from voicetui.events.reply import GenerationEnded, GenerationFailed
from voicetui.events.session import Fault, OverlapChosen, SessionClosed
from voicetui.events.sound import DeviceLost
from voicetui.events.speak import ClauseSynthesized, SynthesisFailed
from voicetui.views.session_state import SessionState, SessionStateView
from voicetui.views.summary import SummaryView, as_json, summarise

STORY = ["Once upon a time there was a king. ", "He was old and very wise."]
STATS = ["n", "p50", "p95", "p99", "max", "iqr", "rhythm"]


def session(**opened: object) -> JournalBuilder:
    return JournalBuilder().opened(**opened).ready()  # type: ignore[arg-type]


def everything() -> JournalBuilder:
    journal = session().turn("What time is it?", ["It is noon. ", "Lunch is ready."], COMMIT_LATE)
    journal.barge_in("Tell me a story", STORY).false_interruption("And another", STORY)
    journal.cut_off("I want", "a pizza", ["Sure thing."]).superseded("I said", "wait", ["Fine."])
    return journal.typed("Hello", ["Hi."]).rejected("noise").failed("Hm?").unanswered("What?").closed()


def speech_in_turn(onset_after_commit: float, utterance: int = 50, reject: str = "") -> list[Entry]:
    """A turn (committed 250 ms, heard 430 ms after the user's end) with speech that begins so long after its commit."""
    journal = session().turn("What time is it?", STORY, COMMIT_EARLY)
    onset = journal.times[1].committed + onset_after_commit
    place = next(n for n, entry in enumerate(journal.entries) if isinstance(entry.body, EndTurn))
    more = [Entry(0, onset, SpeechStarted(0, onset + 60)), Entry(0, onset + 60, OpenUtterance(utterance, 2, 0, True))]
    if reject:
        more.append(Entry(0, onset + 500, Reject(utterance, reason=reject)))
    return [*journal.entries[:place], *more, *journal.entries[place:]]


def test_the_summary_has_exactly_the_keys_of_the_schema() -> None:
    summary = summarise(everything().entries)
    assert list(summary) == [
        "schema", "session", "tier", "simulated", "overlap", "turns", "gap_ms", "barge_in_stop_ms", "cut_offs",
        "collisions", "unanswered", "rejected", "ledger", "faults", "staged_gap_ms", "staged_cut_offs",
        "staged_collisions",
    ]  # fmt: skip
    turns = summary["turns"]
    for turn in turns:
        assert list(turn) == [
            "turn", "user_text", "reply_text", "heard_text", "outcome", "gap_ms", "uncertainty_ms", "cached", "filler",
            "stages_ms", "speculation", "barge_in", "staged",
        ]  # fmt: skip
        assert list(turn["stages_ms"]) == [
            "endpoint", "transcribe", "context", "tools", "first_token", "first_answer_token", "first_clause",
            "content_gate", "synthesize", "output", "unaccounted",
        ]  # fmt: skip
        assert list(turn["speculation"]) == ["attempts", "kept", "wasted_tokens", "saved_ms"]
    interrupted = next(turn for turn in turns if turn["outcome"] == "interrupted")
    assert list(interrupted["barge_in"]) == [
        "onset_ms", "ducked_ms", "stop_ms", "decided_ms", "kind", "heard_words", "generated_words",
    ]  # fmt: skip
    assert list(summary["gap_ms"]) == list(summary["barge_in_stop_ms"]) == STATS
    assert list(summary["ledger"]) == [
        "attempts", "kept", "wasted_tokens", "saved_ms", "turns", "used_tokens", "wasted_ms", "estimated",
        "tokens_per_100_ms", "usd_per_1000_turns", "wasted_usd_per_1000_turns", "discarded", "verdict",
        "prewarmed_tokens", "prewarm_wasted_tokens", "partials",
    ]  # fmt: skip
    assert summary["schema"] == 1


def test_the_summary_is_strict_json() -> None:
    text = json.dumps(summarise(everything().entries), allow_nan=False)
    assert json.loads(text)["session"] == "golden"


def test_a_turn_tells_what_was_said_and_heard() -> None:
    summary = summarise(session().barge_in("Tell me a story", STORY).entries)
    first = summary["turns"][0]
    assert first["user_text"] == "Tell me a story"
    assert first["reply_text"] == "".join(STORY)
    assert first["heard_text"] == "Once upon a time"
    assert first["barge_in"] == {
        "onset_ms": 900, "ducked_ms": 50, "stop_ms": 230, "decided_ms": 560, "kind": "bid",
        "heard_words": 4, "generated_words": 14,
    }  # fmt: skip


def test_only_heard_replies_of_completed_and_interrupted_turns_are_in_the_gap() -> None:
    summary = SummaryView()
    for entry in everything().entries:
        summary.feed(entry)
    figures = summary.snapshot()
    outcomes = [turn.outcome for turn in figures.turns]
    assert outcomes == [
        "completed", "interrupted", "completed", "completed", "cut_off", "completed", "superseded", "completed",
        "completed", "failed", "unanswered",
    ]  # fmt: skip
    assert figures.gap_ms.n == 6
    assert (figures.cut_offs, figures.unanswered) == (1, 1)
    assert figures.gap_ms.p50 == 430 and figures.gap_ms.max == 480


def test_failures_are_beside_the_percentiles_not_in_them() -> None:
    journal = session()
    for _ in range(25):
        journal.turn("What time is it?", ["Noon."], COMMIT_EARLY)
    for _ in range(5):
        journal.failed("Hello?", "HTTP 429")
    summary = summarise(journal.entries)
    assert summary["gap_ms"]["n"] == 25 and summary["gap_ms"]["p95"] == 430
    assert len(summary["faults"]) == 5
    assert sum(turn["outcome"] == "failed" for turn in summary["turns"]) == 5


def test_a_reply_that_begins_with_sound_made_before_counts_as_cached() -> None:
    for clause, cached in ((0, True), (1, False)):
        journal = JournalBuilder().opened().ready().turn("What time is it?", ["It is noon. ", "Lunch is ready."])
        entries = [
            msgspec.structs.replace(entry, body=msgspec.structs.replace(entry.body, cached=True))
            if isinstance(entry.body, ClauseSynthesized) and entry.body.clause == clause
            else entry
            for entry in journal.entries
        ]
        summary = summarise(entries)
        assert (summary["turns"][0]["cached"], summary["gap_ms"]["n"]) == (cached, int(not cached))


def test_a_cached_reply_is_in_the_list_but_not_in_the_gap() -> None:
    entries = [
        msgspec.structs.replace(entry, body=msgspec.structs.replace(entry.body, note="cached"))
        if isinstance(entry.body, GenerationEnded)
        else entry
        for entry in session().turn("What time is it?", ["Noon."]).entries
    ]
    summary = summarise(entries)
    assert summary["turns"][0]["cached"] is True
    assert summary["gap_ms"]["n"] == 0


def test_rhythm_does_not_compare_overlap_modes() -> None:
    journal = session().turn("One?", ["Yes."], COMMIT_EARLY).turn("Two?", ["Yes."], COMMIT_LATE)
    journal.add(OverlapChosen("none")).turn("Three?", ["Yes."], SEQUENTIAL)
    summary = summarise(journal.entries)
    assert summary["overlap"] == "full+none"
    assert summary["gap_ms"]["rhythm"] == 50


def test_a_simulated_tier_is_labelled() -> None:
    summary = summarise(session(tier="pretend-750", simulated=True).turn("Hello", ["Hi."]).entries)
    assert (summary["tier"], summary["simulated"]) == ("pretend-750", True)


@pytest.mark.parametrize(("after_commit", "count"), [(60, 1), (179, 1), (180 + 300, 1), (180 + 301, 0), (-30, 0)])
def test_speech_from_the_commit_until_shortly_after_the_reply_began_is_a_collision(
    after_commit: float, count: int
) -> None:
    assert summarise(speech_in_turn(after_commit))["collisions"] == count


@pytest.mark.parametrize("reason", ["noise", "backchannel", "no words"])
def test_a_rejected_utterance_is_no_collision(reason: str) -> None:
    assert summarise(speech_in_turn(60, reject=reason))["collisions"] == 0


def test_speech_before_a_reply_that_never_came_is_a_collision_but_a_cut_off_is_only_a_cut_off() -> None:
    superseded = summarise(session().superseded("I said", "wait", ["Fine."]).entries)
    assert (superseded["collisions"], superseded["cut_offs"]) == (1, 0)
    cut_off = summarise(session().cut_off("I want", "a pizza", ["Sure."]).entries)
    assert (cut_off["collisions"], cut_off["cut_offs"]) == (0, 1)


def test_speech_long_after_a_failed_turn_is_no_collision() -> None:
    assert summarise(session().failed("Hello?").turn("Are you there?", ["Yes."]).entries)["collisions"] == 0


def test_rejected_utterances_are_listed_with_onset_reason_and_text() -> None:
    journal = session()
    onset = journal.now_ms
    journal.rejected("invented", "Thank you for watching.")
    expected = [{"at_ms": onset, "reason": "invented", "text": "Thank you for watching."}]
    assert summarise(journal.entries)["rejected"] == expected


def test_every_kind_of_failure_is_a_fault() -> None:
    basis = Basis(1, 1, 1)
    journal = session().add(Fault("session", "odd")).add(DeviceLost("input", "Mic", "unplugged"))
    journal.add(SynthesisFailed(basis, 0, "no voice")).add(GenerationFailed(basis, "idle", "silent for 10 s"))
    faults = summarise(journal.entries)["faults"]
    assert [(fault["stage"], fault["message"]) for fault in faults] == [
        ("session", "odd"),
        ("input", "Mic: unplugged"),
        ("synthesize", "no voice"),
        ("idle", "silent for 10 s"),
    ]


def test_a_false_interruption_has_no_stop_and_is_not_in_its_figures() -> None:
    summary = summarise(session().false_interruption("Tell me a story", STORY).entries)
    assert summary["barge_in_stop_ms"]["n"] == 0
    barge_in = summary["turns"][0]["barge_in"]
    assert (barge_in["kind"], barge_in["stop_ms"]) == ("backchannel", None)


def test_a_journal_that_ends_in_a_turn_has_that_turn_without_an_outcome() -> None:
    entries = [entry for entry in session().turn("Hello", ["Hi."]).entries if not isinstance(entry.body, EndTurn)]
    [turn] = summarise(entries)["turns"]
    assert (turn["outcome"], turn["heard_text"], turn["gap_ms"]) == (None, "Hi.", 430)
    assert summarise(entries)["gap_ms"]["n"] == 0


def test_nothing_at_all_is_an_empty_summary() -> None:
    summary = summarise([])
    assert (summary["turns"], summary["session"], summary["gap_ms"]["n"]) == ([], "", 0)


def test_numbers_that_are_none_become_null() -> None:
    journal = session().turn("Hello", ["Hi."], Timing(uncertainty=math.nan))
    view = SummaryView()
    for entry in [*journal.entries, Entry(999, math.nan, Fault("clock", "broken"))]:
        view.feed(entry)
    values = as_json(view.snapshot())
    assert values["faults"][0]["at_ms"] is None
    assert values["turns"][0]["uncertainty_ms"] is None


def test_a_journal_with_holes_is_summarised_all_the_same() -> None:
    whole = everything().entries
    for seed in range(40):
        rng = random.Random(seed)
        summary = summarise(entry for entry in whole if rng.random() < 0.7)
        assert json.dumps(summary, allow_nan=False)


def test_looking_after_every_entry_shows_the_same_as_looking_once() -> None:
    view = SummaryView()
    for entry in everything().entries:
        view.feed(entry)
        view.snapshot()
    assert as_json(view.snapshot()) == summarise(everything().entries)


# ---- the status line


def state_after(entries: list[Entry]) -> SessionState:
    view = SessionStateView()
    for entry in entries:
        view.feed(entry)
    return view.snapshot()


def test_the_state_goes_from_loading_through_a_turn_to_closed() -> None:
    journal = session().turn("Hello", ["Hi."], COMMIT_LATE).closed()
    view = SessionStateView()
    words: list[str] = []
    for entry in journal.entries:
        view.feed(entry)
        if view.snapshot().word not in words[-1:]:
            words.append(view.snapshot().word)
    assert words == ["loading", "listening", "hearing you", "listening", "thinking", "speaking", "listening", "closed"]


def test_while_the_user_is_heard_over_the_reply_the_state_says_so() -> None:
    view = SessionStateView()
    words: list[str] = []
    for entry in session().false_interruption("Tell me a story", STORY).entries:
        view.feed(entry)
        if view.snapshot().word not in words[-1:]:
            words.append(view.snapshot().word)
    assert words[-5:] == ["speaking", "hearing you", "thinking", "speaking", "listening"]


def test_the_state_counts_outcomes_rejections_and_faults() -> None:
    counts = state_after(everything().entries).counts
    assert (counts.turns, counts.completed, counts.interrupted) == (11, 6, 1)
    assert (counts.cut_off, counts.superseded, counts.failed, counts.unanswered) == (1, 1, 1, 1)
    assert (counts.rejected, counts.faults) == (2, 1)


def test_the_state_names_tier_devices_and_the_last_fault() -> None:
    journal = session(tier="pretend-750", simulated=True)
    state = state_after(journal.entries)
    assert (state.tier.name, state.tier.simulated, state.overlap, state.duplex) == ("pretend-750", True, "full", "full")
    assert state.input is not None and (state.input.name, state.input.lost) == ("file", "")
    journal.add(DeviceLost("input", "file", "unplugged")).add(SessionClosed("signal"))
    state = state_after(journal.entries)
    assert state.input is not None and state.input.lost == "unplugged"
    assert state.last_fault is not None and state.last_fault.message == "file: unplugged"
    assert (state.word, state.closed_reason) == ("closed", "signal")


def test_the_figures_are_those_of_the_summary_without_its_lists() -> None:
    view = SummaryView()
    for entry in everything().entries:
        view.feed(entry)
    whole, figures = view.snapshot(), view.figures()
    assert whole.turns and whole.rejected
    assert figures == msgspec.structs.replace(whole, turns=(), rejected=())


def test_the_collector_has_no_record_to_look_at() -> None:
    """Hours of records would make each full collection stop every thread for longer and longer."""
    assert not [entry for entry in everything().entries if gc.is_tracked(entry) or gc.is_tracked(entry.body)]
