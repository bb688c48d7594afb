"""The numbers the rules go by. They arrive with ``SessionOpened`` and are never read from anywhere else."""

from __future__ import annotations

from typing import Literal

import msgspec

from voicetui.events.session import Duplex, Overlap, SessionOpened


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What can be decided again on a recorded session by changing a number.

    Waits count from the acoustic end (or onset) of the user's speech, in milliseconds.
    """

    system_prompt: str = ""
    silence_ms: float = 500.0
    """The silence that ends a turn whose words look finished."""
    sequential_silence_ms: float = 600.0
    """The same in the modes ``none`` and ``clause``, where everything else waits for it."""
    unfinished_ms: float = 1500.0
    """The silence that ends a turn whose last word asks for more ("and", "the", "um")."""
    turn_end: Literal["silence", "model"] = "silence"
    """Whether, in mode ``full``, the wait also goes by the sound of the voice, scored by a model."""
    score_after_ms: float = 0.0
    """The silence after which the model is asked; 0: as soon as the pause is noticed, while the words are being read.
    """
    sure_ms: float = 240.0
    """The silence that ends a turn of which score and words say that it is over: the least there is."""
    reply_wait_ms: float = 0.0
    """A turn that is over stays open until its draft could be heard, but no longer than this silence: whoever goes on
    meanwhile is not cut off, and no reply is later for it. 0: it is committed at once.
    """
    unsure_ms: float = 1200.0
    """The silence that ends a turn of which they do not, at most."""
    ended_ms: float = 1200.0
    """The same for words that end like a sentence and were read clearly, unless the sound says that they go on."""
    ended_logprob: float = 0.0
    """For that, words were read clearly from this mean log-probability on; or from ``clear_logprob``, if lower."""
    ended_score: float = 0.1
    """A sound with a lower score says so."""
    cut_off_risk: float = 0.05
    """How often, at most, a wait may end inside a pause, as far as score, words and the speaker's pauses can tell."""
    score_weight: float = 0.8
    """What the score's log-odds count for: less than 1, for it is sure of itself where it is wrong, too."""
    least_doubt: float = 0.03
    """A score nearer to 0 or 1 than this counts as this near."""
    words_odds: float = 8.0
    """By what factor words that end like a sentence, and were read clearly, raise the odds that the turn is over."""
    score_words: bool = False
    """Whether the words are scored by a language model, before the sound: is a sentence over after them?"""
    words_after_ms: float = 0.0
    """At a pause they are scored when the final words and the draft's first clause are known, which a score beside them
    would delay, but not later than after this silence; 0: at once.
    """
    sound_after_ms: float = 400.0
    """The silence after which the sound is scored beside scored words, where these ask for a longer one. Sooner, it
    would keep the draft of the reply from the processor, and nothing of that could be heard yet.
    """
    words_weight: float = 1.0
    """What the log of that score counts for; score and clear ends then count for the two numbers that follow."""
    even_words: float = 0.035
    """The score of words that say nothing either way."""
    least_words: float = 0.001
    """A lower score counts as this."""
    beside_score_weight: float = 0.3
    """``score_weight`` beside scored words."""
    beside_words_odds: float = 20.0
    """``words_odds`` beside scored words."""
    clear_logprob: float = -0.25
    """Words of a lower mean log-probability were not read clearly: the last may have been cut off in the middle."""
    pauses_ms: tuple[float, ...] = (250.0, 300.0, 350.0, 400.0, 450.0, 500.0, 550.0, 600.0, 700.0, 800.0, 900.0, 1000.0)
    """Pauses inside sentences of a speaker of whom nothing is known yet; what is learnt in the session is added."""
    pauses_kept: int = 12
    """Pauses of this speaker that are remembered: the newest."""
    least_pause_ms: float = 200.0
    """A shorter silence between two words is no pause for thought."""
    quick_pauses: bool = False
    """In mode ``full``, pauses are announced by a quick ear: work begins sooner, and sometimes for nothing."""
    preroll_ms: float = 300.0
    """Sound before the detected onset that is transcribed too, so that a soft first syllable is not lost."""
    tail_ms: float = 200.0
    """Sound after the acoustic end that is transcribed too, where it exists already."""
    partial_first_ms: float = 700.0
    """Speech before the first partial transcript."""
    partial_every_ms: float = 500.0
    """From one partial transcript to the next request."""
    resume_ms: float = 1000.0
    """Speech that comes sooner than this after the committed end is the same utterance going on: the turn was cut off.
    """
    reaction_ms: float = 300.0
    """Nobody answers a reply sooner than this after its first sound."""
    attempts: int = 3
    """Speculative generations for one turn, at most."""
    prewarm: bool = True
    """In mode ``full``, tiers work ahead on the next prompt while the user speaks, and while nobody does."""
    prewarm_pauses: bool = True
    """They do so at a pause, too, beside the final transcript."""
    prewarm_newest: bool = False
    """They do so on all words of the newest partial transcript; else on those that two of them agree on."""
    knowledge: bool = False
    """There are notes to look things up in."""
    knowledge_passages: int = 2
    """Passages of them that go into one request, at most."""
    lookahead: int = 2
    """Clauses synthesised beyond the one being heard, at most."""
    rise_pause_ms: float = 100.0
    """Sound over the reply that lasts so long holds the reply, before anyone knows what it is."""
    rise_back_ms: float = 300.0
    """The reply comes back this long after such a sound was last told of, if no speech began meanwhile."""
    bid_pause_ms: float = 110.0
    """Speech over the reply for this long holds the reply."""
    bid_words_ms: float = 450.0
    """Speech over the reply for this long is transcribed to see whether it is a bid for the floor."""
    answer_early_ms: float = 500.0
    """Who says yes so long before a question's end does not say "go on": it is the answer."""
    over_pause_ms: float = 100.0
    """A pause of speech over the reply is read once it is this long: what a quick ear takes for one is often no end.
    """
    bid_long_ms: float = 1400.0
    """Speech over the reply for this long is a bid whatever its words, unless it was read and had none."""
    give_back_ms: float = 1000.0
    """A reply that was held comes back this long after the speech over it, if it is still not known what was said."""
    gate_tail_ms: float = 150.0
    """In half duplex the microphone stays shut this long after the reply (room echo)."""
    staged_gaps_ms: tuple[float, ...] = ()
    """Gaps that the session begins with, one turn after the other; empty: the real pipeline answers."""
    staged_ahead_ms: float = 200.0
    """A staged reply is given to the speaker this long before it is due: more than any output needs."""
    staged_quick_ms: float = 400.0
    """Staged gaps shorter than this need the detector's pauses early."""
    history_exchanges: int = 8
    """Exchanges of the history sent along; trimmed by half at once, so that the prompt's prefix stays the same in
    between.
    """


class Setting(msgspec.Struct, frozen=True):
    """What the user can change while the session runs."""

    tier: str = ""
    overlap: Overlap = "full"
    duplex: Duplex = "half"
    staged_gaps_ms: tuple[float, ...] = ()


def of_session(opened: SessionOpened) -> tuple[Policy, Setting]:
    """The policy and setting a session opened with. Raises ``msgspec.ValidationError`` for a policy that is none."""
    policy = msgspec.convert(opened.config.get("policy", {}), Policy)
    return policy, Setting(opened.tier, opened.overlap, opened.duplex, policy.staged_gaps_ms)
