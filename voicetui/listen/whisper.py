"""Sound to words with Whisper, in a window as long as the sound needs instead of the 30 s it was trained on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voicetui.events.listen import Evidence
from voicetui.events.orders import Window
from voicetui.listen.decode import FRAMES_PER_S, FULL_FRAMES, Decoded, Decoder, Encoded, WhisperDecoder
from voicetui.listen.doubt import NO_SPEECH, DoubtLimits, doubt, implausible_repeat
from voicetui.listen.edges import FRAME_SAMPLES
from voicetui.listen.language import LanguageMemory
from voicetui.listen.levels import hop_levels, mean_level
from voicetui.listen.repeats import compression_ratio, repeated_tail, without_repeats, words_of
from voicetui.listen.trim import pieces, speech_ms, speech_span
from voicetui.listen.vad import Network, score_all
from voicetui.ports import RATE_HZ, Clock, Pcm16, Recognition, StageError

LEAST_SAMPLES: Final = 1600
"""Sound shorter than this (100 ms) holds no word; it gives an empty recognition."""

_LEAST_FRAMES: Final = 10 * FRAMES_PER_S
_ROOM_FRAMES: Final = 5 * FRAMES_PER_S
_LEAD_MS: Final = 300
_OTHER_LEAD_MS: Final = 500
_BASE_TOKENS: Final = 10
_TOKENS_PER_S: Final = 8
_TOKENS_PER_S_MULTILINGUAL: Final = 16
_BRISK_PER_S: Final = 3.5


@dataclass(frozen=True, slots=True)
class _Piece:
    """Sound (int16 [n]) short enough for one window, trimmed to its speech."""

    sound: Pcm16
    speech_ms: float


class WhisperRecogniser:
    """A ``Recogniser`` on a faster-whisper model folder.

    The sound is trimmed to its speech, so nothing is invented over what follows it, and sound without speech never
    reaches the network.  In a "short" window the encoder sees 10 s, or the speech and 5 s if that is more: a fifth
    of the time of 30 s.  (8 s behind 150 ms of silence make no more errors in whole sentences, but read cut ones as
    finished more often: cut-offs in pauses nearly doubled.)  So cut, now and then a clip is said over and over (16 of
    279 clips with 200 ms of silence put before them, 1 with the 300 ms used here).  Such a suspect is decoded again
    behind other silence (500 ms: none of the 279) and, if it is a final, at last in the full window.  A "padded" window
    is always the full one.

    ``language`` None asks a multilingual model; else it is pinned.  ``hot_words`` are a hint of names to expect.
    ``clock`` serves only to time ``warm``, which returns 0 without it.  Safe to call from several threads: calls wait
    for one another, and each hears only its own sound.
    """

    def __init__(
        self,
        model_path: Path,
        *,
        clock: Clock | None = None,
        language: str | None = None,
        threads: int = 1,
        compute_type: str = "int8",
        hot_words: str = "",
        limits: DoubtLimits | None = None,
        network: Network | None = None,
        load: Callable[[], Decoder] | None = None,
    ) -> None:
        self._clock = clock
        self._pinned = language
        self._hot_words = hot_words
        self._limits = limits or DoubtLimits()
        self._network = network
        self._load = load or (lambda: _load(model_path, threads, compute_type, hot_words, language))
        self._memory = LanguageMemory(language)
        self._decoder: Decoder | None = None
        self._one_at_a_time = threading.Lock()

    def warm(self) -> float:
        """Load the model and decode a second of silence. The ms of that first decoding. Raises ``StageError``."""
        with self._one_at_a_time:
            decoder = self._loaded()
            score_all(np.zeros(FRAME_SAMPLES, np.int16), self._network)
            begun_ms = self._clock.now_ms() if self._clock else 0.0
            encoded = decoder.encode(np.zeros(RATE_HZ, np.int16), _frames(RATE_HZ, "short"))
            if decoder.multilingual and self._pinned is None:
                decoder.languages(encoded)
            decoder.generate(encoded, self._memory.language, 4)
            return self._clock.now_ms() - begun_ms if self._clock else 0.0

    def recognise(self, samples: Pcm16, final: bool, window: Window = "short") -> Recognition:
        """Words in ``samples`` (int16 [n] 16 kHz, any n >= 0) and what speaks for them; empty where there is no speech.

        ``window``: see the class.  A partial (not ``final``) is not decoded in the full window when it repeats itself,
        and does not settle the language.  Raises ``StageError`` when the model cannot be loaded or breaks.
        """
        if samples.size < LEAST_SAMPLES:
            return Recognition("", Evidence(speech_ms=0.0))
        padded = np.concatenate((samples, np.zeros(-samples.size % FRAME_SAMPLES, np.int16)))
        with self._one_at_a_time:
            probabilities = score_all(padded, self._network)
            parts = _parts(samples, probabilities)
            heard = np.concatenate([part.sound for part in parts]) if parts else samples
            plain = Evidence(speech_ms=speech_ms(probabilities), level_dbfs=mean_level(hop_levels(heard)))
            if not parts or speech_ms(probabilities) < self._limits.least_speech_ms:
                return Recognition("", plain, NO_SPEECH)
            try:
                return self._decode_all(parts, plain, final, window)
            except ValueError:  # faster-whisper and CTranslate2 raise it for sound they find nothing in
                return Recognition("", plain)
            except (RuntimeError, MemoryError) as error:
                remedy = "Free some memory, or name a smaller model in [listen] model."
                raise StageError(f"Whisper failed: {error}", remedy, "transcribe") from error

    def _decode_all(self, parts: list[_Piece], plain: Evidence, final: bool, window: Window) -> Recognition:
        decoder = self._loaded()
        done: list[Decoded] = []
        language, sure = self._memory.language, None
        for part in parts:
            encoded = decoder.encode(_led(part.sound, _LEAD_MS), _frames(part.sound.size, window))
            if not done and decoder.multilingual and self._pinned is None:
                language, sure = self._memory.choose(decoder.languages(encoded), part.speech_ms, remember=final)
            done.append(self._best(decoder, part, encoded, language, final, window))
        text = " ".join(each.text for each in done if each.text)
        tokens = sum(each.tokens for each in done)
        evidence = Evidence(
            no_speech=min(each.no_speech for each in done),
            logprob=sum(each.logprob * each.tokens for each in done) / tokens if tokens else None,
            compression=compression_ratio(text),
            speech_ms=plain.speech_ms,
            level_dbfs=plain.level_dbfs,
            language=language,
            language_probability=sure,
        )
        return Recognition(text, evidence, doubt(text, evidence, self._limits, self._hot_words))

    def _best(
        self, decoder: Decoder, part: _Piece, encoded: Encoded, language: str, final: bool, window: Window
    ) -> Decoded:
        """The first decoding that is no suspect, or that a second one agrees with.

        If there is none, the last: as it is where it will be doubted, else with its repeat cut off.
        """
        per_s = _TOKENS_PER_S_MULTILINGUAL if decoder.multilingual else _TOKENS_PER_S
        most_tokens = _BASE_TOKENS + int(per_s * part.sound.size / RATE_HZ)
        retries = [(_OTHER_LEAD_MS, _frames(part.sound.size, window))]
        if final and window == "short":
            retries.append((_LEAD_MS, FULL_FRAMES))
        decoded = decoder.generate(encoded, language, most_tokens)
        for lead_ms, frames in retries:
            if not self._suspect(decoded, part.speech_ms) or decoded.logprob < self._limits.logprob_many:
                return decoded
            again = decoder.generate(decoder.encode(_led(part.sound, lead_ms), frames), language, most_tokens)
            alike = not again.capped and words_of(again.text) == words_of(decoded.text)
            decoded = again
            if alike and not implausible_repeat(decoded.text, part.speech_ms, self._limits):
                return decoded
        implausible = implausible_repeat(decoded.text, part.speech_ms, self._limits)
        if (decoded.capped and not implausible) or (implausible and not final):
            return replace(decoded, text=without_repeats(decoded.text))
        return decoded

    def _suspect(self, decoded: Decoded, spoken_ms: float) -> bool:
        """Whether this may be a loop: a repeat that is implausible, cut off, or long and spoken at a good pace."""
        words = words_of(decoded.text)
        tail = repeated_tail(words)
        brisk = len(words) > _BRISK_PER_S * spoken_ms / 1000
        if tail is not None and (decoded.capped or (tail.period >= 3 and brisk)):
            return True
        return implausible_repeat(decoded.text, spoken_ms, self._limits)

    def _loaded(self) -> Decoder:
        if self._decoder is None:
            self._decoder = self._load()
        return self._decoder


def _load(model_path: Path, threads: int, compute_type: str, hot_words: str, language: str | None) -> Decoder:
    decoder = WhisperDecoder(model_path, threads, compute_type, hot_words)
    decoder.check_language(language or "en")
    return decoder


def _frames(samples: int, window: Window) -> int:
    """Mel frames of the window for ``samples`` of sound; even, because the encoder halves them."""
    if window == "padded":
        return FULL_FRAMES
    needed = samples * FRAMES_PER_S // RATE_HZ + _ROOM_FRAMES
    return min(FULL_FRAMES, max(_LEAST_FRAMES, needed + needed % 2))


def _led(sound: Pcm16, lead_ms: int) -> Pcm16:
    return np.concatenate((np.zeros(lead_ms * RATE_HZ // 1000, np.int16), sound))


def _parts(samples: Pcm16, probabilities: NDArray[np.float32]) -> list[_Piece]:
    """``samples`` cut at pauses where too long for a window, each piece trimmed to its speech; none without speech."""
    found = []
    for begin, end in pieces(probabilities):
        scores = probabilities[begin:end]
        sound = samples[begin * FRAME_SAMPLES : end * FRAME_SAMPLES]
        span = speech_span(scores, sound.size)
        if span is not None:
            found.append(_Piece(sound[span[0] : span[1]], speech_ms(scores)))
    return found
