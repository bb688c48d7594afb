"""Make a session of a call that was recorded elsewhere.

Who spoke when is all that its journal holds: gaps, overlaps and interruptions can be seen and compared, stages and
words cannot. ``voicetui/share/call_turns.py`` says how turns are told apart.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The files, and what to call the session."""
    parser.add_argument(
        "call", metavar="CALL", help="a stereo recording, the user left and the reply right; or the user's side alone"
    )
    parser.add_argument("--reply", metavar="FILE", default=None, help="the reply's side, where it is a file of its own")
    parser.add_argument("--swap", action="store_true", default=False, help="the sides are the other way round")
    parser.add_argument("--name", metavar="N", default=None, help="what to call the session (default: its date)")


def command(arguments: argparse.Namespace) -> int:
    """Import it and say where it is; the exit status."""
    from voicetui import __version__
    from voicetui.config import load_config, recordings_folder
    from voicetui.events.orders import IMPORTED
    from voicetui.journal.append import session_folder
    from voicetui.runtime.clock import wall_utc
    from voicetui.share.call_sound import find_sides
    from voicetui.share.imported import import_call
    from voicetui.views.summary import SummaryView

    name = arguments.name
    if name is not None and not re.fullmatch(r"\w[\w.+-]{0,99}", name):
        print(f"voicetui: {name!r} is no name for a session: use letters, digits, - . _ and +.", file=sys.stderr)
        return 2
    recordings = recordings_folder(load_config(arguments.config)[0])
    now = wall_utc()
    folder = recordings / name if name is not None else session_folder(recordings, now, IMPORTED)
    reply = Path(arguments.reply).expanduser() if arguments.reply is not None else None
    sides = find_sides(Path(arguments.call).expanduser(), reply, arguments.swap)
    print(f"listening to {sides.user.path}", file=sys.stderr)
    imported = import_call(sides, folder, f"{now:%Y-%m-%dT%H:%M:%SZ}", f"voicetui {__version__}")
    for note in imported.notes:
        print(f"voicetui: {note}", file=sys.stderr)
    view = SummaryView()
    for entry in imported.journal.entries_since(0):
        view.feed(entry)
    summary = view.snapshot()
    gap = summary.gap_ms
    middle = f"gap p50 {gap.p50:.0f} ms, n = {gap.n}" if gap.p50 is not None else "no gap"
    print(
        f"turns: {len(summary.turns)}, {middle}, collisions: {summary.collisions}; computed from the sound alone",
        file=sys.stderr,
    )
    print(imported.folder)
    return 0
