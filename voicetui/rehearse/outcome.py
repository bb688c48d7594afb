"""What a re-run changed, in short: turns, gap, words. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from voicetui.events.words import normalise_words


class Gap(msgspec.Struct, frozen=True):
    """A session's median gap over ``n`` turns; None without any. ``what`` is "staged", "simulated" or ""."""

    p50_ms: float | None
    n: int
    what: str = ""


class Comparison(msgspec.Struct, frozen=True):
    """The old session's figures, then the new one's.

    ``word_errors`` is the edit distance from the words of all old turns, of which there are ``words``, to the new ones.
    """

    turns: tuple[int, int]
    outcomes: tuple[tuple[str, ...], tuple[str, ...]]
    gaps: tuple[Gap, Gap]
    word_errors: int
    words: int

    def told(self, complete: bool = True) -> list[str]:
        """As lines for a person; of a re-run that was ended early not the words, of which most were not said."""
        errors = f"{self.word_errors} of {self.words} ({self.word_errors / self.words:.1%})" if self.words else ""
        changed = [
            f"turn {number} {one} -> {other}"
            for number, (one, other) in enumerate(zip(*self.outcomes, strict=False), 1)
            if one != other
        ]
        otherwise = f" ({', '.join(changed)})" if changed else ""
        return [
            f"turns {self.turns[0]} -> {self.turns[1]}{otherwise}{'' if complete else ' (ended early)'}",
            f"gap p50 {_told(self.gaps[0])} -> {_told(self.gaps[1])}",
            *([f"word errors {errors or 'cannot be told: there are no words of the old turns'}"] if complete else []),
        ]


def compared(old: Mapping[str, Any], new: Mapping[str, Any]) -> Comparison:
    """Two session summaries, as ``views.summary.summarise`` makes them."""
    words = [_words(each["turns"]) for each in (old, new)]
    outcomes = [tuple(str(turn["outcome"] or "not over") for turn in each["turns"]) for each in (old, new)]
    return Comparison(
        (len(old["turns"]), len(new["turns"])),
        (outcomes[0], outcomes[1]),
        (_gap(old), _gap(new)),
        word_errors(words[0], words[1]),
        len(words[0]),
    )


def _words(turns: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the user said, once: the words of a turn that was taken back are also the first of the next."""
    texts = [normalise_words(turn["user_text"]) for turn in turns]
    said: list[str] = []
    for place, text in enumerate(texts):
        following = texts[place + 1] if place + 1 < len(texts) else ()
        if turns[place]["outcome"] not in ("cut_off", "superseded") or following[: len(text)] != text:
            said += text
    return said


def word_errors(reference: Sequence[str], found: Sequence[str]) -> int:
    """The least number of words to insert, leave out or replace that makes one of the other (Levenshtein, 1966)."""
    row = list(range(len(found) + 1))
    for number, word in enumerate(reference, 1):
        before, row[0] = row[0], number
        for place, other in enumerate(found, 1):
            least = min(row[place] + 1, row[place - 1] + 1, before + (word != other))
            before, row[place] = row[place], least
    return row[-1]


def _gap(summary: Mapping[str, Any]) -> Gap:
    staged = not summary["gap_ms"]["n"] and summary["staged_gap_ms"] is not None
    figures = summary["staged_gap_ms"] if staged else summary["gap_ms"]
    return Gap(figures["p50"], figures["n"], "staged" if staged else "simulated" if summary["simulated"] else "")


def _told(gap: Gap) -> str:
    if gap.p50_ms is None:
        return "none"
    return f"{gap.p50_ms:.0f} ms (n = {gap.n}{f', {gap.what}' if gap.what else ''})"
