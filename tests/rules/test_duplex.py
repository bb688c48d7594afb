"""When the program hears itself in spite of everything: half duplex, once, and said."""

from __future__ import annotations

import pytest

from tests.rules.desk import Desk
from voicetui.events import Entry
from voicetui.events.orders import ChangeDuplex, GateMic
from voicetui.events.session import DeviceChosen, SessionOpened
from voicetui.events.sound import EchoLost, EchoMeasured
from voicetui.views.session_state import SessionStateView


def echo(turn: int, *, heard: float = -40.0, left: float = -42.0, delay_ms: float | None = 110.0) -> EchoMeasured:
    return EchoMeasured(turn, delay_ms, played_dbfs=-22.0, heard_dbfs=heard, left_dbfs=left, room_dbfs=-65.0)


def test_an_echo_that_comes_through_twice_makes_the_session_half_duplex() -> None:
    desk = Desk()
    desk.tell(echo(1))
    assert not desk.all(ChangeDuplex)
    desk.tell(echo(2))
    (change,) = desk.all(ChangeDuplex)
    assert change.duplex == "half" and "half duplex" in change.reason
    assert change.remedy.startswith("Turn the speaker down")
    basis = desk.turn("Why?", "Because.")
    assert [order.closed for order in desk.all(GateMic)] == [True]
    desk.hear_out(basis)
    desk.tell(echo(3))
    desk.tell(echo(4))
    assert len(desk.all(ChangeDuplex)) == 1


@pytest.mark.parametrize(
    "one",
    [echo(2, left=-60.0), echo(2, heard=-60.0, left=-60.0), echo(2, delay_ms=None), echo(9)],
    ids=["taken away", "inaudible", "no echo but a person", "long after"],
)
def test_one_that_does_not_stays_full(one: EchoMeasured) -> None:
    desk = Desk()
    desk.tell(echo(1))
    desk.tell(one)
    assert not desk.all(ChangeDuplex)


def test_without_a_canceller_it_is_half_duplex_at_once() -> None:
    desk = Desk()
    desk.tell(EchoLost("Echo cancelling failed (RuntimeError)."))
    (change,) = desk.all(ChangeDuplex)
    assert change.reason.startswith("Echo cancelling failed") and "microphone is shut" in change.reason
    assert "speaker" not in change.remedy and "Start the program again" in change.remedy


def test_half_duplex_stays_what_it_is() -> None:
    desk = Desk(duplex="half")
    desk.tell(EchoLost("Echo cancelling failed."))
    assert not desk.all(ChangeDuplex)


def fallen_back() -> Desk:
    desk = Desk()
    desk.tell(echo(1))
    desk.tell(echo(2))
    return desk


HEADSET = DeviceChosen("output", "Headset", "ALSA")


def test_another_speaker_gets_the_chance_that_the_old_one_had() -> None:
    desk = fallen_back()
    desk.tell(HEADSET)
    assert [change.duplex for change in desk.all(ChangeDuplex)] == ["half", "full"]
    desk.turn("Why?", "Because.")
    assert not desk.all(GateMic), "the reply may be interrupted"
    desk.tell(echo(3))
    assert len(desk.all(ChangeDuplex)) == 2, "what the old speaker did does not count"
    desk.tell(echo(4))
    assert desk.last(ChangeDuplex).duplex == "half"


def test_another_microphone_or_a_speaker_without_a_canceller_changes_nothing() -> None:
    desk = fallen_back()
    desk.tell(DeviceChosen("input", "Headset", "ALSA"))
    assert len(desk.all(ChangeDuplex)) == 1
    desk.tell(EchoLost("Echo cancelling failed."))
    desk.tell(HEADSET)
    assert len(desk.all(ChangeDuplex)) == 1


def test_what_the_screen_says_of_the_echo_comes_back_with_full_duplex() -> None:
    view = SessionStateView()
    opened = SessionOpened("s", "", "", "local", (), "full", "full", "", config={}, echo="cancelled")
    for seq, body in enumerate((opened, ChangeDuplex("half", ""), ChangeDuplex("full", "")), 1):
        view.feed(Entry(seq, 0.0, body))
    assert (view.snapshot().duplex, view.snapshot().echo) == ("full", "cancelled")
