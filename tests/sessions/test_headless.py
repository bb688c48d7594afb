"""What a session without a screen says in the end."""

from __future__ import annotations

import io

from tests.journal_builder import JournalBuilder
from voicetui.headless import Teller, tell_figures
from voicetui.views.summary import summarise


def session() -> JournalBuilder:
    return JournalBuilder().opened().ready()


def said_of(journal: JournalBuilder) -> tuple[str, str]:
    """The lines on stdout, and the talk beside and after them."""
    out, talk = io.StringIO(), io.StringIO()
    Teller(lambda told: journal.entries[told:], out, talk).tell()
    tell_figures(summarise(journal.entries), talk)
    return out.getvalue(), talk.getvalue()


def test_a_failed_turn_is_counted_in_the_end_and_no_draft_of_it_counts_as_kept() -> None:
    out, talk = said_of(session().failed("Hello?").turn("What time is it?", ["It is noon."]).closed())
    assert "turns that failed: 1 of 2" in talk
    failed, completed = out.splitlines()
    assert "failed" in failed and "draft" not in failed
    assert "completed" in completed and "draft kept" in completed


def test_where_nobody_spoke_that_is_said_and_only_there() -> None:
    assert "no speech was heard" in said_of(session().closed())[1]
    for journal in (session().rejected("noise"), session().turn("What time is it?", ["It is noon."])):
        assert "no speech was heard" not in said_of(journal.closed())[1]
