"""A tier without a model: scripted text at a chosen pace. Always labelled as simulated."""

from __future__ import annotations

import math
import random
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal

from voicetui.events.orders import Message
from voicetui.ports import ByteRead, Clock, Prefilled, Requested, StageError, StreamEnded, StreamItem, TokenRead

__all__ = ["DEFAULT_REPLIES", "SimulatedFault", "SimulatedTier"]

Z95 = 1.6448536269514722
"""The 0.95 quantile of the standard normal distribution."""

_PIECE = re.compile(r"\s*(?:\w{1,6}|[^\w\s]+)|\s+$")
DEFAULT_REPLIES = (
    "That is a good question. Let me think about it for a moment.",
    "Sure, I can help with that. What would you like to know?",
    "I see. Tell me a little more, and we will find a way.",
)


@dataclass(frozen=True, slots=True)
class SimulatedFault:
    """What goes wrong in one stream, after ``after_tokens`` tokens.

    "fail" raises a ``StageError`` of ``stage``; "truncate" ends the stream without an end mark; "stall" is silent for
    ``ms`` and goes on; "empty" ends a stream that said nothing.
    """

    kind: Literal["fail", "truncate", "stall", "empty"]
    after_tokens: int = 0
    ms: float = 0.0
    stage: str = "provider"
    message: str = "the simulated tier was told to fail"


class SimulatedTier:
    """Replies from a script.

    ``script`` maps a piece of the user's last message (letter case ignored) to a reply, the first that fits wins; where
    none does, ``replies`` come in turn, by the number of user messages so far, so the same conversation always gets
    the same words. The time to the first token is log-normal with the given quantiles, drawn from ``seed``, one draw a
    stream; then tokens come at ``tokens_per_second``. ``reasoning`` is thought aloud before every answer. ``faults``
    apply to the first streams in turn (None: nothing goes wrong). A prewarm takes ``prewarm_ms`` (0: there is none).

    Raises ``ValueError`` for times or rates that are not positive, or ``p95`` below ``p50``.
    """

    kind = "simulated"
    simulated = True

    def __init__(
        self,
        clock: Clock,
        name: str,
        model: str = "simulated",
        *,
        ttft_p50_ms: float = 120.0,
        ttft_p95_ms: float = 300.0,
        tokens_per_second: float = 100.0,
        script: Sequence[tuple[str, str]] = (),
        replies: Sequence[str] = DEFAULT_REPLIES,
        reasoning: str = "",
        max_tokens: int | None = None,
        seed: int = 0,
        faults: Sequence[SimulatedFault | None] = (),
        prewarm_ms: float = 0.0,
    ) -> None:
        if not 0 < ttft_p50_ms <= ttft_p95_ms < math.inf:
            raise ValueError(f"ttft_ms of {name!r}: 0 < p50 <= p95 is needed, not p50 {ttft_p50_ms}, p95 {ttft_p95_ms}")
        if not 0 < tokens_per_second < math.inf:
            raise ValueError(f"tokens_per_second of {name!r}: {tokens_per_second} is not a positive number")
        self.name = name
        self.model = model
        self._clock = clock
        self._mu = math.log(ttft_p50_ms)
        self._sigma = math.log(ttft_p95_ms / ttft_p50_ms) / Z95
        self._interval_ms = 1e3 / tokens_per_second
        self._script = tuple((match.casefold(), reply) for match, reply in script)
        self._replies = tuple(replies) or DEFAULT_REPLIES
        self._reasoning = pieces_of(reasoning)
        self._max_tokens = max_tokens
        self._random = random.Random(seed)
        self._faults = list(faults)
        self._prewarm_ms = prewarm_ms

    async def warm(self) -> float:
        """Nothing to load: 0 ms."""
        return 0.0

    def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[StreamItem, None]:
        """The scripted reply at the simulated pace. Raises ``StageError`` where a fault says so."""
        fault = self._faults.pop(0) if self._faults else None
        ttft_ms = math.exp(self._random.gauss(self._mu, self._sigma))
        return self._stream(messages, ttft_ms, fault)

    async def prewarm(self, messages: tuple[Message, ...]) -> AsyncGenerator[Prefilled, None]:
        """Pretend to work through the prompt, for ``prewarm_ms``. It changes no time to the first token."""
        tokens = prompt_tokens_of(messages)
        if self._prewarm_ms:
            yield Prefilled()
            await self._clock.sleep_until(self._clock.now_ms() + self._prewarm_ms)
            yield Prefilled(tokens)

    async def idle_ms(self, timeout_ms: float) -> float | None:  # noqa: ARG002 -- the port's signature
        """None: there is no server."""
        return None

    async def close(self) -> None:
        """Nothing to close."""

    def reply_to(self, messages: tuple[Message, ...]) -> str:
        """The words that answer ``messages``."""
        asked = [message.text.casefold() for message in messages if message.role == "user"]
        last = asked[-1] if asked else ""
        for match, reply in self._script:
            if match in last:
                return reply
        return self._replies[max(0, len(asked) - 1) % len(self._replies)]

    async def _stream(
        self, messages: tuple[Message, ...], ttft_ms: float, fault: SimulatedFault | None
    ) -> AsyncGenerator[StreamItem, None]:
        answer = pieces_of(self.reply_to(messages))
        tokens = [(text, True) for text in self._reasoning] + [(text, False) for text in answer]
        limit = len(tokens) if self._max_tokens is None else self._max_tokens
        sent_ms = self._clock.now_ms()
        yield Requested(sent_ms, "none")
        due_ms = sent_ms + ttft_ms
        for count in range(min(limit, len(tokens)) + 1):
            if fault and count == min(fault.after_tokens, limit, len(tokens)):
                if fault.kind == "stall":
                    due_ms += fault.ms
                else:
                    await self._clock.sleep_until(due_ms)
                    yield _broken(fault, messages, count)
                    return
            if count == min(limit, len(tokens)):
                break
            await self._clock.sleep_until(due_ms)
            if count == 0:
                yield ByteRead(self._clock.now_ms())
            text, reasoning = tokens[count]
            yield TokenRead(text, self._clock.now_ms(), reasoning)
            due_ms += self._interval_ms
        outcome: Literal["complete", "length", "empty"] = "length" if limit < len(tokens) else "complete"
        if limit <= len(self._reasoning):
            outcome = "empty"
        yield StreamEnded(outcome, prompt_tokens_of(messages), min(limit, len(tokens)))


def pieces_of(text: str) -> list[str]:
    """``text`` cut about as a tokenizer would, four pieces to three words; joined they are ``text`` again."""
    return _PIECE.findall(text)


def prompt_tokens_of(messages: tuple[Message, ...]) -> int:
    """About how many tokens a request has."""
    return sum(4 + len(pieces_of(message.text)) for message in messages)


def _broken(fault: SimulatedFault, messages: tuple[Message, ...], count: int) -> StreamEnded:
    """The end a fault makes. Raises ``StageError`` for "fail"."""
    if fault.kind == "fail":
        raise StageError(fault.message, "Choose another tier.", fault.stage)
    if fault.kind == "empty":
        return StreamEnded("empty", prompt_tokens_of(messages), count, note="the answer is empty")
    return StreamEnded("truncated", None, count, estimated=True, note="the stream ended without an end mark")
