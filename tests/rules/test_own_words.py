"""The program's own words, come back through the microphone, are no turn; anything a person says is."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.desk import Desk
from voicetui.conversation import own_words
from voicetui.events import Basis
from voicetui.events.listen import Evidence, Transcribed
from voicetui.events.orders import BargeIn, ChangeDuplex, Commit, Cut, Reject, Resume, Transcribe
from voicetui.events.speak import ClauseEnded, PlaybackFinished

REPLY = "To make a cup of tea, boil some water and pour it over a tea bag, or stop at a cafe and say yes."
USER_DBFS, ECHO_DBFS = -20.0, -42.0


def words(desk: Desk, text: str, dbfs: float | None) -> None:
    """Answer the newest transcription order, with the level of the sound."""
    order = desk.last(Transcribe)
    at_ms = desk.now_ms + 90
    end = order.end_sample if order.end_sample is not None else int(at_ms * 16)
    desk.run_to(at_ms)
    evidence = Evidence(level_dbfs=dbfs)
    fact = Transcribed(
        order.utterance, order.request, text, order.final, order.start_sample, end, at_ms - 90, 0.0, evidence
    )
    desk.tell(fact, at_ms)


def answering(reply: str = REPLY) -> tuple[Desk, Basis, float]:
    """A reply that began to be heard, and when; the user's voice is known."""
    desk = Desk()
    desk.speech(1000, 1800)
    words(desk, "How do I make tea?", USER_DBFS)
    desk.run_to(3500)
    basis = desk.answer(reply)
    desk.synthesize()
    desk.hear(basis)
    return desk, basis, desk.now_ms


def over(text: str, after_ms: float, dbfs: float | None = ECHO_DBFS, reply: str = REPLY) -> Desk:
    """A desk on which this was heard over the reply, ``after_ms`` after that began."""
    desk, _, began_ms = answering(reply)
    desk.speech(began_ms + after_ms, began_ms + after_ms + 900)
    words(desk, text, dbfs)
    return desk


@pytest.mark.parametrize(
    ("text", "after_ms"),
    [
        ("to make a cup of tea", 150),
        ("To make a cup of tee, boil some", 300),
        ("boil some water", 2200),
        ("boil some wat", 2200),
        ("some water and pour it", 2500),
    ],
)
@pytest.mark.parametrize("dbfs", [ECHO_DBFS, USER_DBFS, None])
def test_its_own_words_when_it_says_them_are_an_echo(text: str, after_ms: float, dbfs: float | None) -> None:
    desk = over(text, after_ms, dbfs)
    assert [order.reason for order in desk.all(Reject)] == ["echo"]
    assert not desk.all(Cut) and desk.all(Resume)
    assert [order.kind for order in desk.all(BargeIn)] == ["noise"]


@pytest.mark.parametrize("text", ["boil some", "boil"])
def test_fewer_than_three_words_are_an_echo_only_where_they_are_much_quieter_than_the_user(text: str) -> None:
    assert [order.reason for order in over(text, 2200, ECHO_DBFS).all(Reject)] == ["echo"]
    assert over(text, 2200, USER_DBFS).all(Cut)
    assert over(text, 2200, None).all(Cut)


@pytest.mark.parametrize(
    ("text", "after_ms"),
    [
        ("what about coffee", 500),
        ("boil some water stop", 2200),
        ("no boil some water", 2000),
        ("stop", 5000),
        ("stop it", 5000),
        ("a cup of coffee with milk", 900),
        ("tea bag of water some boil", 2200),
        ("how much water and how long", 2500),
    ],
)
@pytest.mark.parametrize("dbfs", [ECHO_DBFS, USER_DBFS])
def test_somebody_who_says_something_else_interrupts(text: str, after_ms: float, dbfs: float) -> None:
    desk = over(text, after_ms, dbfs)
    assert not desk.all(Reject)
    assert desk.all(Cut)


@pytest.mark.parametrize("text", ["boil some water", "to make a cup of tea"])
def test_somebody_who_repeats_it_afterwards_interrupts(text: str) -> None:
    assert over(text, 5500, USER_DBFS).all(Cut)


@pytest.mark.parametrize("text", ["yes", "okay", "yes okay"])
def test_short_words_in_both_stay_what_they_are(text: str) -> None:
    desk = over(text, 6900, USER_DBFS)
    assert [order.reason for order in desk.all(Reject)] == ["backchannel"]


def test_the_echo_of_the_last_words_is_no_turn_and_a_yes_after_them_is() -> None:
    for text, turns in (("cafe and say yes", 1), ("yes", 2), ("thank you very much", 2)):
        desk, basis, began_ms = answering()
        desk.starts(began_ms + 6300)
        desk.run_to(began_ms + 7000)
        desk.tell(ClauseEnded(basis, 0), began_ms + 7000)
        desk.tell(PlaybackFinished(basis), began_ms + 7000)
        desk.pauses(began_ms + 7300)
        words(desk, text, ECHO_DBFS)
        desk.run_to(began_ms + 12_000)
        assert len(desk.all(Commit)) == turns, text
        assert [order.reason for order in desk.all(Reject)] == (["echo"] if turns == 1 else [])


def test_a_partial_of_its_own_words_decides_nothing() -> None:
    desk, _, began_ms = answering()
    desk.starts(began_ms + 150)
    desk.run_to(began_ms + 700)
    words(desk, "to make a cup", ECHO_DBFS)
    assert not desk.all(Cut) and not desk.all(Reject)


def test_hearing_itself_in_two_replies_makes_the_session_half_duplex() -> None:
    desk = over("to make a cup of tea", 150)
    assert not desk.all(ChangeDuplex)
    basis = desk.state.reply.basis  # type: ignore[union-attr]
    desk.hear_out(basis)
    again = desk.turn("And then?", REPLY)
    desk.speech(desk.now_ms + 150, desk.now_ms + 1000)
    words(desk, "to make a cup of tea", ECHO_DBFS)
    assert again.turn == 2 and [order.duplex for order in desk.all(ChangeDuplex)] == ["half"]


class Counted(SequenceMatcher):  # type: ignore[type-arg]
    """Counts how often words are compared letter by letter."""

    times = 0

    def __init__(self, junk: None, one: str, other: str) -> None:
        Counted.times += 1
        super().__init__(junk, one, other)


def test_a_long_transcript_over_a_long_reply_compares_hardly_any_words_letter_by_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_words, "SequenceMatcher", Counted)
    own_words._matches.cache_clear()
    Counted.times = 0
    over("Could you perhaps explain instead how coffee gets roasted properly, please, before breakfast?", 300)
    assert Counted.times < 20


@given(st.text("abcde", min_size=1, max_size=8), st.text("abcde", min_size=1, max_size=8))
def test_words_are_alike_exactly_if_enough_of_their_letters_are(word: str, other: str) -> None:
    expected = SequenceMatcher(None, word, other).ratio() >= 0.75
    assert (own_words._may_match(word, other) and own_words._matches(word, other)) == expected
