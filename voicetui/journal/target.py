"""Where files that are made from a session may go."""

from __future__ import annotations

import os
from pathlib import Path

from voicetui.journal.append import JOURNAL_NAME


def target_refused(path: Path) -> str:
    """Why no file is written at ``path``, as a sentence with what to do; "" where nothing speaks against it.

    A session's own files stand for what happened: nothing is written among them, not through a link either.
    """
    try:
        if not path.parent.is_dir():
            return f"{path}: its folder does not exist. Create it, or name another file."
        if path.is_dir():
            return f"{path} is a folder. Name a file in it."
        folders = (path.parent, path.resolve().parent)
        if any((folder / JOURNAL_NAME).exists() for folder in folders):
            return f"{path} lies among a session's own files, which are never touched. Name a file elsewhere."
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            return f"{path} may not be written by you. Name a file elsewhere."
    except PermissionError:
        return f"{path}: its folder may not be looked into by you. Name a file elsewhere."
    except (OSError, RuntimeError, ValueError) as error:
        return f"{path} is no name for a file: {error}. Name another one."
    return ""
