"""From a clause's words to its finished sound, on the worker thread that owns the voice."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from voicetui.events.base import Basis
from voicetui.events.orders import Synthesize
from voicetui.events.speak import ClauseSynthesized, Discarded, SynthesisFailed
from voicetui.ports import RATE_HZ, Clock, PcmFloat, Post, Voice
from voicetui.sound.rates import resampled_count
from voicetui.speak.audible import audible_span
from voicetui.speak.growing import GrowingClause
from voicetui.speak.growth import FADE_MS, TRAIL_MS, Growth, lead_ms
from voicetui.speak.seams import SeamTrim
from voicetui.speak.timing import Group, GrowingPiece, TimedPiece, estimated_spans, moved, spans_from_groups
from voicetui.speak.words import Span

CACHED_LETTERS: Final = 48
"""Only clauses up to this long are kept: greetings and fillers repeat, sentences do not."""


@dataclass(frozen=True, slots=True)
class SynthesizedClause:
    """A clause's finished sound: ``samples`` float32 [n] at ``rate_hz``, silence trimmed, edges faded, read-only.

    ``words`` are the frames of each word of ``spoken``. ``fact`` tells of it all and belongs to ``at_ms``; the caller
    posts it once a ``Play`` order can find the sound.
    """

    basis: Basis
    clause: int
    spoken: str
    samples: PcmFloat
    words: tuple[Span, ...]
    rate_hz: int
    fact: ClauseSynthesized
    at_ms: float

    @property
    def duration_ms(self) -> float:
        """Its length."""
        return len(self.samples) / self.rate_hz * 1e3

    @property
    def made_ms(self) -> float:
        """How long making it took."""
        return self.at_ms - self.fact.started_ms

    @property
    def frames(self) -> int:
        """Its length in samples at ``rate_hz``."""
        return len(self.samples)

    @property
    def begun(self) -> None:
        """It was not handed out before it was whole."""

    @property
    def begun_at_ms(self) -> float:
        """When it was handed out."""
        return self.at_ms


@dataclass(frozen=True, slots=True)
class _Sound:
    samples: PcmFloat
    words: tuple[Span, ...]
    first_audio_ms: float
    cached: bool = False


class _Void(Exception):
    """The basis went stale; ``samples`` at the voice's rate had been made."""

    def __init__(self, samples: int) -> None:
        super().__init__()
        self.samples = samples


class _BrokeOff(Exception):
    """The voice failed after the first samples of a clause had been handed out."""


class Synthesizer:
    """Turns ``Synthesize`` orders into sound, one at a time. Posts ``Discarded`` and ``SynthesisFailed`` itself."""

    def __init__(self, voice: Voice, clock: Clock, post: Post, *, cached_clauses: int = 0) -> None:
        """``cached_clauses``: how many short clauses to keep for when they are said again by this voice (0: none)."""
        self._voice = voice
        self._clock = clock
        self._post = post
        self._cached_clauses = cached_clauses
        self._cache: OrderedDict[tuple[str, bool], _Sound] = OrderedDict()

    def run(
        self,
        order: Synthesize,
        is_current: Callable[[Basis], bool],
        waited_ms: float = 0.0,
        begun: Callable[[GrowingClause], None] | None = None,
    ) -> SynthesizedClause | GrowingClause | None:
        """Make the sound of one clause; None if its basis is void (``Discarded``) or it failed (``SynthesisFailed``).

        Blocks. ``is_current`` is asked before and after each piece; ``waited_ms`` is how long the order stood in the
        queue. Words without sound give a clause of zero samples: it plays in no time. Never raises for a failing voice.
        A clause that may be streamed is handed to ``begun`` with its first samples, and returned when it is whole.
        """
        started_ms = self._clock.now_ms()
        try:
            if order.streamed and begun is not None and _key(order) not in self._cache:
                grown = self._stream(order, is_current, waited_ms, begun)
                if grown is not None:
                    return grown
            sound = self._make(order, is_current)
        except _Void as void:
            now_ms = self._clock.now_ms()
            made = resampled_count(void.samples, self._voice.rate_hz, RATE_HZ)
            waste = Discarded(order.basis, "synthesize", samples=made, ms=now_ms - started_ms, reason="basis is void")
            self._post(waste, now_ms)
            return None
        except Exception as error:  # whatever a voice raises costs one clause, not the session
            self._post(SynthesisFailed(order.basis, order.clause, _sentence(error)), self._clock.now_ms())
            return None
        samples, rate_hz = sound.samples, self._voice.rate_hz
        span = audible_span(samples, rate_hz)
        fact = ClauseSynthesized(
            order.basis,
            order.clause,
            started_ms=started_ms,
            first_audio_ms=sound.first_audio_ms,
            waited_ms=waited_ms,
            lead_ms=(span[0] if span else len(samples)) / rate_hz * 1e3,
            duration_ms=len(samples) / rate_hz * 1e3,
            cached=sound.cached,
        )
        now_ms = self._clock.now_ms()
        return SynthesizedClause(order.basis, order.clause, order.spoken, samples, sound.words, rate_hz, fact, now_ms)

    def _make(self, order: Synthesize, is_current: Callable[[Basis], bool]) -> _Sound:
        """The finished sound. Raises ``_Void``, or what the voice raised twice."""
        if not is_current(order.basis):
            raise _Void(0)
        cached = self._cache.get(_key(order))
        if cached is not None:
            self._cache.move_to_end(_key(order))
            return _Sound(cached.samples, cached.words, self._clock.now_ms(), cached=True)
        try:
            sound = self._collect(order, is_current)
        except _Void:
            raise
        except Exception:  # one failure happens on ordinary text and passes at the second try
            sound = self._collect(order, is_current)
        self._keep(order, sound)
        return sound

    def _keep(self, order: Synthesize, sound: _Sound) -> None:
        if self._cached_clauses and len(order.spoken) <= CACHED_LETTERS:
            self._cache[_key(order)] = sound
            if len(self._cache) > self._cached_clauses:
                self._cache.popitem(last=False)

    def _stream(
        self,
        order: Synthesize,
        is_current: Callable[[Basis], bool],
        waited_ms: float,
        begun: Callable[[GrowingClause], None],
    ) -> GrowingClause | None:
        """Hand out the clause while it is made; None where the voice cannot, or failed before there was any sound.

        Raises ``_Void``, and ``_BrokeOff`` when the voice fails later: what was made of the clause stands.
        """
        streamed: Callable[[str], list[GrowingPiece]] | None = getattr(self._voice, "synthesize_streamed", None)
        if streamed is None or not is_current(order.basis):
            return None
        growth = Growth(order, self._voice.rate_hz, self._clock, waited_ms, begun)
        try:
            pieces = streamed(order.spoken)
            growth.foresee(pieces)
            for piece in pieces:
                for part in piece.parts:
                    if not is_current(order.basis):
                        raise _Void(growth.withheld + len(part))
                    growth.feed(_safe(part))
                growth.end_piece()
            grown = growth.finish()
        except _Void:
            raise
        except Exception as error:
            if growth.clause is None:
                return None
            growth.break_off()
            raise _BrokeOff(_sentence(error)) from error
        if grown is not None and self._cached_clauses:
            self._keep(order, _Sound(growth.joined(), grown.words, grown.begun_at_ms))
        return grown

    def _collect(self, order: Synthesize, is_current: Callable[[Basis], bool]) -> _Sound:
        """One try: each sentence trimmed and faded, all joined, the words placed."""
        joined: list[PcmFloat] = []
        groups: list[Group] | None = []
        raw_samples = length = 0
        first_audio_ms: float | None = None
        for sentence, piece in enumerate(self._pieces(order.spoken)):
            raw_samples += len(piece.samples)
            if raw_samples and first_audio_ms is None:
                first_audio_ms = self._clock.now_ms()
            if not is_current(order.basis):
                raise _Void(raw_samples)
            trim = SeamTrim(self._voice.rate_hz, lead_ms(order, sentence), TRAIL_MS, FADE_MS)
            joined += [trim.feed(_safe(piece.samples)), trim.finish()]
            first, end = trim.first, trim.given
            if groups is not None and piece.groups is not None:
                groups += [moved(group, first, end, length) for group in piece.groups]
            else:
                groups = None
            length += end - first
        samples = np.concatenate(joined) if joined else np.zeros(0, np.float32)
        samples.setflags(write=False)
        words = spans_from_groups(order.spoken, groups) if groups else None
        if words is None:
            words = estimated_spans(order.spoken, *(audible_span(samples, self._voice.rate_hz) or (0, length)))
        return _Sound(samples, words, self._clock.now_ms() if first_audio_ms is None else first_audio_ms)

    def _pieces(self, spoken: str) -> Iterator[TimedPiece]:
        timed: Callable[[str], Iterator[TimedPiece]] | None = getattr(self._voice, "synthesize_timed", None)
        if timed is not None:
            yield from timed(spoken)
        else:
            for samples in self._voice.synthesize(spoken):
                yield TimedPiece(samples, None)


def _key(order: Synthesize) -> tuple[str, bool]:
    """Clauses that sound the same: the first one of a reply begins with less silence."""
    return order.spoken, order.clause == 0


def _safe(samples: PcmFloat) -> PcmFloat:
    """float32 [n]: finite and within -1..1."""
    flat = np.asarray(samples, np.float32).reshape(-1)
    return np.clip(np.nan_to_num(flat, posinf=1.0, neginf=-1.0), -1.0, 1.0)


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
