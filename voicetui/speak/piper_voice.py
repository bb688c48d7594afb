"""Piper as a ``Voice``: words in, float32 sentences out, with the time of each word."""

from __future__ import annotations

import inspect
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import soxr

from voicetui.ports import Clock, PcmFloat, StageError
from voicetui.sound.pieces import wav_in_memory
from voicetui.sound.rates import to_mono
from voicetui.speak.audible import AUDIBLE_RMS, hop_levels
from voicetui.speak.piper_model import WANTED, load_engine, one_line, read_description
from voicetui.speak.piper_split import SplitSession
from voicetui.speak.timing import Group, GrowingPiece, TimedPiece

WARM_TEXT: Final = "The quick brown fox jumps over the lazy dog."

SPEECH_RMS: Final = 10.0 ** (-20.0 / 20.0)
"""Level given to a voice's speech, by one gain for the whole voice: it leaves the peaks of Piper voices some room.

piper's own way, each sentence scaled to its peak, makes "Yes." 4 dB louder than the sentence after it.
"""

_LOUDEST: Final = 0.95
_KNEE: Final = 0.75
_LEAST_GAIN: Final = 0.1
_MOST_GAIN: Final = 10.0

_RAW_PHONEMES: Final = re.compile(r"\[(?=\[)")
"""Piper reads ``[[...]]`` as phonemes, which a model's text never means."""

_UNSAYABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
"""Control characters end a C string early; lone surrogates cannot be encoded."""

_MARKS: Final = "ˈˌːˑ˞"
"""Stress and length: written like letters, but no sounds of their own."""


class PiperVoice:
    """A ``Voice`` made of a Piper model and its JSON description."""

    def __init__(
        self,
        model_path: str | Path,
        config_path: str | Path | None = None,
        threads: int = 1,
        *,
        clock: Clock,
        spinning: bool = False,
        use_gpu: bool = False,
        espeak_data: str | Path | None = None,
        speaker: int | None = None,
        length_scale: float | None = None,
        noise_scale: float | None = None,
        noise_w_scale: float | None = None,
        engine: Any = None,
    ) -> None:
        """Read the description (``config_path``, default the model's path + ".json"); ``warm`` loads the model itself.

        ``threads`` are onnxruntime's; with ``spinning`` they burn a core while they wait. ``espeak_data`` defaults to
        what piper-tts ships. The scales and the speaker default to the voice's own; ``noise_w_scale`` 0 makes lengths
        repeatable. ``engine`` is a piper voice object to use instead of loading one. Raises ``StageError`` when the
        description cannot be used.
        """
        self._model_path = Path(model_path)
        self._clock = clock
        self._engine = engine
        self._gain = 0.0
        self._loading = (threads, spinning, use_gpu, Path(espeak_data) if espeak_data else None)
        self._scales: dict[str, Any] = {
            "speaker_id": speaker,
            "length_scale": length_scale,
            "noise_scale": noise_scale,
            "noise_w_scale": noise_w_scale,
        }
        self._description: dict[str, Any] = {}
        if engine is None:
            self._description = read_description(Path(config_path) if config_path else Path(f"{model_path}.json"))
            self.rate_hz = int(self._description["audio"]["sample_rate"])
        else:
            self.rate_hz = int(engine.config.sample_rate)

    @property
    def provider(self) -> str:
        """What really computes, e.g. "CPUExecutionProvider"; "" before ``warm``."""
        session = getattr(self._engine, "session", None)
        return str(session.get_providers()[0]) if session is not None else ""

    def warm(self) -> float:
        """Check espeak's data, load the model, say one sentence. How many ms that sentence took, loading apart.

        Raises ``StageError`` naming the path at fault.
        """
        if self._engine is None:
            self._engine = load_engine(self._model_path, self._description, *self._loading)
        started_ms = self._clock.now_ms()
        self._gain = 1.0
        levels = [hop_levels(piece.samples, self.rate_hz) for piece in self._pieces(WARM_TEXT)]
        took_ms = self._clock.now_ms() - started_ms
        speech = np.concatenate([level[level >= AUDIBLE_RMS] for level in levels] or [np.zeros(0, np.float32)])
        if len(speech):
            rms = float(np.sqrt(np.mean(np.square(speech))))
            self._gain = min(max(SPEECH_RMS / rms, _LEAST_GAIN), _MOST_GAIN)
        return took_ms

    def synthesize(self, spoken: str) -> Iterator[PcmFloat]:
        """float32 [n] at ``rate_hz`` for each sentence; nothing without a letter or digit. Raises ``StageError``."""
        for piece in self.synthesize_timed(spoken):
            yield piece.samples

    def synthesize_timed(self, spoken: str) -> Iterator[TimedPiece]:
        """The pieces ``synthesize`` gives, with the groups of phonemes in them where the model tells."""
        text = plain_text(spoken)
        if not any(character.isalnum() for character in text):
            return
        if not self._gain:
            self.warm()
        yield from self._pieces(text)

    def synthesize_streamed(self, spoken: str) -> list[GrowingPiece]:
        """The sentences ``synthesize`` gives, each made while its parts are taken; empty if the model is in one piece.

        How long each phoneme takes is known at once, of every sentence.  Raises ``StageError``, while parts are taken,
        too.
        """
        text = plain_text(spoken)
        if not self._gain:
            self.warm()
        session = getattr(self._engine, "session", None)
        if not isinstance(session, SplitSession) or not any(character.isalnum() for character in text):
            return []
        pieces = []
        with self._told(text), session.holding():
            for chunk in chunks_of(self._engine, text, self._scales):
                frames = len(samples_of(chunk, self.rate_hz))
                assert session.latent is not None
                if frames:
                    parts = self._parts(text, session.parts(session.latent))
                    pieces.append(GrowingPiece(frames, groups_of(chunk, frames), parts))
        return pieces

    def _parts(self, text: str, parts: Iterator[PcmFloat]) -> Iterator[PcmFloat]:
        with self._told(text):
            for part in parts:
                yield limited(part * np.float32(self._gain))

    def _pieces(self, text: str) -> Iterator[TimedPiece]:
        with self._told(text):
            for chunk in chunks_of(self._engine, text, self._scales):
                samples = samples_of(chunk, self.rate_hz)
                if len(samples):
                    yield TimedPiece(limited(samples * np.float32(self._gain)), groups_of(chunk, len(samples)))

    @contextmanager
    def _told(self, text: str) -> Iterator[None]:
        """Whatever goes wrong inside becomes a ``StageError`` about ``text``."""
        try:
            yield
        except StageError:
            raise
        except Exception as error:  # onnxruntime and espeak raise types of their own
            shortened = text if len(text) <= 40 else text[:39] + "…"
            raise StageError(
                f"Piper could not say {shortened!r} with {self._model_path.name}: {one_line(error)}",
                "If it happens again, choose another voice in [speak].",
                "synthesize",
            ) from error


def limited(samples: PcmFloat) -> PcmFloat:
    """float32 [n] within 0.95 of full scale: what lies above 0.75 is bent, each sample by itself and without a corner.

    So a sentence sounds the same whether it is made in one piece or in parts.
    """
    size = np.abs(samples)
    room = _LOUDEST - _KNEE
    bent = np.where(size > _KNEE, np.copysign(_KNEE + room * np.tanh((size - _KNEE) / room), samples), samples)
    return bent.astype(np.float32, copy=False)


def plain_text(spoken: str) -> str:
    """``spoken`` without what espeak or Piper would take for something else than text to say."""
    return _RAW_PHONEMES.sub("[ ", _UNSAYABLE.sub(" ", spoken)).strip()


def chunks_of(engine: Any, text: str, scales: dict[str, Any]) -> Iterator[Any]:
    """The chunk objects a piper voice makes of ``text``, sentence by sentence, loudness as the model gives it.

    Raises ``StageError`` for a piper of the old kind, which has raw streams instead.
    """
    if hasattr(engine, "synthesize_stream_raw") or not hasattr(engine, "synthesize"):
        raise StageError(
            "The installed piper-tts is too old: it makes raw streams, not chunks",
            f"Install {WANTED}: pip install -U piper-tts",
            "load",
        )
    known = inspect.signature(engine.synthesize).parameters
    wanted: dict[str, Any] = {}
    if "syn_config" in known:
        import piper

        wanted["syn_config"] = piper.SynthesisConfig(**scales, normalize_audio=False)
    if "include_alignments" in known:
        wanted["include_alignments"] = True
    yield from engine.synthesize(text, **wanted)


def samples_of(chunk: Any, rate_hz: int) -> PcmFloat:
    """float32 [n] mono at ``rate_hz`` from any form of Piper chunk; a WAV header is never taken for sound."""
    chunk_hz = int(getattr(chunk, "sample_rate", rate_hz))
    channels = int(getattr(chunk, "sample_channels", 1))
    sound: Any = chunk
    for form in ("audio_float_array", "audio_int16_array", "audio_int16_bytes"):
        if getattr(chunk, form, None) is not None:
            sound = getattr(chunk, form)
            break
    if isinstance(sound, bytes | bytearray | memoryview):
        raw = bytes(sound)
        if raw[:4] in (b"RIFF", b"RF64") and raw[8:12] == b"WAVE":
            frames, chunk_hz = wav_in_memory(raw, "a chunk of Piper's")
            sound, channels = frames.mean(axis=1).astype(np.float32), 1
        else:
            sound = np.frombuffer(raw[: len(raw) // 2 * 2], np.dtype("<i2"))
    array = np.atleast_1d(np.asarray(sound).squeeze())
    if channels > 1 and array.ndim == 1:
        array = array[: len(array) // channels * channels].reshape(-1, channels)
    mono = to_mono(array)
    if chunk_hz != rate_hz and len(mono):
        mono = soxr.resample(mono, chunk_hz, rate_hz, quality="HQ")
    return mono


def groups_of(chunk: Any, frames: int) -> tuple[Group, ...] | None:
    """The chunk's phonemes from space to space; None if it has no durations, or they do not add up to ``frames``."""
    alignments = getattr(chunk, "phoneme_alignments", None)
    if not alignments or sum(int(sound.num_samples) for sound in alignments) != frames:
        return None
    groups: list[Group] = []
    at = phonemes = start = end = 0
    for sound in alignments:
        symbol, first = str(sound.phoneme), at
        at += int(sound.num_samples)
        if symbol == " " and phonemes:
            groups.append(Group(phonemes, start, end))
        if symbol == " ":
            start = end = phonemes = 0
        elif symbol in _MARKS or unicodedata.category(symbol[:1] or " ")[0] in "LMN":
            start, end = start or first, at
            phonemes += symbol not in _MARKS
    if phonemes:
        groups.append(Group(phonemes, start, end))
    return tuple(groups)
