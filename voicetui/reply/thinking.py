"""Telling a model's inline reasoning (`<think>…</think>`) from its answer, across any cut of the text."""

import re

_NAMES = (
    "think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "seed:think", "antthinking",
)  # fmt: skip
_OPENING = (
    "[think]", "◁think▷", "<|begin_of_thought|>", "<|thinking|>", "<|channel|>analysis<|message|>",
    "<|channel|>commentary<|message|>", "<|channel>thought",
)  # fmt: skip
_CLOSING = (
    "[/think]", "◁/think▷", "<|end_of_thought|>", "<|/thinking|>", "<|channel|>final<|message|>", "<channel|>",
)  # fmt: skip
_FIXED = _OPENING + _CLOSING
_ATTRIBUTES = r"""(?:\s+[\w-]{1,20}\s*=\s*(?:"[^"<>]{0,40}"|'[^'<>]{0,40}'|[\w.-]{1,40})){0,4}\s{0,4}"""
_ELEMENT = rf"<\s{{0,4}}(?P<close>/?)\s{{0,4}}(?:{'|'.join(_NAMES)}){_ATTRIBUTES}>"
_TAG = re.compile(rf"{_ELEMENT}|{'|'.join(map(re.escape, _FIXED))}", re.IGNORECASE)
_NAME_BEGUN = re.compile(r"<\s{0,4}/?\s{0,4}(?P<name>[a-z:]{0,12})\Z")
_ATTRIBUTE_BEGUN = re.compile(
    rf"""<\s{{0,4}}/?\s{{0,4}}(?:{"|".join(_NAMES)}){_ATTRIBUTES}
    (?:(?<=\s)[\w-]{{0,20}}\s*(?:=\s*(?:"[^"<>]{{0,40}}"?|'[^'<>]{{0,40}}'?|[\w.-]{{0,40}}))?)?\Z""",
    re.VERBOSE,
)
_LONGEST = 400
"""More characters than any tag has."""


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
            self._switch(not match["close"] and match.group().lower() not in _CLOSING)
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
    tail = text[-_LONGEST:].lower()
    for start, character in enumerate(tail):
        if character in "<[◁" and _is_begun(tail[start:]):
            return len(tail) - start
    return 0


def _is_begun(text: str) -> bool:
    """Whether more text could make `text` a tag."""
    if any(tag.startswith(text) and tag != text for tag in _FIXED):
        return True
    named = _NAME_BEGUN.match(text)
    if named:
        return any(name.startswith(named["name"]) for name in _NAMES)
    return _ATTRIBUTE_BEGUN.match(text) is not None
