"""Facts about the reply's sound: synthesis, playback, cuts."""

from __future__ import annotations

from voicetui.events.base import Basis, Fact


class ClauseBegun(Fact, frozen=True):
    """The first samples of a clause exist (the entry's time) and may be played while the rest of it is being made.

    ``ClauseSynthesized`` follows when it is whole, ``SynthesisFailed`` if it broke off.  ``lead_ms`` is the silence
    before its first audible 5 ms.
    """

    basis: Basis
    clause: int
    started_ms: float
    waited_ms: float
    lead_ms: float


class ClauseSynthesized(Fact, frozen=True):
    """A clause's sound exists. The entry's time is when its *last* samples existed; ``first_audio_ms`` when its first
    did.

    ``lead_ms`` is the silence before its first audible 5 ms (-50 dBFS), ``duration_ms`` its whole length. ``cached``:
    it was made for an earlier reply.
    """

    basis: Basis
    clause: int
    started_ms: float
    first_audio_ms: float
    waited_ms: float
    lead_ms: float
    duration_ms: float
    cached: bool = False


class SynthesisFailed(Fact, frozen=True):
    """A clause could not be synthesised, also not at the second try; it is skipped."""

    basis: Basis
    clause: int
    message: str


class ClauseStarted(Fact, frozen=True):
    """The first audible sample of a clause is at the DAC (the entry's time)."""

    basis: Basis
    clause: int


class ClauseEnded(Fact, frozen=True):
    """The last sample of a clause is at the DAC (the entry's time)."""

    basis: Basis
    clause: int


class PlaybackDucked(Fact, frozen=True):
    """The reply got quieter; the entry's time is when that was at the DAC."""

    basis: Basis


class PlaybackPaused(Fact, frozen=True):
    """The reply is held; the entry's time is its last audible sample at the DAC."""

    basis: Basis
    clause: int
    heard_ms: float


class PlaybackResumed(Fact, frozen=True):
    """The held or ducked reply is back at full level; the entry's time is when that was at the DAC."""

    basis: Basis


class PlaybackCut(Fact, frozen=True):
    """The reply was cut for good. The entry's time is its last audible sample at the DAC (or when it was asked, if
    nothing was audible).

    ``heard_ms`` of sound were played; ``heard_text`` is the part of the model's text whose words were heard,
    ``heard_words`` of ``cut_words`` words cut into clauses so far.  ``dropped_samples`` (16 kHz) were queued and
    never played.
    """

    basis: Basis
    heard_ms: float
    heard_text: str
    heard_words: int
    cut_words: int
    dropped_samples: int


class PlaybackFinished(Fact, frozen=True):
    """Everything queued for this reply was played, and no more will come.

    ``heard_text`` is the model's text that was heard where a clause broke off; None: all of it was.
    """

    basis: Basis
    heard_text: str | None = None


class SpeakerDry(Fact, frozen=True):
    """The reply had a hole: the sound of ``clause`` was not ready when it was due. ``ms`` is how long nothing came.

    Either the clause before it had ended, or it was being heard itself while it was still being made.
    """

    basis: Basis
    clause: int
    ms: float


class Discarded(Fact, frozen=True):
    """Work that arrived after its basis was void, or was dropped with it. A metric, never a sound.

    ``samples`` at 16 kHz.
    """

    basis: Basis
    stage: str
    tokens: int = 0
    samples: int = 0
    ms: float = 0.0
    reason: str = ""
