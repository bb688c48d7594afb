"""A journal's lines as they lie on the disk, to be changed one by one while all others stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from voicetui.journal.blot import MARK

_BLANKS: Final = b" \t\r\n"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_ENDS: Final = re.compile(rb"(\n|\0+)")
_UNREADABLE: Final = re.compile(r"\S*\ufffd\S*")


class Line:
    """One line, or what stands between two zeros: ``record`` is what it says, None where it cannot be read; ``number``
    counts lines from 1.

    Change ``record`` and call ``touch``. Words of which not all is UTF-8 are blotted out as soon as it is touched.
    """

    def __init__(self, raw: bytes, number: int = 0) -> None:
        self.number = number
        self._raw = raw
        self._content = raw.removeprefix(_BYTE_ORDER_MARK).strip(_BLANKS)
        self.record: dict[str, Any] | None = _record(self._content)
        self.changed = False
        self._gone = False

    @property
    def blank(self) -> bool:
        """Whether there is nothing in it."""
        return not self._content

    @property
    def body(self) -> dict[str, Any]:
        """What the entry is about; {} where the line is none."""
        body = self.record.get("body") if self.record is not None else None
        return body if isinstance(body, dict) and isinstance(body.get("type"), str) else {}

    @property
    def at_ms(self) -> float | None:
        """The entry's time."""
        return number(self.record.get("at")) if self.record is not None else None

    @property
    def odd(self) -> bool:
        """Whether the line may hold something that ``record`` does not, such as a key that comes twice."""
        return self.record is not None and msgspec.json.encode(self.record) != self._content

    @property
    def text(self) -> str:
        """The line as it stands on the disk, its escapes as blanks."""
        return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", " ", self._content.decode("utf-8", "replace"))

    def touch(self) -> None:
        """It is to be written anew."""
        self.changed = True

    def drop(self) -> None:
        """Leave it empty: so that the lines after it keep their numbers."""
        self._gone, self.changed = True, True

    def encoded(self) -> bytes:
        """The bytes to be written: those that were read, unless it was changed."""
        if not self.changed:
            return self._raw
        if self._gone or self.record is None:
            return b""
        return self._raw.replace(self._content, msgspec.json.encode(_without_holes(self.record)))


class Lines:
    """All lines of a journal, with what stands between them."""

    def __init__(self, data: bytes) -> None:
        self._pieces: list[Line | bytes] = []
        line = 1
        for place, each in enumerate(_ENDS.split(data)):
            self._pieces.append(each if place % 2 else Line(each, line))
            line += each == b"\n"

    def __iter__(self) -> Iterator[Line]:
        return (each for each in self._pieces if isinstance(each, Line) and not each.blank)

    def encoded(self) -> bytes:
        """The file's bytes."""
        return b"".join(each.encoded() if isinstance(each, Line) else each for each in self._pieces)

    def header(self) -> Line | None:
        """The line that says what the file is."""
        return next((line for line in self if line.record is not None and "voicetui_journal" in line.record), None)

    def put_first(self, record: dict[str, Any]) -> None:
        """Put a line before all others."""
        self._pieces[:0] = [Line(msgspec.json.encode(record)), b"\n"]


def number(value: object) -> float | None:
    """A value that is a finite number."""
    return float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None


def _record(content: bytes) -> dict[str, Any] | None:
    for data in (content, content.decode("utf-8", "replace").encode()):
        try:
            record = msgspec.json.decode(data)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            continue
        return record if isinstance(record, dict) else None
    return None


def _without_holes(value: Any) -> Any:
    if isinstance(value, str):
        return _UNREADABLE.sub(MARK, value)
    if isinstance(value, dict):
        return {key: _without_holes(each) for key, each in value.items()}
    return [_without_holes(each) for each in value] if isinstance(value, list) else value
