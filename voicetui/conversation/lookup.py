"""When the notes are asked, and what for."""

from __future__ import annotations

from voicetui.conversation.state import Context, State, Step
from voicetui.events.orders import AssembleContext
from voicetui.events.words import normalise_words

_EMPTY = frozenset(
    [
        "a",
        "about",
        "after",
        "again",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "don't",
        "down",
        "for",
        "from",
        "get",
        "give",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "him",
        "his",
        "how",
        "i",
        "i'd",
        "i'll",
        "i'm",
        "i've",
        "if",
        "in",
        "into",
        "is",
        "it",
        "it's",
        "its",
        "just",
        "know",
        "let",
        "like",
        "me",
        "might",
        "mine",
        "more",
        "most",
        "much",
        "my",
        "need",
        "no",
        "not",
        "now",
        "of",
        "off",
        "oh",
        "okay",
        "on",
        "one",
        "or",
        "our",
        "out",
        "over",
        "please",
        "really",
        "say",
        "she",
        "should",
        "so",
        "some",
        "something",
        "tell",
        "than",
        "thank",
        "thanks",
        "that",
        "that's",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "thing",
        "this",
        "those",
        "to",
        "too",
        "um",
        "uh",
        "up",
        "us",
        "very",
        "want",
        "was",
        "we",
        "well",
        "were",
        "what",
        "what's",
        "when",
        "where",
        "which",
        "while",
        "who",
        "why",
        "will",
        "with",
        "would",
        "yeah",
        "yes",
        "you",
        "you're",
        "your",
        "hello",
        "hi",
        "hey",
    ]
)
"""English words that say nothing about what is asked."""


def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that may be worth looking up, each once, in order.

    >>> content_words("What is the price of the red bike, please?")
    ('price', 'red', 'bike')
    """
    return tuple(dict.fromkeys(word for word in normalise_words(text) if word not in _EMPTY))


def is_awaited(state: State) -> bool:
    """Whether the newest look-up is for the next turn and has not been answered."""
    return state.context.turn == state.next_turn and not state.context.found


def look_up(step: Step, text: str) -> bool:
    """Ask what the notes say about ``text``, unless that is known or asked. Whether the answer is still to come."""
    state, query = step.state, " ".join(content_words(text))
    if not query or not state.policy.knowledge:
        return False
    asked = state.context
    if asked.turn != state.next_turn or set(asked.query.split()) != set(query.split()):
        number = asked.number + 1
        kept = asked.passages if asked.turn == state.next_turn else ()
        step.set(context=Context(number=number, turn=state.next_turn, query=query, passages=kept))
        step.order(AssembleContext(number, state.next_turn, query, state.policy.knowledge_passages))
        return True
    return not asked.found
