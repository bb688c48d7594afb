"""Short forms in English text to what a voice should say: titles, months, "No. 5", initials, Roman numerals.

A full stop that belongs to a word must not reach the voice: espeak-ng ends a sentence at the one of "Dr. Lee", so
that a name comes out as two sentences with a pause in between.
"""

import re
from collections.abc import Callable

from voicetui.reply.boundaries import is_abbreviation
from voicetui.reply.measures import UNIT_NAMES
from voicetui.reply.numerals import integer_words, ordinal_words

_LONG = {
    "dr": "Doctor", "mr": "Mister", "mrs": "Missis", "ms": "Miz", "prof": "Professor", "gen": "General",
    "sen": "Senator", "rep": "Representative", "gov": "Governor", "pres": "President", "capt": "Captain",
    "col": "Colonel", "lt": "Lieutenant", "sgt": "Sergeant", "cmdr": "Commander", "maj": "Major", "adm": "Admiral",
    "rev": "Reverend", "hon": "Honorable", "mt": "Mount", "jr": "Junior", "sr": "Senior", "ave": "Avenue",
    "blvd": "Boulevard", "dept": "Department", "bros": "Brothers", "univ": "University",
    "jan": "January", "feb": "February", "mar": "March", "apr": "April", "jun": "June", "jul": "July",
    "aug": "August", "sep": "September", "sept": "September", "oct": "October", "nov": "November", "dec": "December",
    "approx": "approximately", "max": "maximum", "min": "minimum", "temp": "temperature", "avg": "average",
    "incl": "including", "excl": "excluding", "vs": "versus",
    "etc": "et cetera", "cf": "compare", "ca": "circa",
}  # fmt: skip
_TITLES = frozenset({
    "mr", "mrs", "ms", "prof", "gen", "sen", "rep", "gov", "pres", "capt", "col", "lt", "sgt", "cmdr", "maj", "adm",
    "rev", "hon", "mt",
})  # fmt: skip
"""These never end a sentence."""

_BEFORE_FIGURES = {
    "no": "number", "nos": "numbers", "p": "page", "pp": "pages", "fig": "figure", "figs": "figures",
    "vol": "volume", "ch": "chapter", "sec": "section", "sect": "section", "para": "paragraph", "art": "article",
    "ext": "extension", "tel": "telephone",
}  # fmt: skip
_LABELS = frozenset({
    "plan", "vitamin", "option", "type", "grade", "class", "group", "section", "part", "team", "hepatitis",
    "appendix", "exhibit",
})  # fmt: skip
"""A single letter after one of these is its name, not the beginning of a person's."""

_STARTERS = frozenset({
    "a", "an", "and", "are", "but", "can", "did", "do", "does", "he", "her", "his", "how", "i", "if", "in", "is", "it",
    "it's", "my", "no", "on", "our", "please", "she", "so", "that", "the", "their", "then", "there", "these", "they",
    "this", "those", "we", "what", "when", "where", "who", "why", "yes", "you", "your",
})  # fmt: skip
"""With a capital, these begin a sentence, and are no part of a name."""

_STOP = re.compile(r"(?P<word>[^\W\d_]+)\.(?=\s+[\"“‘(]?(?P<next>[\w$€£&][\w'’]*))")
_BEFORE = re.compile(r"([^\W\d_]+)\.?\s+\Z")
_DEGREES = re.compile(r"\b(Ph|B|M)\.(D|Sc|Phil|Eng|Ed)\.(?!\w)")

_INITIALS = re.compile(r"(?<![\w.])(?:[A-Z]\.){2,}(?=\s(?P<next>[A-Z][\w'’]*))")

_NUMERAL = re.compile(r"X?(?:IX|IV|V?I{0,3})")
_ROMAN = re.compile(r"(?<![\w.'’-])([IVX]{2,5})(?!\.\w|[\w'’-]|\s(?:drip|line|bag|fluid|therapy))")
_ROMAN_DIGIT = re.compile(
    r"\b(World War|Chapter|Act|Volume|Book|Phase|Super Bowl)\s([VX]|(?<=War )I|I(?!['’]|\s[a-z]))\b"
)
_RULERS = (
    "Alexander|Benedict|Catherine|Charles|Edward|Elizabeth|Francis|Frederick|George|Gustav|Henry|Ivan|James|John|Paul"
    "|Leo|Louis|Napoleon|Nicholas|Peter|Philip|Pius|Ramesses|Richard|William"
)
_RULER = re.compile(rf"\b({_RULERS})\s([VX]|[IVX]{{2,5}}|I(?!['’]|\s(?:am|was|have|will|would)\b))\b")
_VALUES = {"I": 1, "V": 5, "X": 10}


def write_out(text: str) -> str:
    """Return English ``text`` with short forms written out, and no full stop left inside a name."""
    if "." in text:
        text = _DEGREES.sub(lambda match: match[1] + match[2], text)
        text = _INITIALS.sub(_spaced, text)
        text = _STOP.sub(_without_stop, text)
    text = _RULER.sub(lambda match: f"{match[1]} the {_number(match[2], ordinal_words)}", text)
    text = _ROMAN_DIGIT.sub(lambda match: f"{match[1]} {_number(match[2], integer_words)}", text)
    return _ROMAN.sub(lambda match: _number(match[1], integer_words), text)


def _spaced(match: re.Match[str]) -> str:
    return match[0] if match["next"].lower() in _STARTERS else match[0].replace(".", " ").rstrip()


def _without_stop(match: re.Match[str]) -> str:
    word, following = match["word"], match["next"]
    lowered = word.lower()
    before = match.string[: match.start()]
    if before.endswith(".") or not is_abbreviation(word, following[0], fresh=False):
        return match[0]
    if lowered in UNIT_NAMES and before.rstrip()[-1:].isdigit():
        return word
    previous = _BEFORE.search(before)
    starts = following[0].isupper() and following.lower() in _STARTERS
    if len(word) == 1 and not following[0].isdigit():
        labelled = previous and (previous[1].lower() in _LABELS or (word in _VALUES and previous[1].istitle()))
        return word if following[0].isupper() and not labelled and not starts else match[0]
    if following[0].isdigit() and lowered in _BEFORE_FIGURES:
        return _BEFORE_FIGURES[lowered]
    if lowered == "st" or (lowered == "dr" and previous and previous[1][:1].isupper() and starts):
        named = bool(previous and previous[1][:1].isupper())
        long = {"st": "Street" if named else "Saint", "dr": "Drive"}[lowered]
    else:
        long = _LONG.get(lowered, word)
    stays = starts or (lowered == "etc" and not following[0].islower())
    return f"{long}." if stays and lowered not in _TITLES else long


def _number(numeral: str, words: Callable[[int], str]) -> str:
    """The number in words; what is no Roman numeral up to nineteen stays."""
    if not _NUMERAL.fullmatch(numeral):
        return numeral
    values = [_VALUES[letter] for letter in numeral]
    return words(sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True)))
