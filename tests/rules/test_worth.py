"""Is speculation worth it here? One sentence that anyone can act on, with its numbers."""

from __future__ import annotations

import pytest

from voicetui.views.ledger import Ledger
from voicetui.views.worth import TURNS_TO_SAY, worth


def ledger(**changes: object) -> Ledger:
    """Twenty turns in which speculation saved 6 s and wasted 40 tokens, unless told otherwise."""
    usual: dict[str, object] = {
        "turns": {}, "discarded": {}, "tried": 20, "attempts": 24, "kept": 18, "wasted_tokens": 40,
        "saved_ms": 6000.0, "wasted_ms": 900.0, "used_tokens": 400,
    }  # fmt: skip
    values = {**usual, **changes}
    saved = values["saved_ms"]
    assert isinstance(saved, float)
    rate = float(str(values["wasted_tokens"])) / saved * 100 if saved else None
    return Ledger(**values, tokens_per_100_ms=rate)  # type: ignore[arg-type]


def test_worth_it_says_what_is_saved_and_for_what() -> None:
    assert worth(ledger()) == (
        "Speculation is worth it here: 300 ms saved a turn for 2.0 wasted tokens a turn (0.7 per 100 ms); "
        "n = 20 turns, 24 drafts, 18 kept."
    )


def test_a_gain_nobody_notices_is_not_worth_it() -> None:
    assert worth(ledger(saved_ms=20 * 99.9)).startswith("Speculation is not worth it here: 99 ms saved a turn")
    assert worth(ledger(saved_ms=20 * 100.0)).startswith("Speculation is worth it here: 100 ms saved a turn")


def test_wasting_more_than_is_used_is_not_worth_it() -> None:
    assert worth(ledger(wasted_tokens=401)).startswith("Speculation is not worth it here: 300 ms")
    assert "only 20.0 were used" in worth(ledger(wasted_tokens=401))
    assert worth(ledger(wasted_tokens=400)).startswith("Speculation is worth it here")


def test_nothing_kept_tells_what_was_lost() -> None:
    assert worth(ledger(kept=0, saved_ms=0.0)) == (
        "Speculation is not worth it here: no draft was kept, 40 tokens and 0.9 s of work were wasted; "
        "n = 20 turns, 24 drafts, 0 kept."
    )


def test_nothing_tried() -> None:
    assert worth(ledger(tried=0, attempts=0)).startswith("No speculation was tried: no spoken turn")
    assert worth(ledger(attempts=0, kept=0, saved_ms=0.0)) == "No speculation was tried in 20 turns."


@pytest.mark.parametrize("turns", [1, TURNS_TO_SAY - 1])
def test_too_few_turns_to_say(turns: int) -> None:
    said = worth(ledger(tried=turns))
    assert said.startswith("Too few turns to say")
    assert f"n = {turns} turn" in said


def test_a_guess_is_called_one_and_money_is_told_where_a_tier_has_a_price() -> None:
    said = worth(ledger(estimated=True, usd_per_1000_turns=0.5, wasted_usd_per_1000_turns=0.0125))
    assert "for about 2.0 wasted tokens" in said
    assert said.endswith("18 kept; $0.0125 of $0.5000 for 1000 turns is waste.")
