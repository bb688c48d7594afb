"""`voicetui bench` as a person meets it: messages, exit statuses, and one real run."""

from __future__ import annotations

import json
import wave
from pathlib import Path

import pytest

from tests.sessions.test_command_line import CLIPS, voicetui
from voicetui.cli import run


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "required: subject"),
        (("speed",), "invalid choice: 'speed'"),
        (("overlap", "-n", "0"), "found '0'; allowed: a whole number of turns from 1 to 1000"),
        (("overlap", "-n", "many"), "found 'many'"),
        (("overlap", "-n", "-3"), "found '-3'"),
        (("overlap", "--output", "loud"), "invalid choice: 'loud'"),
        (("overlap", "--tier", "nobody"), "There is no tier 'nobody'. Allowed: local"),
        (("overlap", "--tier", "local", "--tier", "pretend-750"), "voicetui bench tiers --tier A --tier B"),
        (("tiers", "--tier", "local"), "compares two tiers or more"),
        (("overlap", "--json", "no/such/folder/figures.json"), "its folder does not exist"),
        (("overlap", "--json", "/"), "is a folder"),
    ],
)
def test_a_wrong_call_is_answered_with_2(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = run(["bench", *arguments])
    except SystemExit as ended:
        status = ended.code  # type: ignore[assignment]
    assert status == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert not shown.out


def test_a_file_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "overlap", str(CLIPS / "hello.wav"), "not-there.wav"]) == 1
    shown = capsys.readouterr()
    assert "not-there.wav" in shown.err
    assert "Traceback" not in shown.err and not shown.out


@pytest.mark.parametrize(("name", "content"), [("text.wav", b"this is no sound at all"), ("empty.flac", b"")])
def test_a_file_that_is_no_sound_is_named(
    name: str, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert run(["bench", "overlap", str(tmp_path / name)]) == 1
    assert name in capsys.readouterr().err


def test_a_recording_of_silence_is_refused_before_minutes_are_spent_on_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with wave.open(str(tmp_path / "silent.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(b"\0\0" * 16_000)
    assert run(["bench", "overlap", str(tmp_path / "silent.wav")]) == 1
    assert "silent.wav holds no sound" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.models
@pytest.mark.timeout(200)
def test_a_real_bench_of_one_turn_in_each_mode(tmp_path: Path) -> None:
    clips = [str(CLIPS / f"{name}.wav") for name in ("capital-of-france", "capital-of-italy")]
    call = ("bench", "overlap", *clips, "-n", "1", "--no-record", "--output", "null", "--json", "-")
    done = voicetui(*call, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    for mode in ("none", "clause", "full"):
        assert values["modes"][mode]["gap_ms"]["n"] == 1
        assert values["modes"][mode]["overlap"] == mode
    assert values["paired"]["full-none"]["n"] == 1
    assert values["paired"]["full-none"]["median_ms"] < 0
    assert values["floor_ms"] > 100
    assert values["complete"]
    assert done.stderr.count("turn ") >= 6 and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
