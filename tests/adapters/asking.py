"""Asking a tier whose server is scripted, and looking at what came."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import httpx
import pytest
from mock_llm import PacedTransport

from voicetui.events.orders import Message
from voicetui.ports import Requested, StageError, StreamEnded, StreamItem, TokenRead
from voicetui.reply.openai_tier import OpenAiTier
from voicetui.runtime.clock import ManualClock

ASKED = (Message("user", "Hello?"),)
JSON = {"Content-Type": "application/json"}


async def collect(tier: OpenAiTier, into: list[StreamItem] | None = None) -> list[StreamItem]:
    found = [] if into is None else into
    async with aclosing(tier.stream(ASKED)) as items:
        async for item in items:
            found.append(item)
    return found


def spoken(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TokenRead))


def ends(items: list[StreamItem]) -> list[str]:
    return [item.outcome for item in items if isinstance(item, StreamEnded)]


def tries(items: list[StreamItem]) -> list[int]:
    return [item.tries for item in items if isinstance(item, Requested)]


class Paced:
    """A tier whose server answers by a manual clock."""

    def __init__(self, *answers: Any, headers_after_ms: float = 0.0, **options: Any) -> None:
        self.clock = ManualClock()
        self.transport = PacedTransport(self.clock, *answers)
        self.transport.headers_after_ms = headers_after_ms
        self.items: list[StreamItem] = []
        self.tier = OpenAiTier(self.clock, "t", "m", "http://127.0.0.1:1/v1", transport=self.transport, **options)

    async def run(self) -> list[StreamItem]:
        reading = asyncio.create_task(collect(self.tier, self.items))
        while not reading.done():
            await self.clock.advance(50)
        return reading.result()

    async def failure(self) -> StageError:
        with pytest.raises(StageError) as caught:
            await self.run()
        return caught.value


def status(code: int, message: str = "", **headers: str) -> Any:
    body = json.dumps({"error": {"message": message}}).encode() if message else b""
    return lambda: httpx.Response(code, headers=JSON | headers, stream=httpx.ByteStream(body))
