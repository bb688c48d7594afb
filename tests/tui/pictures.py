"""Draws the README's pictures from golden journals: ``python -m tests.tui.pictures`` writes them to
``assets/pictures/``.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.tui.compare_stage import compared, fast, slow
from tests.tui.replay_stage import recorded, replay_on_stage
from tests.tui.scenes import SCENES
from tests.tui.stage import on_stage

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "pictures"
PICTURES: dict[str, tuple[str, tuple[int, int], tuple[str, ...]]] = {
    "live": ("finished", (120, 36), ()),
    "barge-in": ("barge_in", (120, 36), ()),
    "presenter": ("finished", (120, 36), ("p",)),
    "help": ("finished", (120, 36), ("question_mark",)),
}
"""Each picture's scene, size in cells, and the keys pressed before it is taken."""


async def draw(name: str) -> str:
    """One picture as SVG."""
    scene, size, keys = PICTURES[name]
    async with on_stage(SCENES[scene](), size) as stage:
        await stage.press(*keys)
        return stage.app.export_screenshot(title="voicetui")


async def draw_comparison() -> str:
    """The comparison's screen as SVG."""
    async with compared([slow(), fast()]) as screen:
        return screen.app.export_screenshot(title="voicetui compare")


async def draw_replay() -> str:
    """A recorded session, playing on after a barge-in, as SVG."""
    async with replay_on_stage((120, 36)) as stage:
        stage.tape.seek(recorded()[0].times[5].reply_start - 1000)
        await stage.press("space")
        await stage.pass_ms(1700, step_ms=100)
        return stage.app.export_screenshot(title="voicetui replay")


def main() -> None:
    """Draw them all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "replay.svg").write_text(asyncio.run(draw_replay()), "utf-8")
    for name in PICTURES:
        (FOLDER / f"{name}.svg").write_text(asyncio.run(draw(name)), "utf-8")
    (FOLDER / "compare.svg").write_text(asyncio.run(draw_comparison()), "utf-8")


if __name__ == "__main__":
    main()
