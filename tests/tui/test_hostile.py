"""What people and machines put into text, threads and streams must not hurt the screen."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from tests.journal_builder import JournalBuilder
from tests.tui.scenes import SCENES, Scene
from tests.tui.stage import on_stage
from voicetui.events import Basis, Entry
from voicetui.events.orders import Commit, EndTurn, OpenUtterance, Reject, Revise
from voicetui.events.reply import ClauseCut, TimedToken, TokensArrived
from voicetui.events.session import Fault, SessionOpened, TierFacts
from voicetui.events.sound import DeviceLost, DeviceOpened
from voicetui.events.speak import ClauseEnded, ClauseStarted
from voicetui.tui.options import ScreenOptions

pytestmark = pytest.mark.anyio

BRACKETS = [
    "[/path]",
    "[/]",
    "[data: /m?id=609b-]",
    "[INST]",
    "[link]",
    "list[int]",
    "arr[0]",
    "[1, 2]",
    "[red]x[/red]",
]
CONTROLS = [
    "A\x1b[2J",
    "\x1b]52;c;aGk=\x07",
    "\x1b]0;t\x07",
    "\x1b[6n",
    "\x1bc",
    "\x1b]",
    "\x9b2J",
    "a\x08\x08b",
    "lone \ud83d",
]
WIDE = [
    "🌍🌍🌍", "⚙️ gear", "👩\u200d👩\u200d👧\u200d👦 family", "🇫🇷 flag", "e\u0301le\u0301phant", "日本語のテキスト",
    "שלום עולם", "\u202etxt.exe",
]  # fmt: skip


def everywhere(text: str) -> Scene:
    """The text as transcript, reply, rejected words, tier, device, fault, notice and title."""
    journal = JournalBuilder().opened().ready()
    opened = journal.entries[0].body
    assert isinstance(opened, SessionOpened)
    tier = TierFacts(text, "openai", text)
    journal.entries[0] = Entry(0, 0.0, msgspec.structs.replace(opened, tier=text, tiers=(tier,)))
    journal.add(DeviceOpened("input", text, text, 16000, 1, 10.0, "paced"))
    journal.turn(f"you {text}", [f"reply {text}. ", f"more {text}."])
    journal.rejected("noise", text).add(OpenUtterance(90, 9, 0, False)).add(Revise(90, 1, text, False))
    journal.add(DeviceLost("output", text, text)).add(Fault("connect", f"fault {text}", f"remedy {text}"))
    return Scene(journal, journal.now_ms, ScreenOptions(text, notice=text, tiers=(text,)))


@pytest.mark.parametrize("text", BRACKETS)
async def test_brackets_are_shown_literally(text: str) -> None:
    async with on_stage(everywhere(text)) as stage:
        seen = stage.text()
        for place in (
            f"you   you {text}",
            f"reply reply {text}.",
            f"fault {text}",
            f"remedy {text}",
            f"{text}  ∅ noise",
        ):
            assert place in seen
        await stage.press("t")
        assert text in stage.text()
        await stage.press("escape", "p", "p", "up", "c")


@pytest.mark.parametrize("text", CONTROLS)
async def test_no_control_character_reaches_a_cell(text: str) -> None:
    async with on_stage(everywhere(text)) as stage:
        for keys in ((), ("t",), ("escape", "p")):
            await stage.press(*keys)
            shown = [segment.text for line in stage.strips() for segment in line]
            assert not any(
                ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for part in shown for character in part
            )
            "".join(shown).encode("utf-8")
        assert "you " in stage.app.live.conversation.rows[1].text


@pytest.mark.parametrize("text", [text * 12 for text in WIDE])
async def test_rows_stay_within_the_terminal(text: str) -> None:
    async with on_stage(everywhere(text), (80, 24)) as stage:
        assert all(line.cell_length == 80 for line in stage.strips())


async def test_twenty_thousand_pieces_stay_bounded_and_whole() -> None:
    journal = JournalBuilder().opened().ready()
    basis = Basis(1, 0, 1)
    journal.add(Commit(basis, None, "Tell me everything.", "typed"))
    scene = Scene(journal, journal.now_ms)
    async with on_stage(scene) as stage:
        words = [f"w{number} " for number in range(20_000)]
        for start in range(0, len(words), 15):
            at_ms = stage.engine.now_ms()
            pieces = tuple(TimedToken(word, at_ms) for word in words[start : start + 15])
            stage.engine.add(Entry(start, at_ms, TokensArrived(basis, pieces)))
            if start % 300 == 285:
                await stage.advance(50)
                assert len(stage.app.live.conversation.rows) <= 12
        text = "".join(words)
        stage.engine.add(Entry(1, stage.engine.now_ms(), ClauseCut(basis, 0, text, text)))
        stage.engine.add(Entry(2, stage.engine.now_ms(), ClauseStarted(basis, 0)))
        stage.engine.add(Entry(3, stage.engine.now_ms(), ClauseEnded(basis, 0)))
        stage.engine.add(Entry(4, stage.engine.now_ms(), EndTurn(1, basis, "completed", text)))
        await stage.settle()
        view = stage.app.view
        assert view is not None and view.transcript.replies()[1].text == text.strip()
        assert "w19999" in stage.text()


async def test_hours_of_turns_stay_bounded() -> None:
    journal = JournalBuilder().opened().ready()
    for number in range(300):
        journal.turn(f"Question {number}?", ["A short answer."])
    async with on_stage(Scene(journal, journal.now_ms)) as stage:
        view = stage.app.view
        assert view is not None
        assert len(view.transcript.lines) <= 800 and len(view.timeline.spans) < 3000
        assert "Question 299?" in stage.text()


async def test_entries_after_the_end_are_ignored() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        await stage.press("q")
        await stage.pilot.pause()
        stage.engine.add(Entry(1, 0.0, Reject(1, "noise")))


async def test_an_engine_that_failed_is_explained() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        stage.engine.failure = RuntimeError("no model [/tmp]")
        await stage.settle()
        assert "the session failed: no model [/tmp]" in stage.text()


async def test_a_lost_device_is_explained_where_it_is_named() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        stage.engine.add(Entry(1, stage.engine.now_ms(), DeviceLost("input", "USB Audio", "it was unplugged")))
        await stage.settle()
        seen = stage.text()
        assert "USB Audio: it was unplugged" in seen and "in file: lost" in seen


async def test_notices_are_put_away() -> None:
    async with on_stage(SCENES["no_devices"]()) as stage:
        assert "There is no microphone" in stage.text()
        await stage.press("x")
        assert "There is no microphone" not in stage.text()
    async with on_stage(SCENES["fault"]()) as stage:
        assert "→ Check the network." in stage.text()
        await stage.press("x")
        assert "Check the network." not in stage.text()


async def test_an_unknown_theme_is_the_own_one() -> None:
    scene = SCENES["speaking"]()
    async with on_stage(Scene(scene.journal, scene.at_ms, replace(scene.options, theme="[nonsense]"))) as stage:
        assert stage.app.theme == "voicetui"
