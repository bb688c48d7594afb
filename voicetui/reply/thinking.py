"""Telling a model's inline reasoning (`<think>…</think>`) from its answer, across any cut of the text."""

import re

_OPENING = ("<think>", "<thinking>", "<thought>", "<reasoning>", "[think]", "◁think▷", "<|begin_of_thought|>")
_CLOSING = ("</think>", "</thinking>", "</thought>", "</reasoning>", "[/think]", "◁/think▷", "<|end_of_thought|>")
_TAGS = _OPENING + _CLOSING
_LONGEST = max(map(len, _TAGS))
_TAG = re.compile("|".join(re.escape(tag) for tag in _TAGS), re.IGNORECASE)


class ThinkSplitter:
    """Splits streamed text into (text, is_reasoning) pieces; tags are removed, also when cut across chunks.

    A tag quoted as code (a backtick right before it) is text. `starts_in_reasoning` is for models whose prompt
    template holds the opening tag, so that only the closing one is ever sent.
    """

    def __init__(self, starts_in_reasoning: bool = False) -> None:
        self.reasoning = starts_in_reasoning
        self.stray_close = False
        self._held = ""
        self._previous = ""
        self._answered = False
        self._trim = False

    def feed(self, text: str) -> list[tuple[str, bool]]:
        """Take more text; a tail that may be the beginning of a tag is held until more is known."""
        text = self._held + text
        cut = len(text) - _possible_tag(text)
        self._held = text[cut:]
        pieces: list[tuple[str, bool]] = []
        position = 0
        for match in _TAG.finditer(text, 0, cut):
            before = text[match.start() - 1] if match.start() else self._previous
            if before == "`" and not self.reasoning:
                continue
            self._add(pieces, text[position : match.start()])
            self._switch(match.group().lower() in _OPENING)
            position = match.end()
        self._add(pieces, text[position:cut])
        self._previous = text[cut - 1] if cut else self._previous
        return pieces

    def close(self) -> list[tuple[str, bool]]:
        """Return what was held back: it was no tag after all."""
        pieces: list[tuple[str, bool]] = []
        held, self._held = self._held, ""
        self._add(pieces, held)
        return pieces

    def _switch(self, opening: bool) -> None:
        if not opening:
            self.stray_close |= not self.reasoning
            self._trim = not self._answered
        self.reasoning = opening

    def _add(self, pieces: list[tuple[str, bool]], text: str) -> None:
        if self._trim and not self.reasoning:
            text = text.lstrip()
            self._trim = not text
        if text:
            self._answered |= not self.reasoning and not text.isspace()
            pieces.append((text, self.reasoning))


def _possible_tag(text: str) -> int:
    """Length of the longest tail of `text` that could grow into a tag."""
    tail = text[-_LONGEST + 1 :].lower()
    for start, character in enumerate(tail):
        if character in "<[◁" and any(tag.startswith(tail[start:]) and tag != tail[start:] for tag in _TAGS):
            return len(tail) - start
    return 0
