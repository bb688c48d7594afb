"""Puts a scene on a headless terminal, and reads what can be seen there."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from textual.app import App
from textual.pilot import Pilot
from textual.strip import Strip

from tests.tui.fake_engine import FakeEngine
from tests.tui.scenes import Scene
from voicetui.tui.app import VoiceTui
from voicetui.tui.session_app import SessionApp
from voicetui.tui.view import ScreenView

_CELL_WIDTH = 12.2
_TEXT = re.compile(r'<text class="[^"]*" x="([\d.]+)" y="[\d.]+" textLength[^>]*line-(\d+)\)">([^<]*)</text>')
APPROACH_MS = 12_000.0
"""A scene is entered this long before its moment, in small steps, so that sound levels have been seen."""


class Pressed:
    """What is done to a running screen of a session."""

    app: SessionApp
    pilot: Pilot[Any]

    async def press(self, *keys: str) -> None:
        """Press keys, and let the screen answer."""
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Let the screen draw."""
        await self.pilot.pause()
        self.app.look_again()
        await self.pilot.pause()


@dataclass
class Stage(Pressed):
    """A running screen."""

    app: VoiceTui
    engine: FakeEngine
    pilot: Pilot[Any]

    async def advance(self, ms: float, step_ms: float = 1000.0) -> None:
        """Let session time pass, the screen looking on."""
        end_ms = self.engine.now_ms() + ms
        while self.engine.now_ms() < end_ms:
            self.engine.advance(min(step_ms, end_ms - self.engine.now_ms()))
            self.app.look_again()
        await self.settle()

    def picture(self) -> ScreenView:
        """What the screen knows."""
        assert self.app.view is not None
        return self.app.view

    def strips(self) -> list[Strip]:
        """The lines of the topmost screen as they go to the terminal."""
        return self.app.screen._compositor.render_strips()

    def text(self) -> str:
        """All that can be seen."""
        return seen(self.app)


def seen(app: App[Any]) -> str:
    """All that can be seen of an app, as lines without the blanks at their ends."""
    width, height = app.size
    grid = [[" "] * width for _ in range(height)]
    for x, line, content in _TEXT.findall(app.export_screenshot()):
        text, place, row = html.unescape(content), round(float(x) / _CELL_WIDTH), grid[int(line)]
        row[place : place + cell_len(text)] = [text, *[""] * (cell_len(text) - 1)]
    return "\n".join("".join(cells).replace("\u00a0", " ").rstrip() for cells in grid) + "\n"


@asynccontextmanager
async def on_stage(scene: Scene, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Stage]:
    """Run the screen at the scene's moment."""
    engine = scene.engine()
    engine.advance(-min(APPROACH_MS, engine.now_ms()))
    app = VoiceTui(engine, scene.options, takes_output=lambda: not engine.terminal_full)
    async with app.run_test(size=size) as pilot:
        stage = Stage(app, engine, pilot)
        await stage.settle()
        await stage.advance(scene.at_ms - engine.now_ms())
        yield stage
