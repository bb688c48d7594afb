"""What was looked up in the person's notes ahead of requests, and what became of it."""

from __future__ import annotations

from typing import Literal

import msgspec

from voicetui.events import Entry
from voicetui.events.orders import AdoptContext, AssembleContext, Commit
from voicetui.events.reply import ContextAssembled

Fate = Literal["adopted", "same", "stale", "failed"]


class Retrieval(msgspec.Struct, frozen=True, gc=False):
    """Look-ups of a session. Each is ``adopted`` (its passages went into the turn's requests), the ``same`` as those
    there already, ``stale`` (it came when the words had changed, or the turn was committed), or ``failed``.

    ``refreshed`` counts the adopted ones that took the place of others, whose prefill is lost; ``ms`` is what all of
    them took.
    """

    asked: int = 0
    adopted: int = 0
    refreshed: int = 0
    same: int = 0
    stale: int = 0
    failed: int = 0
    ms: float = 0.0


class RetrievalFold:
    """Follows look-ups to their use."""

    def __init__(self) -> None:
        self._newest = 0
        self._committed = -1
        self._holding: tuple[int, bool] = (-1, False)
        self._totals = Retrieval()

    def feed(self, entry: Entry) -> tuple[int, Fate] | None:
        """Take one entry, in journal order. The look-up whose fate it decided, if it decided one."""
        body = entry.body
        match body:
            case AssembleContext():
                self._newest = body.context
                self._add(asked=1)
            case Commit():
                self._committed = body.basis.turn
            case ContextAssembled():
                self._add(ms=max(0.0, entry.at - body.started_ms))
                if body.note:
                    return self._fate(body.context, "failed")
                if body.context != self._newest or body.turn <= self._committed:
                    return self._fate(body.context, "stale")
                return self._fate(body.context, "same")
            case AdoptContext():
                held = self._holding == (body.turn, True)
                self._holding = (body.turn, bool(body.sources))
                self._add(same=-1, refreshed=int(held))
                return self._fate(body.context, "adopted")
        return None

    def snapshot(self) -> Retrieval:
        """The sums so far."""
        return self._totals

    def _fate(self, number: int, fate: Fate) -> tuple[int, Fate]:
        self._add(**{fate: 1})
        return number, fate

    def _add(self, **more: float) -> None:
        changes = {name: getattr(self._totals, name) + amount for name, amount in more.items()}
        self._totals = msgspec.structs.replace(self._totals, **changes)
