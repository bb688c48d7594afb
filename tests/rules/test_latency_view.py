"""What the latency view makes of a turn: points, gap, and the walk back through what was waited for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.journal_builder import COMMIT_EARLY, COMMIT_LATE, SEQUENTIAL, JournalBuilder, Timing
from voicetui.events import AnyFact, AnyOrder, Entry
from voicetui.events.listen import Evidence, SpeechPaused, SpeechStarted, Transcribed
from voicetui.events.orders import Commit, Generate, OpenUtterance, Play, Synthesize
from voicetui.events.reply import (
    ClauseCut,
    ContextReady,
    GenerationEnded,
    RequestSent,
    TimedToken,
    TokensArrived,
)
from voicetui.events.speak import ClauseStarted, ClauseSynthesized
from voicetui.views.breakdown import StagesMs, Step, walk_back
from voicetui.views.latency import LatencyView, TurnLatency, fold_latency

Body = AnyFact | AnyOrder


def one_turn(timing: Timing) -> JournalBuilder:
    return JournalBuilder().opened().ready().turn("What time is it?", ["It is noon. ", "Lunch is ready."], timing)


def latency_of(entries: Iterable[Entry]) -> TurnLatency:
    [turn] = fold_latency(entries)
    return turn


def spent(stages: StagesMs) -> dict[str, float]:
    """The stages something was charged to."""
    return {stage: ms for stage, ms in msgspec.structs.asdict(stages).items() if ms}


def edited(entries: Iterable[Entry], change: Callable[[Body], Body | None]) -> list[Entry]:
    """The entries with each body changed, or left out where the change gives None."""
    changed = ((entry, change(entry.body)) for entry in entries)
    return [msgspec.structs.replace(entry, body=body) for entry, body in changed if body is not None]


def without(entries: Iterable[Entry], *kinds: type) -> list[Entry]:
    return edited(entries, lambda body: None if isinstance(body, kinds) else body)


def missing(turn: TurnLatency) -> dict[str, str]:
    return {one.point: one.reason for one in turn.missing}


# ---- the breakdown


def test_a_late_commit_is_charged_to_the_endpoint_and_the_output() -> None:
    turn = latency_of(one_turn(COMMIT_LATE).entries)
    assert turn.gap_ms == 480
    assert spent(turn.stages_ms) == {"endpoint": 450, "output": 30}


def test_an_early_commit_is_charged_to_each_stage_that_was_waited_for() -> None:
    turn = latency_of(one_turn(COMMIT_EARLY).entries)
    assert turn.gap_ms == 430
    assert spent(turn.stages_ms) == {
        "endpoint": 100,
        "transcribe": 90,
        "first_token": 40,
        "first_clause": 80,
        "synthesize": 90,
        "output": 30,
    }


def test_a_sequential_turn_is_charged_the_silence_and_then_every_stage() -> None:
    turn = latency_of(one_turn(SEQUENTIAL).entries)
    assert turn.gap_ms == 940
    assert spent(turn.stages_ms) == {
        "endpoint": 600,
        "transcribe": 100,
        "first_token": 40,
        "first_clause": 80,
        "synthesize": 90,
        "output": 30,
    }


def test_a_commit_that_waited_for_the_words_is_charged_to_the_transcription() -> None:
    timing = Timing(asked=100, transcript=520, committed=520, token=560, clause=640, audio=730)
    turn = latency_of(one_turn(timing).entries)
    assert spent(turn.stages_ms)["endpoint"] == 100
    assert spent(turn.stages_ms)["transcribe"] == 420


def test_a_reply_begun_while_the_user_still_spoke_costs_only_what_came_after() -> None:
    step = Step("synthesize", -200.0, 40.0, (Step("first_clause", None, -250.0),))
    stages = walk_back(Step("output", 40.0, 70.0, (step, Step("endpoint", 0.0, 20.0))), 0.0)
    assert spent(stages) == {"synthesize": 40, "output": 30}


def test_waiting_between_stages_is_unaccounted() -> None:
    def busy_voice(body: Body) -> Body:
        if isinstance(body, ClauseSynthesized) and body.clause == 0:
            return msgspec.structs.replace(body, started_ms=body.started_ms + 35, waited_ms=35.0)
        return body

    turn = latency_of(edited(one_turn(COMMIT_EARLY).entries, busy_voice))
    assert turn.stages_ms.synthesize == 55
    assert turn.stages_ms.unaccounted == 35


def test_connecting_belongs_to_the_first_token() -> None:
    journal = one_turn(Timing(token=260, clause=340, audio=430, committed=250))

    def connecting(body: Body) -> Body:
        return RequestSent(body.basis, body.tier, "new", connect_ms=25.0) if isinstance(body, RequestSent) else body

    moved = []
    for entry in edited(journal.entries, connecting):
        late = isinstance(entry.body, RequestSent)
        moved.append(msgspec.structs.replace(entry, at=entry.at + 25) if late else entry)
    assert latency_of(moved).stages_ms.first_token == 70


def test_reasoning_before_the_answer_is_charged_apart() -> None:
    journal = one_turn(COMMIT_EARLY)
    end = journal.times[1].user_end

    def thinking(body: Body) -> Body:
        if isinstance(body, TokensArrived) and body.tokens[0].text.startswith("It"):
            return TokensArrived(body.basis, (TimedToken("It ", end + 280),))
        return body

    entries = edited(journal.entries, thinking)
    place = next(n for n, entry in enumerate(entries) if isinstance(entry.body, TokensArrived))
    thought = TokensArrived(entries[place].body.basis, (TimedToken("Hm", end + 230),), reasoning=True)  # type: ignore[union-attr]
    entries.insert(place, Entry(10_000, end + 230, thought))
    stages = latency_of(entries).stages_ms
    assert (stages.first_token, stages.first_answer_token, stages.first_clause) == (40, 50, 30)


def test_in_mode_none_the_whole_text_is_what_the_voice_waits_for() -> None:
    journal = JournalBuilder().opened(overlap="none").ready()
    journal.turn("What time is it?", ["It is noon. ", "Lunch is ready."], SEQUENTIAL)
    end, basis = journal.times[1].user_end, journal.times[1].basis
    whole = [
        entry
        for entry in without(journal.entries, GenerationEnded)
        if not isinstance(entry.body, Synthesize) and getattr(entry.body, "clause", 0) == 0
    ]
    place = next(n for n, entry in enumerate(whole) if isinstance(entry.body, ClauseSynthesized))
    sound = ClauseSynthesized(basis, 0, end + 860, end + 910, 0.0, 10.0, 1800.0)
    whole[place] = msgspec.structs.replace(whole[place], body=sound)
    ended = Entry(9_000, end + 860, GenerationEnded(basis, "complete", 2, 40, 6, False))
    ordered = Entry(9_001, end + 860, Synthesize(basis, 0, "It is noon. Lunch is ready."))
    whole[place:place] = [ended, ordered]
    stages = latency_of([Entry(n, entry.at, entry.body) for n, entry in enumerate(whole)]).stages_ms
    assert (stages.first_clause, stages.synthesize) == (120, 50)


def test_a_transcription_never_begins_before_it_was_asked_for() -> None:
    def claims_to_be_early(body: Body) -> Body:
        return msgspec.structs.replace(body, started_ms=0.0) if isinstance(body, Transcribed) else body

    stages = latency_of(edited(one_turn(SEQUENTIAL).entries, claims_to_be_early)).stages_ms
    assert (stages.endpoint, stages.transcribe) == (600, 100)


def test_a_late_partial_is_no_reason_to_charge_the_endpoint() -> None:
    partial = Step("transcribe", 60.0, 130.0)
    token = Step("first_token", 130.0, 200.0, (partial,))
    stages = walk_back(Step("output", 200.0, 230.0, (token,)), 0.0)
    assert spent(stages) == {"transcribe": 70, "first_token": 70, "output": 30, "unaccounted": 60}


ms = st.floats(0, 800, allow_nan=False).map(lambda value: round(value, 3))


@settings(max_examples=150, deadline=None)
@given(st.lists(ms, min_size=7, max_size=7), ms, st.booleans())
def test_the_parts_add_up_to_the_gap_exactly(offsets: list[float], committed: float, sequential: bool) -> None:
    noticed, asked, transcript, token, clause, audio, device = sorted(offsets)
    if not sequential:
        asked = noticed
    timing = Timing(
        noticed=noticed, asked=asked, transcript=transcript, committed=max(committed, transcript),
        token=max(token, committed), clause=max(clause, token, committed), audio=max(audio, clause, committed) + 1,
        device=device,
    )  # fmt: skip
    turn = latency_of(one_turn(timing).entries)
    parts = msgspec.structs.asdict(turn.stages_ms)
    assert all(part is not None and part >= 0 for part in parts.values())
    assert sum(round(part * 1000) for part in parts.values()) == round((turn.gap_ms or 0) * 1000)
    assert math.fsum(parts.values()) == pytest.approx(turn.gap_ms, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False), st.floats(0, 1))
def test_a_journal_with_holes_never_breaks_the_view_and_no_part_is_negative(random: object, kept: float) -> None:
    entries = [entry for entry in one_turn(COMMIT_EARLY).entries if random.random() < kept]  # type: ignore[attr-defined]
    for turn in fold_latency(entries):
        parts = [part for part in msgspec.structs.asdict(turn.stages_ms).values() if part is not None]
        assert all(part >= 0 for part in parts)
        if turn.gap_ms is not None:
            assert math.fsum(parts) == pytest.approx(turn.gap_ms)


# ---- points


def test_the_role_chunk_and_empty_pieces_are_no_tokens() -> None:
    journal = one_turn(COMMIT_EARLY)
    start = journal.times[1].user_end

    def chunks(body: Body) -> Body:
        if isinstance(body, TokensArrived) and body.tokens[0].text.startswith("It"):
            times = (("", start + 20), ("", start + 25), ("Hi", start + 400))
            return TokensArrived(body.basis, tuple(TimedToken(text, at) for text, at in times))
        return body

    points = latency_of(edited(journal.entries, chunks)).points
    assert points.first_token == points.first_answer_token == start + 400


def test_a_transcript_without_detected_speech_makes_a_turn_with_no_speech_latencies() -> None:
    entries = without(one_turn(COMMIT_LATE).entries, SpeechStarted, SpeechPaused, OpenUtterance)
    turn = latency_of(entries)
    assert turn.heard and turn.outcome == "completed"
    assert (turn.gap_ms, turn.uncertainty_ms, turn.points.user_end) == (None, None, None)
    assert spent(turn.stages_ms) == {}
    assert turn.stages_ms.endpoint is None
    assert missing(turn)["user_end"] == "the detector found no end of speech"


def test_a_typed_turn_has_no_gap_and_says_why() -> None:
    turn = latency_of(JournalBuilder().opened().ready().typed("Hello", ["Hi there."]).entries)
    assert turn.typed and turn.heard
    assert turn.gap_ms is None
    assert missing(turn)["user_end"] == "nobody spoke: the turn was typed"


def test_the_gap_counts_from_the_last_end_of_speech_before_the_commit() -> None:
    journal = one_turn(COMMIT_LATE)
    place = next(n for n, entry in enumerate(journal.entries) if isinstance(entry.body, SpeechPaused))
    end = journal.entries[place].at
    resumed = [
        Entry(0, end - 700, SpeechPaused(0, 9.0, end - 600, -30.0, -60.0)),
        Entry(0, end - 400, SpeechStarted(0, end - 340)),
    ]
    turn = latency_of(journal.entries[:place] + resumed + journal.entries[place:])
    assert (turn.gap_ms, turn.uncertainty_ms) == (480, 5.0)


def test_speech_after_the_commit_does_not_move_the_end_of_the_turn() -> None:
    journal = one_turn(COMMIT_LATE)
    place = next(n for n, entry in enumerate(journal.entries) if isinstance(entry.body, Commit)) + 1
    end = journal.times[1].user_end
    more = [
        Entry(0, end + 460, SpeechStarted(0, end + 500)),
        Entry(0, end + 900, SpeechPaused(0, 3.0, end + 1000, -30.0, -60.0)),
    ]
    assert latency_of(journal.entries[:place] + more + journal.entries[place:]).gap_ms == 480


def test_a_turn_ended_by_a_key_learns_the_end_of_speech_when_it_is_noticed() -> None:
    journal = one_turn(COMMIT_LATE)
    pause = next(entry for entry in journal.entries if isinstance(entry.body, SpeechPaused))
    entries = without(journal.entries, SpeechPaused)
    place = next(n for n, entry in enumerate(entries) if isinstance(entry.body, Commit)) + 1
    view = LatencyView()
    for entry in entries[:place]:
        view.feed(entry)
    assert view.snapshot()[0].points.user_end is None
    for entry in [pause, *entries[place:]]:
        view.feed(entry)
    assert view.snapshot()[0].gap_ms == 480


def test_a_filler_is_not_the_start_of_the_reply() -> None:
    journal = one_turn(COMMIT_LATE)
    times = journal.times[1]
    place = next(n for n, entry in enumerate(journal.entries) if isinstance(entry.body, Play))
    filler = Entry(0, times.user_end + 300, ClauseStarted(times.basis, -1))
    turn = latency_of([*journal.entries[:place], filler, *journal.entries[place:]])
    assert turn.filler and turn.gap_ms == 480
    assert turn.points.filler_start == times.user_end + 300
    only_filler = latency_of([*without([*journal.entries, filler], ClauseStarted), filler])
    assert not only_filler.heard and only_filler.gap_ms is None


def test_a_cached_reply_is_marked_and_its_request_is_missing_for_that_reason() -> None:
    def cached(body: Body) -> Body | None:
        if isinstance(body, RequestSent | ContextReady):
            return None
        return msgspec.structs.replace(body, note="cached") if isinstance(body, GenerationEnded) else body

    turn = latency_of(edited(one_turn(COMMIT_EARLY).entries, cached))
    assert turn.cached
    assert missing(turn)["request"] == "a cached reply"


@pytest.mark.parametrize(("connect_ms", "cold"), [(40.0, True), (20.0, True), (None, True), (2.0, False)])
def test_the_first_request_and_new_connections_are_cold_but_for_one_that_costs_nothing(
    connect_ms: float | None, cold: bool
) -> None:
    journal = one_turn(COMMIT_LATE)
    for _ in range(2):
        journal.turn("And now?", ["Still noon."], COMMIT_LATE)

    def last_reconnects(body: Body) -> Body:
        if isinstance(body, RequestSent) and body.basis.turn == 3:
            return msgspec.structs.replace(body, connection="new", connect_ms=connect_ms)
        return body

    turns = fold_latency(edited(journal.entries, last_reconnects))
    assert [(turn.cold, turn.connection) for turn in turns] == [(True, "reused"), (False, "reused"), (cold, "new")]


def test_a_reply_over_the_users_speech_has_a_gap_below_zero_and_says_so() -> None:
    journal = one_turn(COMMIT_LATE)
    end = journal.times[1].user_end
    entries = [
        msgspec.structs.replace(entry, at=end - 40) if isinstance(entry.body, ClauseStarted) else entry
        for entry in journal.entries
    ]
    turn = latency_of(entries)
    assert (turn.gap_ms, turn.overlaps_user) == (-40, True)
    assert spent(turn.stages_ms) == {"unaccounted": -40}


def test_a_missing_point_is_none_and_its_time_is_unaccounted() -> None:
    turn = latency_of(without(one_turn(COMMIT_EARLY).entries, ClauseCut))
    assert turn.gap_ms == 430
    assert (turn.points.first_clause, turn.stages_ms.first_clause) == (None, None)
    assert missing(turn)["first_clause"] == "no clause was cut"
    assert turn.stages_ms.unaccounted == 80


def test_times_that_are_no_numbers_count_as_missing() -> None:
    entries = [
        msgspec.structs.replace(entry, at=math.nan) if isinstance(entry.body, Commit | ClauseSynthesized) else entry
        for entry in one_turn(COMMIT_EARLY).entries
    ]
    turn = latency_of(entries)
    assert (turn.gap_ms, turn.points.committed, turn.stages_ms.synthesize) == (430, None, None)


def test_a_turn_whose_reply_was_not_heard_says_why() -> None:
    journal = JournalBuilder().opened().ready().failed("Hello?", "no route to host")
    turn = latency_of(journal.entries)
    assert not turn.heard and turn.gap_ms is None
    assert missing(turn)["reply_start"] == "the reply was not heard: failed, no route to host"
    assert missing(turn)["first_token"] == "the tier failed: no route to host"


def test_a_doubted_transcript_is_not_what_the_reply_was_made_from() -> None:
    journal = one_turn(COMMIT_EARLY)
    place = next(n for n, entry in enumerate(journal.entries) if isinstance(entry.body, Generate))
    end = journal.times[1].user_end
    doubted = Transcribed(1, 99, "Thank you.", False, 0, 1, end + 191, 0.0, Evidence(), doubt="invented")
    entries = [*journal.entries[:place], Entry(0, end + 189, doubted), *journal.entries[place:]]
    assert latency_of(entries).points.transcript == end + 190


def test_looking_after_every_entry_shows_the_same_as_looking_once() -> None:
    journal = one_turn(COMMIT_EARLY).barge_in("Tell me a story", ["Once upon a time there was a king."])
    view = LatencyView()
    for entry in journal.entries:
        view.feed(entry)
        view.snapshot()
    assert view.snapshot() == fold_latency(journal.entries)


def test_an_end_without_a_commit_is_still_a_turn() -> None:
    turn = latency_of(without(one_turn(COMMIT_EARLY).entries, Commit))
    assert turn.outcome == "completed" and turn.heard
    assert (turn.points.committed, turn.gap_ms) == (None, None)


def test_a_lost_line_of_the_synthesis_does_not_hide_what_the_commit_cost() -> None:
    turn = latency_of(without(one_turn(COMMIT_LATE).entries, ClauseSynthesized))
    assert spent(turn.stages_ms) == {"endpoint": 450, "output": 30}


def test_a_time_whose_microseconds_are_no_number_is_none() -> None:
    known = JournalBuilder().opened().ready().turn("Hello.", ["Hello."]).closed().entries
    for place, entry in enumerate(known):
        torn = [*known[:place], Entry(entry.seq, 1e308, entry.body), *known[place + 1 :]]
        assert all(turn.gap_ms is None or abs(turn.gap_ms) < 1e6 for turn in fold_latency(torn))
