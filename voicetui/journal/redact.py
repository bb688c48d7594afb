"""Taking something out of a recorded session for good: sound becomes silence, texts a mark, in every file of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, get_args

import msgspec
from msgspec import inspect

from voicetui.events import AnyFact, AnyOrder
from voicetui.events.sound import RATE_HZ
from voicetui.journal.append import JOURNAL_NAME, being_written
from voicetui.journal.atomic import put_in_place, write_beside
from voicetui.journal.blot import MARK, blot, find_words, letters_of
from voicetui.journal.blotting import Blotter, Wanted, remaining, touch_odd
from voicetui.journal.check import LEFT_OVER
from voicetui.journal.codec import FORMAT, Redaction
from voicetui.journal.lines import Lines
from voicetui.journal.recorded import RecordedError
from voicetui.journal.shelf import TAGS_NAME, read_tags
from voicetui.journal.spoken import texts_of
from voicetui.journal.tracks import STEMS, Part, read_track

LOG_NAME: Final = "log.txt"
_COPY_BYTES: Final = 1 << 20


class Changed(msgspec.Struct, frozen=True):
    """A text of the journal before and after."""

    line: int
    record: str
    before: str
    after: str


class Plan(msgspec.Struct, frozen=True):
    """What a redaction does to the session in ``folder``. ``files`` are the new contents of its small files; ``spans``
    the samples of each track that become silence, ``sounds`` the same in ms on the session clock.
    """

    folder: Path
    files: dict[str, bytes]
    spans: dict[str, tuple[tuple[int, int], ...]]
    sounds: tuple[tuple[float, float], ...]
    changes: tuple[Changed, ...]
    words: tuple[str, ...]
    lines: int
    unreadable: int
    short: int

    @property
    def empty(self) -> bool:
        """Whether nothing has to go."""
        return not self.lines and not self.log_lines and not any(self.spans.values())

    @property
    def log_lines(self) -> bool:
        """Whether something goes from another text file than the journal."""
        return bool(set(self.files) - {JOURNAL_NAME})


class Proof(msgspec.Struct, frozen=True):
    """What a search of the files after a redaction found: how many hold nothing of it, and what still does, where."""

    clean: int
    left: tuple[str, ...]


def plan_redaction(folder: Path, wanted: Wanted, at_utc: str) -> Plan:
    """What has to go from a session; nothing is written. Raises ``RecordedError``."""
    if being_written(folder):
        raise RecordedError(f"{folder.name} is being written. End that session first, then redact it.")
    lines = Lines(_read(folder / JOURNAL_NAME))
    spoken = texts_of(lines, _KNOWN)
    before = [(slot, slot.text) for slot in (*spoken.slots(), *spoken.pieces())]
    blotter = Blotter(spoken, wanted)
    blotter.run()
    touch_odd(lines, blotter.words)
    by_track = {stem: _sounds(wanted, blotter.sounds, stem) for stem in STEMS}
    sounds = _joined_ms([each for found in by_track.values() for each in found])
    spans = {stem: tuple(_samples(spoken.maps, *each) for each in found) for stem, found in by_track.items()}
    spans = {stem: _there(folder, stem, each) for stem, each in spans.items()}
    files = _small_files(folder, blotter.words)
    changed = sum(line.changed for line in lines)
    if changed or files or any(spans.values()):
        _note(lines, folder, Redaction(at_utc, wanted.side, tuple(sounds), changed))
        files[JOURNAL_NAME] = lines.encoded()
    changes = tuple(
        Changed(slot.line.number, slot.line.body.get("type", "?"), text, slot.text)
        for slot, text in before
        if slot.text != text
    )
    words, unreadable = tuple(blotter.words), sum(line.changed for line in spoken.unreadable)
    return Plan(folder, files, spans, tuple(sounds), changes, words, changed, unreadable, blotter.short)


def _sounds(wanted: Wanted, said: set[tuple[str, float, float]], stem: str) -> list[tuple[float, float]]:
    """What becomes silence in one track, ms: the span, if it is of this track, and every sound in which words are heard
    that go: on the side that said them whatever the span is of, and on the other, which may have heard them, too.
    """
    of_span = wanted.side in ("both", stem)
    found = [(start_ms, end_ms) for side, start_ms, end_ms in sorted(said) if of_span or side == stem]
    if of_span and wanted.start_ms is not None and wanted.end_ms is not None:
        found.append((wanted.start_ms, wanted.end_ms))
    return _joined_ms(found)


def carry_out(plan: Plan) -> Proof:
    """Write everything anew, then search all of it. What a crash leaves is the old file or the new one, whole.

    The journal comes last, so that a session that says that it was redacted is. Raises ``RecordedError``.
    """
    folder, beside = plan.folder, []
    for left in folder.glob(f"*{LEFT_OVER}"):
        left.unlink(missing_ok=True)
    try:
        for named, pieces in _contents(plan):
            path = named.resolve()  # of a link, what it leads to: the words are there
            beside.append((write_beside(path, pieces, LEFT_OVER), path))
    except OSError as error:
        for path, _ in beside:
            path.unlink(missing_ok=True)
        raise RecordedError(
            f"{folder} cannot be redacted: {error.strerror or error}. Nothing was changed; it needs room for a copy."
        ) from error
    try:
        for path, place in beside:
            put_in_place(path, place)
    except OSError as error:
        raise RecordedError(
            f"{folder} is redacted only in part: {error.strerror or error}. Say the same again."
        ) from error
    return prove(plan)


def _contents(plan: Plan) -> Iterator[tuple[Path, Iterable[bytes]]]:
    """Every file to be written, and its bytes."""
    for stem, spans in plan.spans.items():
        for part in read_track(plan.folder, stem).parts:
            if frames := _frames_of(part, spans):
                yield part.path, _silenced(part, frames)
    for name in sorted(plan.files, key=lambda name: name == JOURNAL_NAME):
        yield plan.folder / name, (plan.files[name],)


def prove(plan: Plan) -> Proof:
    """Search every file of the session for what was taken out."""
    left: list[str] = []
    clean = 0
    for path in sorted(each for each in plan.folder.rglob("*") if each.is_file()):
        name = path.relative_to(plan.folder).as_posix()
        found = _left_in(path, plan)
        left += [f"{name}: {each}" for each in found]
        clean += not found
    return Proof(clean, tuple(left))


def same_session(folder: Path, other: Path) -> bool:
    """Whether two folders hold the same session, as a copy in the trash does."""
    names = [session_name(each) for each in (folder, other)]
    return names[0] == names[1] != ""


def session_name(folder: Path) -> str:
    """What the session was called when it was recorded, whatever its folder is called now; "" where that is lost."""
    try:
        header = Lines((folder / JOURNAL_NAME).read_bytes()).header()
    except OSError:
        return ""
    return str(header.record.get("session", "")) if header is not None and header.record is not None else ""


# ---- texts


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RecordedError(f"{path} cannot be read: {error.strerror or error}. Check its permissions.") from error


def _tags() -> frozenset[str]:
    kinds = [inspect.type_info(kind) for kind in (*get_args(AnyFact), *get_args(AnyOrder))]
    return frozenset(str(kind.tag) for kind in kinds if isinstance(kind, inspect.StructType))


_KNOWN: Final = _tags()


def _small_files(folder: Path, words: Sequence[str]) -> dict[str, bytes]:
    """The log and the tags without the words, where they hold any."""
    files: dict[str, bytes] = {}
    log = folder / LOG_NAME
    if log.is_file():
        text = _read(log).decode("utf-8", "replace")
        letters = letters_of(text)
        if spans := find_words(words, letters):
            files[LOG_NAME] = blot(text, letters, spans).encode()
    tags = read_tags(folder)
    kept = [tag for tag in tags if not find_words(words, letters_of(tag))]
    if len(kept) != len(tags):
        files[TAGS_NAME] = msgspec.json.encode(kept) + b"\n"
    return files


def _note(lines: Lines, folder: Path, redaction: Redaction) -> None:
    note = msgspec.to_builtins(redaction)
    header = lines.header()
    if header is None or header.record is None:
        lines.put_first({"voicetui_journal": FORMAT, "session": folder.name, "redactions": [note]})
        return
    before = header.record.get("redactions")
    header.record["redactions"] = [*(before if isinstance(before, list) else []), note]
    header.touch()


def _left_in(path: Path, plan: Plan) -> list[str]:
    try:
        if path.parent == plan.folder and path.name == JOURNAL_NAME:
            lines = Lines(path.read_bytes())
            spoken = texts_of(lines, _KNOWN)
            found = {line.number for line in remaining(spoken, plan.words)}
            found |= {line.number for line in lines if line.odd and find_words(plan.words, letters_of(line.text))}
            return [f"line {number}" for number in sorted(found)]
        stem = path.name.split(".")[0]
        if path.suffix == ".wav" and stem in plan.spans:
            return _heard_in(path, plan.folder, stem, plan.spans[stem])
        if path.suffix == ".wav":
            return []
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        return [f"cannot be read: {error.strerror or error}"]
    return ["the words are there still"] if find_words(plan.words, letters_of(text)) else []


# ---- sound


def _joined_ms(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for start_ms, end_ms in sorted(spans):
        if found and start_ms <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end_ms))
        else:
            found.append((start_ms, end_ms))
    return found


def _samples(maps: Sequence[tuple[float, int]], start_ms: float, end_ms: float) -> tuple[int, int]:
    """The samples of both tracks between two times, by the pairings of the clock; where these disagree, all of them."""
    start, end = _at(maps, start_ms), _at(maps, end_ms)
    return max(0, math.floor(min(start))), max(0, math.ceil(max(end)))


def _at(maps: Sequence[tuple[float, int]], at_ms: float) -> list[float]:
    ordered = sorted(maps) or [(0.0, 0)]
    before = [each for each in ordered if each[0] <= at_ms][-1:] or ordered[:1]
    after = [each for each in ordered if each[0] > at_ms][:1]
    found = [before[0][1] + (at_ms - before[0][0]) * RATE_HZ / 1000]
    if after and after != before:
        (from_ms, first), (to_ms, last) = before[0], after[0]
        between = first + (at_ms - from_ms) * (last - first) / (to_ms - from_ms)
        if abs(between - found[0]) < RATE_HZ:  # else the device was opened anew in between
            found.append(between)
    return found


def _there(folder: Path, stem: str, spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    length = read_track(folder, stem).samples or 0
    return tuple((start, min(end, length)) for start, end in spans if start < min(end, length))


def _frames_of(part: Part, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The frames of a file that lie in spans of samples of its track."""
    per_sample = part.layout.rate_hz / RATE_HZ
    found = []
    for start, end in spans:
        first = max(0, math.floor((start - part.start) * per_sample))
        last = min(part.layout.frames, math.ceil((end - part.start) * per_sample))
        if first < last:
            found.append((first, last))
    return found


def _silenced(part: Part, frames: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """The file's bytes, with silence for these frames."""
    layout = part.layout
    size = layout.width * layout.channels
    silent = b"\x80" if layout.width == 1 and layout.kind == "int" else b"\0"
    spans = [(layout.start + first * size, layout.start + last * size) for first, last in frames]
    place = 0
    with part.path.open("rb") as file:
        while data := bytearray(file.read(_COPY_BYTES)):
            for start, end in spans:
                first, last = max(start - place, 0), min(end - place, len(data))
                if first < last:
                    data[first:last] = silent * (last - first)
            place += len(data)
            yield bytes(data)


def _heard_in(path: Path, folder: Path, stem: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    part = next((each for each in read_track(folder, stem).parts if each.path == path), None)
    if part is None:
        return []
    size = part.layout.width * part.layout.channels
    silent = b"\x80" if part.layout.width == 1 and part.layout.kind == "int" else b"\0"
    with path.open("rb") as file:
        for first, last in _frames_of(part, spans):
            file.seek(part.layout.start + first * size)
            left = (last - first) * size
            while left > 0:
                data = file.read(min(left, _COPY_BYTES))
                if not data:
                    break
                if data.strip(silent):
                    return ["there is sound still"]
                left -= len(data)
    return []


def is_mark(words: str) -> bool:
    """Whether words are those of the mark itself, which cannot be looked for."""
    return letters_of(words).text in ("", letters_of(MARK).text)
