"""The seams: one Protocol for each stage that can be replaced, and the plain values that cross them.

Sound crosses as ``numpy`` arrays: 16 kHz mono int16 on the listening side, float32 in -1..1 at the voice's own rate
on the speaking side.
All times are milliseconds on the session clock.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voicetui.events.base import Fact
from voicetui.events.listen import Evidence
from voicetui.events.orders import Message, Window
from voicetui.events.reply import Passage
from voicetui.events.sound import RATE_HZ as RATE_HZ
from voicetui.events.sound import DeviceOpened

Pcm16: TypeAlias = NDArray[np.int16]
PcmFloat: TypeAlias = NDArray[np.float32]

Post: TypeAlias = Callable[[Fact, float], None]
"""Hand a fact and the time of its source (ms) to the session. Safe from any thread."""


class Clock(Protocol):
    """The only source of time. Starts at 0 when the session starts."""

    def now_ms(self) -> float:
        """Monotonic milliseconds since the session started."""

    async def sleep_until(self, due_ms: float) -> None:
        """Return at or soon after ``due_ms``; at once if that has passed."""


@dataclass(frozen=True, slots=True)
class Block:
    """Microphone sound: ``samples`` int16 [n] at 16 kHz, the first of which was at the ADC at ``at_ms``.

    ``sample`` is the first one's number on the microphone track, counted from 0.
    ``lost`` samples before it were filled with silence because the device lost them (they are *not* in ``samples``).
    """

    samples: Pcm16
    sample: int
    at_ms: float
    lost: int = 0


class Microphone(Protocol):
    """Where the user's voice comes from. A device or a clock-paced file."""

    async def open(self) -> DeviceOpened:
        """Start delivering. Raises ``SoundError`` with a message a person can act on."""

    def blocks(self) -> AsyncIterator[Block]:
        """10-40 ms blocks as they come, contiguous in ``sample`` but for ``lost``; ends when a file is over or the
        device is lost.

        Raises ``SoundError`` when the device is lost.
        """

    async def close(self) -> None:
        """Stop. Idempotent; never hangs."""


class Renderer(Protocol):
    """What a speaker pulls its sound from. Runs in the audio callback: no locks, no array allocation, no logging."""

    rate_hz: int

    def render(self, out: PcmFloat, dac_ms: float) -> None:
        """Fill ``out`` (float32 [frames], mono), whose first frame will be at the DAC at ``dac_ms``."""

    def underflow(self) -> None:
        """The device said it ran dry."""


class Speaker(Protocol):
    """Where the reply is heard. A device, or a clock-paced null speaker."""

    async def prepare(self) -> int:
        """Choose the device and return the rate in Hz its renderer must have. Raises ``SoundError``."""

    async def open(self, renderer: Renderer) -> DeviceOpened:
        """Start pulling from ``renderer``. Raises ``SoundError``."""

    async def close(self) -> None:
        """Stop. Idempotent; never hangs."""


class SoundError(Exception):
    """A sound device or file cannot be used. ``str(error)`` says what happened, where, and what to do next."""


@dataclass(frozen=True, slots=True)
class VoiceEdge:
    """A detector's finding: speech "started" at ``sample`` (its onset), or "paused" (``sample`` = its acoustic end).

    "rose": something is heard since ``sample``, whatever it is.
    """

    kind: Literal["started", "paused", "rose"]
    sample: int
    noticed_sample: int
    uncertainty_ms: float = 0.0
    level_dbfs: float = -120.0
    noise_dbfs: float = -120.0


class VoiceDetector(Protocol):
    """Speech or not, frame by frame. Takes blocks of any length; uses every sample once."""

    def feed(self, samples: Pcm16) -> list[VoiceEdge]:
        """The edges found in the next ``samples`` (int16 [n], any n >= 0).

        Sample numbers count from the first ever fed.
        """

    @property
    def fading(self) -> bool:
        """Whether speech is running whose newest frames hold none: a pause may be near."""

    def quicken(self, on: bool) -> None:
        """Announce pauses sooner and with less certainty, or as usual again."""

    def drop(self) -> VoiceEdge | None:
        """Forget the running speech (muted, gated): the closing edge if speech was running.

        State is clean afterwards.
        """


@dataclass(frozen=True, slots=True)
class Recognition:
    """What a recogniser made of some sound. ``doubt`` is the reason not to believe it ("" when believed)."""

    text: str
    evidence: Evidence
    doubt: str = ""


class Recogniser(Protocol):
    """Sound to words. Blocking; called from one worker thread at a time."""

    def warm(self) -> float:
        """Load and run once. The first run's ms."""

    def recognise(self, samples: Pcm16, final: bool, window: Window = "short") -> Recognition:
        """Words in ``samples`` (int16 [n] 16 kHz, any n >= 0), heard through a ``window`` cut "short" or "padded".

        Never raises for odd sound; raises ``StageError`` if it is broken.
        """


class TurnScorer(Protocol):
    """Is the turn over, by its sound? Blocking; called from one worker thread at a time."""

    def warm(self) -> float:
        """Load and run once. The first run's ms. Raises ``StageError``."""

    def score(self, samples: Pcm16) -> float:
        """The probability, 0 to 1, that the turn in ``samples`` (int16 [n] 16 kHz, any n >= 0) is over.

        Its speech ended about 200 ms before the last sample.  Raises ``StageError`` if it is broken.
        """


class WordsScorer(Protocol):
    """Is the turn over, by its words? Blocking; called from one worker thread at a time."""

    def warm(self) -> float:
        """Load and run once. The first run's ms. Raises ``StageError``."""

    def score(self, text: str) -> float:
        """The probability, 0 to 1, that a sentence is over after ``text``, whatever sign it ends with; 0 for no words.

        Raises ``StageError`` if it is broken.
        """


class StageError(Exception):
    """A stage failed. ``str(error)`` is for a person; ``remedy`` says what to do next; ``stage`` which part of it."""

    def __init__(self, message: str, remedy: str = "", stage: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy
        self.stage = stage


@dataclass(frozen=True, slots=True)
class Requested:
    """The request left at ``at_ms`` over a "new", "reused" or no ("none") connection, at the ``tries``-th try."""

    at_ms: float
    connection: Literal["new", "reused", "none"]
    connect_ms: float | None = None
    tries: int = 1


@dataclass(frozen=True, slots=True)
class ByteRead:
    """The first byte of the body, read at ``at_ms``."""

    at_ms: float


@dataclass(frozen=True, slots=True)
class TokenRead:
    """A non-empty piece of content or reasoning, whose bytes were read at ``at_ms``."""

    text: str
    at_ms: float
    reasoning: bool = False


@dataclass(frozen=True, slots=True)
class StreamEnded:
    """The stream is over. Counts are the provider's; ``estimated`` where the tier had to count itself.

    ``unseen_tokens`` of ``completion_tokens`` were reasoning that was never sent.
    """

    outcome: Literal["complete", "length", "truncated", "empty"]
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    estimated: bool = False
    note: str = ""
    unseen_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Prefilled:
    """How far a prompt is worked through ahead of its request: ``new_tokens`` by now, ``cached_tokens`` were known.

    ``connection`` is the one opened or kept alive for it.
    """

    new_tokens: int = 0
    cached_tokens: int = 0
    connection: Literal["new", "reused", "none"] = "none"


StreamItem: TypeAlias = Requested | ByteRead | TokenRead | StreamEnded


class Tier(Protocol):
    """One named LLM choice."""

    name: str
    kind: str
    model: str
    simulated: bool

    async def warm(self) -> float:
        """Load, connect and run once. The cold ms. Raises ``StageError``."""

    def stream(self, messages: tuple[Message, ...]) -> AsyncIterator[StreamItem]:
        """The reply as it comes; ends after exactly one ``StreamEnded``. Raises ``StageError`` when the tier does not
        answer.

        Closing the iterator (``aclose``) or cancelling the task that reads it closes the socket before it returns.
        """

    def prewarm(self, messages: tuple[Message, ...]) -> AsyncIterator[Prefilled]:
        """Work ahead on a prompt that begins with ``messages``, whose last is the user's words so far; tells how far.

        Does only what costs nothing, and nothing before the tier is warm. Closing the iterator or cancelling the task
        that reads it ends the work at the server, too. Raises ``StageError``.
        """

    async def idle_ms(self, timeout_ms: float) -> float | None:
        """After a cancel: ms until the server was seen idle, None where this tier cannot tell."""

    async def close(self) -> None:
        """Close connections and stop an embedded server. Idempotent."""


class Knowledge(Protocol):
    """The person's own notes. Blocking; called from one worker thread at a time."""

    def warm(self) -> float:
        """Read and index them. The ms it took. Raises ``StageError`` where there are none to read."""

    def find(self, query: str, most: int) -> tuple[Passage, ...]:
        """At most ``most`` passages that fit, always in the same order; ``query`` may hold anything.

        Raises ``StageError``.
        """

    def close(self) -> None:
        """Forget them. Idempotent."""


class Voice(Protocol):
    """Words to sound. Blocking; called from one worker thread at a time."""

    rate_hz: int

    def warm(self) -> float:
        """Load and run once. The first run's ms. Raises ``StageError``."""

    def synthesize(self, spoken: str) -> Iterator[PcmFloat]:
        """float32 [n] pieces at ``rate_hz`` of a clause, sentence by sentence. Nothing for text without words.

        Raises ``StageError``.
        """
