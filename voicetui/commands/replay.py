"""Open a recorded session: scrub it, listen to it, look into it.

Without a flag it is shown as it was. Each flag of ``WAYS`` does something else with the same recording, in a file of
its own: ``voicetui/commands/replay_<way>.py``, whose docstring's first line is the flag's help, with
``add_arguments(parser)`` for options of its own and ``command(arguments) -> int``.
"""

from __future__ import annotations

import argparse
import importlib
from types import ModuleType

WAYS: tuple[str, ...] = ("rerun",)
"""The flags there are, of which one can be given."""
_VIEW = "view"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The session, one flag for each way, and what the ways take."""
    parser.add_argument(
        "session", metavar="SESSION", help='its folder, its name or the beginning of that, or "latest" for the newest'
    )
    parser.add_argument("--json", metavar="FILE", default=None, help="write what comes out there (without a screen)")
    flags = parser.add_mutually_exclusive_group() if WAYS else parser
    for way in WAYS:
        summary = (_part(way).__doc__ or "").partition("\n")[0].rstrip(".")
        flags.add_argument(f"--{way}", dest="way", action="store_const", const=way, default=_VIEW, help=summary)
    for way in (_VIEW, *WAYS):
        _part(way).add_arguments(parser)
    parser.set_defaults(way=_VIEW)


def command(arguments: argparse.Namespace) -> int:
    """Show the session, or what the flag says; the exit status."""
    return int(_part(arguments.way).command(arguments))


def _part(way: str) -> ModuleType:
    return importlib.import_module(f"voicetui.commands.replay_{way}")
