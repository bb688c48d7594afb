"""How long to wait in a pause: by the score of the voice, by the words, and by how this speaker pauses."""

from __future__ import annotations

import math

from voicetui.conversation.policy import Policy
from voicetui.conversation.state import Step, Wait, Words
from voicetui.conversation.words import backchannel, ends, unfinished

_LONGEST_PAUSE_MS = 2000.0
_MOST_LOG_ODDS = 700.0  # e to more than 709 is no float


def wait_for(
    policy: Policy, silence_ms: float, score: float | None, words: Words | None, own_ms: tuple[float, ...]
) -> Wait:
    """The silence that ends the turn, by what is known now.

    ``silence_ms`` counts where too little is: ``words`` not settled (None), or neither they nor the sound scored.
    Words that ask for more need the longest silence whatever the score, and words nobody believes are no reason to
    hurry.
    """
    if words is not None and unfinished(words.text) and not backchannel(words.text):
        return Wait(policy.unfinished_ms, "unfinished words")
    if words is None or (score is None and words.score is None):
        return Wait(silence_ms, "silence")
    ms = _until_safe_ms(policy, going_on(policy, score, words), own_ms)
    least_logprob = min(policy.clear_logprob, policy.ended_logprob)
    if _ended_surely(words, least_logprob) and (score is None or score >= policy.ended_score):
        ms = min(ms, max(policy.ended_ms, policy.sure_ms))
    return Wait(ms if words.text else max(ms, silence_ms), "turn model")


def going_on(policy: Policy, score: float | None, words: Words) -> float:
    """The probability, above 0 and up to 1, that the turn is not over: by the odds of the sound's score, of the words'
    score and of a clear end, multiplied as if they were independent. A score that is not there says nothing.
    """
    bounded = min(max(0.5 if score is None else score, policy.least_doubt), 1.0 - policy.least_doubt)
    weight, clear_odds = policy.score_weight, policy.words_odds
    log_odds = 0.0
    if words.score is not None:
        weight, clear_odds = policy.beside_score_weight, policy.beside_words_odds
        log_odds = policy.words_weight * math.log(max(words.score, policy.least_words) / policy.even_words)
    log_odds += weight * math.log(bounded / (1.0 - bounded))
    if _ended_surely(words, policy.clear_logprob):
        log_odds += math.log(clear_odds)
    return 1.0 / (1.0 + math.exp(min(log_odds, _MOST_LOG_ODDS)))


def _ended_surely(words: Words, least_logprob: float) -> bool:
    return ends(words.text) and (words.logprob is None or words.logprob >= least_logprob)


def learn(step: Step, pause_ms: float) -> None:
    """This speaker paused and then went on with the same turn."""
    policy = step.state.policy
    if policy.least_pause_ms <= pause_ms <= _LONGEST_PAUSE_MS:
        step.set(own_pauses_ms=(*step.state.own_pauses_ms, pause_ms)[-policy.pauses_kept :])


def _until_safe_ms(policy: Policy, going_on: float, own_ms: tuple[float, ...]) -> float:
    """The shortest wait within bounds that ends inside a pause no oftener than ``cut_off_risk``.

    It does if the turn is not over, and the pause is longer: ``going_on`` * (share of known pauses that are longer).
    """
    known = sorted((*policy.pauses_ms, *own_ms))
    longer = policy.cut_off_risk / going_on
    if longer >= 1.0 or not known:
        return policy.sure_ms
    place = math.ceil((1.0 - longer) * len(known)) - 1
    return min(max(known[place], policy.sure_ms), policy.unsure_ms)
