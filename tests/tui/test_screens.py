"""Golden screens: whole terminals as text, drawn from golden sessions on manual time."""

from __future__ import annotations

import re

import pytest
from textual.geometry import Size

from tests.tui.conftest import CompareGolden
from tests.tui.scenes import SCENES, SIZES
from tests.tui.stage import on_stage
from voicetui.tui.actions import ACTIONS, REPLAY_ACTIONS, Action
from voicetui.tui.screens.help import Lessons

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCENES)
async def test_live(name: str, size: tuple[int, int], golden: CompareGolden) -> None:
    async with on_stage(SCENES[name](), size) as stage:
        golden(f"{name}-{size[0]}x{size[1]}", stage.text())


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(("keys", "name"), [("p", "presenter"), ("question_mark", "help")])
async def test_presenter_and_help(keys: str, name: str, size: tuple[int, int], golden: CompareGolden) -> None:
    async with on_stage(SCENES["speaking"](), size) as stage:
        await stage.press(keys)
        golden(f"{name}-{size[0]}x{size[1]}", stage.text())


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_nothing_is_wider_or_longer_than_the_terminal(size: tuple[int, int]) -> None:
    async with on_stage(SCENES["barge_in"](), size) as stage:
        lines = stage.text().splitlines()
        assert len(lines) == size[1]
        assert max(map(len, lines)) <= size[0]
        assert "q quit" in lines[-1], "the way out is always in sight"


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_ledger_is_one_key_away(size: tuple[int, int], golden: CompareGolden) -> None:
    async with on_stage(SCENES["finished"](), size) as stage:
        await stage.press("l")
        golden(f"ledger-{size[0]}x{size[1]}", stage.text())
        await stage.press("escape")
        assert "conversation" in stage.text()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("actions", [ACTIONS, REPLAY_ACTIONS], ids=["live", "replay"])
def test_help_has_every_key_at_every_size(actions: tuple[Action, ...], size: tuple[int, int]) -> None:
    rows = Lessons(actions).draw(Size(*size))
    seen = " ".join(row.text.replace("\u00a0", " ") for row in rows)
    assert len(rows) <= size[1] and all(row.cells <= size[0] for row in rows)
    for each in actions:
        says = each.brief if size == (80, 24) else each.help.split()[0]
        assert re.search(rf"(^| ){re.escape(each.shown)} +{re.escape(says)}", seen), each
    assert "you were not heard" in seen


async def test_a_simulated_tier_is_said_to_be_one_everywhere() -> None:
    async with on_stage(SCENES["many_turns"](), (80, 24)) as stage:
        assert "simulated" in stage.text()
        await stage.press("p")
        assert "simulated" in stage.text()
