"""A session on the screen: the engine on its own thread, the screen on this one."""

from __future__ import annotations

from voicetui.config import Config
from voicetui.keeping import keep_house
from voicetui.runtime.heap import settled
from voicetui.talk import say
from voicetui.tui.options import ScreenOptions
from voicetui.tui.run import run_screen
from voicetui.wiring import Choice, load_clips, make_engine


def show(config: Config, choice: Choice, notice: str, present: bool = False) -> int:
    """Open the screen and run the session until the user quits; the exit status."""
    if choice.record:
        keep_house(config)
    sounds = load_clips(choice.scenario) if choice.scenario is not None else None
    engine, folder = make_engine(config, choice, sounds)
    options = ScreenOptions(
        title=choice.scenario.title if choice.scenario is not None else "live",
        notice=notice,
        typed_only=not choice.microphone,
        present=present,
        recorded=folder is not None,
        tiers=tuple(tier.name for tier in config.tiers),
    )
    if folder is not None:
        say(f"Recording this session in {folder} (--no-record turns that off).")
    with settled():
        engine.start()
        status = run_screen(engine, options, folder / "log.txt" if folder is not None else None)
    if engine.failure is not None:
        raise engine.failure
    return status
