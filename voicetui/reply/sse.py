"""Framing of streamed HTTP bodies: raw bytes in, events out, whatever the network did to the cuts.

`SseDecoder` follows the WHATWG event-stream rules (https://html.spec.whatwg.org/multipage/server-sent-events.html)
with one deliberate difference: an event that the connection's end left without its closing blank line is kept when its
data is whole. `LineJsonDecoder` reads one JSON object per line, `BodyDecoder` one JSON document, and
`SniffingDecoder` finds out which of the three it was given, because servers mislabel them.
All of them give the same events for every possible cut of the same bytes, and none holds more than its limit.
"""

import json
import re
from typing import Any, Literal, Protocol

import msgspec

MAX_LINE_BYTES = 1 << 20
MAX_EVENT_BYTES = 4 << 20
END_MARK = "[DONE]"

Flaw = Literal["", "truncated", "oversized"]
Mode = Literal["", "sse", "lines", "body"]

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


class SseEvent(msgspec.Struct, frozen=True):
    """One event of a stream.

    `event` is the event's type, `data` its payload without the final line end, `last_id` the last id seen so far.
    `flaw` is "truncated" for data the end of the connection cut short, and "oversized" for the single, empty event
    that reports a line or an event above the limit; nothing follows that one.
    """

    data: str
    event: str = "message"
    last_id: str = ""
    flaw: Flaw = ""


class EventDecoder(Protocol):
    """What every decoder here does."""

    @property
    def comments(self) -> int:
        """Comment lines so far: signs of life that carry no text."""

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes and return the events they complete."""

    def close(self) -> list[SseEvent]:
        """Take the end of the body and return what was still pending."""


def is_end_mark(text: str) -> bool:
    """Whether `text` is the end mark, also in small letters or in quotes."""
    return text.strip().strip('"').upper() == END_MARK


def parse_json(text: str) -> Any:
    """Parse JSON as leniently as is safe: raw control characters, NaN and lone surrogates pass.

    Raises ValueError for anything ill-formed, also for nesting too deep to parse.
    """
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None


def split_payloads(data: str) -> list[str]:
    """Split an event's data into payloads (JSON containers or the end mark).

    Data is normally one payload, possibly over several lines. Servers that forget the blank line between events
    produce several, one to a line; then each line is given back, whole or not.
    """
    if not _is_whole(data):
        lines = [line for line in data.split("\n") if line.strip()]
        if len(lines) > 1 and any(map(_is_whole, lines)):
            return lines
    return [data]


def _is_whole(data: str) -> bool:
    """Whether `data` is the end mark or a JSON object or array (a bare number may lack its last digits)."""
    stripped = data.strip()
    if is_end_mark(stripped):
        return True
    if not stripped.startswith(("{", "[")):
        return False
    try:
        parse_json(stripped)
    except ValueError:
        return False
    return True


class _LineReader:
    """Cuts bytes into lines ended by CR, LF or CRLF, holding at most one unfinished line of at most `limit` bytes."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._partial = bytearray()
        self._skip_lf = False
        self._first = True
        self.overflowed = False

    def feed(self, chunk: bytes) -> list[str]:
        """Return the lines that `chunk` completes; stops for good at the first line above the limit."""
        lines: list[str] = []
        position = 1 if self._skip_lf and chunk[:1] == b"\n" else 0
        if chunk:
            self._skip_lf = False
        for match in _LINE_END.finditer(chunk, position):
            if not self._take(chunk, position, match.start()):
                return lines
            lines.append(self._pop())
            position = match.end()
            self._skip_lf = match.group() == b"\r" and position == len(chunk)
        self._take(chunk, position, len(chunk))
        return lines

    def rest(self) -> str:
        """Return and forget the line that has no end."""
        return self._pop()

    def _take(self, chunk: bytes, start: int, end: int) -> bool:
        if len(self._partial) + end - start > self._limit:
            self.overflowed = True
            self._partial.clear()
            return False
        self._partial += memoryview(chunk)[start:end]
        return True

    def _pop(self) -> str:
        raw = bytes(self._partial)
        self._partial.clear()
        if self._first:
            self._first = False
            raw = raw.removeprefix(_BOM)
        # CR and LF never occur inside a UTF-8 sequence, so a line is always safe to decode by itself.
        return raw.decode("utf-8", errors="replace")


class SseDecoder:
    """Incremental decoder of a text/event-stream body."""

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._lines = _LineReader(max_line_bytes)
        self._max_event = max_event_bytes
        self._data: list[str] = []
        self._data_chars = 0
        self._type = ""
        self._last_id = ""
        self._done = False
        self._comments = 0
        self.retry_ms: int | None = None

    @property
    def comments(self) -> int:
        """Comment lines so far: signs of life that carry no text."""
        return self._comments

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes and return the events they complete (none after an "oversized" one or `close`)."""
        if self._done:
            return []
        events: list[SseEvent] = []
        for line in self._lines.feed(chunk):
            if line:
                self._field(line)
                if self._data_chars > self._max_event:
                    return [*events, self._oversized()]
            else:
                events += self._dispatch()
        if self._lines.overflowed:
            events.append(self._oversized())
        return events

    def close(self) -> list[SseEvent]:
        """Take the end of the body: a pending event is returned, marked truncated unless its data is whole."""
        if self._done:
            return []
        line = self._lines.rest()
        if line:
            self._field(line)
        self._done = True
        data = "\n".join(self._data)
        if not data.strip():
            return []
        flaw: Flaw = "" if all(map(_is_whole, split_payloads(data))) else "truncated"
        return [SseEvent(data, self._type or "message", self._last_id, flaw)]

    def _oversized(self) -> SseEvent:
        self._done = True
        self._data.clear()
        return SseEvent("", "message", self._last_id, "oversized")

    def _dispatch(self) -> list[SseEvent]:
        data, kind = self._data, self._type
        self._data, self._type, self._data_chars = [], "", 0
        return [SseEvent("\n".join(data), kind or "message", self._last_id)] if data else []

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not name:
            self._comments += 1
        elif name == "data":
            self._data.append(value)
            self._data_chars += len(value) + 1
        elif name == "event":
            self._type = value
        elif name == "id" and "\0" not in value:
            self._last_id = value
        elif name == "retry" and value.isascii() and value.isdigit() and len(value) < 10:
            self.retry_ms = int(value)


class LineJsonDecoder:
    """Incremental decoder of a body with one JSON object per line (Ollama, NDJSON). Blank lines are skipped."""

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._lines = _LineReader(max_line_bytes)
        self._done = False

    @property
    def comments(self) -> int:
        """Always 0: the format has no comments."""
        return 0

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes and return an event for every line they complete."""
        if self._done:
            return []
        events = [SseEvent(line) for line in self._lines.feed(chunk) if line.strip()]
        if self._lines.overflowed:
            self._done = True
            events.append(SseEvent("", flaw="oversized"))
        return events

    def close(self) -> list[SseEvent]:
        """Take the end of the body: a last line without a line end is returned, marked truncated unless whole."""
        line = "" if self._done else self._lines.rest()
        self._done = True
        if not line.strip():
            return []
        return [SseEvent(line, flaw="" if _is_whole(line) else "truncated")]


class BodyDecoder:
    """Collects a whole JSON document and gives it out as one event at the end."""

    def __init__(self, max_body_bytes: int = MAX_EVENT_BYTES) -> None:
        self._limit = max_body_bytes
        self._body = bytearray()
        self._done = False

    @property
    def comments(self) -> int:
        """Always 0: the format has no comments."""
        return 0

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Collect `chunk`; returns an "oversized" event once the body is above the limit, otherwise nothing."""
        if self._done:
            return []
        if len(self._body) + len(chunk) > self._limit:
            self._done = True
            self._body.clear()
            return [SseEvent("", flaw="oversized")]
        self._body += chunk
        return []

    def close(self) -> list[SseEvent]:
        """Return the document, marked truncated unless it is whole; nothing for a blank body."""
        text = "" if self._done else self._body.removeprefix(_BOM).decode("utf-8", errors="replace")
        self._done = True
        self._body.clear()
        if not text.strip():
            return []
        return [SseEvent(text, flaw="" if _is_whole(text) else "truncated")]


class SniffingDecoder:
    """Decides by the first bytes, not by the content type, how a body is framed; `mode` says what it found.

    A body that starts with `{` or `[` is JSON: one object per line when its first line is whole, else one document.
    Everything else is an event stream.
    """

    _MAX_BLANK_BYTES = 4096

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_line = max_line_bytes
        self._seen = bytearray()
        self._inner: EventDecoder | None = None
        self.mode: Mode = ""

    @property
    def comments(self) -> int:
        """Comment lines so far: signs of life that carry no text."""
        return self._inner.comments if self._inner else 0

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes and return the events they complete."""
        if self._inner:
            return self._inner.feed(chunk)
        searched = len(self._seen)
        self._seen += chunk
        self._choose(searched)
        return self._hand_over() if self.mode else []

    def close(self) -> list[SseEvent]:
        """Take the end of the body and return what was still pending."""
        if self._inner:
            return self._inner.close()
        self.mode = "body" if self._seen.removeprefix(_BOM).lstrip().startswith((b"{", b"[")) else "sse"
        return self._hand_over() + self.close()

    def _choose(self, searched: int) -> None:
        start = self._seen[: self._MAX_BLANK_BYTES].removeprefix(_BOM).lstrip()
        if not start or _BOM.startswith(start):
            self.mode = "sse" if len(self._seen) >= self._MAX_BLANK_BYTES else ""
        elif not start.startswith((b"{", b"[")):
            self.mode = "sse"
        elif _LINE_END.search(self._seen, searched, self._max_line + 1):
            document = self._seen.removeprefix(_BOM).lstrip()
            ended = _LINE_END.search(document)
            if ended:
                self.mode = "lines" if _is_whole(document[: ended.start()].decode("utf-8", "replace")) else "body"
        elif len(self._seen) > self._max_line:
            self.mode = "body"

    def _hand_over(self) -> list[SseEvent]:
        seen = bytes(self._seen)
        self._seen.clear()
        if self.mode == "sse":
            self._inner = SseDecoder(self._max_line)
        elif self.mode == "lines":
            self._inner = LineJsonDecoder(self._max_line)
        else:
            self._inner = BodyDecoder(max(self._max_line, MAX_EVENT_BYTES))
        return self._inner.feed(seen)
