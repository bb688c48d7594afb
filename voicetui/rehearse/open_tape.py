"""A session on disk as a tape: finished, torn, or still being written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from voicetui.events import Entry
from voicetui.events.session import Ready
from voicetui.journal.append import being_written
from voicetui.journal.read import JournalReader
from voicetui.journal.recorded import Recorded, RecordedError, open_recorded
from voicetui.journal.track_sound import TrackSound
from voicetui.rehearse.replay_tape import Tape

BEHIND_MS = 1_000.0
"""How far behind its end a session is entered that is still being written."""


class Following:
    """What a session gains after it was opened, and what is wrong with it."""

    def __init__(self, recorded: Recorded) -> None:
        self._folder = recorded.folder
        self._seen = {entry.seq for entry in recorded.entries}
        self._reader = JournalReader(recorded.folder) if recorded.written else None
        self.problems = _told(recorded)
        """A sentence each. A last line that is not yet written to its end is none."""

    def poll(self) -> tuple[Sequence[Entry], bool]:
        """The entries that are new, and whether the session is still being written: if not, it is looked through once
        more, and there is nothing to come.
        """
        if self._reader is None:
            return (), False
        written = being_written(self._folder)
        try:
            new = self._reader.poll()
            if not written:
                self._reader = None
                whole = open_recorded(self._folder)
                new, self.problems = list(whole.entries), _told(whole)
        except (OSError, RecordedError) as error:
            self._reader, self.problems = None, (*self.problems, str(error))
            return (), False
        new = [entry for entry in new if entry.seq not in self._seen]
        self._seen.update(entry.seq for entry in new)
        return sorted(new, key=lambda entry: entry.seq), written


def _told(recorded: Recorded) -> tuple[str, ...]:
    return tuple(each.told for each in recorded.problems if not (recorded.written and each.kind == "torn"))


def open_tape(folder: Path, clock_ms: Callable[[], float]) -> Tape:
    """The session in ``folder``, at the moment it was ready; near its end and followed if it is being written.

    Raises ``RecordedError``.
    """
    recorded = open_recorded(folder)
    following = Following(recorded)
    tracks = TrackSound(folder, "user"), TrackSound(folder, "reply")
    poll = following.poll if recorded.written else None
    tape = Tape(clock_ms, recorded.entries, *tracks, poll, lambda: following.problems)
    tape.redacted = bool(recorded.redactions)
    if recorded.written:
        tape.seek(tape.length_ms - BEHIND_MS)
    else:
        tape.seek(next((tape.due_ms(at) for at, each in enumerate(tape.entries) if isinstance(each.body, Ready)), 0.0))
    return tape
