"""The sound of a recorded session: both tracks on a speaker, in step with the position of its ``Tape``."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Final

import numpy as np

from voicetui.ports import RATE_HZ, Clock, PcmFloat, SoundError, Speaker
from voicetui.rehearse.replay_tape import Motion, Tape
from voicetui.sound.rates import ResampleStream

_log = logging.getLogger(__name__)

AHEAD_MS: Final = 400.0
"""How much sound is ready before it is due."""
_EVERY_MS: Final = 30.0
_PIECE_SAMPLES: Final = RATE_HZ // 20
_APART_MS: Final = 3.0
"""Sound this far from its time jumps there; less is the wander of the stamps, and stays."""
_DRIFT_SAMPLES: Final = RATE_HZ // 100
_FADE_MS: Final = 5.0


class Strip:
    """Sound from one moment on, made piece by piece: frame 0 is due at the DAC at ``begins_ms``."""

    def __init__(self, begins_ms: float, rate_hz: int, first_sample: int) -> None:
        self.begins_ms = begins_ms
        self.rate_hz = rate_hz
        self.next_sample = first_sample
        self.pieces: tuple[tuple[int, PcmFloat], ...] = ()
        """(first frame, float32 [n]), replaced and never changed in place."""
        self.frames = 0
        self.place = -1
        """The next frame to be played, -1 before the first. The callback's own."""
        self._rates = ResampleStream(RATE_HZ, rate_hz)

    def add(self, samples: PcmFloat) -> None:
        """The next float32 [n] at 16 kHz; what was played is let go."""
        self.next_sample += len(samples)
        made = self._rates.feed(samples)
        kept = tuple(piece for piece in self.pieces if piece[0] + len(piece[1]) > self.place)
        self.pieces = (*kept, (self.frames, made))
        self.frames += len(made)

    def ready_ms(self) -> float:
        """Up to when there is sound, ms on the clock."""
        return self.begins_ms + self.frames * 1e3 / self.rate_hz


class StripRenderer:
    """A ``ports.Renderer`` that plays the strip it was given last; another takes over in a short fade."""

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self.wanted: Strip | None = None
        self._now: Strip | None = None
        self._apart = round(_APART_MS * rate_hz / 1e3)
        fade = max(1, round(_FADE_MS * rate_hz / 1e3))
        self._up: PcmFloat = np.linspace(0, 1, fade, dtype=np.float32)
        self._down: PcmFloat = self._up[::-1].copy()
        self._old: PcmFloat = np.zeros(fade, np.float32)

    def render(self, out: PcmFloat, dac_ms: float) -> None:
        """Fill ``out`` (float32 [frames], mono), whose first frame will be at the DAC at ``dac_ms``."""
        wanted, before = self.wanted, self._now
        out[:] = 0
        if wanted is not None:
            self._mix(wanted, out, dac_ms)
        if wanted is before:
            return
        self._now = wanted
        count = min(len(out), len(self._up))
        np.multiply(out[:count], self._up[:count], out=out[:count])
        if before is not None:
            old = self._old[:count]
            old[:] = 0
            self._mix(before, old, dac_ms)
            np.multiply(old, self._down[:count], out=old)
            np.add(out[:count], old, out=out[:count])

    def underflow(self) -> None:
        """The device said it ran dry: the sound goes on at its time."""

    def _mix(self, strip: Strip, out: PcmFloat, dac_ms: float) -> None:
        wanted = round((dac_ms - strip.begins_ms) * self.rate_hz / 1e3)
        if strip.place < 0 or abs(wanted - strip.place) > self._apart:
            strip.place = wanted
        start, end = strip.place, strip.place + len(out)
        for first, samples in strip.pieces:
            low, high = max(start, first), min(end, first + len(samples))
            if low < high:
                out[low - start : high - start] = samples[low - first : high - first]
        strip.place = end


class TapeSound:
    """Plays a ``Tape`` on a speaker, from a thread of its own. At other speeds than 1 it is silent.

    ``tape.silent`` says why, where nothing can be heard.
    """

    def __init__(self, tape: Tape, clock: Clock, make_speaker: Callable[[Callable[[str], None]], Speaker]) -> None:
        """``make_speaker`` gets whom to tell that the device was lost."""
        self._tape = tape
        self._clock = clock
        self._make_speaker = make_speaker
        self._ends = threading.Event()
        self._strip: tuple[Motion, frozenset[str], Strip | None] | None = None
        self._thread = threading.Thread(target=self._run, name="tape sound", daemon=True)

    def start(self) -> None:
        """Open the speaker and follow the tape."""
        self._thread.start()

    def close(self, seconds: float = 1.5) -> None:
        """Stop; gives up on a driver that hangs."""
        self._ends.set()
        self._thread.join(seconds)

    def renew(self, renderer: StripRenderer) -> None:
        """Have ``AHEAD_MS`` of sound ready; begin anew where the tape was moved, muted, or drifted away."""
        tape, now_ms = self._tape, self._clock.now_ms()
        motion, muted = tape.motion, tape.muted
        known = self._strip
        if known is None or known[:2] != (motion, muted) or self._drifted(known[2], motion):
            strip = None
            if motion.speed == 1.0:
                first = tape.sample_clock.sample_at(motion.at(now_ms))
                strip = Strip(now_ms, renderer.rate_hz, first)
            known = self._strip = (motion, muted, strip)
        strip = known[2]
        while strip is not None and strip.ready_ms() < now_ms + AHEAD_MS:
            strip.add(self._mixed(strip.next_sample, muted))
        renderer.wanted = strip

    def _drifted(self, strip: Strip | None, motion: Motion) -> bool:
        """Whether the tracks' sample clock has gone another way than the speaker's."""
        if strip is None:
            return False
        due = self._tape.sample_clock.sample_at(motion.at(strip.ready_ms()))
        return abs(due - strip.next_sample) > _DRIFT_SAMPLES

    def _mixed(self, first: int, muted: frozenset[str]) -> PcmFloat:
        """float32 [_PIECE_SAMPLES] of both tracks together."""
        sound: PcmFloat = np.zeros(_PIECE_SAMPLES, np.float32)
        for side, track in self._tape.tracks.items():
            if side not in muted:
                sound += track.read(first, _PIECE_SAMPLES).astype(np.float32) / 32768
        return np.clip(sound, -1.0, 1.0)

    def _run(self) -> None:
        try:
            asyncio.run(self._play())
        except Exception:
            self._tape.silent = "the sound stopped for a reason of its own; the session can still be read"
            _log.exception("the sound of a recorded session stopped")

    async def _play(self) -> None:
        speaker = self._make_speaker(self._lost)
        try:
            renderer = StripRenderer(await speaker.prepare())
            await speaker.open(renderer)
            while not self._ends.is_set() and not self._tape.silent:
                self.renew(renderer)
                await self._clock.sleep_until(self._clock.now_ms() + _EVERY_MS)
        except SoundError as error:
            self._lost(str(error))
        finally:
            await speaker.close()

    def _lost(self, reason: str) -> None:
        self._tape.silent = self._tape.silent or reason
