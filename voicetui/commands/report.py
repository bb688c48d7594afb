"""One self-contained HTML file about recorded sessions, to be given to others."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from voicetui.talk import say

if TYPE_CHECKING:
    from voicetui.journal.recorded import Recorded
    from voicetui.share.report_overview import Against

_MOST_COMPARED = 26
"""As many as there are letters to call them by."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Sessions, the file, and whether it holds the voices."""
    parser.add_argument(
        "sessions",
        nargs="+",
        metavar="SESSION",
        help='its folder, its name or the beginning of that, or "latest"; several are put side by side',
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE.html",
        default=None,
        help="the file to write (default: the session's name here); only an earlier report is written over",
    )
    parser.add_argument(
        "--audio", action="store_true", default=False, help="let it hold both voices too, to be listened to (larger)"
    )


def command(arguments: argparse.Namespace) -> int:
    """Write the report and print where it is; the exit status."""
    from voicetui import __version__
    from voicetui.config import load_config, recordings_folder, without_secrets
    from voicetui.journal.recorded import find_session, open_recorded
    from voicetui.share.report_page import MARK, report_html
    from voicetui.share.report_sound import session_sound
    from voicetui.share.session_facts import fold_session
    from voicetui.share.writing import WriteError, check_target, write_whole

    if arguments.output == "-":
        print("voicetui: a report is a file: name one with -o FILE.html.", file=sys.stderr)
        return 2
    recordings = recordings_folder(load_config(arguments.config)[0])
    folders = list(dict.fromkeys(find_session(called, recordings).resolve() for called in arguments.sessions))
    path = Path(arguments.output or f"{folders[0].name}.html").expanduser()
    try:
        check_target(path, MARK)
    except WriteError as error:
        print(f"voicetui: {error}", file=sys.stderr)
        return 2
    opened = [open_recorded(folder) for folder in folders]
    facts = [fold_session(each, without_secrets) for each in opened]
    sounds = []
    for folder in folders if arguments.audio else []:
        print(f"Compressing the sound of {folder.name} …", file=sys.stderr)
        sounds.append(session_sound(folder))
    page = report_html(facts, f"voicetui {__version__}", sounds, _against(opened)).encode()
    try:
        write_whole(path, page, MARK)
    except WriteError as error:
        print(f"voicetui: {error}", file=sys.stderr)
        return 1
    for each in opened:
        for problem in each.problems:
            say(f"{each.name}: {problem.told}")
    voices = ", voices included: give it only to whom they may be given" if sounds else ""
    print(f"{len(page) / 1e6:.2f} MB{voices}", file=sys.stderr)
    print(path)
    return 0


def _against(opened: Sequence[Recorded]) -> list[Against]:
    """Each session against the first, as far as they are the same conversation."""
    from voicetui.bench.compared import compare_all
    from voicetui.share.report_overview import Against
    from voicetui.views.compare import fold_session

    if not 2 <= len(opened) <= _MOST_COMPARED:
        return []
    found = compare_all([fold_session(each.name, each.entries) for each in opened])
    return [Against(f"{each.labels[1]} against {each.labels[0]}", (*each.notes, each.aligned)) for each in found]
