"""Every screen stands every size of the terminal, and shows no text from outside but literally."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from tests.tui.compare_stage import compared, fast, folded, slow
from tests.tui.replay_stage import replay_on_stage
from tests.tui.stage import on_stage
from tests.tui.test_hostile import everywhere
from tests.tui.test_sessions_screen import at_desk

pytestmark = pytest.mark.anyio

SIZES = [(20, 5), (1, 1), (200, 4)]
HOSTILE = (
    "A\x1b[2J \x1b]8;;http://x\x07link\x1b]8;;\x07 \x1bP1$r q\x1b\\ \x9b6n\x9d0;t\x9c \u202eevil\u2066 a\u200db "
    "Z" + "\u0301" * 300 + " t\ta\rb\x0bc " + "long" * 100
)


def hostile_replay() -> AbstractAsyncContextManager[Any]:
    return replay_on_stage(entries=everywhere(HOSTILE).journal.entries, problems=(HOSTILE,))


def hostile_comparison() -> AbstractAsyncContextManager[Any]:
    return compared([slow(), fast(), folded(HOSTILE, HOSTILE, everywhere(HOSTILE).journal)])


@pytest.mark.parametrize(
    ("open_it", "keys"),
    [
        (lambda: on_stage(everywhere(HOSTILE)), ["", "question_mark", "p"]),
        (hostile_replay, ["", "e"]),
        (at_desk, ["", "down"]),
        (hostile_comparison, ["", "d"]),
    ],
    ids=["live", "replay", "sessions", "compare"],
)
async def test_a_screen_of_any_size_stays_inside_it(
    open_it: Callable[[], AbstractAsyncContextManager[Any]], keys: list[str]
) -> None:
    async with open_it() as stage:
        for key in keys:
            await stage.pilot.press(*([key] if key else []))
            for size in SIZES:
                await stage.pilot.resize_terminal(*size)
                await stage.pilot.pause()
                for line in stage.app.screen._compositor.render_strips():
                    text = "".join(segment.text for segment in line)
                    assert line.cell_length <= size[0]
                    assert not any(unicodedata.category(each) == "Cc" or each in "\u202e\u2066" for each in text)
                    assert "\u0301" * 7 not in text
