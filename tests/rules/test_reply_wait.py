"""A turn that is over stays open until its reply could be heard: whoever goes on meanwhile is not cut off."""

from __future__ import annotations

import pytest

from tests.rules.desk import Desk
from voicetui.events.orders import Cancel, Commit, Generate, Play, Synthesize
from voicetui.events.reply import ClauseCut, GenerationEnded, GenerationFailed
from voicetui.events.session import TalkKey
from voicetui.events.speak import ClauseBegun


def desk(**policy: object) -> Desk:
    return Desk(**{"silence_ms": 300.0, "reply_wait_ms": 700.0, **policy})


def drafted(at: Desk, text: str = "What time is it?") -> None:
    """Speech until 1800, words at 1990, a draft under way."""
    at.speech(1000, 1800)
    at.words(text)
    assert at.last(Generate).speculative


def begun(at: Desk, at_ms: float) -> None:
    """The first samples of the first clause exist at ``at_ms``."""
    basis = at.last(Generate).basis
    at.run_to(at_ms)
    at.tell(ClauseCut(basis, 0, "It is noon.", "It is noon."), at_ms)
    at.tell(ClauseBegun(basis, at.last(Synthesize).clause, at_ms, 0.0, 0.0), at_ms)


def test_the_commit_comes_with_the_first_sound_and_says_how_long_that_was_waited_for() -> None:
    at = desk()
    drafted(at)
    begun(at, 2350)
    (commit,) = at.all(Commit)
    assert (at.now_ms, commit.reason, commit.silence_ms, commit.held_ms) == (2350, "silence", 300, 250)
    assert at.last(Play).basis == commit.basis, "and the sound is heard at once"


def test_a_reply_that_is_ready_sooner_waits_for_nothing() -> None:
    at = desk()
    drafted(at)
    begun(at, 2050)
    assert not at.all(Commit)
    at.run_to(2100)
    assert [commit.held_ms for commit in at.all(Commit)] == [0]


def test_who_goes_on_before_the_reply_is_ready_has_one_turn() -> None:
    at = desk()
    drafted(at, "What time is it")
    at.starts(2300)
    assert not at.all(Commit)
    at.pauses(3000)
    at.words("What time is it in Berlin?")
    assert [cancel.reason for cancel in at.all(Cancel)] == ["words changed"]
    begun(at, 3500)
    (commit,) = at.all(Commit)
    assert commit.text == "What time is it in Berlin?" and commit.held_ms == 200


def test_a_slow_reply_is_not_waited_for_for_ever() -> None:
    at = desk()
    drafted(at)
    at.run_to(2499)
    assert not at.all(Commit)
    at.run_to(2500)
    assert [commit.held_ms for commit in at.all(Commit)] == [400]


def test_without_a_draft_there_is_nothing_to_wait_for() -> None:
    at = desk(attempts=0)
    at.speech(1000, 1800)
    at.words("What time is it?")
    at.run_to(2100)
    assert [commit.held_ms for commit in at.all(Commit)] == [0]


def test_a_draft_that_failed_or_has_nothing_to_say_is_not_waited_for() -> None:
    for end in ("failed", "silent"):
        at = desk()
        drafted(at)
        at.run_to(2200)
        basis = at.last(Generate).basis
        if end == "failed":
            at.tell(GenerationFailed(basis, "connect", "the endpoint is gone"))
        else:
            at.tell(ClauseCut(basis, 0, "```", ""))
            at.tell(GenerationEnded(basis, "complete", 1, 1, 1, False))
        assert [commit.held_ms for commit in at.all(Commit)] == [100], end


def test_the_talk_key_ends_a_turn_at_once() -> None:
    at = desk()
    at.tell(TalkKey(True), 900)
    at.starts(1000)
    at.run_to(1700)
    at.tell(TalkKey(False), 1700)
    at.pauses(1700)
    at.words("What time is it?")
    assert [(commit.reason, commit.held_ms) for commit in at.all(Commit)] == [("key", 0)]


@pytest.mark.parametrize("overlap", ["none", "clause"])
def test_sequential_modes_wait_for_silence_alone(overlap: str) -> None:
    at = Desk(overlap=overlap, reply_wait_ms=700.0)
    at.speech(1000, 1800)
    at.run_to(2400)
    at.words("What time is it?")
    assert [commit.held_ms for commit in at.all(Commit)] == [0]
