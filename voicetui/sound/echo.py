"""Echo cancelling: the program's own voice is taken out of what the microphone hears (WebRTC's AEC3).

The reference is what the speaker really played, put on the microphone's sample clock by its DAC stamps.  Cleaned
sample n is raw sample n: the canceller's own delay is taken out, at the price of handing samples out a little later.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple, Protocol

import numpy as np

from voicetui.events.sound import EchoMeasured
from voicetui.ports import RATE_HZ, Pcm16, PcmFloat
from voicetui.sound.echo_level import FRAME_SAMPLES, EchoMeter
from voicetui.sound.rates import ResampleStream, to_int16
from voicetui.sound.track import Track

LATENCY_SAMPLES: Final = 128
"""How far AEC3's output is behind its input: one hop of its filter bank (measured with an impulse, exact)."""

LEAD_SAMPLES: Final = 30 * RATE_HZ // 1000
"""The reference goes in this much early. AEC3 takes out an echo that comes 0 to 500 ms after the reference, but not one
that seems to come before it, as it does where the DAC stamps are late. What the speaker will play is known for about
its own latency, 30 to 60 ms, ahead."""

_SLIP_SAMPLES: Final = RATE_HZ // 50
"""A piece this close to the end of the last one follows it without a gap: less is the wander of the stamps, and a
reference that wandered would be a new echo path each time."""

_LEAST_DELAY_MS: Final = 5.0
_MOST_DELAY_MS: Final = 350.0
"""An echo measured this far after the reference that went in is well inside what AEC3 finds by itself."""

_MOST_LEAD_SAMPLES: Final = 60 * RATE_HZ // 1000

_KEPT_S: Final = 12.0
_LONGEST_REASON: Final = 160
"""Letters of what a loader says that a line still has room for."""

_log = logging.getLogger(__name__)


class Missing(NamedTuple):
    """Why echo cannot be cancelled here, and what to type about it."""

    why: str
    mend: str


@cache
def missing() -> Missing | None:
    """What is amiss where echo cannot be cancelled; None where it can. Loads the canceller to know, once."""
    if importlib.util.find_spec("pywebrtc_audio") is None:
        return Missing("pywebrtc-audio is not installed", "pip install pywebrtc-audio")
    try:
        webrtc()
    except Exception as error:  # whatever a native library raises while it is loaded
        _log.warning("pywebrtc-audio does not load", exc_info=error)
        told = " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__
        why = f"pywebrtc-audio is installed but does not load: {told}"
        return Missing(why, "pip install --force-reinstall --no-deps pywebrtc-audio")
    return None


class Aec(Protocol):
    """What cancels: WebRTC's AEC3, or its twin."""

    def process(self, near: Pcm16, far: Pcm16, /) -> Pcm16:
        """int16 [n] cleaned, ``LATENCY_SAMPLES`` behind ``near``; both int16 [n] at 16 kHz, n a multiple of 160."""


def webrtc() -> Aec:
    """AEC3 at 16 kHz mono. Raises ``ImportError`` where it is missing."""
    from pywebrtc_audio import EchoCanceller as WebrtcEchoCanceller

    canceller: Aec = WebrtcEchoCanceller(RATE_HZ, 1, 0)
    return canceller


class EchoCanceller:
    """Takes the reply out of the microphone's sound. All of it belongs to one thread, the engine's loop."""

    def __init__(self, make: Callable[[], Aec] = webrtc) -> None:
        """``make`` makes what cancels. Raises what that raises."""
        self._make = make
        self._aec = make()
        self._reference = Track(_KEPT_S)
        self._rate: ResampleStream | None = None
        self._near: Pcm16 = np.zeros(0, np.int16)
        self._taken = 0
        self._skip = LATENCY_SAMPLES
        self._last: Pcm16 = np.zeros(LATENCY_SAMPLES, np.int16)
        self._lead = LEAD_SAMPLES
        self._meter = EchoMeter()
        self.trouble = ""
        """Why it does not cancel any more: a sentence for a person."""

    @property
    def held(self) -> int:
        """How many of the samples given to ``clean`` have not come back yet: at most 18 ms."""
        return len(self._near) + LATENCY_SAMPLES - self._skip

    def played(self, sample: int, samples: PcmFloat, rate_hz: int) -> None:
        """float32 [n] at ``rate_hz`` of which the first was at the DAC when the microphone track was at ``sample``.

        To be told before the microphone's sound of that time is cleaned.
        """
        apart = sample - self._reference.end
        if self._rate is None or self._rate.from_hz != rate_hz or abs(apart) > _SLIP_SAMPLES:
            if self._rate is not None:
                self._reference.append(to_int16(self._rate.flush()))
            self._reference.fill(sample - self._reference.end)
            self._rate = ResampleStream(rate_hz)
        self._reference.append(to_int16(self._rate.feed(samples)))

    def clean(self, raw: Pcm16) -> Pcm16:
        """The next samples without the echo: int16 [m] for the next int16 [n] of the microphone, any n >= 0.

        ``m`` is what can be known: ``held`` samples are still to come.
        """
        sound = np.concatenate((self._near, raw))
        whole = len(sound) // FRAME_SAMPLES * FRAME_SAMPLES
        near, self._near = sound[:whole], sound[whole:]
        if not whole:
            return near
        first = self._taken
        self._taken += whole
        made = self._process(near, self._reference.read(first + self._lead, first + self._lead + whole))
        self._meter.hear(first, near, made)
        skipped = min(self._skip, whole)
        self._skip -= skipped
        return made[skipped:]

    def skip(self, lost: int) -> Pcm16:
        """The same for ``lost`` samples that the device lost, which are silence."""
        through = min(lost, RATE_HZ)
        made = self.clean(np.zeros(through, np.int16))
        self._taken += lost - through  # those it holds now are silence, like the ones left out
        return np.concatenate((made, np.zeros(lost - through, np.int16)))

    def measuring(self, turn: int) -> Callable[[], EchoMeasured | None]:
        """What measures how much came back of all that was played since the last call: blocking, for any thread.

        It returns None when that was hardly anything, or hardly heard.
        """
        return self._meter.measuring(self._reference, turn)

    def align(self, found: EchoMeasured) -> None:
        """An echo that was found outside what AEC3 can align by itself moves the reference. Raises what making does."""
        if found.delay_ms is None:
            return
        after_ms = found.delay_ms + self._lead / RATE_HZ * 1e3
        if not _LEAST_DELAY_MS <= after_ms <= _MOST_DELAY_MS:
            self._aec = self._make()  # what it learnt holds no more, and to unlearn it takes seconds
            self._lead = min(_MOST_LEAD_SAMPLES, LEAD_SAMPLES - round(found.delay_ms * RATE_HZ / 1e3))

    def _process(self, near: Pcm16, far: Pcm16) -> Pcm16:
        late = np.concatenate((self._last, near))
        self._last = late[len(near) :]
        if not self.trouble:
            try:
                return self._aec.process(near, far)
            except Exception as error:  # whatever a native library raises costs the cancelling, not the microphone
                _log.exception("echo cancelling failed")
                self.trouble = f"Echo cancelling failed ({type(error).__name__})."
        return late[: len(near)]
