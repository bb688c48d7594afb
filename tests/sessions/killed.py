"""Run the demo and kill this very process in the middle of a reply, as a power cut would. Arguments: configuration,
turn.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import msgspec

from voicetui.config import assets, load_config
from voicetui.events.speak import ClauseStarted
from voicetui.rehearse.scenario import load_scenario
from voicetui.wiring import Choice, converse, wire


async def main(config: str, turn: int) -> None:
    scenario = msgspec.structs.replace(load_scenario(assets() / "scenarios" / "demo.toml"), impatient=())
    wired = wire(load_config(config)[0], Choice("demo", output="null", scenario=scenario, max_tokens=24))
    feed, told = wired.session.on_entries, 0

    def watch() -> None:
        nonlocal told
        feed()
        entries = wired.journal.entries_since(told)
        told += len(entries)
        for entry in entries:
            if isinstance(entry.body, ClauseStarted) and entry.body.basis.turn == turn:
                print(wired.clock.now_ms(), flush=True)
                os.kill(os.getpid(), signal.SIGKILL)

    wired.session.on_entries = watch
    await converse(wired)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
