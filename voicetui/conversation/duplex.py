"""When the program hears itself in spite of everything, it shuts the microphone while it speaks instead."""

from __future__ import annotations

import msgspec

from voicetui.conversation.state import Step
from voicetui.events.orders import ChangeDuplex
from voicetui.events.sound import EchoLost, EchoMeasured

_REPLIES = 3
_OFTEN = 2
"""It heard itself in so many of so many replies on end: once may be chance, or the canceller learning the room."""

_ABOVE_ROOM_DB = 12.0
_TAKEN_AWAY_DB = 6.0
_HEARS_REMEDY = "Turn the speaker down or move it away from the microphone; with headphones, say --headphones."
_LOST_REMEDY = "Start the program again to have it cancelled anew; with headphones, say --headphones."
_INAUDIBLE_DBFS = -55.0
"""An echo that stands out so far from the room, of which cancelling took no more than this, will be taken for speech;
one this quiet will not, whatever is left of it."""


def measured(step: Step, fact: EchoMeasured) -> None:
    """Count a reply whose echo comes through as one in which the program heard itself."""
    stays = fact.left_dbfs >= fact.heard_dbfs - _TAKEN_AWAY_DB
    loud = fact.left_dbfs >= max(_INAUDIBLE_DBFS, fact.room_dbfs + _ABOVE_ROOM_DB)
    if fact.delay_ms is not None and stays and loud:
        heard_itself(step, fact.turn, f"echo {fact.left_dbfs - fact.played_dbfs:.0f} dB below the reply comes through")


def heard_itself(step: Step, turn: int, how: str) -> None:
    """The program heard itself during the reply to ``turn``; when that happens often, full duplex is over."""
    turns = tuple(known for known in step.state.self_heard if turn - known < _REPLIES)
    turns = turns if turn in turns else (*turns, turn)
    step.set(self_heard=turns)
    if len(turns) >= _OFTEN:
        _fall_back(step, f"The microphone hears the reply ({how}).", _HEARS_REMEDY)


def lost(step: Step, fact: EchoLost) -> None:
    """Nothing is cancelled any more."""
    step.set(echo_lost=True)
    _fall_back(step, fact.reason, _LOST_REMEDY)


def speaker_chosen(step: Step) -> None:
    """What was heard of the old speaker says nothing about the new one: the session is again as it began."""
    step.set(self_heard=())
    duplex = step.state.opening_duplex
    if step.state.setting.duplex != duplex and not step.state.echo_lost:
        step.order(ChangeDuplex(duplex, f"The speaker was changed: {duplex} duplex again."))
        step.set(setting=msgspec.structs.replace(step.state.setting, duplex=duplex))


def _fall_back(step: Step, why: str, remedy: str) -> None:
    if step.state.setting.duplex == "full":
        reason = f"{why} From now on the microphone is shut while the reply is audible: half duplex."
        step.order(ChangeDuplex("half", reason, remedy))
        step.set(setting=msgspec.structs.replace(step.state.setting, duplex="half"))
