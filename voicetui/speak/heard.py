"""What of a reply has been heard: its clauses laid end to end, and how far the speaker got in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voicetui.ports import PcmFloat
from voicetui.speak.audible import AUDIBLE_RMS, audible_span, frames_of, hop_frames, hop_levels
from voicetui.speak.output import BACK_FADE_MS
from voicetui.speak.words import Span, Word, words_of_text

LONGEST_REPEAT_MS: Final = 1500.0
"""Going back to the start of a word never repeats more than this, however long the "word" is."""


@dataclass(slots=True)
class ClauseSound:
    """A clause for the speaker: ``samples`` float32 [n] at the device's rate, ``offset`` frames into its reply.

    ``audible`` are its frames from the first to the last that can be heard; ``levels`` the RMS of its 5 ms hops;
    ``last_loud_hop`` for each hop the newest audible one up to it (-1: none).  While ``growing``, more samples come;
    one that ``broke_off`` has fewer of them than its words would take.
    """

    clause: int
    text: str
    samples: PcmFloat
    offset: int
    audible: Span | None
    words: tuple[Word, ...]
    levels: PcmFloat
    last_loud_hop: NDArray[np.int64]
    growing: bool = False
    broke_off: bool = False
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
    def lead(self) -> int:
        """Frames of silence before the first that is audible, in the first clause."""
        first = self.clauses[0] if self.clauses else None
        return first.audible[0] if first is not None and first.audible is not None else 0

    @property
    def heard_ms(self) -> float:
        """How much of the reply was played; a word that was repeated counts once."""
        return self.played / self.rate_hz * 1e3

    @property
    def growing(self) -> bool:
        """Whether more samples of the last clause will come."""
        return bool(self.clauses) and self.clauses[-1].growing

    def add(
        self,
        clause: int,
        text: str,
        spoken: str,
        samples: PcmFloat,
        sounded: tuple[Span, ...],
        growing: bool = False,
    ) -> ClauseSound:
        """Lay one more clause at the end. ``sounded``: the frames of each word of ``spoken`` in ``samples``."""
        levels, last_loud_hop = _loud_hops(samples, self.rate_hz)
        sound = ClauseSound(
            clause,
            text,
            samples,
            self.total,
            audible_span(samples, self.rate_hz),
            words_of_text(text, spoken, sounded),
            levels,
            last_loud_hop,
            growing,
        )
        self.clauses.append(sound)
        return sound

    def grow(self, spoken: str, samples: PcmFloat, sounded: tuple[Span, ...], growing: bool) -> None:
        """More samples of the last clause; ``sounded`` may have become exact. Not ``growing``: these are the last."""
        sound = self.clauses[-1]
        sound.samples = np.concatenate((sound.samples, samples))
        sound.levels, sound.last_loud_hop = _loud_hops(sound.samples, self.rate_hz)
        sound.audible = audible_span(sound.samples, self.rate_hz)
        sound.words = words_of_text(sound.text, spoken, sounded)
        sound.growing = growing

    def at(self, frame: int) -> ClauseSound | None:
        """The clause that ``frame`` is in; beyond the end the last one; None in a reply without clauses."""
        for clause in self.clauses:
            if frame < clause.end:
                return clause
        return self.clauses[-1] if self.clauses else None

    def heard(self) -> tuple[str, int]:
        """The model's text up to the last word that was heard at least by half, and how many words that is."""
        texts: list[str] = []
        kept = count = passed = 0
        for clause in self.clauses:
            reached = min(self.played, clause.end if clause.broke_off else self.played) - clause.offset
            heard = 0
            if clause.audible and reached > clause.audible[0]:
                heard = sum(2 * reached >= word.start + word.end for word in clause.words)
            to_its_end = reached >= len(clause.samples) and not clause.growing
            if heard == len(clause.words) and to_its_end:
                texts.append(clause.text)
            else:
                texts.append(clause.text[: clause.words[heard - 1].text_end] if heard else "")
            passed += heard if clause.audible else len(clause.words)
            if heard:
                kept, count = len(texts), passed
            if not to_its_end:
                break
        return joined(texts[:kept]), count

    def word_start(self, frame: int) -> int | None:
        """Where to go on to say the word that is said at ``frame`` again; None between words.

        In the pause before the word, as early as a fade-in takes; at most 1.5 s before ``frame``.
        """
        clause = self.at(frame)
        if clause is None or clause.audible is None:
            return None
        inside, before = frame - clause.offset, 0
        for word in clause.words:
            if word.start <= inside < word.end:
                start = max(before, word.start - frames_of(BACK_FADE_MS, self.rate_hz))
                return max(clause.offset + start, frame - frames_of(LONGEST_REPEAT_MS, self.rate_hz))
            before = max(before, word.end)
        return None

    def last_audible(self, first: int, end: int, gain_from: float, gain_to: float) -> int | None:
        """The end of the last audible hop of frames ``first`` to ``end`` played, gain going from one to another."""
        hop = hop_frames(self.rate_hz)
        for clause in reversed(self.clauses):
            low, high = max(first, clause.offset) - clause.offset, min(end, clause.end) - clause.offset
            if low >= high:
                continue
            for index in range((high - 1) // hop, low // hop - 1, -1):
                if gain_from == gain_to == 1.0:
                    index = int(clause.last_loud_hop[index])
                hop_low, hop_high = max(low, index * hop), min(high, (index + 1) * hop)
                if index < 0 or hop_high <= low:
                    break
                part = (clause.offset + (hop_low + hop_high) / 2 - first) / (end - first)
                if clause.levels[index] * (gain_from + (gain_to - gain_from) * part) >= AUDIBLE_RMS:
                    return clause.offset + hop_high
        return None


def _loud_hops(samples: PcmFloat, rate_hz: int) -> tuple[PcmFloat, NDArray[np.int64]]:
    """The RMS of each 5 ms hop, and for each the newest audible hop up to it (-1: none)."""
    levels = hop_levels(samples, rate_hz)
    loud = np.where(levels >= AUDIBLE_RMS, np.arange(len(levels)), -1)
    return levels, np.maximum.accumulate(loud)


def joined(texts: list[str]) -> str:
    """Clauses' texts as one text, with a space where both sides lack one and the script uses spaces."""
    whole = ""
    for text in texts:
        if whole and text and not whole[-1].isspace() and not text[0].isspace() and whole[-1].isascii():
            whole += " "
        whole += text
    return whole.strip()
