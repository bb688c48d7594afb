"""The recorded sessions on the screen: sorted, filtered, tagged, thrown away, brought back, opened; at three sizes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from textual.geometry import Size
from textual.pilot import Pilot

from tests.tui.conftest import CompareGolden
from tests.tui.scenes import SIZES
from tests.tui.stage import seen
from voicetui.events.orders import IMPORTED
from voicetui.journal.listing import Listed
from voicetui.journal.recorded import RecordedError
from voicetui.tui.screens.sessions import About
from voicetui.tui.session_columns import table
from voicetui.tui.sessions_app import SessionsApp
from voicetui.views.statistics import statistics

pytestmark = pytest.mark.anyio


def listed(day: int, tier: str = "local", **named: Any) -> Listed:
    gaps = statistics([400.0 + 10 * day, 500.0, 900.0 + 100 * day])
    name, started = f"2030010{day}T080000Z-{tier}", f"2030-01-0{day}T08:00:00Z"
    plain: dict[str, Any] = {
        "state": "finished", "started_utc": started, "length_s": 200.0 - day, "tier": tier, "overlap": "full",
        "source": "live", "turns": 3, "gap_ms": gaps, "size_bytes": 1_000_000 * (5 + day % 3),
    }  # fmt: skip
    return Listed(name, f"/recordings/{name}", **(plain | named))


SESSIONS = (
    listed(1, tags=("demo", "good")),
    listed(2, "pretend-750", simulated=True, overlap="none"),
    listed(3, state="damaged", problems=3, faults=1),
    listed(4, state="cut short", problems=1, length_s=None, gap_ms=statistics([])),
    listed(5, "staged", gap_ms=statistics([]), staged_gap_ms=statistics([200.0, 1400.0]), simulated=True),
    listed(6, "[/red]\x1b[2J", redacted=True, cut_offs=2),
)


@dataclass
class FakeShelf:
    """Keeps sessions in memory."""

    rows: list[Listed] = field(default_factory=lambda: list(SESSIONS))
    thrown: list[Listed] = field(default_factory=list)

    def look(self) -> Sequence[Listed]:
        return self.rows

    def in_trash(self) -> int:
        return len(self.thrown)

    def tag(self, row: Listed, add: Sequence[str], remove: Sequence[str]) -> None:
        if "no,tag" in add:
            raise RecordedError("'no,tag' is no tag.")
        tags = tuple(sorted({*row.tags, *add} - set(remove)))
        self.rows[self.rows.index(row)] = msgspec.structs.replace(row, tags=tags)

    def trash(self, row: Listed) -> str:
        if row.state == "being written":
            raise RecordedError("it is being written.")
        self.rows.remove(row)
        self.thrown.append(row)
        return row.name

    def restore(self, name: str) -> None:
        (row,) = [row for row in self.thrown if row.name == name]
        self.thrown.remove(row)
        self.rows.append(row)


@dataclass
class Desk:
    """A running screen."""

    app: SessionsApp
    shelf: FakeShelf
    pilot: Pilot[Any]

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    def text(self) -> str:
        return seen(self.app)

    def names(self) -> list[str]:
        return [row.name[6:8] for row in self.app.sessions.shown.sessions]

    def chosen(self) -> str:
        chosen = self.app.sessions.chosen
        return chosen.name[6:8] if chosen is not None else ""


@asynccontextmanager
async def at_desk(size: tuple[int, int] = (120, 36), shelf: FakeShelf | None = None) -> AsyncIterator[Desk]:
    shelf = shelf or FakeShelf()
    app = SessionsApp(shelf)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Desk(app, shelf, pilot)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_picture(size: tuple[int, int], golden: CompareGolden) -> None:
    async with at_desk(size) as desk:
        await desk.press("down", "down", "down")
        golden(f"sessions-{size[0]}x{size[1]}", desk.text())


async def test_what_is_shown_is_literal_and_simulated_or_staged_where_it_is() -> None:
    async with at_desk((200, 50)) as desk:
        text = desk.text()
        assert "\x1b" not in text and "[/red]␛[2J" in text
        assert "pretend-750 (simulated)" in text and "staged 800 / 1400 ms, n 2" in text
        assert "finished, redacted" in text


async def test_the_order_goes_round_and_the_cursor_stays_with_its_session() -> None:
    async with at_desk() as desk:
        assert desk.names() == ["06", "05", "04", "03", "02", "01"]
        await desk.press("end", "s")
        assert desk.names()[:2] == ["06", "03"] and desk.names()[-2:] == ["05", "04"] and desk.chosen() == "01"
        assert "worst gap first" in desk.text()
        await desk.press("s")
        assert desk.names()[0] == "01" and desk.names()[-1] == "04" and "longest first" in desk.text()
        await desk.press("s", "s")
        assert desk.names() == ["06", "05", "04", "03", "02", "01"]


async def test_a_filter_holds_while_it_is_typed_and_escape_drops_it() -> None:
    async with at_desk() as desk:
        await desk.press("slash", *"local q")
        assert desk.names() == [] and "0 of 6 with local q" in desk.text()
        await desk.press("backspace", "backspace", "enter")
        assert desk.names() == ["04", "03", "01"]
        await desk.press("slash", *" good", "enter")
        assert desk.names() == ["01"]
        await desk.press("escape")
        assert len(desk.names()) == 6


async def test_tags_are_given_and_taken() -> None:
    async with at_desk() as desk:
        await desk.press("end", "t", *"new -demo", "enter")
        assert desk.shelf.rows[0].tags == ("good", "new") and desk.chosen() == "01" and "good new" in desk.text()
        await desk.press("t", *"no,tag", "enter")
        assert "'no,tag' is no tag." in desk.text()
        await desk.press("t", *"sxq", "escape")
        assert len(desk.names()) == 6 and desk.shelf.rows[0].tags == ("good", "new"), "letters are letters there"


async def test_what_is_thrown_away_comes_back() -> None:
    async with at_desk() as desk:
        await desk.press("down", "x")
        assert desk.names() == ["06", "04", "03", "02", "01"] and desk.chosen() == "04"
        assert "is in the trash; u brings it back" in desk.text() and "1 in the trash" in desk.text()
        await desk.press("u")
        assert desk.chosen() == "05" and len(desk.names()) == 6
        await desk.press("u")
        assert "Nothing was thrown away here" in desk.text()
        desk.shelf.rows.append(listed(9, state="being written"))
        await desk.press("r", "home", "x")
        assert "it is being written." in desk.text() and len(desk.shelf.rows) == 7


async def test_enter_and_the_mouse_open_one() -> None:
    async with at_desk() as desk:
        await desk.press("down", "enter")
    assert desk.app.return_value == SESSIONS[4]
    async with at_desk() as desk:
        await desk.pilot.click("SessionRows", offset=(8, 3))
        assert desk.chosen() == "04"
        await desk.pilot.click("SessionRows", offset=(8, 3))
    assert desk.app.return_value == SESSIONS[3]
    async with at_desk() as desk:
        await desk.press("q")
    assert desk.app.return_value is None


async def test_many_scroll_and_none_say_so() -> None:
    many = FakeShelf([listed(1, name_tier) for name_tier in (f"t{number:03}" for number in range(100))])
    async with at_desk((80, 24), many) as desk:
        await desk.press("end")
        assert "t000" in desk.text()
        await desk.press("pageup", "pageup", "pageup", "home")
        assert "t099" in desk.text()
    async with at_desk((80, 24), FakeShelf([])) as desk:
        assert "`voicetui demo` makes one" in desk.text()
        await desk.press("enter", "t", "x", "s", "down", "pageup")
        assert desk.app.return_value is None


def test_the_cut_offs_of_an_imported_call_are_not_known() -> None:
    call, own = Listed("call", "call", "finished", source=IMPORTED), Listed("own", "own", "finished", source="live")
    columns = table([call, own], None)
    end = columns.heading.index("cut-offs") + len("cut-offs")
    assert [line[end - 1] for line in columns.lines] == ["–", "0"]


def test_one_problem_is_one() -> None:
    about = About()
    for problems, says in ((0, "nothing is wrong"), (1, "1 problem: "), (2, "2 problems: ")):
        about.about = Listed("own", "own", "damaged", problems=problems)
        assert says in about.draw(Size(80, 3))[1].text
