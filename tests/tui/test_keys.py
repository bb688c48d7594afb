"""Keys, mouse and palette: each does what the action table says, and typing types."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import SystemCommand

from tests.tui.scenes import SCENES, Scene, starting
from tests.tui.stage import on_stage
from voicetui.events import Entry
from voicetui.events.session import GapStaged, InterruptAsked, Muted, OverlapChosen, Said, TalkKey, TierChosen
from voicetui.tui.actions import ACTIONS
from voicetui.tui.app import LEAVE_TICKS, VoiceTui
from voicetui.tui.lanes import LABEL_CELLS
from voicetui.tui.screens.presenter import PresenterScreen
from voicetui.tui.widgets.recent import RecentTurns
from voicetui.tui.widgets.type_line import TypeLine

pytestmark = pytest.mark.anyio


def test_every_action_exists_and_has_a_key_of_its_own() -> None:
    keys = [key for each in ACTIONS for key in each.keys]
    assert len(keys) == len(set(keys))
    assert all(hasattr(VoiceTui, f"action_{each.name}") for each in ACTIONS)
    assert all(each.help and each.shown for each in ACTIONS)


async def test_the_palette_has_every_action() -> None:
    async with on_stage(starting()) as stage:
        commands = [each for each in stage.app.get_system_commands(stage.app.screen) if isinstance(each, SystemCommand)]
        assert {each.help for each in ACTIONS if each.keys} <= {command.title for command in commands}


async def test_commands_become_facts() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        await stage.press("m", "i", "escape", "space")
        assert stage.engine.posted == [Muted(True), InterruptAsked(), InterruptAsked(), TalkKey(True)]


async def test_talk_and_mute_are_toggles_of_what_the_session_says() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        now_ms = stage.engine.now_ms()
        stage.engine.add(Entry(9000, now_ms, Muted(True)), Entry(9001, now_ms, TalkKey(True)))
        await stage.settle()
        assert "muted" in stage.text() and "talk key on, space hands over" in stage.text()
        await stage.press("m", "space")
        assert stage.engine.posted == [Muted(False), TalkKey(False)]


async def test_choosing_a_tier() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        await stage.press("t")
        assert "Who answers the next turn?" in stage.text()
        await stage.press("down", "enter")
        assert stage.engine.posted == [TierChosen("other")]
        await stage.press("t", "enter", "t", "escape")
        assert stage.engine.posted == [TierChosen("other")], "the present one is no change, escape none at all"


async def test_staging_a_gap_and_saying_so_everywhere() -> None:
    async with on_stage(SCENES["finished"]()) as stage:
        await stage.press("g")
        assert "Which gap shall be staged?" in stage.text()
        await stage.press("down", "enter")
        assert stage.engine.posted == [GapStaged((200.0,))]
        stage.engine.add(Entry(9000, stage.engine.now_ms(), GapStaged((200.0, 1400.0))))
        await stage.settle()
        assert "staged gap 200,1400 ms" in stage.text()
        await stage.press("p")
        assert "staged gap" in stage.text()


async def test_choosing_the_overlap() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        await stage.press("o", "up", "enter")
        assert stage.engine.posted == [OverlapChosen("clause")]


async def test_typing_types_and_nothing_else() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        await stage.press("slash", *"q m", "space", "t", "o", "ctrl+l", "plus", "question_mark")
        assert stage.app.live.query_one(TypeLine).value == "q m to+?"
        assert stage.engine.posted == [] and not stage.engine.stopped
        await stage.press("enter")
        assert stage.engine.posted == [Said("q m to+?")]
        await stage.press("h", "escape", "m")
        assert stage.engine.posted[1:] == [Muted(True)], "escape gives the keys back, and interrupts nothing"
        assert stage.app.live.query_one(TypeLine).value == ""


async def test_the_cursor_does_not_blink() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        await stage.press("slash")
        assert stage.app.live.query_one(TypeLine).cursor_blink is False


async def test_ctrl_c_copies_what_is_selected_and_leaves_otherwise() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        await stage.press("slash", *"hello", "shift+home", "ctrl+c")
        assert stage.app.clipboard == "hello" and not stage.engine.stopped
        await stage.press("end", "ctrl+c")
        assert stage.engine.stopped == 1


@pytest.mark.parametrize("before", ["", "slash", "t", "o", "g", "question_mark", "p", "ctrl+p"])
async def test_ctrl_q_leaves_from_anywhere(before: str) -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        if before:
            await stage.press(before)
        await stage.press("ctrl+q")
        assert stage.engine.stopped == 1


async def test_leaving_waits_for_the_engine_but_not_for_ever() -> None:
    scene = SCENES["speaking"]()
    async with on_stage(scene) as stage:
        stage.engine.hangs = True
        await stage.pilot.press("q")
        ticks = 0
        while stage.app.is_running and ticks <= 2 * LEAVE_TICKS:
            stage.app.look_again()
            await stage.pilot.pause()
            ticks += 1
        assert stage.engine.stopped == 1 and ticks <= LEAVE_TICKS + 2


async def test_a_second_q_leaves_at_once() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        stage.engine.hangs = True
        await stage.pilot.press("q", "q")
        await stage.pilot.pause()
        assert not stage.app.is_running


async def test_a_finished_session_stays_to_be_looked_at_unless_told() -> None:
    scene = SCENES["finished"]()
    async with on_stage(scene) as stage:
        stage.engine.running = False
        await stage.settle()
        assert stage.app.is_running and "The session is over: ↑ ↓ its turns" in stage.text()
    from dataclasses import replace

    closing = Scene(scene.journal, scene.at_ms, replace(scene.options, close_when_finished=True))
    async with on_stage(closing) as stage:
        stage.engine.running = False
        await stage.settle()
        assert not stage.app.is_running


async def test_selecting_turns_with_keys() -> None:
    async with on_stage(SCENES["finished"]()) as stage:
        await stage.press("up")
        assert "turn 8: where the gap went" in stage.text()
        await stage.press("up", "up", "up", "up")
        seen = stage.text()
        assert "turn 4: where the gap went" in seen and "Name three fruits" in seen and "▼ barge-in" in seen
        await stage.press("f")
        assert stage.app.live.selected is None
        await stage.press("up", "down")
        assert stage.app.live.selected is None, "after the newest comes following again"


async def test_a_staged_turn_says_that_it_was_held_on_purpose_and_what_came_late() -> None:
    async with on_stage(SCENES["staged"]()) as stage:
        assert "held on purpose for the 1500 ms" in stage.text() and "s▒ staged gap" in stage.text()
        await stage.press("up", "up")
        seen = stage.text()
        assert "turn 4: where the gap went" in seen and "held on purpose for the 700 ms" in seen
        assert any(line.split()[:2] == ["late", "13"] for line in seen.splitlines())
        await stage.press("up", "up")
        assert "held on purpose" not in stage.text(), "a real turn has stages"


async def test_selecting_turns_with_the_mouse() -> None:
    async with on_stage(SCENES["finished"]()) as stage:
        rows = stage.app.live.conversation.rows
        place = next(place for place, row in enumerate(rows) if row.target == 7)
        await stage.pilot.click("#conversation", offset=(20, place))
        await stage.settle()
        assert stage.app.live.selected == 7
        chosen = [row for row in stage.app.live.conversation.rows if row.target == 7]
        assert all(row.on and row.text.startswith("▌") for row in chosen)
        await stage.pilot.click(RecentTurns, offset=(6 + 2 * 2, 3))
        await stage.settle()
        assert stage.app.live.selected == 3


async def test_the_mouse_tells_of_a_span_and_selects_its_turn() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        timeline = stage.app.live.timeline
        span = next(span for span in stage.picture().timeline.spans if span.lane == "endpoint" and span.turn == 2)
        cell = int((span.start_ms + 200 - timeline.window.start_ms) // timeline.window.ms_per_cell)
        await stage.pilot.hover(timeline, offset=(LABEL_CELLS + cell, 3))
        await stage.settle()
        assert "endpoint 450 ms   turn 2   +0 to +450   silence, 450 ms" in stage.text()
        await stage.pilot.hover("#keys")
        await stage.settle()
        assert "ms/cell" in stage.text()
        await stage.pilot.click(timeline, offset=(LABEL_CELLS + cell, 3))
        await stage.settle()
        assert stage.app.live.selected == 2


async def test_zoom_scroll_and_follow() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        timeline = stage.app.live.timeline
        await stage.press("plus")
        assert timeline.window.ms_per_cell == 40 and "40 ms/cell" in stage.text()
        await stage.press("minus", "minus")
        assert timeline.window.ms_per_cell == 100
        before = timeline.window.start_ms
        await stage.press("left")
        assert timeline.window.start_ms < before and not timeline.window.following
        await stage.press("f")
        assert timeline.window.following


async def test_reading_back_and_on() -> None:
    async with on_stage(SCENES["many_turns"](), (80, 24)) as stage:
        assert "Question number 24?" in stage.text()
        await stage.press("pageup", "pageup")
        assert "Question number 24?" not in stage.text() and "rows below" in stage.text()
        await stage.press("pagedown", "pagedown")
        assert "Question number 24?" in stage.text()


async def test_presenter_mode_comes_and_goes() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        await stage.press("p")
        assert isinstance(stage.app.screen, PresenterScreen) and "conversation" not in stage.text()
        await stage.press("i")
        assert stage.engine.posted == [InterruptAsked()], "keys work there too"
        await stage.press("p")
        assert "conversation" in stage.text()


async def test_copying_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "/tmp/tmux")
    told = _told(monkeypatch)
    async with on_stage(SCENES["finished"]()) as stage:
        await stage.press(*["up"] * 5, "c")
        assert stage.app.clipboard.startswith("turn 4, gap 430 ms\nyou: Name three fruits, please.\n")
        assert "heard: Apples, pears and plums. All three" in stage.app.clipboard
        assert len(told) == 1 and told[0].startswith("Turn 4 was handed to") and "`set-clipboard`" in told[0]


async def test_pictures_are_saved_where_the_program_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = _told(monkeypatch)
    async with on_stage(SCENES["finished"]()) as stage:
        await stage.press("S")
        while not told:
            await stage.settle()
        assert str(tmp_path) in told[0]
        name, picture = _only_file(tmp_path)
        assert name.endswith(".svg") and "Jupiter" in picture


def _told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is told in passing, from now on."""
    told: list[str] = []
    monkeypatch.setattr(VoiceTui, "notify", lambda self, message, **rest: told.append(message))
    return told


def _only_file(folder: Path) -> tuple[str, str]:
    (file,) = folder.iterdir()
    return file.name, file.read_text("utf-8")


async def test_going_from_span_to_span_with_keys_tells_the_numbers_of_each() -> None:
    async with on_stage(SCENES["finished"]()) as stage:
        await stage.press(*["up"] * 7, "n")
        timeline = stage.app.live.timeline
        told, lanes = stage.text(), []
        assert timeline.chosen is not None and timeline.chosen.turn == 2
        for _ in range(8):
            assert timeline.chosen is not None
            lanes.append(timeline.chosen.lane)
            await stage.press("n")
        assert {"you", "endpoint", "transcribe", "llm"} <= set(lanes)
        await stage.press(*["N"] * 8)
        assert stage.text() == told, "the way back ends where it began"
        await stage.press("f")
        assert timeline.chosen is None and "ms/cell" in stage.text()


async def test_a_chosen_span_is_marked_without_colour_and_follows_what_becomes_of_it() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        timeline = stage.app.live.timeline
        while timeline.chosen is None or timeline.chosen.lane != "speaker" or timeline.chosen.end_ms is not None:
            await stage.press("n")
        assert "▸ speaker" in stage.text()
        first = next(line for line in stage.text().splitlines() if "speaker 1500 ms" in line)
        await stage.advance(300, step_ms=100)
        assert "speaker 1800 ms" in stage.text() and first not in stage.text()


async def test_a_click_chooses_a_span_and_a_second_one_lets_go() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        timeline = stage.app.live.timeline
        span = next(span for span in stage.picture().timeline.spans if span.lane == "endpoint" and span.turn == 2)
        cell = int((span.start_ms + 200 - timeline.window.start_ms) // timeline.window.ms_per_cell)
        await stage.pilot.click(timeline, offset=(LABEL_CELLS + cell, 3))
        await stage.pilot.hover("#keys")
        await stage.settle()
        assert "endpoint 450 ms   turn 2   +0 to +450" in stage.text() and "▸ endpoint" in stage.text()
        await stage.pilot.click(timeline, offset=(LABEL_CELLS + cell, 3))
        await stage.pilot.hover("#keys")
        await stage.settle()
        assert timeline.chosen is None and stage.app.live.selected is None
