"""Errors inside a stream whose status said 200, under all the names servers have for them."""

from typing import Any

import msgspec

NO_WORDS = "the provider reported an error"
_MESSAGES = ("message", "detail", "msg", "error", "error_msg", "text")


class ProviderError(msgspec.Struct, frozen=True):
    """An error inside the stream, in the provider's words."""

    message: str
    kind: str = ""
    code: str = ""


def _reports_failure(document: dict[str, Any]) -> bool:
    if "code" in document or document.get("status") in ("error", "failed") or document.get("success") is False:
        return True
    return document.keys() <= {"message", "request_id", "requestId", "trace_id", "path", "timestamp"}


def names_error(kind: str) -> bool:
    """Whether an event's type says that it is an error."""
    kind = kind.strip().lower()
    return kind == "error" or kind.endswith((".error", "_error"))


def reported_error(document: dict[str, Any], kind: str) -> ProviderError | None:
    """The error a payload reports, under any of the names in use; None if it reports none."""
    error = document.get("error")
    if not error and (names_error(kind) or "error" in (document.get("object"), document.get("type"))):
        error = document
    if not error and kind == "message" and "choices" not in document and "done" not in document:
        error = document.get("errors") or document.get("detail") or document.get("error_msg")
        if not error and isinstance(document.get("message"), str) and _reports_failure(document):
            error = document
    if error is True:
        error = document | {"error": None}
    if isinstance(error, list):
        error = next((entry for entry in error if entry), None)
    if not error:
        return None
    if not isinstance(error, dict):
        return ProviderError(str(error))
    category = _text(error.get("type")) or _text(error.get("status"))
    code = "" if error.get("code") is None else str(error["code"])
    message = _words(error)
    return ProviderError(message or category or code or NO_WORDS, category, code)


def _words(error: Any, depth: int = 3) -> str:
    """The first text under one of the usual names, however deep it lies (within ``depth``)."""
    if isinstance(error, list):
        error = next((entry for entry in error if entry), None)
    if isinstance(error, dict) and depth:
        return next((text for name in _MESSAGES if (text := _words(error.get(name), depth - 1))), "")
    return _text(error)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
