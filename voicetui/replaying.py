"""A recorded session on the screen, and on the speaker where there is one."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from voicetui.config import Config
from voicetui.rehearse.open_tape import open_tape
from voicetui.rehearse.replay_tape import Tape
from voicetui.rehearse.tape_sound import TapeSound
from voicetui.runtime.clock import SystemClock
from voicetui.runtime.heap import settled
from voicetui.sound.speaker import DeviceSpeaker
from voicetui.tui.options import ScreenOptions
from voicetui.tui.replay_app import ReplayTui
from voicetui.tui.run import run_screen


def show_replay(config: Config, folder: Path, present: bool = False) -> int:
    """Open the screen on a recorded session until the user leaves; the exit status. Raises ``RecordedError``."""
    clock = SystemClock()
    tape = open_tape(folder, clock.now_ms)
    sound = _sound(tape, clock, config)
    options = ScreenOptions(title=folder.name, notice=problems_text(tape.problems), present=present)
    with settled():
        if sound is not None:
            sound.start()
        try:
            return run_screen(tape, options, make_app=partial(ReplayTui, tape, options))
        finally:
            if sound is not None:
                sound.close()


def problems_text(problems: tuple[str, ...]) -> str:
    """The first of what could not be read, in a sentence; "" where everything could."""
    if not problems:
        return ""
    more = f", and {len(problems) - 1} more: w shows them" if len(problems) > 1 else ""
    return f"Not all of it could be read: {problems[0]}{more}."


def _sound(tape: Tape, clock: SystemClock, config: Config) -> TapeSound | None:
    """Who plays it; None where the session has no sound."""
    if not any(track.end for track in tape.tracks.values()) and not tape.growing:
        tape.silent = "the session has none"
        return None
    return TapeSound(tape, clock, lambda lost: DeviceSpeaker(clock, config.audio.output, on_lost=lost))
