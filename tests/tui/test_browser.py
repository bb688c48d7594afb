"""The screen in a real browser: headless Chromium shows the demo, and the page says where the microphone is."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.absent import absent

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.models, pytest.mark.anyio, pytest.mark.timeout(240)]

DRAWN_BYTES = 40_000
"""A picture of the screen is bigger than this; one of an empty page is not."""

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,800",
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        absent("chromium is not installed (apt install chromium)")
    return found


class Moved(Exception):
    """The page was left for another while it was asked."""


class Page:
    """One page of the browser, over its debugging socket."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0

    async def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        async for message in self._socket:
            answer = json.loads(message.data)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise Moved(answer["error"]["message"])
                return dict(answer["result"])
        raise AssertionError("the browser went away")

    async def evaluate(self, script: str) -> Any:
        answer = await self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        return answer["result"].get("value")

    async def wait_for(self, condition: str, seconds: int) -> bool:
        """Let the browser itself wait until a condition holds."""
        script = f"""new Promise(done => {{
            let left = {seconds * 10};
            const look = () => {{ try {{ return {condition}; }} catch {{ return false; }} }};
            const next = () => look() ? done(true) : left-- > 0 ? setTimeout(next, 100) : done(false);
            next();
        }})"""
        for _ in range(20):
            try:
                return bool(await self.evaluate(script))
            except Moved:
                continue
        return False


@asynccontextmanager
async def page_at(url: str, folder: Path) -> AsyncIterator[Page]:
    """A page of a fresh browser."""
    port = free_port()
    command = [chromium(), *FLAGS, f"--user-data-dir={folder}", f"--remote-debugging-port={port}", url]
    browser = await asyncio.to_thread(
        subprocess.Popen, command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        assert browser.stderr is not None
        while "DevTools listening" not in (line := await asyncio.to_thread(browser.stderr.readline)):
            assert line, "the browser did not start"
        drain = asyncio.create_task(asyncio.to_thread(browser.stderr.read))
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json") as answer:
                target = next(each for each in await answer.json() if each["type"] == "page")
            async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                yield Page(socket)
    finally:
        browser.terminate()
        browser.wait(20)
        await drain
        browser.stderr.close()


async def test_a_browser_shows_the_demo_and_says_whose_microphone_it_is(tmp_path: Path) -> None:
    chromium()
    port = free_port()
    command = [sys.executable, "-m", "voicetui", "demo", "--no-record", "--serve", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    server = await asyncio.to_thread(
        subprocess.Popen,
        command,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert server.stdout is not None
        while "Press Ctrl+C" not in (line := await asyncio.to_thread(server.stdout.readline)):
            assert line, "the server did not start"
        drain = asyncio.create_task(asyncio.to_thread(server.stdout.read))
        async with page_at(f"http://127.0.0.1:{port}/", tmp_path / "browser") as page:
            assert await page.wait_for("document.body?.classList.contains('-first-byte')", 60)
            assert "not yours" in await page.evaluate("document.querySelector('.where').textContent")
            assert await page.wait_for("document.querySelector('.textual-terminal canvas, .xterm-rows') !== null", 20)
            outside = "performance.getEntriesByType('resource').filter(r => !r.name.includes('127.0.0.1')).length"
            assert await page.evaluate(outside) == 0, "the page needs nothing from elsewhere"
            picture = b""
            for _ in range(30):
                await page.evaluate("new Promise(done => setTimeout(done, 500))")
                shot = await page.ask("Page.captureScreenshot", format="png")
                picture = base64.b64decode(shot["data"])
                if len(picture) > DRAWN_BYTES:
                    break
            (tmp_path / "page.png").write_bytes(picture)
            assert len(picture) > DRAWN_BYTES, "the screen was not drawn"
    finally:
        server.terminate()
        server.wait(20)
        await drain
        server.stdout.close()
