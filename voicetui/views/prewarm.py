"""What was worked through ahead of requests, and which of it they began with."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from voicetui.events import Basis, Entry
from voicetui.events.orders import Commit, EndTurn, Generate, Message, Prewarm
from voicetui.events.reply import PrewarmEnded


class Prewarming(msgspec.Struct, frozen=True, gc=False):
    """Prefill ahead of requests: ``tokens`` were worked through, ``wasted_tokens`` of them for other words than came.

    Each prewarm's tokens are kept or wasted as a whole: kept if a request of its turn began with its prompt. Tokens of
    a turn that is not committed yet are neither.
    """

    count: int = 0
    cancelled: int = 0
    failed: int = 0
    tokens: int = 0
    wasted_tokens: int = 0


@dataclass(slots=True)
class Prefill:
    """One prewarm. ``kept``: a request began with it; ``wasted``: its turn's request is known and did not."""

    number: int
    turn: int
    messages: tuple[Message, ...]
    tokens: int = 0
    ended: bool = False
    kept: bool = False
    wasted: bool = False


class PrewarmFold:
    """Follows prewarms to their requests."""

    def __init__(self) -> None:
        self._open: dict[int, Prefill] = {}
        self._late: dict[int, Prefill] = {}
        self._asked: set[Basis] = set()
        self._committed: Basis | None = None
        self._totals = Prewarming()

    def feed(self, entry: Entry) -> list[Prefill]:
        """Take one entry, in journal order. The prewarms it showed to be for nothing."""
        body = entry.body
        match body:
            case Prewarm():
                self._open[body.prewarm] = Prefill(body.prewarm, body.turn, body.messages)
            case PrewarmEnded():
                return self._end(body)
            case Generate():
                for prefill in self._open.values():
                    prefill.kept = prefill.kept or _begins_with(body.messages, prefill.messages)
                self._asked.add(body.basis)
                return self._settle()
            case Commit():
                self._committed = body.basis
                return self._settle()
            case EndTurn() if self._committed == body.basis:
                self._asked.add(body.basis)
                return self._settle()
        return []

    def snapshot(self) -> Prewarming:
        """The sums so far."""
        return self._totals

    def _end(self, body: PrewarmEnded) -> list[Prefill]:
        totals = self._totals
        self._totals = msgspec.structs.replace(
            totals,
            count=totals.count + 1,
            cancelled=totals.cancelled + (body.outcome == "cancelled"),
            failed=totals.failed + (body.outcome == "failed"),
            tokens=totals.tokens + body.new_tokens,
        )
        late = self._late.pop(body.prewarm, None)
        prefill = late or self._open.get(body.prewarm)
        if prefill is not None:
            prefill.tokens, prefill.ended = body.new_tokens, True
        return self._waste([late] if late is not None else [])

    def _settle(self) -> list[Prefill]:
        """Once the committed turn's request is known, what it did not begin with was for nothing.

        What still runs is counted when it ends.
        """
        committed = self._committed
        if committed is None or committed not in self._asked:
            return []
        self._committed = None
        self._asked.clear()
        wasted = []
        for prefill in [each for each in self._open.values() if each.turn <= committed.turn]:
            del self._open[prefill.number]
            if prefill.ended and not prefill.kept:
                wasted.append(prefill)
            elif not prefill.kept:
                self._late[prefill.number] = prefill
        return self._waste(wasted)

    def _waste(self, wasted: list[Prefill]) -> list[Prefill]:
        for prefill in wasted:
            prefill.wasted = True
        lost = sum(prefill.tokens for prefill in wasted)
        self._totals = msgspec.structs.replace(self._totals, wasted_tokens=self._totals.wasted_tokens + lost)
        return wasted


def _begins_with(whole: tuple[Message, ...], start: tuple[Message, ...]) -> bool:
    """Whether a request begins with these messages, the last of which may go on."""
    count = len(start) - 1
    if count < 0 or len(whole) <= count or whole[:count] != start[:count]:
        return False
    return whole[count].role == start[count].role and whole[count].text.startswith(start[count].text)
