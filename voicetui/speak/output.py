"""The ring the audio callback plays from: exact positions, gain without clicks, nothing it could wait for."""

from __future__ import annotations

from collections import deque
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

from voicetui.ports import PcmFloat
from voicetui.speak.audible import frames_of

DUCK_FADE_MS: Final = 10.0
STOP_FADE_MS: Final = 15.0
BACK_FADE_MS: Final = 10.0
"""Ramps are linear: none of them adds more than 0.003 of full scale between two samples at 44.1 kHz."""

_MARKS: Final = 8192
"""Rows kept for the engine: more than 30 s of 10 ms blocks."""


class Change(IntEnum):
    """What the engine asks of the ring. Each is obeyed at the start of the next block; while it drops, only HUSH is."""

    DUCK = 1  #: quieter, until BACK
    HOLD = 2  #: fade out and keep the place
    BACK = 3  #: full level again, from a given place if it was held
    DROP = 4  #: fade out and drop everything written before this was asked
    HUSH = 5  #: the same without the fade


class Kind(IntEnum):
    """What a mark tells."""

    PLAYED = 1
    DUCKED = 2
    HELD = 3
    BACK = 4
    DROPPED = 5


class Mark(NamedTuple):
    """Something the callback did, at ``dac_ms`` at the DAC.

    PLAYED: ``frames`` frames from ``position`` on were played, the gain going from ``gain_from`` to ``gain_to``.
    Others: the change asked for under ``serial`` is complete; ``position`` is the first frame not played, ``frames``
    what its fade took. ``idle`` counts all frames of silence so far that were played because nothing was written (and
    nothing was held).
    """

    kind: Kind
    serial: int
    position: int
    frames: int
    dac_ms: float
    gain_from: float
    gain_to: float
    idle: int


class OutputRing:
    """A ``Renderer`` with one writer (the engine) and one reader (the audio callback), which share no lock.

    Positions count frames ever written, from 0. The reader alone moves the reading place; the engine asks for changes
    through a deque, whose ends are safe to use from two threads.
    """

    def __init__(
        self,
        rate_hz: int,
        *,
        capacity_s: float = 60.0,
        history_s: float = 10.0,
        tap_s: float = 10.0,
        duck_db: float = -15.0,
    ) -> None:
        """Room for ``capacity_s`` not yet played; ``history_s`` of what was played stays, for BACK to go back to.

        ``tap_s`` of output is kept for ``drain_played``.
        """
        self.rate_hz = rate_hz
        self.underflows = 0
        self._ms_per_frame = 1e3 / rate_hz
        self._history = frames_of(history_s * 1e3, rate_hz)
        self._ring = np.zeros(max(1, frames_of(capacity_s * 1e3, rate_hz)) + self._history, np.float32)
        self._read = 0
        self._written = 0
        self._idle = 0
        self._due = (-1, -1, 0.0)
        self._changes: deque[tuple[Change, int, int]] = deque()
        self._serial = 0
        self._duck_gain = 10.0 ** (duck_db / 20.0)
        self._gain = 1.0
        self._held = False
        self._landing = Kind.BACK
        self._landing_serial = 0
        self._ramp_from = 1.0
        self._ramp_to = 1.0
        self._ramp_done = 0
        self._ramp_frames = 0
        self._drop_to = 0
        longest = max(frames_of(ms, rate_hz) for ms in (DUCK_FADE_MS, STOP_FADE_MS, BACK_FADE_MS))
        self._steps = np.arange(1, longest + 2, dtype=np.float32)
        self._gains = np.zeros(longest + 1, np.float32)
        self._marks = _Marks()
        self._marks_taken = 0
        self._tap = np.zeros(max(1, frames_of(tap_s * 1e3, rate_hz)), np.float32)
        self._tap_written = 0
        self._tap_marks = _Marks()
        self._tap_taken = 0

    # ---- the engine's side

    @property
    def written(self) -> int:
        """The position the next written frame gets."""
        return self._written

    def write(self, samples: PcmFloat) -> int:
        """Append as much of float32 [n] as there is room for; how many frames that was."""
        room = len(self._ring) - self._history - (self._written - self._read)
        count = max(0, min(len(samples), room))
        at = self._written % len(self._ring)
        first = min(count, len(self._ring) - at)
        self._ring[at : at + first] = samples[:first]
        self._ring[: count - first] = samples[first:count]
        self._written += count  # published only now: the reader never sees frames that are not there
        return count

    def hold(self, position: int, audible: int, due_ms: float) -> None:
        """Play the frames from ``position`` on, not written yet, so that frame ``audible`` is at the DAC at ``due_ms``.

        Silence comes before them. What is silent in them, up to ``audible``, is left out where time is short; where
        ``due_ms`` is over, they are played at once from there.
        """
        self._due = (position, audible, due_ms)  # in one piece: the reader sees all of it or nothing

    def ask(self, change: Change, position: int = -1) -> int:
        """Ask for a change; the serial number of its mark. ``position``: where BACK goes on from (-1: where held)."""
        self._serial += 1
        if change in (Change.DROP, Change.HUSH):
            position = self._written
        self._changes.append((change, self._serial, position))
        return self._serial

    def drain_marks(self) -> list[Mark]:
        """What the callback did since the last call, in order. The oldest are lost after half a minute."""
        rows, self._marks_taken = self._marks.since(self._marks_taken)
        return rows

    def drain_played(self) -> list[tuple[float, PcmFloat]]:
        """What was really played since the last call: (ms at the DAC, float32 [n] at the device's rate, gain applied).

        Silence in between is left out; pieces that follow each other without a gap are joined.
        """
        rows, self._tap_taken = self._tap_marks.since(self._tap_taken)
        played: list[tuple[float, PcmFloat]] = []
        pieces: list[PcmFloat] = []
        start_ms, end_ms = 0.0, -1.0
        for row in rows:
            piece = self._copy_tap(row.position, row.frames)
            if piece is None:
                continue
            if pieces and abs(row.dac_ms - end_ms) > 1.0:
                played.append((start_ms, np.concatenate(pieces)))
                pieces = []
            if not pieces:
                start_ms = row.dac_ms
            pieces.append(piece)
            end_ms = row.dac_ms + row.frames * self._ms_per_frame
        if pieces:
            played.append((start_ms, np.concatenate(pieces)))
        return played

    def _copy_tap(self, position: int, frames: int) -> PcmFloat | None:
        index = np.arange(position, position + frames) % len(self._tap)
        piece: PcmFloat = self._tap[index]
        overwritten = self._tap_written - position > len(self._tap)  # perhaps while it was copied
        return None if overwritten else piece

    # ---- the callback's side

    def render(self, out: PcmFloat, dac_ms: float) -> None:
        """Fill ``out`` (float32 [frames], mono), whose first frame will be at the DAC at ``dac_ms``."""
        while self._changes:
            change, serial, position = self._changes.popleft()
            self._obey(change, serial, position, dac_ms)
        done = 0
        while done < len(out):
            done += self._fill(out[done:], dac_ms + done * self._ms_per_frame)

    def underflow(self) -> None:
        """The device said it ran dry."""
        self.underflows += 1

    def _obey(self, change: Change, serial: int, position: int, dac_ms: float) -> None:
        dropping = self._ramp_frames > 0 and self._landing is Kind.DROPPED
        if (dropping and change is not Change.HUSH) or (self._held and change in (Change.DUCK, Change.HOLD)):
            return
        if self._ramp_frames and self._landing in (Kind.DUCKED, Kind.BACK):
            self._mark(self._landing, self._landing_serial, dac_ms)  # overtaken before it was complete: it did begin
        if change is Change.DUCK:
            self._ramp(self._duck_gain, DUCK_FADE_MS, Kind.DUCKED, serial)
        elif change is Change.HOLD:
            self._ramp(0.0, STOP_FADE_MS, Kind.HELD, serial)
        elif change is Change.BACK:
            if self._held:
                self._held = False
                if position >= 0:
                    self._read = position
            self._ramp(1.0, BACK_FADE_MS, Kind.BACK, serial)
        else:
            self._drop_to = position
            self._ramp(0.0, 0.0 if self._held or change is Change.HUSH else STOP_FADE_MS, Kind.DROPPED, serial)
        if self._ramp_done >= self._ramp_frames:
            self._land(dac_ms)

    def _ramp(self, to: float, ms: float, landing: Kind, serial: int) -> None:
        self._ramp_from, self._ramp_to = self._gain, to
        self._ramp_done = 0
        self._ramp_frames = 0 if self._gain == to else frames_of(ms, self.rate_hz)
        self._landing, self._landing_serial = landing, serial

    def _land(self, dac_ms: float) -> None:
        """The ramp is over, or nothing is there that could click."""
        self._gain = self._ramp_to
        self._mark(self._landing, self._landing_serial, dac_ms)
        self._ramp_frames = self._ramp_done = 0
        if self._landing is Kind.HELD:
            self._held = True
        elif self._landing is Kind.DROPPED:
            self._read = max(self._read, self._drop_to)
            self._gain = 1.0
            self._held = False

    def _fill(self, out: PcmFloat, dac_ms: float) -> int:
        """Fill the beginning of ``out`` with one run of frames under one rule; how many frames that was."""
        end = self._written
        early = self._early(end, dac_ms)
        if early:
            end = self._read
        elif self._read < self._due[0] < end:
            end = self._due[0]
        if self._ramp_frames:
            if self._landing is Kind.DROPPED:
                end = min(end, max(self._read, self._drop_to))  # what was written since is not the drop's to fade
            if end == self._read:
                self._land(dac_ms)
                return 0
        if self._held or end == self._read:
            silent = min(early, len(out)) if early else len(out)
            out[:silent].fill(0.0)
            if not self._held:
                self._idle += silent
            return silent
        at = self._read % len(self._ring)
        frames = min(len(out), end - self._read, len(self._ring) - at)
        if self._ramp_frames:
            frames = min(frames, self._ramp_frames - self._ramp_done)
        np.copyto(out[:frames], self._ring[at : at + frames])
        gain_from = self._gain
        if self._ramp_frames:
            gains = self._gains[:frames]
            step = (self._ramp_to - self._ramp_from) / self._ramp_frames
            np.multiply(self._steps[self._ramp_done : self._ramp_done + frames], step, out=gains)
            np.add(gains, self._ramp_from, out=gains)
            np.multiply(out[:frames], gains, out=out[:frames])
            self._ramp_done += frames
            self._gain = self._ramp_from + step * self._ramp_done
        elif gain_from != 1.0:
            np.multiply(out[:frames], gain_from, out=out[:frames])
        self._keep(out[:frames], dac_ms)
        self._marks.add(Kind.PLAYED, 0, self._read, frames, dac_ms, gain_from, self._gain, self._idle)
        self._read += frames
        if self._ramp_frames and self._ramp_done >= self._ramp_frames:
            self._land(dac_ms + frames * self._ms_per_frame)
        return frames

    def _early(self, written: int, dac_ms: float) -> int:
        """How many frames too early it is for what is held back and comes next; 0 for everything else.

        Where it is too late instead, what is silent in it is passed over.
        """
        held, audible, due_ms = self._due
        if self._held or self._read != held or written == held:
            return 0
        early = round((due_ms - dac_ms) / self._ms_per_frame) - (audible - held)
        if early <= 0:
            self._read += min(-early, audible - held, written - held - 1)
        return max(0, early)

    def _mark(self, kind: Kind, serial: int, dac_ms: float) -> None:
        self._marks.add(kind, serial, self._read, self._ramp_done, dac_ms, self._gain, self._gain, self._idle)

    def _keep(self, played: PcmFloat, dac_ms: float) -> None:
        """Copy what goes to the device into the tap."""
        size = len(self._tap)
        for start in range(0, len(played), size):
            piece = played[start : start + size]
            at = self._tap_written % size
            first = min(len(piece), size - at)
            self._tap[at : at + first] = piece[:first]
            self._tap[: len(piece) - first] = piece[first:]
            self._tap_marks.add(
                Kind.PLAYED, 0, self._tap_written, len(piece), dac_ms + start * self._ms_per_frame, 1.0, 1.0, 0
            )
            self._tap_written += len(piece)


class _Marks:
    """Preallocated rows, written by the callback and read by the engine."""

    def __init__(self, rows: int = _MARKS) -> None:
        self._rows = rows
        self._whole = np.zeros((rows, 5), np.int64)
        self._real = np.zeros((rows, 3), np.float64)
        self._count = 0

    def add(
        self,
        kind: int,
        serial: int,
        position: int,
        frames: int,
        dac_ms: float,
        gain_from: float,
        gain_to: float,
        idle: int,
    ) -> None:
        """Write one row."""
        whole, real = self._whole[self._count % self._rows], self._real[self._count % self._rows]
        whole[0], whole[1], whole[2], whole[3], whole[4] = kind, serial, position, frames, idle
        real[0], real[1], real[2] = dac_ms, gain_from, gain_to
        self._count += 1

    def since(self, taken: int) -> tuple[list[Mark], int]:
        """The rows after the first ``taken``, as far as they are still there, and the new count."""
        count = self._count
        marks: list[Mark] = []
        for row in range(max(taken, count - self._rows), count):
            kind, serial, position, frames, idle = self._whole[row % self._rows].tolist()
            dac_ms, gain_from, gain_to = self._real[row % self._rows].tolist()
            marks.append(Mark(Kind(kind), serial, position, frames, dac_ms, gain_from, gain_to, idle))
        return marks, count
