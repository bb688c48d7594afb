"""TOML files into typed records: every mistake is answered with file, key, what was found and what is allowed."""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

T = TypeVar("T")
_SHOWN_CHARS = 80
_BYTE_ORDER_MARK = "\ufeff"


class TomlError(Exception):
    """A file cannot be used. ``str(error)`` is for a person."""


def read_toml(path: Path) -> dict[str, object]:
    """What is in a file. Raises ``FileNotFoundError``, or ``TomlError`` for one that cannot be read."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise
    except UnicodeDecodeError as error:
        raise TomlError(
            f"{path} cannot be read: it is no UTF-8 text (byte {error.start}). Save it as UTF-8."
        ) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise TomlError(f"{path} cannot be read: {why}. It must be a readable UTF-8 text file.") from error
    return parse_toml(text, str(path))


def parse_toml(text: str, source: str) -> dict[str, object]:
    """What a text says; a byte order mark before it is passed over. Raises ``TomlError``."""
    try:
        return tomllib.loads(text.removeprefix(_BYTE_ORDER_MARK))
    except tomllib.TOMLDecodeError as error:
        raise TomlError(f"{source} is no valid TOML: {error}.") from error
    except (ValueError, RecursionError) as error:
        raise TomlError(f"{source} is no valid TOML: a number is too long, or lists are nested too deep.") from error


def convert(raw: dict[str, object], kind: type[T], source: str, hidden: Callable[[str], bool] = lambda _: False) -> T:
    """The record of these values. Where ``hidden`` says so of a key, what was found there is not repeated.

    Raises ``TomlError``.
    """
    for key, value in _leaves(raw):
        if isinstance(value, str) and "\0" in value:
            raise TomlError(f"{source}: {key} holds a NUL character. No text here can have one.")
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        raise TomlError(_explain(source, raw, str(error), kind, hidden)) from error


def not_json(value: object) -> str:
    """Where something stands that JSON has no form for, and what it is; "" where all has one."""
    for key, each in _leaves(value):
        if not isinstance(each, str | int | float | None) or (isinstance(each, float) and not math.isfinite(each)):
            return f"{key}: found {shown(each)}"
    return ""


def shown(value: object) -> str:
    """A value in a message: short."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"


def _leaves(value: object, key: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _leaves(each, f"{key}.{name}".lstrip("."))
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from _leaves(each, f"{key}[{number}]")
    else:
        yield key, value


def _explain(source: str, raw: dict[str, object], message: str, root: type, hidden: Callable[[str], bool]) -> str:
    """msgspec's sentence with the key first, what was found, and what is allowed there."""
    match = re.match(r"(.*?)(?: - at `\$(.*)`)?$", message, re.S)
    assert match is not None
    what, key = match.group(1), (match.group(2) or "").lstrip(".")
    unknown = re.match(r"Object contains unknown field `(.*)`", what, re.S)
    if unknown:
        table = _keys(root, key)
        allowed = f" Allowed: {', '.join(table)}." if table else ""
        name = f"{key}.{unknown.group(1)}" if key else unknown.group(1)
        return f"{source}: {name} is no known key.{allowed}"
    found: object = raw
    for part in re.findall(r"[^.\[\]]+", key):
        if part == "...":
            return f"{source}: {key}: {what}."
        found = found[int(part)] if isinstance(found, list) else found.get(part) if isinstance(found, dict) else None
    missing = re.match(r"Object missing required field `(.*)`", what)
    if missing:
        return f"{source}: {f'{key}.' if key else ''}{missing.group(1)} is missing."
    words = _allowed_words(root, key)
    is_shown = isinstance(found, bool | int | float) or not hidden(key)
    was = f"found {shown(found)}. " if is_shown else ""
    return f"{source}: {key or 'the file'}: {was}{f'Allowed: {words}' if words else what}."


def _record_at(root: type, key: str) -> type | None:
    """The record that describes the table at a place."""
    record: type = root
    for part in re.findall(r"[A-Za-z_]+", key):
        hint = get_type_hints(record).get(part)
        kinds = [
            each for each in (hint, *get_args(hint)) if isinstance(each, type) and issubclass(each, msgspec.Struct)
        ]
        if not kinds:
            return None
        record = kinds[0]
    return record


def _keys(root: type, key: str) -> list[str]:
    """The keys allowed at a place."""
    record = _record_at(root, key)
    return [field.name for field in msgspec.structs.fields(record)] if record is not None else []


def _allowed_words(root: type, key: str) -> str:
    """The words allowed for a key that takes one of a few, else ""."""
    table, _, name = key.rpartition(".")
    record = _record_at(root, table)
    hint = get_type_hints(record).get(name) if record is not None else None
    return ", ".join(map(repr, get_args(hint))) if get_origin(hint) is Literal else ""


def is_file(path: Path) -> bool:
    """Whether there is a file; one that may not be looked for is none."""
    return os.path.isfile(path)  # noqa: PTH113  Path.is_file raises where a folder may not be looked into
