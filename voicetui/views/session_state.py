"""What the status line tells: what the session is doing, with what, and what went wrong last."""

from __future__ import annotations

from typing import Literal

import msgspec

from voicetui.events import Entry
from voicetui.events.listen import SpeechPaused, SpeechStarted
from voicetui.events.orders import ChangeDuplex, Commit, EndTurn, GateMic, Reject
from voicetui.events.reply import GenerationFailed
from voicetui.events.session import (
    Duplex,
    Echo,
    Fault,
    GapStaged,
    Muted,
    Overlap,
    OverlapChosen,
    Ready,
    SessionClosed,
    SessionOpened,
    TalkKey,
    TierChosen,
    TierFacts,
)
from voicetui.events.sound import DeviceLost, DeviceOpened, EchoMeasured, Role, SoundLost
from voicetui.events.speak import (
    ClauseStarted,
    PlaybackCut,
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    SpeakerDry,
    SynthesisFailed,
)

Word = Literal["loading", "listening", "hearing you", "thinking", "speaking", "muted", "closed"]


class FaultSeen(msgspec.Struct, frozen=True):
    """Something that failed, when and where. ``remedy`` says what to do next, where that is known."""

    at_ms: float
    stage: str
    message: str
    remedy: str = ""


class Device(msgspec.Struct, frozen=True):
    """A sound device in use. ``lost`` is the reason it is not any more ("" while it works)."""

    name: str
    host: str
    rate_hz: int
    channels: int
    latency_ms: float
    clock: str
    lost: str = ""


class Counts(msgspec.Struct, frozen=True):
    """How often things happened so far: ``turns`` were committed, ``dry`` times the speaker had nothing to play."""

    turns: int = 0
    completed: int = 0
    interrupted: int = 0
    superseded: int = 0
    failed: int = 0
    unanswered: int = 0
    cut_off: int = 0
    rejected: int = 0
    faults: int = 0
    dry: int = 0


class SessionState(msgspec.Struct, frozen=True):
    """The session as it is. ``tier`` and ``overlap`` are what the next turn will use.

    ``echo`` is what is done about the program hearing itself; ``echo_db`` how far below the newest reply at the speaker
    its echo is after cancelling, dB (negative), None where that was not measured.
    ``staged_gaps_ms``: the gaps that are staged, one turn after the other; () while the real pipeline answers.
    """

    word: Word = "loading"
    session: str = ""
    started_utc: str = ""
    source: str = ""
    tier: TierFacts = TierFacts("", "", "")
    tiers: tuple[TierFacts, ...] = ()
    overlap: Overlap = "full"
    duplex: Duplex = "half"
    echo: Echo = ""
    echo_db: float | None = None
    muted: bool = False
    mic_gated: bool = False
    talk_key: bool = False
    input: Device | None = None
    output: Device | None = None
    last_fault: FaultSeen | None = None
    closed_reason: str = ""
    counts: Counts = Counts()
    staged_gaps_ms: tuple[float, ...] = ()


def fault_of(entry: Entry) -> FaultSeen | None:
    """What failed, if this entry says that something did."""
    match entry.body:
        case Fault() | GenerationFailed() as body:
            return FaultSeen(entry.at, body.stage, body.message, body.remedy)
        case DeviceLost() as body:
            return FaultSeen(entry.at, body.role, f"{body.name}: {body.reason}")
        case SynthesisFailed() as body:
            return FaultSeen(entry.at, "synthesize", body.message)
        case _:
            return None


def staged_gaps_of(opened: SessionOpened) -> tuple[float, ...]:
    """The gaps that a session staged from its first turn on, ms; () for none."""
    policy = opened.config.get("policy")
    gaps_ms = policy.get("staged_gaps_ms") if isinstance(policy, dict) else None
    numbers = gaps_ms if isinstance(gaps_ms, list | tuple) else ()
    return tuple(float(gap_ms) for gap_ms in numbers if isinstance(gap_ms, int | float))


class SessionStateView:
    """Folds a journal to the session's state, O(1) an entry."""

    def __init__(self) -> None:
        self._state = SessionState()
        self._counts: dict[str, int] = dict.fromkeys(Counts.__struct_fields__, 0)
        self._ready = self._closed = False
        self._user_speaks = False
        self._audible = False
        self._held = False
        self._opening_echo: Echo = ""
        self._open_turns: set[int] = set()
        self._shown: SessionState | None = None

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        self._shown = None
        self._session(entry)
        self._commands(entry)
        self._devices(entry)
        self._user(entry)
        self._reply(entry)
        fault = fault_of(entry)
        if fault is not None:
            self._count("faults")
            self._set(last_fault=fault)

    def snapshot(self) -> SessionState:
        """The state now. The same object as before when nothing changed."""
        if self._shown is None:
            self._shown = msgspec.structs.replace(self._state, word=self._word(), counts=Counts(**self._counts))
        return self._shown

    def _word(self) -> Word:
        if self._closed:
            return "closed"
        if not self._ready:
            return "loading"
        if self._user_speaks and not self._state.muted:
            return "hearing you"
        if self._audible and not self._held:
            return "speaking"
        if self._open_turns:
            return "thinking"
        return "muted" if self._state.muted else "listening"

    def _set(self, **changes: object) -> None:
        self._state = msgspec.structs.replace(self._state, **changes)

    def _count(self, name: str) -> None:
        self._counts[name] += 1

    def _session(self, entry: Entry) -> None:
        match entry.body:
            case SessionOpened() as body:
                self._set(
                    session=body.session,
                    started_utc=body.started_utc,
                    source=body.source,
                    tiers=body.tiers,
                    overlap=body.overlap,
                    duplex=body.duplex,
                    echo=body.echo,
                    staged_gaps_ms=staged_gaps_of(body),
                )
                self._opening_echo = body.echo
                self._set(tier=self._tier(body.tier))
            case Ready():
                self._ready = True
            case SessionClosed() as body:
                self._closed = True
                self._set(closed_reason=body.reason)
            case _:
                pass

    def _tier(self, name: str) -> TierFacts:
        return next((tier for tier in self._state.tiers if tier.name == name), TierFacts(name, "", ""))

    def _commands(self, entry: Entry) -> None:
        match entry.body:
            case TierChosen() as body:
                self._set(tier=self._tier(body.tier))
            case OverlapChosen() as body:
                self._set(overlap=body.overlap)
            case GapStaged() as body:
                self._set(staged_gaps_ms=body.gaps_ms)
            case Muted() as body:
                self._set(muted=body.on)
            case TalkKey() as body:
                self._set(talk_key=body.down)
            case ChangeDuplex() as body:
                self._set(duplex=body.duplex, echo=self._opening_echo if body.duplex == "full" else "")
            case GateMic() as body:
                self._set(mic_gated=body.closed)
            case _:
                pass

    def _devices(self, entry: Entry) -> None:
        match entry.body:
            case DeviceOpened() as body:
                device = Device(body.name, body.host, body.rate_hz, body.channels, body.latency_ms, body.clock)
                self._set_device(body.role, device)
            case DeviceLost() as body:
                known = self._state.input if body.role == "input" else self._state.output
                known = known or Device(body.name, "", 0, 0, 0.0, "")
                self._set_device(body.role, msgspec.structs.replace(known, lost=body.reason))
                if body.role == "input":
                    self._user_speaks = False
            case SoundLost() as body if body.role == "output":
                self._count("dry")
            case SpeakerDry():
                self._count("dry")
            case EchoMeasured() as body:
                self._set(echo_db=body.left_dbfs - body.played_dbfs)
            case _:
                pass

    def _set_device(self, role: Role, device: Device) -> None:
        if role == "input":
            self._set(input=device)
        else:
            self._set(output=device)

    def _user(self, entry: Entry) -> None:
        match entry.body:
            case SpeechStarted():
                self._user_speaks = True
            case SpeechPaused():
                self._user_speaks = False
            case Reject():
                self._user_speaks = False
                self._count("rejected")
            case Commit() as body:
                self._user_speaks = False
                self._open_turns.add(body.basis.turn)
                self._count("turns")
            case _:
                pass

    def _reply(self, entry: Entry) -> None:
        match entry.body:
            case ClauseStarted():
                self._audible, self._held = True, False
            case PlaybackPaused():
                self._held = True
            case PlaybackResumed():
                self._held = False
            case PlaybackCut() | PlaybackFinished() as body:
                self._open_turns.discard(body.basis.turn)
                self._audible = self._held = False
            case EndTurn() as body:
                self._open_turns.discard(body.turn)
                self._audible = self._held = False
                self._count(body.outcome)
            case _:
                pass
