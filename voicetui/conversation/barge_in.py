"""Speech over a reply, heard or still being made: make way at once, decide what it was, give back what was held if it
was nothing.
"""

from __future__ import annotations

from typing import Literal

from voicetui.conversation import floor, patience
from voicetui.conversation.state import Reply, Step, Utterance
from voicetui.conversation.utterance import partial_due
from voicetui.conversation.words import asks, backchannel, hushes
from voicetui.events.listen import UNSURE, SoundRose, Transcribed
from voicetui.events.orders import BargeIn, Duck, Pause, Resume
from voicetui.events.words import normalise_words

_SURE_WORDS = 2
_SURE_LOGPROB = -1.0
"""Whisper's own limit for a failed decoding (openai/whisper, transcribe.py, ``logprob_threshold``)."""


def sound_rose(step: Step, fact: SoundRose) -> None:
    """Something is heard over the reply: make way at once, before anyone knows whether it is speech."""
    state = step.state
    reply, policy = state.reply, state.policy
    if reply is None or not reply.queued or state.deaf:
        return
    if state.utterance is not None:
        step.set(risen_ms=fact.noticed_ms)
        return
    lasted_ms = fact.noticed_ms - step.at_ms
    if not reply.quiet:
        step.order(Duck(reply.basis))
        reply = step.put(floor.changed(reply, quiet="ducked"))
    if reply.quiet == "ducked" and lasted_ms >= policy.rise_pause_ms:
        step.order(Pause(reply.basis))
        step.put(floor.changed(reply, quiet="paused"))
    _wait_for_speech(step, fact.noticed_ms)


def _wait_for_speech(step: Step, noticed_ms: float) -> None:
    """Let the reply come back unless speech comes of the sound that was last told of at ``noticed_ms``."""
    step.set(rise_wake=step.state.next_wake)
    step.wake(noticed_ms + step.state.policy.rise_back_ms, "rise")


def rise_over(step: Step, wake: int) -> None:
    """The sound over the reply was no speech: the reply comes back."""
    reply = step.state.reply
    if wake == step.state.rise_wake and step.state.utterance is None and reply is not None and reply.quiet:
        _let_go(step, reply)


def began(step: Step, onset_ms: float) -> None:
    """Duck the audible reply, and look again when the speech has lasted."""
    reply, utterance = step.state.reply, step.state.utterance
    if reply is None or utterance is None or utterance.bid:
        return
    if not reply.quiet:
        step.order(Duck(reply.basis))
        step.put(floor.changed(reply, quiet="ducked"))
    policy = step.state.policy
    step.utter_wake("bid_pause", onset_ms + policy.bid_pause_ms)
    step.utter_wake("bid_words", onset_ms + policy.bid_words_ms)
    step.utter_wake("bid_long", onset_ms + policy.bid_long_ms)


def lasted(step: Step, purpose: str, due_ms: float) -> None:
    """The speech over the reply, or the silence after it, reached one of its marks."""
    reply, utterance = step.state.reply, step.state.utterance
    if reply is None or utterance is None or utterance.bid or utterance.speaking == (purpose == "give_back"):
        return
    if purpose == "give_back":
        _let_go(step, reply)
    elif purpose == "bid_pause" and reply.quiet == "ducked":
        step.order(Pause(reply.basis))
        step.put(floor.changed(reply, quiet="paused"))
    elif purpose == "bid_words":
        partial_due(step, due_ms)
    elif purpose == "bid_long" and not utterance.wordless:
        bid(step)


def verdict(step: Step, fact: Transcribed, settles: bool) -> str:
    """Decide by the words, if they allow it yet: why this is no bid, or "" while it is open or a bid.

    Words read unsurely are none, but for those that ask for silence: to talk on over "stop" is worse than to stop for
    a cough that sounded like it.
    """
    if step.state.reply is None:
        step.utter(bid=True)
        return ""
    believed = not fact.doubt or (fact.doubt == UNSURE and settles and hushes(fact.text))
    nothing = not believed or not normalise_words(fact.text)
    step.utter(wordless=nothing)
    asks_to_go_on = backchannel(fact.text) and not _answers(step, step.state.reply)
    if not nothing and not asks_to_go_on and (settles or _sure(fact)):
        bid(step)
        return ""
    if not settles:
        return ""
    return fact.doubt or "no words" if nothing else "backchannel"


def _sure(fact: Transcribed) -> bool:
    """Whether a partial transcript may decide: the first syllables of a hum or a cough read as a word, seldom as two
    good ones.
    """
    good = fact.evidence.logprob is None or fact.evidence.logprob >= _SURE_LOGPROB
    return good and len(normalise_words(fact.text)) >= _SURE_WORDS


def _answers(step: Step, reply: Reply) -> bool:
    """Whether the open utterance began where a question, the last thing the reply says, was as good as asked."""
    utterance = step.state.utterance
    said = [clause for clause in reply.clauses if clause.state in ("playing", "done")]
    if utterance is None or not reply.finishing or not said or not asks(said[-1].text) or said[-1].sound_ms is None:
        return False
    begun = [each.from_ms for each in step.state.spoken if (each.basis, each.clause) == (reply.basis, said[-1].number)]
    early_ms = step.state.policy.answer_early_ms
    return bool(begun) and utterance.onset_ms >= begun[-1] + said[-1].sound_ms - early_ms


def give_back(step: Step, utterance: Utterance, reason: str) -> None:
    """It was a cough, a click, "mm-hmm": the voice comes back, or the answer being made may be heard.

    It stays away where something is heard again by now: it would be heard for a moment, and make way once more.
    """
    reply = step.state.reply
    if reply is None or utterance.bid:
        return
    if utterance.over == "reply":
        kind: Literal["backchannel", "noise"] = "backchannel" if reason == "backchannel" else "noise"
        step.order(BargeIn(reply.basis, utterance.number, kind, utterance.onset_ms))
    risen_ms = step.state.risen_ms
    end_ms = utterance.pause.user_end_ms if utterance.pause is not None else None
    risen_again = end_ms is not None and end_ms < risen_ms
    if reply.quiet and risen_again and step.now_ms < risen_ms + step.state.policy.rise_back_ms:
        _wait_for_speech(step, risen_ms)
    else:
        _let_go(step, reply)


def _let_go(step: Step, reply: Reply) -> None:
    """The reply may be heard, at full level."""
    if reply.quiet:
        step.order(Resume(reply.basis))
    floor.advance(step, step.put(floor.changed(reply, quiet="", held=False)))


def bid(step: Step) -> None:
    """The user wants the floor: the reply is cut, its work cancelled, and only what was heard will be remembered.

    Who goes on sooner than anyone could react to the reply was cut off: the same utterance goes on.
    """
    reply, utterance = step.state.reply, step.state.utterance
    assert utterance is not None
    step.utter(bid=True)
    if reply is None:
        return
    resumed = reply.user_end_ms is not None and utterance.onset_ms - reply.user_end_ms <= step.state.policy.resume_ms
    if resumed and reply.user_end_ms is not None:
        patience.learn(step, utterance.onset_ms - reply.user_end_ms)
    unheard: floor.CutOutcome = "cut_off" if resumed else "superseded"
    if utterance.over == "reply":
        step.order(BargeIn(reply.basis, utterance.number, "bid", utterance.onset_ms))
    reacted_ms = None if reply.audible_ms is None else reply.audible_ms + step.state.policy.reaction_ms
    no_answer = resumed and (reacted_ms is None or utterance.onset_ms < reacted_ms)
    floor.cut(step, reply, "cut_off" if no_answer else "interrupted", "the user spoke", unheard)
