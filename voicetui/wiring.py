"""From configuration to a running session: the only place that knows adapters by name."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from voicetui import __version__, models
from voicetui.config import Config, ConfigError, TierTable, recordings_folder, without_secrets
from voicetui.duplex import choose_duplex
from voicetui.events import Fact
from voicetui.events.orders import STAGED
from voicetui.events.session import Fault, Overlap, Price, SessionOpened, StopAsked, TierFacts
from voicetui.journal.append import Journal, JournalWriter, session_folder
from voicetui.journal.record import Recorder
from voicetui.listen.ear import Ear
from voicetui.listen.edges import EdgeLimits
from voicetui.listen.score import Scorer
from voicetui.listen.sentence_end import SentenceEnd
from voicetui.listen.transcribe import Transcriber
from voicetui.listen.turn_end import SmartTurn
from voicetui.listen.vad import SileroDetector
from voicetui.listen.whisper import WhisperRecogniser
from voicetui.ports import Clock, Pcm16, Recogniser, TurnScorer, Voice, WordsScorer
from voicetui.rehearse.person import Person, Watch
from voicetui.rehearse.scenario import Line, Scenario, clips
from voicetui.reply.generate import Replier
from voicetui.reply.knowledge import FolderKnowledge
from voicetui.reply.ready_made_tier import ReadyMadeTier, spoken_of
from voicetui.reply.simulated_tier import DEFAULT_REPLIES
from voicetui.runtime.clock import SystemClock, wall_utc
from voicetui.runtime.engine import Engine
from voicetui.runtime.log import log_to, stop_logging
from voicetui.runtime.parts import Parts
from voicetui.runtime.session import Session
from voicetui.sound.aloud import Mouth
from voicetui.sound.echo import EchoCanceller
from voicetui.sound.microphone import DeviceMicrophone, FileMicrophone
from voicetui.sound.speaker import NullSpeaker
from voicetui.sound.wav import read_audio
from voicetui.speak.growing import GrowingClause
from voicetui.speak.piper_voice import PiperVoice
from voicetui.speak.play import Player
from voicetui.speak.ready_voice import ReadyVoice
from voicetui.speak.synthesize import SynthesizedClause, Synthesizer
from voicetui.wiring_sound import SoundDevices, levels
from voicetui.wiring_tiers import limited, make_tiers

_log = logging.getLogger(__name__)
Output = Literal["device", "null"]


class Warmable(Protocol):
    """A blocking model that is loaded and run once before the session is ready."""

    def warm(self) -> float:
        """Load and run once. The first run's ms."""


@dataclass(frozen=True)
class Choice:
    """What the command line chose over the configuration."""

    source: str
    tier: str | None = None
    """The tier to begin with."""
    overlap: Overlap | None = None
    headphones: bool | None = None
    output: Output = "device"
    input: str | None = None
    record: bool = True
    scenario: Scenario | None = None
    microphone: bool = True
    max_tokens: int | None = None
    gaps_ms: tuple[float, ...] = ()
    """Gaps to stage from the first turn on; empty: the real pipeline answers."""
    aloud: bool = False
    """The scripted person is heard on the speaker, too."""
    half_duplex: bool = False
    history_exchanges: int | None = None
    """How much of the conversation is sent along (0: every turn begins with the same); None: what the rules have."""
    tiers: tuple[str, ...] = ()
    """Tiers that will be needed, too."""
    parent: str = ""
    """The session whose recorded microphone is heard again."""


class Performer(Protocol):
    """Somebody who speaks without being a person."""

    async def perform(self) -> None:
        """Say everything; the session is ended when this returns."""


@dataclass
class Wired:
    """A session ready to run, and what belongs to it."""

    session: Session[SynthesizedClause | GrowingClause]
    journal: Journal
    folder: Path | None
    clock: Clock
    ear: Ear
    sound: SoundDevices
    watch: Watch = field(default_factory=Watch)
    person: Performer | None = None
    microphone: FileMicrophone | DeviceMicrophone | None = None
    _fed: int = 0

    def feed_watch(self) -> None:
        """Show the scripted person what the journal got."""
        entries = self.journal.entries_since(self._fed)
        self._fed += len(entries)
        self.watch.feed(entries)


def needed_models(config: Config) -> list[str]:
    """The embedded models this configuration loads from the catalogue."""
    known = {model.name for model in models.catalogue()}
    return [name for name in dict.fromkeys([*_vital_models(config), *spare_models(config)]) if name in known]


def spare_models(config: Config) -> dict[str, str]:
    """The models among these that a session can go on without, and what turns then do."""
    spare = {}
    if config.endpoint.policy == "model":
        spare[config.endpoint.model] = "turns end by silence alone"
    if config.endpoint.policy == "model" and config.scores_words():
        spare[config.endpoint.words_model] = "turns end without a score of their words"
    return {name: without for name, without in spare.items() if name not in _vital_models(config)}


def _vital_models(config: Config) -> list[str]:
    local = [tier.model for tier in config.tiers if tier.kind == "local"]
    return [config.listen.model, config.speak.voice, *local]


def load_clips(scenario: Scenario) -> dict[str, Pcm16]:
    """Every clip of a scenario, int16 [n] at 16 kHz, by path.

    Raises ``SoundError`` naming the file that cannot be used.
    """
    return {path: read_audio(path)[0] for path in clips(scenario)}


def wire(
    config: Config, choice: Choice, clock: Clock | None = None, sounds: Mapping[str, Pcm16] | None = None
) -> Wired:
    """Choose and make every part of a session.

    Raises ``ConfigError``, ``ModelError``, ``SoundError`` with messages for a person.
    """
    clock = clock or SystemClock()
    config = limited(config, choice.max_tokens)
    tier_name = _tier_name(config, choice)
    recogniser, voice = _recogniser(config, clock), _voice(config, choice, clock)
    tiers = make_tiers(config, clock, {tier_name, *choice.tiers})
    ready_made = ReadyMadeTier(clock)
    canceller = EchoCanceller() if choose_duplex(config.audio, choice)[1] == "cancelled" else None
    ear = Ear(SileroDetector(EdgeLimits(threshold=config.listen.vad_threshold)), canceller)
    outlet = _Outlet()
    post = outlet.post

    def unrecorded(text: str) -> None:
        post(Fault("record", text, "Make room or choose another record.folder; --no-record keeps nothing."))

    writer = _writer(config, choice, STAGED if choice.gaps_ms else tier_name, unrecorded)
    folder = writer.path.parent if writer is not None else None
    journal = Journal(writer)
    opened = _opened(config, choice, tier_name, writer)
    scripted = choice.source if choice.scenario is not None else ""
    sound = SoundDevices(config.audio, clock, post, scripted, choice.aloud)
    microphone = sound.first_microphone(choice.input or config.audio.input) if scripted or choice.microphone else None
    scorer, words = _scorer(config, clock, post), _words_scorer(config, clock, post)
    knowledge = _knowledge(config, clock, post)
    made: dict[str, Warmable | None] = {
        "transcribe": recogniser, "synthesize": voice, "score": scorer, "words": words, "context": knowledge
    }  # fmt: skip
    parts: Parts[SynthesizedClause | GrowingClause] = Parts(
        microphone=microphone,
        speaker=sound.first_speaker(silent=choice.output == "null"),
        ear=ear,
        transcriber=Transcriber(recogniser, clock),
        tiers={**tiers, ready_made.name: ready_made},
        make_replier=lambda post: Replier(clock, post),
        make_synthesizer=lambda post: Synthesizer(voice, clock, post, cached_clauses=config.speak.cached_clauses),
        make_player=lambda post, rate_hz: Player(clock, post, rate_hz),
        warm={name: part.warm for name, part in made.items() if part is not None},
        scorer=Scorer(scorer, clock) if scorer is not None else None,
        words=words,
        knowledge=knowledge,
        recorder=Recorder(folder, unrecorded) if folder is not None else None,
        fallback_speaker=lambda: NullSpeaker(clock),
        make_microphone=sound.make_microphone,
        make_speaker=sound.make_speaker,
        renew_devices=sound.renew,
        canceller=canceller,
    )
    session = Session(parts, clock, journal, opened)
    outlet.connect(session)
    wired = Wired(session, journal, folder, clock, ear, sound, microphone=microphone)
    if choice.scenario is not None:
        wired.person = _person(wired, choice.scenario, sounds or load_clips(choice.scenario), ready_made)
        session.on_entries = wired.feed_watch
    return wired


class _Outlet:
    """Where the parts post to. What they tell before there is a session waits for it."""

    def __init__(self) -> None:
        self._session: Session[SynthesizedClause | GrowingClause] | None = None
        self._early: list[Fact] = []

    def post(self, fact: Fact) -> None:
        """Tell the session now, or as soon as there is one."""
        if self._session is not None:
            self._session.post(fact)
        else:
            self._early.append(fact)

    def connect(self, session: Session[SynthesizedClause | GrowingClause]) -> None:
        """From now on everything goes to ``session``, what waited first."""
        self._session = session
        for fact in self._early:
            session.post(fact)


def _tier_name(config: Config, choice: Choice) -> str:
    name = choice.tier or config.conversation.tier
    known = [table.name for table in config.tiers]
    if name not in known:
        raise ConfigError(f"There is no tier {name!r}. Allowed: {', '.join(known)}.")
    return name


def _person(wired: Wired, scenario: Scenario, sounds: Mapping[str, Pcm16], ready_made: ReadyMadeTier) -> Person:
    """Who says the lines; the ready-made answer to each is put ready before it is said."""
    assert isinstance(wired.microphone, FileMicrophone)
    mouth = Mouth(wired.microphone, lambda: wired.session.parts.speaker)

    def put_ready(line: Line) -> None:
        ready_made.put_ready(line.reply)

    return Person(scenario, sounds, mouth, wired.watch, wired.clock, put_ready)


async def converse(wired: Wired) -> None:
    """Run a wired session to its end; a scripted person says its lines meanwhile and ends it."""
    handler = log_to(wired.folder / "log.txt" if wired.folder is not None else None)
    performing = asyncio.create_task(_perform(wired, wired.person)) if wired.person is not None else None
    try:
        await wired.session.run()
    finally:
        if performing is not None:
            performing.cancel()
        _log.info("%s", wired.session.lag.told() or "the session was too short to tell how late its loop ran")
        stop_logging(handler)


async def _perform(wired: Wired, person: Performer) -> None:
    await person.perform()
    await wired.clock.sleep_until(wired.clock.now_ms() + 300)
    wired.session.post(StopAsked("finished"))


def make_engine(
    config: Config, choice: Choice, sounds: Mapping[str, Pcm16] | None = None
) -> tuple[Engine, Path | None]:
    """An engine for a screen, and the folder of its session. Raises as ``wire`` does."""
    wired = wire(config, choice, SystemClock(), sounds)
    engine = Engine(
        lambda: converse(wired),
        wired.session.post,
        wired.journal.entries_since,
        wired.clock.now_ms,
        lambda: levels(ear=wired.ear, meter=wired.session.parts.meter, now_ms=wired.clock.now_ms()),
        wired.sound.listed,
    )
    return engine, wired.folder


def _recogniser(config: Config, clock: Clock) -> Recogniser:
    language = None if config.listen.language == "auto" else config.listen.language
    return WhisperRecogniser(
        models.path_of(config.listen.model), clock=clock, language=language, threads=config.listen.threads
    )


def _scorer(config: Config, clock: Clock, post: Callable[[Fact], None]) -> TurnScorer | None:
    """The end-of-turn model, if turns are to end by one and it is there; the session does without, and says so."""
    if config.endpoint.policy == "silence":
        return None
    path = _spare_path("score", config.endpoint.model, "turns end by silence alone", post)
    return SmartTurn(path, threads=config.endpoint.threads, clock=clock) if path is not None else None


def _words_scorer(config: Config, clock: Clock, post: Callable[[Fact], None]) -> WordsScorer | None:
    """The model that scores words, if one is to and it is there; the session does without, and says so."""
    if config.endpoint.policy == "silence" or not config.scores_words():
        return None
    path = _spare_path("words", config.endpoint.words_model, "turns end without a score of their words", post)
    return SentenceEnd(path, threads=config.endpoint.threads, clock=clock) if path is not None else None


def _spare_path(stage: str, model: str, without: str, post: Callable[[Fact], None]) -> Path | None:
    """Where a model is that a session can go on without; if it is not there, what the session then does is told."""
    try:
        return models.path_of(model)
    except models.ModelError as error:
        post(Fault(stage, f"{error}", f"Until it is there {without}."))
        return None


def _knowledge(config: Config, clock: Clock, post: Callable[[Fact], None]) -> FolderKnowledge | None:
    folder = config.knowledge.folder
    if folder is None:
        return None
    remedy = "The conversation goes on without it."
    return FolderKnowledge(Path(folder).expanduser(), clock, lambda text: post(Fault("context", text, remedy)))


def _voice(config: Config, choice: Choice, clock: Clock) -> Voice:
    voice = PiperVoice(models.path_of(config.speak.voice), threads=config.speak.threads, clock=clock)
    if not choice.gaps_ms:
        return voice
    lines = choice.scenario.lines if choice.scenario is not None else ()
    replies = [line.reply for line in lines if line.reply] or DEFAULT_REPLIES
    return ReadyVoice(voice, [spoken_of(reply) for reply in replies])


def _writer(config: Config, choice: Choice, tier: str, report: Callable[[str], None]) -> JournalWriter | None:
    if not (choice.record and config.record.on):
        return None
    folder = session_folder(recordings_folder(config), wall_utc(), tier)
    return JournalWriter(folder, program=f"voicetui {__version__}", report=report)


def _opened(config: Config, choice: Choice, tier: str, writer: JournalWriter | None) -> SessionOpened:
    duplex, echo = choose_duplex(config.audio, choice)
    started = wall_utc().strftime("%Y-%m-%dT%H:%M:%SZ")
    shown = without_secrets(msgspec.to_builtins(config))
    assert isinstance(shown, dict)
    return SessionOpened(
        session=writer.path.parent.name if writer is not None else f"unrecorded {started}",
        started_utc=started,
        program=f"voicetui {__version__}",
        tier=tier,
        tiers=tuple(_tier_facts(table) for table in config.tiers),
        overlap=choice.overlap or config.conversation.overlap,
        duplex=duplex,
        source=choice.source,
        config={**shown, "policy": _policy(config, choice)},
        echo=echo,
        parent=choice.parent,
    )


def _policy(config: Config, choice: Choice) -> dict[str, object]:
    policy = {**msgspec.to_builtins(config.policy()), "staged_gaps_ms": list(choice.gaps_ms)}
    if choice.history_exchanges is not None:
        policy["history_exchanges"] = choice.history_exchanges
    return policy


def _tier_facts(table: TierTable) -> TierFacts:
    price = Price(table.price.input, table.price.output) if table.price is not None else None
    return TierFacts(table.name, table.kind, table.model, table.kind == "simulated", price)
