"""A tier in this very process: llama.cpp's own server on the loopback, spoken to like any other server."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx

from voicetui.events.orders import Message
from voicetui.ports import Clock, Prefilled, StageError, StreamItem
from voicetui.reply.openai_tier import OpenAiTier
from voicetui.reply.prefill import fill_cache
from voicetui.reply.watchdog import Deadlines, Watchdog

__all__ = ["LocalTier", "default_threads"]

BATCH_TOKENS = 32
"""How much of a prompt llama.cpp works through before it looks at anything else, a cancelled request for one."""

_POLL_MS = 10.0
_STOP_WAIT_MS = 2_000.0
_LOCAL_DEADLINES = Deadlines(headers_ms=30_000.0, first_content_ms=60_000.0, idle_ms=20_000.0)

_log = logging.getLogger(__name__)
_running_on: list[Any] = []  # servers that were still busy when they should have stopped: freeing one would block


class LocalTier:
    """Runs a GGUF model on the CPU.

    ``system_prompt`` is what conversations begin with: ``warm`` leaves it in the prompt cache. ``threads`` work on
    it (None: as many as suit the machine). There is one slot, so that every request finds the prompt of the one before
    in the cache; a request waits until a cancelled one is gone, which the server notices within ``BATCH_TOKENS``
    tokens.
    """

    kind = "local"
    simulated = False

    def __init__(
        self,
        clock: Clock,
        name: str,
        model: str,
        gguf: Path,
        *,
        system_prompt: str = "",
        max_tokens: int | None = 160,
        temperature: float = 0.0,
        extra: Mapping[str, object] | None = None,
        threads: int | None = None,
        context_tokens: int = 4096,
        deadlines: Deadlines = _LOCAL_DEADLINES,
    ) -> None:
        self.name = name
        self.model = model
        self._clock = clock
        self._gguf = gguf
        self._system_prompt = system_prompt
        self._max_tokens = max_tokens
        self._temperature = temperature
        # Progress reports are written while the prompt is worked through: only by a failing write does the server
        # notice that nobody listens any more.
        self._extra = {"cache_prompt": True, "return_progress": True} | dict(extra or {})
        self._threads = threads or default_threads()
        self._context_tokens = context_tokens
        self._deadlines = deadlines
        self._warm = False
        self._starting = asyncio.Lock()
        self._server: Any = None
        self._http: OpenAiTier | None = None
        self._slots: httpx.AsyncClient | None = None

    async def warm(self) -> float:
        """Load the model and answer once, for the system prompt. The cold ms. Raises ``StageError``.

        Only the first time: later it would push the running conversation out of the prompt cache.
        """
        started_ms = self._clock.now_ms()
        if self._warm:
            return 0.0
        http = await self._started()
        system = (Message("system", self._system_prompt),) if self._system_prompt else ()
        await http.warm((*system, Message("user", "Hi")), tokens=1)
        self._warm = True
        return self._clock.now_ms() - started_ms

    async def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[StreamItem, None]:
        """The reply as it comes; loads the model if ``warm`` has not. Raises ``StageError``."""
        http = await self._started()
        async with aclosing(http.stream(messages)) as items:
            async for item in items:
                yield item

    async def prewarm(self, messages: tuple[Message, ...]) -> AsyncGenerator[Prefilled, None]:
        """Put the beginning of the next prompt into the cache. Raises ``StageError``.

        A ``stream`` that comes meanwhile waits for ``BATCH_TOKENS`` at most, and finds what was done until then.
        """
        if not self._warm or self._slots is None or not self._extra["cache_prompt"]:
            return
        async with aclosing(fill_cache(self._slots, messages, self._clock)) as steps:
            async for done in steps:
                yield done

    async def idle_ms(self, timeout_ms: float) -> float | None:
        """Ms until the server was done with what it was doing; None if it still was after ``timeout_ms``."""
        started_ms = self._clock.now_ms()
        if self._slots is None:
            return None
        watch = Watchdog(self._clock)
        try:
            with watch.scope:
                watch.expect("idle", timeout_ms)
                await self._until_idle(self._slots)
                return self._clock.now_ms() - started_ms
        except httpx.HTTPError:
            _log.info("the local server did not say what it was doing", exc_info=True)
        finally:
            watch.stop()
        return None

    async def close(self) -> None:
        """Hang up, let the server finish what it is at, and stop it. Idempotent."""
        server, self._server = self._server, None
        http, self._http = self._http, None
        self._warm = False
        if http:
            await http.close()
        if server is not None:
            # Freeing a busy server blocks the whole process until its generation is over.
            if await self.idle_ms(_STOP_WAIT_MS) is None:
                _log.warning("the local server is still busy and is left running")
                _running_on.append(server)
            held, server = [server], None
            await asyncio.to_thread(held.clear)
        slots, self._slots = self._slots, None
        if slots:
            await slots.aclose()

    # -- the server ---------------------------------------------------------------------------------------------------

    async def _started(self) -> OpenAiTier:
        async with self._starting:
            if self._http is None:
                self._server = await asyncio.to_thread(self._start)
                address: str = self._server.listening_address
                no_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                self._slots = httpx.AsyncClient(
                    base_url=address, timeout=None, trust_env=False, verify=no_tls, headers={"Connection": "close"}
                )
                self._http = OpenAiTier(
                    self._clock, self.name, self.model, f"{address}/v1",
                    max_tokens=self._max_tokens, temperature=self._temperature, extra=self._extra,
                    deadlines=self._deadlines, kind=self.kind,
                    reuse=False,  # the server closes after every stream: a reused connection costs a failed try
                )  # fmt: skip
            return self._http

    def _start(self) -> Any:
        """Load the model and start serving. Blocks. Raises ``StageError``."""
        _check_gguf(self._gguf)
        try:
            xllamacpp = importlib.import_module("xllamacpp")
        except ImportError as error:
            raise StageError(
                f"The local model cannot run: {error}",
                "Install the package xllamacpp (Linux, or macOS on Apple silicon), or choose another tier.", "connect",
            ) from None  # fmt: skip
        params = xllamacpp.CommonParams()
        params.model.path = str(self._gguf)
        params.n_ctx = self._context_tokens
        params.n_parallel = 1
        params.n_batch = params.n_ubatch = BATCH_TOKENS
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.n_gpu_layers = 0
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.cache_ram_mib = 0  # else every prompt whose history was trimmed stays in memory, up to 8 GiB of them
        params.endpoint_slots = True
        params.warmup = True
        params.verbosity = 0
        try:
            return xllamacpp.Server(params)
        except Exception as error:
            raise StageError(
                f"llama.cpp could not load {self._gguf.name}: {error}",
                "Check the file (voicetui models), or name another GGUF.", "connect",
            ) from None  # fmt: skip

    async def _until_idle(self, client: httpx.AsyncClient) -> None:
        first_task: object = None
        while True:
            slots = (await client.get("/slots")).json()
            busy = [slot.get("id_task") for slot in slots if slot.get("is_processing")]
            first_task = busy[0] if busy and first_task is None else first_task
            if not busy or busy[0] != first_task:  # another task in the only slot: the first one is gone
                return
            await self._clock.sleep_until(self._clock.now_ms() + _POLL_MS)


def default_threads() -> int:
    """Threads for prompts and for answers: two, or half of a machine with more than four cores.

    They meet hundreds of times a token, so a core that is busy with something else slows all of them: on two cores two
    threads wrote 70 tokens a second and one 40; beside a core that was busy half the time 42 either way.  In a session
    the core is mostly free then: a first clause came 50 ms sooner with two.  A prompt of seven new tokens took two
    threads 48 ms and one 91.
    """
    cores = os.cpu_count() or 2
    return min(cores, 2) if cores <= 4 else min(4, cores // 2)


def _check_gguf(path: Path) -> None:
    """Raise ``StageError`` for a file llama.cpp would not even begin to read."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise StageError(f"The model file {path} cannot be read: {error.strerror}",
                         "Run `voicetui models pull`, or correct the tier's model.", "connect") from None  # fmt: skip
    if magic != b"GGUF":
        raise StageError(f"{path} is not a GGUF model", "Run `voicetui models pull`, or name a GGUF file.", "connect")
