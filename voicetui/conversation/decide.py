"""``decide(state, entry) -> (state, orders)``: pure, so that a recorded session can be decided again without models."""

from __future__ import annotations

from voicetui.conversation import barge_in, commands, context, duplex, endpoint, floor, late, own_words, prewarm, staged
from voicetui.conversation import utterance as utterance_words
from voicetui.conversation.policy import of_session
from voicetui.conversation.state import State, Step
from voicetui.events import Entry, Fact, Order
from voicetui.events.listen import (
    SoundRose,
    SpeechPaused,
    SpeechStarted,
    Transcribed,
    TranscribeFailed,
    TurnScored,
    WordsScored,
)
from voicetui.events.orders import EndSession
from voicetui.events.reply import ClauseCut, ContextAssembled, GenerationEnded, GenerationFailed
from voicetui.events.session import (
    DeviceChosen,
    Fault,
    GapStaged,
    InterruptAsked,
    MicTested,
    Muted,
    OverlapChosen,
    Ready,
    Said,
    SessionOpened,
    StopAsked,
    TalkKey,
    TierChosen,
    Woke,
)
from voicetui.events.sound import DeviceLost, EchoLost, EchoMeasured
from voicetui.events.speak import (
    ClauseBegun,
    ClauseEnded,
    ClauseStarted,
    ClauseSynthesized,
    PlaybackCut,
    PlaybackFinished,
    SynthesisFailed,
)


def decide(state: State, entry: Entry) -> tuple[State, tuple[Order, ...]]:
    """Apply one appended fact. Orders in a journal are not decided on: they are what was decided."""
    if state.over or not isinstance(entry.body, Fact):
        return state, ()
    step = Step(state, entry.at)
    _apply(step, entry.body, entry.at)
    commands.commit_typed(step)
    endpoint.commit_if_over(step)
    utterance_words.words_may_be_scored(step)
    staged.prepare(step)
    prewarm.hear(step, entry.body)
    context.follow(step)
    prewarm.follow(step)
    if step.state.stopping and step.state.ending is None:
        step.set(over=True)
        step.order(EndSession(step.state.stopping))
    return step.state, tuple(step.orders)


def _apply(step: Step, fact: Fact, at_ms: float) -> None:
    match fact:
        case SessionOpened():
            policy, setting = of_session(fact)
            step.set(policy=policy, setting=setting, opening_duplex=setting.duplex, open=True)
        case Ready():
            staged.quicken(step)
        case SpeechStarted():
            endpoint.speech_started(step, fact, at_ms)
        case SpeechPaused():
            endpoint.speech_paused(step, fact, at_ms)
        case SoundRose():
            barge_in.sound_rose(step, fact)
        case Transcribed() if step.state.utterance is not None and step.state.utterance.number == fact.utterance:
            endpoint.transcribed(step, fact, at_ms)
        case Transcribed() if staged.waits_for(step.state, fact.utterance):
            staged.words_came(step, fact)
        case Transcribed():
            late.words_came_late(step, fact, at_ms)
        case TranscribeFailed():
            endpoint.transcribe_failed(step, fact, at_ms)
        case TurnScored():
            endpoint.scored(step, fact)
        case WordsScored():
            endpoint.words_scored(step, fact)
        case Fault(stage="score"):
            endpoint.scoring_broke(step)
        case Fault(stage="words"):
            endpoint.scoring_words_broke(step)
        case Woke():
            _woke(step, fact.wake, at_ms)
        case ContextAssembled():
            context.found(step, fact)
        case EchoMeasured():
            duplex.measured(step, fact)
        case EchoLost():
            duplex.lost(step, fact)
        case DeviceLost():
            _device_lost(step, fact)
        case _:
            _reply(step, fact, at_ms)


def _reply(step: Step, fact: Fact, at_ms: float) -> None:
    """What becomes of a reply: written, made, heard."""
    match fact:
        case ClauseCut():
            floor.clause_cut(step, fact)
        case GenerationEnded():
            floor.generation_ended(step, fact)
        case GenerationFailed():
            floor.generation_failed(step, fact)
        case ClauseBegun():
            floor.synthesis_begun(step, fact)
        case ClauseSynthesized():
            floor.synthesized(step, fact)
        case SynthesisFailed():
            floor.synthesis_failed(step, fact)
        case ClauseStarted():
            own_words.clause_started(step, fact, at_ms)
            floor.clause_started(step, fact)
        case ClauseEnded():
            own_words.clause_ended(step, fact, at_ms)
            floor.clause_ended(step, fact)
        case PlaybackFinished():
            own_words.silenced(step, at_ms)
            floor.playback_finished(step, fact)
        case PlaybackCut():
            own_words.silenced(step, at_ms)
            floor.playback_cut(step, fact)
        case _:
            _command(step, fact, at_ms)


def _command(step: Step, fact: Fact, at_ms: float) -> None:
    match fact:
        case Said():
            commands.said(step, fact)
        case Muted():
            commands.muted(step, fact)
        case InterruptAsked():
            commands.interrupt_asked(step, at_ms)
        case TalkKey():
            commands.talk_key(step, fact, at_ms)
        case TierChosen():
            commands.tier_chosen(step, fact)
        case OverlapChosen():
            commands.overlap_chosen(step, fact)
        case GapStaged():
            staged.gap_staged(step, fact)
        case DeviceChosen():
            commands.device_chosen(step, fact)
        case MicTested():
            commands.mic_tested(step, fact)
        case StopAsked():
            commands.stop_asked(step, fact)
        case _:
            pass


def _woke(step: Step, wake: int, at_ms: float) -> None:
    if wake == step.state.ungate_wake:
        commands.ungate(step)
    if wake == step.state.test_wake:
        step.set(testing=False)
    if wake == step.state.stop_wake and step.state.ending is not None:
        ending = step.state.ending
        step.set(ending=None)
        floor.cut_is_silent(step, ending, "")
    staged.woke(step, wake)
    barge_in.rise_over(step, wake)
    utterance = step.state.utterance
    if utterance is None:
        return
    purpose = next((purpose for purpose, number in utterance.wakes.items() if number == wake), "")
    if not purpose:
        return
    step.forget_wake(purpose)
    if purpose == "endpoint":
        endpoint.silence_over(step)
    elif purpose == "partial":
        utterance_words.partial_due(step, at_ms)
    elif purpose == "over_pause":
        endpoint.over_pause(step)
    elif purpose == "score":
        utterance_words.score_pause(step)
    elif purpose == "score_words":
        utterance_words.words_may_be_scored(step, due=True)
    elif purpose != "reply_wait":  # which only lets the commit be decided that was put off
        barge_in.lasted(step, purpose, at_ms)


def _device_lost(step: Step, fact: DeviceLost) -> None:
    """Without a speaker the reply cannot be heard; without a microphone speech that goes on has no end."""
    message = f"{fact.name}: {fact.reason}"
    if fact.role == "output" and step.state.reply is not None:
        floor.cut(step, step.state.reply, "failed", message)
    if fact.role == "input" and step.state.utterance is not None and step.state.utterance.speaking:
        endpoint.give_up(step, message)
