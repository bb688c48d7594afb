"""An order as a line a person can read. Pure."""

from __future__ import annotations

import re

import msgspec

from voicetui.events import Basis, Order

_LONG = 48
_LEFT_OUT = ("messages", "host")
_NUMBERS = ("wake", "request", "prewarm", "context")
_INSTANTS = ("due_ms", "onset_ms")


def order_text(order: Order, than: Order | None = None) -> str:
    """The order's name and its fields; with ``than``, only the fields in which it differs from that one."""
    name = re.sub(r"(?<!^)(?=[A-Z])", " ", type(order).__name__).lower()
    fields = []
    for field in msgspec.structs.fields(order):
        value = getattr(order, field.name)
        if than is not None:
            before = getattr(than, field.name, None)
            if before != value and field.name in _LEFT_OUT:
                fields.append(f"other {_called(field.name)}")
            elif before != value and field.name not in _NUMBERS:
                fields.append(
                    f"{_called(field.name)} {_value(value, field.name)} instead of {_value(before, field.name)}"
                )
        elif field.name not in _LEFT_OUT and value not in ("", None, ()):
            fields.append(f"{_called(field.name)} {_value(value, field.name)}")
    return f"{name}: {', '.join(fields)}" if fields else name


def order_name(order: Order) -> str:
    """What kind of order it is, in words."""
    return order_text(order).partition(":")[0]


def short(text: str, most: int = _LONG) -> str:
    """A text in quotation marks, cut where it is long, without line breaks."""
    plain = " ".join(text.split())
    return f'"{plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"}"'


def _called(field: str) -> str:
    return field.removesuffix("_ms").replace("_", " ")


def _value(value: object, field: str) -> str:
    match value:
        case float() if field in _INSTANTS:
            return f"{value / 1e3:.3f} s"
        case Basis():
            return f"{value.turn}.{value.revision}.{value.attempt}"
        case bool() | None:
            return {True: "yes", False: "no", None: "none"}[value]
        case float():
            return f"{value:.0f}" if abs(value) >= 10 else f"{value:.3g}"
        case str():
            return short(value)
        case tuple():
            return f"({len(value)})" if value and not isinstance(value[0], (str, float)) else str(list(value))
        case _:
            return str(value)
