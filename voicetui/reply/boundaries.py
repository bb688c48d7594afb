"""Where spoken text may be cut: sentence ends, abbreviations, weights of words, characters that belong together."""

import re
import unicodedata
from enum import IntEnum

from voicetui.reply.markup import LINK, TAG


class Boundary(IntEnum):
    """How good a place the end of a word is for a cut."""

    NONE = 0
    SOFT = 1
    STRONG = 2


SELF_STRONG = "。！？｡।॥።။។۔؟‼⁇⁈⁉‽"
"""Sentence ends that need no space after them."""
SELF_SOFT = "，、；：､،؛—"
CLOSERS = ")]}\"'”’»›」』）】〉》〕］*_~`\ufe0f"
_STRONG = SELF_STRONG + ".!?…．"
_SOFT = SELF_SOFT + ",;:"
NO_START = frozenset(")]}’»›」』）】〉》〕］\ufe0f%-–—" + _STRONG + _SOFT)
"""Characters that no clause begins with."""
_OPENERS = "([{\"'“‘«‹¿¡「『（【〈《*_~`"

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u0f00-\u0fff"  # Thai, Lao, Burmese, Khmer, Tibetan

_TAIL = re.compile(rf"(?P<marks>[{re.escape(_STRONG + _SOFT)}]+)(?P<closers>[{re.escape(CLOSERS)}>]*)\Z")
_DASHES = re.compile(r"[-–—]{1,3}\Z")
_CJK = re.compile(f"[{CJK}]")
_SPACELESS = re.compile(f"[{_UNSPACED}]")
_ORDINARY = re.compile(rf"[^\W_{CJK}{_UNSPACED}]")
_MARKER = re.compile(r"(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})[.)]")
_AROUND = "*_(["
_DOTTED = re.compile(r"[^\W\d_]{1,2}(?:\.[^\W\d_]{1,3})+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Never the end of a sentence: titles and names (with a capital); units before a small letter or digit;
# in any case, the third; before a digit, the last.
_TITLES = _set("""
    adm aug ave blvd bros capt cmdr co col corp dept dr drs esq fr gen gov hon hr inc jan feb jr ltd lt maj messrs
    mlle mme mr mrs ms mt mx nov oct pres prof pte pvt rep rev sen sept sgt sr sra srta st ste univ
""")
_BEFORE_SMALL = _set("""
    avg cal dist ed eds est fri ft hr hrs in lb lbs max min misc mon orig oz pt pts qt ref sec secs tel temp thu thur
    thurs tue tues wed wk yr yrs
""")
_ALWAYS = _set("al approx bzw ca cf dept etc excl ggf incl inkl usw vs vgl")
_BEFORE_DIGITS = _set("""
    apr art aug ch dec eq eqs ext feb fig figs jan jul jun mar no nos nov nr oct p pp para sec sect sep sept vol
""")

CONJUNCTIONS = _set("""
    and but or nor so yet because since while when if that which who where although though unless until before after
    then than as whereas
""")
PREPOSITIONS = _set("""
    about across against along among around at behind below beneath beside between beyond by despite down during
    except for from in inside into like near off on onto out outside over through to toward towards under up upon
    with within without
""")
OBJECTS = _set("you it her this these those some any that")
"""Function words that may also end a phrase, when a new one begins after them."""
FUNCTION_WORDS = (
    CONJUNCTIONS
    | PREPOSITIONS
    | _set("""
    of a an the my your his her its our their this these those some any no every each i you he she it we they
    is are was were am be been being do does did has have had will would can could shall should may might must not
    don't doesn't didn't isn't aren't wasn't won't can't i'm you're he's she's it's we're they're i'll you'll we'll
    i've you've there's that's let's very really quite more most
    der die das den dem ein eine einen und oder zu mit von le la les un une des du de et ou à au aux el los las una
    y o con por para en il lo gli i di e per os as um uma do da
""")
)


def classify(word: str, following: str, lead: str | None) -> Boundary:
    """Judge the place after `word` (all text up to the next space, or to a self-standing sentence end).

    `following` is the next visible character, or a line end. `lead` is the one word since the last boundary or
    line end, "" for none yet, None for more: a number with a full stop is a list marker at the beginning ("1. Open
    it") or after one word with a capital ("Step 1. Open it").
    """
    at_line_end = following == "\n"
    fresh = lead == ""
    if (fresh and _MARKER.fullmatch(word.strip(_AROUND))) or (lead and _is_numbered(lead, word.strip(_AROUND))):
        return Boundary.NONE
    tail = _TAIL.search(word)
    if not tail:
        if at_line_end:
            return Boundary.STRONG
        pause = _DASHES.match(word) and not fresh and not following.isdigit()
        return Boundary.SOFT if pause else Boundary.NONE
    marks = tail["marks"]
    if not any(mark in _STRONG for mark in marks):
        if at_line_end:
            return Boundary.STRONG
        dated = marks == "," and following.isdigit() and word[: tail.start()][-1:].isdigit()
        return Boundary.NONE if dated else Boundary.SOFT
    if marks == "." and is_abbreviation(word[: tail.start()], following, fresh):
        return Boundary.NONE
    trails_off = marks == word or marks.strip("…") == "" or marks.endswith("..")
    quoted = any(closer in tail["closers"] for closer in "\"'”’»")
    if following.islower() and (trails_off or quoted):
        return Boundary.NONE
    return Boundary.STRONG


def _is_numbered(lead: str, number: str) -> bool:
    return lead.strip(_AROUND)[:1].isupper() and len(number) < 5 and number[:-1].isdecimal() and number.endswith(".")


def is_closer(word: str) -> bool:
    """Whether `word` is nothing but closing quotes and brackets, set apart by a space."""
    return all(character in CLOSERS and character not in "*_~`" for character in word)


def is_abbreviation(word: str, following: str, fresh: bool) -> bool:
    """Whether a full stop after `word` belongs to it: initials, titles, "e.g.", "No. 5"."""
    core = word.lstrip(_OPENERS)
    lowered = core.lower()
    if lowered in _ALWAYS or (lowered in _TITLES and core[:1].isupper()):
        return True
    if following.isdigit() and lowered in _BEFORE_DIGITS | _BEFORE_SMALL:
        return True
    if following.islower() and lowered in _BEFORE_SMALL:
        return True
    if len(core) == 1 and core.isalpha() and not _CJK.match(core):
        return core != "I" or fresh
    return bool(_DOTTED.fullmatch(core))


def weight(word: str) -> float:
    """How many words `word` is worth when spoken: 0 for symbols and tags, a fraction per character without spaces."""
    if not word.isascii() or not word.isalnum():
        word = TAG.sub("", LINK.sub(r"\g<label>", word))
    total = 0.0
    for part in word.split():
        total += 1 if _ORDINARY.search(part) else 0
        if not part.isascii():
            total += 0.5 * len(_CJK.findall(part)) + 0.25 * len(_SPACELESS.findall(part))
    return total


def bare(word: str) -> str:
    """`word` in lower case without punctuation around it."""
    return word.strip().strip(_OPENERS + CLOSERS + _STRONG + _SOFT).lower()


def cluster_safe(text: str, position: int, floor: int) -> int:
    """The last place at or before `position`, but after `floor`, that does not divide a character as readers see it.

    Covers combining marks, joiners, variation selectors, skin tones, flags, Hangul syllables, Indic conjuncts, CR LF
    and surrogate pairs (after Unicode annex 29). A cluster that reaches back to `floor` is cut at `position` after all.
    """
    place = position
    while place > floor and not _is_cluster_start(text, place):
        place -= 1
    return place if place > floor else position


def _is_cluster_start(text: str, position: int) -> bool:
    before, after = text[position - 1], text[position]
    if after < "\u0300":
        return not (before == "\r" and after == "\n")
    if unicodedata.category(after) in ("Mn", "Mc", "Me") or after in "\u200c\u200d" or before == "\u200d":
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f" or after in "\u0e33\u0eb3":
        return False
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if _is_flag(before) and _is_flag(after):
        run = position
        while run and _is_flag(text[run - 1]):
            run -= 1
        return (position - run) % 2 == 0
    if "\u1160" <= after <= "\u11ff" and ("\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"):
        return False
    return not (unicodedata.combining(before) == 9 and unicodedata.category(after) == "Lo")


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
