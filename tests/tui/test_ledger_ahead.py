"""The ledger's page tells what was done ahead of requests, where anything was."""

from __future__ import annotations

from voicetui.tui.widgets.ledger import ledger_page
from voicetui.views.ledger import Ledger
from voicetui.views.prewarm import Prewarming
from voicetui.views.retrieval import Retrieval

NOTHING = Ledger(turns={}, discarded={}, attempts=0, kept=0, wasted_tokens=0, saved_ms=0.0)


def page(ledger: Ledger, width: int = 90) -> str:
    return "\n".join(row.text for row in ledger_page(ledger, width))


def test_prefill_and_notes_are_told_with_what_was_for_nothing() -> None:
    ledger = Ledger(
        turns={}, discarded={}, attempts=0, kept=0, wasted_tokens=0, saved_ms=0.0,
        prewarm=Prewarming(count=9, tokens=212, wasted_tokens=31),
        retrieval=Retrieval(asked=6, adopted=3, refreshed=2, same=2, stale=1),
    )  # fmt: skip
    text = page(ledger)
    assert "prompt ahead   times 9  tokens 212  for nothing 31 tokens" in text
    assert "looked up 6  adopted 3  in place of others 2  the same 2  too late 1  failed 0" in text
    assert all(len(line) <= 40 for line in page(ledger, 40).splitlines())


def test_a_session_that_did_nothing_ahead_does_not_speak_of_it() -> None:
    assert "ahead" not in page(NOTHING)
