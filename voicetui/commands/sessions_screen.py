"""The recorded sessions as a screen; what is opened there is replayed, and then the screen is there again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from voicetui.commands import replay
from voicetui.journal.listing import Listed, cache_file, list_sessions
from voicetui.journal.recorded import RecordedError
from voicetui.journal.shelf import change_tags, restore_session, trash_session, trashed
from voicetui.journal.sift import Order, Wanted
from voicetui.streams import no_screen
from voicetui.talk import say
from voicetui.tui.sessions_app import run_sessions


class RecordingsShelf:
    """The sessions of one folder, as the screen gets at them."""

    def __init__(self, recordings: Path, wanted: Wanted) -> None:
        self._recordings = recordings
        self._wanted = wanted

    def look(self) -> Sequence[Listed]:
        """Those that are wanted. Raises ``RecordedError``."""
        return [row for row in list_sessions(self._recordings, cache_file()) if self._wanted.has(row)]

    def in_trash(self) -> int:
        """How many are in the trash."""
        return len(trashed(self._recordings))

    def tag(self, row: Listed, add: Sequence[str], remove: Sequence[str]) -> None:
        """Change the tags of a session. Raises ``RecordedError``."""
        change_tags(Path(row.folder), add, remove)

    def trash(self, row: Listed) -> str:
        """Throw a session away; its name in the trash. Raises ``RecordedError``."""
        return trash_session(Path(row.folder), self._recordings).name

    def restore(self, name: str) -> None:
        """Bring it back. Raises ``RecordedError``."""
        restore_session(name, self._recordings)


def show(recordings: Path, wanted: Wanted, order: Order, config: str | None) -> int:
    """Show the screen until its user leaves; the exit status."""
    if why := no_screen():
        say(f"voicetui: {why} Leave out --screen.")
        return 2
    shelf, chosen = RecordingsShelf(recordings, wanted), ""
    shelf.look()
    while True:
        status, opened = run_sessions(shelf, order, chosen)
        if opened is None:
            return status
        chosen = opened.name
        parser = argparse.ArgumentParser()
        replay.add_arguments(parser)
        arguments = parser.parse_args([opened.folder])
        arguments.config = config
        try:
            replay.command(arguments)
        except RecordedError as error:  # told where the screen was, and again by its row; the screen comes back
            print(f"voicetui: {error}", file=sys.stderr)
