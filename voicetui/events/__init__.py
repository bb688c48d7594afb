"""Facts and orders: the only things that enter the journal. One file per concern."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from voicetui.events import listen, orders, reply, session, sound, speak
from voicetui.events.base import Basis, Fact, Order, Record

AnyFact: TypeAlias = (
    session.TierFacts | session.SessionOpened | session.Ready | session.SessionClosed | session.Woke | session.Fault
    | session.Said | session.Muted | session.InterruptAsked | session.TalkKey | session.TierChosen
    | session.OverlapChosen | session.GapStaged | session.DeviceChosen | session.MicTested | session.StopAsked
    | sound.DeviceOpened | sound.DeviceLost | sound.ClockMapped | sound.SoundLost
    | sound.EchoMeasured | sound.EchoLost
    | listen.SpeechStarted | listen.SoundRose | listen.SpeechPaused | listen.Transcribed | listen.TranscribeFailed
    | listen.TurnScored | listen.WordsScored
    | reply.ContextReady | reply.ContextAssembled | reply.PrewarmEnded
    | reply.RequestSent | reply.FirstByte | reply.TokensArrived
    | reply.ClauseCut | reply.GenerationEnded | reply.GenerationFailed | reply.GenerationCancelled
    | speak.ClauseBegun | speak.ClauseSynthesized | speak.SynthesisFailed | speak.ClauseStarted | speak.ClauseEnded
    | speak.PlaybackDucked | speak.PlaybackPaused | speak.PlaybackResumed | speak.PlaybackCut
    | speak.PlaybackFinished | speak.SpeakerDry | speak.Discarded
)  # fmt: skip

AnyOrder: TypeAlias = (
    orders.WakeAt | orders.OpenUtterance | orders.Transcribe | orders.ScoreTurn | orders.ScoreWords
    | orders.Revise | orders.Reject
    | orders.Generate | orders.Commit | orders.Synthesize | orders.Play | orders.FinishPlayback | orders.Duck
    | orders.Pause | orders.Resume | orders.Cut | orders.Cancel | orders.BargeIn | orders.PrepareTier | orders.GateMic
    | orders.QuickenEar | orders.Prewarm | orders.AssembleContext | orders.AdoptContext | orders.UseDevice
    | orders.ChangeDuplex
    | orders.EndTurn | orders.EndSession
)  # fmt: skip


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One line of the journal. ``seq`` is the order of things; ``at`` is the time of the source, ms on the session
    clock.

    ``at`` may run backwards between sources: a speech onset is known only some time after it happened.
    """

    seq: int
    at: float
    body: AnyFact | AnyOrder


__all__ = ["AnyFact", "AnyOrder", "Basis", "Entry", "Fact", "Order", "Record"]
