"""Take sound and words out of a recorded session, for good."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voicetui.journal.redact import Plan

_LARGE_BYTES = 1_000_000
"""A journal from here on takes more than a second to look through."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The session, and what is to go."""
    parser.add_argument("session", metavar="SESSION", help='its folder, its name or the beginning of that, or "latest"')
    parser.add_argument(
        "--from",
        dest="start_s",
        type=_seconds,
        metavar="S",
        default=None,
        help="seconds on the session's clock, or m:ss",
    )
    parser.add_argument("--to", dest="end_s", type=_seconds, metavar="S", default=None, help="until then")
    parser.add_argument(
        "--track",
        choices=("user", "reply", "both"),
        default="both",
        help="whose sound and words: what the microphone heard, what the speaker played, or both (default)",
    )
    parser.add_argument(
        "--text",
        nargs="+",
        metavar="WORDS",
        default=[],
        help="words or phrases to go wherever they are said or written, each quoted",
    )
    parser.add_argument(
        "--keep-sound", action="store_true", default=False, help="with --text: leave the sound in which they are heard"
    )
    parser.add_argument("--dry-run", action="store_true", default=False, help="show what would go, and change nothing")


def command(arguments: argparse.Namespace) -> int:
    """Redact, and prove it; the exit status."""
    from voicetui.config import load_config, recordings_folder
    from voicetui.journal.append import JOURNAL_NAME
    from voicetui.journal.blotting import Wanted
    from voicetui.journal.listing import cache_file, forget
    from voicetui.journal.recorded import find_session
    from voicetui.journal.redact import carry_out, is_mark, plan_redaction, same_session
    from voicetui.journal.shelf import trashed
    from voicetui.runtime.clock import wall_utc

    wrong = _wrong(arguments)
    wrong = wrong or next((f"--text {each!r} has no words" for each in arguments.text if is_mark(each)), "")
    if wrong:
        print(f"voicetui: {wrong}.", file=sys.stderr)
        return 2
    start_ms, end_ms = (None if each is None else each * 1e3 for each in (arguments.start_s, arguments.end_s))
    wanted = Wanted(start_ms, end_ms, arguments.track, tuple(arguments.text), not arguments.keep_sound)
    recordings = recordings_folder(load_config(arguments.config)[0])
    folder = find_session(arguments.session, recordings)
    copies = [each for each in trashed(recordings) if each != folder and same_session(folder, each)]
    if (folder / JOURNAL_NAME).stat().st_size > _LARGE_BYTES:
        print(f"Looking through {folder.name} …", file=sys.stderr)
    at_utc = f"{wall_utc():%Y-%m-%dT%H:%M:%SZ}"
    plans = [plan_redaction(each, wanted, at_utc) for each in (folder, *copies)]
    if all(plan.empty for plan in plans):
        print(f"{folder.name}: nothing of that is there, so nothing was changed.", file=sys.stderr)
        return 0
    status = 0
    for plan in plans:
        _tell(plan, shown=arguments.dry_run)
        if arguments.dry_run:
            continue
        proof = carry_out(plan)
        forget(plan.folder, cache_file())
        print(f"gone from {proof.clean} files of {_called(plan, recordings)}")
        for each in proof.left:
            print(f"NOT gone: {each}")
            status = 1
    _tell_relatives(folder, recordings)
    if arguments.dry_run:
        print("Nothing was changed.", file=sys.stderr)
    return status


def _wrong(arguments: argparse.Namespace) -> str:
    if (arguments.start_s is None) != (arguments.end_s is None):
        return "--from and --to go together"
    if arguments.start_s is None and not arguments.text:
        return "say what is to go: --from S --to S, --text WORDS, or both"
    if arguments.start_s is not None and arguments.start_s >= arguments.end_s:
        return f"--from {arguments.start_s:g} is not before --to {arguments.end_s:g}"
    return ""


def _tell(plan: Plan, shown: bool) -> None:
    """What goes; the texts themselves only where nothing is changed."""
    from voicetui.tui.literal import literal

    if shown:
        for change in plan.changes:
            print(literal(f"line {change.line} {change.record}: {change.before!r} -> {change.after!r}"))
    for stem, spans in plan.spans.items():
        for start, end in spans:
            print(f"{stem}.wav: silence from {start / 16_000:.3f} to {end / 16_000:.3f} s of the track")
    others = sorted(set(plan.files) - {"journal.jsonl"})
    print(f"journal.jsonl: {plan.lines} lines{''.join(f'; {name}' for name in others)}")
    if plan.unreadable:
        print(f"{plan.unreadable} damaged lines go whole: what they say cannot be told.", file=sys.stderr)
    if plan.short:
        print(
            f"{plan.short} texts of one or two words went where they were said; "
            "the same words are not looked for elsewhere.",
            file=sys.stderr,
        )


def _called(plan: Plan, recordings: Path) -> str:
    return plan.folder.name if plan.folder.parent.name != ".trash" else f"its copy in {recordings / '.trash'}"


def _tell_relatives(folder: Path, recordings: Path) -> None:
    """Sessions in which this one's microphone was heard again hold its words, too."""
    from voicetui.journal.listing import cache_file, list_sessions
    from voicetui.journal.redact import session_name
    from voicetui.tui.literal import literal

    names = {folder.name, session_name(folder)} - {""}
    for row in list_sessions(recordings, cache_file()):
        if row.parent in names and row.name != folder.name:
            print(f"{literal(row.name)} was made from this session's sound: redact it, too.", file=sys.stderr)


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,7}(?:\.\d{1,6})?)", text, re.ASCII)
    if match is None:
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: seconds such as 63.5, or 1:03.5")
    hours, minutes, seconds = match.groups()
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds)
