"""What every record in the journal has in common: its tag, its place in the order, the basis of a piece of work."""

from __future__ import annotations

import re

import msgspec


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Record(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag=_snake, omit_defaults=False):
    """The root of facts and orders. Its tag in the journal is the class name in snake case.

    What cannot change cannot refer to itself: the garbage collector, which stops every thread while it looks at an
    hour's records, is told not to (``gc=False``).
    """


class Fact(Record, frozen=True):
    """Something that happened. ``decide`` sees facts only after they are appended to the journal."""


class Order(Record, frozen=True):
    """Something the rules want done, or have decided. Appended before it is carried out."""


class Basis(msgspec.Struct, frozen=True, gc=False, order=True, array_like=True):
    """What a piece of work was made from. Work whose basis is no longer current is void.

    Before the turn is committed ``turn`` is the number it will get.  ``revision`` is the transcript's, ``attempt``
    counts the generations started for that turn, and rises with every change of tier, history or adopted context.
    """

    turn: int
    revision: int
    attempt: int
