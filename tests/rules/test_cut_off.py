"""Who goes on before anyone could react to the answer was cut off; who speaks later, interrupts."""

from __future__ import annotations

import pytest

from tests.rules.desk import Desk
from voicetui.events.orders import Commit, EndTurn, Generate
from voicetui.events.speak import PlaybackCut


def answered(onset_ms: float, heard: str, *, heard_from_ms: float = 2700) -> Desk:
    """A question ends at 2000 and is answered from ``heard_from_ms``; the user speaks again from ``onset_ms``."""
    desk = Desk()
    desk.speech(1000, 2000)
    desk.words("I want to reset.")
    desk.run_to(2500)
    basis = desk.answer("Sure, I can help you", " with that.")
    desk.synthesize()
    desk.hear(basis, 0, heard_from_ms)
    desk.speech(onset_ms, onset_ms + 700)
    desk.words("the panel please", at_ms=onset_ms + 900)
    desk.tell(PlaybackCut(basis, 200.0, heard, len(heard.split()), 6, 0))
    desk.run_to(onset_ms + 3000)
    return desk


@pytest.mark.parametrize("heard", ["", "Sure,"])
def test_going_on_within_300_ms_of_the_first_sound_is_the_same_utterance(heard: str) -> None:
    desk = answered(2900, heard)
    assert desk.all(EndTurn)[0].outcome == "cut_off"
    assert desk.last(Commit).text == "I want to reset. the panel please"
    users = [message.text for message in desk.last(Generate).messages if message.role == "user"]
    assert users == ["I want to reset. the panel please"], "the turn that was taken back is asked once"


def test_speech_that_may_answer_what_was_heard_interrupts() -> None:
    desk = answered(2960, "Sure, I", heard_from_ms=2600)
    assert desk.all(EndTurn)[0].outcome == "interrupted"
    assert desk.last(Commit).text == "the panel please"


def test_speech_long_after_the_users_end_is_no_cut_off_however_late_the_answer() -> None:
    desk = answered(3100, "Sure,", heard_from_ms=3000)
    assert desk.all(EndTurn)[0].outcome == "interrupted"
