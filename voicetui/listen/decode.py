"""The one place that touches Whisper's network: mel, encoder and decoder of a faster-whisper model on CTranslate2."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.tokenizer import Tokenizer
from numpy.typing import NDArray

from voicetui.ports import Pcm16, StageError

FRAMES_PER_S: Final = 100
"""Mel frames in a second (a hop of 160 samples)."""
FULL_FRAMES: Final = 3000
"""Mel frames in the 30 s window Whisper was trained on."""

_HOP_SAMPLES: Final = 160
_TAIL_SAMPLES: Final = 640
_MOST_HOT_TOKENS: Final = 200
_REMEDY: Final = "Run `voicetui models pull` to get the default models, or name another in [listen] model."

Encoded: TypeAlias = Any
"""What the encoder made of some sound; only ``generate`` and ``languages`` of the same decoder can read it."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """One decoding.

    ``logprob`` is the mean natural log-probability of its *text* tokens: timestamps, which are guesses even where every
    word is sure, are left out (0.0 for no text).  ``capped`` when it ended at the token limit and not by itself.
    """

    text: str
    no_speech: float
    logprob: float
    tokens: int
    capped: bool = False


class Decoder(Protocol):
    """Whisper, as far as the recogniser needs it."""

    multilingual: bool

    def encode(self, sound: Pcm16, frames: int) -> Encoded:
        """What the encoder makes of ``sound`` (int16 [n], 16 kHz), zero-padded or cut to ``frames`` mel frames."""

    def languages(self, encoded: Encoded) -> list[tuple[str, float]]:
        """(code, probability) for every language, likeliest first; multilingual models only."""

    def generate(self, encoded: Encoded, language: str, most_tokens: int) -> Decoded:
        """The likeliest text, of at most ``most_tokens`` tokens."""


class WhisperDecoder:
    """A ``Decoder`` on a faster-whisper model folder, on the CPU, with an explicit number of threads.

    Text is decoded with timestamps on: over 405 clips that made 166 word errors where plain text made 192 (of 2322
    words), and fewer loops, for about two more tokens.  Nothing said before is used as a prompt; ``hot_words`` are.
    """

    def __init__(self, folder: Path, threads: int = 1, compute_type: str = "int8", hot_words: str = "") -> None:
        for needed in ("model.bin", "config.json", "tokenizer.json"):
            if not (folder / needed).is_file():
                raise StageError(f"There is no Whisper model in {folder}: {needed} is missing.", _REMEDY, "transcribe")
        try:
            self._whisper = WhisperModel(
                str(folder),
                device="cpu",
                compute_type=compute_type,
                cpu_threads=threads,
                num_workers=1,
                local_files_only=True,
            )
        except Exception as error:  # CTranslate2 and tokenizers raise their own, undocumented kinds
            message = f"The Whisper model in {folder} cannot be loaded: {error}"
            raise StageError(message, _REMEDY, "transcribe") from error
        self.multilingual: bool = self._whisper.model.is_multilingual
        self._tokenizers: dict[str, Tokenizer] = {}
        self._hot_tokens: list[int] = []
        if hot_words.strip():
            plain = self._tokenizer("en")
            self._hot_tokens = [plain.sot_prev, *plain.encode(" " + hot_words.strip())[:_MOST_HOT_TOKENS]]

    def check_language(self, language: str) -> None:
        """Raise ``StageError`` when this model does not know ``language`` (a code such as "en")."""
        known: list[str] = self._whisper.supported_languages
        if language in known:
            return
        allowed = ", ".join(sorted(known)) if self.multilingual else "en (the model is English-only)"
        raise StageError(
            f"The Whisper model does not know the language {language!r}.",
            f"Set [listen] language to one of: {allowed}.",
            "transcribe",
        )

    def encode(self, sound: Pcm16, frames: int) -> Encoded:
        """What the encoder makes of ``sound`` (int16 [n], 16 kHz), zero-padded or cut to ``frames`` mel frames."""
        return self._whisper.encode(self.features(sound, frames))

    def features(self, sound: Pcm16, frames: int) -> NDArray[np.float32]:
        """The log-mel spectrogram of ``sound`` (int16 [n]), zero-padded or cut to ``frames``; float32 [mels, frames].

        Only the sound is computed. The silence after it is one constant: Whisper's floor, 8 decades under the loudest
        cell and not under 1e-10, on its scale of (decades + 4) / 4.
        """
        kept = sound[: frames * _HOP_SAMPLES]
        padded = np.zeros(kept.size + _TAIL_SAMPLES, np.float32)
        padded[: kept.size] = kept / np.float32(32768.0)
        mel: NDArray[np.float32] = self._whisper.feature_extractor(padded)[:, :frames]
        floor = max(float(mel.max()) - 8.0 / 4.0, (-10.0 + 4.0) / 4.0)
        return np.pad(mel, ((0, 0), (0, frames - mel.shape[1])), constant_values=floor)

    def languages(self, encoded: Encoded) -> list[tuple[str, float]]:
        """(code, probability) for every language, likeliest first; multilingual models only."""
        return [(token[2:-2], float(share)) for token, share in self._whisper.model.detect_language(encoded)[0]]

    def generate(self, encoded: Encoded, language: str, most_tokens: int) -> Decoded:
        """The likeliest text, decoded greedily (beam 1, temperature 0, no fallback): at most ``most_tokens`` tokens."""
        tokenizer = self._tokenizer(language)
        prompt = [*self._hot_tokens, *tokenizer.sot_sequence]
        result = self._whisper.model.generate(
            encoded,
            [prompt],
            beam_size=1,
            max_length=min(self._whisper.max_length, len(prompt) + most_tokens),
            return_no_speech_prob=True,
            return_logits_vocab=True,
        )[0]
        tokens: list[int] = result.sequences_ids[0]
        steps = result.logits[0]
        scores = [_log_probability(steps[at], token) for at, token in enumerate(tokens) if token < tokenizer.eot]
        return Decoded(
            text=tokenizer.decode(tokens).strip(),
            no_speech=float(result.no_speech_prob),
            logprob=float(np.mean(scores)) if scores else 0.0,
            tokens=len(scores),
            capped=len(steps) <= len(tokens),
        )

    def _tokenizer(self, language: str) -> Tokenizer:
        if language not in self._tokenizers:
            task = "transcribe" if self.multilingual else None
            self._tokenizers[language] = Tokenizer(self._whisper.hf_tokenizer, self.multilingual, task, language)
        return self._tokenizers[language]


def _log_probability(logits: Any, token: int) -> float:
    """The log-softmax of one step's ``logits`` (a CTranslate2 storage of float32 [vocabulary]) at ``token``."""
    row = np.array(logits).reshape(-1)
    top = float(row.max())
    return float(row[token]) - top - float(np.log(np.sum(np.exp(row - top))))
