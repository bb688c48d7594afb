"""Commands that work on recorded sessions, one file each.

Such a file has a docstring whose first line is the command's help, ``add_arguments(parser)`` and
``command(arguments) -> int``, the exit status. It imports what it needs inside its functions, so that ``--help`` is
quick. What goes wrong is raised as an error that ``voicetui.cli.run`` tells in one sentence.
"""

from __future__ import annotations

import keyword

NAMES: tuple[str, ...] = ("replay", "compare", "report", "export", "import", "sessions", "redact")
"""The commands there are, in the order ``voicetui --help`` shows them; each is a file of that name, see ``module``."""


def module(name: str) -> str:
    """The module of a command; a name that Python keeps for itself has an underscore behind it in its file's name."""
    return f"{__name__}.{name}_" if keyword.iskeyword(name) else f"{__name__}.{name}"
