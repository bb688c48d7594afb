"""Journal entries as lines of JSON, and back again as far as this version understands them."""

from __future__ import annotations

import math
from typing import Any, Final

import msgspec
from msgspec import inspect

from voicetui.events import Entry

FORMAT: Final = 1
"""The version of the journal format. Readers of a version read all older ones.

A new record type, or a new field with a default, is no new format: older programs name the one and pass over the other.
Anything else is: a field renamed, removed or meaning something else, a type that changed. To introduce one:

1. raise ``FORMAT``, and in ``decode`` turn what older lines say into what it is now (a journal is never rewritten);
2. freeze a session of the program before the change in ``tests/old_formats``, with the summary it had;
3. leave the frozen ones there alone: ``tests/adapters/test_old_formats.py`` reads them all, for ever.
"""


class Redaction(msgspec.Struct, frozen=True, omit_defaults=True):
    """That something was taken out of a session, and when; never what it was.

    Sound of ``sounds`` spans (ms on the session clock) of ``track`` was silenced; in ``lines`` lines of the journal
    texts were replaced.
    """

    at_utc: str
    track: str = "both"
    sounds: tuple[tuple[float, float], ...] = ()
    lines: int = 0


class Header(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first line of a journal: the format's version, the program that wrote it, the session's name.

    ``redactions`` were made later.
    """

    voicetui_journal: int
    program: str = ""
    session: str = ""
    redactions: tuple[Redaction, ...] = ()


class UnknownEntry(msgspec.Struct, frozen=True):
    """An entry whose record type this version does not know, with its place and time; ``type`` is the unknown tag."""

    seq: int
    at: float
    type: str


class LineError(ValueError):
    """A line is no entry. ``str(error)`` says why."""


def _plain(value: object) -> object:
    """Values JSON has no form for: subclasses of numbers become numbers, anything else its text."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value)
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


_encoder: Final = msgspec.json.Encoder(enc_hook=_plain)
_entry_decoder: Final = msgspec.json.Decoder(Entry)
_entry_type: Final = inspect.type_info(Entry)
_unknown_type: Final = inspect.type_info(UnknownEntry)


def encode(record: Entry | Header) -> bytes:
    """One line of strict JSON without its newline. Numbers that are not finite become null, broken text U+FFFD."""
    try:
        return _encoder.encode(record)
    except UnicodeEncodeError:
        return _encoder.encode(_mended_text(msgspec.to_builtins(record, enc_hook=_plain)))


def decode(line: bytes) -> Entry | Header | UnknownEntry:
    """The entry in a line. Fields of newer versions are ignored, a null where a number belongs becomes NaN.

    Raises ``LineError`` for a line that is none.
    """
    try:
        return _entry_decoder.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        raw = msgspec.json.decode(line)
        if not isinstance(raw, dict):
            raise LineError("not an entry")
        if "voicetui_journal" in raw:
            return msgspec.convert(raw, Header)
        body = raw.get("body")
        if isinstance(body, dict) and isinstance(body.get("type"), str) and body["type"] not in _known_tags:
            return msgspec.convert(_filled({**raw, "type": body["type"]}, _unknown_type), UnknownEntry)
        return msgspec.convert(_filled(raw, _entry_type), Entry)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise LineError(str(error)) from None


def _tags(entry_type: inspect.Type) -> frozenset[str]:
    assert isinstance(entry_type, inspect.StructType)
    body = next(field.type for field in entry_type.fields if field.name == "body")
    assert isinstance(body, inspect.UnionType)
    return frozenset(str(kind.tag) for kind in body.types if isinstance(kind, inspect.StructType))


_known_tags: Final = _tags(_entry_type)


def _filled(value: Any, kind: inspect.Type) -> Any:
    """``value`` with NaN for each null that stands where its type has a plain number."""
    match kind:
        case inspect.FloatType() if value is None:
            return math.nan
        case inspect.UnionType():
            return _filled_union(value, kind)
        case inspect.StructType() if isinstance(value, dict):
            types = {field.encode_name: field.type for field in kind.fields}
            return {name: _filled(item, types[name]) if name in types else item for name, item in value.items()}
        case inspect.StructType() if isinstance(value, list):
            fields = [field.type for field in kind.fields][: len(value)]
            return [_filled(item, field) for item, field in zip(value, fields, strict=False)] + value[len(fields) :]
        case inspect.DictType() if isinstance(value, dict):
            return {name: _filled(item, kind.value_type) for name, item in value.items()}
        case inspect.VarTupleType() if isinstance(value, list):
            return [_filled(item, kind.item_type) for item in value]
        case _:
            return value


def _filled_union(value: Any, kind: inspect.UnionType) -> Any:
    if value is None and kind.includes_none:
        return None
    for choice in kind.types:
        if isinstance(choice, inspect.FloatType) and value is None:
            return math.nan
        if isinstance(choice, inspect.StructType) and isinstance(value, dict) and value.get("type") == choice.tag:
            return _filled(value, choice)
    return value


def _mended_text(value: Any) -> Any:
    """``value`` with U+FFFD for the lone surrogates that UTF-8 has no form for."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_mended_text(key): _mended_text(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mended_text(item) for item in value]
    return value
