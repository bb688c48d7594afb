"""How loud the reply is, for the screen's meters."""

from __future__ import annotations

from collections import deque

import numpy as np

from voicetui.ports import PcmFloat

PIECE_MS = 20.0
SILENT_DBFS = -120.0


class Meter:
    """The level of what was played, by when it was at the DAC. One thread hears, any may look."""

    def __init__(self, kept: int = 200) -> None:
        """Keep the newest ``kept`` pieces of about 20 ms."""
        self._heard: deque[tuple[float, float]] = deque(maxlen=kept)

    def hear(self, dac_ms: float, samples: PcmFloat, rate_hz: int) -> None:
        """Sound float32 [n] at ``rate_hz``, at the DAC at ``dac_ms``."""
        size = round(rate_hz * PIECE_MS / 1e3)
        for start in range(0, len(samples), size):
            rms = float(np.sqrt(np.mean(np.square(samples[start : start + size])))) if len(samples) else 0.0
            level = 20 * np.log10(rms) if rms > 1e-6 else SILENT_DBFS
            self._heard.append((dac_ms + start * 1e3 / rate_hz, float(level)))

    def wave(self, now_ms: float, pieces: int) -> tuple[float, ...]:
        """dBFS of each of the newest ``pieces`` of 20 ms before ``now_ms``, oldest first."""
        wave = [SILENT_DBFS] * pieces
        for at_ms, level in list(self._heard):
            index = pieces - 1 - int((now_ms - at_ms) // PIECE_MS)
            if 0 <= index < pieces:
                wave[index] = max(wave[index], level)
        return tuple(wave)
