"""What the words themselves say about the turn."""

from __future__ import annotations

import itertools
import re

from voicetui.events.words import normalise_words

_FILLERS = frozenset(["um", "umm", "uh", "uhh", "uhm", "er", "erm", "hmm", "ah"])
_ASK_FOR_MORE = frozenset(
    [
        "a",
        "an",
        "the",
        "and",
        "or",
        "but",
        "so",
        "because",
        "if",
        "then",
        "than",
        "that",
        "which",
        "who",
        "of",
        "to",
        "from",
        "with",
        "without",
        "for",
        "in",
        "on",
        "at",
        "by",
        "into",
        "about",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "my",
        "your",
        "his",
        "her",
        "its",
        "our",
        "their",
        "this",
        "these",
        "those",
        "i'm",
        "i'd",
        "i'll",
        "it's",
        "let's",
        "can",
        "could",
        "would",
        "should",
        "will",
        "shall",
        "do",
        "does",
        "did",
        "have",
        "has",
        "had",
        "not",
        "very",
        "more",
        "most",
        "also",
        "please",
        "i",
        "we",
        "he",
        "she",
        "they",
        "am",
        "between",
        "during",
        "until",
        "unless",
        "while",
        "although",
        "since",
        "whether",
        "every",
        "another",
        "like",
        "want",
    ]
)
_NEVER_LAST = frozenset(
    [
        "a",
        "an",
        "the",
        "and",
        "or",
        "but",
        "because",
        "if",
        "than",
        "my",
        "your",
        "his",
        "her",
        "its",
        "our",
        "their",
        "i'm",
        "i'd",
        "i'll",
        "very",
        "although",
        "unless",
        "whether",
        "every",
    ]
)
"""Words that no question ends with."""

_FINISHED_WITH_ONE = frozenset(
    [
        "that",
        "this",
        "please",
        "so",
        "more",
        "is",
        "are",
        "can",
        "do",
        "does",
        "did",
        "will",
        "would",
        "should",
        "could",
        "not",
        "was",
        "were",
        "have",
        "has",
        "had",
        "i",
        "we",
        "he",
        "she",
        "they",
        "am",
        "since",
        "another",
        "like",
        "want",
    ]
)
"""Words that ask for more, but also end finished sentences often enough that a full stop after them is believed."""

_OPEN_A_CLAUSE = frozenset(
    ["if", "when", "whenever", "while", "although", "because", "unless", "until", "since", "once", "after", "before"]
)

_BACKCHANNEL = frozenset(
    [
        "mm", "mmm", "mhm", "mmhmm", "mm-hmm", "mkay", "m'kay", "hm", "hmm", "hum", "er", "uh-huh", "uhhuh",
        "huh", "uh", "ah", "aha", "oh", "ooh", "ha", "haha", "hah", "yeah", "yea", "yah", "ya", "yep", "yes",
        "yup", "ok", "okay", "okey", "kay", "right", "alright", "sure", "true", "correct", "exactly", "indeed",
        "really", "absolutely", "totally", "definitely", "certainly", "agreed", "good", "great", "cool", "nice",
        "lovely", "perfect", "awesome", "amazing", "wonderful", "interesting", "wow", "gotcha", "continue",
    ]
)  # fmt: skip
_BACKCHANNEL_PHRASES = tuple(
    tuple(phrase.split())
    for phrase in (
        "i see", "a ha", "got it", "of course", "for sure", "sure thing", "all right", "right on", "fair enough",
        "very good", "very nice", "sounds good", "sounds great", "makes sense", "that makes sense", "that's right",
        "that's true", "that's good", "that's great", "that's nice", "that's interesting", "is that so", "i agree",
        "i understand", "no way", "oh my", "oh dear", "go on", "go ahead", "keep going", "carry on",
    )
)  # fmt: skip
"""Several words that say it together."""

INTERJECTIONS = _BACKCHANNEL | frozenset(
    [
        "no",
        "nope",
        "nah",
        "stop",
        "wait",
        "hold",
        "hey",
        "hello",
        "quiet",
        "enough",
        "please",
        "thanks",
        "thank",
        "sorry",
    ]
)
"""Words that a person may say over anything, whatever else is said."""

_HUSH = frozenset(["stop", "wait", "quiet", "enough", "silence", "pause"])
_HUSH_PHRASES = frozenset([("hold", "on"), ("hang", "on"), ("shut", "up")])
_MOST_HUSHING_WORDS = 3

_HUM = re.compile(r"m+h*m*|h+m+|u+h*m*h*|a+h+|o+h+|m+(-h?m+)+|u+h+-?h+u+h+", re.ASCII)
_MOST_BACKCHANNELS = 3
"""Different ones. Said again and again they still are no bid, as long as they are no more than six words."""
_MOST_BACKCHANNEL_WORDS = 6


def unfinished(text: str) -> bool:
    """Whether the last word or sign asks for more: a filler, a connective, a comma, trailing dots.

    >>> unfinished("I want to reset the"), unfinished("That is all."), unfinished("What is that?")
    (True, False, False)
    """
    bare = text.rstrip().rstrip("\"')”’")
    words = normalise_words(bare)
    if not words:
        return False
    if bare.endswith((",", "...", "…", "-", "–", "—", ":")):
        return True
    last = words[-1]
    if last in _FILLERS:
        return True
    if last not in _ASK_FOR_MORE:
        return False
    if bare.endswith("?"):
        return last in _NEVER_LAST
    return not (last in _FINISHED_WITH_ONE and bare.endswith((".", "!")))


def ends(text: str) -> bool:
    """Whether the text ends like a sentence that can stand alone: not the clause before its main clause.

    >>> ends("Is it far?"), ends("I think it was"), ends("I think it was..."), ends("If it rains tomorrow.")
    (True, False, False, False)
    """
    bare = text.rstrip().rstrip("\"')”’")
    words = normalise_words(bare)
    if bare.endswith(("?", "!")) or not words:
        return bool(words)
    return bare.endswith(".") and not bare.endswith("..") and not (words[0] in _OPEN_A_CLAUSE and "," not in bare)


def backchannel(text: str) -> bool:
    """Whether these words only say "I am listening".

    >>> backchannel("Mm-hmm."), backchannel("Right, right, right, right."), backchannel("Yeah, stop.")
    (True, True, False)
    """
    words = normalise_words(text)
    if not 0 < len(words) <= _MOST_BACKCHANNEL_WORDS:
        return False
    said: set[tuple[str, ...]] = set()
    place = 0
    while place < len(words):
        rest = words[place:]
        phrase = next((each for each in _BACKCHANNEL_PHRASES if rest[: len(each)] == each), rest[:1])
        if len(phrase) == 1 and not (phrase[0] in _BACKCHANNEL or _HUM.fullmatch(phrase[0])):
            return False
        said.add(phrase)
        place += len(phrase)
    return len(said) <= _MOST_BACKCHANNELS


def hushes(text: str) -> bool:
    """Whether these few words ask for silence.

    >>> hushes("Stop."), hushes("Okay, hold on."), hushes("Stop me if you know the one about the parrot.")
    (True, True, False)
    """
    words = normalise_words(text)
    if not 0 < len(words) <= _MOST_HUSHING_WORDS:
        return False
    return not _HUSH.isdisjoint(words) or not _HUSH_PHRASES.isdisjoint(itertools.pairwise(words))


def asks(text: str) -> bool:
    """Whether the text ends with a question.

    >>> asks("Shall I book it?"), asks('He said "why?"'), asks("I booked it.")
    (True, True, False)
    """
    return text.rstrip().rstrip("\"')”’*_").endswith(("?", "？", "؟"))


def same_words(one: str, other: str) -> bool:
    """Whether two texts differ in case and punctuation only."""
    return normalise_words(one) == normalise_words(other)
