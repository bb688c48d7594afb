"""Stand-ins for an LLM server: a raw one on a real socket, and a transport that keeps to a manual clock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import httpx

from voicetui.ports import Clock

EVENT_STREAM = "text/event-stream"


def delta(text: str | None = None, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chat chunk that carries ``text`` (None: no content at all) and other ``fields`` of the delta."""
    content = {} if text is None else {"content": text}
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": content | fields, "finish_reason": finish}],
    }


def usage(prompt: int, completion: int, cached: int | None = None) -> dict[str, Any]:
    """The usage chunk."""
    counts: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    if cached is not None:
        counts["prompt_tokens_details"] = {"cached_tokens": cached}
    return {"choices": [], "usage": counts}


def sse(*payloads: object) -> bytes:
    """Payloads as server-sent events; a str goes out as it is."""
    lines = [payload if isinstance(payload, str) else json.dumps(payload) for payload in payloads]
    return "".join(f"data: {line}\n\n" for line in lines).encode()


ROLE = delta("", role="assistant")
DONE = "[DONE]"


def answer(*texts: str, finish: str | None = "stop", counts: dict[str, Any] | None = None) -> bytes:
    """A whole, well-formed streamed answer."""
    payloads: list[object] = [ROLE, *(delta(text) for text in texts), delta(finish=finish)]
    return sse(*payloads, counts or usage(12, len(texts)), DONE)


class Wait:
    """A step of a script: go on when the test says so (or the client hangs up)."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.go = asyncio.Event()


@dataclass
class Reply:
    """What the server does with one request: status, headers, then ``steps`` of the body.

    ``chunked`` frames each step as a chunk and closes with the last one, else the body ends with the connection.
    ``abort`` breaks the connection off after the steps. ``silent`` closes it without any answer.
    """

    steps: Sequence[bytes | Wait] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": EVENT_STREAM})
    chunked: bool = True
    keep_alive: bool = True
    close_after: bool = False
    abort: bool = False
    silent: bool = False


@dataclass
class Seen:
    """A request as it came."""

    connection: int
    head: str
    body: dict[str, Any]


class MockLlm:
    """A scripted HTTP/1.1 server on the loopback. Replies are used in turn, the last for ever; ``HEAD`` uses none."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.seen: list[Seen] = []
        self.hung_up = asyncio.Event()
        self.connections = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The base URL to give a tier."""
        assert self._server
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def __aenter__(self) -> MockLlm:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        number = self.connections
        try:
            while await self._request(number, reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _request(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next((line for line in head.lower().split("\r\n") if line.startswith("content-length:")), "x:0")
        body = await reader.readexactly(int(length.split(":")[1]))
        self.seen.append(Seen(number, head, json.loads(body or b"{}")))
        if head.startswith("HEAD "):
            writer.write(b"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n")
            await writer.drain()
            return True
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if reply.silent:
            return False
        await self._answer(reply, reader, writer)
        if reply.abort:
            writer.transport.abort()
            return False
        return reply.chunked and reply.keep_alive and not reply.close_after

    async def _answer(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        headers = dict(reply.headers)
        if reply.chunked:
            headers["Transfer-Encoding"] = "chunked"
        if not reply.keep_alive or not reply.chunked:
            headers["Connection"] = "close"
        lines = [f"HTTP/1.1 {reply.status} X", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        await writer.drain()
        for step in reply.steps:
            if isinstance(step, Wait):
                await self._until(step, reader)
            elif step:
                writer.write(b"%x\r\n%s\r\n" % (len(step), step) if reply.chunked else step)
                await writer.drain()
        if reply.chunked and not reply.abort:
            writer.write(b"0\r\n\r\n")
            await writer.drain()

    async def _until(self, step: Wait, reader: asyncio.StreamReader) -> None:
        step.reached.set()
        going = asyncio.ensure_future(step.go.wait())
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({going, gone}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done() and (gone.exception() or not gone.result()):
                self.hung_up.set()
                raise ConnectionResetError
        finally:
            for waiting in (going, gone):
                waiting.cancel()
            await asyncio.gather(going, gone, return_exceptions=True)


Step: TypeAlias = tuple[float, "bytes | Exception"]


class PacedBody(httpx.AsyncByteStream):
    """A body whose pieces come (or whose errors are raised) at given times after its first read."""

    def __init__(self, clock: Clock, steps: Sequence[Step]) -> None:
        self._clock = clock
        self._steps = steps
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        started_ms = self._clock.now_ms()
        for at_ms, piece in self._steps:
            await self._clock.sleep_until(started_ms + at_ms)
            if isinstance(piece, Exception):
                raise piece
            yield piece

    async def aclose(self) -> None:
        self.closed = True


class PacedTransport(httpx.AsyncBaseTransport):
    """Answers each request in turn by the clock: a list of steps is a 200 stream, an exception is raised.

    The last answer is used for ever.
    """

    def __init__(self, clock: Clock, *answers: Sequence[Step] | Exception | Callable[[], httpx.Response]) -> None:
        self._clock = clock
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.headers_after_ms = 0.0
        self.content_type = EVENT_STREAM
        self.bodies: list[PacedBody] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        await self._clock.sleep_until(self._clock.now_ms() + self.headers_after_ms)
        if isinstance(reply, Exception):
            raise reply
        if callable(reply):
            return reply()
        body = PacedBody(self._clock, reply)
        self.bodies.append(body)
        return httpx.Response(200, headers={"Content-Type": self.content_type}, stream=body)
