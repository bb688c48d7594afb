"""Open a recorded session: scrub it, listen to it, look into it.

Without a flag it is shown as it was. Each flag of ``WAYS`` does something else with the same recording, in a file of
its own: ``voicetui/commands/replay_<way>.py``, whose docstring's first line is the flag's help, with
``add_arguments(parser)`` for options of its own and ``command(arguments) -> int``.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from types import ModuleType

WAYS: tuple[str, ...] = ("redecide", "rerun")
"""The flags there are, of which one can be given."""
_VIEW = "view"
_OF_A_RERUN = ("tier", "overlap", "gap", "no_record", "speaker")


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
    given = [f"--{name.replace('_', '-')}" for name in ("set", *_OF_A_RERUN) if getattr(arguments, name, None)]
    if given and arguments.way == _VIEW:
        ways = " or ".join(f"--{way}" for way in WAYS) if given == ["--set"] else "--rerun"
        print(f"voicetui: {given[-1]} changes nothing in what was recorded. Use it with {ways}.", file=sys.stderr)
        return 2
    return int(_part(arguments.way).command(arguments))


def _part(way: str) -> ModuleType:
    return importlib.import_module(f"voicetui.commands.replay_{way}")
