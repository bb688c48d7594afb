"""What the user's hands can do."""

from __future__ import annotations

import msgspec

from voicetui.conversation import duplex, endpoint, floor, speculate, staged
from voicetui.conversation.lookup import look_up
from voicetui.conversation.state import Step
from voicetui.events.orders import BargeIn, Commit, GateMic, PrepareTier, Reject, UseDevice
from voicetui.events.session import (
    MIC_TEST_MS,
    DeviceChosen,
    MicTested,
    Muted,
    OverlapChosen,
    Said,
    StopAsked,
    TalkKey,
    TierChosen,
)

_LAST_CUT_MS = 500.0
"""How long a session that is asked to stop waits for the speaker to say what was heard."""


def said(step: Step, fact: Said) -> None:
    """A typed turn takes the floor from whatever is being said."""
    if not fact.text.strip() or step.state.stopping:
        return
    step.set(typed=(*step.state.typed, fact.text.strip()))
    if step.state.reply is not None:
        floor.cut(step, step.state.reply, "interrupted", "typed over")


def commit_typed(step: Step) -> None:
    """Commit what was typed, as one turn, once nothing older is being answered; open speech is dropped for it."""
    if not step.state.typed or step.state.reply is not None or step.state.ending is not None:
        return
    if step.state.utterance is not None:  # before the look-up: its words would be looked up in turn with these
        step.order(Reject(step.state.utterance.number, "typed over", step.state.utterance.text))
        step.set(utterance=None)
    text = " ".join(step.state.typed)
    if look_up(step, text):
        return
    step.set(typed=())
    basis = speculate.adopt(step, text, 0)
    step.order(Commit(basis, None, text, "typed"))
    step.set(carried="")
    floor.begin(step, basis, text, None)


def muted(step: Step, fact: Muted) -> None:
    """Switch the microphone off or on."""
    step.set(muted=fact.on)
    if fact.on and step.state.utterance is not None:
        endpoint.reject(step, "muted", step.state.utterance.text)


def interrupt_asked(step: Step, at_ms: float) -> None:
    """Silence the reply, or forget the one being made."""
    reply = step.state.reply
    if reply is not None:
        number = step.state.utterance.number if step.state.utterance is not None else 0
        step.order(BargeIn(reply.basis, number, "key", at_ms))
        floor.cut(step, reply, "interrupted", "interrupt key")


def talk_key(step: Step, fact: TalkKey, at_ms: float) -> None:
    """Push-to-talk: pressing takes the floor, releasing ends the turn without waiting for silence."""
    step.set(talk_key=fact.down)
    if fact.down:
        interrupt_asked(step, at_ms)
        return
    utterance = step.state.utterance
    if utterance is None:
        return
    step.utter(key_up=True)
    if not utterance.speaking:
        endpoint.silence_over(step)


def tier_chosen(step: Step, fact: TierChosen) -> None:
    """The next turn uses another tier; a draft made on the old one is void."""
    step.set(setting=msgspec.structs.replace(step.state.setting, tier=fact.tier))
    step.order(PrepareTier(fact.tier))
    speculate.drop(step, "tier changed")


def overlap_chosen(step: Step, fact: OverlapChosen) -> None:
    """The next turn is made in another overlap mode; a draft made in the old one is void."""
    step.set(setting=msgspec.structs.replace(step.state.setting, overlap=fact.overlap))
    speculate.drop(step, "overlap mode changed")
    staged.quicken(step)


def device_chosen(step: Step, fact: DeviceChosen) -> None:
    """Change a device. What the old one has begun ends: the reply is cut at what was heard, running speech is no turn.

    A reply that has not begun to sound goes on, and is heard on the new speaker; an utterance that has paused is a turn
    all the same.
    """
    state = step.state
    if state.stopping:
        return
    reason = f"the {'microphone' if fact.role == 'input' else 'speaker'} was changed"
    if (fact.role == "output" or fact.renew) and state.reply is not None and state.reply.queued:
        floor.cut(step, state.reply, "interrupted", reason)
    if (fact.role == "input" or fact.renew) and state.utterance is not None and state.utterance.speaking:
        endpoint.give_up(step, reason)
    if fact.role == "output":
        duplex.speaker_chosen(step)
    step.order(UseDevice(fact.role, fact.name, fact.host, fact.renew))


def mic_tested(step: Step, fact: MicTested) -> None:
    """While the microphone is tested nothing that is said opens a turn; speech that is running is none, too.

    The test ends by itself: whoever began it may be held up.
    """
    step.set(testing=fact.on, test_wake=step.wake(step.at_ms + MIC_TEST_MS, "microphone test") if fact.on else 0)
    if fact.on and step.state.utterance is not None and step.state.utterance.speaking:
        endpoint.reject(step, "microphone test", step.state.utterance.text)


def stop_asked(step: Step, fact: StopAsked) -> None:
    """End the session: silence the reply, let its turn end, then close."""
    if step.state.stopping:
        return
    step.set(stopping=fact.why, typed=())
    if step.state.utterance is not None:
        endpoint.reject(step, "session ended", step.state.utterance.text)
    speculate.drop(step, "session ended")
    if step.state.reply is not None:
        floor.cut(step, step.state.reply, "interrupted", "session ended")
    if step.state.ending is not None:
        step.set(stop_wake=step.wake(step.at_ms + _LAST_CUT_MS, "stop"))


def ungate(step: Step) -> None:
    """Half duplex: the reply has died away, the detector hears again."""
    if step.state.gated and (step.state.reply is None or not step.state.reply.queued):
        step.set(gated=False)
        step.order(GateMic(False))
