"""Spans as OTLP JSON: the OpenTelemetry protocol's protobuf messages in their JSON form.

Ids are hexadecimal, 64-bit numbers strings, enums numbers
(https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from voicetui import __version__
from voicetui.journal.recorded import Recorded, RecordedError
from voicetui.share.controls import escape_controls
from voicetui.share.traces import Attributes, Event, TraceSpan, Value, trace

_INTERNAL: Final = 1
_CLIENT: Final = 3
_ERROR: Final = 2
BATCH_SPANS: Final = 1000
"""Spans in one request: about 1 MB. Collectors refuse requests of 20 MiB and more unless told otherwise."""


def requests(session: Recorded, with_text: bool = False) -> Iterator[dict[str, Any]]:
    """The session as ``ExportTraceServiceRequest`` messages of at most ``BATCH_SPANS`` spans.

    Wall times are the session's start plus its own clock. Trace and span ids come from the session's name and what a
    span stands for, so that exporting again sends the same spans. Raises ``RecordedError`` where the journal does not
    say when the session began.
    """
    spans = _spans(session, with_text)
    for at in range(0, len(spans), BATCH_SPANS):
        yield _request(session, spans[at : at + BATCH_SPANS])


def as_otlp(session: Recorded, with_text: bool = False) -> str:
    """The whole session as one message on one line, as the collector's file receiver wants it. As ``requests``."""
    whole = _request(session, _spans(session, with_text))
    return escape_controls(json.dumps(whole, ensure_ascii=False, separators=(",", ":"))) + "\n"


def _spans(session: Recorded, with_text: bool) -> list[dict[str, Any]]:
    base_ns = _started_ns(session)
    return [_span(span, session.name, base_ns) for span in trace(session.entries, session.name, with_text)]


def _request(session: Recorded, spans: list[dict[str, Any]]) -> dict[str, Any]:
    program = session.opened.program if session.opened is not None else ""
    resource: Attributes = {
        "service.name": "voicetui",
        "service.version": program.removeprefix("voicetui").strip() or __version__,
        "service.instance.id": session.name,
    }
    scope = {"name": "voicetui", "version": __version__}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeSpans": [{"scope": scope, "spans": spans}],
            }
        ]
    }


def _started_ns(session: Recorded) -> int:
    text = session.opened.started_utc if session.opened is not None else ""
    try:
        started = datetime.fromisoformat(text)
    except ValueError as error:
        raise RecordedError(
            f"The journal of {session.folder} does not say when the session began, so its spans have no wall time. "
            "Export it as jsonl or csv instead."
        ) from error
    started = started if started.tzinfo is not None else started.replace(tzinfo=UTC)
    since = started - datetime(1970, 1, 1, tzinfo=UTC)
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1000


def _id(session: str, what: str, digits: int) -> str:
    return hashlib.sha256(f"{session}\n{what}".encode("utf-8", "replace")).hexdigest()[:digits]


def _span(span: TraceSpan, session: str, base_ns: int) -> dict[str, Any]:
    written: dict[str, Any] = {
        "traceId": _id(session, "", 32),
        "spanId": _id(session, span.key, 16),
        "name": span.name,
        "kind": _CLIENT if span.remote else _INTERNAL,
        "startTimeUnixNano": _nanos(base_ns, span.start_ms),
        "endTimeUnixNano": _nanos(base_ns, max(span.start_ms, span.end_ms)),
        "attributes": _attributes(span.attributes),
        "events": [_event(event, base_ns) for event in span.events],
        "status": {"code": _ERROR, "message": span.error} if span.error is not None else {},
    }
    if span.parent is not None:
        written["parentSpanId"] = _id(session, span.parent, 16)
    return written


def _event(event: Event, base_ns: int) -> dict[str, Any]:
    return {
        "timeUnixNano": _nanos(base_ns, event.at_ms),
        "name": event.name,
        "attributes": _attributes(event.attributes),
    }


def _nanos(base_ns: int, at_ms: float) -> str:
    return str(base_ns + round(at_ms * 1000) * 1000)


def _attributes(attributes: Attributes) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: Value) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case _:
            return {"arrayValue": {"values": [{"stringValue": each} for each in value]}}


def count_spans(sent: Iterable[dict[str, Any]]) -> int:
    """How many spans requests hold."""
    return sum(len(request["resourceSpans"][0]["scopeSpans"][0]["spans"]) for request in sent)
