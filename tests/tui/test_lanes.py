"""What the lanes show: growth, kinds of work, marks, and the gap to scale."""

from __future__ import annotations

from tests.journal_builder import COMMIT_LATE, JournalBuilder
from tests.tui.fake_engine import FakeEngine
from tests.tui.scenes import conversation
from voicetui.tui.feed import Feed
from voicetui.tui.ink import Row
from voicetui.tui.lanes import LABEL_CELLS, Lanes, Tall, timeline_rows, wave
from voicetui.tui.view import ScreenView
from voicetui.tui.window import Window
from voicetui.views.timeline import LANES

WIDTH = 120


def view_at(journal: JournalBuilder, at_ms: float) -> ScreenView:
    feed = Feed(FakeEngine(journal.entries, at_ms))
    feed.drain()
    return feed.picture()


def lanes(view: ScreenView, window: Window, selected: int | None = None) -> dict[str, Row]:
    rows = timeline_rows(view, window, WIDTH, selected)
    return dict(zip(("ruler", "marks", *LANES, "gap"), rows, strict=True))


def cells(row: Row) -> str:
    return row.text[LABEL_CELLS:]


def one_turn() -> JournalBuilder:
    return JournalBuilder().opened().ready().turn("What time is it?", ["It is noon."], COMMIT_LATE)


def test_spans_grow_while_they_last() -> None:
    journal = one_turn()
    end = journal.times[1].user_end
    window = Window(0, 20)
    lengths = [len(cells(lanes(view_at(journal, end + ms), window)["endpoint"]).strip()) for ms in (120, 220, 320)]
    assert lengths == sorted(lengths) and lengths[0] < lengths[2]


def test_the_gap_is_drawn_to_scale_with_its_number_and_band() -> None:
    journal = one_turn()
    row = cells(lanes(view_at(journal, journal.now_ms), Window(1000, 20))["gap"])
    assert row.index("┘") - row.index("└") == 480 // 20
    assert "480 ms ◆ quick" in row


def test_a_gap_too_short_for_its_words_has_them_behind_it() -> None:
    journal = one_turn()
    row = cells(lanes(view_at(journal, journal.now_ms), Window(0, 50))["gap"])
    assert "┘ 480 ms ◆ quick" in row
    row = cells(lanes(view_at(journal, journal.now_ms), Window(0, 40))["gap"])
    assert "┘ 480 ms ◆ quick" in row, "though the number alone would fit inside"


def test_a_growing_gap_says_how_long_it_is_already() -> None:
    journal = one_turn()
    row = cells(lanes(view_at(journal, journal.times[1].user_end + 300), Window(1000, 20))["gap"])
    assert "300 ms …" in row and "┘" not in row


def test_speculative_and_discarded_work_differ_by_glyph() -> None:
    journal = JournalBuilder().opened().ready().turn("What time is it now?", ["It is noon."], COMMIT_LATE, dropped=1)
    found = lanes(view_at(journal, journal.now_ms), Window(500, 20))
    assert "╍" in found["llm"].text and "×" in found["context"].text
    inks = {run.ink for run in found["llm"].runs}
    assert {"speculative"} <= inks
    assert "━" in found["endpoint"].text


def test_marks_have_glyphs_and_words() -> None:
    journal = conversation()
    onset = journal.times[4].reply_start + 1500
    found = lanes(view_at(journal, journal.now_ms), Window(onset - 1000, 50))
    assert "▼ barge-in" in found["marks"].text and "◆ commit" in found["marks"].text
    assert "▽" in found["speaker"].text and "╳ cut" in found["speaker"].text
    back = lanes(view_at(journal, journal.now_ms), Window(journal.times[6].reply_start, 50))
    assert "▷" in back["speaker"].text and "backchannel" in back["marks"].text


def test_rejected_speech_is_shaded() -> None:
    journal = JournalBuilder().opened().ready().rejected("noise", speech_ms=600)
    found = lanes(view_at(journal, journal.now_ms), Window(0, 20))
    assert "░" in found["you"].text and "∅ rejected" in found["marks"].text


def test_durations_stand_behind_the_work() -> None:
    found = lanes(view_at(one_turn(), 99_000), Window(1000, 20))
    assert "450" in found["endpoint"].text and "90" in found["transcribe"].text


def test_a_selected_turn_has_a_heavy_bracket() -> None:
    journal = one_turn()
    row = cells(lanes(view_at(journal, journal.now_ms), Window(1000, 20), selected=1)["gap"])
    assert "┗" in row and "┛" in row


def test_every_row_fits() -> None:
    journal = conversation()
    view = view_at(journal, journal.now_ms)
    for ms in (5, 50, 1000):
        for start in (0.0, 10_000.0, 30_000.0):
            rows = timeline_rows(view, Window(start, ms), WIDTH, 4, Tall(rows=4))
            assert len(rows) == 17
            assert all(row.cells <= WIDTH for row in rows)


def test_rows_that_are_kept_are_those_that_would_be_drawn_anew() -> None:
    journal = conversation()
    feed, kept = Feed(engine := FakeEngine(journal.entries, 0.0)), Lanes()
    window = Window(0, 50)
    while engine.now_ms() < journal.now_ms:
        engine.advance(70)
        feed.drain()
        view = feed.picture()
        window = window.follow(view.now_ms, WIDTH - LABEL_CELLS - 1, [view.now_ms])
        turn = 2 if len(view.turns) % 2 else None
        chosen = view.timeline.spans[-1] if view.turns and turn is None else None
        tall = Tall(rows=1 + len(view.turns) % 3)
        assert kept.rows(view, window, WIDTH, turn, tall, chosen) == timeline_rows(
            view, window, WIDTH, turn, tall, chosen
        )
    assert len(view.turns) > 3


def test_waves_are_higher_the_louder_and_mirrored_where_there_is_room() -> None:
    assert [wave(dbfs, 1) for dbfs in (-80, -27, 0)] == ["▁", "▄", "█"]
    assert wave(-80, 2) == " ▁" and wave(0, 2) == "██"
    assert wave(0, 4) == "████" and wave(-80, 4) == " ▄▀ "
