"""What of a reply has been heard: its clauses laid end to end, and how far the speaker got in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voicetui.ports import PcmFloat
from voicetui.speak.audible import AUDIBLE_RMS, audible_span, frames_of, hop_frames, hop_levels
from voicetui.speak.words import Word, time_words

LONGEST_REPEAT_MS: Final = 1500.0
"""Going back to the start of a word never repeats more than this, however long the "word" is."""


@dataclass(slots=True)
class ClauseSound:
    """A clause ready for the speaker: ``samples`` float32 [n] at the device's rate, ``offset`` frames into its reply."""

    clause: int
    text: str
    samples: PcmFloat
    offset: int
    audible: tuple[int, int] | None
    words: tuple[Word, ...]
    last_loud_hop: NDArray[np.int64]
    levels: PcmFloat
    started: bool = False
    ended: bool = False

    @property
    def end(self) -> int:
        """The reply's frame after its last one."""
        return self.offset + len(self.samples)


@dataclass(slots=True)
class ReplySound:
    """The clauses of one reply in the order they are played, and the furthest frame that was played."""

    rate_hz: int
    clauses: list[ClauseSound] = field(default_factory=list)
    played: int = 0

    @property
    def total(self) -> int:
        """Frames in all clauses so far."""
        return self.clauses[-1].end if self.clauses else 0

    @property
    def heard_ms(self) -> float:
        """How much of the reply was played; a word that was repeated counts once."""
        return self.played / self.rate_hz * 1e3

    def add(self, clause: int, text: str, spoken: str, samples: PcmFloat) -> ClauseSound:
        """Lay one more clause (float32 [n] at the device's rate) at the end."""
        levels = hop_levels(samples, self.rate_hz)
        hops = np.where(levels >= AUDIBLE_RMS, np.arange(len(levels)), -1)
        span = audible_span(samples, self.rate_hz)
        words = time_words(text, spoken, *(span or (0, len(samples))))
        sound = ClauseSound(clause, text, samples, self.total, span, words, np.maximum.accumulate(hops), levels)
        self.clauses.append(sound)
        return sound

    def at(self, frame: int) -> ClauseSound | None:
        """The clause that frame is in; the last one before it where none is; None in a reply without clauses."""
        found = None
        for clause in self.clauses:
            if clause.offset > frame:
                break
            found = clause
        return found

    def heard(self) -> tuple[str, int]:
        """The model's text up to the last word that was heard at least by half, and how many words that is."""
        texts: list[str] = []
        kept, count, seen = 0, 0, 0
        for clause in self.clauses:
            reached = self.played - clause.offset
            heard = 0
            if clause.audible and reached > 0:
                heard = sum(2 * reached >= word.start + word.end for word in clause.words)
            whole = heard == len(clause.words) and reached >= len(clause.samples)
            texts.append(clause.text if whole else clause.text[: clause.words[heard - 1].text_end] if heard else "")
            seen += len(clause.words) if whole else heard
            if heard:
                kept, count = len(texts), seen
            if not whole:
                break
        return join_texts(texts[:kept]), count

    def word_start(self, frame: int) -> int | None:
        """The start of the word that is said at ``frame`` (at most 1.5 s before it); None between words."""
        clause = self.at(frame)
        if clause is None or clause.audible is None:
            return None
        inside = frame - clause.offset
        for word in clause.words:
            if word.start <= inside < word.end:
                return max(clause.offset + word.start, frame - frames_of(LONGEST_REPEAT_MS, self.rate_hz))
        return None

    def last_audible(self, first: int, end: int, gain_from: float, gain_to: float) -> int | None:
        """The end of the last audible hop among frames ``first`` to ``end`` played with gain going from one value to the other."""
        hop = hop_frames(self.rate_hz)
        for clause in reversed(self.clauses):
            low, high = max(first, clause.offset), min(end, clause.end)
            if low >= high:
                continue
            last = (high - 1 - clause.offset) // hop
            if gain_from == gain_to == 1.0:
                loud = int(clause.last_loud_hop[last])
                if clause.offset + (loud + 1) * hop > low and loud >= 0:
                    return min(high, clause.offset + (loud + 1) * hop)
                continue
            for index in range(last, (low - clause.offset) // hop - 1, -1):
                hop_low = max(low, clause.offset + index * hop)
                hop_high = min(high, clause.offset + (index + 1) * hop)
                part = ((hop_low + hop_high) / 2 - first) / (end - first)
                if clause.levels[index] * (gain_from + (gain_to - gain_from) * part) >= AUDIBLE_RMS:
                    return hop_high
        return None


def join_texts(texts: list[str]) -> str:
    """The clauses' texts as one, with a space where neither side has one and the script uses them."""
    joined = ""
    for text in texts:
        if joined and text and not joined[-1].isspace() and not text[0].isspace() and joined[-1].isascii():
            joined += " "
        joined += text
    return joined.strip()


