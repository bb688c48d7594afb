"""The recorded sessions at a glance. Reading them all takes seconds, so what was read is kept in the user's cache."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

import msgspec
import platformdirs

from voicetui import __version__
from voicetui.events import Entry
from voicetui.journal.append import JOURNAL_NAME, being_written
from voicetui.journal.atomic import write_private
from voicetui.journal.check import finished
from voicetui.journal.codec import FORMAT
from voicetui.journal.recorded import Recorded, RecordedError, open_recorded, session_folders
from voicetui.journal.shelf import read_tags, started_by_name
from voicetui.journal.tracks import STEMS
from voicetui.views.statistics import Stats
from voicetui.views.summary import SummaryView

State = Literal["finished", "cut short", "being written", "damaged", "unreadable"]
_LAYOUT: Final = 1
"""Raised with every change of ``Listed``, or of what is counted in it."""
_HARMLESS: Final = frozenset({"end", "torn", "unfinished", "unknown"})
"""What a session that was cut short, or is of a newer version, has wrong with it without being damaged."""
_LONGEST_MS: Final = 30 * 24 * 3.6e6


class Listed(msgspec.Struct, frozen=True):
    """A session in a row. What is not known is None.

    ``gap_ms`` are its real gaps, ``staged_gap_ms`` the staged ones; ``problems`` counts what ``check_session`` finds.
    """

    name: str
    folder: str
    state: State
    started_utc: str | None = None
    length_s: float | None = None
    tier: str = ""
    simulated: bool = False
    overlap: str = ""
    source: str = ""
    parent: str = ""
    turns: int = 0
    gap_ms: Stats = Stats(n=0)
    staged_gap_ms: Stats | None = None
    cut_offs: int = 0
    faults: int = 0
    problems: int = 0
    redacted: bool = False
    tags: tuple[str, ...] = ()
    size_bytes: int = 0


_Key = tuple[tuple[str, int, int], ...]
"""Name, size and time of change (ns) of every file of a session."""


class _Kept(msgspec.Struct, frozen=True):
    key: _Key
    listed: Listed


class _Cache(msgspec.Struct):
    made_by: str
    sessions: dict[str, _Kept]


def cache_file() -> Path:
    """Where the rows of sessions that were read before are kept."""
    return platformdirs.user_cache_path("voicetui") / "sessions.json"


def list_sessions(
    recordings: Path, cache: Path | None = None, told: Callable[[int, int], None] = lambda *_: None
) -> list[Listed]:
    """Every session in ``recordings``, oldest first by name. ``told`` hears how many of those to be read are done.

    ``cache`` None: nothing is kept. A cache that is broken or of another version is made anew. Raises
    ``RecordedError`` where the folder cannot be read.
    """
    folders = [folder.absolute() for folder in session_folders(recordings)]
    kept = _read_cache(cache)
    keys = {folder: _key(folder) for folder in folders}
    new = [folder for folder in folders if not _is_known(kept.get(str(folder)), keys[folder])]
    for done, folder in enumerate(new):
        told(done, len(new))
        kept[str(folder)] = _Kept(keys[folder], read_row(folder))
    if new:
        told(len(new), len(new))
    here = set(map(str, folders))
    gone = [name for name in kept if name not in here and not Path(name).is_dir()]
    for name in gone:
        del kept[name]
    if (new or gone) and cache is not None:
        _write_cache(cache, kept)
    return [_now(kept[str(folder)].listed, folder) for folder in folders]


def forget(folder: Path, cache: Path) -> None:
    """Take what is kept about a session out of the cache."""
    kept = _read_cache(cache)
    if kept.pop(str(folder.absolute()), None) is not None:
        _write_cache(cache, kept)


def size_on_disk(folder: Path) -> int:
    """Bytes of all files below ``folder``, as far as they can be seen."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(root) / name).lstat().st_size
    return total


def read_row(folder: Path) -> Listed:
    """The row of one session, read from its journal and the headers of its tracks; never raises for what it is."""
    try:
        recorded = open_recorded(folder)
    except RecordedError:
        return Listed(folder.name, str(folder), "unreadable", problems=1)
    opened = recorded.opened
    view = SummaryView()
    for entry in recorded.entries:
        view.feed(entry)
    figures = view.figures()
    return Listed(
        name=folder.name,
        folder=str(folder),
        state=_state(recorded),
        started_utc=_started(recorded),
        length_s=_length_s(recorded.entries),
        tier=figures.tier,
        simulated=figures.simulated,
        overlap=figures.overlap,
        source=opened.source if opened is not None else "",
        parent=opened.parent if opened is not None else "",
        turns=len(view.snapshot().turns),
        gap_ms=figures.gap_ms,
        staged_gap_ms=figures.staged_gap_ms,
        cut_offs=figures.cut_offs,
        faults=len(figures.faults),
        problems=len(recorded.problems),
        redacted=bool(recorded.redactions),
    )


def _state(recorded: Recorded) -> State:
    if recorded.written:
        return "being written"
    newer = recorded.header is not None and recorded.header.voicetui_journal > FORMAT
    harmless = _HARMLESS | {"header"} if newer else _HARMLESS
    if any(problem.kind not in harmless for problem in recorded.problems):
        return "damaged"
    return "finished" if finished(recorded.entries) else "cut short"


def _started(recorded: Recorded) -> str | None:
    text = recorded.opened.started_utc if recorded.opened is not None else ""
    try:
        started: datetime | None = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        started = started_by_name(recorded.name)
    return None if started is None else f"{started.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def _length_s(entries: Sequence[Entry]) -> float | None:
    """From the session clock's zero to the last entry whose time can be."""
    times = (entry.at for entry in reversed(entries))
    last_ms = next((at_ms for at_ms in times if math.isfinite(at_ms) and 0 <= at_ms < _LONGEST_MS), None)
    return None if last_ms is None else round(last_ms / 1e3, 3)


def _now(listed: Listed, folder: Path) -> Listed:
    """The row with what is looked up every time."""
    tags, size_bytes = read_tags(folder), size_on_disk(folder)
    written = being_written(folder)
    state: State = "being written" if written else "cut short" if listed.state == "being written" else listed.state
    return msgspec.structs.replace(listed, tags=tags, size_bytes=size_bytes, state=state)


def _is_known(kept: _Kept | None, key: _Key) -> bool:
    """Whether a row is as it was read. One read while the session was being written may have been over a moment later,
    with nothing more to write.
    """
    return kept is not None and kept.key == key and kept.listed.state != "being written"


def _key(folder: Path) -> _Key:
    return tuple(sorted(_files(folder)))


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
    try:
        with os.scandir(folder) as found:
            for each in found:
                if each.name == JOURNAL_NAME or each.name.split(".")[0] in STEMS:
                    stat = each.stat()
                    yield each.name, stat.st_size, stat.st_mtime_ns
    except OSError:
        return


def _made_by() -> str:
    return f"voicetui {__version__}, journal {FORMAT}, rows {_LAYOUT}"


def _read_cache(cache: Path | None) -> dict[str, _Kept]:
    if cache is None:
        return {}
    try:
        read = msgspec.json.decode(cache.read_bytes(), type=_Cache)
    except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}
    return read.sessions if read.made_by == _made_by() else {}


def _write_cache(cache: Path, kept: dict[str, _Kept]) -> None:
    with suppress(OSError):  # it only saves time
        cache.parent.mkdir(parents=True, exist_ok=True)
        write_private(cache, msgspec.json.encode(_Cache(_made_by(), kept)))
