"""Show a recorded session as it was, on the screen or as lines."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from voicetui.streams import no_screen
from voicetui.talk import say

if TYPE_CHECKING:
    from voicetui.journal.recorded import Recorded


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What showing takes."""
    parser.add_argument(
        "--headless", action="store_true", default=False, help="no screen: one line for each turn, then the figures"
    )
    parser.add_argument("--present", action="store_true", default=False, help="presenter mode: one big number")


def command(arguments: argparse.Namespace) -> int:
    """Open it; the exit status."""
    from voicetui.config import load_config, recordings_folder
    from voicetui.journal.recorded import find_session, open_recorded

    json_file = Path(arguments.json) if arguments.json else None
    config = load_config(arguments.config)[0]
    folder = find_session(arguments.session, recordings_folder(config))
    if arguments.headless or json_file is not None:
        return _tell(open_recorded(folder), json_file)
    from voicetui.serve import served

    if not served() and (why := no_screen()):
        say(f"voicetui: {why} Use --headless.")
        return 2
    from voicetui.replaying import show_replay

    return show_replay(config, folder, arguments.present)


def _tell(recorded: Recorded, json_file: Path | None) -> int:
    """Print what a session without a screen would have printed."""
    from voicetui.headless import Teller, tell_figures, write_summary
    from voicetui.tui.literal import literal
    from voicetui.views.summary import summarise

    print(f"replay of {recorded.name}, {recorded.folder}", file=sys.stderr)
    if recorded.redactions:
        print("redacted: words or sound were taken out of it", file=sys.stderr)
    for problem in recorded.problems:
        print(literal(problem.told), file=sys.stderr)
    summary = summarise(recorded.entries)
    Teller(lambda first: recorded.entries[first:], sys.stdout, sys.stderr, lambda: summary).tell()
    tell_figures(summary, sys.stderr)
    if json_file is not None:
        try:
            write_summary(summary, json_file)
        except OSError as error:
            print(f"voicetui: {json_file}: {error.strerror or error}. Name another file.", file=sys.stderr)
            return 1
    return 0
