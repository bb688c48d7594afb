"""One self-contained HTML file about recorded sessions, to be given to others."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


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

    recordings = recordings_folder(load_config(arguments.config)[0])
    folders = list(dict.fromkeys(find_session(called, recordings).resolve() for called in arguments.sessions))
    path = Path(arguments.output or f"{folders[0].name}.html").expanduser()
    try:
        check_target(path, MARK)
    except WriteError as error:
        print(f"voicetui: {error}", file=sys.stderr)
        return 2
    facts = [fold_session(open_recorded(folder), without_secrets) for folder in folders]
    sounds = []
    for folder in folders if arguments.audio else []:
        print(f"Compressing the sound of {folder.name} …", file=sys.stderr)
        sounds.append(session_sound(folder))
    page = report_html(facts, f"voicetui {__version__}", sounds).encode()
    try:
        write_whole(path, page, MARK)
    except WriteError as error:
        print(f"voicetui: {error}", file=sys.stderr)
        return 1
    for problem in (problem for each in facts for problem in each.problems[:3]):
        print(f"journal line {problem.line}: {problem.message}", file=sys.stderr)
    voices = ", voices included: give it only to whom they may be given" if sounds else ""
    print(f"{len(page) / 1e6:.2f} MB{voices}", file=sys.stderr)
    print(path)
    return 0
