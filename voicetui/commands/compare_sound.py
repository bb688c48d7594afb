"""How loud a recorded session was, for waveforms on its timeline."""

from __future__ import annotations

import numpy as np

from voicetui.events.sound import RATE_HZ, ClockMapped
from voicetui.journal.recorded import Recorded
from voicetui.ports import SoundError
from voicetui.sound.wav import read_parts
from voicetui.tui.sound_trace import PIECE_MS, SILENT_DBFS, SoundTrace

_PIECE = RATE_HZ * PIECE_MS // 1000


def sound_trace(recorded: Recorded) -> SoundTrace:
    """The levels of both tracks, one for each 20 ms; none where a track or the session's clock is missing."""
    mapped = next((entry for entry in recorded.entries if isinstance(entry.body, ClockMapped)), None)
    if mapped is None or not isinstance(mapped.body, ClockMapped):
        return SoundTrace()
    start_ms = mapped.at - mapped.body.sample * 1000 / RATE_HZ
    return SoundTrace(round(start_ms / PIECE_MS), _levels(recorded, "user"), _levels(recorded, "reply"))


def _levels(recorded: Recorded, track: str) -> tuple[float, ...]:
    """dBFS (RMS) of each piece of a track."""
    try:
        samples, _ = read_parts(recorded.folder, track)
    except SoundError:
        return ()
    count = len(samples) // _PIECE
    pieces = samples[: count * _PIECE].reshape(count, _PIECE).astype(np.float32) / 32768
    rms = np.sqrt(np.mean(pieces**2, axis=1))
    floor = 10 ** (SILENT_DBFS / 20)
    return tuple(np.round(20 * np.log10(np.maximum(rms, floor)), 1).tolist())
