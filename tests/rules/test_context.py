"""Looking up notes while the person speaks: when, with what, and what becomes of the answer."""

from __future__ import annotations

from tests.journal_builder import JournalBuilder
from tests.rules.desk import Desk
from voicetui.conversation.lookup import content_words
from voicetui.events import Basis
from voicetui.events.orders import AdoptContext, AssembleContext, Cancel, Commit, Generate, Message, Prewarm, Reject
from voicetui.events.reply import ContextAssembled, Passage
from voicetui.events.session import Said
from voicetui.views.ledger import fold_ledger
from voicetui.views.retrieval import Retrieval
from voicetui.views.timeline import fold_timeline

BIKE, BOAT = Passage("bikes.md", "The red bike costs ninety euros."), Passage("boats.md", "Boats are not for sale.")
NOTES = "Notes that may help:\n- The red bike costs ninety euros.\n\nThe user says:\n"


def find(desk: Desk, *passages: Passage, order: AssembleContext | None = None) -> None:
    order = order or desk.last(AssembleContext)
    desk.tell(ContextAssembled(order.context, order.turn, passages, desk.now_ms))


def speaking(*texts: str, overlap: str = "full") -> Desk:
    """A person in mid-sentence, after these partial transcripts."""
    desk = Desk(overlap, knowledge=True)
    desk.starts(1000)
    for text in texts:
        desk.run_to(desk.now_ms + 650)
        desk.words(text)
    return desk


def test_the_look_up_begins_on_words_that_are_certain() -> None:
    desk = speaking("What does the red", "What does the red bike")
    assert [order.query for order in desk.all(AssembleContext)] == ["red"]
    desk.run_to(desk.now_ms + 600)
    desk.words("What does the red bike cost")
    assert [order.query for order in desk.all(AssembleContext)] == ["red", "red bike"]


def test_words_without_meaning_start_no_look_up() -> None:
    desk = speaking("So what is it", "So what is it that", "So what is it that you want")
    assert not desk.all(AssembleContext)
    assert content_words("The of it, please!") == ()


def test_what_is_found_stands_right_before_the_words_and_the_history_stays_as_it_was() -> None:
    desk = Desk(knowledge=True)
    desk.tell(Said("Hello there, bike shop."))
    find(desk)
    basis = desk.answer("Hi.")
    desk.synthesize()
    desk.hear_out(basis)
    desk.starts(desk.now_ms + 1000)
    for text in ("The red bike", "The red bike costs"):
        desk.run_to(desk.now_ms + 650)
        desk.words(text)
    find(desk, BIKE)
    ahead = desk.last(Prewarm).messages
    assert ahead[-1] == Message("user", f"{NOTES}The red bike")
    assert ahead[1:3] == (Message("user", "Hello there, bike shop."), Message("assistant", "Hi."))


def test_the_prompt_is_not_worked_through_without_the_notes_that_are_being_looked_up() -> None:
    desk = speaking("The red bike", "The red bike costs")
    assert [order.why for order in desk.all(Prewarm)] == ["speech"]
    find(desk)
    assert desk.last(Prewarm).messages[-1].text == "The red bike"


def test_the_reply_is_made_with_what_was_found_and_remembered_without() -> None:
    desk = speaking("The red bike", "The red bike costs")
    find(desk, BIKE)
    desk.pauses(desk.now_ms + 100)
    find(desk, BIKE)
    desk.words("The red bike costs?")
    assert desk.last(Generate).messages[-1].text == f"{NOTES}The red bike costs?"
    desk.run_to(desk.now_ms + 1600)
    basis = desk.answer("Ninety.")
    desk.synthesize()
    desk.hear_out(basis)
    assert desk.state.history[-1].user == "The red bike costs?"
    assert "Notes" not in desk.last(Prewarm).messages[-1].text


def test_a_draft_waits_for_the_look_up_of_its_last_words_and_so_does_the_turn() -> None:
    for overlap in ("full", "clause", "none"):
        desk = speaking("The red", overlap=overlap)
        desk.pauses(desk.now_ms + 100)
        desk.run_to(desk.now_ms + 700)
        desk.words("The red bike")
        assert desk.last(AssembleContext).query == "red bike"
        desk.run_to(desk.now_ms + 2000)
        assert not desk.all(Generate) and not desk.all(Commit), overlap
        find(desk, BIKE)
        assert desk.last(Generate).messages[-1].text == f"{NOTES}The red bike"


def test_another_context_is_another_attempt() -> None:
    desk = speaking("The red bike", "The red bike costs")
    find(desk, BOAT)
    desk.pauses(desk.now_ms + 100)
    find(desk, BOAT)
    desk.words("The red bike costs.")
    first = desk.last(Generate).basis
    desk.starts(desk.now_ms + 100)
    desk.pauses(desk.now_ms + 700)
    desk.words("The red bike costs nothing.")
    assert desk.all(Cancel)[0].basis == first
    find(desk, BIKE)
    assert desk.last(Generate).basis.attempt > first.attempt + 1
    assert [order.sources for order in desk.all(AdoptContext)] == [("boats.md",), ("bikes.md",)]


def test_an_answer_that_comes_late_changes_nothing() -> None:
    desk = speaking("The red bike", "The red bike costs")
    old = desk.last(AssembleContext)
    desk.run_to(desk.now_ms + 600)
    desk.words("The red bike costs money")
    assert desk.last(AssembleContext) != old
    find(desk, BOAT, order=old)
    assert not desk.all(AdoptContext)
    find(desk, BIKE)
    find(desk, BOAT)
    assert [order.sources for order in desk.all(AdoptContext)] == [("bikes.md",)]


def test_a_typed_question_is_looked_up_too() -> None:
    desk = Desk(knowledge=True)
    desk.tell(Said("The red bike?"))
    assert not desk.all(Commit)
    find(desk, BIKE)
    assert desk.last(Commit).text == "The red bike?"
    assert desk.last(Generate).messages[-1].text == f"{NOTES}The red bike?"


def test_without_notes_nothing_is_looked_up() -> None:
    desk = Desk()
    desk.turn("What does the red bike cost?", "Ninety.")
    assert not desk.all(AssembleContext)


def test_hit_refresh_and_waste_are_counted_and_drawn() -> None:
    journal = JournalBuilder().opened().ready()
    for number, passages in enumerate(((BIKE,), (BIKE,), (BOAT,)), 1):
        journal.add(AssembleContext(number, 1, "bike", 2), 100.0 * number)
        journal.add(ContextAssembled(number, 1, passages, 100.0 * number), 100.0 * number + 2)
        if number != 2:
            journal.add(AdoptContext(number, 1, (passages[0].source,)), 100.0 * number + 2)
    journal.add(AssembleContext(4, 1, "boat", 2), 400.0)
    journal.add(Commit(Basis(1, 1, 1), 1, "Bike?", "silence", 500.0), 401.0)
    journal.add(ContextAssembled(4, 1, (BOAT,), 400.0), 402.0)
    found = fold_ledger(journal.entries).retrieval
    assert found == Retrieval(asked=4, adopted=2, refreshed=1, same=1, stale=1, ms=8.0)
    spans = [span for span in fold_timeline(journal.entries).spans if span.lane == "context"]
    assert [(span.kind, span.label) for span in spans] == [
        ("work", "bikes.md"), ("speculative", "bikes.md"), ("work", "boats.md"), ("discarded", "boats.md")
    ]  # fmt: skip


def test_a_line_typed_while_the_person_speaks_is_looked_up_alone_and_answered() -> None:
    desk = speaking("The red bike", "The red bike costs")
    asked = len(desk.all(AssembleContext))
    orders = desk.tell(Said("Any boats?"))
    assert [type(order) for order in orders] == [Reject, AssembleContext], "the open words are dropped first"
    for order in desk.all(AssembleContext)[asked - 1 :]:
        find(desk, order=order)
    assert len(desk.all(AssembleContext)) == asked + 1, "an answer leads to no further question"
    assert desk.last(Commit).text == "Any boats?"


def test_a_line_typed_at_settled_words_is_looked_up_alone_and_answered() -> None:
    desk = speaking("The red")
    desk.pauses(desk.now_ms + 100)
    desk.words("The red bike.")
    asked = len(desk.all(AssembleContext))
    desk.tell(Said("Any boats?"))
    desk.run_to(desk.now_ms + 3000)
    for order in desk.all(AssembleContext)[asked - 1 :]:
        find(desk, order=order)
    assert len(desk.all(AssembleContext)) == asked + 1
    assert [order.text for order in desk.all(Commit)] == ["Any boats?"]
