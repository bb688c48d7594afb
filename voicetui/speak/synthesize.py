"""From a clause's words to its finished sound, on the worker thread that owns the voice."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from voicetui.events.base import Basis
from voicetui.events.orders import Synthesize
from voicetui.events.speak import ClauseSynthesized, Discarded, SynthesisFailed
from voicetui.ports import RATE_HZ, Clock, PcmFloat, Post, Voice
from voicetui.sound.rates import resampled_count
from voicetui.speak.audible import audible_span, fade_edges, trim_edges

LEAD_MS: Final = 30.0
TRAIL_MS: Final = 120.0
"""Silence kept before and after what is audible. Together they bound the silence at a seam to 150 ms."""

FADE_MS: Final = 5.0
CACHED_LETTERS: Final = 48
"""Only clauses up to this long are kept: greetings and fillers repeat, sentences do not."""


@dataclass(frozen=True, slots=True)
class SynthesizedClause:
    """A clause's finished sound: ``samples`` float32 [n] at ``rate_hz``, silence trimmed, edges faded, read-only.

    ``fact`` tells of it and belongs to ``at_ms``; the caller posts it once the sound is where a ``Play`` order can find it.
    """

    basis: Basis
    clause: int
    spoken: str
    samples: PcmFloat
    rate_hz: int
    fact: ClauseSynthesized
    at_ms: float

    @property
    def duration_ms(self) -> float:
        """Its length."""
        return len(self.samples) / self.rate_hz * 1e3


class _Void(Exception):
    """The basis went stale; ``samples`` at the voice's rate had been made."""

    def __init__(self, samples: int) -> None:
        super().__init__()
        self.samples = samples


class Synthesizer:
    """Turns ``Synthesize`` orders into sound, one at a time. Posts ``Discarded`` and ``SynthesisFailed`` itself."""

    def __init__(self, voice: Voice, clock: Clock, post: Post, *, cached_clauses: int = 0) -> None:
        """``cached_clauses``: how many short clauses to keep for when they are said again (0: none)."""
        self._voice = voice
        self._clock = clock
        self._post = post
        self._cached_clauses = cached_clauses
        self._cache: OrderedDict[str, PcmFloat] = OrderedDict()

    def run(
        self, order: Synthesize, is_current: Callable[[Basis], bool], waited_ms: float = 0.0
    ) -> SynthesizedClause | None:
        """Make the sound of one clause. None if its basis went void (``Discarded``) or it failed twice (``SynthesisFailed``).

        Blocks. ``is_current`` is asked before each piece; ``waited_ms`` is how long the order stood in the worker's queue.
        Words without sound give a clause of zero samples: it plays in no time.
        """
        started_ms = self._clock.now_ms()
        try:
            samples, first_audio_ms = self._make(order, is_current)
        except _Void as void:
            now_ms = self._clock.now_ms()
            made = resampled_count(void.samples, self._voice.rate_hz, RATE_HZ)
            self._post(
                Discarded(order.basis, "synthesize", samples=made, ms=now_ms - started_ms, reason="basis is void"), now_ms
            )
            return None
        except Exception as error:  # whatever a voice raises costs one clause, not the session
            self._post(SynthesisFailed(order.basis, order.clause, _sentence(error)), self._clock.now_ms())
            return None
        rate_hz = self._voice.rate_hz
        span = audible_span(samples, rate_hz)
        fact = ClauseSynthesized(
            order.basis,
            order.clause,
            started_ms=started_ms,
            first_audio_ms=first_audio_ms,
            waited_ms=waited_ms,
            lead_ms=(span[0] if span else len(samples)) / rate_hz * 1e3,
            duration_ms=len(samples) / rate_hz * 1e3,
        )
        return SynthesizedClause(
            order.basis, order.clause, order.spoken, samples, rate_hz, fact, self._clock.now_ms()
        )

    def _make(self, order: Synthesize, is_current: Callable[[Basis], bool]) -> tuple[PcmFloat, float]:
        """The finished samples and when the first raw ones existed. Raises ``_Void``, or what the voice raised twice."""
        cached = self._cache.get(order.spoken)
        if cached is not None and is_current(order.basis):
            self._cache.move_to_end(order.spoken)
            return cached, self._clock.now_ms()
        try:
            samples, first_audio_ms = self._collect(order, is_current)
        except _Void:
            raise
        except Exception:  # one failure is common on ordinary text and passes at the second try
            samples, first_audio_ms = self._collect(order, is_current)
        samples.setflags(write=False)
        self._remember(order.spoken, samples)
        return samples, first_audio_ms

    def _collect(self, order: Synthesize, is_current: Callable[[Basis], bool]) -> tuple[PcmFloat, float]:
        """One try: each piece trimmed and faded, all joined."""
        pieces: list[PcmFloat] = []
        raw_samples = 0
        first_audio_ms: float | None = None
        if not is_current(order.basis):
            raise _Void(0)
        for piece in self._voice.synthesize(order.spoken):
            raw_samples += len(piece)
            if len(piece) and first_audio_ms is None:
                first_audio_ms = self._clock.now_ms()
            pieces.append(_finished(piece, self._voice.rate_hz))
            if not is_current(order.basis):
                raise _Void(raw_samples)
        joined = np.concatenate(pieces) if pieces else np.zeros(0, np.float32)
        return joined, self._clock.now_ms() if first_audio_ms is None else first_audio_ms

    def _remember(self, spoken: str, samples: PcmFloat) -> None:
        if self._cached_clauses and len(spoken) <= CACHED_LETTERS:
            self._cache[spoken] = samples
            while len(self._cache) > self._cached_clauses:
                self._cache.popitem(last=False)


def _finished(piece: PcmFloat, rate_hz: int) -> PcmFloat:
    """float32 [n]: finite, within -1..1, trimmed and faded."""
    safe = np.clip(np.nan_to_num(np.asarray(piece, np.float32).reshape(-1), posinf=1.0, neginf=-1.0), -1.0, 1.0)
    return fade_edges(trim_edges(safe, rate_hz, LEAD_MS, TRAIL_MS), rate_hz, FADE_MS)


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
