"""The screen of a recorded session: its keys, its bar, its events, its end, and what was damaged."""

from __future__ import annotations

import pytest

from tests.tui.conftest import CompareGolden
from tests.tui.replay_stage import ReplayStage, recorded, replay_on_stage
from tests.tui.scenes import SIZES, conversation, many_turns
from voicetui.events import Entry
from voicetui.events.session import Fault, Said
from voicetui.tui.actions import ACTIONS, REPLAY_ACTIONS
from voicetui.tui.replay_app import LEAD_MS, ReplayTui
from voicetui.tui.screens.events import EventDetail, EventList
from voicetui.tui.widgets.scrub_bar import ScrubBar

pytestmark = pytest.mark.anyio
GOLDEN_MS = 19_200.0


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_replay(size: tuple[int, int], golden: CompareGolden) -> None:
    async with replay_on_stage(size) as stage:
        stage.tape.seek(recorded()[0].times[4].reply_start + 1000)
        await stage.settle()
        golden(f"replay-{size[0]}x{size[1]}", stage.text())
        lines = stage.text().splitlines()
        assert max(map(len, lines)) <= size[0] and "q quit" in lines[-1]
        await stage.press("b", "e")
        golden(f"replay-events-{size[0]}x{size[1]}", stage.text())


def test_every_action_exists_and_has_a_key_of_its_own() -> None:
    keys = [key for each in REPLAY_ACTIONS for key in each.keys]
    assert len(keys) == len(set(keys))
    assert all(hasattr(ReplayTui, f"action_{each.name}") for each in REPLAY_ACTIONS)
    assert all(each.help and each.shown for each in REPLAY_ACTIONS)


async def test_what_only_a_live_session_takes_is_not_offered() -> None:
    live_only = [each for each in ACTIONS if each.where == "live" and each.name not in ("leave", "leave_now")]
    async with replay_on_stage((80, 24)) as stage:
        titles = {command.title for command in stage.app.get_system_commands(stage.app.screen)}
        assert {each.help for each in REPLAY_ACTIONS if each.keys} <= titles
        assert not titles & {each.help for each in live_only}
        assert not any(hasattr(stage.app, f"action_{each.name}") for each in live_only)
        await stage.press("question_mark")
        seen = stage.text()
        assert all(each.shown in seen for each in REPLAY_ACTIONS) and "talk on/off" not in seen


async def test_playing_standing_speed_and_the_end() -> None:
    async with replay_on_stage() as stage:
        assert "‖ paused  1×" in stage.text()
        await stage.press("space")
        await stage.pass_ms(3000)
        assert stage.tape.now_ms() == 3000 and "▶ playing  1×" in stage.text()
        await stage.press("greater_than_sign", "greater_than_sign")
        await stage.pass_ms(1000)
        assert stage.tape.now_ms() == 7000 and "4×" in stage.text() and "silent at this speed" in stage.text()
        await stage.press("less_than_sign", "space")
        await stage.pass_ms(1000)
        assert stage.tape.now_ms() == 7000 and "‖ paused  2×" in stage.text()
        await stage.press("end")
        assert "■ end of the session" in stage.text() and "closed" in stage.text()
        await stage.press("left")
        assert "‖ paused" in stage.text()
        await stage.press("home")
        assert stage.tape.now_ms() == 0


async def test_turn_by_turn() -> None:
    times = recorded()[0].times
    async with replay_on_stage() as stage:
        await stage.press("right_square_bracket", "right_square_bracket")
        assert stage.tape.now_ms() == times[2].onset - LEAD_MS
        await stage.press("right_square_bracket")
        assert stage.tape.now_ms() == times[3].onset - LEAD_MS
        await stage.press("left_square_bracket")
        assert stage.tape.now_ms() == times[2].onset - LEAD_MS
        await stage.press("right", "left_square_bracket")
        assert stage.tape.now_ms() == times[2].onset - LEAD_MS, "well inside a turn, its own beginning"
        await stage.press("end", "right_square_bracket")
        assert "no turn after this" in stage.text()


async def test_to_the_slowest_turn_the_barge_in_and_the_fault() -> None:
    async with replay_on_stage() as stage:
        await stage.press("s")
        seen = stage.text()
        assert "turn 8: where the gap went" in seen and "1420 ms" in seen and "paused" in seen
        await stage.press("b")
        assert "no barge-in after this" in stage.text()
        await stage.press("home", "b")
        assert "barge in " in stage.text() and stage.tape.entries[stage.tape.shown - 1].body.kind == "bid"
        await stage.press("b")
        assert "no barge-in after this" in stage.text(), "a backchannel is none"
        await stage.press("exclamation_mark")
        assert "the connection was refused" in stage.text() and "fault " in stage.text()


async def scrubbed(stage: ReplayStage, *cells: int) -> None:
    bar = stage.app.screen.query_one(ScrubBar)
    first, *others = (ScrubBar.MARGIN + cell for cell in cells)
    await stage.pilot.mouse_down(bar, offset=(first, 2))
    for cell in others:
        await stage.pilot.hover(bar, offset=(cell, 2))
    await stage.pilot.mouse_up(bar, offset=(others[-1] if others else first, 2))
    await stage.settle()


async def test_scrubbing_with_the_mouse() -> None:
    async with replay_on_stage((120, 36)) as stage:
        cells = 120 - 2 * ScrubBar.MARGIN
        await scrubbed(stage, 50)
        assert stage.tape.now_ms() == pytest.approx(stage.tape.length_ms * 50 / (cells - 1))
        assert stage.tape.state == "paused"
        stage.tape.play()
        await scrubbed(stage, 80, 40, 20)
        assert stage.tape.now_ms() == pytest.approx(stage.tape.length_ms * 20 / (cells - 1))
        assert stage.tape.state == "playing", "it plays on where it was let go"
        await stage.pilot.hover(stage.app.screen.query_one(ScrubBar), offset=(ScrubBar.MARGIN + 90, 2))
        assert "turn 8   ■ 1420 ms slow" in stage.text(), "what is there is told before one goes there"
        await scrubbed(stage, 20, 105)
        assert stage.tape.now_ms() == stage.tape.length_ms


async def test_every_event_can_be_looked_into() -> None:
    async with replay_on_stage((120, 36)) as stage:
        await stage.press("b", "e")
        seen = stage.text()
        assert "an order of the rules" in seen and "turn 4, revision" in seen and '"bid"' in seen and "onset_ms" in seen
        place = stage.tape.shown
        await stage.press("down", "down", "up", "full_stop")
        assert stage.tape.shown == place + 2
        events = stage.app.screen.query_one(EventList)
        row = next(y for y, each in enumerate(events.rows) if each.target == place - 5)
        await stage.pilot.click(events, offset=(12, row))
        await stage.settle()
        assert stage.tape.shown == place - 4
        await stage.press("escape")
        assert "conversation" in stage.text()


async def test_hostile_text_is_shown_and_obeyed_by_nobody() -> None:
    evil = "\x1b]0;owned\x07 [bold]x[/] \u202e\ud800 \n\r" + "long " * 400
    entries = [*conversation().entries[:40], Entry(40, 5000.0, Said(evil)), Entry(41, 5001.0, Fault("x", evil, evil))]
    async with replay_on_stage((80, 24), entries) as stage:
        await stage.press("end", "e", "up")
        seen = stage.text()
        assert "\x1b" not in seen and "\u202e" not in seen and "[bold]x[/]" in seen
        assert "u001b" in seen, "what is there is shown"
        assert "more, pgdn" in seen
        before = [row.text for row in stage.app.screen.query_one(EventDetail).rows]
        await stage.press("pagedown")
        assert [row.text for row in stage.app.screen.query_one(EventDetail).rows] != before


async def test_what_was_damaged_is_named() -> None:
    problems = ("journal.jsonl, line 7: not an entry: \x1b[2J", "user.wav is missing")
    async with replay_on_stage((120, 36), problems=problems) as stage:
        seen = stage.text()
        assert "Not all of it could be read: journal.jsonl, line 7" in seen and "2 problems (w)" in seen
        await stage.press("exclamation_mark")
        assert "Not all of it could be read" in stage.text(), "a fault of the session does not push it aside"
        await stage.press("w")
        assert "user.wav is missing" in stage.text() and "\x1b" not in stage.text()
        stage.tape.redacted = True
        await stage.press("escape", "x", "1")
        assert "Not all of it" not in stage.text() and "redacted · 2 problems (w)" in stage.text()


async def test_a_session_that_is_still_written_is_said_to_be_and_one_that_broke_off_too() -> None:
    entries = many_turns().journal.entries
    more = [([Entry(9000, entries[-1].at + 2000, Said("more"))], True), ([], True)]
    async with replay_on_stage(entries=entries, poll=lambda: more.pop(0) if more else ([], False)) as stage:
        await stage.pass_ms(300)
        assert "tier pretend-750, simulated · still being written" in stage.text()
        await stage.press("end", "space")
        await stage.pass_ms(300)
        assert "waiting for more" in stage.text()
        await stage.pass_ms(300)
        assert "ends without being closed" in stage.text() and "end of the session" in stage.text()


async def test_an_empty_journal_is_no_crash() -> None:
    async with replay_on_stage((80, 24), []) as stage:
        await stage.press(
            "s", "b", "left_square_bracket", "full_stop", "comma", "end", "e", "down", "pagedown", "space"
        )
        assert "replay" in stage.text()


async def test_muting_is_said_presenting_comes_and_goes_and_leaving_puts_it_away() -> None:
    async with replay_on_stage((80, 24)) as stage:
        await stage.press("1")
        assert stage.tape.muted == {"user"} and "you off" in stage.text()
        await stage.press("1", "2")
        assert stage.tape.muted == {"reply"} and "reply off" in stage.text()
        stage.tape.silent = "there is no speaker: no device has output channels."
        await stage.settle()
        assert "no sound: there is no speaker" in stage.text()
        await stage.press("p", "p")
        assert "conversation" in stage.text()
        await stage.pilot.press("q")
        await stage.pilot.pause()
        assert not stage.tape.running
