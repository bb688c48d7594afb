"""Prefill while the person speaks: what is worked ahead on, and when nothing is."""

from __future__ import annotations

from tests.journal_builder import JournalBuilder
from tests.rules.desk import Desk
from voicetui.events import Basis, Entry, Fact, Order
from voicetui.events.listen import Evidence, Transcribed
from voicetui.events.orders import Cancel, Commit, Generate, Message, Prewarm, Transcribe
from voicetui.events.reply import PrewarmEnded
from voicetui.events.session import GapStaged, Said, TierChosen
from voicetui.views.ledger import fold_ledger

SYSTEM = Message("system", "Be brief.")


def told(desk: Desk) -> list[tuple[str, str]]:
    """Why, and the user's words it was for."""
    return [(order.why, order.messages[-1].text) for order in desk.all(Prewarm)]


def test_the_words_that_two_partials_agree_on_are_worked_ahead_on_and_at_the_pause_all_of_them() -> None:
    desk = Desk()
    desk.starts(1000)
    desk.run_to(1800)
    desk.words("What is")
    desk.run_to(2400)
    desk.words("What is the capital.")
    desk.run_to(3000)
    desk.words("What is the capital of Fran")
    desk.pauses(3200)
    assert told(desk) == [
        ("speech", ""), ("words", "What is"), ("words", "What is the capital"), ("pause", "What is the capital of Fran")
    ]  # fmt: skip
    desk.words("What is the capital of France?")
    assert desk.last(Generate).messages == (SYSTEM, Message("user", "What is the capital of France?"))
    assert desk.last(Prewarm).messages[:-1] == desk.last(Generate).messages[:-1], "the same prefix"


def test_a_partial_that_comes_after_the_pause_is_still_ahead_of_the_final_words() -> None:
    desk = Desk()
    desk.starts(1000)
    desk.run_to(1800)
    partial = desk.last(Transcribe)
    desk.pauses(2000)
    text = "What is the capital of France?"
    desk.tell(Transcribed(1, partial.request, text, False, partial.start_sample, 32_000, 0.0, 0.0, Evidence()))
    assert told(desk)[-1] == ("pause", text.rstrip("?"))


def test_the_words_of_a_partial_nobody_believes_are_not_worked_ahead_on() -> None:
    desk = Desk()
    desk.starts(1000)
    for text in ("Thank you for watching", "Thank you for watching"):
        desk.run_to(desk.now_ms + 700)
        desk.words(text, doubt="invented")
    assert told(desk) == [("speech", "")]


def test_while_a_reply_is_made_or_heard_the_tier_is_left_alone() -> None:
    desk = Desk()
    desk.speech(1000, 1800)
    desk.words("What is the capital of France?")
    before = len(desk.all(Prewarm))
    desk.run_to(3000)
    basis = desk.answer("Paris.", " It is big.")
    desk.synthesize()
    desk.hear(basis)
    desk.starts(4000)
    assert len(desk.all(Prewarm)) == before


def test_after_a_reply_the_new_history_is_worked_through_at_once() -> None:
    desk = Desk()
    basis = desk.turn("What is the capital of France?", "Paris.")
    desk.hear_out(basis)
    order = desk.last(Prewarm)
    assert order.why == "history"
    assert order.messages == (
        SYSTEM, Message("user", "What is the capital of France?"), Message("assistant", "Paris."), Message("user", "")
    )  # fmt: skip


def test_after_an_interruption_the_history_is_what_was_heard() -> None:
    desk = Desk()
    basis = desk.turn("What is the capital of France?", "Paris is", " a city.")
    desk.tell(Said("Stop"))
    desk.silent(basis, "Paris is")
    assert desk.last(Generate).messages[-2] == Message("assistant", "Paris is")


def test_a_draft_for_fewer_words_than_are_known_is_given_up_while_the_person_still_speaks() -> None:
    desk = Desk()
    desk.speech(1000, 1800)
    desk.words("Book a table")
    assert desk.all(Generate) and not desk.all(Cancel)
    desk.starts(2100)
    desk.run_to(2900)
    desk.words("Book a table for")
    assert [cancel.reason for cancel in desk.all(Cancel)] == ["words changed"]
    desk.run_to(3500)
    desk.words("Book a table for four people")
    assert told(desk)[-1] == ("words", "Book a table for")


def test_another_tier_gets_the_whole_prompt_ahead() -> None:
    desk = Desk()
    desk.hear_out(desk.turn("Hello.", "Hi."))
    desk.tell(TierChosen("other"))
    assert (desk.last(Prewarm).tier, len(desk.last(Prewarm).messages)) == ("other", 4)


def test_nothing_is_worked_ahead_on_where_nothing_overlaps_or_gaps_are_staged_or_it_is_off() -> None:
    for desk in (Desk("none"), Desk("clause"), Desk(prewarm=False)):
        desk.tell(Said("Hello."))
        basis = desk.answer("Hi.")
        desk.synthesize()
        desk.hear_out(basis)
        desk.starts(desk.now_ms + 1000)
        assert not desk.all(Prewarm)
    desk = Desk()
    desk.tell(GapStaged((700.0,)))
    desk.speech(1000, 2000)
    assert not desk.all(Prewarm)


def prefills() -> JournalBuilder:
    journal, asked = JournalBuilder().opened().ready(), Message("user", "What time is it?")
    for number, text in enumerate(("What", "What time", "What dime")):
        journal.add(Prewarm(number, 1, "local", (SYSTEM, Message("user", text)), "words"))
        journal.add(PrewarmEnded(number, 1, "done" if number else "cancelled", 0.0, 10 * (number + 1), 5))
    journal.add(Generate(Basis(1, 1, 1), "local", (SYSTEM, asked), speculative=True))
    return journal


def test_prefill_for_words_that_came_otherwise_is_waste() -> None:
    journal = prefills()
    assert fold_ledger(journal.entries).prewarm.wasted_tokens == 0, "nobody knows before the turn is committed"
    journal.add(Commit(Basis(1, 1, 1), 1, "What time is it?", "silence", 500.0))
    found = fold_ledger(journal.entries).prewarm
    assert (found.count, found.cancelled, found.tokens, found.wasted_tokens) == (3, 1, 60, 30)


class Kept(Desk):
    """Keeps the journal."""

    def __init__(self, **policy: object) -> None:
        self.entries: list[Entry] = []
        super().__init__(**policy)

    def tell(self, fact: Fact, at_ms: float | None = None) -> list[Order]:
        orders = super().tell(fact, at_ms)
        for body in (fact, *orders):
            self.entries.append(Entry(len(self.entries) + 1, self.now_ms, body))
        return orders

    def worked(self, order: Prewarm, tokens: int) -> None:
        self.tell(PrewarmEnded(order.prewarm, order.turn, "done", 0.0, tokens))

    @property
    def wasted_tokens(self) -> int:
        return fold_ledger(self.entries).prewarm.wasted_tokens


def heard_words(desk: Desk) -> Prewarm:
    """Words that were worked ahead on while the person spoke, up to the pause."""
    desk.starts(1000)
    for text in ("What is", "What is the capital."):
        desk.run_to(desk.now_ms + 700)
        desk.words(text)
    desk.pauses(3000)
    return desk.last(Prewarm)


def test_prefill_that_the_request_after_the_commit_begins_with_is_not_waste() -> None:
    desk = Kept(attempts=0)
    desk.worked(heard_words(desk), 20)
    desk.words("What is the capital of France?")
    desk.run_to(6000)
    kinds = [type(entry.body) for entry in desk.entries]
    assert kinds.index(Commit) < kinds.index(Generate), "no draft was made"
    assert desk.wasted_tokens == 0


def test_prefill_for_other_words_is_waste_by_the_request_after_the_commit() -> None:
    desk = Kept(attempts=0)
    desk.worked(heard_words(desk), 20)
    desk.words("Which one is the capital?")
    desk.run_to(6000)
    assert desk.wasted_tokens == 20


def test_prefill_for_other_words_that_ends_after_the_request_is_waste_all_the_same() -> None:
    desk = Kept(attempts=0)
    order = heard_words(desk)
    desk.words("Which one is the capital?")
    desk.run_to(6000)
    assert desk.wasted_tokens == 0
    desk.worked(order, 20)
    assert desk.wasted_tokens == 20


def test_at_a_pause_the_processor_can_be_left_to_the_final_transcript() -> None:
    desk = Desk(prewarm_pauses=False)
    desk.starts(1000)
    for words in ("What is", "What is the capital.", "What is the capital of Fran"):
        desk.run_to(desk.now_ms + 800)
        desk.words(words)
    desk.pauses(desk.now_ms + 200)
    assert [why for why, _ in told(desk)] == ["speech", "words", "words"]


def test_all_words_of_the_newest_partial_can_be_worked_ahead_on_though_the_last_may_change() -> None:
    desk = Desk(prewarm_newest=True, prewarm_pauses=False)
    desk.starts(1000)
    for words in ("Tell me who I'll be.", "Tell me who Albert", "Tell me who Albert."):
        desk.run_to(desk.now_ms + 800)
        desk.words(words)
    desk.pauses(desk.now_ms + 200)
    assert told(desk) == [("speech", ""), ("words", "Tell me who I'll be"), ("words", "Tell me who Albert")]
