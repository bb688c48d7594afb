"""What is wrong with a session on disk: its journal, its tracks, and how they fit together. Nothing is rewritten."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from voicetui.events import Entry
from voicetui.events.listen import SpeechPaused, SpeechStarted
from voicetui.events.session import SessionClosed, SessionOpened
from voicetui.events.sound import RATE_HZ, ClockMapped, DeviceOpened
from voicetui.journal.read import Problem, ReadJournal
from voicetui.journal.tracks import STEMS, Track, read_track

LEFT_OVER: Final = ".redacting"
"""How the names end of files that an interrupted redaction leaves."""
_FAR_MS: Final = 60_000.0
"""A time this far from those around it is out of place: sources tell of what was seconds ago at most."""
_JUMP_MS: Final = 1_000.0
"""How far the clock may be from the microphone's samples between two pairings 10 s apart; drift is under 10 ms."""
_SHORT_SAMPLES: Final = RATE_HZ // 2
"""A track may end this much before what the journal last tells of: what was being written then is lost with a kill."""
_LONG_SAMPLES: Final = 15 * RATE_HZ
"""A track may go on this long after the journal's last pairing: they come every 10 s."""
_NAMED: Final = 5
"""How many places of one kind are named one by one."""


def check_session(folder: Path, journal: ReadJournal, written: bool) -> tuple[Problem, ...]:
    """Every problem of the session in ``folder`` whose journal was read as ``journal``; ``written``: it goes on yet."""
    found = [
        *journal.problems,
        *_missing(journal),
        *_times(journal.entries),
        *_ends(journal.entries, written),
        *_left_over(folder),
        *_tracks(folder, journal.entries, written),
    ]
    return tuple(found)


def finished(entries: Sequence[Entry]) -> bool:
    """Whether a session ended in order."""
    return any(isinstance(entry.body, SessionClosed) for entry in entries[-3:])


def _missing(journal: ReadJournal) -> Iterator[Problem]:
    """Numbers that no entry has, nor one of a type that is not known."""
    known = sorted({entry.seq for entry in journal.entries} | set(journal.unknown))
    gaps = [(a + 1, b - 1) for a, b in zip([-1, *known], known, strict=False) if b > a + 1]
    for first, last in gaps[:_NAMED]:
        what = f"entry {first} is missing" if first == last else f"entries {first} to {last} are missing"
        yield Problem(0, "missing", what)
    if rest := gaps[_NAMED:]:
        lost = sum(last - first + 1 for first, last in rest)
        yield Problem(0, "missing", f"{lost} more entries are missing, at {len(rest)} places")


def _times(entries: Sequence[Entry]) -> Iterator[Problem]:
    """Entries without a time, or with one far from those around it; and where the clock left the samples."""
    at_ms = [entry.at for entry in entries]
    bad = [
        f"entry {entry.seq} has the time {_seconds(entry.at)}"
        for number, entry in enumerate(entries)
        if not math.isfinite(entry.at) or _is_far(at_ms, number)
    ]
    yield from (Problem(0, "time", f"{each}, far from those around it") for each in bad[:_NAMED])
    if len(bad) > _NAMED:
        yield Problem(0, "time", f"{len(bad) - _NAMED} more entries have a time far from those around them")
    before: tuple[float, int] | None = None
    for entry in entries:
        match entry.body:
            case DeviceOpened(role="input"):
                before = None
            case ClockMapped(sample=sample) if math.isfinite(entry.at):
                jump_ms = 0.0 if before is None else entry.at - before[0] - (sample - before[1]) * 1000 / RATE_HZ
                if abs(jump_ms) > _JUMP_MS:
                    way = "forward" if jump_ms > 0 else "back"
                    where = f"entry {entry.seq}: since the pairing before, the clock jumped {way} against the sound"
                    yield Problem(0, "time", f"{where}, by {abs(jump_ms) / 1e3:.1f} s")
                before = (entry.at, sample)
            case _:
                pass


def _is_far(at_ms: Sequence[float], number: int) -> bool:
    """Whether a time stands apart from those around it. The last may be as late as it likes."""
    if number == len(at_ms) - 1 and at_ms[number] >= max(at_ms[number - 1 : number], default=0.0):
        return False
    around = [each for each in at_ms[max(0, number - 3) : number + 4] if math.isfinite(each)]
    return len(around) >= 3 and abs(at_ms[number] - median(around)) > _FAR_MS and _alone(at_ms, number)


def _alone(at_ms: Sequence[float], number: int) -> bool:
    """Whether neither neighbour has nearly the same time: after hours without an entry the next ones are together."""
    beside = (*at_ms[max(0, number - 1) : number], *at_ms[number + 1 : number + 2])
    return all(not abs(at_ms[number] - each) <= _FAR_MS for each in beside)


def _seconds(at_ms: float) -> str:
    return f"{at_ms / 1e3:.1f} s" if math.isfinite(at_ms) else "null"


def _ends(entries: Sequence[Entry], written: bool) -> Iterator[Problem]:
    if entries and not any(isinstance(entry.body, SessionOpened) for entry in entries):
        yield Problem(0, "start", "the session's beginning is missing, and with it tier and settings")
    if entries and not written and not finished(entries):
        yield Problem(0, "end", "the session has no end: it was cut short")


def _left_over(folder: Path) -> Iterator[Problem]:
    for path in sorted(folder.glob(f"*{LEFT_OVER}")):
        yield Problem(0, "file", "left by a redaction that was interrupted: redact again", file=path.name)


def _tracks(folder: Path, entries: Sequence[Entry], written: bool) -> Iterator[Problem]:
    last = max((sample for entry in entries if (sample := _sample(entry)) is not None), default=None)
    mapped = max((entry.body.sample for entry in entries if isinstance(entry.body, ClockMapped)), default=None)
    tracks: list[Track] = []
    for stem in STEMS:
        track = read_track(folder, stem)
        yield from (each for each in track.problems if not (written and each.kind == "unfinished"))
        if track.samples is None:
            continue
        tracks.append(track)
        if written or track.incomplete:
            continue
        name, ends_s = f"{stem}.wav", track.samples / RATE_HZ
        if stem == "reply" and not finished(entries):  # it ends with what was last said, until both are made equal
            continue
        if last is not None and track.samples < last - _SHORT_SAMPLES:
            told_s = last / RATE_HZ
            yield Problem(0, "track", f"ends at {ends_s:.1f} s; the journal tells of sound up to {told_s:.1f} s", name)
        elif mapped is not None and track.samples > mapped + _LONG_SAMPLES:
            told_s = mapped / RATE_HZ
            yield Problem(0, "track", f"goes on to {ends_s:.1f} s; the journal's clock ends at {told_s:.1f} s", name)
    whole = finished(entries) and not written and not any(track.incomplete for track in tracks)
    if whole and len({track.samples for track in tracks}) > 1:
        lengths = " and ".join(f"{track.stem}.wav {(track.samples or 0) / RATE_HZ:.1f} s" for track in tracks)
        yield Problem(0, "track", f"the two tracks are not equally long: {lengths}", "user.wav")


def _sample(entry: Entry) -> int | None:
    match entry.body:
        case ClockMapped(sample=sample) | SpeechStarted(sample=sample) | SpeechPaused(sample=sample):
            return sample
        case _:
            return None
