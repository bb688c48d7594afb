"""A session on the screen: the engine on its own thread, the screen on this one."""

from __future__ import annotations

from voicetui.config import Config
from voicetui.rehearse.scenario import Scenario
from voicetui.tui.app import ScreenOptions, VoiceTui
from voicetui.wiring import Choice, load_clips, make_engine


def show(config: Config, choice: Choice, notice: str, present: bool = False) -> int:
    """Open the screen and run the session until the user quits; the exit status."""
    sounds = load_clips(choice.scenario) if isinstance(choice.scenario, Scenario) else None
    engine = make_engine(config, choice, sounds)
    options = ScreenOptions(
        title=choice.scenario.title if choice.scenario is not None else "live",
        notice=notice,
        typed_only=not choice.microphone,
        present=present,
        tiers=tuple(tier.name for tier in config.tiers),
    )
    engine.start()
    app = VoiceTui(engine, options)
    app.run()
    if engine.failure is not None:
        raise engine.failure
    return app.return_code or 0
