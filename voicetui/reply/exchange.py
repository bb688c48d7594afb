"""One request to a chat endpoint and its answer: sent, timed, read, tried again where that is safe."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Literal, Protocol

import anyio
import httpx

from voicetui.ports import Clock, Requested, StreamItem
from voicetui.reply.answer import Answer
from voicetui.reply.http_failures import Endpoint, refused, server_words, unreachable
from voicetui.reply.retry_after import retry_after_s
from voicetui.reply.watchdog import Deadlines, Watchdog

_MAX_REFUSAL_BYTES = 64 << 10
_MAX_WAITS = 3
_BACK_OFF_MS = 250.0


class Backend(Protocol):
    """What an exchange needs of its tier."""

    clock: Clock
    deadlines: Deadlines
    starts_in_reasoning: bool

    def target(self) -> Endpoint:
        """Where to send to."""

    def client(self) -> httpx.AsyncClient:
        """The connections to use."""

    def adapt(self, words: str) -> bool:
        """Whether the body can do without what a 400 with these ``words`` refuses; remembered."""

    def wall_time_s(self) -> float | None:
        """Unix time, None where nobody knows it."""


class _AgainError(Exception):
    """Send the request once more, after ``wait_ms``."""

    def __init__(self, why: Literal["closed", "empty", "adapted", "busy"], wait_ms: float = 0.0) -> None:
        super().__init__(why)
        self.why = why
        self.wait_ms = wait_ms


class Exchange:
    """Runs one request to its end, handing each item to ``emit`` as it happens."""

    def __init__(
        self, backend: Backend, body: Callable[[], Mapping[str, object]], emit: Callable[[StreamItem], None]
    ) -> None:
        self._backend = backend
        self._clock = backend.clock
        self._limits = backend.deadlines
        self._body = body
        self._emit = emit
        self._tries = 0
        self._waited_ms = 0.0
        self._waits = 0
        self._spent: set[str] = set()

    async def run(self) -> None:
        """Until the ``StreamEnded`` is out. Raises ``StageError``."""
        target = self._backend.target()
        while True:
            self._tries += 1
            try:
                return await self._attempt(target)
            except _AgainError as again:
                if again.wait_ms:
                    await self._clock.sleep_until(self._clock.now_ms() + again.wait_ms)

    async def _attempt(self, target: Endpoint) -> None:
        watch = Watchdog(self._clock)
        answer = Answer(target, self._emit, self._clock, watch, self._limits, self._backend.starts_in_reasoning)
        response: httpx.Response | None = None
        try:
            with watch.scope:
                client = self._backend.client()
                watch.expect("headers", self._limits.headers_ms)
                response = await self._send(client, target, watch)
                if response.status_code != 200:
                    await self._refuse(target, response)
                await answer.read(response)
            if watch.late and response is not None and response.status_code != 200:
                raise refused(target, response.status_code, "")
            if watch.late:
                self._too_late(target, watch, answer)
        except (httpx.TransportError, httpx.StreamError, httpx.DecodingError) as error:
            self._broken(target, answer, error, answered=response is not None)
        finally:
            watch.stop()
            if response is not None:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
        if answer.bytes_read == 0 and self._may("empty"):
            raise _AgainError("empty")
        answer.conclude()

    # -- sending ------------------------------------------------------------------------------------------------------

    async def _send(self, client: httpx.AsyncClient, target: Endpoint, watch: Watchdog) -> httpx.Response:
        connecting_ms: float | None = None
        connect_ms: float | None = None
        sent = False

        async def trace(event: str, _info: Mapping[str, Any]) -> None:
            nonlocal connecting_ms, connect_ms, sent
            now_ms = self._clock.now_ms()
            if event == "connection.connect_tcp.started" and connecting_ms is None:
                connecting_ms = now_ms
                watch.expect("connect", self._limits.connect_ms)
            elif event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                connect_ms = now_ms - (now_ms if connecting_ms is None else connecting_ms)
            elif event.endswith(".send_request_headers.started"):
                sent = True
                connection: Literal["new", "reused"] = "reused" if connecting_ms is None else "new"
                self._emit(Requested(now_ms, connection, connect_ms, self._tries))
                watch.expect("headers", self._limits.headers_ms)

        started_ms = self._clock.now_ms()
        request = client.build_request("POST", target.url, json=self._body(), extensions={"trace": trace})
        auth = httpx.BasicAuth(*target.auth) if target.auth else None
        response = await client.send(request, stream=True, auth=auth)
        if not sent:  # a transport that does not tell
            self._emit(Requested(started_ms, "new", None, self._tries))
        return response

    async def _refuse(self, target: Endpoint, response: httpx.Response) -> None:
        """Make of a status other than 200 a new try or a ``StageError``."""
        raw = bytearray()
        try:
            async for chunk in response.aiter_bytes():
                raw += chunk
                if len(raw) > _MAX_REFUSAL_BYTES:
                    break
        except httpx.HTTPError:
            pass  # what has come of it has to do
        words = server_words(bytes(raw), response.headers.get("content-type", ""))
        status = response.status_code
        if status in (400, 422) and self._tries < 5 and self._backend.adapt(bytes(raw).decode("utf-8", "replace")):
            raise _AgainError("adapted")
        if status in (429, 503, 529):
            self._wait_or_not(target, response, words)
        raise refused(target, status, words, response.headers.get("location", ""))

    def _wait_or_not(self, target: Endpoint, response: httpx.Response, words: str) -> None:
        asked_s = retry_after_s(response.headers, self._wall_time_s(response.headers))
        if asked_s is None and (response.status_code != 429 or "quota" in words.lower()):
            return
        wait_ms = _BACK_OFF_MS * 2**self._waits if asked_s is None else asked_s * 1e3
        if self._waited_ms + wait_ms > self._limits.retry_ms or self._waits >= _MAX_WAITS:
            if asked_s is not None and wait_ms > self._limits.retry_ms:
                words = f"{words} (to be tried again in {asked_s:.0f} s)".strip()
            raise refused(target, response.status_code, words)
        self._waits += 1
        self._waited_ms += wait_ms
        raise _AgainError("busy", wait_ms)

    def _wall_time_s(self, headers: Mapping[str, str]) -> float:
        """The time now by the server's own clock, else by ours: a date is only good against the clock it came from."""
        try:
            return parsedate_to_datetime(headers.get("date", "")).timestamp()
        except (ValueError, TypeError, OverflowError):
            wall_time_s = self._backend.wall_time_s()
            return math.nan if wall_time_s is None else wall_time_s

    # -- failing ------------------------------------------------------------------------------------------------------

    def _may(self, reason: str) -> bool:
        """Whether there is a second chance of this kind left; takes it."""
        if reason in self._spent:
            return False
        self._spent.add(reason)
        return True

    def _broken(self, target: Endpoint, answer: Answer, error: Exception, answered: bool) -> None:
        """A connection failed: replay, keep what has come, or raise ``StageError``."""
        if isinstance(error, httpx.UnsupportedProtocol | httpx.ConnectError | httpx.ProxyError | httpx.ConnectTimeout):
            raise unreachable(target, error) from None
        if answered:  # without a byte of the body it is an empty answer
            answer.cut = answer.bytes_read > 0
            return
        if self._may("closed"):
            raise _AgainError("closed") from None
        raise target.fail(
            "protocol",
            f"{target.shown} closed the connection without an answer, twice",
            "Look at the server's log; it may be restarting or out of memory.",
        ) from None

    def _too_late(self, target: Endpoint, watch: Watchdog, answer: Answer) -> None:
        """Raise what the missed deadline means; nothing for the ones after the answer."""
        after = f"within {watch.allowed_ms / 1e3:g} s"
        otherwise = "try again, or choose another tier."
        if watch.stage == "connect":
            tls = " Does base_url need http:// instead of https://?" if target.url.scheme == "https" else ""
            raise target.fail("connect", f"No connection to {target.shown} {after}",
                              f"Is the server running at {target.shown}? Check the network.{tls}")  # fmt: skip
        if watch.stage == "headers":
            raise target.fail("headers", f"{target.shown} took the request and did not answer {after}",
                              f"The server may be loading or overloaded: {otherwise}")  # fmt: skip
        if watch.stage == "first_content":
            pings = " (only signs of life)" if answer.bytes_read else ""
            raise target.fail("first_content", f"{target.shown} answered, but no text came {after}{pings}",
                              f"The model may be too slow or still loading: {otherwise}")  # fmt: skip
        if watch.stage == "idle":
            raise target.fail("idle", f"{target.shown} went silent in mid-answer: nothing came {after}",
                              "Try again, or choose another tier.")  # fmt: skip
