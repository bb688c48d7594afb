"""Recordings that survive, and sound files as people have them."""

from __future__ import annotations

import os
import resource
import signal
import stat
import struct
import subprocess
import sys
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from tests.adapters.stub_audio import noise, pitch_hz, tone
from voicetui.ports import SoundError
from voicetui.sound.pieces import open_sound
from voicetui.sound.rates import level_dbfs, to_int16
from voicetui.sound.wav import WavWriter, part_path, read_audio, read_parts


def counting(count: int, first: int = 0) -> np.ndarray:
    """int16 [count] that tells sample numbers apart."""
    return ((np.arange(first, first + count) * 11) % 32_003).astype(np.int16)


def wav_bytes(
    data: bytes,
    *,
    rate_hz: int = 16_000,
    channels: int = 1,
    bits: int = 16,
    tag: int = 1,
    data_size: int | None = None,
    riff_size: int | None = None,
    before: bytes = b"",
    after: bytes = b"",
) -> bytes:
    """A WAV file with whatever its header is to claim."""
    frame = channels * bits // 8
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, tag, channels, rate_hz, (rate_hz * frame) % 2**32, frame, bits)
    body = b"WAVE" + form + before + struct.pack("<4sI", b"data", len(data) if data_size is None else data_size)
    body += data + after
    return struct.pack("<4sI", b"RIFF", len(body) if riff_size is None else riff_size) + body


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_what_is_appended_is_read_again(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "user.wav")
    for first in range(0, 50_000, 320):
        writer.append(counting(320, first))
    writer.close()
    writer.close()
    samples, info = read_audio(tmp_path / "user.wav")
    assert np.array_equal(samples, counting(len(samples)))
    assert len(samples) == writer.end == 50_240
    assert (info.rate_hz, info.channels, info.note) == (16_000, 1, "")
    with wave.open(str(tmp_path / "user.wav")) as other:
        assert other.getparams()[:4] == (1, 2, 16_000, 50_240)


def test_a_recording_is_private_and_never_written_over(tmp_path: Path) -> None:
    os.umask(0o022)
    WavWriter(tmp_path / "user.wav").close()
    assert stat.S_IMODE((tmp_path / "user.wav").stat().st_mode) == 0o600
    with pytest.raises(SoundError, match="never written over"):
        WavWriter(tmp_path / "user.wav")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SoundError, match=r"nowhere/user.wav cannot be written: No such file"):
        WavWriter(tmp_path / "nowhere" / "user.wav")


def test_padding_fills_with_silence_up_to_a_sample(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "reply.wav")
    assert writer.pad_to(100_000) == 100_000
    writer.append(counting(10, 1))
    assert writer.pad_to(50) == 0
    assert writer.pad_to(100_015) == 5
    writer.close()
    samples, _ = read_audio(tmp_path / "reply.wav")
    assert not samples[:100_000].any()
    assert np.array_equal(samples[100_000:], [*counting(10, 1), 0, 0, 0, 0, 0])


def test_tracks_that_start_at_different_times_coincide_after_padding(tmp_path: Path) -> None:
    """The speaker starts at 0.000, the microphone at 0.850; a click on both at 2.000."""
    tracks = []
    for name, start_s in (("reply", 0.0), ("user", 0.85)):
        writer = WavWriter(tmp_path / f"{name}.wav")
        writer.pad_to(round(start_s * 16_000))
        click = np.zeros(round((3.0 - start_s) * 16_000), np.int16)
        click[round((2.0 - start_s) * 16_000)] = 30_000
        writer.append(click)
        writer.close()
        tracks.append(read_audio(tmp_path / f"{name}.wav")[0])
    assert abs(int(np.argmax(tracks[0])) - int(np.argmax(tracks[1]))) <= 1


RECORD = """
import sys, numpy as np
from pathlib import Path
from voicetui.sound.wav import WavWriter
writer = WavWriter(Path(sys.argv[1]))
first = 0
while True:
    writer.append(((np.arange(first, first + 320) * 11) % 32003).astype(np.int16))
    first += 320
    if first >= 60_000:
        print(first, flush=True)
        sys.stdin.readline()
"""


def test_nothing_appended_is_lost_by_a_kill(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", RECORD, str(tmp_path / "user.wav")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    written = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.communicate()
    samples, info = read_audio(tmp_path / "user.wav")
    assert np.array_equal(samples, counting(written))
    assert "never finished" in info.note
    with wave.open(str(tmp_path / "user.wav")) as other:
        assert written - other.getnframes() <= 1_600


@pytest.mark.parametrize("data_size", [0, 3_200, 2**32 - 1, 0x7FFFFFFF, 2**31])
@pytest.mark.parametrize("riff_size", [0, 36, 3_236, 2**32 - 1])
def test_all_whole_frames_are_read_whatever_an_unfinished_header_says(
    tmp_path: Path, data_size: int, riff_size: int
) -> None:
    path = write(tmp_path / "a.wav", wav_bytes(counting(78_400).tobytes(), data_size=data_size, riff_size=riff_size))
    assert np.array_equal(read_audio(path)[0], counting(78_400))


def test_half_a_sample_at_the_end_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", wav_bytes(counting(100).tobytes() + b"\x01", data_size=0))
    assert np.array_equal(read_audio(path)[0], counting(100))
    stereo = write(tmp_path / "b.wav", wav_bytes(counting(101).tobytes(), channels=2, data_size=2**32 - 1))
    assert len(read_audio(stereo)[0]) == 50


def test_a_cut_file_gives_what_is_there_and_says_so(tmp_path: Path) -> None:
    samples, info = read_audio(write(tmp_path / "a.wav", wav_bytes(counting(8_000).tobytes(), data_size=64_000)))
    assert len(samples) == 8_000
    assert info.note == "the header promises 2.0 s, the file ends after 0.5 s"


@pytest.mark.parametrize(
    "after",
    [
        struct.pack("<4sI4s", b"LIST", 4, b"INFO"),
        struct.pack("<4sI3sx", b"id3 ", 3, b"abc") + struct.pack("<4sI", b"cue ", 0),
        b"TAG" + bytes(125),
    ],
)
def test_what_follows_the_samples_is_not_sound(tmp_path: Path, after: bytes) -> None:
    path = write(tmp_path / "a.wav", wav_bytes(counting(1_000).tobytes(), after=after))
    samples, info = read_audio(path)
    assert np.array_equal(samples, counting(1_000))
    assert info.note == ""


def test_chunks_before_the_samples_are_skipped(tmp_path: Path) -> None:
    odd = struct.pack("<4sI3sx", b"JUNK", 3, b"abc") + struct.pack("<4sI", b"bext", 600) + bytes(600)
    path = write(tmp_path / "a.wav", wav_bytes(counting(1_000).tobytes(), before=odd))
    assert np.array_equal(read_audio(path)[0], counting(1_000))


def test_a_tiny_file_that_claims_gigabytes_costs_no_memory(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", wav_bytes(counting(8).tobytes(), data_size=2**32 - 1, riff_size=2**32 - 1))
    assert path.stat().st_size == 60
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    samples, _ = read_audio(path)
    assert np.array_equal(samples, counting(8))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 20_000


def test_a_chunk_that_claims_gigabytes_before_the_samples_is_no_sound(tmp_path: Path) -> None:
    huge = struct.pack("<4sI", b"LIST", 2**32 - 1)
    with pytest.raises(SoundError, match="holds no sound"):
        read_audio(write(tmp_path / "a.wav", wav_bytes(b"", before=huge)))


def test_a_recording_rolls_before_its_limit_and_is_joined_without_a_gap(tmp_path: Path) -> None:
    limit = 1 << 20
    writer = WavWriter(tmp_path / "user.wav", limit_bytes=limit)
    total = 1_400_000
    for first in range(0, total, 70_000):
        writer.append(counting(70_000, first))
    writer.close()
    assert [path.name for path in writer.parts] == ["user.wav", "user.2.wav", "user.3.wav"]
    assert all(path.stat().st_size <= limit for path in writer.parts)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in writer.parts)
    samples, parts = read_parts(tmp_path, "user")
    assert np.array_equal(samples, counting(total))
    assert sum(part.frames for part in parts) == total


def test_padding_rolls_too(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "user.wav", limit_bytes=1_044)
    writer.pad_to(1_200)
    writer.append(counting(3, 1))
    writer.close()
    assert len(writer.parts) == 3
    assert np.array_equal(read_parts(tmp_path, "user")[0][1_199:], [0, *counting(3, 1)])


def test_a_kill_between_two_parts_loses_nothing(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "user.wav", limit_bytes=2_044)
    writer.append(counting(1_000))
    writer.append(counting(1, 1_000))
    samples, _ = read_parts(tmp_path, "user")
    writer.close()
    assert np.array_equal(samples, counting(1_001))


@pytest.mark.parametrize("limit", [0, 45, 2**32])
def test_a_limit_that_cannot_be_is_refused(tmp_path: Path, limit: int) -> None:
    with pytest.raises(ValueError, match="limited"):
        WavWriter(tmp_path / "user.wav", limit_bytes=limit)
    assert not (tmp_path / "user.wav").exists()


def test_the_default_limit_fits_the_32_bits_of_a_header(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "user.wav", limit_bytes=2**32 - 1)
    writer.close()
    assert read_parts(tmp_path, "user")[0].tolist() == []


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "user.wav", limit_bytes=2_044)
    writer.append(counting(3_000))
    writer.close()
    part_path(tmp_path / "user.wav", 2).unlink()
    with pytest.raises(SoundError, match=r"user\.2\.wav is missing"):
        read_parts(tmp_path, "user")
    with pytest.raises(SoundError, match=r"reply\.wav is missing"):
        read_parts(tmp_path, "reply")


def test_a_full_disk_is_said_in_words_and_leaves_whole_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = WavWriter(tmp_path / "user.wav")
    writer.append(counting(100))
    real, left = os.write, [7]

    def almost_full(file: int, data: Any) -> int:
        if left[0] == 0:
            raise OSError(28, "No space left on device")
        done = real(file, bytes(data)[: left[0]])
        left[0] -= done
        return done

    monkeypatch.setattr(os, "write", almost_full)
    with pytest.raises(SoundError, match=r"user\.wav cannot be written: No space left on device\. Free some space"):
        writer.append(counting(100, 100))
    monkeypatch.undo()
    writer.append(counting(2, 103))
    writer.close()
    assert np.array_equal(read_audio(tmp_path / "user.wav")[0], counting(105))


def test_a_closed_writer_says_so(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "user.wav")
    writer.close()
    with pytest.raises(SoundError, match="closed"):
        writer.append(counting(1))


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 22_050, 44_100, 48_000, 192_000])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("kind", ["PCM_16", "PCM_24", "PCM_32", "PCM_U8", "FLOAT", "DOUBLE", "ULAW", "FLAC", "OGG"])
def test_a_second_of_any_file_is_a_second(tmp_path: Path, rate_hz: int, channels: int, kind: str) -> None:
    sound = np.repeat(tone(rate_hz, rate_hz)[:, None], channels, axis=1)
    if kind in ("FLAC", "OGG"):
        path, how = tmp_path / f"a.{kind.lower()}", {}
    else:
        path, how = tmp_path / "a.wav", {"subtype": kind}
    soundfile.write(path, sound, rate_hz, **how)
    samples, info = read_audio(path)
    assert len(samples) == 16_000
    assert pitch_hz(samples) == pytest.approx(440, abs=5)
    assert level_dbfs(samples) == pytest.approx(-9.03, abs=0.3)
    assert (info.rate_hz, info.channels, info.seconds) == (rate_hz, channels, 1.0)


def test_an_extensible_header_is_read(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.repeat(tone(48_000, 48_000)[:, None], 4, axis=1), 48_000, format="WAVEX")
    assert pitch_hz(read_audio(tmp_path / "a.wav")[0]) == pytest.approx(440, abs=1)


def test_a_truncated_flac_gives_a_message_or_what_is_there(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.flac", noise(48_000, level=0.1), 16_000)
    whole = (tmp_path / "a.flac").read_bytes()
    path = write(tmp_path / "b.flac", whole[: len(whole) // 2])
    try:
        samples, _ = read_audio(path)
    except SoundError as error:
        assert "b.flac" in str(error)
    else:
        assert 0 < len(samples) <= 48_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"just words, no sound at all, and a few more of them", "not a sound file"),
        (b"RIFF", "not a sound file"),
        (wav_bytes(b""), "holds no sound"),
        (wav_bytes(b"\1"), "holds no sound"),
        (wav_bytes(b"")[:36], "holds no sound"),
        (wav_bytes(b"")[:20], "damaged|holds no sound"),
        (wav_bytes(bytes(64), rate_hz=1_092_681), "1,092,681 Hz"),
        (wav_bytes(bytes(64), rate_hz=0), "sample rate of 0 Hz"),
        (wav_bytes(bytes(64), rate_hz=2**32 - 1), "sample rate"),
        (wav_bytes(bytes(64), channels=0), "0 channels"),
        (wav_bytes(bytes(64), channels=60_000, bits=8), "60000 channels"),
        (wav_bytes(bytes(64), bits=48), "contradicts itself"),
        (wav_bytes(bytes(64), tag=3, bits=16), "contradicts itself"),
        (wav_bytes(bytes(64), tag=0x1234), "not a sound file|damaged|export"),
        (b"RIFF\0\0\0\0WAVE" + struct.pack("<4sI", b"data", 4) + bytes(4), "before their format"),
    ],
)
def test_a_file_that_is_no_sound_is_refused_by_name_with_the_reason(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = write(tmp_path / "odd name.wav", content)
    with pytest.raises(SoundError, match=message) as caught:
        read_audio(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value).split(". ")) >= 2 or "; " in str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [(3, "<f4", 32), (3, "<f8", 64)])
def test_values_that_are_no_numbers_are_refused_with_their_place(
    tmp_path: Path, bad: float, kind: tuple[int, str, int]
) -> None:
    tag, form, bits = kind
    sound = np.zeros(32_000, form)
    sound[20_000] = bad
    path = write(tmp_path / "a.wav", wav_bytes(sound.tobytes(), tag=tag, bits=bits))
    with pytest.raises(SoundError, match=r"not numbers .* at 1\.250 s"):
        read_audio(path)


def test_what_is_not_a_readable_file_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SoundError, match="is a folder"):
        read_audio(tmp_path)
    with pytest.raises(SoundError, match="does not exist"):
        read_audio(tmp_path / "none.wav")
    os.mkfifo(tmp_path / "pipe.wav")
    with pytest.raises(SoundError, match="not an ordinary file"):
        read_audio(tmp_path / "pipe.wav")
    locked = write(tmp_path / "locked.wav", wav_bytes(bytes(64)))

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SoundError, match=r"locked\.wav may not be read"):
        read_audio(locked)


def test_a_loud_float_file_is_clipped_not_wrapped(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", wav_bytes(np.array([2.0, -2.0], "<f4").tobytes(), tag=3, bits=32))
    assert read_audio(path)[0].tolist() == [32_767, -32_768]


def test_sixteen_bit_files_at_our_rate_come_through_untouched(tmp_path: Path) -> None:
    sound = to_int16(noise(5_000, level=0.3))
    assert np.array_equal(read_audio(write(tmp_path / "a.wav", wav_bytes(sound.tobytes())))[0], sound)


def test_channels_are_kept_apart_piece_by_piece(tmp_path: Path) -> None:
    left, right = counting(300_000), counting(300_000, 7)
    path = tmp_path / "call.wav"
    path.write_bytes(wav_bytes(np.stack((left, right), axis=1).astype("<i2").tobytes(), channels=2))
    with open_sound(path) as file:
        assert (file.rate_hz, file.channels, file.frames) == (16_000, 2, 300_000)
        pieces = list(file.pieces)
    assert len(pieces) == 2
    whole = np.concatenate(pieces)
    assert np.array_equal(to_int16(whole[:, 0].astype(np.float32)), left)
    assert np.array_equal(to_int16(whole[:, 1].astype(np.float32)), right)


def test_a_file_beyond_4_gib_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    frames = 3 * 2**29
    path.write_bytes(wav_bytes(b"", channels=2, data_size=(4 * frames) % 2**32, riff_size=0))
    with path.open("r+b") as file:
        file.truncate(44 + 4 * frames)
    with open_sound(path) as sound:
        assert sound.frames == frames and "never finished" in sound.note
        assert next(sound.pieces).shape[1] == 2
