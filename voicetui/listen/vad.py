"""Speech or not: the Silero v6 network that ships inside faster-whisper, streamed frame by frame on ONNX Runtime."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import faster_whisper
import numpy as np
from numpy.typing import NDArray

from voicetui.listen.edges import FRAME_SAMPLES, EdgeFinder, EdgeLimits
from voicetui.listen.onnx import load_network
from voicetui.ports import Pcm16, VoiceEdge

Network: TypeAlias = Any
"""An ``onnxruntime.InferenceSession`` of Silero v6: input float32 [frames, 576], h and c float32 [1, 1, 128].

The frames of one call follow one another in time.  It has no state of its own: any number of detectors may share it, on
any threads.
"""

CONTEXT_SAMPLES: Final = 64
"""Samples of the frame before that the network sees again in front of each frame."""

_STATE_SHAPE: Final = (1, 1, 128)
_RESET_FRAMES: Final = 157  # 5 s
_RESET_PROBABILITY: Final = 0.1


@cache
def network(path: Path | None = None) -> Network:
    """The Silero network in the ONNX file ``path`` (default: faster-whisper's), on one thread that never spins.

    Loaded once for each path.  Raises ``StageError`` when the file is not there or is no such network.
    """
    file = path or Path(faster_whisper.__file__).parent / "assets" / "silero_vad_v6.onnx"
    remedy = "Reinstall faster-whisper 1.2 (pip install --force-reinstall 'faster-whisper>=1.2,<1.3')."
    return load_network(file, {"input", "h", "c"}, "The voice detector's network", remedy, "vad")


class FrameScorer:
    """The network with the state of one stream: a whole frame in, the probability of speech out."""

    def __init__(self, shared: Network | None = None) -> None:
        self._network = shared or network()
        self._window: NDArray[np.float32] = np.zeros((1, CONTEXT_SAMPLES + FRAME_SAMPLES), np.float32)
        self.settle()

    def reset(self) -> None:
        """Forget everything heard: what comes next is a new stream."""
        self._window[:] = 0.0
        self.settle()

    def settle(self) -> None:
        """Reset the recurrent state alone: the sound goes on, and the next frame keeps its context."""
        self._h: NDArray[np.float32] = np.zeros(_STATE_SHAPE, np.float32)
        self._c: NDArray[np.float32] = np.zeros(_STATE_SHAPE, np.float32)

    def score(self, frame: Pcm16) -> float:
        """The probability that ``frame`` (int16 [512], the next 512 samples) is speech."""
        self._window[0, :CONTEXT_SAMPLES] = self._window[0, -CONTEXT_SAMPLES:]
        self._window[0, CONTEXT_SAMPLES:] = frame / np.float32(32768.0)
        scores, self._h, self._c = self._network.run(None, {"input": self._window, "h": self._h, "c": self._c})
        return float(scores.reshape(-1)[0])


def score_all(samples: Pcm16, shared: Network | None = None) -> NDArray[np.float32]:
    """The probability of speech of each whole frame of ``samples`` (int16 [n]), in one call. float32 [n // 512]."""
    frames = samples.size // FRAME_SAMPLES
    if not frames:
        return np.zeros(0, np.float32)
    padded = np.zeros(CONTEXT_SAMPLES + frames * FRAME_SAMPLES, np.float32)
    padded[CONTEXT_SAMPLES:] = samples[: frames * FRAME_SAMPLES] / np.float32(32768.0)
    windows = np.lib.stride_tricks.sliding_window_view(padded, CONTEXT_SAMPLES + FRAME_SAMPLES)[::FRAME_SAMPLES]
    state = np.zeros(_STATE_SHAPE, np.float32)
    feed = {"input": np.ascontiguousarray(windows), "h": state, "c": state}
    scores: NDArray[np.float32] = (shared or network()).run(None, feed)[0]
    return scores.reshape(-1)


class SileroDetector:
    """A ``VoiceDetector``: blocks of any length in, edges out. State is its own; the network may be shared.

    The recurrent state is reset only in the quiet, after every 5 s without speech: one that is never reset may drift
    over a long stream, one that is reset every few frames cuts onsets.
    """

    def __init__(self, limits: EdgeLimits | None = None, shared: Network | None = None) -> None:
        self._scorer = FrameScorer(shared)
        self._finder = EdgeFinder(limits)
        self._rest: Pcm16 = np.zeros(0, np.int16)
        self._quiet_frames = 0

    def feed(self, samples: Pcm16) -> list[VoiceEdge]:
        """The edges in the next ``samples`` (int16 [n], any n >= 0). Sample numbers count from the first ever fed."""
        sound = np.concatenate((self._rest, samples)) if self._rest.size else samples
        whole = sound.size // FRAME_SAMPLES * FRAME_SAMPLES
        edges = [self._take(sound[at : at + FRAME_SAMPLES]) for at in range(0, whole, FRAME_SAMPLES)]
        self._rest = sound[whole:].copy()
        return [edge for edge in edges if edge is not None]

    @property
    def fading(self) -> bool:
        """Whether speech is running whose newest frames hold none: a pause may be near."""
        return self._finder.fading

    def quicken(self, on: bool) -> None:
        """Announce pauses sooner and with less certainty, or as usual again."""
        self._finder.quick = on

    def drop(self) -> VoiceEdge | None:
        """Forget the running speech: its closing edge if there was one. Afterwards the state is that of a new stream.

        Sample numbers go on, and so does what is known of the room's noise.
        """
        self._scorer.reset()
        edge = self._finder.drop(self._rest)
        self._rest = self._rest[:0]
        self._quiet_frames = 0
        return edge

    def _take(self, frame: Pcm16) -> VoiceEdge | None:
        probability = self._scorer.score(frame)
        edge = self._finder.feed(probability, frame)
        self._quiet_frames = self._quiet_frames + 1 if probability < self._finder.limits.end else 0
        if self._quiet_frames >= _RESET_FRAMES and probability < _RESET_PROBABILITY:
            self._scorer.settle()
            self._quiet_frames = 0
        return edge
