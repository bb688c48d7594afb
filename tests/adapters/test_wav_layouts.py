"""WAV files of other makes: large ones, chunks without their pad, headers that contradict themselves."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from tests.adapters.test_wav import counting, wav_bytes, write
from voicetui.ports import SoundError
from voicetui.sound.wav import read_audio

UNPADDED = struct.pack("<4sI5s", b"LIST", 5, b"INFOx")


def test_a_chunk_whose_pad_was_forgotten_hides_nothing(tmp_path: Path) -> None:
    sound = counting(1_000)
    path = write(tmp_path / "a.wav", wav_bytes(sound.tobytes(), before=UNPADDED))
    assert np.array_equal(read_audio(path)[0], sound)
    first = b"RIFF" + struct.pack("<I", 0) + b"WAVE" + UNPADDED + wav_bytes(sound.tobytes())[12:]
    assert np.array_equal(read_audio(write(tmp_path / "b.wav", first))[0], sound)
    odd = bytes(np.full(999, 200, np.uint8))
    for pad in (b"", b"\0"):
        after = pad + struct.pack("<4sI4s", b"LIST", 4, b"INFO")
        samples, info = read_audio(write(tmp_path / "c.wav", wav_bytes(odd, bits=8, after=after)))
        assert (len(samples), info.note) == (999, "")


@pytest.mark.parametrize("head", [b"RF64", b"BW64"])
@pytest.mark.parametrize("claimed", [2_000, 2**60])
def test_the_size_of_a_large_file_is_where_its_kind_keeps_it(tmp_path: Path, head: bytes, claimed: int) -> None:
    sound = counting(1_000)
    after = struct.pack("<4sI", b"LIST", 400) + b"INFO" + bytes(396) if claimed == 2_000 else b""
    body = wav_bytes(sound.tobytes(), data_size=2**32 - 1, after=after)[12:]
    ds64 = struct.pack("<4sIQQQI", b"ds64", 28, 0, claimed, 1_000, 0)
    path = write(tmp_path / "a.wav", head + b"\xff\xff\xff\xffWAVE" + ds64 + body)
    assert np.array_equal(read_audio(path)[0], sound)


@pytest.mark.parametrize(("bits", "width"), [(16, 4), (8, 2), (8, 4), (16, 3), (16, 0)])
def test_a_header_that_contradicts_itself_is_refused_and_not_heard_at_another_pitch(
    tmp_path: Path, bits: int, width: int
) -> None:
    whole = bytearray(wav_bytes(counting(1_000).tobytes()))
    whole[32:36] = struct.pack("<HH", width, bits)
    with pytest.raises(SoundError, match=f"contradicts itself .*{bits} bits in {width} bytes"):
        read_audio(write(tmp_path / "a.wav", bytes(whole)))


@pytest.mark.parametrize(("bits", "width"), [(0, 2), (12, 2), (20, 3), (20, 4), (24, 4)])
def test_few_bits_in_a_wider_place_are_sound(tmp_path: Path, bits: int, width: int) -> None:
    sound = counting(1_000)
    wide = np.zeros((1_000, width), np.uint8)
    wide[:, -2:] = sound.view(np.uint8).reshape(-1, 2)
    whole = bytearray(wav_bytes(wide.tobytes()))
    whole[32:36] = struct.pack("<HH", width, bits)
    assert np.abs(read_audio(write(tmp_path / "a.wav", bytes(whole)))[0] - sound).max() <= 1


def test_sound_without_any_header_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(SoundError, match="raw sound, which says nothing of its rate"):
        read_audio(write(tmp_path / "a.raw", counting(1_000).tobytes()))
