"""What the rules know. Immutable; every change makes a new state."""

from __future__ import annotations

from typing import Literal

import msgspec

from voicetui.conversation.policy import Policy, Setting
from voicetui.events.base import Basis, Order
from voicetui.events.orders import WakeAt
from voicetui.events.reply import Passage
from voicetui.events.session import Duplex

ClauseState = Literal["cut", "ordered", "ready", "playing", "done", "silent", "failed"]


class Pause(msgspec.Struct, frozen=True):
    """A provisional end of the user's speech. ``user_end_ms`` is None where no detector heard it."""

    sample: int
    user_end_ms: float | None
    scoring: int = 0
    """The request whose score this pause waits for; answers to others mean nothing."""
    score: float | None = None
    over_ms: float | None = None
    """Since when the turn counts as over, and only waits for its draft's first sound."""


class Words(msgspec.Struct, frozen=True):
    """What was read up to a pause; ``text`` is "" where nobody believes it. ``logprob``: how surely it was read, a mean
    log-probability, where the recogniser tells; ``score``: how likely a sentence is over after it, where a model was
    asked.
    """

    text: str
    logprob: float | None = None
    score: float | None = None


class Wait(msgspec.Struct, frozen=True):
    """How long a silence must last to end the turn, and why: "silence", "turn model" or "unfinished words"."""

    ms: float
    reason: str


class Utterance(msgspec.Struct, frozen=True, kw_only=True):
    """Speech that may become a turn."""

    number: int
    start_sample: int
    onset_ms: float
    doubted_sample: int | None = None
    """Where doubted speech began that is read again together with this."""
    over: Literal["", "reply", "thinking"] = ""
    """What the user spoke over: nothing, an audible reply, or a reply that was not audible yet."""
    speaking: bool = True
    pause: Pause | None = None
    text: str = ""
    revision: int = 0
    request: int = 0
    """The newest transcription asked for; answers to older ones still revise the text, but settle nothing."""
    transcribing: bool = False
    final_asked: bool = False
    """The final transcript of the current pause was asked for."""
    settled: bool = False
    """The final transcript of the current pause is here."""
    doubt: str = ""
    logprob: float | None = None
    """How sure the recogniser was of the settled words: their mean log-probability."""
    scoring_words: int = 0
    """The request whose score the newest words wait for."""
    unscored_words: bool = False
    """The newest words are to be scored, but later."""
    words_score: float | None = None
    """How likely a sentence is over after the newest words."""
    silence_over: bool = False
    wait: Wait | None = None
    """What the current pause was last measured against."""
    bid: bool = False
    """Speech over the reply that was decided to be a bid for the floor."""
    wordless: bool = False
    """The newest transcript of speech over the reply had no words that anybody believes."""
    key_up: bool = False
    drafts: int = 0
    """Speculative generations started for it."""
    wakes: dict[str, int] = {}
    """The newest wake asked for, by purpose. Older ones mean nothing when they come."""


class Clause(msgspec.Struct, frozen=True):
    """One clause of a reply, on its way to the ear."""

    number: int
    text: str
    spoken: str
    state: ClauseState = "cut"
    sound_ms: float | None = None
    """How long its sound is, once that is known."""


class Staging(msgspec.Struct, frozen=True, kw_only=True):
    """When a committed staged reply is due, and whose words it did not wait for."""

    due_ms: float
    utterance: int
    revision: int
    carried: str = ""
    """What opened the turn's text; the utterance's words follow."""
    wake: int = 0
    released: bool = False
    """It may be given to the speaker, which holds it until it is due."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to one turn. A draft is a reply whose turn is not committed yet."""

    basis: Basis
    user_text: str
    overlap: Literal["none", "clause", "full"]
    committed: bool = False
    user_end_ms: float | None = None
    clauses: tuple[Clause, ...] = ()
    generated: bool = False
    failure: str = ""
    note: str = ""
    unspoken: str = ""
    """Why part of it could not be spoken."""
    held: bool = False
    """The user is speaking: nothing new may become audible."""
    making: int | None = None
    """The clause that may be played already while the rest of it is being made."""
    queued: bool = False
    """Something was given to the speaker."""
    audible_ms: float | None = None
    """When it was first heard."""
    finishing: bool = False
    quiet: Literal["", "ducked", "paused"] = ""
    staged: bool = False
    """Ready-made, made before there were words: it answers whatever is said."""
    staging: Staging | None = None


class Ending(msgspec.Struct, frozen=True):
    """A reply that was cut and whose ``PlaybackCut`` has not come yet."""

    reply: Reply
    outcome: Literal["interrupted", "superseded", "cut_off", "failed"]
    reason: str
    unheard: Literal["interrupted", "superseded", "cut_off", "failed"] | None = None
    """The outcome if nothing of it was heard."""


class Spoken(msgspec.Struct, frozen=True):
    """A clause that was heard: its words as they were ``spoken`` and as they are ``written``, from when until when.

    ``until_ms`` is None while it is heard.
    """

    basis: Basis
    clause: int
    spoken: tuple[str, ...]
    written: tuple[str, ...]
    from_ms: float
    until_ms: float | None = None


class Doubted(msgspec.Struct, frozen=True):
    """Speech that was no turn because its words were read unsurely: they are read again with what soon follows it."""

    start_sample: int
    end_ms: float


class Closed(msgspec.Struct, frozen=True):
    """The utterance that was closed last, whose final words may still come; ``text`` is what is known of them."""

    utterance: int
    text: str


class Exchange(msgspec.Struct, frozen=True, array_like=True):
    """What one turn left in the history: the user's text and what was heard of the answer."""

    user: str
    assistant: str
    interrupted: bool = False


class Ahead(msgspec.Struct, frozen=True):
    """The words of the utterance being spoken, by its partial transcripts: the newest, and what two agree on."""

    utterance: int = 0
    partial: str = ""
    stable: str = ""


class Context(msgspec.Struct, frozen=True):
    """The newest look-up in the notes, for turn ``turn``; ``passages`` are those adopted, ``found``: it is answered."""

    number: int = 0
    turn: int = 0
    query: str = ""
    passages: tuple[Passage, ...] = ()
    found: bool = False


class Warmth(msgspec.Struct, frozen=True):
    """What a tier was asked to work ahead on: the history, and the beginning of the user's words after it."""

    tier: str
    history: tuple[Exchange, ...]
    passages: tuple[Passage, ...]
    text: str


class State(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the rules know."""

    policy: Policy = Policy()
    setting: Setting = Setting()
    open: bool = False
    next_turn: int = 1
    next_utterance: int = 1
    next_request: int = 1
    next_wake: int = 1
    attempt: int = 0
    utterance: Utterance | None = None
    draft: Reply | None = None
    reply: Reply | None = None
    ending: Ending | None = None
    closed: Closed | None = None
    doubted: Doubted | None = None
    carried: str = ""
    """Words of a turn that was cut off or superseded before its answer was heard; they open the next turn's text."""
    typed: tuple[str, ...] = ()
    history: tuple[Exchange, ...] = ()
    own_pauses_ms: tuple[float, ...] = ()
    """Pauses of this speaker after which the same turn went on, oldest first."""
    unscored: bool = False
    """The end-of-turn model is broken: turns end by silence alone."""
    words_unscored: bool = False
    """The model that scores words is broken: turns end without it."""
    ahead: Ahead = Ahead()
    context: Context = Context()
    warmed: Warmth | None = None
    greeted: int = 0
    """The utterance at whose opening the tier was told to get ready."""
    next_prewarm: int = 1
    muted: bool = False
    testing: bool = False
    """The microphone is being tested."""
    test_wake: int = 0
    talk_key: bool = False
    rise_wake: int = 0
    """When a reply comes back that made way for a sound which was no speech."""
    risen_ms: float = 0.0
    """When a sound over the reply was last told of while an utterance was open."""
    staged_turns: int = 0
    """Turns committed since the staged gaps were chosen: whose turn it is among them."""
    ear_quick: bool = False
    spoken: tuple[Spoken, ...] = ()
    """What the program said last, to know its own words by."""
    user_dbfs: float | None = None
    """How loud the user was last, when nothing was played meanwhile."""
    self_heard: tuple[int, ...] = ()
    """The newest turns during whose replies the program heard itself."""
    echo_lost: bool = False
    """Nothing is cancelled any more, whatever the speaker."""
    opening_duplex: Duplex = "half"
    """What the session began with."""
    gated: bool = False
    ungate_wake: int = 0
    stop_wake: int = 0
    stopping: str = ""
    over: bool = False
    """The end of the session was ordered: nothing is decided any more."""

    @property
    def words_come_first(self) -> bool:
        """Whether at a pause the words are scored first, and its sound only where they leave the turn's end open."""
        return self.policy.turn_end == "model" and self.policy.score_words and not self.words_unscored

    @property
    def deaf(self) -> bool:
        """Whether what is heard means nothing."""
        return self.muted or self.testing or bool(self.stopping)


class Step:
    """One application of the rules: the state as it changes, and the orders as they are given."""

    def __init__(self, state: State, at_ms: float) -> None:
        self.state = state
        self.at_ms = at_ms
        self.now_ms = at_ms
        """The latest time known to be over: a fact may be noticed later than it happened."""
        self.orders: list[Order] = []

    def set(self, **changes: object) -> None:
        """Replace fields of the state."""
        self.state = msgspec.structs.replace(self.state, **changes)

    def order(self, *orders: Order) -> None:
        """Give orders, in this order."""
        self.orders.extend(orders)

    def wake(self, due_ms: float, why: str) -> int:
        """Ask to be woken at ``due_ms``; the wake's number."""
        number = self.state.next_wake
        self.set(next_wake=number + 1)
        self.order(WakeAt(number, due_ms, why))
        return number

    def utter(self, **changes: object) -> Utterance:
        """Replace fields of the open utterance."""
        assert self.state.utterance is not None
        utterance = msgspec.structs.replace(self.state.utterance, **changes)
        self.set(utterance=utterance)
        return utterance

    def utter_wake(self, purpose: str, due_ms: float) -> None:
        """Ask to be woken for the open utterance; an older wake of the same purpose means nothing from now on."""
        assert self.state.utterance is not None
        number = self.wake(due_ms, purpose)
        self.utter(wakes={**self.state.utterance.wakes, purpose: number})

    def forget_wake(self, purpose: str) -> None:
        """Let a wake of the open utterance mean nothing when it comes."""
        assert self.state.utterance is not None
        self.utter(wakes={k: v for k, v in self.state.utterance.wakes.items() if k != purpose})

    def put(self, reply: Reply) -> Reply:
        """Put back a changed reply or draft in the place its commitment gives it."""
        self.set(**{"reply" if reply.committed else "draft": reply})
        return reply

    def find(self, basis: Basis) -> Reply | None:
        """The living reply or draft on this basis."""
        for reply in (self.state.reply, self.state.draft):
            if reply is not None and reply.basis == basis:
                return reply
        return None
