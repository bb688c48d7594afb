"""Work started before the turn is over: drafts made on settled words, adopted if the words still hold."""

from __future__ import annotations

from voicetui.conversation.history import messages, turn_text
from voicetui.conversation.lookup import look_up
from voicetui.conversation.state import Reply, Step
from voicetui.conversation.words import same_words
from voicetui.events.base import Basis
from voicetui.events.orders import Cancel, Generate
from voicetui.events.words import normalise_words


def words_settled(step: Step) -> None:
    """At a pause with believable words, start the reply before anyone knows whether the turn is over."""
    state = step.state
    utterance = state.utterance
    if utterance is None or state.setting.overlap != "full" or utterance.doubt or not normalise_words(utterance.text):
        return
    if state.reply is not None or state.ending is not None or state.setting.staged_gaps_ms:
        return
    text = turn_text(state, utterance.text)
    if state.draft is not None:
        if same_words(state.draft.user_text, text):
            return
        drop(step, "words changed")
    if look_up(step, text):  # a few ms, and a draft without the notes would be void at once
        return
    if utterance.drafts < state.policy.attempts:
        step.utter(drafts=utterance.drafts + 1)
        basis = new_basis(step, utterance.revision)
        step.order(Generate(basis, state.setting.tier, messages(state, text), speculative=True))
        step.set(draft=Reply(basis=basis, user_text=text, overlap=state.setting.overlap))


def adopt(step: Step, text: str, revision: int) -> Basis:
    """The basis of the turn now committed: the draft's if its words still hold, else a new one."""
    draft = step.state.draft
    if draft is not None and not draft.staged and same_words(draft.user_text, text):
        return draft.basis
    drop(step, "words changed")
    return new_basis(step, revision)


def unready(step: Step, text: str) -> bool:
    """Whether a draft for these words is on its way, and nothing of it could be heard yet."""
    draft = step.state.draft
    if draft is None or draft.staged or not same_words(draft.user_text, text):
        return False
    if any(clause.state == "ready" for clause in draft.clauses):
        return False
    return not draft.generated or any(clause.state in ("cut", "ordered") for clause in draft.clauses)


def new_basis(step: Step, revision: int) -> Basis:
    """The next attempt at the next turn."""
    step.set(attempt=step.state.attempt + 1)
    return Basis(step.state.next_turn, revision, step.state.attempt)


def drop(step: Step, reason: str) -> None:
    """Cancel the draft, if there is one."""
    if step.state.draft is not None:
        step.order(Cancel(step.state.draft.basis, reason))
        step.set(draft=None)
