"""A call recorded elsewhere becomes a session's folder: two tracks and a journal."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from voicetui.journal.append import Journal, JournalWriter
from voicetui.ports import SoundError
from voicetui.share.call_journal import Call, call_records, opened
from voicetui.share.call_sound import Sides, audible_stretches, listen, spoken_stretches, without_leak
from voicetui.share.call_turns import call_turns
from voicetui.share.crosstalk import UNDER_DB
from voicetui.sound.wav import WavWriter


@dataclass(frozen=True)
class Imported:
    """A session that came from a call. ``notes`` are sentences about what was wrong, or is not there."""

    folder: Path
    journal: Journal
    notes: tuple[str, ...]


def import_call(sides: Sides, folder: Path, started_utc: str, program: str) -> Imported:
    """Write ``folder``, which must not exist: user.wav, reply.wav and, last, the journal.

    Raises ``SoundError`` for a file that cannot be used, or in which nobody speaks; nothing is left behind then.
    """
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError as error:
        raise SoundError(f"{folder} exists already. Choose another name with --name") from error
    except OSError as error:
        raise SoundError(f"{folder} cannot be made: {error.strerror or error}. Choose another name") from error
    try:
        return _import(sides, folder, started_utc, program)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _import(sides: Sides, folder: Path, started_utc: str, program: str) -> Imported:
    user_track, reply_track = WavWriter(folder / "user.wav"), WavWriter(folder / "reply.wav")
    try:
        user = listen(sides.user, user_track)
        reply = listen(sides.reply, reply_track) if sides.reply is not None else None
        samples = max(user_track.end, reply_track.end)
        user_track.pad_to(samples)
        reply_track.pad_to(samples)
    finally:
        user_track.close()
        reply_track.close()
    if not user.edges and not (reply and reply.edges):
        raise SoundError(f"Nobody speaks in {sides.user.path}, as far as the detector can tell. Is it the right file?")
    leaks = []
    if sides.reply is not None and reply is not None:
        cleaner = without_leak(sides.user, user, reply), without_leak(sides.reply, reply, user)
        leaks = ["user's" if number == 0 else "reply's" for number, heard in enumerate(cleaner) if heard is not None]
        user, reply = cleaner[0] or user, cleaner[1] or reply
    notes = [*sides.notes, *(f"{each.opened.name}: {each.note}." for each in (user, reply) if each and each.note)]
    notes += ["Nobody speaks on the user's side; --swap exchanges the sides."] if not user.edges else []
    notes += [
        f"The other side leaks into the {side} channel: what is {UNDER_DB:.0f} dB below it was left out."
        for side in leaks
    ]
    notes += ["Nobody speaks on the reply's side."] if reply is not None and not reply.edges else []
    turns = call_turns(spoken_stretches(user), audible_stretches(reply) if reply is not None else [])
    call = Call(
        turns=turns, edges=user.edges, samples=samples, user=user.opened,
        reply=replace(reply.opened, role="output") if reply is not None else None,
    )  # fmt: skip
    files = [each.path.name for each in (sides.user, sides.reply) if each is not None]
    first = opened(folder.name, started_utc, program, dict.fromkeys(files), notes)
    lost: list[str] = []
    journal = Journal(JournalWriter(folder, program, folder.name, report=lost.append))
    for at_ms, record in call_records(first, call):
        journal.append(at_ms, record)
    journal.close()
    if lost:
        raise SoundError(lost[0])
    return Imported(folder, journal, tuple(notes))
