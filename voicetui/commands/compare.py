"""Compare recorded sessions turn by turn, each with the first."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from voicetui.streams import no_screen
from voicetui.talk import say

if TYPE_CHECKING:
    from voicetui.bench.compared import Compared
    from voicetui.journal.recorded import Recorded
    from voicetui.views.compare import Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sessions, and in which form the comparison is wanted."""
    parser.add_argument(
        "sessions", nargs="+", metavar="SESSION", help="two or more: a name, its beginning, a folder, or latest"
    )
    parser.add_argument("--json", metavar="FILE", default=None, help="write the comparison there (- for stdout)")
    parser.add_argument(
        "--screen", "--tui", action="store_true", default=False, help="open a screen: both timelines under one axis"
    )
    parser.add_argument("--words", action="store_true", default=False, help="show the texts where they differ, too")


def command(arguments: argparse.Namespace) -> int:
    """Compare and print, or show. Raises ``RecordedError`` for what is no session."""
    from voicetui.bench.compared import compare_all, compared_json
    from voicetui.commands.compare_text import comparison_rows, show_rows
    from voicetui.config import load_config, recordings_folder
    from voicetui.journal.recorded import find_session, open_recorded
    from voicetui.views.compare import fold_session

    refusal = _refusal(arguments)
    if refusal:
        print(f"voicetui: {refusal}", file=sys.stderr)
        return 2
    recordings = recordings_folder(load_config(arguments.config)[0])
    opened = [open_recorded(find_session(called, recordings)) for called in arguments.sessions]
    for each in opened:
        for problem in each.problems:
            say(f"{each.name}: {problem.told}")
        if each.redactions:
            print(f"{each.name} was redacted: its words, and what pairs by them, are not all there.", file=sys.stderr)
        if each.written:
            print(f"{each.name} is still being written: it is compared as far as it has come.", file=sys.stderr)
    sessions = [fold_session(each.name, each.entries) for each in opened]
    found = compare_all(sessions)
    if arguments.json is not None:
        text = json.dumps(compared_json(sessions, found), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        if arguments.json == "-":
            sys.stdout.write(text)
            return 0
        try:
            Path(arguments.json).write_text(text, "utf-8")
        except OSError as error:
            print(f"voicetui: {arguments.json}: {error.strerror or error}. Name another file.", file=sys.stderr)
            return 1
    if arguments.screen:
        return _screen(opened, sessions, found)
    width = max(80, min(shutil.get_terminal_size((100, 24)).columns, 160))
    show_rows(comparison_rows(sessions, found, width, arguments.words), sys.stdout, width)
    return 0


def _refusal(arguments: argparse.Namespace) -> str:
    """What is wrong with the call itself."""
    from voicetui.journal.target import target_refused

    if not 2 <= len(arguments.sessions) <= 26:
        return "compare takes two sessions or more, up to 26. `voicetui sessions` lists those there are."
    wrong = target_refused(Path(arguments.json)) if arguments.json not in (None, "-") else ""
    if wrong:
        return wrong
    if arguments.screen and (why := no_screen()):
        return f"{why} Leave out --screen: the comparison is printed."
    return ""


def _screen(opened: Sequence[Recorded], sessions: Sequence[Session], found: Sequence[Compared]) -> int:
    """Show the comparison on a screen until its user leaves."""
    from voicetui.commands.compare_sound import sound_trace
    from voicetui.commands.compare_text import comparison_rows
    from voicetui.tui.compare_app import run_compare
    from voicetui.tui.compared import ComparedView, Side

    sides = [
        Side(chr(ord("A") + place), session, sound_trace(each))
        for place, (each, session) in enumerate(zip(opened, sessions, strict=True))
    ]
    views = [ComparedView(each, sides[0], other) for each, other in zip(found, sides[1:], strict=True)]
    return run_compare(views, lambda width: comparison_rows(sessions, found, width, True))
