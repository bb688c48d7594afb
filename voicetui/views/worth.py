"""Is speculation worth it here? One plain sentence."""

from __future__ import annotations

from voicetui.views.ledger import Ledger

TURNS_TO_SAY = 10
"""Fewer turns are an anecdote: one odd turn would decide."""

NOTICED_MS = 100.0
"""Half of the pause people leave between turns (about 200 ms): less than that in a gap goes unnoticed."""


def worth(ledger: Ledger) -> str:
    """The answer, with its numbers and how many turns it stands on.

    Worth it: it saves ``NOTICED_MS`` a turn or more, and wastes no more tokens than are used, so that it at most
    doubles what the tier has to do.
    """
    turns = ledger.tried
    if not turns:
        return "No speculation was tried: no spoken turn was made in overlap mode full."
    if not ledger.attempts:
        return f"No speculation was tried in {_count(turns, 'turn')}."
    saved_ms, wasted = ledger.saved_ms / turns, ledger.wasted_tokens / turns
    rate = f" ({ledger.tokens_per_100_ms:.1f} per 100 ms)" if ledger.tokens_per_100_ms is not None else ""
    price = f"{saved_ms:.0f} ms saved a turn for {_about(ledger)}{wasted:.1f} wasted tokens a turn{rate}"
    counts = f"n = {_count(turns, 'turn')}, {_count(ledger.attempts, 'draft')}, {ledger.kept} kept{_money(ledger)}"
    if turns < TURNS_TO_SAY:
        return f"Too few turns to say whether speculation is worth it: {price}; {counts}. It takes {TURNS_TO_SAY}."
    if not ledger.kept:
        lost = f"{_about(ledger)}{_count(ledger.wasted_tokens, 'token')} and {ledger.wasted_ms / 1e3:.1f} s of work"
        return f"Speculation is not worth it here: no draft was kept, {lost} were wasted; {counts}."
    if saved_ms < NOTICED_MS:
        return f"Speculation is not worth it here: {price}, and nobody notices {NOTICED_MS:.0f} ms; {counts}."
    if ledger.wasted_tokens > ledger.used_tokens:
        used = f"only {ledger.used_tokens / turns:.1f} were used"
        return f"Speculation is not worth it here: {price}, where {used}; {counts}."
    return f"Speculation is worth it here: {price}; {counts}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _about(ledger: Ledger) -> str:
    return "about " if ledger.estimated else ""


def _money(ledger: Ledger) -> str:
    """What the waste costs, for a tier that has a price."""
    wasted, spent = ledger.wasted_usd_per_1000_turns, ledger.usd_per_1000_turns
    if wasted is None or spent is None:
        return ""
    return f"; ${wasted:.4f} of ${spent:.4f} for 1000 turns is waste"
