"""Markdown to the words in it, and characters that no voice can say to nothing."""

import html
import re
import unicodedata
from typing import NamedTuple

from voicetui.reply.markup import LINK

_ESCAPE = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movements
    "|\x1b[]PX^_](?:[^\x07\x1b]*(?:\x07|\x1b\\\\)|[0-9;]*)"  # OSC and other strings; unterminated: only its head
    "|\x1b[ -/]*[0-~]?|\x9b[0-?]*[ -/]*[@-~]"
)
_SPACES = re.compile(r"[^\S\n]{2,}")
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\ufffc\ufffd\ufff9-\ufffb\ud800-\udfff]")
_JOINERS = re.compile("[\u200c\u200d]")
_INVISIBLE = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u180e\ufe00-\ufe0f\u20d0-\u20ff\U000e0000-\U000e0fff]"
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")

_RULE_LINE = re.compile(r"\s*(?:([-*_=~#])\s*)(?:\1\s*){2,}")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-*:?\s*)*")
_DEFINITION = re.compile(r"\s*\[[^\]\n]+\]:\s*\S+.*")
_QUOTE = re.compile(r"\s*(?:>\s?)+")
_HEADING = re.compile(r"\s*#{1,6}\s+(?P<text>.*?)\s*#*\s*")
_BULLET = re.compile(r"\s*[-*+•◦▪‣·–—]\s+(?:\[[ xX]\]\s+)?")
_NUMBERED = re.compile(r"\s*(\d{1,3})[.)]\s+(?=\S)")
_INLINE_NUMBERED = re.compile(r"(?<=[.:;!?]\s)(\d{1,2})\.\s+(?=\S)")

_INLINE = [
    (re.compile(r"【[^】]*†[^】]*】|\[\^[^\]\s]+\]"), ""),  # citation and footnote marks
    (re.compile(r"(?<![\w:]):(?:[a-z][a-z0-9_+-]*|[+-]1):(?![\w:])"), " "),  # emoji by name
    (LINK, r"\g<label>"),
    (re.compile(r"!?\[([^\[\]\n]+)\]\[[^\[\]\n]*\]"), r"\1"),
    (re.compile(r"<((?:https?|ftp|mailto)[^<>\s]*|[\w.+-]+@[\w.-]+)>"), r"\1"),
    (re.compile(r"\\(?=[^\w\s])"), ""),
    (re.compile(r"~~|`"), ""),
    (re.compile(r"(?<!\w)==(?=\w)|(?<=[\w.,!?)])==(?!\w)"), ""),
    (re.compile(r"(?<=\d)\s?\*\s?(?=\d)"), " × "),
    (re.compile(r"\*"), ""),
    (re.compile(r"(?<!\w)_+|_+(?!\w)"), ""),
]
_ENDS = ".!?,;:…。！？，、；：।؟،؛"


class _Line(NamedTuple):
    text: str
    structural: bool


def visible(text: str) -> str:
    """Drop terminal escapes, control and zero-width characters, and runs of space; keep line ends.

    Joiners stay inside words of scripts that need them.
    """
    text = _SPACES.sub(" ", text)
    if text.isascii() and text.isprintable():
        return text
    text = _INVISIBLE.sub("", _CONTROL.sub("", _ESCAPE.sub("", _LINE_END.sub("\n", text))))
    return _JOINERS.sub(_joiner, text)


def _joiner(match: re.Match[str]) -> str:
    text, place = match.string, match.start()
    around = (text[place - 1 : place], text[place + 1 : place + 2])
    return match[0] if all(side > "\u02ff" and unicodedata.category(side)[0] in "LM" for side in around) else ""


def plain(text: str, line_start: bool, english: bool) -> str:
    """Return the words of Markdown `text`, its lines joined so that each still sounds like one.

    `line_start` says whether `text` begins at the beginning of a line; `english` whether marks may be added.
    """
    lines = [_line(line, line_start or number > 0, english) for number, line in enumerate(text.split("\n"))]
    joined = ""
    apart = False
    for line in lines:
        words = line.text.strip()
        if words and joined:
            ended = joined.rstrip("\"'”’)]»").endswith(tuple(_ENDS)) or not english
            joined += ". " if not ended and (apart or line.structural or not words[:1].islower()) else " "
        joined += words
        apart = line.structural or not words
    return joined


def _line(line: str, line_start: bool, english: bool) -> _Line:
    structural = False
    if line_start:
        if any(rule.fullmatch(line) for rule in (_RULE_LINE, _TABLE_RULE, _DEFINITION)):
            return _Line("", True)
        while prefix := _QUOTE.match(line) or _BULLET.match(line):
            line, structural = line[prefix.end() :], True
        heading = _HEADING.fullmatch(line)
        if heading:
            line, structural = heading["text"], True
    for pattern, replacement in _INLINE:
        line = pattern.sub(replacement, line)
    if line.count("|") > 1 or " | " in line:
        cells = [cell.strip() for cell in line.split("|")]
        line, structural = ", ".join(cell for cell in cells if cell), True
    line = _ENTITY.sub(lambda match: visible(html.unescape(match[0])), line)
    numbered = _NUMBERED.match(line)
    if english:
        line = _INLINE_NUMBERED.sub(r"\1, ", _NUMBERED.sub(r"\1, ", line, count=1) if numbered else line)
    return _Line(line, structural or bool(numbered))


def sayable(text: str, english: bool) -> str:
    """Replace by a space every character that no voice can say: emoji, leftover marks and, for English, all signs."""
    return "".join([character if _is_sayable(character, english) else " " for character in text])


def _is_sayable(character: str, english: bool) -> bool:
    if character.isalnum() or character in " .,;:!?'\"()-":
        return True
    if character in "#*_`|\\{}[]<>^~":
        return False
    category = unicodedata.category(character)
    if english and character in "@&/%":
        return False
    if category == "Sc" or character in "+=°":
        return not english
    return category[0] in "LMNP" or character in "\u200c\u200d"


_TIDY = [
    (re.compile(r"\(\s*[,.;:]*\s*\)"), " "),
    (re.compile(r"\s+"), " "),
    (re.compile(r"\s+(?=[,.;:!?…)\]](?:\s|$))"), ""),
    (re.compile(r"(?<=[,;:.!?])(?:\s+[,;:.])+(?=\s|$)"), ""),
    (re.compile(r"[,;:]+(?=[.!?,;:](?:\s|$))"), ""),
    (re.compile(r"\(\s+"), "("),
    (re.compile(r"^[\s,.;:!?…—–-]+"), ""),
]


def tidy(text: str) -> str:
    """Put the spaces and marks left by everything taken out in order; "" if no letter or figure is left."""
    for pattern, replacement in _TIDY:
        text = pattern.sub(replacement, text)
    text = text.strip()
    return text if any(character.isalnum() for character in text) else ""
