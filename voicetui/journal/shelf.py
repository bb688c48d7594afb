"""Keeping order among recorded sessions: tags, the trash, and which ones are kept."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from voicetui.events.session import SessionOpened
from voicetui.journal.append import JOURNAL_NAME, being_written
from voicetui.journal.atomic import write_private
from voicetui.journal.codec import LineError, decode
from voicetui.journal.recorded import RecordedError, session_folders

TAGS_NAME: Final = "tags.json"
TRASH_NAME: Final = ".trash"
SAMPLE: Final = "sample-"
"""How the names of shipped sessions begin; what is cleared away by itself is never one of them."""
_LONGEST_TAG: Final = 40
_HEAD_BYTES: Final = 1 << 16


# ---- tags


def read_tags(folder: Path) -> tuple[str, ...]:
    """The session's tags, in order. A file that cannot be read has none."""
    try:
        tags = msgspec.json.decode((folder / TAGS_NAME).read_bytes(), type=list[str])
    except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return ()
    return tuple(sorted({tag for tag in tags if _is_tag(tag)}))


def change_tags(folder: Path, add: Iterable[str] = (), remove: Iterable[str] = ()) -> tuple[str, ...]:
    """Add and remove tags; the tags then. The journal stays as it is. Raises ``RecordedError``."""
    add, gone = tuple(add), {each.casefold() for each in remove}
    for tag in add:
        if not _is_tag(tag):
            raise RecordedError(
                f"{tag!r} is no tag: one word of at most {_LONGEST_TAG} letters, digits or signs, without a comma."
            )
    tags = {tag.casefold(): tag for tag in (*add, *read_tags(folder)) if tag.casefold() not in gone}
    path = folder / TAGS_NAME
    try:
        if tags:
            write_private(path, msgspec.json.encode(sorted(tags.values())) + b"\n")
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise RecordedError(f"{path} cannot be written: {error.strerror or error}. Check the permissions.") from error
    return tuple(sorted(tags.values()))


def _is_tag(tag: str) -> bool:
    return 0 < len(tag) <= _LONGEST_TAG and tag.isprintable() and not re.search(r"[\s,]", tag) and tag[0] != "-"


# ---- trash


def trash_of(recordings: Path) -> Path:
    """Where sessions go that are thrown away."""
    return recordings / TRASH_NAME


def trash_session(folder: Path, recordings: Path) -> Path:
    """Move a session to the trash; where it is now. Raises ``RecordedError``."""
    if folder.absolute().parent.resolve() != recordings.resolve():
        raise RecordedError(f"{folder} is not in {recordings}, whose trash this is. Remove that folder yourself.")
    if being_written(folder):
        raise RecordedError(f"{folder.name} is being written. End that session first.")
    return _move(folder, trash_of(recordings))


def trashed(recordings: Path) -> list[Path]:
    """The sessions in the trash, oldest first by name."""
    trash = trash_of(recordings)
    return [] if trash.is_symlink() else session_folders(trash)


def restore_session(called: str, recordings: Path) -> Path:
    """Bring a session back from the trash, by its name or the beginning of that; where it is. Raises
    ``RecordedError``.
    """
    known = trashed(recordings)
    alike = [folder for folder in known if folder.name == called]
    alike = alike or [folder for folder in known if called and folder.name.startswith(called)]
    if len(alike) != 1:
        many = f"begins the names of {len(alike)} sessions" if alike else "is no session"
        names = ", ".join(folder.name for folder in (alike or known)[:5]) or "nothing"
        raise RecordedError(f"{called} {many} in the trash. There: {names}.")
    if (recordings / alike[0].name).exists():
        raise RecordedError(f"{recordings / alike[0].name} exists, so it is not brought back. Rename that one first.")
    return _move(alike[0], recordings)


def empty_trash(recordings: Path) -> int:
    """Delete what is in the trash for good; how many sessions that were. Raises ``RecordedError``."""
    trash, count = trash_of(recordings), len(trashed(recordings))
    try:
        if trash.is_symlink():
            raise RecordedError(f"{trash} is a link. Remove it yourself.")
        if trash.is_dir():
            shutil.rmtree(trash)
    except OSError as error:
        raise RecordedError(f"{trash} cannot be emptied: {error.strerror or error}. Check its permissions.") from error
    return count


def _move(folder: Path, to: Path) -> Path:
    try:
        to.mkdir(mode=0o700, exist_ok=True)
        place, number = to / folder.name, 2
        while place.exists() or place.is_symlink():
            place, number = to / f"{folder.name}-{number}", number + 1
        return folder.rename(place)
    except OSError as error:
        raise RecordedError(f"{folder} cannot be moved to {to}: {error.strerror or error}.") from error


# ---- what is kept


def started_by_name(name: str) -> datetime | None:
    """When a session began, by its folder's name."""
    match = re.match(r"\d{8}T\d{6}Z", name)
    try:
        return datetime.strptime(match[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) if match is not None else None
    except ValueError:
        return None


def started_of(folder: Path) -> datetime | None:
    """When a session began: by its name, else by its first lines; None where neither tells."""
    named = started_by_name(folder.name)
    if named is not None:
        return named
    try:
        with (folder / JOURNAL_NAME).open("rb") as file:
            lines = file.read(_HEAD_BYTES).split(b"\n")[:4]
    except OSError:
        return None
    for line in lines:
        try:
            body = getattr(decode(line), "body", None)
            if isinstance(body, SessionOpened):
                return datetime.fromisoformat(body.started_utc).astimezone(UTC)
        except (LineError, ValueError, OverflowError):
            continue
    return None


def outlived(recordings: Path, keep: int | None, keep_days: float | None, now: datetime) -> list[Path]:
    """The sessions to be thrown away so that at most ``keep`` stay, and none older than ``keep_days``.

    Never one that has a tag, is being written or shipped, or whose age is not known; such ones do not count as kept.
    """
    dated: list[tuple[datetime, Path]] = []
    for folder in session_folders(recordings):
        started = started_of(folder)
        spared = read_tags(folder) or folder.name.startswith(SAMPLE) or being_written(folder)
        if started is not None and not spared:
            dated.append((started, folder))
    newest_first = [folder for _, folder in sorted(dated, key=lambda each: (each[0], each[1].name), reverse=True)]
    beyond = set(newest_first[keep:]) if keep is not None else set()
    oldest = now - timedelta(days=keep_days) if keep_days is not None else None
    aged = {folder for started, folder in dated if oldest is not None and started < oldest}
    return sorted(beyond | aged)


def clear_away(folders: Sequence[Path], recordings: Path) -> list[Path]:
    """Move sessions to the trash; those that were moved. One that cannot be is left where it is."""
    moved = []
    for folder in folders:
        try:
            trash_session(folder, recordings)
        except RecordedError:
            continue
        moved.append(folder)
    return moved
