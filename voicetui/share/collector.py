"""Sending spans to an OpenTelemetry collector over OTLP/HTTP.

JSON first; a receiver that takes only protobuf (status 415) gets that, with the extra ``otel``.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import unquote

import httpx

from voicetui.share.otlp import count_spans

HEADERS_VARIABLE: Final = "OTEL_EXPORTER_OTLP_HEADERS"
"""Headers to send along, such as a key: ``name=value``, separated by commas, URL-encoded, as every OpenTelemetry
exporter reads them."""
_PATH: Final = "/v1/traces"
_TIMEOUT_S: Final = 15.0
_LEAST_KEY: Final = 6
"""Shorter headers hold no key, and may be anywhere in a sentence."""


class CollectorError(Exception):
    """Spans did not arrive. ``str(error)`` says what happened, where, and what to do next."""


def send(requests: Iterable[dict[str, Any]], url: str, transport: httpx.BaseTransport | None = None) -> int:
    """Send the messages one after another; how many spans were taken. Raises ``CollectorError``.

    ``url`` without a path gets the standard one, /v1/traces. No error repeats a key, whoever quotes it.
    """
    try:
        return _send(requests, _address(url), transport)
    except CollectorError as error:
        raise CollectorError(_without_keys(f"{error}")) from None


def shown(url: str) -> str:
    """The address without user, password and the values of its parameters."""
    return re.sub(r"([?&][^=&\s#]+=)[^&\s#\"']+", r"\1***", re.sub(r"//[^/\s@]*@", "//***@", url))


def _without_keys(text: str) -> str:
    try:
        values = tuple(_headers().values())
    except CollectorError:
        values = ()
    for value in values:
        for key in (value, value.rpartition(" ")[2]):
            text = text.replace(key, "***") if len(key) >= _LEAST_KEY else text
    return shown(text)


def _send(requests: Iterable[dict[str, Any]], address: httpx.URL, transport: httpx.BaseTransport | None) -> int:
    sent = 0
    as_protobuf = False
    with httpx.Client(timeout=_TIMEOUT_S, headers=_headers(), transport=transport) as client:
        for request in requests:
            answer = _post(client, address, request, as_protobuf)
            if answer.status_code == httpx.codes.UNSUPPORTED_MEDIA_TYPE and not as_protobuf:
                as_protobuf = True
                answer = _post(client, address, request, as_protobuf)
            _check(answer, address)
            sent += count_spans([request])
    return sent


def _post(client: httpx.Client, address: httpx.URL, request: dict[str, Any], as_protobuf: bool) -> httpx.Response:
    if as_protobuf:
        content, kind = _protobuf(request, address), "application/x-protobuf"
    else:
        content, kind = json.dumps(request, ensure_ascii=False).encode(), "application/json"
    try:
        return client.post(address, content=content, headers={"content-type": kind})
    except httpx.TimeoutException as error:
        raise CollectorError(
            f"The collector at {address} did not answer within {_TIMEOUT_S:.0f} s. Is it busy, or is this its port for "
            "something else (OTLP over HTTP is usually 4318)?"
        ) from error
    except httpx.HTTPError as error:
        raise CollectorError(
            f"No collector could be reached at {address}: {error}. Start it, or correct the address "
            "(OTLP over HTTP is usually port 4318)."
        ) from error


def _check(answer: httpx.Response, address: httpx.URL) -> None:
    """Raise unless all was taken."""
    if answer.is_success:
        rejected, why = _rejected(answer)
        if rejected:
            reason = f": {why}" if why else ""
            raise CollectorError(
                f"The collector at {address} rejected {rejected} spans{reason}. Its own log says more."
            )
        return
    said = " ".join(answer.text.split())[:200] if answer.headers.get("content-type", "").startswith("text/") else ""
    advice = {
        401: f"It wants a key: put it into {HEADERS_VARIABLE}, such as authorization=Bearer%20KEY.",
        403: f"The key in {HEADERS_VARIABLE} may not write here.",
        404: f"Nothing takes traces at that path; the standard one is {_PATH}.",
        413: "It takes no request of that size; raise its limit.",
    }.get(answer.status_code, "Its own log says more.")
    raise CollectorError(
        f"The collector at {address} answered {answer.status_code} {answer.reason_phrase}{': ' if said else ''}{said}. "
        f"{advice}"
    )


def _rejected(answer: httpx.Response) -> tuple[int, str]:
    """How many spans the answer says were not taken, and why."""
    try:
        told = answer.json().get("partialSuccess") or {}
        return int(told.get("rejectedSpans") or 0), str(told.get("errorMessage") or "")
    except (ValueError, AttributeError, TypeError):
        return 0, ""


def _address(url: str) -> httpx.URL:
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise CollectorError(f"{url} is no address: {error}. Give one such as http://localhost:4318.") from error
    if address.scheme not in ("http", "https") or not address.host:
        raise CollectorError(f"{url} is no web address. Give one such as http://localhost:4318.")
    return address.copy_with(path=_PATH) if address.path in ("", "/") else address


def _headers() -> dict[str, str]:
    pairs = (pair.partition("=") for pair in os.environ.get(HEADERS_VARIABLE, "").split(","))
    headers = {unquote(name.strip()): unquote(value.strip()) for name, sign, value in pairs if sign and name.strip()}
    for name, value in headers.items():
        if not (f"{name}{value}".isascii() and f"{name}{value}".isprintable()):
            raise CollectorError(f"A header in {HEADERS_VARIABLE} holds characters that none can have. Write it anew.")
    return headers


def _protobuf(request: dict[str, Any], address: httpx.URL) -> bytes:
    try:
        from google.protobuf.json_format import ParseDict
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    except ImportError as error:
        raise CollectorError(
            f"The collector at {address} takes no JSON, and for protobuf something is missing. "
            "Install it: pip install 'voicetui[otel]'."
        ) from error
    message = ParseDict(_with_base64_ids(request), ExportTraceServiceRequest())
    return bytes(message.SerializeToString())


def _with_base64_ids(value: Any) -> Any:
    """The message with its ids as protobuf's own JSON form has bytes; OTLP's JSON alone has them in hexadecimal."""
    if isinstance(value, dict):
        return {
            key: base64.b64encode(bytes.fromhex(item)).decode()
            if key in ("traceId", "spanId", "parentSpanId")
            else _with_base64_ids(item)
            for key, item in value.items()
        }
    return [_with_base64_ids(item) for item in value] if isinstance(value, list) else value
