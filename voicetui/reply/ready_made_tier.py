"""A tier that has its replies ready: for gaps that are staged. Always labelled as simulated."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from voicetui.events.orders import STAGED, Message
from voicetui.ports import ByteRead, Clock, Prefilled, Requested, StreamEnded, StreamItem, TokenRead
from voicetui.reply.clauses import ClauseCutter
from voicetui.reply.simulated_tier import DEFAULT_REPLIES, pieces_of, prompt_tokens_of
from voicetui.reply.speakable import Speakable


class ReadyMadeTier:
    """Replies that are there at once and whole, whatever is asked: the one that was put ready, else some in turn."""

    kind = "simulated"
    model = "ready-made"
    simulated = True

    def __init__(self, clock: Clock, replies: Sequence[str] = DEFAULT_REPLIES, name: str = STAGED) -> None:
        """``replies`` come in turn while none is put ready. Raises ``ValueError`` for none."""
        if not replies:
            raise ValueError("ready-made replies are needed, at least one")
        self.name = name
        self._clock = clock
        self._replies = tuple(replies)
        self._given = 0
        self._ready = ""

    def put_ready(self, reply: str) -> None:
        """Answer everything with ``reply`` from now on ("": with those that come in turn)."""
        self._ready = reply

    async def warm(self) -> float:
        """Nothing to load: 0 ms."""
        return 0.0

    async def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[StreamItem, None]:
        """The whole reply as one token, now; what is asked does not matter."""
        reply = self._ready or self._replies[self._given % len(self._replies)]
        self._given += not self._ready
        now_ms = self._clock.now_ms()
        yield Requested(now_ms, "none")
        await self._clock.sleep_until(now_ms)
        yield ByteRead(now_ms)
        yield TokenRead(reply, now_ms)
        yield StreamEnded("complete", prompt_tokens_of(messages), len(pieces_of(reply)))

    async def prewarm(self, messages: tuple[Message, ...]) -> AsyncGenerator[Prefilled, None]:  # noqa: ARG002
        """Nothing: the reply is there already."""
        return
        yield

    async def idle_ms(self, timeout_ms: float) -> float | None:  # noqa: ARG002 -- the port's signature
        """None: there is no server."""
        return None

    async def close(self) -> None:
        """Nothing to close."""


def spoken_of(reply: str) -> str:
    """What the voice is asked to say for a whole reply: its clauses, as they would be cut, joined by spaces."""
    cutter, sayer = ClauseCutter(), Speakable()
    spoken = [sayer.spoken(clause) for clause in (*cutter.feed(reply), *cutter.close())]
    return " ".join(words for words in spoken if words)
