"""When two transcripts say the same words."""

import re
import unicodedata

_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ＇‛´`ʹ′", "'"))
_SIGNS = frozenset("%+#@&=°$€£¥₹")
_GROUPED = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,]*\d)")
_PER_CHARACTER = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_AFTER_CHARACTER = frozenset("\u3099\u309a")


def normalise_words(text: str) -> tuple[str, ...]:
    """The words of `text` without case and punctuation, to tell whether a transcript changed.

    Apostrophes inside words stay (all kinds are the same), and so do signs that are spoken, such as the percent sign,
    each a word of its own. Numbers stay whole ("3.14", "9:30"), grouping commas taken out. Scripts are kept; Chinese
    and Japanese come one character a word.

    >>> normalise_words("Don’t pay $1,200.50 — it’s well-known!")
    ("don't", 'pay', '$', '1200.50', "it's", 'well', 'known')
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).translate(_APOSTROPHES)
    text = _GROUPED.sub(lambda match: match[0].replace(",", ""), text)
    around = f" {text} "
    return tuple("".join([_part(*around[i : i + 3]) for i in range(len(text))]).split())


def _part(before: str, character: str, after: str) -> str:
    """What stays of a character between its neighbours: itself, nothing, or a gap between words."""
    if character.isalnum():
        return f" {character} " if _PER_CHARACTER.match(character) else character
    if character == "'":
        return character if _in_word(before) and _in_word(after) else " "
    if character in ".:":
        return character if before.isdigit() and after.isdigit() else " "
    if character in _SIGNS:
        return f" {character} "
    category = unicodedata.category(character)
    if category == "Cf" or character in _AFTER_CHARACTER or "\ufe00" <= character <= "\ufe0f":
        return ""
    return character if category[0] == "M" else " "


def _in_word(character: str) -> bool:
    is_letter = character.isalpha() and not _PER_CHARACTER.match(character)
    return is_letter or unicodedata.category(character)[0] == "M"
