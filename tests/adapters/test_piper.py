"""Piper behind the voice port: its versions, its data, its log, its threads."""

from __future__ import annotations

import functools
import io
import json
import logging
import subprocess
import sys
import wave
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import soundfile

from tests.adapters.playing import BASIS, HandClock
from voicetui.events.base import Fact
from voicetui.events.orders import Synthesize
from voicetui.ports import StageError
from voicetui.runtime.clock import SystemClock
from voicetui.speak.audible import AUDIBLE_RMS, hop_levels
from voicetui.speak.piper_model import check_espeak_data, load_engine, read_description, with_durations
from voicetui.speak.piper_voice import PiperVoice, plain_text
from voicetui.speak.synthesize import Synthesizer

TONE_HZ = 440


def tone(rate_hz: int, seconds: float = 1.0) -> np.ndarray[Any, np.dtype[np.float32]]:
    return (0.5 * np.sin(2 * np.pi * TONE_HZ * np.arange(round(rate_hz * seconds)) / rate_hz)).astype(np.float32)


def int16(sound: np.ndarray[Any, np.dtype[np.float32]]) -> np.ndarray[Any, np.dtype[np.int16]]:
    return (sound * 32767).astype(np.int16)


def wav_bytes(sound: np.ndarray[Any, np.dtype[np.float32]], rate_hz: int, channels: int = 1) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(channels)
        writer.setsampwidth(2)
        writer.setframerate(rate_hz)
        writer.writeframes(np.repeat(int16(sound), channels).tobytes())
    return file.getvalue()


class Engine:
    """A piper of the new kind: ``synthesize`` yields chunk objects."""

    def __init__(self, *chunks: SimpleNamespace, rate_hz: int = 22_050, work: Any = None) -> None:
        self.config = SimpleNamespace(sample_rate=rate_hz)
        self.chunks = chunks
        self.work = work

    def synthesize(self, text: str) -> Iterator[SimpleNamespace]:
        if self.work:
            self.work()
        yield from self.chunks


def voice_of(engine: Any, clock: HandClock | None = None) -> PiperVoice:
    return PiperVoice("stub.onnx", clock=clock or HandClock(), engine=engine)


# ---- what piper hands over


@pytest.mark.parametrize(
    "form",
    ["audio_float_array", "audio_int16_array", "audio_int16_bytes"],
)
@pytest.mark.parametrize("rate_hz", [16_000, 22_050])
def test_a_second_is_a_second_whatever_form_and_rate_the_chunks_have(form: str, rate_hz: int) -> None:
    sound = tone(rate_hz)
    value = {"audio_float_array": sound, "audio_int16_array": int16(sound), "audio_int16_bytes": int16(sound).tobytes()}
    chunk = SimpleNamespace(sample_rate=rate_hz, **{form: value[form]})
    (piece,) = voice_of(Engine(chunk, rate_hz=rate_hz)).synthesize("one second")
    assert len(piece) == rate_hz
    assert int(np.argmax(np.abs(np.fft.rfft(piece)))) == TONE_HZ


def test_a_chunk_at_another_rate_than_the_description_says_is_brought_to_it() -> None:
    chunk = SimpleNamespace(sample_rate=16_000, audio_float_array=tone(16_000))
    voice = voice_of(Engine(chunk, rate_hz=22_050))
    (piece,) = voice.synthesize("one second")
    assert len(piece) == pytest.approx(22_050, abs=1)
    assert int(np.argmax(np.abs(np.fft.rfft(piece[:22_050])))) == pytest.approx(TONE_HZ, abs=1)


@pytest.mark.parametrize("channels", [1, 2])
def test_a_wav_header_is_never_played(channels: int) -> None:
    sound = np.full(4_410, 0.7, np.float32)
    chunk = SimpleNamespace(sample_rate=22_050, audio_int16_bytes=wav_bytes(sound, 22_050, channels))
    (piece,) = voice_of(Engine(chunk)).synthesize("steady")
    assert len(piece) == len(sound)
    assert np.ptp(piece) == 0.0


@pytest.mark.parametrize(
    ("kind", "sizes"), [("PCM_U8", None), ("PCM_24", None), ("FLOAT", None), ("PCM_16", "streamed")]
)
def test_a_wav_of_any_kind_in_a_chunk_is_sound_and_its_header_is_not(kind: str, sizes: str | None) -> None:
    sound = np.full(4_410, 0.7, np.float32)
    file = io.BytesIO()
    soundfile.write(file, sound, 22_050, kind, format="WAV")
    wrapped = bytearray(file.getvalue())
    if sizes:
        wrapped[4:8] = wrapped[40:44] = b"\xff" * 4
    chunk = SimpleNamespace(sample_rate=22_050, audio_int16_bytes=bytes(wrapped))
    (piece,) = voice_of(Engine(chunk)).synthesize("steady")
    assert len(piece) == len(sound)
    assert np.ptp(piece) == 0.0


def test_a_piper_of_the_old_kind_is_refused_in_one_line_that_names_the_wanted_version() -> None:
    old = SimpleNamespace(config=SimpleNamespace(sample_rate=22_050), synthesize_stream_raw=lambda text: iter([b""]))
    with pytest.raises(StageError) as caught:
        voice_of(old).warm()
    assert "piper-tts" in str(caught.value) and "1.3" in caught.value.remedy
    assert "\n" not in str(caught.value) + caught.value.remedy


def test_what_piper_raises_becomes_a_sentence_with_a_remedy() -> None:
    def fail() -> None:
        raise RuntimeError("[ONNXRuntimeError] : 2 : INVALID_ARGUMENT\n  Non-zero status code")

    voice = voice_of(Engine(work=fail))
    with pytest.raises(StageError, match="could not say") as caught:
        list(voice.synthesize("hello"))
    assert caught.value.remedy and "\n" not in str(caught.value)


def test_the_first_call_is_made_while_warming_and_its_time_is_reported() -> None:
    clock = HandClock()
    costs = iter([800.0, 50.0])

    def work() -> None:
        clock.ms += next(costs)

    voice = voice_of(Engine(SimpleNamespace(audio_float_array=tone(22_050, 0.1)), work=work), clock)
    assert voice.warm() == 800.0
    before_ms = clock.ms
    list(voice.synthesize("hello"))
    assert clock.ms - before_ms == 50.0


def test_one_gain_for_the_whole_voice_brings_speech_to_one_level_and_leaves_room() -> None:
    engine = Engine(SimpleNamespace(audio_float_array=0.1 * tone(22_050)))
    voice = voice_of(engine)
    (quiet,) = voice.synthesize("hello")
    engine.chunks = (SimpleNamespace(audio_float_array=0.05 * tone(22_050)),)
    (half,) = voice.synthesize("hello")
    engine.chunks = (SimpleNamespace(audio_float_array=tone(22_050)),)
    (loud,) = voice.synthesize("hello")
    assert 20 * np.log10(np.sqrt(np.mean(quiet**2))) == pytest.approx(-20.0, abs=0.1)
    assert np.abs(half).max() == pytest.approx(np.abs(quiet).max() / 2)
    assert 0.9 < np.abs(loud).max() <= 0.95


def test_brackets_and_control_characters_are_not_taken_for_phonemes_or_ends() -> None:
    assert plain_text(" a [[b]] [[[c \x00d\x1b e\ud800 ") == "a [ [b]] [ [ [c  d  e"


# ---- files


@pytest.mark.parametrize(
    ("content", "expected"),
    [(None, "cannot be read"), ("{", "does not describe"), ('{"audio": {}}', "does not describe"), ("[]", "does not")],
)
def test_a_missing_or_broken_description_is_named_with_its_path(
    tmp_path: Path, content: str | None, expected: str
) -> None:
    model = tmp_path / "voice.onnx"
    if content is not None:
        (tmp_path / "voice.onnx.json").write_text(content)
    with pytest.raises(StageError, match=expected) as caught:
        PiperVoice(model, clock=HandClock())
    assert str(tmp_path) in str(caught.value) and caught.value.remedy


def test_missing_espeak_data_are_named_with_the_path(tmp_path: Path) -> None:
    folder = tmp_path / "no such data"
    with pytest.raises(StageError, match="no such folder") as caught:
        check_espeak_data(folder, "en-us")
    assert str(folder) in str(caught.value) and caught.value.remedy
    folder.mkdir()
    for name in ("phontab", "phonindex", "phondata", "intonations"):
        (folder / name).touch()
    with pytest.raises(StageError, match="en_dict missing"):
        check_espeak_data(folder, "en-us")
    (folder / "en_dict").touch()
    check_espeak_data(folder, "en-us")


def test_a_model_without_one_tensor_of_durations_is_left_as_it_is() -> None:
    for model in (b"", b"nothing of the kind", b"/Ceil_output_0 x /Ceil_1_output_0 y /dp/Ceil_output_0"):
        assert with_durations(model) == model
    assert with_durations(b"..\x12\x0e/Ceil_output_0..").endswith(b"\x0a\x0e/Ceil_output_0")


# ---- the real one


@functools.cache
def real(path: Path, **options: Any) -> PiperVoice:
    voice = PiperVoice(path, clock=SystemClock(), **options)
    voice.warm()
    return voice


def described(path: Path, folder: Path, name: str, **changes: Any) -> Path:
    """A copy of the voice's description with some of it changed."""
    description = json.loads(Path(f"{path}.json").read_text(encoding="utf-8"))
    copy = folder / f"{name}.json"
    copy.write_text(json.dumps(description | changes))
    return copy


@pytest.mark.models
def test_a_broken_model_and_a_missing_one_are_named_with_their_paths(piper_path: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    config = Path(f"{piper_path}.json")
    with pytest.raises(StageError, match="no Piper model at"):
        PiperVoice(broken, config, clock=HandClock()).warm()
    broken.write_bytes(piper_path.read_bytes()[:10_000])
    with pytest.raises(StageError, match="cannot be loaded") as caught:
        PiperVoice(broken, config, clock=HandClock()).warm()
    assert str(broken) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.models
def test_missing_espeak_data_are_found_while_warming_not_at_the_first_sentence(
    piper_path: Path, tmp_path: Path
) -> None:
    voice = PiperVoice(piper_path, clock=HandClock(), espeak_data=tmp_path / "gone")
    with pytest.raises(StageError, match="gone"):
        voice.warm()


@pytest.mark.models
def test_espeak_data_under_a_path_with_spaces_and_umlauts_are_used(piper_path: Path, tmp_path: Path) -> None:
    """In a process of its own: espeak starts once for each process, with the first folder it is given."""
    import piper.phonemize_espeak as espeak

    folder = tmp_path / "Stimmen für später" / "espeak-ng-data"
    folder.parent.mkdir()
    folder.symlink_to(espeak.ESPEAK_DATA_DIR)
    code = (
        "import sys\nfrom voicetui.speak.piper_voice import PiperVoice\n"
        "from voicetui.runtime.clock import SystemClock\n"
        "voice = PiperVoice(sys.argv[1], clock=SystemClock(), espeak_data=sys.argv[2])\nvoice.warm()\n"
        "print(sum(map(len, voice.synthesize('Hello.'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(piper_path), str(folder)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=True,
    )
    assert int(done.stdout) > 4_000 and done.stderr == ""


@pytest.mark.models
@pytest.mark.parametrize("spoken", ["button", "naïve café", "ʤ", "مرحبا", "🙂 hello", "日本", "a" * 60])
def test_words_the_voice_does_not_know_are_said_or_skipped(piper_path: Path, spoken: str) -> None:
    for piece in real(piper_path).synthesize(spoken):
        assert np.isfinite(piece).all()


@pytest.mark.models
def test_an_unknown_phoneme_is_told_once_in_the_log_and_never_on_the_screen(
    piper_path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    known = json.loads(Path(f"{piper_path}.json").read_text(encoding="utf-8"))["phoneme_id_map"]
    poor = {symbol: ids for symbol, ids in known.items() if symbol not in "ŋθ"}
    voice = PiperVoice(piper_path, described(piper_path, tmp_path, "poor", phoneme_id_map=poor), clock=SystemClock())
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert list(voice.synthesize("I think a long song."))
    told = [record for record in caplog.records if "phoneme" in record.getMessage()]
    assert len(told) == 2
    assert {record.name for record in told} == {"voicetui.speak.piper"}
    assert capfd.readouterr() == ("", "")


@pytest.mark.models
def test_asking_for_a_gpu_that_is_not_there_warns_once_and_tells_what_computes(
    piper_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    voice = PiperVoice(piper_path, clock=SystemClock(), use_gpu=True)
    assert voice.provider == ""
    voice.warm()
    list(voice.synthesize("Hello."))
    if voice.provider == "CPUExecutionProvider":
        told = [record.getMessage() for record in caplog.records]
        assert told == ["CUDAExecutionProvider was asked for; Piper runs on CPUExecutionProvider"]


@pytest.mark.models
def test_two_languages_at_once_do_not_mix_their_sounds(piper_path: Path, tmp_path: Path) -> None:
    german = described(piper_path, tmp_path, "german", espeak={"voice": "de"})
    steady = {"noise_scale": 0.0, "noise_w_scale": 0.0}
    descriptions = (Path(f"{piper_path}.json"), german)
    engines = [load_engine(piper_path, read_description(path), 1, False, False, None) for path in descriptions]
    voices = [PiperVoice(piper_path, clock=HandClock(), engine=engine, **steady) for engine in engines]
    texts = ("The wind is cold.", "Der Wind ist kalt.")
    alone = [sum(map(len, voice.synthesize(text))) for voice, text in zip(voices, texts, strict=True)]
    phonemes = [str(engine.phonemize(text)) for engine, text in zip(engines, texts, strict=True)]
    assert phonemes[0] != phonemes[1]

    def rounds(number: int) -> tuple[set[int], set[str]]:
        lengths = {sum(map(len, voices[number].synthesize(texts[number]))) for _ in range(3)}
        return lengths, {str(engines[number].phonemize(texts[number])) for _ in range(50)}

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(rounds, (0, 1)))
    for number, (lengths, said) in enumerate(together):
        assert said == {phonemes[number]}
        assert all(abs(length - alone[number]) <= 0.02 * alone[number] for length in lengths)


@pytest.mark.models
def test_sentences_of_one_voice_are_about_equally_loud(piper_path: Path) -> None:
    voice = real(piper_path)
    levels = []
    for text in ("Yes.", "No problem at all.", "The capital of France is Paris, and it has two million people."):
        level = hop_levels(np.concatenate(list(voice.synthesize(text))), voice.rate_hz)
        levels.append(10 * np.log10(np.mean(level[level >= AUDIBLE_RMS] ** 2)))
    assert np.ptp(levels) <= 4.0


@pytest.mark.models
@pytest.mark.parametrize(
    "text",
    ["Your table is booked for two at seven in the evening.", "It costs $49.95 at 9:30, doctor.", "Yes. No. Good bye."],
)
def test_word_times_are_the_models_own_and_words_begin_where_it_says(piper_path: Path, text: str) -> None:
    voice = real(piper_path)
    pieces = list(voice.synthesize_timed(text))
    assert all(piece.groups for piece in pieces)
    facts: list[Fact] = []
    sound = Synthesizer(voice, SystemClock(), lambda fact, _: facts.append(fact)).run(
        Synthesize(BASIS, 0, text), lambda _: True
    )
    assert sound is not None and len(sound.words) == len(text.split())
    starts = [start for start, _ in sound.words]
    assert starts == sorted(set(starts))
    levels = hop_levels(sound.samples, sound.rate_hz)
    hop = len(sound.samples) / len(levels)
    for start, end in sound.words:
        assert levels[int(start / hop) : int(end / hop) + 1].max() > 5 * AUDIBLE_RMS
