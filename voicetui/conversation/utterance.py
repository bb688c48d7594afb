"""The words of the open utterance: when to ask for them, and how they are revised."""

from __future__ import annotations

import msgspec

from voicetui.conversation.history import turn_text
from voicetui.conversation.state import Step
from voicetui.conversation.words import same_words
from voicetui.events.listen import Transcribed
from voicetui.events.orders import Revise, ScoreTurn, ScoreWords, Transcribe, Window
from voicetui.events.sound import RATE_HZ
from voicetui.events.words import normalise_words


def transcribe(step: Step, end_sample: int | None) -> None:
    """Ask for the open utterance's words: all of them up to a pause (final), or the newest there are (a partial).

    Only mode ``full`` cuts the recogniser's window for a final.
    """
    utterance = step.state.utterance
    assert utterance is not None
    request, start = _new_request(step), _start_sample(step)
    step.utter(request=request, transcribing=True, final_asked=end_sample is not None)
    final = end_sample is not None
    window: Window = "padded" if final and step.state.setting.overlap != "full" else "short"
    step.order(Transcribe(utterance.number, request, start, end_sample, final, window))


def transcribe_pause(step: Step) -> None:
    """Ask for the final words of the current pause."""
    utterance = step.state.utterance
    assert utterance is not None and utterance.pause is not None
    transcribe(step, _end_sample(step))


def score_pause(step: Step) -> None:
    """Ask whether the turn is over, by its sound up to the current pause; or to be woken when it is time for that."""
    utterance, policy = step.state.utterance, step.state.policy
    if utterance is None or utterance.pause is None or utterance.pause.user_end_ms is None or utterance.key_up:
        return
    if step.state.unscored or step.state.setting.overlap != "full":
        return
    after_ms = policy.sound_after_ms if step.state.words_come_first else policy.score_after_ms
    due_ms = utterance.pause.user_end_ms + after_ms
    if due_ms > step.now_ms:
        step.utter_wake("score", due_ms)
        return
    request = _new_request(step)
    step.utter(pause=msgspec.structs.replace(utterance.pause, scoring=request))
    step.order(ScoreTurn(utterance.number, request, _start_sample(step), _end_sample(step)))


def score_words(step: Step) -> None:
    """Ask whether a sentence is over after the newest words, which are others than before; at a pause not at once."""
    utterance, state = step.state.utterance, step.state
    assert utterance is not None
    step.utter(scoring_words=0, words_score=None, unscored_words=False)
    if not state.words_come_first or state.setting.overlap != "full" or state.setting.staged_gaps_ms:
        return
    if not normalise_words(utterance.text):
        return
    user_end_ms = utterance.pause.user_end_ms if utterance.pause is not None else None
    if user_end_ms is None or not state.policy.words_after_ms:
        _ask_for_words_score(step)
    else:
        step.utter(unscored_words=True)
        step.utter_wake("score_words", user_end_ms + state.policy.words_after_ms)


def words_may_be_scored(step: Step, due: bool = False) -> None:
    """Ask for the score that was put off, if it is ``due`` or keeps neither final words nor a first clause waiting."""
    utterance, draft = step.state.utterance, step.state.draft
    if utterance is None or not utterance.unscored_words:
        return
    final_awaited = utterance.final_asked and utterance.transcribing
    if due or (not final_awaited and (draft is None or draft.generated or draft.clauses)):
        _ask_for_words_score(step)


def _ask_for_words_score(step: Step) -> None:
    utterance, request = step.state.utterance, _new_request(step)
    assert utterance is not None
    step.utter(scoring_words=request, unscored_words=False)
    step.order(ScoreWords(utterance.number, request, turn_text(step.state, utterance.text)))


def _new_request(step: Step) -> int:
    request = step.state.next_request
    step.set(next_request=request + 1)
    return request


def _start_sample(step: Step) -> int:
    """Where the sound of the open utterance begins, a little before its onset."""
    utterance = step.state.utterance
    assert utterance is not None
    first = utterance.start_sample if utterance.doubted_sample is None else utterance.doubted_sample
    return max(0, first - _samples(step.state.policy.preroll_ms))


def _end_sample(step: Step) -> int:
    """A little after the acoustic end of the current pause."""
    assert step.state.utterance is not None and step.state.utterance.pause is not None
    return step.state.utterance.pause.sample + _samples(step.state.policy.tail_ms)


def _samples(ms: float) -> int:
    return int(ms * RATE_HZ / 1000)


def next_partial(step: Step, due_ms: float) -> None:
    """Look at the words again at ``due_ms``."""
    step.utter_wake("partial", due_ms)


def partial_due(step: Step, due_ms: float) -> None:
    """Ask for a partial transcript, unless one is still being made: never more than one at a time."""
    utterance = step.state.utterance
    if utterance is None or not utterance.speaking:
        return
    if utterance.transcribing:
        next_partial(step, due_ms + step.state.policy.partial_every_ms)
    else:
        transcribe(step, None)


def revise(step: Step, fact: Transcribed, settles: bool) -> None:
    """Take over the new words. The revision rises only when they differ in more than case and punctuation."""
    utterance = step.state.utterance
    assert utterance is not None
    if fact.doubt and not settles:
        return
    changed = not same_words(fact.text, utterance.text)
    if changed or (settles and fact.text != utterance.text):
        revision = utterance.revision + (1 if changed else 0)
        step.utter(text=fact.text, revision=revision)
        step.order(Revise(utterance.number, revision, fact.text, settles))
    if changed:
        score_words(step)
