"""Working ahead of a request: a local server's prompt cache, and the connection to a remote one."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Literal

import anyio
import httpx

from voicetui.events.orders import Message
from voicetui.ports import Clock, Prefilled, StageError
from voicetui.reply.http_failures import Endpoint, unreachable
from voicetui.reply.watchdog import Watchdog

__all__ = ["fill_cache", "touch"]

_MORE = "\u241f"
"""Stands for what the user may still say: the prompt is cut before it."""

_LONGEST_MS = 20_000.0


async def fill_cache(
    client: httpx.AsyncClient, messages: tuple[Message, ...], clock: Clock
) -> AsyncGenerator[Prefilled, None]:
    """Let a llama.cpp server put into its prompt cache what a chat that begins with ``messages`` begins with.

    The server's own chat template makes the prompt, which ends with the last word of the last message. Tells at the
    start and after every batch how far it is. Raises ``StageError``. ``client``'s base URL is the server's root.
    """
    watch = Watchdog(clock)
    response: httpx.Response | None = None
    try:
        with watch.scope:
            watch.expect("prefill", _LONGEST_MS)
            body = {"prompt": await _prompt(client, messages), "n_predict": 0, "cache_prompt": True, "temperature": 0}
            body |= {"stream": True, "return_progress": True}
            response = await client.send(client.build_request("POST", "/completion", json=body), stream=True)
            async for line in response.aiter_lines():
                done = _progress(line)
                if done is not None:
                    yield done
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        raise StageError(f"The local server did not read ahead: {type(error).__name__}", stage="prefill") from None
    finally:
        watch.stop()
        if response is not None:
            with anyio.CancelScope(shield=True):
                await response.aclose()
    if watch.scope.cancelled_caught:
        raise StageError(f"The local server did not read ahead within {_LONGEST_MS / 1e3:g} s", stage="prefill")


async def _prompt(client: httpx.AsyncClient, messages: tuple[Message, ...]) -> str:
    *before, last = messages
    open_ended = [*before, Message(last.role, f"{last.text}{_MORE}")]
    shown = [{"role": message.role, "content": message.text} for message in open_ended]
    response = await client.post("/apply-template", json={"messages": shown})
    prompt: str = response.raise_for_status().json()["prompt"]
    return prompt[: prompt.rindex(_MORE)]


def _progress(line: str) -> Prefilled | None:
    if not line.startswith("data:"):
        return None
    progress: Mapping[str, int] | None = json.loads(line[5:]).get("prompt_progress")
    if progress is None:
        return None
    cached = progress["cache"]
    return Prefilled(max(0, progress["processed"] - cached), cached)


async def touch(client: httpx.AsyncClient, target: Endpoint, clock: Clock, within_ms: float) -> Prefilled:
    """Open a connection to a server, or keep a pooled one from being closed, by a request that asks for nothing.

    It is a ``HEAD`` on the list of models: no server bills it, and any answer will do. Raises ``StageError``.
    """
    connection: Literal["new", "reused"] = "reused"

    async def trace(event: str, _info: Mapping[str, Any]) -> None:
        nonlocal connection
        if event == "connection.connect_tcp.started":
            connection = "new"

    path = target.url.path.removesuffix("/chat/completions") + "/models"
    request = client.build_request("HEAD", target.url.copy_with(path=path), extensions={"trace": trace})
    auth = httpx.BasicAuth(*target.auth) if target.auth else None
    watch = Watchdog(clock)
    try:
        with watch.scope:
            watch.expect("connect", within_ms)
            await client.send(request, auth=auth)
            return Prefilled(connection=connection)
    except httpx.HTTPError as error:
        raise unreachable(target, error) from None
    finally:
        watch.stop()
    raise target.fail("connect", f"No connection to {target.shown} within {within_ms / 1e3:g} s")
