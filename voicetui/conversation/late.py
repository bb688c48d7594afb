"""Words that come when their utterance is closed already, or was never heard to begin: they are not lost."""

from __future__ import annotations

from voicetui.conversation import barge_in, endpoint
from voicetui.conversation.history import turn_text
from voicetui.conversation.state import Pause, State, Step, Utterance
from voicetui.conversation.words import backchannel
from voicetui.events.listen import Transcribed
from voicetui.events.orders import Revise
from voicetui.events.words import normalise_words


def words_came_late(step: Step, fact: Transcribed, at_ms: float) -> None:
    """Make an utterance of final words that the open utterance is not waiting for.

    It has no speech times: the detector heard neither its start nor its end. Words of an utterance that was rejected
    for another reason than having none mean nothing.
    """
    if not fact.final or fact.doubt or step.state.stopping or step.state.muted:
        return
    text = _new_words(step.state, fact)
    if not normalise_words(text):
        return
    if step.state.utterance is not None:
        step.set(carried=turn_text(step.state, text))
        return
    number, over = max(fact.utterance, step.state.next_utterance), endpoint.spoken_over(step)
    utterance = Utterance(
        number=number, start_sample=fact.start_sample, onset_ms=at_ms, over=over, speaking=False,
        pause=Pause(fact.end_sample, None), text=text, revision=1, settled=True, silence_over=True,
    )  # fmt: skip
    step.set(next_utterance=number + 1, utterance=utterance)
    step.order(Revise(number, 1, text, True))
    if over and backchannel(text):
        endpoint.reject(step, "backchannel", text)
    elif over:
        barge_in.bid(step)


def _new_words(state: State, fact: Transcribed) -> str:
    """What of a transcript is not known yet: what follows the known words, or all of it if it has none of them.

    One that has some of them says the same again in other words.
    """
    if not 0 < fact.utterance < state.next_utterance:
        return fact.text
    if state.closed is None or state.closed.utterance != fact.utterance:
        return ""
    known, words = normalise_words(state.closed.text), fact.text.split()
    for count in range(len(words) + 1):
        if known == normalise_words(" ".join(words[:count])):
            return " ".join(words[count:])
    return fact.text if set(known).isdisjoint(normalise_words(fact.text)) else ""
