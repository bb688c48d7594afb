"""Whether speech over or just after the reply is the reply itself, come back through the microphone.

Cancelling is the first line against that; this is the second, on words. Words are the program's own when they are what
it was saying, in its order, close together, at the time it said them. Somebody who says anything else, or a word such
as "stop", is never taken for it: a wrong "echo" loses what a person said, a missed one costs a reply.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache

import msgspec

from voicetui.conversation.state import Spoken, Step
from voicetui.conversation.words import INTERJECTIONS
from voicetui.events.listen import Transcribed
from voicetui.events.speak import ClauseEnded, ClauseStarted
from voicetui.events.words import normalise_words

ECHO = "echo"

_KEPT = 6
_TAIL_MS = 700.0
"""An echo of the last word is noticed at most so long after it: the way through the room, and the detector's onset."""
_WORD_MS = 330.0
"""Three words a second, where a clause has not ended yet."""
_EARLY_MS = 700.0
_LATE_MS = 500.0
_LATE_WORD_MS = 200.0
"""How far from its word a word's echo may seem to be: the words of a clause are placed evenly. Somebody who repeats
what was said begins after its last word, later by more than this for each word."""
_SHARE = 0.75
_SURE_WORDS = 3
_LETTERS = 4
_ALIKE = 0.75
_QUIETER_DB = 10.0
"""Fewer words than three are believed to be an echo only where they are this much quieter than the user's own."""


def clause_started(step: Step, fact: ClauseStarted, at_ms: float) -> None:
    """Note what is said, from when on."""
    reply = step.find(fact.basis)
    clause = next((each for each in reply.clauses if each.number == fact.clause), None) if reply is not None else None
    if clause is not None:
        spoken = Spoken(fact.basis, fact.clause, normalise_words(clause.spoken), normalise_words(clause.text), at_ms)
        step.set(spoken=(*step.state.spoken, spoken)[-_KEPT:])


def clause_ended(step: Step, fact: ClauseEnded, at_ms: float) -> None:
    """Note when it was said."""
    _end(step, at_ms, fact.clause)


def silenced(step: Step, at_ms: float) -> None:
    """Nothing more of it is said."""
    _end(step, at_ms, None)


def user_level(step: Step, fact: Transcribed) -> None:
    """Note how loud the user is, where nothing was played meanwhile."""
    utterance = step.state.utterance
    level = fact.evidence.level_dbfs
    if utterance is not None and not utterance.over and not fact.doubt and level is not None:
        step.set(user_dbfs=level)


def judged(step: Step, fact: Transcribed) -> Transcribed:
    """The transcript of the open utterance, doubted as "echo" where its words are the program's own."""
    utterance = step.state.utterance
    if utterance is None or fact.doubt:
        return fact
    near = [each for each in step.state.spoken if _may_be_heard(each, utterance.onset_ms)]
    level, user = fact.evidence.level_dbfs, step.state.user_dbfs
    quiet = level is not None and user is not None and level <= user - _QUIETER_DB
    heard = normalise_words(fact.text)
    if any(own_words(heard, said, near, utterance.onset_ms, quiet) for said in ("spoken", "written")):
        return msgspec.structs.replace(fact, doubt=ECHO)
    return fact


def own_words(heard: tuple[str, ...], form: str, near: list[Spoken], onset_ms: float, quiet: bool) -> bool:
    """Whether ``heard``, begun at ``onset_ms``, are words of what was said ``near`` then, as "spoken" or "written"."""
    placed = [word for each in near for word in _placed(each, form)]
    if not heard or not placed:
        return False
    pairs = _aligned(heard, [word for word, _ in placed])
    if not pairs or len(pairs) < _SHARE * len(heard):
        return False
    matched = {place for place, _ in pairs}
    strange = [word for place, word in enumerate(heard) if place not in matched]
    if any(word in INTERJECTIONS for word in strange) or len(heard) - 1 not in matched:
        return False
    span = pairs[-1][1] - pairs[0][1] + 1
    if span > len(heard) + max(1, len(heard) // 4):
        return False
    late_ms = onset_ms - placed[pairs[0][1]][1] + pairs[0][0] * _WORD_MS
    if not -_EARLY_MS <= late_ms <= _LATE_MS + _LATE_WORD_MS * len(pairs):
        return False
    telling = [heard[place] for place in matched if len(heard[place]) >= _LETTERS and heard[place] not in INTERJECTIONS]
    return bool(telling) and (len(pairs) >= _SURE_WORDS or quiet)


def _end(step: Step, at_ms: float, clause: int | None) -> None:
    step.set(
        spoken=tuple(
            msgspec.structs.replace(each, until_ms=at_ms)
            if each.until_ms is None and clause in (None, each.clause)
            else each
            for each in step.state.spoken
        )
    )


def _may_be_heard(spoken: Spoken, onset_ms: float) -> bool:
    begun = spoken.from_ms - _EARLY_MS <= onset_ms
    return begun and (spoken.until_ms is None or onset_ms <= spoken.until_ms + _TAIL_MS)


def _placed(spoken: Spoken, form: str) -> list[tuple[str, float]]:
    """Each word with the time at which it was about to be said."""
    words = spoken.spoken if form == "spoken" else spoken.written
    whole_ms = len(words) * _WORD_MS if spoken.until_ms is None else spoken.until_ms - spoken.from_ms
    return [(word, spoken.from_ms + whole_ms * place / len(words)) for place, word in enumerate(words)]


def _aligned(heard: tuple[str, ...], said: list[str]) -> list[tuple[int, int]]:
    """The longest run of places (in ``heard``, in ``said``), both rising, whose words are alike; the latest of them."""
    best = [[0] * (len(said) + 1) for _ in range(len(heard) + 1)]
    for i, word in enumerate(heard, 1):
        for j, other in enumerate(said, 1):
            alike = _alike(word, other, last=i == len(heard))
            best[i][j] = max(best[i - 1][j], best[i][j - 1], best[i - 1][j - 1] + alike)
    pairs: list[tuple[int, int]] = []
    i, j = len(heard), len(said)
    while i and j:
        if best[i][j] == best[i][j - 1]:
            j -= 1
        elif best[i][j] == best[i - 1][j]:
            i -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def _alike(word: str, other: str, last: bool) -> bool:
    """Whether a word was perhaps misheard, or (the last) heard in part."""
    if word == other:
        return True
    if word in INTERJECTIONS or min(len(word), len(other)) < _LETTERS - last:
        return False
    return (last and other.startswith(word)) or (_may_match(word, other) and _matches(word, other))


def _may_match(word: str, other: str) -> bool:
    """Whether two words have letters enough in common to be alike, in whatever order: most have not."""
    least = _ALIKE * (len(word) + len(other)) / 2
    if min(len(word), len(other)) < least:
        return False
    return sum(min(word.count(letter), other.count(letter)) for letter in set(word)) >= least


@lru_cache(maxsize=1024)
def _matches(word: str, other: str) -> bool:
    """Kept, since the words as they are spoken and as they are written are mostly the same."""
    return SequenceMatcher(None, word, other).ratio() >= _ALIKE
