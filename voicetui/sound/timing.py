"""When a device's frames are at the converter, from what its callbacks say.

Each callback has a time on the session clock, a count of frames, and (mostly) PortAudio's stamps. Numbers only, nothing
that grows: all of this may run inside the audio callback.
"""

from __future__ import annotations

import math
from typing import Final, Literal, TypeAlias

Source: TypeAlias = Literal["stream", "counted"]
"""Where times come from: the device's stamps, or counted frames and the latency it reports."""

STAMP_LIMIT_MS: Final = 500.0
"""Buffer times further than this from the callback are not believed."""

_WINDOW_MS: Final = 2_000.0
"""The earliest callback within this much sound makes the line."""
_LATE_MS: Final = 30.0
_JUMP_MS: Final = 12.0
"""Callbacks this late, or stamps this far off, are doubted, and believed when a whole run of them agrees."""
_OUTPUT_JUMP_MS: Final = 25.0
_SLEW: Final = 2e-3
_PROVEN_CALLS: Final = 100
"""After so many calls the DAC's line moves no faster than 2000 ppm but by a jump: stamps do, on a busy machine."""
_RUN_CALLS: Final = 5
_LATE_RUN_MS: Final = 400.0
"""How long a run of late callbacks must last to mean a loss: a busy machine catches up sooner."""
_STRAY_RUN_MS: Final = 60.0
"""How long a run of stamps must last."""
_FLAG_LASTS_MS: Final = 1_000.0
_FLAGGED_JUMP_MS: Final = 4.0
_FLAGGED_RUN_MS: Final = 100.0
"""For so long after the device reported a loss, so much, for so long, is enough."""
_STEADY_MS: Final = 3.0
"""Stamps that scatter less than this are the device's own."""
_STAMP_ERROR_MS: Final = 0.3
_REPORT_ERROR_MS: Final = 4.0
"""How far steady stamps, and a reported latency, are from the truth, typically (measured against a recorded bus)."""
_SETTLING_MS: Final = 1_000.0
_SETTLING_JUMP_MS: Final = 30.0
"""In the first second stamps this far from the reported latency are left out: a sound server begins with a guess."""
_REPORT_REACH_MS: Final = 60.0
"""A reported latency further off than this pulls no harder."""
_AVERAGED_CALLS: Final = 1_000
_SMOOTHED_CALLS: Final = 32
_UNRELIABLE_CALLS: Final = 10
"""So many callbacks without a plausible stamp and the frames are counted instead."""


def stamp_lead_ms(current_s: float, buffer_s: float) -> float:
    """How far PortAudio's buffer time lies after its current time, in ms; NaN where the stamps are implausible.

    Only the difference is used: through ALSA's pulse plugin the current time is the wall clock. A buffer time of 0
    means "unknown".
    """
    lead_ms = (buffer_s - current_s) * 1e3
    return lead_ms if buffer_s > 0 and current_s > 0 and abs(lead_ms) <= STAMP_LIMIT_MS else math.nan


class CallLine:
    """The line of a stream's earliest callbacks: a callback can be late, never early."""

    def __init__(self, rate_hz: float) -> None:
        self._ms_per_frame = 1e3 / rate_hz
        self._least_ms = self._least_before_ms = math.inf
        self._window_end = 0
        self._late_calls = 0
        self._late_run_ms = 0.0
        self._late_ms = 0.0
        self.base_ms = math.nan
        """The time of frame 0 on this line."""

    def follow(self, frame: int, frames: int, callback_ms: float, flagged: bool) -> float:
        """Take the callback that handles ``frames`` from number ``frame`` on. How many ms of sound are missing before.

        Mostly 0: sound is missing when every callback is late for good. ``flagged``: the device reported a loss lately.
        """
        at_ms = callback_ms - frame * self._ms_per_frame
        if math.isnan(self.base_ms):
            self.base_ms = at_ms
        if frame >= self._window_end:
            self._least_before_ms, self._least_ms = self._least_ms, math.inf
            self._window_end = frame + round(_WINDOW_MS / 2 / self._ms_per_frame)
        self._least_ms = min(self._least_ms, at_ms)
        late_ms = at_ms - self.base_ms
        if late_ms <= (_FLAGGED_JUMP_MS if flagged else _LATE_MS):
            self._late_calls = 0
            self._late_run_ms = 0.0
            least_ms = min(self._least_ms, self._least_before_ms)
            self.base_ms += (least_ms - self.base_ms) * (1.0 if late_ms < 0 else 1 / _SMOOTHED_CALLS)
            return 0.0
        self._late_ms = late_ms if self._late_calls == 0 else min(self._late_ms, late_ms)
        self._late_calls += 1
        self._late_run_ms += frames * self._ms_per_frame
        if self._late_calls < _RUN_CALLS or self._late_run_ms < (_FLAGGED_RUN_MS if flagged else _LATE_RUN_MS):
            return 0.0
        missing_ms = self._late_ms
        self.shift(missing_ms)
        return missing_ms

    def shift(self, ms: float) -> None:
        """From here on the line is ``ms`` later."""
        self.base_ms += ms
        self._least_ms = self._least_before_ms = self.base_ms
        self._late_calls = 0
        self._late_run_ms = 0.0


class _Timer:
    """What both directions have in common: which source counts, how long a reported loss explains a step."""

    def __init__(self, rate_hz: float, latency_ms: float) -> None:
        """``latency_ms`` is what the device reports."""
        self._ms_per_frame = 1e3 / rate_hz
        self._latency_ms = latency_ms
        self._calls = CallLine(rate_hz)
        self._flag_ms = 0.0
        self._missing = _UNRELIABLE_CALLS
        self._stamps = 0
        self._astray = 0
        self._astray_run_ms = 0.0

    @property
    def source(self) -> Source:
        """Where the times come from now."""
        return "stream" if self._missing < _UNRELIABLE_CALLS else "counted"

    def _note(self, block_ms: float, lead_ms: float, flagged: bool) -> None:
        self._flag_ms = _FLAG_LASTS_MS if flagged else max(0.0, self._flag_ms - block_ms)
        if math.isnan(lead_ms):
            self._missing = min(self._missing + 1, _UNRELIABLE_CALLS)
        else:
            self._missing = max(0, self._missing - 2) if self._stamps else 0

    def _strayed(self, off_ms: float, block_ms: float, jump_ms: float) -> bool | None:
        """Whether a stamp ``off_ms`` off is astray (True), fine (False), or the last of a run to be believed (None)."""
        if abs(off_ms) <= jump_ms:
            self._astray = 0
            self._astray_run_ms = 0.0
            return False
        self._astray += 1
        self._astray_run_ms += block_ms
        if self._astray < _RUN_CALLS or self._astray_run_ms < _STRAY_RUN_MS:
            return True
        self._astray = 0
        self._astray_run_ms = 0.0
        return None


class InputTimer(_Timer):
    """ADC times. The line of the callbacks is steady; the stamps say how far before it the ADC is.

    The mean of the stamps counts as much as they agree with each other, against the latency that the device reports:
    through a sound server they wander by 10 ms and more.
    """

    def __init__(self, rate_hz: float, latency_ms: float) -> None:
        """``latency_ms`` is what the device reports, at least a block."""
        super().__init__(rate_hz, latency_ms)
        self._lead_ms = 0.0
        self._variance = 0.0

    def time(self, frame: int, frames: int, callback_ms: float, lead_ms: float, flagged: bool = False) -> float:
        """Take a callback. How many ms of sound the device lost just before ``frame``, its first; nearly always 0.

        ``lead_ms`` is from :func:`stamp_lead_ms`. ``flagged``: the device reports a loss.
        """
        block_ms = frames * self._ms_per_frame
        self._note(block_ms, lead_ms, flagged)
        lost_ms = self._calls.follow(frame, frames, callback_ms, self._flag_ms > 0)
        settling = frame * self._ms_per_frame < _SETTLING_MS
        if math.isnan(lead_ms) or (settling and abs(lead_ms + self._latency_ms) > _SETTLING_JUMP_MS):
            return lost_ms
        # The first frame is at least as old as the block is long.
        lead_ms = callback_ms + min(lead_ms, -block_ms) - frame * self._ms_per_frame - self._calls.base_ms
        off_ms = lead_ms - self._lead_ms if self._stamps else 0.0
        steady = self._variance <= _STEADY_MS**2
        if flagged and steady and off_ms >= _FLAGGED_JUMP_MS:
            self._calls.shift(off_ms)
            return lost_ms + off_ms
        strayed = self._strayed(off_ms if steady else 0.0, block_ms, _JUMP_MS)
        if strayed:
            return lost_ms
        if strayed is None or self._stamps == 0:
            self._stamps = 0
            self._lead_ms = lead_ms
            off_ms = self._variance = 0.0
        self._stamps = min(self._stamps + 1, _AVERAGED_CALLS)
        self._lead_ms += off_ms / self._stamps
        self._variance += (off_ms * off_ms - self._variance) / self._stamps
        return lost_ms

    def at_ms(self, frame: float) -> float:
        """The ADC time (session ms) of any frame."""
        lead_ms = -self._latency_ms
        if self._stamps:
            doubt = (self._variance + _STAMP_ERROR_MS**2) / _REPORT_ERROR_MS**2
            pull_ms = max(-_REPORT_REACH_MS, min(_REPORT_REACH_MS, lead_ms - self._lead_ms))
            lead_ms = self._lead_ms + pull_ms * doubt / (1 + doubt)
        return self._calls.base_ms + lead_ms + frame * self._ms_per_frame


class OutputTimer(_Timer):
    """DAC times. Callbacks come in bursts when a buffer is filled, so the stamps make the line, smoothed."""

    def __init__(self, rate_hz: float, latency_ms: float) -> None:
        """``latency_ms`` is what the device reports."""
        super().__init__(rate_hz, latency_ms)
        self._base_ms = 0.0

    def time(self, frame: int, frames: int, callback_ms: float, lead_ms: float, flagged: bool = False) -> float:
        """The DAC time (session ms) of ``frame``, the first of the ``frames`` of this callback.

        ``lead_ms`` is from :func:`stamp_lead_ms`. ``flagged``: the device ran dry.
        """
        block_ms = frames * self._ms_per_frame
        self._note(block_ms, lead_ms, flagged)
        self._calls.follow(frame, frames, callback_ms, self._flag_ms > 0)
        if not math.isnan(lead_ms):
            base_ms = callback_ms + max(lead_ms, 0.0) - frame * self._ms_per_frame
            off_ms = base_ms - self._base_ms if self._stamps else 0.0
            ran_dry = self._flag_ms > 0 and off_ms >= _FLAGGED_JUMP_MS
            strayed = None if ran_dry else self._strayed(off_ms, block_ms, _OUTPUT_JUMP_MS)
            if strayed is None or self._stamps == 0:
                self._base_ms = base_ms
                self._stamps = 1
            elif not strayed:
                self._stamps = min(self._stamps + 1, _PROVEN_CALLS)
                most_ms = _SLEW * block_ms if self._stamps == _PROVEN_CALLS else _OUTPUT_JUMP_MS
                self._base_ms += max(-most_ms, min(most_ms, off_ms / min(self._stamps, _SMOOTHED_CALLS)))
        if self._stamps == 0:
            self._base_ms = self._calls.base_ms + self._latency_ms
        return self._base_ms + frame * self._ms_per_frame
