"""Open a recorded session: scrub it, listen to it, look into it.

Without a flag it is shown as it was. Each flag of ``WAYS`` does something else with the same recording, in a file of
its own: ``voicetui/commands/replay_<way>.py``, whose docstring's first line is the flag's help, with
``add_arguments(parser)`` for options of its own and ``command(arguments) -> int``. By then it is known that ``--json``
names a file that may be written.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType

WAYS: tuple[str, ...] = ("redecide", "rerun")
"""The flags there are, of which one can be given."""
_VIEW = "view"
_OF_A_RERUN = ("tier", "overlap", "pace", "gap", "no_record", "speaker")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The session, one flag for each way, and what the ways take."""
    parser.add_argument(
        "session", metavar="SESSION", help='its folder, its name or the beginning of that, or "latest" for the newest'
    )
    parser.add_argument("--json", metavar="FILE", default=None, help="write what comes out there (without a screen)")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=None,
        help="another value than the recorded one, such as endpoint.silence_ms=400; may be given again",
    )
    flags = parser.add_mutually_exclusive_group()
    for way in WAYS:
        summary = (_part(way).__doc__ or "").partition("\n")[0].rstrip(".")
        flags.add_argument(f"--{way}", dest="way", action="store_const", const=way, default=_VIEW, help=summary)
    for way in (_VIEW, *WAYS):
        _part(way).add_arguments(parser)
    parser.set_defaults(way=_VIEW)


def command(arguments: argparse.Namespace) -> int:
    """Show the session, or what the flag says; the exit status."""
    of_a_rerun = [_option(name) for name in _OF_A_RERUN if getattr(arguments, name, None)]
    set_in_vain = arguments.way == _VIEW and bool(arguments.set)
    if arguments.way != "rerun" and (of_a_rerun or set_in_vain):
        given, ways = (of_a_rerun[-1], "--rerun") if of_a_rerun else ("--set", " or ".join(map(_option, WAYS)))
        print(f"voicetui: {given} changes nothing in what was recorded. Use it with {ways}.", file=sys.stderr)
        return 2
    wrong = _target_refused(arguments.json) if arguments.json else ""
    if wrong:
        print(f"voicetui: {wrong}", file=sys.stderr)
        return 2
    return int(_part(arguments.way).command(arguments))


def _target_refused(json_file: str) -> str:
    from voicetui.journal.target import target_refused

    if json_file == "-":
        return "--json takes a file, for stdout shows the session. Name one."
    return target_refused(Path(json_file))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _part(way: str) -> ModuleType:
    return importlib.import_module(f"voicetui.commands.replay_{way}")
