"""Reports of golden journals: known answers, what is missing said as missing, and nothing that reaches outside."""

from __future__ import annotations

import re

import pytest

from tests.journal_builder import COMMIT_EARLY, COMMIT_LATE, SEQUENTIAL, JournalBuilder
from tests.share.reading import Page, facts_of, report_of, with_opening
from tests.tui.scenes import conversation, many_turns, staged
from voicetui.events.orders import IMPORTED
from voicetui.journal.read import Problem
from voicetui.share.report_page import MARK, report_html
from voicetui.share.report_sound import Sound


def three() -> JournalBuilder:
    """Gaps of 430, 480 and 940 ms."""
    journal = JournalBuilder().opened().ready()
    for timing in (COMMIT_EARLY, COMMIT_LATE, SEQUENTIAL):
        journal.turn("What time is it?", ["It is noon."], timing)
    return journal.closed()


def test_the_first_screenful_tells_the_gap_its_band_and_what_stands_beside_it() -> None:
    page = Page(report_of(three()))
    top = page.text.partition("Gaps")[0]
    assert "480 ms" in top and "median gap, n = 3 turns" in top and "quick" in top
    assert "p95 – n too small, it takes 20" in top
    assert "max 940 ms workable" in top
    assert "rhythm 255 ms largest change 460 ms" in top
    assert "cut-offs 0 of 3 turns" in top and "collisions 0" in top
    assert (
        "From only 3 turns: it answers quickly, a little later than people answer each other; the slowest answer took "
        "940 ms (workable), and it never answered into an unfinished sentence." in top
    )


def test_cut_offs_and_collisions_are_part_of_what_it_means() -> None:
    journal = JournalBuilder().opened().ready()
    journal.cut_off("I would like", "to know the time.", ["It is noon."])
    journal.superseded("What time is it?", "And the date?", ["It is Monday."])
    for _ in range(4):
        journal.turn("Hello.", ["Hi."])
    top = Page(report_of(journal.closed())).text.partition("Gaps")[0]
    assert "in 1 of 8 turns it answered into an unfinished sentence" in top
    assert "1 time the person spoke again while waiting for it" in top and "2 other turns told apart" in top


def test_the_parts_of_the_mean_gap_add_up() -> None:
    text = Page(report_of(three())).section("Where the gap went")
    parts = {
        name: float(ms) for name, ms in re.findall(r"(endpoint|transcribe|first token|output) .*? (\d+) ms \d+%", text)
    }
    shares = [int(share) for share in re.findall(r"(\d+)%", text)]
    assert "617 ms 100%" in text and parts["output"] == 30
    assert abs(sum(shares[:-1]) - 100) <= 3


def test_enough_turns_have_a_95th_percentile_and_a_simulated_tier_is_labelled() -> None:
    page = Page(report_of(many_turns().journal))
    top = page.text.partition("Gaps")[0]
    assert "simulated tier" in top and "made-up times" in top
    assert re.search(r"p95 \d+ ms one in 20 is longer", top)


def test_staged_gaps_stand_apart() -> None:
    facts = facts_of(staged().journal)
    page = Page(report_html([facts], "test"))
    assert "median gap, n = 2 turns" in page.text and "3 other turns told apart" in page.text
    assert "staged gaps (made on purpose)" in page.section("Gaps")
    alone = JournalBuilder().opened().ready()
    alone.entries += [entry for entry in staged().journal.entries[len(alone.entries) :] if _of_later_turns(entry.body)]
    text = Page(report_of(alone)).text
    assert "median staged gap, n = 3 turns" in text and "say nothing about how fast a tier is" in text
    assert "Not known: gaps that are staged are made by no stage." in text


def _of_later_turns(body: object) -> bool:
    basis = getattr(body, "basis", None)
    turn = basis.turn if basis is not None else getattr(body, "turn", 3)
    return turn is None or turn >= 3


def test_barge_ins_struck_words_rejections_and_the_ledger_are_told() -> None:
    page = Page(report_of(conversation()))
    barge = page.section("Spoken over an answer")
    assert "took the floor" in barge and "230 ms" in barge and "560 ms" in barge and "only a sign of listening" in barge
    assert "and they keep until spring." in page.struck and "Apples" not in page.struck
    assert page.text.count("(not heard:)") == 1, "the reply that was cut has one piece that was not heard"
    assert "noise" in page.section("Faults")
    assert "Too few turns to say" in page.section("Speculation: is it worth it here?")


def test_faults_come_with_their_remedy_and_a_turn_without_a_gap_with_its_reason() -> None:
    journal = JournalBuilder().opened().ready()
    journal.turn("Hello.", ["Hi."]).failed("And now?", "api.example.com: refused").typed("Typed.", ["Yes."])
    page = Page(report_of(journal))
    faults = page.section("Faults")
    assert "api.example.com: refused" in faults and "Check the network." in faults
    assert "no gap: nobody spoke: the turn was typed" in page.text
    assert "2 turns told apart, in no figure: 1 failed; 1 typed" in page.section("Gaps")
    assert "The session did not end in order" in page.text


@pytest.mark.parametrize(
    "journal", [JournalBuilder(), JournalBuilder().opened(), JournalBuilder().opened().ready().typed("a", ["b"])]
)
def test_a_session_without_a_gap_says_so(journal: JournalBuilder) -> None:
    page = Page(report_of(journal))
    assert "no gap" in page.text and "There is nothing to measure" in page.text


def test_of_an_imported_call_nothing_is_claimed_that_its_sound_does_not_tell() -> None:
    page = Page(report_of(with_opening(three(), source="imported")))
    assert "A call recorded elsewhere" in page.text and "cut-offs – not known: the sound does not tell" in page.text
    assert "unfinished sentence" not in page.text.partition("Gaps")[0]
    assert page.section("Conversation").endswith("Not known: a recorded call has no words here.")


def test_problems_of_the_recording_are_named() -> None:
    facts = facts_of(three())
    hurt = type(facts)(**{name: getattr(facts, name) for name in facts.__struct_fields__} | {
        "problems": (Problem(7, "bad", "not an entry: <b>"),)})  # fmt: skip
    page = Page(report_html([hurt], "test"))
    assert "1 problem in the recording" in page.text and "7 journal.jsonl not an entry: <b>" in page.text


def test_nothing_reaches_outside_and_no_script_is_in_it() -> None:
    html = report_html([facts_of(conversation())], "test", [Sound("audio/ogg", b"OggS" * 90, "left, right")])
    page = Page(html)
    assert MARK in html[:300]
    assert {"script", "img", "iframe", "link", "object", "form", "base"}.isdisjoint(page.tags)
    for tag, name, value in page.attributes:
        assert not name.startswith("on") and name != "style", (tag, name)
        if name in ("src", "href", "xlink:href", "action", "poster", "srcset"):
            assert value.startswith(("#", "data:audio/ogg;base64,")), value
    style = html.partition("<style>")[2].partition("</style>")[0]
    assert "@import" not in style and all(url.startswith("#") for url in re.findall(r"url\(([^)]*)", style))
    policy = next(value for _, name, value in page.attributes if name == "content" and "default-src" in value)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")


def test_secrets_and_what_is_before_an_address_stay_out() -> None:
    config = {
        "tiers": [{"name": "fast", "api_key": "sk-hidden", "base_url": "https://me:pass1234@api.example.com/v1",
                   "api_key_env": "FAST_API_KEY", "extra": {"headers": {"Authorization": "Bearer hidden2"}}}],
        "policy": {},
    }  # fmt: skip
    html = report_of(with_opening(three(), config=config))
    assert "sk-hidden" not in html and "hidden2" not in html and "pass1234" not in html
    setup = Page(html).section("Setup and versions")
    assert "FAST_API_KEY" in setup and "https://(removed)@api.example.com/v1" in setup


def test_several_sessions_stand_in_a_table_and_have_a_part_each() -> None:
    page = Page(report_of(three(), many_turns().journal))
    assert "2 sessions" in page.text and "A golden-1 local, full 3 480 ms" in page.text
    assert "B golden-2 pretend-750, full, simulated 24" in page.text and "n < 20" in page.text
    assert page.tags.count("article") == 3


def test_an_hour_of_800_turns_fits_and_is_summarised() -> None:
    journal = JournalBuilder().opened().ready()
    timings = (COMMIT_EARLY, COMMIT_LATE, SEQUENTIAL)
    for number in range(800):
        words = f"Question number {number} of many, and it has a usual length, has it not?"
        journal.turn(words, ["Here is an answer of a usual length. ", "It has two clauses."], timings[number % 3])
    html = report_of(journal.closed())
    assert len(html.encode()) < 2_000_000
    page = Page(html)
    assert "n = 800 turns" in page.text and "Question number 799 of many" in page.text
    assert "The 4 slowest of 800 turns" in page.text
    assert page.tags.count("svg") < 40


def test_a_call_without_known_cut_offs_is_not_one_without_cut_offs() -> None:
    call = with_opening(JournalBuilder().opened().ready().turn("Hello.", ["Hello."]).closed(), source=IMPORTED)
    own = JournalBuilder().opened().ready().turn("Hello.", ["Hello."]).closed()
    cells = [row.split("|")[8] for row in table_rows(report_of(call, own))]
    assert cells == ["–", "0"], "side by side as well as by itself"


def test_why_there_is_no_figure_contradicts_no_turn() -> None:
    journal = JournalBuilder().opened().ready().typed("What time is it?", ["It is noon."]).unanswered("And now?")
    page = Page(report_of(journal.closed()))
    assert "no gap counts: 1 × typed, so there is no end of speech, 1 × nothing to say came back" in page.text
    assert "1 × heard to its end" not in page.text


def table_rows(html: str) -> list[str]:
    """The rows of a page's first table, their cells apart."""
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    return [re.sub(r"<[^>]+>", "", re.sub(r"</t[hd]>", "|", row)) for row in body.split("</tr>") if row]
