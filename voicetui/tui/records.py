"""What there is to say of any record in the journal, without knowing its kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from voicetui.events import AnyFact, AnyOrder, Basis, Entry, Order
from voicetui.journal.codec import encode
from voicetui.tui.literal import literal

_FULL = 300
"""Values up to this length stand on one line with their key; longer texts and lists are broken up."""


def tag_of(body: AnyFact | AnyOrder) -> str:
    """The record's tag in the journal, in words."""
    return str(type(body).__struct_config__.tag).replace("_", " ")


def kind_of(body: AnyFact | AnyOrder) -> str:
    """Something that happened, or something the rules wanted."""
    return "order" if isinstance(body, Order) else "fact"


def meaning_of(body: AnyFact | AnyOrder) -> str:
    """What such a record says, in a sentence."""
    words = " ".join((type(body).__doc__ or "").replace("``", "").split())
    sentence, dot, _ = words.partition(". ")
    return sentence + ("." if dot else "")


def basis_of(body: AnyFact | AnyOrder) -> str:
    """What the work was made from; "" where it has no basis."""
    basis = getattr(body, "basis", None)
    if isinstance(basis, Basis):
        return f"turn {basis.turn}, revision {basis.revision}, attempt {basis.attempt}"
    return ""


def brief(entry: Entry) -> str:
    """The payload in one line, what has a basis first."""
    body = entry.body
    parts: list[str] = []
    for name in body.__struct_fields__:
        value = getattr(body, name)
        if isinstance(value, Basis):
            parts.insert(0, f"{value.turn}.{value.revision}.{value.attempt}")
        elif isinstance(value, str | int | float | bool):
            parts.append(f"{name} {_short(value)}")
    return literal("  ".join(parts)[:_FULL])


def payload(entry: Entry) -> Iterator[tuple[int, str, str]]:
    """(depth, key, value) of each part of the record but its basis, as the journal has it; the value "" where parts
    follow.
    """
    values = msgspec.json.decode(encode(entry))["body"]
    for name, value in values.items():
        if name not in ("type", "basis"):
            yield from _parts(0, name, value)


def _parts(depth: int, key: str, value: Any) -> Iterator[tuple[int, str, str]]:
    if isinstance(value, dict) and value:
        yield depth, literal(key), ""
        for name, item in value.items():
            yield from _parts(depth + 1, str(name), item)
        return
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, list) and len(text) > 60:
        yield depth, literal(key), f"{len(value)} items"
        for place, item in enumerate(value):
            yield from _parts(depth + 1, str(place), item)
        return
    yield depth, literal(key), literal(text)


def _short(value: str | int | float | bool) -> str:
    if isinstance(value, float):
        return f"{value:.1f}".rstrip("0").rstrip(".")
    return json.dumps(value, ensure_ascii=False)
