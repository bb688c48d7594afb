"""When an utterance opens, pauses and goes on; when its turn is over; when it is no turn at all."""

from __future__ import annotations

from typing import Literal

import msgspec

from voicetui.conversation import barge_in, duplex, floor, own_words, patience, speculate, staged
from voicetui.conversation.history import turn_text
from voicetui.conversation.lookup import look_up
from voicetui.conversation.state import Closed, Doubted, Pause, Step, Utterance, Wait, Words
from voicetui.conversation.utterance import next_partial, revise, score_pause, transcribe_pause
from voicetui.events.listen import (
    UNSURE,
    SpeechPaused,
    SpeechStarted,
    Transcribed,
    TranscribeFailed,
    TurnScored,
    WordsScored,
)
from voicetui.events.orders import Commit, OpenUtterance, Reject
from voicetui.events.words import normalise_words

_WITHOUT_WORDS = ("no words", "no speech", "failed")
"""Why an utterance was rejected whose words, should they come after all, make a turn."""


def speech_started(step: Step, fact: SpeechStarted, at_ms: float) -> None:
    """Open an utterance, or let the open one go on."""
    if step.state.deaf:
        return
    policy = step.state.policy
    if step.state.utterance is not None:
        before = step.state.utterance.pause
        if before is not None and before.user_end_ms is not None:
            patience.learn(step, at_ms - before.user_end_ms)
        utterance = step.utter(speaking=True, pause=None, settled=False, final_asked=False, silence_over=False)
        step.forget_wake("endpoint")
        next_partial(step, fact.noticed_ms + policy.partial_every_ms)
    else:
        utterance = _open(step, fact, at_ms)
        if not utterance.over:
            next_partial(step, at_ms + policy.partial_first_ms)
    if utterance.over == "reply":
        barge_in.began(step, at_ms)
    elif utterance.over == "thinking":
        next_partial(step, at_ms + policy.bid_words_ms)


def speech_paused(step: Step, fact: SpeechPaused, at_ms: float) -> None:
    """Wait for the silence to last; in mode ``full``, or to decide a barge-in, transcribe what there is meanwhile."""
    utterance = step.state.utterance
    if utterance is None or not utterance.speaking:
        return
    policy, full = step.state.policy, step.state.setting.overlap == "full"
    utterance = step.utter(
        speaking=False, pause=Pause(fact.sample, at_ms), settled=False, final_asked=False, silence_over=False
    )
    step.now_ms = max(at_ms, fact.noticed_ms)
    undecided = utterance.over and not utterance.bid
    if undecided and not utterance.key_up and at_ms + policy.over_pause_ms > step.now_ms:
        step.utter_wake("over_pause", at_ms + policy.over_pause_ms)
    elif full or undecided or utterance.key_up or staged.on(step.state):
        transcribe_pause(step)
    if undecided:
        step.utter_wake("give_back", at_ms + policy.give_back_ms)
    over_ms = at_ms + _silence_ms(step)
    if utterance.key_up or (staged.on(step.state) and over_ms <= step.now_ms):
        step.utter(silence_over=True)
    else:
        step.utter(wait=Wait(_silence_ms(step), "silence"))
        step.utter_wake("endpoint", over_ms)
    by_model = full and policy.turn_end == "model" and not (utterance.key_up or staged.on(step.state))
    if by_model and not step.state.words_come_first:
        score_pause(step)


def scored(step: Step, fact: TurnScored) -> None:
    """Wait as long as the score of the current pause makes it worth; a score of an older one is void."""
    utterance = step.state.utterance
    if utterance is None or utterance.number != fact.utterance or utterance.pause is None:
        return
    if utterance.pause.scoring == fact.request:
        step.utter(pause=msgspec.structs.replace(utterance.pause, scoring=0, score=fact.score))
        _reconsider(step)


def words_scored(step: Step, fact: WordsScored) -> None:
    """Wait as long as the score of the newest words makes it worth; a score of older ones is void."""
    utterance = step.state.utterance
    if utterance is None or utterance.number != fact.utterance or utterance.scoring_words != fact.request:
        return
    step.utter(scoring_words=0, words_score=fact.score)
    if not utterance.speaking:
        _reconsider(step)


def over_pause(step: Step) -> None:
    """The pause of speech over the reply has lasted: read it."""
    utterance = step.state.utterance
    if utterance is not None and utterance.pause is not None and not utterance.speaking and not utterance.final_asked:
        transcribe_pause(step)


def scoring_broke(step: Step) -> None:
    """From now on turns end by silence alone."""
    step.set(unscored=True)


def scoring_words_broke(step: Step) -> None:
    """From now on turns end without the words' score; in the pause that waits for one the sound is asked instead."""
    step.set(words_unscored=True)
    utterance = step.state.utterance
    if utterance is not None and (utterance.scoring_words or utterance.unscored_words):
        step.utter(scoring_words=0, unscored_words=False)
        if not utterance.speaking:
            score_pause(step)
            _reconsider(step)


def silence_over(step: Step) -> None:
    """The silence lasted; the turn is over once its words are known."""
    utterance = step.utter(silence_over=True)
    if not (utterance.final_asked or utterance.speaking):
        transcribe_pause(step)


def transcribed(step: Step, fact: Transcribed, at_ms: float) -> None:
    """Revise the utterance's words; settle them if this answers the current pause."""
    utterance = step.state.utterance
    assert utterance is not None
    fact = own_words.judged(step, fact)
    newest = fact.request == utterance.request
    settles = newest and fact.final and not utterance.speaking
    step.utter(transcribing=utterance.transcribing and not newest)
    revise(step, fact, settles)
    if settles:
        step.utter(settled=True, doubt=fact.doubt, logprob=fact.evidence.logprob)
        own_words.user_level(step, fact)
        _reconsider(step)
    elif utterance.speaking and newest:
        next_partial(step, at_ms + step.state.policy.partial_every_ms)
    if utterance.over and not utterance.bid:
        reason = barge_in.verdict(step, fact, settles)
        if reason:
            reject(step, reason, fact.text)
            return
    if settles:
        speculate.words_settled(step)


def transcribe_failed(step: Step, fact: TranscribeFailed, at_ms: float) -> None:
    """Without words there is no turn; the session goes on."""
    utterance = step.state.utterance
    if utterance is None or utterance.number != fact.utterance or fact.request != utterance.request:
        return
    step.utter(transcribing=False)
    if fact.final and not utterance.speaking:
        give_up(step, fact.message)
    elif utterance.speaking:
        next_partial(step, at_ms + step.state.policy.partial_every_ms)


def commit_if_over(step: Step) -> None:
    """Commit the turn if the user is silent, the wait is over, the words are known, and an older reply is out of the
    way.
    """
    utterance = step.state.utterance
    if utterance is None or utterance.speaking or step.state.talk_key:
        return
    if not (utterance.silence_over and (utterance.settled or staged.on(step.state))):
        return
    believed = not utterance.doubt and bool(normalise_words(utterance.text))
    if utterance.settled and not believed and not step.state.carried:
        reject(step, utterance.doubt or "no words", utterance.text)
        return
    if step.state.ending is not None or step.state.reply is not None:
        return
    assert utterance.pause is not None
    text = turn_text(step.state, utterance.text if believed else "")
    if staged.on(step.state) and utterance.pause.user_end_ms is not None:
        staged.commit(step, utterance, text, utterance.pause.user_end_ms)
        return
    if look_up(step, text):
        return
    if _held_for_reply(step, utterance, text):
        return
    basis = speculate.adopt(step, text, utterance.revision)
    wait = utterance.wait or Wait(_silence_ms(step), "silence")
    if utterance.key_up:
        step.order(Commit(basis, utterance.number, text, "key"))
    else:
        pause = utterance.pause
        held_ms = 0.0 if pause.over_ms is None else max(0.0, step.now_ms - pause.over_ms)
        step.order(
            Commit(basis, utterance.number, text, wait.reason, wait.ms, pause.score, held_ms, utterance.words_score)
        )
    step.set(utterance=None, carried="", closed=Closed(utterance.number, utterance.text))
    floor.begin(step, basis, text, utterance.pause.user_end_ms)


def reject(step: Step, reason: str, text: str = "") -> None:
    """Close the open utterance as no turn, and give back what was held for it."""
    utterance = step.state.utterance
    assert utterance is not None
    step.order(Reject(utterance.number, reason, text))
    step.set(utterance=None, closed=Closed(utterance.number, "") if reason in _WITHOUT_WORDS else None)
    if reason == UNSURE and utterance.pause is not None and utterance.pause.user_end_ms is not None:
        step.set(doubted=Doubted(utterance.start_sample, utterance.pause.user_end_ms))
    speculate.drop(step, "rejected")
    barge_in.give_back(step, utterance, reason)
    if reason == own_words.ECHO:
        duplex.heard_itself(step, step.state.spoken[-1].basis.turn, "it said what the program had just said")


def give_up(step: Step, message: str) -> None:
    """The open utterance gets no words: it is no turn, unless words carried over still wait for their answer."""
    utterance = step.state.utterance
    assert utterance is not None
    if not step.state.carried:
        reject(step, "failed", message)
        return
    pause = utterance.pause or Pause(utterance.start_sample, None)
    step.utter(speaking=False, pause=pause, settled=True, silence_over=True, doubt="failed")


def spoken_over(step: Step) -> Literal["", "reply", "thinking"]:
    """What speech that begins now is spoken over."""
    reply = step.state.reply
    if reply is None:
        return ""
    return "reply" if reply.queued else "thinking"


def _open(step: Step, fact: SpeechStarted, at_ms: float) -> Utterance:
    reply, over = step.state.reply, spoken_over(step)
    number = step.state.next_utterance
    utterance = Utterance(number=number, start_sample=fact.sample, onset_ms=at_ms, over=over)
    doubted = step.state.doubted
    if doubted is not None and at_ms - doubted.end_ms <= step.state.policy.resume_ms:
        utterance = msgspec.structs.replace(utterance, doubted_sample=doubted.start_sample)
    step.set(next_utterance=number + 1, utterance=utterance, doubted=None)
    step.order(OpenUtterance(number, step.state.next_turn, fact.sample, over == "reply"))
    if reply is not None and over == "thinking":
        step.put(floor.changed(reply, held=True))
    return utterance


def _reconsider(step: Step) -> None:
    """Measure the current pause against what is known of it now; ask to be woken anew if that changed the wait."""
    utterance = step.state.utterance
    if utterance is None or utterance.key_up or staged.on(step.state):
        return
    if utterance.pause is None or utterance.pause.user_end_ms is None:
        return
    user_end_ms = utterance.pause.user_end_ms
    words = None
    if utterance.settled:
        words = Words("" if utterance.doubt else utterance.text, utterance.logprob, utterance.words_score)
    wait = _wait(step, utterance.pause, words)
    if wait != utterance.wait:
        utterance = step.utter(wait=wait, silence_over=False)
        assert utterance.pause is not None
        step.utter(pause=msgspec.structs.replace(utterance.pause, over_ms=None))
        step.utter_wake("endpoint", user_end_ms + wait.ms)


def _wait(step: Step, pause: Pause, words: Words | None) -> Wait:
    """How long to wait by what is known. Where that is long by the scored words, the sound is asked, too."""
    policy = step.state.policy
    wait = patience.wait_for(policy, _silence_ms(step), pause.score, words, step.state.own_pauses_ms)
    asked = pause.score is not None or pause.scoring
    if wait.reason == "turn model" and wait.ms > policy.sound_after_ms and not asked:
        score_pause(step)
    return wait


def _held_for_reply(step: Step, utterance: Utterance, text: str) -> bool:
    """Whether the turn, which is over, stays open: its draft cannot be heard yet, so nothing is late for it."""
    pause = utterance.pause
    if pause is None or pause.user_end_ms is None or utterance.key_up or not speculate.unready(step, text):
        return False
    until_ms = pause.user_end_ms + step.state.policy.reply_wait_ms
    if step.now_ms >= until_ms:
        return False
    if pause.over_ms is None:
        step.utter(pause=msgspec.structs.replace(pause, over_ms=step.now_ms))
        step.utter_wake("reply_wait", until_ms)
    return True


def _silence_ms(step: Step) -> float:
    """The silence that ends a turn whose words do not ask for more."""
    policy = step.state.policy
    if staged.on(step.state):
        return staged.silence_ms(step.state)
    return policy.silence_ms if step.state.setting.overlap == "full" else policy.sequential_silence_ms
