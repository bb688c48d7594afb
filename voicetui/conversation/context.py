"""What the person's notes say, looked up while they still speak.

The look-up begins on the words that are certain, and again only when other words that carry meaning are. What it finds
stands in the prompt between the history and the user's words, so that a change of it costs the history nothing in the
cache of the tier; the history itself never holds it.
"""

from __future__ import annotations

from voicetui.conversation import speculate
from voicetui.conversation.history import turn_text
from voicetui.conversation.lookup import look_up
from voicetui.conversation.stable import stable_prefix
from voicetui.conversation.state import Context, Step
from voicetui.events.orders import AdoptContext
from voicetui.events.reply import ContextAssembled


def follow(step: Step) -> None:
    """After speech was decided on: look up what is newly certain."""
    utterance, ahead, state = step.state.utterance, step.state.ahead, step.state
    if utterance is None or utterance.settled or state.reply or state.ending or state.stopping or state.muted:
        return
    if utterance.number != ahead.utterance or state.setting.overlap != "full" or state.setting.staged_gaps_ms:
        return
    words = ahead.stable if utterance.speaking else stable_prefix(ahead.partial, ahead.partial)
    look_up(step, turn_text(state, words))


def found(step: Step, fact: ContextAssembled) -> None:
    """Take what answers the newest question; go on with what waited for it. A draft made without it is void."""
    context = step.state.context
    if fact.context != context.number or context.turn != step.state.next_turn or context.found:
        return
    step.set(context=Context(context.number, context.turn, context.query, fact.passages, found=True))
    if fact.passages != context.passages:
        step.set(attempt=step.state.attempt + 1)
        step.order(AdoptContext(fact.context, fact.turn, tuple(passage.source for passage in fact.passages)))
        if step.state.draft is not None and not step.state.draft.staged:
            speculate.drop(step, "context changed")
    utterance = step.state.utterance
    if utterance is not None and utterance.settled and not utterance.speaking:
        speculate.words_settled(step)
