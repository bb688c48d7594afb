"""The parts of a reply's markup that must stay whole: code fences, tags, links and inline code.

Everything here can be asked about text that is still growing, and then answers "not decided yet" (None) exactly as
long as more text could change the answer.
"""

import re

MAX_UNIT_CHARS = 320
MAX_FENCE_MARKS = 64
FENCE = re.compile(rf"`{{3,{MAX_FENCE_MARKS}}}|~{{3,{MAX_FENCE_MARKS}}}")
"""The marks that open a code fence: backticks anywhere, tildes only at the beginning of a line."""

_NAME = r"[A-Za-z][A-Za-z0-9_:-]*"
_ATTRIBUTE = r"[A-Za-z0-9_:@-]+"
_VALUE = r"""(?:"[^"<>\n]*"|'[^'<>\n]*'|[^\s"'=<>`]+)"""
_VALUED = rf"(?:\s+{_ATTRIBUTE}\s*=\s*{_VALUE})*"
TAG = re.compile(
    rf"<(?:!--[\s\S]*?--|[!?][A-Za-z\[][^<>\n]*|\|[^|<>\s]{{1,40}}\||/?{_NAME}{_VALUED}(?:\s+{_ATTRIBUTE})?\s*/?)>"
)
"""A whole tag, comment or `<|special|>` token. A "<" that is less-than does not match, also for having several bare
words after it, which few tags have."""

_TAG_BEGUN = re.compile(
    rf"""<(?:!(?:-(?:-[\s\S]*)?)?|[!?](?:[A-Za-z\[][^<>\n]*)?|\|[^|<>\s]{{0,40}}\|?
    |/?(?:{_NAME}{_VALUED}(?:\s+{_ATTRIBUTE}(?:\s*=\s*(?:"[^"<>\n]*|'[^'<>\n]*)?)?)?\s*/?)?)\Z""",
    re.VERBOSE,
)
_TARGET = r"[^()\s]*(?:\([^()\s]*\)[^()\s]*)*"
LINK = re.compile(rf"""!?\[(?P<label>[^\[\]\n]*)\]\(\s*<?{_TARGET}(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)""")
"""A Markdown link or image with its target."""

_LINK_BEGUN = re.compile(
    rf"""\[[^\[\]\n]*(?:\](?:\(\s*<?{_TARGET}(?:\([^()\s]*|\s+(?:"[^"\n]*"?|'[^'\n]*'?)?\s*)?)?)?\Z""", re.VERBOSE
)
_CODE = re.compile(r"(?P<run>`{1,2})(?!`)[^\n]*?[^`\n](?P=run)(?!`)")
_CODE_BEGUN = re.compile(r"`{1,2}(?:[^`\n][^\n]*)?\Z")
_BLANK = " \t\r"


def unit_end(text: str, position: int, final: bool) -> int | None:
    """End of the tag, link or inline code at `position`; `position` itself if none is there; None if undecided.

    `final` says that no more text will come.
    """
    whole, begun = {"<": (TAG, _TAG_BEGUN), "[": (LINK, _LINK_BEGUN)}.get(text[position], (_CODE, _CODE_BEGUN))
    window = text[position : position + MAX_UNIT_CHARS]
    growing = not final and len(window) < MAX_UNIT_CHARS
    found = whole.match(window)
    if found and (whole is not _CODE or found.end() < len(window) or not growing):
        return position + found.end()
    if growing and begun.match(window):
        return None
    return position


def tag_may_follow(text: str, position: int) -> bool:
    """Whether the "<" at `position` may still become a tag when more text follows."""
    return len(text) - position < MAX_UNIT_CHARS and _TAG_BEGUN.match(text, position) is not None


class Fence:
    """An open code fence, scanned piece by piece for its end.

    A run of at least as many marks closes it at the beginning of a line (unless letters follow at once, which is a
    nested opening), at the end of a line, or anywhere on the opening line itself.
    """

    def __init__(self, run: str) -> None:
        self._run = re.compile(rf"{re.escape(run[0])}{{{len(run)},{MAX_FENCE_MARKS}}}")
        self._mark = run[0]
        self._opening_line = True
        self._line_is_blank = False

    def scan(self, text: str, position: int, final: bool) -> tuple[bool, int]:
        """Scan `text` on from `position`; return whether the fence closed, and up to where the text belongs to it.

        While it has not closed, call again with the text from the returned position on, once there is more.
        """
        while found := self._run.search(text, position):
            self._pass(text, position, found.start())
            closes = len(found.group()) == MAX_FENCE_MARKS or self._closes(text, found.end(), final)
            if closes is None:
                return False, found.start()
            self._line_is_blank = False
            position = found.end()
            if closes:
                return True, position
        end = len(text) if final else position + len(text[position:].rstrip(self._mark))
        self._pass(text, position, end)
        return False, end

    def _pass(self, text: str, start: int, end: int) -> None:
        line = text.rfind("\n", start, end) + 1
        if line:
            self._opening_line = False
        self._line_is_blank = (bool(line) or self._line_is_blank) and not text[line or start : end].strip(_BLANK)

    def _closes(self, text: str, end: int, final: bool) -> bool | None:
        if end == len(text) and not final:
            return None
        if self._opening_line:
            return True
        if self._line_is_blank:
            return not text[end : end + 1].isalnum()
        while end < len(text) and text[end] in _BLANK:
            end += 1
        if end == len(text):
            return True if final else None
        return text[end] == "\n"
