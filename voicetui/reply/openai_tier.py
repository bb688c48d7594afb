"""A tier that is any server with an OpenAI-compatible ``/chat/completions`` that streams."""

from __future__ import annotations

import asyncio
import logging
import math
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from functools import partial

import anyio
import httpx

from voicetui.events.orders import Message
from voicetui.ports import Clock, Prefilled, StreamItem
from voicetui.reply.exchange import Exchange
from voicetui.reply.http_failures import Endpoint, endpoint
from voicetui.reply.prefill import touch
from voicetui.reply.watchdog import Deadlines

__all__ = ["Deadlines", "OpenAiTier"]

_KEEP_ALIVE_S = 120.0
_FRESH_MS = 4_000.0
"""A connection used this recently is still open at any server (the shortest usual keep-alive is 5 s)."""

_WARM_MESSAGES = (Message("user", "Hi"),)


class OpenAiTier:
    """Streams replies over HTTP/1.1 on connections that are kept alive.

    ``starts_in_reasoning`` is for models whose prompt template holds the opening ``<think>``: they send the closing one
    alone. ``extra`` goes into every request body as it is. ``deadlines`` bound each wait by ``clock``. ``reuse`` false
    closes the connection after every answer, for servers that do so anyway. ``wall_time_s`` (Unix time) is only for
    ``Retry-After`` dates of servers that send no date of their own. ``transport`` replaces the network in tests.
    A ``base_url`` that cannot be used raises ``StageError`` at the first request, not here.
    """

    simulated = False

    def __init__(
        self,
        clock: Clock,
        name: str,
        model: str,
        base_url: str,
        *,
        api_key: str | None = None,
        api_key_env: str = "",
        max_tokens: int | None = 256,
        temperature: float | None = None,
        starts_in_reasoning: bool = False,
        extra: Mapping[str, object] | None = None,
        deadlines: Deadlines | None = None,
        kind: str = "openai",
        reuse: bool = True,
        wall_time_s: Callable[[], float] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.name = name
        self.kind = kind
        self.model = model
        self.clock = clock
        self.deadlines = deadlines or Deadlines()
        self.starts_in_reasoning = starts_in_reasoning
        self._base_url = base_url
        self._api_key = (api_key or "").strip() or None
        self._api_key_env = api_key_env
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._extra = dict(extra or {})
        self._reuse = reuse
        self._wall_time_s = wall_time_s
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._refused: set[str] = set()
        self._used_ms = -math.inf

    async def warm(self, messages: tuple[Message, ...] = _WARM_MESSAGES, tokens: int = 8) -> float:
        """Connect and run once, for a few tokens. The ms it took. Raises ``StageError``."""
        started_ms = self.clock.now_ms()
        async with aclosing(self._pumped(partial(self.body, messages, tokens))) as items:
            async for _ in items:
                pass
        return self.clock.now_ms() - started_ms

    def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[StreamItem, None]:
        """The reply as it comes: a ``Requested`` for each request that leaves, then bytes, tokens and the end.

        Raises ``StageError``. Close the iterator (``contextlib.aclosing``) to close the socket.
        """
        return self._pumped(partial(self.body, messages))

    async def _pumped(self, body: Callable[[], dict[str, object]]) -> AsyncGenerator[StreamItem, None]:
        """Read in a task of its own, so that a slow reader of the items does not make the times late."""
        items: asyncio.Queue[StreamItem | None] = asyncio.Queue()
        pump = asyncio.create_task(Exchange(self, body, items.put_nowait).run())
        pump.add_done_callback(lambda _: items.put_nowait(None))
        try:
            while (item := await items.get()) is not None:
                yield item
            pump.result()
        finally:
            self._used_ms = self.clock.now_ms()
            pump.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({pump})
            if not pump.cancelled():
                pump.exception()  # seen, so that asyncio does not log it

    async def prewarm(self, messages: tuple[Message, ...]) -> AsyncGenerator[Prefilled, None]:  # noqa: ARG002
        """Have a connection open when the request comes; nothing that could be billed. Raises ``StageError``."""
        if not self._reuse or self.clock.now_ms() - self._used_ms < _FRESH_MS:
            return
        touched = await touch(self.client(), self.target(), self.clock, self.deadlines.connect_ms)
        self._used_ms = self.clock.now_ms()
        yield touched

    async def idle_ms(self, timeout_ms: float) -> float | None:  # noqa: ARG002 -- the port's signature
        """None: a remote server does not say whether it still works for us."""
        return None

    async def close(self) -> None:
        """Close the connections. Idempotent; a later request opens new ones."""
        client, self._client = self._client, None
        if client:
            await client.aclose()

    # -- what an exchange asks ----------------------------------------------------------------------------------------

    def target(self) -> Endpoint:
        """Where requests go. Raises ``StageError`` for an unusable ``base_url``."""
        return endpoint(self.name, self.model, self._base_url, self._api_key, self._api_key_env)

    def client(self) -> httpx.AsyncClient:
        """The HTTP client, made at first use. Raises ``StageError`` for unusable proxy settings in the environment."""
        if self._client is None:
            target = self.target()
            headers = {"Accept": "text/event-stream, application/json", "Accept-Encoding": "identity"}
            headers["User-Agent"] = "voicetui"
            if self._api_key:
                headers["Authorization"] = f"Bearer {self._api_key}"
            if not self._reuse:
                headers["Connection"] = "close"
            logging.getLogger("httpx").setLevel(logging.WARNING)  # its INFO lines hold whole URLs
            try:
                self._client = httpx.AsyncClient(
                    headers=headers,
                    timeout=None,  # deadlines run on the injected clock
                    http2=False,
                    trust_env=not target.is_loopback,
                    verify=_tls(target),
                    limits=httpx.Limits(keepalive_expiry=_KEEP_ALIVE_S),
                    transport=self._transport,
                )
            except (ImportError, ValueError, httpx.InvalidURL, OSError) as error:
                raise target.fail("connect", f"The network settings in the environment cannot be used: {error}",
                                  "Check HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE.") from None  # fmt: skip
        return self._client

    def body(self, messages: tuple[Message, ...], max_tokens: int | None = None) -> dict[str, object]:
        """The request as JSON-ready values, without what the server has refused before."""
        body: dict[str, object] = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.text} for message in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": self._max_tokens,
            "temperature": self._temperature,
        } | self._extra
        if max_tokens is not None:
            body["max_tokens"] = max_tokens
        if "max_tokens" in self._refused:
            body["max_completion_tokens"] = body["max_tokens"]
        return {key: value for key, value in body.items() if value is not None and key not in self._refused}

    def adapt(self, words: str) -> bool:
        """Whether a 400 with these ``words`` refuses something the request can do without (or under another name)."""
        lowered = words.lower()
        named = {
            "stream_options": "stream_options" in lowered or "include_usage" in lowered,
            "max_tokens": "max_completion_tokens" in lowered and "max_tokens" in lowered,
            "temperature": "temperature" in lowered and ("support" in lowered or "deprecated" in lowered),
        }
        found = {key for key, is_named in named.items() if is_named} - self._refused
        self._refused |= found
        return bool(found)

    def wall_time_s(self) -> float | None:
        """Unix time, if anyone told."""
        return self._wall_time_s() if self._wall_time_s else None


def _tls(target: Endpoint) -> ssl.SSLContext | bool:
    """The usual trust store, but for plain HTTP an empty one: loading it takes 100 ms."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if target.url.scheme == "http" else True
