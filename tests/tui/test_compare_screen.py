"""The comparison's screen: two golden sessions, walked through, at three sizes."""

from __future__ import annotations

import pytest

from tests.journal_builder import COMMIT_EARLY, JournalBuilder
from tests.tui.compare_stage import ANSWER, ASKED, compared, fast, folded, slow
from tests.tui.conftest import CompareGolden
from tests.tui.scenes import SIZES, staged
from voicetui.bench.compared import compare_all
from voicetui.events import Basis
from voicetui.events.orders import IMPORTED, Commit, EndTurn
from voicetui.events.speak import ClauseStarted, PlaybackFinished
from voicetui.tui.compared import OTHERS, steps
from voicetui.tui.lanes import LABEL_CELLS
from voicetui.tui.widgets.pairs import PairsList
from voicetui.tui.widgets.two_timelines import TwoTimelines
from voicetui.views.compare import fold_session

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_two_sessions_under_one_axis(size: tuple[int, int], golden: CompareGolden) -> None:
    async with compared([slow(), fast()], size) as screen:
        golden(f"compare-{size[0]}x{size[1]}", screen.text())
        lines = screen.text().splitlines()
        assert len(lines) == size[1] and max(map(len, lines)) <= size[0]
        assert "q quit" in lines[-1]


async def test_a_turn_that_one_side_does_not_have(golden: CompareGolden) -> None:
    async with compared([slow(), fast()], (80, 24)) as screen:
        golden("compare-alone-80x24", await screen.press("end"))


async def test_both_speakers_stop_in_the_same_column_and_each_gap_has_its_length() -> None:
    async with compared([slow(), fast()]) as screen:
        timelines = screen.app.compare.query_one(TwoTimelines)
        gaps = [row.text[LABEL_CELLS:] for row in timelines.rows if " gap" in row.text[:LABEL_CELLS]]
        axis = timelines.rows[0].text[LABEL_CELLS:]
        assert [gap.index("┗") for gap in gaps] == [axis.index("┬")] * 2
        ms = int(timelines.rows[0].text.split()[0])
        lengths = [(gap.index("┛") - gap.index("┗")) * ms for gap in gaps]
        assert abs(lengths[0] - 940) <= ms and abs(lengths[1] - 430) <= ms
        assert "940 ms ▲ workable" in gaps[0] and "430 ms ◆ quick" in gaps[1]


async def test_walking_zooming_and_coming_back_by_keys_and_mouse() -> None:
    async with compared([slow(), fast()]) as screen:
        timelines, pairs = screen.app.compare.query_one(TwoTimelines), screen.app.compare.query_one(PairsList)
        before = timelines.rows
        assert "2 of " in screen.text()
        assert "3 of " in await screen.press("down") and "1 of " in await screen.press("home", "up")
        await screen.press("down", "plus", "right")
        assert timelines.rows != before
        await screen.press("f")
        assert timelines.rows == before
        await screen.pilot.click(PairsList, offset=(6, 4))
        await screen.pilot.pause()
        assert screen.app.compare.view.place == 3
        pairs.post_message(PairsList.Walked(-1))
        await screen.pilot.pause()
        assert screen.app.compare.view.place == 2


async def test_the_base_is_compared_with_the_next_session_on_tab_and_q_leaves() -> None:
    async with compared([slow(), fast(), slow()]) as screen:
        assert "B − A by stage" in screen.text()
        assert "C − A by stage" in await screen.press("tab")
        assert "B − A by stage" in await screen.press("tab")
        await screen.pilot.press("q")
        await screen.pilot.pause()
        assert not screen.app.is_running


async def test_all_figures_are_one_key_away_and_can_be_read_to_their_end() -> None:
    async with compared([slow(), fast()], (80, 24)) as screen:
        text = await screen.press("d")
        assert "all figures" in text and "what differs: overlap none → full" in text
        assert "ms saved" in await screen.press("end")
        assert "B − A by stage" in await screen.press("escape")


async def test_staged_gaps_are_told_from_real_ones() -> None:
    made = fold_session("staged", staged().journal.entries)
    async with compared([made, made], (80, 24)) as screen:
        text = await screen.press("end")
        assert (
            "1500 s" in text
            and "1500 ms staged gap" in text
            and "staged n 3" in text
            and "purpose, by no stage" in text
        )


async def test_a_simulated_tier_and_the_band_of_a_short_gap_are_told_on_the_smallest_screen() -> None:
    journal = JournalBuilder().opened("pretend-750", simulated=True).ready()
    for text in ASKED:
        journal.turn(text, ANSWER, COMMIT_EARLY)
    pretend = folded("pretend", "2030-01-01T00:20:00Z", journal)
    async with compared([slow(), pretend], (80, 24)) as screen:
        assert "B pretend simulated" in screen.text()
        text = await screen.press("minus")
        assert "430 ms ◆ quick" in text and "940 ms ▲ workable" in text


def test_the_steps_of_the_bridge_lead_from_one_gap_to_the_other() -> None:
    (found,) = compare_all([slow(), fast()])
    pair = found.comparison.pairs[1]
    before, after = found.comparison.gaps_ms(pair)
    assert before is not None and after is not None
    for most in (2, 4, 11):
        told = steps(found, pair, most)
        assert len(told) <= most
        assert sum(each.difference_ms or 0.0 for each in told) == pytest.approx(after - before)
    assert steps(found, pair, 2)[-1].stage == OTHERS


def test_stages_that_a_side_does_not_tell_are_in_no_sum() -> None:
    call = JournalBuilder().opened(IMPORTED).ready()
    call.add(Commit(Basis(1, 1, 1), None, "", IMPORTED))
    call.add(ClauseStarted(Basis(1, 1, 1), 0)).add(PlaybackFinished(Basis(1, 1, 1)))
    call.add(EndTurn(1, Basis(1, 1, 1), "completed", "", ""))
    own = JournalBuilder().opened().ready().turn("Hello.", ["Hello."], COMMIT_EARLY)
    sessions = folded("call", "2030-01-01T00:00:00Z", call), folded("own", "2030-01-01T00:10:00Z", own)
    (found,) = compare_all(sessions)
    told = steps(found, found.comparison.pairs[0], 4)
    assert [each.stage for each in told][-1] == OTHERS
    assert told[-1].one_ms is None and told[-1].difference_ms is None


async def test_at_80_columns_no_sentence_just_stops_and_no_columns_touch() -> None:
    asked = ("Tell me about whales.", "Sing a song.", "Count to ten.")
    other, nothing = JournalBuilder().opened().ready(), JournalBuilder().opened().ready()
    for text in asked:
        other.turn(text, ANSWER)
    named = folded("20300101T001000Z-local", "2030-01-01T00:10:00Z", other)
    async with compared([slow(), named], (80, 24)) as screen:
        assert screen.text().splitlines()[-2].rstrip().endswith("…")
    async with compared([folded("none", "2030-01-01T00:00:00Z", nothing), named], (80, 24)) as screen:
        assert "▸ – 1 Tell" in screen.text()
