"""Which turns of two sessions belong together: known answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from voicetui.events.words import normalise_words
from voicetui.views.align import ALIKE, Alignment, Match, Readings, align, alike

FRANCE, ITALY = "What is the capital of France?", "And who was the first king of Italy?"
PLANET, TEA, THANKS = "Do you know the largest planet?", "How do I make a cup of tea?", "Thank you very much."


def said(*texts: str) -> list[Readings]:
    """Utterances; "a | b" has two readings."""
    return [tuple(normalise_words(reading) for reading in text.split(" | ")) for text in texts]


def places(found: Alignment) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(match.one, match.other) for match in found.matches]


def test_the_same_turns_pair_one_by_one() -> None:
    turns = said(FRANCE, ITALY, TEA)
    found = align(turns, turns)
    assert found.related
    assert found.matches == tuple(Match((place,), (place,), 1.0) for place in range(3))


def test_a_turn_that_one_side_does_not_have_stays_alone() -> None:
    found = align(said(FRANCE, "Hello?", TEA), said(FRANCE, TEA))
    assert places(found) == [((0,), (0,)), ((1,), ()), ((2,), (1,))]
    assert places(align(said(FRANCE, TEA), said(FRANCE, "Hello?", TEA))) == [((0,), (0,)), ((), (1,)), ((1,), (2,))]


def test_a_turn_that_is_two_on_the_other_side_pairs_with_both() -> None:
    parts = said(FRANCE, "Do you know the", "largest planet?", TEA)
    whole = said(FRANCE, PLANET, TEA)
    assert places(align(whole, parts)) == [((0,), (0,)), ((1,), (1, 2)), ((2,), (3,))]
    assert places(align(parts, whole)) == [((0,), (0,)), ((1, 2), (1,)), ((3,), (2,))]


def test_a_short_turn_after_a_long_one_is_no_part_of_it() -> None:
    assert places(align(said(PLANET, "Okay."), said(PLANET))) == [((0,), (0,)), ((1,), ())]
    assert places(align(said("Okay.", PLANET), said(PLANET))) == [((0,), ()), ((1,), (0,))]


def test_of_equal_turns_the_soonest_pair() -> None:
    assert places(align(said(FRANCE, TEA, FRANCE, TEA), said(FRANCE, TEA)))[:2] == [((0,), (0,)), ((1,), (1,))]
    assert places(align(said(FRANCE), said(FRANCE, TEA, FRANCE)))[0] == ((0,), (0,))


def test_words_heard_a_little_differently_still_pair() -> None:
    (match,) = align(said("What is the capital of friendship?"), said(FRANCE)).matches
    assert (match.by, match.alike) == ("words", 1 - 1 / 6)


def test_the_likest_reading_of_a_turn_that_grew_counts() -> None:
    (match,) = align(said("Hello there. | Hello there. Is anybody at home?"), said("Hello there.")).matches
    assert match == Match((0,), (0,), 1.0)


def test_a_misheard_turn_between_two_others_pairs_by_its_place() -> None:
    found = align(said(FRANCE, "Yellow.", TEA), said(FRANCE, "Hello?", TEA))
    assert found.related
    assert found.matches[1] == Match((1,), (1,), 0.0, "order")
    uneven = align(said(FRANCE, "Yellow.", "Fellow.", TEA), said(FRANCE, "Hello?", TEA))
    assert sum(match.both for match in uneven.matches) == 2


def test_different_conversations_pair_by_order_alone() -> None:
    found = align(said(FRANCE, TEA, THANKS), said("Good morning.", "Sing me a song."))
    assert not found.related
    assert [(match.one, match.other, match.by) for match in found.matches if match.both] == [
        ((0,), (0,), "order"),
        ((1,), (1,), "order"),
    ]
    assert found.matches[2] == Match((2,), ())


def test_one_like_turn_of_many_makes_no_same_conversation() -> None:
    found = align(said(FRANCE, TEA, THANKS), said("Good morning.", "Sing me a song.", THANKS, "Goodbye."))
    assert not found.related


def test_as_many_turns_of_the_same_sound_are_the_same_turns_even_without_words() -> None:
    found = align(said("", ""), said(FRANCE, TEA), same_sound=True)
    assert found.related and {match.by for match in found.matches} == {"order"}
    assert places(found) == [((0,), (0,)), ((1,), (1,))]
    assert not align(said("", ""), said(FRANCE, TEA, THANKS), same_sound=True).related


def test_nothing_pairs_with_nothing() -> None:
    assert align([], []) == Alignment((), False)
    assert align(said(FRANCE), []) == Alignment((Match((0,), ()),), False)
    assert align([], said(FRANCE)) == Alignment((Match((), (0,)),), False)


def test_turns_without_words_are_like_nothing() -> None:
    assert alike(said("")[0], said("")[0]) == 0.0
    assert not align(said("", ""), said("", "")).related


SENTENCES = st.sampled_from([FRANCE, ITALY, PLANET, "Do you know the", "largest planet?", TEA, THANKS, "Hello?", ""])


@given(st.lists(SENTENCES, max_size=7), st.lists(SENTENCES, max_size=7))
def test_every_turn_has_one_place_and_the_order_is_kept(one: list[str], other: list[str]) -> None:
    found = align(said(*one), said(*other))
    assert [place for match in found.matches for place in match.one] == list(range(len(one)))
    assert [place for match in found.matches for place in match.other] == list(range(len(other)))
    assert all(match.alike >= ALIKE for match in found.matches if match.both and match.by == "words")


@given(st.lists(SENTENCES, max_size=7), st.lists(SENTENCES, max_size=7))
def test_which_session_comes_first_does_not_matter_to_how_many_pair(one: list[str], other: list[str]) -> None:
    ours, theirs = align(said(*one), said(*other)), align(said(*other), said(*one))
    assert ours.related == theirs.related
    assert sum(match.both for match in ours.matches) == sum(match.both for match in theirs.matches)
