"""Is speculation worth it here? One plain sentence."""

from __future__ import annotations

from typing import Literal

from voicetui.views.ledger import Ledger

Verdict = Literal["off", "not tried", "too few", "nothing kept", "unnoticed", "costly", "worth it"]

TURNS_TO_SAY = 10
"""Fewer turns are an anecdote: one odd turn would decide."""

NOTICED_MS = 100.0
"""Half of the pause people leave between turns (about 200 ms): less than that in a gap goes unnoticed."""


def verdict(ledger: Ledger) -> Verdict:
    """The answer in short.

    "worth it": it saves ``NOTICED_MS`` a turn or more, and wastes no more tokens than are used, so that it at most
    doubles what the tier has to do.
    """
    if not ledger.tried:
        return "off"
    if not ledger.attempts:
        return "not tried"
    if ledger.tried < TURNS_TO_SAY:
        return "too few"
    if not ledger.kept:
        return "nothing kept"
    if ledger.saved_ms < NOTICED_MS * ledger.tried:
        return "unnoticed"
    return "costly" if ledger.wasted_tokens > ledger.used_tokens else "worth it"


def worth(ledger: Ledger) -> str:
    """The answer as a sentence, with its numbers and how many turns it stands on."""
    answer = verdict(ledger)
    if answer == "off":
        return "No speculation was tried: no spoken turn was made in overlap mode full."
    turns = ledger.tried
    if answer == "not tried":
        return f"No speculation was tried in {_count(turns, 'turn')}."
    about = "about " if ledger.estimated else ""
    rate = f" ({ledger.tokens_per_100_ms:.1f} per 100 ms)" if ledger.tokens_per_100_ms is not None else ""
    saved = f"{int(ledger.saved_ms / turns)} ms saved a turn"  # not rounded up: 99.6 is less than 100
    bargain = f"{saved} for {about}{ledger.wasted_tokens / turns:.1f} wasted tokens a turn{rate}"
    counts = f"n = {_count(turns, 'turn')}, {_count(ledger.attempts, 'draft')}, {ledger.kept} kept{_money(ledger)}"
    if answer == "too few":
        return f"Too few turns to say whether speculation is worth it: {bargain}; {counts}. It takes {TURNS_TO_SAY}."
    if answer == "nothing kept":
        lost = f"{about}{_count(ledger.wasted_tokens, 'token')} and {ledger.wasted_ms / 1e3:.1f} s of work"
        return f"Speculation is not worth it here: no draft was kept, {lost} were wasted; {counts}."
    if answer == "unnoticed":
        return f"Speculation is not worth it here: {bargain}, and under {NOTICED_MS:.0f} ms go unnoticed; {counts}."
    if answer == "costly":
        used = f"only {ledger.used_tokens / turns:.1f} were used"
        return f"Speculation is not worth it here: {bargain}, where {used}; {counts}."
    return f"Speculation is worth it here: {bargain}; {counts}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _money(ledger: Ledger) -> str:
    """What the waste costs, for a tier that has a price."""
    wasted, spent = ledger.wasted_usd_per_1000_turns, ledger.usd_per_1000_turns
    if wasted is None or spent is None:
        return ""
    return f"; ${wasted:.4f} of ${spent:.4f} for 1000 turns is waste"
