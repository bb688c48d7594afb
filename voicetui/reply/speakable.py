"""From a clause as the model wrote it to the words a voice should say."""

import re

from voicetui.reply.english import spell_out
from voicetui.reply.markup import FENCE, TAG, Fence, tag_may_follow
from voicetui.reply.plain_text import plain, sayable, tidy, visible

_MARK = re.compile(r"`+|~{3,}|<")


class Speakable:
    """Says clause after clause of one reply; remembers open code fences, unfinished tags and the place in the line.

    Markup, code, emoji and control characters are left out, tags are neither said nor obeyed. In Latin script, money,
    times, addresses and signs become English words, if `language` is English; other scripts are left as they are.
    """

    def __init__(self, language: str = "en") -> None:
        self._english = language.lower().startswith("en")
        self._fence: Fence | None = None
        self._carry = ""
        self._line_start = True
        self._latin = True

    def spoken(self, clause: str) -> str:
        """Return what to say for `clause`, which follows the clause before it directly; "" for nothing."""
        text = self._without_code(self._carry + visible(clause))
        line_start = self._line_start
        last_line = text[text.rfind("\n") + 1 :]
        self._line_start = not last_line.strip() and ("\n" in text or line_start)
        self._latin = _is_latin(text, self._latin)
        english = self._english and self._latin
        words = plain(text, line_start, english)
        return tidy(sayable(spell_out(words) if english else words, english))

    def _without_code(self, text: str) -> str:
        """Take out code fences and tags; what may become one with the next clause is carried over to it."""
        kept: list[str] = []
        place = 0
        self._carry = ""
        while place < len(text):
            if self._fence:
                closed, place = self._fence.scan(text, place, final=False)
                if not closed:
                    self._carry = text[place:]
                    break
                self._fence = None
                kept.append(" ")
                continue
            found = _MARK.search(text, place)
            if not found:
                kept.append(text[place:])
                break
            kept.append(text[place : found.start()])
            place = self._mark(text, found.start(), kept)
        return "".join(kept)

    def _mark(self, text: str, place: int, kept: list[str]) -> int:
        """Deal with the backticks, tildes or angle bracket at `place`; return where to go on."""
        if text[place] == "<":
            tag = TAG.match(text, place)
            if tag:
                kept.append(" ")
                return tag.end()
            if tag_may_follow(text, place):
                self._carry = text[place:]
                return len(text)
            kept.append("<")
            return place + 1
        run = re.compile(r"`+|~+").match(text, place)
        end = run.end() if run else place + 1
        if text[place] == "`" and end == len(text):
            self._carry = text[place:]
            return end
        opening = FENCE.match(text, place)
        if opening and (text[place] == "`" or self._begins_line("".join(kept))):
            self._fence = Fence(opening.group())
            return opening.end()
        return end

    def _begins_line(self, before: str) -> bool:
        line = before.rpartition("\n")[2]
        return not line.strip() and (line != before or self._line_start)


def _is_latin(text: str, before: bool) -> bool:
    """Whether `text` is mainly in Latin letters; `before` if it has no letters."""
    letters = [character for character in text if character.isalpha()]
    if not letters:
        return before
    other = sum(_is_other_script(letter) for letter in letters)
    return other * 3 <= len(letters)


def _is_other_script(letter: str) -> bool:
    return letter > "\u02af" and not ("\u1e00" <= letter <= "\u1eff" or "\ufb00" <= letter <= "\ufb06")
