"""Orders: what the rules decided. Some are carried out by a stage; some only stand in the journal as the decision they
are.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from voicetui.events.base import Basis, Order
from voicetui.events.session import Duplex
from voicetui.events.sound import Role

Outcome = Literal["completed", "interrupted", "superseded", "failed", "unanswered", "cut_off"]
Window = Literal["short", "padded"]

STAGED = "staged"
"""The tier of ready-made replies, and the reason of commits whose reply is held for a gap that was asked for."""

IMPORTED = "imported"
"""The tier, the source and the reason of turns of a call recorded elsewhere: only what was heard of them is known."""


class Message(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One message of the conversation as the tier gets it."""

    role: Literal["system", "user", "assistant"]
    text: str


class WakeAt(Order, frozen=True):
    """Post ``Woke(wake)`` at ``due_ms`` on the session clock."""

    wake: int
    due_ms: float
    why: str


class OpenUtterance(Order, frozen=True):
    """Speech began: this utterance may become turn ``turn``. ``over_reply`` if the reply was audible then."""

    utterance: int
    turn: int
    sample: int
    over_reply: bool


class Transcribe(Order, frozen=True):
    """Decode the track from ``start_sample`` to ``end_sample`` (None: the newest).

    ``final`` at a pause, else a partial.  ``window``: a recogniser that hears through a window of fixed length may cut
    it "short" to what the sound needs, or leave it "padded" to its whole length.
    """

    utterance: int
    request: int
    start_sample: int
    end_sample: int | None
    final: bool
    window: Window = "short"


class ScoreTurn(Order, frozen=True):
    """Score by its sound whether the turn is over: the track from ``start_sample`` to ``end_sample``, at a pause.

    ``end_sample`` may lie a little ahead of the newest sound.
    """

    utterance: int
    request: int
    start_sample: int
    end_sample: int


class ScoreWords(Order, frozen=True):
    """Score by its words whether the turn is over: how likely a sentence is over after ``text``.

    ``text`` is all the turn's words so far; case and punctuation are the recogniser's.
    """

    utterance: int
    request: int
    text: str


class Revise(Order, frozen=True):
    """The utterance's words are now these. ``revision`` rises only when the normalised words change.

    After a commit that waited for no words ("staged") it tells the words of the turn.
    """

    utterance: int
    revision: int
    text: str
    final: bool


class Reject(Order, frozen=True):
    """The utterance is no turn. ``reason``: "noise", "invented", "echo", "backchannel", "no words", "muted",
    "microphone test" or "failed".
    """

    utterance: int
    reason: str
    text: str = ""


class Generate(Order, frozen=True):
    """Ask ``tier`` for a reply. Before its ``Commit`` the work is speculative: nothing of it may be heard."""

    basis: Basis
    tier: str
    messages: tuple[Message, ...]
    speculative: bool


class Commit(Order, frozen=True):
    """The turn is over, on this basis. ``utterance`` is None for a typed turn.

    ``text`` is the user's text; ``reason`` why it is over ("silence", "turn model", "unfinished words", "typed",
    "key", "staged", "imported"); ``silence_ms`` the silence waited for; ``score`` what the end-of-turn model said of
    the sound, ``words_score`` the language model of the words, if they did; ``held_ms`` how long, after that, the turn
    stayed open for the first sound of its reply.
    """

    basis: Basis
    utterance: int | None
    text: str
    reason: str
    silence_ms: float | None = None
    score: float | None = None
    held_ms: float = 0.0
    words_score: float | None = None


class Synthesize(Order, frozen=True):
    """Make the sound of a clause: of one ``ClauseCut``, or in mode ``none`` of all of them.

    ``streamed``: it may be played from its first samples on, before its last exist.
    """

    basis: Basis
    clause: int
    spoken: str
    streamed: bool = False


class Play(Order, frozen=True):
    """Queue a synthesised clause for the speaker. ``text`` is the model's text of it, for counting what was heard.

    ``due_ms``: the first audible sample of a reply that begins with this clause is to be at the DAC then, no sooner,
    on the session clock; None: as soon as may be.
    """

    basis: Basis
    clause: int
    text: str
    due_ms: float | None = None


class FinishPlayback(Order, frozen=True):
    """No more clauses come for this reply: post ``PlaybackFinished`` when all are played."""

    basis: Basis


class Duck(Order, frozen=True):
    """Make the reply quieter at once."""

    basis: Basis


class Pause(Order, frozen=True):
    """Hold the reply (short fade); it may come back."""

    basis: Basis


class Resume(Order, frozen=True):
    """Bring the reply back, from the start of the word it was held in."""

    basis: Basis


class Cut(Order, frozen=True):
    """Stop the reply for good (10-20 ms fade), drop what is queued, post ``PlaybackCut``."""

    basis: Basis


class Cancel(Order, frozen=True):
    """Close the stream, stop synthesis, void all work on this basis."""

    basis: Basis
    reason: str


class BargeIn(Order, frozen=True):
    """What the speech over the reply was: a "bid" for the floor, a "backchannel", or "noise".

    ``onset_ms`` on the session clock.
    """

    basis: Basis
    utterance: int
    kind: Literal["bid", "backchannel", "noise", "key"]
    onset_ms: float


class PrepareTier(Order, frozen=True):
    """Connect, load and warm a tier that the next turn will use."""

    tier: str


class Prewarm(Order, frozen=True):
    """Let ``tier`` work ahead on what the next request will begin with, as far as that is free and makes no sound.

    ``messages`` end with the user's words known so far (perhaps none); the next request's are these or go on from them.
    ``why``: "speech" began, the user's "words" are stable so far, a "pause", or the "history" has grown or shrunk.
    A newer ``Prewarm`` and any ``Generate`` ends an older one. ``turn`` is the one it is meant for.
    """

    prewarm: int
    turn: int
    tier: str
    messages: tuple[Message, ...]
    why: Literal["speech", "words", "pause", "history"]


class AssembleContext(Order, frozen=True):
    """Look up what the notes say about ``query`` (words that carry meaning), for turn ``turn``."""

    context: int
    turn: int
    query: str
    most: int


class AdoptContext(Order, frozen=True):
    """The turn's requests hold these passages from now on: named by their files, none where nothing fits any more."""

    context: int
    turn: int
    sources: tuple[str, ...]


class GateMic(Order, frozen=True):
    """In half duplex the detector hears nothing while the reply is audible. The recording goes on."""

    closed: bool


class ChangeDuplex(Order, frozen=True):
    """From the next reply on the session is half or full duplex, for this reason (a sentence); ``remedy`` says what to
    do about it.
    """

    duplex: Duplex
    reason: str
    remedy: str = ""


class QuickenEar(Order, frozen=True):
    """The detector announces pauses sooner and with less certainty (or as usual again): short staged gaps need it."""

    on: bool


class UseDevice(Order, frozen=True):
    """Open this microphone or speaker in the place of the one in use. Fields as in ``DeviceChosen``.

    If it cannot be opened the one before is opened again, and a ``Fault`` says so.
    """

    role: Role
    name: str
    host: str = ""
    renew: bool = False


class EndTurn(Order, frozen=True):
    """The turn is over with this outcome; ``heard_text`` entered the history (not that of a "cut_off")."""

    turn: int
    basis: Basis
    outcome: Outcome
    heard_text: str
    reason: str = ""


class EndSession(Order, frozen=True):
    """Close everything and end."""

    why: str
