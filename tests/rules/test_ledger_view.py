"""What speculation cost and saved."""

from __future__ import annotations

import msgspec
import pytest

from tests.journal_builder import COMMIT_EARLY, COMMIT_LATE, SEQUENTIAL, JournalBuilder
from voicetui.events import Basis, Entry
from voicetui.events.orders import Cancel, Commit, Generate
from voicetui.events.reply import GenerationCancelled, GenerationEnded, TimedToken, TokensArrived
from voicetui.events.session import OverlapChosen, Price, SessionOpened, TierFacts
from voicetui.events.speak import ClauseBegun, ClauseSynthesized, Discarded
from voicetui.views.ledger import LedgerView, Speculation, Waste, fold_ledger

ANSWER = ["It is noon. ", "Lunch is ready."]


def session() -> JournalBuilder:
    return JournalBuilder().opened().ready()


def test_a_kept_speculation_saved_what_lies_between_its_start_and_the_commit() -> None:
    ledger = fold_ledger(session().turn("What time is it?", ANSWER, COMMIT_EARLY).entries)
    assert ledger.turns[1] == Speculation(attempts=1, kept=True, saved_ms=60, used_tokens=6, tried=True)


def test_a_speculation_saves_nothing_more_once_its_sound_is_ready() -> None:
    ledger = fold_ledger(session().turn("What time is it?", ANSWER, COMMIT_LATE).entries)
    assert ledger.turns[1].saved_ms == 400 - 190


def test_a_turn_without_speculation_saves_and_wastes_nothing() -> None:
    ledger = fold_ledger(session().turn("What time is it?", ANSWER, SEQUENTIAL).entries)
    assert ledger.turns[1] == Speculation(used_tokens=6, tried=True)


def test_drafts_on_other_words_are_attempts_whose_tokens_are_wasted() -> None:
    ledger = fold_ledger(session().turn("What time is it?", ANSWER, dropped=2).entries)
    turn = ledger.turns[1]
    assert (turn.attempts, turn.kept, turn.wasted_tokens, turn.saved_ms) == (3, True, 6, 60)
    assert turn.wasted_ms == 2 * (15 + 20), "15 ms of generation and 20 ms of synthesis for each draft"
    assert ledger.discarded == turn.discarded == {"synthesize": Waste(count=2, samples=3200, ms=40.0)}


def test_a_draft_that_was_finished_before_it_was_dropped_wasted_all_its_tokens() -> None:
    journal, draft, kept = session(), Basis(1, 1, 1), Basis(1, 2, 2)
    journal.add(Generate(draft, "local", (), speculative=True))
    journal.add(GenerationEnded(draft, "complete", 1, 20, 17, estimated=True))
    journal.add(Cancel(draft, "words changed")).add(Generate(kept, "local", (), speculative=True))
    journal.add(Commit(kept, 1, "What time is it?", "silence", 500.0))
    speculation = fold_ledger(journal.entries).turns[1]
    assert (speculation.attempts, speculation.kept, speculation.wasted_tokens) == (2, True, 17)
    assert speculation.estimated


def test_without_a_count_the_pieces_that_arrived_are_counted_and_called_an_estimate() -> None:
    journal, draft = session(), Basis(1, 1, 1)
    journal.add(Generate(draft, "local", (), speculative=True))
    journal.add(TokensArrived(draft, (TimedToken("Well", 1.0), TimedToken("", 1.0), TimedToken(",", 2.0))))
    journal.add(Cancel(draft, "words changed"))
    assert fold_ledger(journal.entries).turns[1] == Speculation(attempts=1, wasted_tokens=2, estimated=True)


def test_the_same_tokens_cancelled_and_discarded_are_counted_once() -> None:
    journal, draft = session(), Basis(1, 1, 1)
    journal.add(Generate(draft, "local", (), speculative=True)).add(Cancel(draft, "words changed"))
    journal.add(GenerationCancelled(draft, 5, 3.0)).add(Discarded(draft, "generate", tokens=5))
    ledger = fold_ledger(journal.entries)
    assert ledger.wasted_tokens == 5
    assert ledger.discarded["generate"].tokens == 5


def test_a_speculation_for_speech_that_became_no_turn_is_in_the_sums() -> None:
    journal = session()
    journal.add(Generate(Basis(1, 1, 1), "local", (), speculative=True)).add(Cancel(Basis(1, 1, 1), "rejected"))
    journal.add(GenerationCancelled(Basis(1, 1, 1), 4, 3.0))
    ledger = fold_ledger(journal.entries)
    assert (ledger.attempts, ledger.kept, ledger.wasted_tokens) == (1, 0, 4)


def test_a_kept_speculation_of_a_turn_taken_back_is_waste_and_saved_nothing() -> None:
    ledger = fold_ledger(session().cut_off("I want", "a pizza", ["Sure thing."]).entries)
    turn = ledger.turns[1]
    assert (turn.attempts, turn.kept, turn.wasted_tokens, turn.saved_ms) == (1, True, 6, 0)
    assert turn.used_tokens == 0
    assert ledger.turns[2].wasted_tokens == 0


def test_an_interrupted_reply_is_no_waste_of_speculation() -> None:
    ledger = fold_ledger(session().barge_in("Tell me a story", ["Once upon a time there was a king."]).entries)
    assert ledger.turns[1].wasted_tokens == 0


def test_sound_that_was_made_and_then_dropped_is_work_done_once() -> None:
    journal, draft = session(), Basis(1, 1, 1)
    journal.add(Generate(draft, "local", (), speculative=True), 1000)
    journal.add(ClauseSynthesized(draft, 0, 1100.0, 1180.0, 0.0, 10.0, 500.0), 1180)
    journal.add(Cancel(draft, "words changed"), 1200).add(Discarded(draft, "synthesize", samples=8000, ms=80.0), 1200)
    assert fold_ledger(journal.entries).wasted_ms == 200 + 80


def test_sound_that_was_handed_out_as_it_grew_is_work_done_once() -> None:
    journal, draft = session(), Basis(1, 1, 1)
    journal.add(Generate(draft, "local", (), speculative=True), 1000)
    journal.add(ClauseBegun(draft, 0, 1100.0, 0.0, 10.0), 1130)
    journal.add(ClauseSynthesized(draft, 0, 1100.0, 1130.0, 0.0, 10.0, 500.0), 1180)
    journal.add(Cancel(draft, "words changed"), 1200)
    assert fold_ledger(journal.entries).wasted_ms == 200 + 80


def test_without_speculation_the_work_of_the_reply_is_no_waste() -> None:
    ledger = fold_ledger(session().turn("What time is it?", ANSWER, SEQUENTIAL).entries)
    assert (ledger.wasted_ms, ledger.wasted_tokens, ledger.used_tokens) == (0, 0, 6)


def test_the_rate_of_exchange_is_wasted_tokens_for_each_100_ms_saved() -> None:
    ledger = fold_ledger(session().turn("What time is it?", ANSWER, dropped=2).entries)
    assert ledger.tokens_per_100_ms == pytest.approx(6 / 60 * 100)
    nothing_saved = fold_ledger(session().turn("What time is it?", ANSWER, SEQUENTIAL).entries)
    assert nothing_saved.tokens_per_100_ms is None


def test_only_turns_in_mode_full_count_as_tried() -> None:
    journal = session().turn("What time is it?", ANSWER, SEQUENTIAL)
    journal.add(OverlapChosen("clause"))
    journal.turn("And now?", ANSWER, SEQUENTIAL)
    assert fold_ledger(journal.entries).tried == 1


def test_money_is_what_the_tier_asks_for_prompts_and_answers() -> None:
    journal = session()
    opened = journal.entries[0].body
    assert isinstance(opened, SessionOpened)
    tiers = tuple(msgspec.structs.replace(tier, price=Price(1.0, 10.0)) for tier in opened.tiers)
    entries = [Entry(0, 0.0, msgspec.structs.replace(opened, tiers=tiers)), *journal.entries[1:]]
    spoken = JournalBuilder().opened().ready().turn("What time is it?", ANSWER, dropped=2)
    entries += spoken.entries[len(entries) :]
    turn = fold_ledger(entries).turns[1]
    reply_usd = (40 * 1.0 + 6 * 10.0) / 1e6
    drafts_usd = 2 * (len("What time") / 4 * 1.0 + 3 * 10.0) / 1e6
    assert turn.wasted_usd == pytest.approx(drafts_usd)
    assert turn.usd == pytest.approx(reply_usd + drafts_usd)
    assert fold_ledger(entries).usd_per_1000_turns == pytest.approx((reply_usd + drafts_usd) * 1000)


def test_a_tier_without_a_price_costs_no_known_money() -> None:
    ledger = fold_ledger(session().turn("What time is it?", ANSWER, dropped=2).entries)
    assert ledger.usd_per_1000_turns is None
    assert ledger.wasted_usd_per_1000_turns is None


def test_a_journal_from_before_tiers_had_prices_is_still_read() -> None:
    line = '{"name":"local","kind":"local","model":"m","simulated":false}'
    assert msgspec.json.decode(f'{{"type":"tier_facts",{line[1:]}', type=TierFacts) == TierFacts("local", "local", "m")


def test_the_session_sums_its_turns() -> None:
    journal = session().turn("What time is it?", ANSWER, dropped=1).turn("And now?", ANSWER, COMMIT_LATE)
    ledger = fold_ledger(journal.entries)
    assert (ledger.attempts, ledger.kept, ledger.wasted_tokens, ledger.saved_ms) == (3, 2, 3, 270)


def test_looking_after_every_entry_shows_the_same_as_looking_once() -> None:
    journal = session().turn("What time is it?", ANSWER, dropped=2).cut_off("I want", "a pizza", ["Sure."])
    view = LedgerView()
    for entry in journal.entries:
        view.feed(entry)
        view.snapshot()
    assert view.snapshot() == fold_ledger(journal.entries)
