"""Is the turn over, by the sound of the voice: Smart Turn v3.2 on ONNX Runtime."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Final

import numpy as np
from faster_whisper.feature_extractor import FeatureExtractor
from numpy.typing import NDArray

from voicetui.listen.onnx import load_network
from voicetui.ports import RATE_HZ, Clock, Pcm16, StageError

WINDOW_S: Final = 8
"""What the network hears: the last 8 s."""

_WINDOW_SAMPLES: Final = WINDOW_S * RATE_HZ
_LEAST_VARIANCE: Final = 1e-7
_PULL: Final = 'Run `voicetui models pull smart-turn-v3.2`, or set [endpoint] policy = "silence".'


def log_mel(samples: Pcm16, extractor: FeatureExtractor) -> NDArray[np.float32]:
    """The network's input for ``samples`` (int16 [n], 16 kHz): float32 [80, 800], the log-mel of the last 8 s.

    As in pipecat (``audio/turn/smart_turn/local_smart_turn_v3.py`` and ``_whisper_features.py``): shorter sound is
    zero-padded *in front*, the whole window brought to zero mean and unit variance (the feature extractor of
    transformers' Whisper with ``do_normalize=True``), and its mel made as Whisper's (400-sample periodic Hann window,
    hop of 160, 80 Slaney mels, log10 not under 1e-10 nor 8 under the loudest, (x + 4) / 4), here by ``extractor``,
    faster-whisper's.
    """
    window = np.zeros(_WINDOW_SAMPLES, np.float32)
    newest = samples[-_WINDOW_SAMPLES:]
    window[_WINDOW_SAMPLES - newest.size :] = newest / np.float32(32768.0)
    normal = (window - window.mean()) / np.sqrt(window.var() + _LEAST_VARIANCE)
    mel: NDArray[np.float32] = extractor(normal, padding=0)
    return mel.astype(np.float32, copy=False)


class SmartTurn:
    """A ``TurnScorer`` on the Smart Turn v3 network in ``model_path``. Loaded when first used; safe from any thread."""

    def __init__(self, model_path: Path, *, threads: int = 1, clock: Clock | None = None) -> None:
        self._model_path = model_path
        self._threads = threads
        self._clock = clock
        self._network: Any = None
        self._extractor = FeatureExtractor(chunk_length=WINDOW_S)
        self._loading = threading.Lock()

    def warm(self) -> float:
        """Load the network and run it once on silence. The ms of that first run. Raises ``StageError``."""
        self._loaded()
        begun_ms = self._clock.now_ms() if self._clock else 0.0
        self.score(np.zeros(0, np.int16))
        return self._clock.now_ms() - begun_ms if self._clock else 0.0

    def score(self, samples: Pcm16) -> float:
        """The probability, 0 to 1, that the turn in ``samples`` (int16 [n] 16 kHz, any n >= 0) is over.

        The network's output bears the name "logits" but is a probability already.  Raises ``StageError``.
        """
        network = self._loaded()
        try:
            (scores,) = network.run(None, {"input_features": log_mel(samples, self._extractor)[np.newaxis]})
            score = float(np.asarray(scores).reshape(-1)[0])
        except Exception as error:  # ONNX Runtime raises its own, undocumented kinds
            raise StageError(f"The end-of-turn network failed: {error}", _PULL, "score") from error
        if not 0.0 <= score <= 1.0:
            raise StageError(f"The end-of-turn network answered {score}, which is no probability.", _PULL, "score")
        return score

    def _loaded(self) -> Any:
        with self._loading:
            if self._network is None:
                what = "The end-of-turn network"
                self._network = load_network(
                    self._model_path, {"input_features"}, what, _PULL, "score", threads=self._threads
                )
            return self._network
