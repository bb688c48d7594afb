"""Facts about the reply's text: request, tokens, clauses."""

from __future__ import annotations

from typing import Literal

import msgspec

from voicetui.events.base import Basis, Fact


class Passage(msgspec.Struct, frozen=True, array_like=True):
    """A piece of the person's notes. ``source`` is the file's path in their folder."""

    source: str
    text: str


class ContextAssembled(Fact, frozen=True):
    """The answer to an ``AssembleContext``; empty where nothing fits, or where the look-up failed (``note``)."""

    context: int
    turn: int
    passages: tuple[Passage, ...]
    started_ms: float
    note: str = ""


class ContextReady(Fact, frozen=True):
    """The messages for a request are assembled. ``started_ms`` is when assembling began."""

    basis: Basis
    messages: int
    started_ms: float


class PrewarmEnded(Fact, frozen=True):
    """What came of a ``Prewarm``. ``connection`` is the one that was opened or kept alive for it, if any.

    ``new_tokens`` of the prompt were worked through since ``started_ms``, ``cached_tokens`` were in the cache already;
    both are 0 where the tier keeps no cache that can be filled for nothing. ``failed`` costs only what it would have
    saved.
    """

    prewarm: int
    turn: int
    outcome: Literal["done", "cancelled", "failed"]
    started_ms: float
    new_tokens: int = 0
    cached_tokens: int = 0
    connection: Literal["new", "reused", "none"] = "none"
    note: str = ""


class RequestSent(Fact, frozen=True):
    """The first byte of the request left. ``connection`` is "new", "reused" or "none" (simulated).

    ``connect_ms`` is the time spent on DNS, connect and TLS, null where the connection was reused. ``tries`` counts
    silent replays.
    """

    basis: Basis
    tier: str
    connection: Literal["new", "reused", "none"]
    connect_ms: float | None = None
    tries: int = 1


class FirstByte(Fact, frozen=True):
    """The first byte of the answer's body was read."""

    basis: Basis


class TimedToken(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A piece of text and when it was read from the socket, before parsing (ms on the session clock)."""

    text: str
    at_ms: float


class TokensArrived(Fact, frozen=True):
    """Pieces of text read within at most 50 ms. ``reasoning`` text is never spoken."""

    basis: Basis
    tokens: tuple[TimedToken, ...]
    reasoning: bool = False


class ClauseCut(Fact, frozen=True):
    """Clause number ``clause`` (from 0) of the reply: ``text`` as the model wrote it, ``spoken`` as the voice should
    say it.

    ``spoken`` is empty where there is nothing to say (code, emoji): the clause is then not synthesised.
    """

    basis: Basis
    clause: int
    text: str
    spoken: str


class GenerationEnded(Fact, frozen=True):
    """The stream ended by itself. Token counts are the provider's, or estimated and marked so.

    ``unseen_tokens`` of ``completion_tokens`` were reasoning that was never sent: nobody knows when they were made.
    """

    basis: Basis
    outcome: Literal["complete", "length", "truncated", "empty"]
    clauses: int
    prompt_tokens: int | None
    completion_tokens: int | None
    estimated: bool
    cached_tokens: int | None = None
    note: str = ""
    unseen_tokens: int = 0


class GenerationFailed(Fact, frozen=True):
    """The tier did not answer. ``stage``: "connect", "headers", "first_content", "idle", "provider", "protocol" or
    "http".
    """

    basis: Basis
    stage: str
    message: str
    remedy: str = ""


class GenerationCancelled(Fact, frozen=True):
    """The stream was closed before its end. ``tokens`` had arrived. ``closed_ms`` is how long closing took after it
    was ordered,
    ``slot_idle_ms`` when the local server's slot was seen idle (null where a tier cannot tell)."""

    basis: Basis
    tokens: int
    closed_ms: float
    slot_idle_ms: float | None = None
