"""What people and machines put into text must not act in a report: it is shown, as it is."""

from __future__ import annotations

import math

import pytest

from tests.journal_builder import JournalBuilder
from tests.share.reading import Page, report_of, with_opening
from voicetui.events import Basis
from voicetui.events.listen import SpeechStarted
from voicetui.events.orders import OpenUtterance, Revise
from voicetui.events.session import Fault, TierFacts
from voicetui.events.sound import DeviceLost, DeviceOpened
from voicetui.events.speak import ClauseStarted
from voicetui.share.markup import h, literal, said

MARKUP = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style></svg><b>",
    "<!-- ",
    "]]>&amp;&#60;",
    "' onload='x",
    "`${7*7}` {{7*7}} %s {0}",
]


def hostile(text: str) -> JournalBuilder:
    """The text wherever a session can hold text."""
    journal = JournalBuilder().opened().ready()
    tier = TierFacts(text, "openai", text)
    config = {text: {text: text}, "policy": {}}
    with_opening(
        journal, tier=text, tiers=(tier,), config=config, started_utc=text, program=text, source=text, parent=text
    )
    journal.add(DeviceOpened("input", text, text, 16000, 1, 10.0, "paced"))
    journal.turn(f"you {text}", [f"reply {text}. ", f"more {text}."])
    journal.barge_in(f"you {text}", [f"one {text} two three four five. ", f"six {text} seven."], said=f"Stop {text}")
    journal.rejected("noise", text).rejected(text, text)
    journal.failed(f"why {text}", text)
    journal.add(Fault(text, text, text)).add(DeviceLost("input", text, text))
    return journal.closed(text)


@pytest.mark.parametrize("text", MARKUP)
def test_markup_from_a_session_is_only_text(text: str) -> None:
    plain = Page(report_of(hostile("plain")))
    page = Page(report_of(hostile(text)))
    assert "script" not in page.tags and "img" not in page.tags
    assert {name for _, name, _ in page.attributes} == {name for _, name, _ in plain.attributes}
    assert page.text.count(" ".join(text.split())) >= 10


def test_control_and_direction_characters_are_shown_not_obeyed() -> None:
    html = report_of(hostile("a\x1b[2J\x00\x9b\u202etxt\u2066\ud83d\x7f"))
    assert "a␛[2J␀⟦U+009B⟧⟦U+202E⟧txt⟦U+2066⟧\ufffd␡" in html
    assert not set(html) & set("\x1b\x00\x9b\u202e\u2066\x7f\ud83d")


def test_text_that_is_wide_or_joined_stays() -> None:
    for text in (
        "👩\u200d👩\u200d👧 family",
        "e\u0301le\u0301phant",
        "日本語",
        "שלום עולם",
        "🏴\U000e0067\U000e0062\U000e007f",
    ):
        assert literal(text) == text
        assert str(said(text)) == f"<bdi>{text}</bdi>"


def test_every_text_is_isolated_and_cut_where_it_is_too_long() -> None:
    assert str(said("x" * 12, 10)) == '<bdi>xxxxxxxxxx<span class="dim"> … (2 more characters)</span></bdi>'
    assert str(h("p", "<", cls='"', data_label="'")) == '<p class="&quot;" data-label="&#39;">&lt;</p>'


def test_times_that_are_no_numbers_hurt_nothing() -> None:
    journal = JournalBuilder().opened().ready().turn("Hello.", ["Hi."])
    journal.add(SpeechStarted(0, math.nan), math.nan).add(OpenUtterance(9, 2, 0, False), math.nan)
    journal.add(Revise(9, 1, "lost", False), math.inf).add(Fault("x", "no time"), math.nan)
    journal.add(ClauseStarted(Basis(1, 2, 1), 0), -math.inf).rejected("noise", "n")
    page = Page(report_of(journal))
    assert "no time" in page.text and "nan" not in page.text.lower().split()
    assert all(value not in ("nan", "inf", "nan%", "inf%") for _, _, value in page.attributes)
