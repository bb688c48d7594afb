"""Whether the microphone is open while the reply is audible, what is done about the echo then, and both in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voicetui.config import Audio
from voicetui.events.session import Duplex, Echo
from voicetui.sound.echo import missing

if TYPE_CHECKING:
    from voicetui.wiring import Choice

_HALF = "half duplex: the microphone is shut while the reply is audible"


def choose_duplex(audio: Audio, choice: Choice) -> tuple[Duplex, Echo]:
    """What a session does: a scripted microphone hears no speaker."""
    if choice.scenario is not None:
        return "full", ""
    if choice.half_duplex or not choice.microphone:
        return "half", ""
    if audio.headphones if choice.headphones is None else choice.headphones:
        return "full", "headphones"
    if audio.half_duplex:
        return "half", ""
    return ("full", "cancelled") if missing() is None else ("half", "missing")


def duplex_text(duplex: Duplex, echo: Echo) -> str:
    """What that means for the person who talks."""
    if duplex == "full":
        how = {"cancelled": ", echo cancelled", "headphones": ", with headphones"}.get(echo, "")
        return f"full duplex{how}: you may interrupt the reply"
    if echo == "missing":
        lacks = missing()
        because = f"{_HALF}, because there is no echo canceller"
        if lacks is None:
            return f"{because} (it was missing then)"
        return f"{because} ({lacks.why}). To interrupt it: {lacks.mend}, or wear headphones and say --headphones"
    return f"{_HALF} (--headphones lets you interrupt)"
