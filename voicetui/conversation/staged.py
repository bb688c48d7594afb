"""Gaps on purpose: a ready-made reply that is released a chosen time after the user's acoustic end.

Nothing is decided by words here, so nothing waits for them: what a person hears is the gap and nothing else.
"""

from __future__ import annotations

import msgspec

from voicetui.conversation import floor, speculate
from voicetui.conversation.history import turn_text
from voicetui.conversation.state import Reply, Staging, State, Step, Utterance
from voicetui.events.base import Basis
from voicetui.events.listen import Transcribed
from voicetui.events.orders import STAGED, Commit, Generate, QuickenEar, Revise
from voicetui.events.session import GapStaged
from voicetui.events.words import normalise_words


def on(state: State) -> bool:
    """Whether the next turn's gap is staged."""
    return bool(state.setting.staged_gaps_ms)


def gap_ms(state: State) -> float:
    """The gap whose turn it is."""
    gaps_ms = state.setting.staged_gaps_ms
    return gaps_ms[state.staged_turns % len(gaps_ms)]


def silence_ms(state: State) -> float:
    """The silence that ends a turn: as usual where the gap leaves room for it, else as much as there is."""
    return max(0.0, min(state.policy.silence_ms, gap_ms(state) - state.policy.staged_ahead_ms))


def gap_staged(step: Step, fact: GapStaged) -> None:
    """Other gaps from the next turn on. A draft was made for the old ones, or for none, and is void."""
    setting = msgspec.structs.replace(step.state.setting, staged_gaps_ms=fact.gaps_ms)
    step.set(setting=setting, staged_turns=0)
    speculate.drop(step, "staged gap changed")
    quicken(step)


def quicken(step: Step) -> None:
    """Let the ear be quick where work begins at a pause, or the shortest gap needs it; calm where silence decides."""
    state = step.state
    gaps_ms = state.setting.staged_gaps_ms
    quick = any(gap_ms < state.policy.staged_quick_ms for gap_ms in gaps_ms)
    if not gaps_ms:
        quick = state.policy.quick_pauses and state.setting.overlap == "full"
    if quick != state.ear_quick:
        step.set(ear_quick=quick)
        step.order(QuickenEar(quick))


def prepare(step: Step) -> None:
    """Make the reply ready while the user speaks, as soon as an older one is out of the way."""
    state = step.state
    if not on(state) or state.utterance is None or state.draft or state.reply or state.ending or state.stopping:
        return
    if state.utterance.drafts < state.policy.attempts:
        step.utter(drafts=state.utterance.drafts + 1)
        _draft(step)


def commit(step: Step, utterance: Utterance, text: str, user_end_ms: float) -> None:
    """Commit the turn on the reply that is ready (or will be, too late), due one gap after the user's end."""
    state = step.state
    due_ms = user_end_ms + gap_ms(state)
    release_ms = due_ms - state.policy.staged_ahead_ms
    draft = state.draft
    if draft is None or not draft.staged:
        speculate.drop(step, "staged gap")
        draft = _draft(step)
    step.order(Commit(draft.basis, utterance.number, text, STAGED, silence_ms(state)))
    staging = Staging(
        due_ms=due_ms,
        utterance=utterance.number,
        revision=utterance.revision,
        carried=state.carried,
        released=release_ms <= step.now_ms,
    )
    if not staging.released:
        staging = msgspec.structs.replace(staging, wake=step.wake(release_ms, "release"))
    step.set(utterance=None, closed=None, carried="", staged_turns=state.staged_turns + 1)
    step.set(draft=floor.changed(draft, staging=staging))
    floor.begin(step, draft.basis, text, user_end_ms)


def woke(step: Step, wake: int) -> None:
    """The reply's time comes near: give it to the speaker, unless the user talks again."""
    reply = step.state.reply
    if reply is not None and reply.staging is not None and reply.staging.wake == wake:
        staging = msgspec.structs.replace(reply.staging, released=True)
        floor.advance(step, step.put(floor.changed(reply, staging=staging)))


def waits_for(state: State, utterance: int) -> bool:
    """Whether these are the words of a staged turn, which was committed without them."""
    reply = state.reply
    return reply is not None and reply.staging is not None and reply.staging.utterance == utterance


def words_came(step: Step, fact: Transcribed) -> None:
    """Take over the words of a turn that did not wait for them: for the screen and the history."""
    reply = step.state.reply
    assert reply is not None and reply.staging is not None
    if not fact.final or fact.doubt or not normalise_words(fact.text):
        return
    text = turn_text(msgspec.structs.replace(step.state, carried=reply.staging.carried), fact.text)
    if text != reply.user_text:
        step.order(Revise(fact.utterance, reply.staging.revision + 1, text, final=True))
        step.put(floor.changed(reply, user_text=text))


def _draft(step: Step) -> Reply:
    """Order a reply of one piece from the tier of ready-made ones, which needs no messages."""
    assert step.state.utterance is not None
    basis: Basis = speculate.new_basis(step, step.state.utterance.revision)
    step.order(Generate(basis, STAGED, (), speculative=True))
    draft = Reply(basis=basis, user_text="", overlap="none", staged=True)
    step.set(draft=draft)
    return draft
