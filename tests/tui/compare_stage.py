"""Two golden sessions, and a comparison of them on a headless terminal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
from textual.pilot import Pilot

from tests.journal_builder import COMMIT_EARLY, SEQUENTIAL, JournalBuilder
from tests.tui.stage import seen
from voicetui.bench.compared import compare_all
from voicetui.commands.compare_text import comparison_rows
from voicetui.events import Entry
from voicetui.events.session import SessionOpened
from voicetui.tui.compare_app import CompareApp
from voicetui.tui.compared import ComparedView, Side
from voicetui.views.compare import Session, fold_session

ASKED = ("What is the capital of France?", "And of Italy?", "Who was Einstein?", "How do I make a cup of tea?")
ANSWER = ["It is a short answer. ", "And this is its end."]


def folded(name: str, started_utc: str, journal: JournalBuilder) -> Session:
    """The session of a journal, under a name of its own."""
    opened, *others = journal.closed().entries
    assert isinstance(opened.body, SessionOpened)
    begun = msgspec.structs.replace(opened.body, session=name, started_utc=started_utc)
    return fold_session(name, [Entry(opened.seq, opened.at, begun), *others])


def slow() -> Session:
    """Everything one after the other; it heard a turn in two parts."""
    journal = JournalBuilder().opened(overlap="none").ready()
    for text in (*ASKED, "Do you know the", "largest planet?", *ASKED, "Thank you."):
        journal.turn(text, ANSWER, SEQUENTIAL)
    return folded("20300101T000000Z-local", "2030-01-01T00:00:00Z", journal)


def fast() -> Session:
    """Everything at once; a reply was interrupted, and a turn misheard for nothing."""
    journal = JournalBuilder().opened(overlap="full").ready()
    for text in (*ASKED, "Do you know the largest planet?", *ASKED):
        journal.turn(text, ANSWER, COMMIT_EARLY, dropped=1)
    journal.barge_in("Name three fruits, please.", ["Apples, pears and plums. ", "All three grow well."])
    return folded("20300101T001000Z-local", "2030-01-01T00:10:00Z", journal)


@dataclass
class Compared:
    """A running screen."""

    app: CompareApp
    pilot: Pilot[Any]

    def text(self) -> str:
        return seen(self.app)

    async def press(self, *keys: str) -> str:
        await self.pilot.press(*keys)
        await self.pilot.pause()
        return self.text()


@asynccontextmanager
async def compared(sessions: Sequence[Session], size: tuple[int, int] = (120, 36)) -> AsyncIterator[Compared]:
    found = compare_all(sessions)
    sides = [Side("ABC"[place], session) for place, session in enumerate(sessions)]
    views = [ComparedView(each, sides[0], other) for each, other in zip(found, sides[1:], strict=True)]
    app = CompareApp(views, lambda width: comparison_rows(sessions, found, width, True))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Compared(app, pilot)
