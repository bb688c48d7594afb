"""One request to a chat endpoint and its answer: sent, timed, read, tried again where that is safe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal, Protocol

import anyio
import httpx

from voicetui.ports import ByteRead, Clock, Requested, StreamEnded, StreamItem, TokenRead
from voicetui.reply.deltas import DeltaReader, Finish, Item, ProviderError, Token
from voicetui.reply.http_failures import Endpoint, refused, server_words, unreachable
from voicetui.reply.retry_after import retry_after_s
from voicetui.reply.sse import END_MARK, SniffingDecoder, SseEvent
from voicetui.reply.toolcalls import ToolCall
from voicetui.reply.watchdog import Watchdog

_MAX_REFUSAL_BYTES = 64 << 10
_MAX_WAITS = 3
_BACK_OFF_MS = 250.0
_LENGTH_REASONS = ("length", "max_tokens", "max_output_tokens")


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long to wait for what, in ms.

    ``headers_ms`` counts from the request; ``first_content_ms`` from the headers, and only text (also reasoning) meets
    it; ``idle_ms`` is the longest silence after the first text. A stream that then only pings is given up after another
    ``first_content_ms``. ``finish_ms`` is how long usage and end mark may come after the finish reason, ``drain_ms``
    how long the connection may take to end after the end mark. ``retry_ms`` is what waiting for a busy server may
    cost in all.
    """

    connect_ms: float = 5_000.0
    headers_ms: float = 15_000.0
    first_content_ms: float = 20_000.0
    idle_ms: float = 10_000.0
    finish_ms: float = 1_000.0
    drain_ms: float = 100.0
    retry_ms: float = 5_000.0


class Backend(Protocol):
    """What an exchange needs of its tier."""

    clock: Clock
    deadlines: Deadlines

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
        answer = Answer(target, self._emit, self._clock, watch, self._limits)
        response: httpx.Response | None = None
        try:
            with watch.scope:
                watch.expect("connect", self._limits.connect_ms)
                response = await self._send(target, watch)
                if response.status_code != 200:
                    await self._refuse(target, response)
                await answer.read(response)
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

    async def _send(self, target: Endpoint, watch: Watchdog) -> httpx.Response:
        client = self._backend.client()
        connecting_ms: float | None = None
        connect_ms: float | None = None
        sent = False

        async def trace(event: str, _info: Mapping[str, Any]) -> None:
            nonlocal connecting_ms, connect_ms, sent
            now_ms = self._clock.now_ms()
            if event == "connection.connect_tcp.started" and connecting_ms is None:
                connecting_ms = now_ms
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
            return self._backend.wall_time_s() or 0.0

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
        if answer.bytes_read:
            answer.cut = True
            return
        if self._may("closed"):
            raise _AgainError("closed") from None
        what = "after the headers" if answered else "without an answer"
        raise target.fail("protocol", f"{target.shown} closed the connection {what}, twice",
                          "Look at the server's log; it may be restarting or out of memory.") from None  # fmt: skip

    def _too_late(self, target: Endpoint, watch: Watchdog, answer: Answer) -> None:
        """Raise what the missed deadline means; nothing for the ones after the answer."""
        after = f"within {watch.allowed_ms / 1e3:g} s"
        otherwise = "try again, or choose another tier."
        if watch.stage == "connect":
            raise target.fail("connect", f"No connection to {target.shown} {after}",
                              f"Is the server running at {target.shown}? Check the network.")  # fmt: skip
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


class Answer:
    """Reads the body of one answer."""

    def __init__(
        self, target: Endpoint, emit: Callable[[StreamItem], None], clock: Clock, watch: Watchdog, limits: Deadlines
    ) -> None:
        self.bytes_read = 0
        self.cut = False
        self._target = target
        self._emit = emit
        self._clock = clock
        self._watch = watch
        self._limits = limits
        self._decoder = SniffingDecoder()
        self._reader = DeltaReader()
        self._content_type = ""
        self._lead = b""
        self._events = 0
        self._chars = 0
        self._wide = 0
        self._tools = False
        self._at_ms = 0.0
        self._content_ms: float | None = None
        self._done_mark = False
        self._concluded = False

    async def read(self, response: httpx.Response) -> None:
        """Read to the end of the body; the ``StreamEnded`` is given out at the end mark, before the rest has come."""
        self._content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self._watch.expect("first_content", self._limits.first_content_ms)
        plain = response.headers.get("content-encoding", "identity").lower() in ("", "identity")
        async for chunk in response.aiter_raw() if plain else response.aiter_bytes():
            at_ms = self._clock.now_ms()
            if chunk and not self._concluded:
                self._take(chunk, at_ms)

    def _take(self, chunk: bytes, at_ms: float) -> None:
        self._at_ms = at_ms
        if not self.bytes_read:
            self._emit(ByteRead(at_ms))
        self.bytes_read += len(chunk)
        self._refuse_pages(chunk)
        self._events_in(self._decoder.feed(chunk))
        if self._done_mark:
            self.conclude()
            self._watch.expect("drain", self._limits.drain_ms)
        elif self._content_ms is not None and self._watch.stage != "finish":
            left_ms = self._content_ms + max(self._limits.first_content_ms, self._limits.idle_ms) - at_ms
            self._watch.expect("idle", min(self._limits.idle_ms, left_ms))

    def _refuse_pages(self, chunk: bytes) -> None:
        """Raise ``StageError`` for a web page: a log-in, an error page of a proxy, a wrong path."""
        if len(self._lead) < 64:
            self._lead = (self._lead + chunk).lstrip(b"\xef\xbb\xbf \t\r\n")[:64]
        if self._lead[:1] == b"<":
            raise self._target.fail("protocol", f"{self._target.shown} answered with a web page, not with a stream",
                                    "Check base_url: for most servers it ends in /v1.")  # fmt: skip

    def _events_in(self, events: list[SseEvent]) -> None:
        for event in events:
            self._events += 1
            for item in self._reader.read(event):
                self._item(item)
            self._done_mark |= event.data.rstrip().rpartition("\n")[2].strip() == END_MARK

    def _item(self, item: Item) -> None:
        if isinstance(item, Token):
            self._chars += len(item.text)
            self._wide += sum(character > "\u2e7f" for character in item.text)
            self._content_ms = self._at_ms
            self._emit(TokenRead(item.text, self._at_ms, item.reasoning))
        elif isinstance(item, ProviderError):
            words = server_words(item.message.encode("utf-8", "replace"))
            raise self._target.fail("provider", f"{self._target.shown} broke off with an error: {words}",
                                    "Try again, or choose another tier.")  # fmt: skip
        elif isinstance(item, ToolCall):
            self._tools = True
        elif isinstance(item, Finish):
            self._watch.expect("finish", self._limits.finish_ms)

    def conclude(self) -> None:
        """Give out the ``StreamEnded``, once. Raises ``StageError`` for a body that was no chat answer at all."""
        if self._concluded:
            return
        self._events_in(self._decoder.close())
        ending = self._reader.finish()
        for item in ending.rest:
            self._item(item)
        self._refuse_strangers()
        self._concluded = True
        outcome: Literal["complete", "length", "truncated", "empty"]
        outcome = "truncated" if ending.outcome == "error" else ending.outcome
        notes = [self._target.secrets.mask(ending.note)] if ending.note else []
        if outcome == "empty" and self.cut and not self._done_mark and ending.reason is None:
            outcome, notes = "truncated", ["the connection broke before any text"]
        elif outcome == "complete" and (ending.reason or "").lower() in _LENGTH_REASONS:
            outcome = "length"
        elif outcome == "complete" and self._tools and not self._chars:
            outcome, notes = "empty", ["the model asked for a tool, and none is offered"]
        self._emit(self._ended(outcome, "; ".join(notes + self._mode_notes(ending.reason))))

    def _ended(self, outcome: Literal["complete", "length", "truncated", "empty"], note: str) -> StreamEnded:
        usage = self._reader.usage
        counted = usage.completion_tokens if usage else None
        return StreamEnded(
            outcome,
            prompt_tokens=usage.prompt_tokens if usage else None,
            completion_tokens=estimated_tokens(self._chars, self._wide) if counted is None else counted,
            cached_tokens=usage.cached_tokens if usage else None,
            estimated=counted is None,
            note=note,
        )

    def _refuse_strangers(self) -> None:
        """Raise ``StageError`` where nothing in the body was part of a chat answer."""
        if self._chars or self._tools or self.cut or self._done_mark or self._reader.usage or not self._lead:
            return
        if self._decoder.mode == "sse" and (self._events or self._content_type == "text/event-stream"):
            return
        if self._decoder.mode == "sse" and self._decoder.comments:
            return
        kind = self._content_type or "unnamed content"
        raise self._target.fail("protocol", f"{self._target.shown} answered with {kind} that holds no chat answer",
                                "Check base_url: it must name an OpenAI-compatible API.")  # fmt: skip

    def _mode_notes(self, reason: str | None) -> list[str]:
        notes = []
        if self._decoder.mode == "body":
            notes.append("answered in one piece, not as a stream")
        elif self._decoder.mode == "lines":
            notes.append("a stream of JSON lines")
        elif self._content_type not in ("text/event-stream", "") and self._events:
            notes.append(f"an event stream labelled {self._content_type}")
        if reason == "content_filter":
            notes.append("stopped by the provider's content filter")
        return notes


def estimated_tokens(chars: int, wide: int = 0) -> int:
    """A guess where nobody counted: four characters to a token, one for each of the ``wide`` (CJK and beyond)."""
    return -(-(chars - wide) // 4) + wide
