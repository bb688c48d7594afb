"""Before a session is recorded: older ones go to the trash, where the configuration says how many are kept."""

from __future__ import annotations

import sys

from voicetui.config import Config, recordings_folder
from voicetui.journal.recorded import RecordedError
from voicetui.journal.shelf import clear_away, outlived
from voicetui.runtime.clock import wall_utc


def keep_house(config: Config) -> None:
    """Move to the trash what ``[record] keep`` and ``keep_days`` leave no room for, and say so on standard error.

    A folder that cannot be read, or a session that cannot be moved, stays as it is: the session that begins has other
    worries.
    """
    record = config.record
    if not record.on or (record.keep is None and record.keep_days is None):
        return
    recordings = recordings_folder(config)
    try:
        moved = clear_away(outlived(recordings, record.keep, record.keep_days, wall_utc()), recordings)
    except RecordedError:
        return
    if moved:
        names = moved[0].name + (f" and {len(moved) - 1} more" if len(moved) > 1 else "")
        sys.stderr.write(f"To the trash, by record.keep: {names}. `voicetui sessions restore` brings them back.\n")
