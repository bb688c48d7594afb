"""Prefill while the person speaks: what the next prompt will begin with is worked through before the prompt is due.

The prompt's parts come in the order of their constancy (system, history, the user's words), so what was worked through
once holds until a word of it changes. Nothing here can be heard, and a tier does only what costs nothing.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from voicetui.conversation import speculate
from voicetui.conversation.history import messages, passages, turn_text
from voicetui.conversation.lookup import is_awaited
from voicetui.conversation.stable import goes_on_from, stable_prefix
from voicetui.conversation.state import Ahead, State, Step, Warmth
from voicetui.events import Fact
from voicetui.events.listen import Transcribed
from voicetui.events.orders import Prewarm
from voicetui.events.words import normalise_words


def hear(step: Step, fact: Fact) -> None:
    """Note the words of a partial transcript, which may come when the person has paused by now.

    A draft for fewer words than are known while they still speak is given up at once.
    """
    utterance = step.state.utterance
    if utterance is None or not isinstance(fact, Transcribed) or fact.utterance != utterance.number:
        return
    ahead = step.state.ahead if step.state.ahead.utterance == fact.utterance else Ahead(utterance=fact.utterance)
    if fact.final or fact.doubt:
        return
    stable = stable_prefix(ahead.partial, fact.text)
    step.set(ahead=msgspec.structs.replace(ahead, partial=fact.text, stable=stable))
    draft = step.state.draft
    if draft is not None and not draft.staged and utterance.speaking:
        drafted, known = normalise_words(draft.user_text), normalise_words(turn_text(step.state, fact.text))
        if len(known) > len(drafted) and known[: len(drafted)] == drafted:
            speculate.drop(step, "words changed")


def follow(step: Step) -> None:
    """After everything else was decided on a fact: keep the tier's prompt as far ahead as is known."""
    state = step.state
    if not state.policy.prewarm or state.setting.overlap != "full" or not state.open:
        return
    opened = state.utterance is not None and state.utterance.number != state.greeted
    if opened:
        assert state.utterance is not None
        step.set(greeted=state.utterance.number)
    text = _text(step.state)
    if text is None:
        return
    wanted = Warmth(state.setting.tier, state.history, passages(state), text)
    if state.warmed is None:  # warming a tier leaves it with the system prompt
        step.set(warmed=wanted)
    elif opened or not _holds(state.warmed, wanted):
        _order(step, wanted, _why(step.state, opened, text))


def _text(state: State) -> str | None:
    """The user's words to work ahead on; None where something else is being worked on, or nothing is to be."""
    if state.stopping or state.muted or state.setting.staged_gaps_ms or state.reply or state.ending:
        return None
    utterance, draft = state.utterance, state.draft
    if is_awaited(state):  # a few ms, and what was worked through without the notes would be lost
        return None
    if draft is not None and (not draft.generated or utterance is None or not utterance.speaking):
        return None
    if utterance is None:
        return state.carried
    if utterance.settled or not (utterance.speaking or state.policy.prewarm_pauses):
        return None
    if utterance.number != state.ahead.utterance:
        return state.carried
    whole = state.policy.prewarm_newest or not utterance.speaking
    words = stable_prefix(state.ahead.partial, state.ahead.partial) if whole else state.ahead.stable
    return turn_text(state, words)


def _holds(warmed: Warmth, wanted: Warmth) -> bool:
    """Whether what was worked through already begins with what is wanted."""
    if (warmed.tier, warmed.history, warmed.passages) != (wanted.tier, wanted.history, wanted.passages):
        return False
    return goes_on_from(wanted.text, warmed.text)


def _why(state: State, opened: bool, text: str) -> Literal["speech", "words", "pause", "history"]:
    if opened:
        return "speech"
    if not text or state.utterance is None:
        return "history"
    return "words" if state.utterance.speaking else "pause"


def _order(step: Step, wanted: Warmth, why: Literal["speech", "words", "pause", "history"]) -> None:
    state = step.state
    number = state.next_prewarm
    step.set(next_prewarm=number + 1, warmed=wanted)
    step.order(Prewarm(number, state.next_turn, wanted.tier, messages(state, wanted.text), why))
