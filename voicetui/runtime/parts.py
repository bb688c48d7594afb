"""What a session is made of, as the session sees it. Wiring chooses the things behind these shapes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from voicetui.events import Basis
from voicetui.events.listen import Transcribed, TranscribeFailed, TurnScored
from voicetui.events.orders import (
    Cut,
    Duck,
    FinishPlayback,
    Generate,
    Pause,
    Play,
    Resume,
    ScoreTurn,
    Synthesize,
    Transcribe,
)
from voicetui.events.sound import DeviceOpened, EchoMeasured, Role
from voicetui.events.speak import ClauseBegun, ClauseSynthesized
from voicetui.ports import (
    Block,
    Clock,
    Knowledge,
    Microphone,
    Pcm16,
    PcmFloat,
    Post,
    Renderer,
    Speaker,
    Tier,
    VoiceEdge,
    WordsScorer,
)
from voicetui.runtime.meter import Meter
from voicetui.runtime.worker import JobRunner, Worker


class ClauseSound(Protocol):
    """A clause's sound, with the fact that tells that it is whole and that fact's time.

    ``begun`` tells, at ``begun_at_ms``, of one that may be played before it is whole; None for any other.  ``made_ms``
    is how long making it took, 0 while it is being made.
    """

    @property
    def begun(self) -> ClauseBegun | None: ...
    @property
    def begun_at_ms(self) -> float: ...
    @property
    def fact(self) -> ClauseSynthesized: ...
    @property
    def at_ms(self) -> float: ...
    @property
    def duration_ms(self) -> float: ...
    @property
    def made_ms(self) -> float: ...


SoundT = TypeVar("SoundT", bound=ClauseSound)
MadeT = TypeVar("MadeT", bound=ClauseSound, covariant=True)
PlayedT = TypeVar("PlayedT", bound=ClauseSound, contravariant=True)


class Ear(Protocol):
    """The microphone track and its detector."""

    def hear(self, block: Block, gated: bool, muted: bool) -> list[VoiceEdge]:
        """Append a block to the track; the edges found.

        Gated sound is kept but not listened to, muted sound is silence.
        """

    def at_ms(self, sample: int) -> float:
        """When a sample of the track was at the ADC, on the session clock."""

    def sample_at(self, at_ms: float) -> int:
        """The track's sample that was at the ADC at ``at_ms``; may lie before or beyond what is kept."""

    def read(self, start_sample: int, end_sample: int | None) -> tuple[Pcm16, int]:
        """Sound from ``start_sample`` to ``end_sample`` (None: the newest), as far as it is kept and exists; and where
        it starts.
        """

    @property
    def fading(self) -> bool:
        """Whether speech is running whose newest frames hold none: a pause may be near."""

    def quicken(self, on: bool) -> None:
        """Let the detector announce pauses sooner and with less certainty, or as usual again."""

    def expect_echo(self, echo_dbfs: float) -> None:
        """The microphone gets the reply this loud, at the median: only what is louder may be a person."""

    def stop_listening(self) -> VoiceEdge | None:
        """Forget the running speech (the gate closes): the edge that closes it, if there was any."""

    def go_on(self, at_ms: float) -> int:
        """A microphone takes the place of another, its first sample at the ADC at ``at_ms``: that sample's number.

        The time without a microphone is left free; times count anew from here.
        """

    @property
    def end(self) -> int:
        """One past the newest sample."""

    @property
    def raw_end(self) -> int:
        """One past the newest sample of the microphone, which a canceller may still hold."""


class Transcriber(Protocol):
    """Runs on the recogniser's worker."""

    def run(
        self, order: Transcribe, sound: Pcm16, first_sample: int, waited_ms: float
    ) -> Transcribed | TranscribeFailed:
        """Never raises."""


class Scorer(Protocol):
    """Runs on the end-of-turn model's worker."""

    def run(self, order: ScoreTurn, sound: Pcm16, first_sample: int, waited_ms: float) -> TurnScored:
        """Raises ``StageError`` if the model is broken."""


class Replier(Protocol):
    """Generates and cuts clauses, posting facts as they come."""

    async def run(self, order: Generate, tier: Tier) -> None:
        """Until the reply's text is whole, failed or cancelled."""


class Synthesizer(Protocol[MadeT]):
    """Runs on the voice's worker; posts facts as they come."""

    def run(
        self,
        order: Synthesize,
        is_current: Callable[[Basis], bool],
        waited_ms: float,
        begun: Callable[[MadeT], None],
    ) -> MadeT | None:
        """The clause's sound, or None if it is void or failed.

        One that may be played before it is whole is given to ``begun`` first, on the worker's thread.
        """


class TappedRenderer(Renderer, Protocol):
    """A renderer that keeps what it rendered."""

    def drain_played(self) -> list[tuple[float, PcmFloat]]:
        """What was really played since the last call: DAC time of the first sample, samples at the renderer's rate."""


class Player(Protocol[PlayedT]):
    """What the speaker plays now, and what was heard of it."""

    @property
    def renderer(self) -> TappedRenderer:
        """What the speaker pulls from."""

    @property
    def busy(self) -> bool:
        """Whether ``poll`` may have something to tell."""

    def play(self, order: Play, sound: PlayedT) -> None: ...
    def finish(self, order: FinishPlayback) -> None: ...
    def duck(self, order: Duck) -> None: ...
    def pause(self, order: Pause) -> None: ...
    def resume(self, order: Resume) -> None: ...
    def cut(self, order: Cut) -> None: ...
    def close(self) -> None:
        """Cut whatever plays, and post all that is still to be told."""

    def poll(self) -> None:
        """Post what has happened at the DAC since the last call."""


class Canceller(Protocol):
    """Takes the reply out of what the ear hears."""

    trouble: str
    """Why it does not any more: a sentence for a person; "" while it does."""

    def played(self, sample: int, samples: PcmFloat, rate_hz: int) -> None:
        """Reply sound whose first sample was at the DAC when the microphone track was at ``sample``; told before the
        ear hears the sound of that time.
        """

    def measuring(self, turn: int) -> Callable[[], EchoMeasured | None]:
        """What measures, on a worker, how much came back of all that was played since the last call; None for hardly
        anything.
        """

    def align(self, found: EchoMeasured) -> None:
        """Go by what was measured."""


class Recorder(Protocol):
    """Writes the session's tracks."""

    def user(self, samples: Pcm16, lost: int) -> None:
        """The next samples of the microphone track; ``lost`` samples of silence come before them."""

    def reply(self, sample: int, samples: PcmFloat, rate_hz: int) -> None:
        """Reply sound whose first sample was at the DAC when the microphone track was at ``sample``."""

    def close(self) -> None: ...


@dataclass
class Parts(Generic[SoundT]):
    """Everything replaceable, chosen and configured."""

    microphone: Microphone | None
    speaker: Speaker
    ear: Ear
    transcriber: Transcriber
    tiers: Mapping[str, Tier]
    make_replier: Callable[[Post], Replier]
    make_synthesizer: Callable[[Post], Synthesizer[SoundT]]
    make_player: Callable[[Post, int], Player[SoundT]]
    warm: Mapping[str, Callable[[], float]]
    """Blocking warm-ups by part's name, run on their workers; each returns its first run's ms."""
    scorer: Scorer | None = None
    """None where turns end by silence alone."""
    words: WordsScorer | None = None
    """None where turns end without a score of their words."""
    knowledge: Knowledge | None = None
    """Notes to look things up in; ``warm`` knows them as "context"."""
    recorder: Recorder | None = None
    canceller: Canceller | None = None
    """What the ear cancels echo with, if it does."""
    meter: Meter = field(default_factory=Meter)
    make_worker: Callable[[str, Clock], JobRunner] = Worker
    fallback_speaker: Callable[[], Speaker] | None = None
    """A clock-paced null speaker, for when no output device can be opened."""
    make_microphone: Callable[[str, str, int], Microphone] | None = None
    """The input device of this name and host API ("": any), to be opened; its first sample has this number.

    None: the session's input cannot be changed.
    """
    make_speaker: Callable[[str, str], Speaker] | None = None
    """The output device of this name and host API ("": any), to be opened."""
    renew_devices: Callable[[], Awaitable[None]] | None = None
    """Make the list of devices anew, so that what was plugged in since can be opened. Only while none is open.

    Raises ``SoundError``.
    """
    in_use: dict[Role, DeviceOpened] = field(default_factory=dict)
    """What is open, or was last."""
