"""Facts about the session itself, and what its user commanded."""

from __future__ import annotations

from typing import Literal

import msgspec

from voicetui.events.base import Fact
from voicetui.events.sound import Role

Overlap = Literal["none", "clause", "full"]
Duplex = Literal["half", "full"]
Echo = Literal["", "cancelled", "headphones", "missing"]
"""What is done about the program hearing itself: nothing (half duplex, or a scripted microphone), cancelling, nothing
because of headphones, or nothing because there is no canceller.
"""


class Price(msgspec.Struct, frozen=True):
    """What a tier asks, USD per million tokens."""

    input: float
    output: float


class TierFacts(Fact, frozen=True):
    """A tier the session knows: its name, its kind, the model it names, whether it is simulated, and its price."""

    name: str
    kind: str
    model: str
    simulated: bool = False
    price: Price | None = None


class SessionOpened(Fact, frozen=True):
    """First fact of a session. ``config`` is the effective configuration as JSON-ready values, secrets removed.

    ``parent`` is the session whose recorded microphone is heard again in this one.
    """

    session: str
    started_utc: str
    program: str
    tier: str
    tiers: tuple[TierFacts, ...]
    overlap: Overlap
    duplex: Duplex
    source: str
    config: dict[str, object]
    echo: Echo = ""
    parent: str = ""


class Ready(Fact, frozen=True):
    """Models are loaded and warm; the session listens. ``load_ms`` by part, and each part's first (cold) use."""

    load_ms: dict[str, float]


class SessionClosed(Fact, frozen=True):
    """Last fact of a session that ended in order."""

    reason: str


class Woke(Fact, frozen=True):
    """A ``WakeAt`` came due."""

    wake: int


class Fault(Fact, frozen=True):
    """Something failed. ``message`` says what and where, ``remedy`` what to do next. The session goes on."""

    stage: str
    message: str
    remedy: str = ""


class Said(Fact, frozen=True):
    """The user typed a turn instead of speaking it."""

    text: str


class Muted(Fact, frozen=True):
    """The user switched the microphone off or on. Muted sound is recorded as silence."""

    on: bool


class InterruptAsked(Fact, frozen=True):
    """The user pressed the interrupt key."""


class TalkKey(Fact, frozen=True):
    """Push-to-talk went down or up."""

    down: bool


class TierChosen(Fact, frozen=True):
    """The next turn is to use this tier."""

    tier: str


class OverlapChosen(Fact, frozen=True):
    """The next turn is to use this overlap mode."""

    overlap: Overlap


class GapStaged(Fact, frozen=True):
    """From the next turn on ready-made replies are released these times after the user's acoustic end, in turn.

    Empty: off, the real pipeline answers again.
    """

    gaps_ms: tuple[float, ...]


class DeviceChosen(Fact, frozen=True):
    """The user chose the microphone or the speaker to use from now on, by its name and host API ("": any).

    ``renew``: it was plugged in after the program had made its list of devices, which can be made anew only while no
    device is open: both are closed for that, and opened again.
    """

    role: Role
    name: str
    host: str = ""
    renew: bool = False


MIC_TEST_MS = 3000.0
"""How long a test of the microphone lasts, at most."""


class MicTested(Fact, frozen=True):
    """The user began, or ended, a test of the microphone. What is said meanwhile is not answered.

    A test that nobody ends is over after ``MIC_TEST_MS``.
    """

    on: bool


NOT_STARTED = "it could not start"
"""Why a session ends that was never ready."""


class StopAsked(Fact, frozen=True):
    """The session is to end. ``why``: "user", "finished" (the source ran out), "signal", "seconds", ``NOT_STARTED``."""

    why: str
