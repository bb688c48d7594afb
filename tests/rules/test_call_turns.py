"""Whose turn it was in a call, from when each side was heard."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from voicetui.share.call_turns import CallTurn, Stretch, call_turns

Times = list[tuple[float, float]]


def turns(user: Times, reply: Times) -> list[CallTurn]:
    return call_turns([Stretch(*each) for each in user], [Stretch(*each) for each in reply])


def told(turn: CallTurn) -> tuple[object, ...]:
    """(utterance, reply, what cut it, asides), each as (start, end)."""
    spans = [
        None if talk is None else (talk.start_ms, talk.end_ms) for talk in (turn.utterance, turn.reply, turn.cut_by)
    ]
    return (*spans, [(talk.start_ms, talk.end_ms) for talk in turn.asides])


def test_an_utterance_is_answered_by_the_reply_after_it() -> None:
    found = turns([(0, 1000), (1300, 2000), (6000, 7000)], [(2500, 3000), (3400, 5000), (7400, 9000)])
    assert [told(turn) for turn in found] == [
        ((0, 2000), (2500, 5000), None, []),
        ((6000, 7000), (7400, 9000), None, []),
    ]


def test_a_reply_pauses_for_up_to_two_seconds_while_nobody_speaks() -> None:
    found = turns([(0, 1000)], [(1500, 2000), (3900, 4500), (6600, 7000)])
    assert [told(turn) for turn in found] == [((0, 1000), (1500, 4500), None, []), (None, (6600, 7000), None, [])]


def test_speech_that_a_reply_falls_silent_for_took_the_floor() -> None:
    found = turns([(0, 1000), (2500, 4000)], [(1500, 2800), (4500, 5000)])
    assert [told(turn) for turn in found] == [
        ((0, 1000), (1500, 2800), (2500, 4000), []),
        ((2500, 4000), (4500, 5000), None, []),
    ]
    short = turns([(0, 1000), (2500, 2700)], [(1500, 3100), (4500, 5000)])
    assert short[0].cut_by is not None and short[1].utterance is short[0].cut_by


def test_speech_that_a_reply_outlasts_is_an_aside() -> None:
    found = turns([(0, 1000), (2500, 2700), (4100, 4300), (7000, 8000)], [(1500, 6000), (8500, 9000)])
    assert [told(turn) for turn in found] == [
        ((0, 1000), (1500, 6000), None, [(2500, 2700), (4100, 4300)]),
        ((7000, 8000), (8500, 9000), None, []),
    ]


def test_a_reply_that_begins_over_the_end_of_speech_answers_it() -> None:
    assert [told(turn) for turn in turns([(0, 2000)], [(1700, 4000)])] == [((0, 2000), (1700, 4000), None, [])]


def test_a_short_sound_in_the_midst_of_speech_is_no_answer() -> None:
    found = turns([(0, 2000), (2200, 4000)], [(1500, 1800), (4500, 6000)])
    assert [told(turn) for turn in found] == [(None, (1500, 1800), None, []), ((0, 4000), (4500, 6000), None, [])]


def test_a_long_silence_leaves_an_utterance_unanswered() -> None:
    found = turns([(0, 1000), (3500, 4000)], [(4400, 5000)])
    assert [told(turn) for turn in found] == [((0, 1000), None, None, []), ((3500, 4000), (4400, 5000), None, [])]


def test_a_greeting_comes_before_any_speech() -> None:
    assert [told(turn) for turn in turns([(2000, 3000)], [(0, 1500)])] == [
        (None, (0, 1500), None, []),
        ((2000, 3000), None, None, []),
    ]


def stretches(numbers: list[int]) -> list[Stretch]:
    at, found = 0.0, []
    for pause, length in zip(numbers[::2], numbers[1::2], strict=False):
        found.append(Stretch(at + pause, at + pause + length))
        at += pause + length
    return found


@given(st.lists(st.integers(100, 4000), max_size=20), st.lists(st.integers(100, 4000), max_size=20))
def test_every_stretch_is_in_exactly_one_place(user: list[int], reply: list[int]) -> None:
    said, heard = stretches(user), stretches(reply)
    found = call_turns(said, heard)
    utterances = [talk for turn in found for talk in (turn.utterance, *turn.asides) if talk is not None]
    assert sorted(s.start_ms for talk in utterances for s in talk.stretches) == [s.start_ms for s in said]
    assert [s for turn in found if turn.reply for s in turn.reply.stretches] == heard
    assert all(turn.cut_by is None or turn.cut_by in utterances for turn in found)
    assert not any(turn.cut_by is not None and turn.cut_by is turn.utterance for turn in found)
