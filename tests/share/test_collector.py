"""What is said of a collector holds no key, whoever quotes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import httpx
import pytest

from voicetui.share.collector import CollectorError, send, shown


def refused(request: httpx.Request) -> httpx.Response:
    return httpx.Response(401, text=f"no: {request.headers['authorization']} as {request.headers['x-key']}")


def rejected(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"partialSuccess": {"rejectedSpans": 1, "errorMessage": request.headers["x-key"]}})


def dead(request: httpx.Request) -> NoReturn:
    raise httpx.ConnectError(f"{request.url} {request.headers['x-key']}")


@pytest.mark.parametrize("answer", [refused, rejected, dead])
def test_no_error_of_a_collector_repeats_a_key(
    answer: Callable[[httpx.Request], httpx.Response], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc-secret-1,x-key=other-secret-2")
    url = "http://me:pass-secret-3@127.0.0.1:4318/v1/traces?key=query-secret-4"
    with pytest.raises(CollectorError) as caught:
        send([{"resourceSpans": []}], url, httpx.MockTransport(answer))
    assert "secret" not in str(caught.value) and "***" in str(caught.value)
    assert shown(url) == "http://***@127.0.0.1:4318/v1/traces?key=***"


def test_a_header_that_cannot_be_sent_is_told_without_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20secr%C3%A9t%0A")
    with pytest.raises(CollectorError, match="OTEL_EXPORTER_OTLP_HEADERS") as caught:
        send([{"resourceSpans": []}], "http://127.0.0.1:4318")
    assert "secr" not in str(caught.value)
