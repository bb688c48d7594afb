"""The commands as a person meets them: messages, exit statuses, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import wave
from collections.abc import Callable
from pathlib import Path

import pytest

from voicetui.cli import run
from voicetui.ports import SoundError, StageError
from voicetui.streams import no_screen

ROOT = Path(__file__).resolve().parents[2]
CLIPS = ROOT / "assets" / "clips"


def voicetui(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program as a process of its own."""
    command = [sys.executable, "-m", "voicetui", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        command,
        cwd=cwd or ROOT,
        env=env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=200,
    )


@pytest.mark.parametrize(
    "command", [(), ("live",), ("demo",), ("run",), ("bench",), ("models",), ("devices",), ("doctor",)]
)
def test_every_command_has_help(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run([*command, "--help"])
    assert ended.value.code == 0
    assert "usage: voicetui" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ("fly",),
        ("run",),
        ("live", "--overlap", "most"),
        ("live", "--seconds", "-1"),
        ("live", "--seconds", "soon"),
        ("live", "--json", "figures.json"),
        ("live", "--seconds", "5"),
        ("demo", "--json", "figures.json"),
        ("demo", "--serve", "70000"),
        ("demo", "--serve", "٨٠٨٠"),
        ("run", "talk.toml", "hello.wav"),
        ("models", "list", "whisper-tiny.en"),
        ("--config", "no.toml", "doctor"),
    ],
)
def test_a_wrong_call_is_answered_with_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = run(list(arguments))
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    shown = capsys.readouterr()
    assert shown.err
    assert not shown.out


def test_without_a_terminal_there_is_no_screen_but_a_sentence(tmp_path: Path) -> None:
    done = voicetui("demo")
    assert done.returncode == 2
    assert "no terminal" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [("replay",), ("export", "--as", "text")])
def test_a_name_is_shown_in_a_message_and_not_obeyed(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "no\x1b]0;t\x07\x9b2J\u202ewhere"]) in (1, 2)
    told = capsys.readouterr().err
    assert "where" in told and not set(told) & set("\x1b\x07\x9b\u202e")


def test_a_terminal_that_draws_no_screen_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "TERM is dumb" in no_screen()


def test_a_wrong_configuration_names_file_and_key(tmp_path: Path) -> None:
    (tmp_path / "voicetui.toml").write_text("[endpoint]\nsilence_ms = 'long'\n")
    done = voicetui("doctor", cwd=tmp_path)
    assert done.returncode == 2
    assert "voicetui.toml: endpoint.silence_ms: found 'long'" in done.stderr


@pytest.mark.models
@pytest.mark.parametrize(
    "words", [("models",), ("models", "list"), ("models", "pull"), ("models", "pull", "whisper-tiny.en")]
)
def test_models_are_listed_and_fetching_what_is_there_is_quick(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(list(words)) == 0
    assert "whisper-tiny.en" in capsys.readouterr().out


def test_an_unknown_model_is_answered_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "pull", "whisper-enormous"]) == 1
    assert "whisper-tiny.en" in capsys.readouterr().err


def test_devices_are_listed_or_said_to_be_missing(tmp_path: Path) -> None:
    done = voicetui("devices", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout or "No sound devices" in done.stderr or "PortAudio" in done.stderr


@pytest.mark.parametrize("command", ["demo", "live"])
@pytest.mark.parametrize(
    "gap", ["", "soon", "99", "5001", "200,", "200;1400", "200,nan", "-200", "1e3", "200,0", "inf", "２００", "1_000"]
)
def test_a_gap_that_cannot_be_staged_is_answered_with_2_and_what_can_be(
    command: str, gap: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run([command, f"--gap={gap}"])
    assert ended.value.code == 2
    shown = capsys.readouterr()
    assert f"found {gap!r}; allowed: one or more numbers of milliseconds from 100 to 5000" in shown.err
    assert not shown.out


@pytest.mark.models
def test_a_staged_demo_says_staged_gap_on_every_line_and_in_the_end(tmp_path: Path) -> None:
    done = voicetui("demo", "--headless", "--no-record", "--gap", "200, 700.5", "--json", "out.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("turn")]
    assert lines and all("staged gap" in line for line in lines)
    assert "median staged gap" in done.stderr and "median gap" not in done.stderr
    summary = json.loads((tmp_path / "out.json").read_text())
    assert summary["gap_ms"]["n"] == 0
    assert all(turn["staged"] for turn in summary["turns"])


def test_what_to_do_next_is_told_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object) -> int:
        raise StageError("voice.onnx.json does not describe a voice", "Run `voicetui models pull`.")

    monkeypatch.setattr("voicetui.doctor.examine", broken)
    assert run(["doctor"]) == 1
    assert "does not describe a voice. Run `voicetui models pull`." in capsys.readouterr().err


def no_device() -> list[object]:
    """What a machine without sound devices has."""
    return []


def no_library() -> list[object]:
    """What a machine without PortAudio says."""
    raise SoundError("PortAudio is not installed. apt install libportaudio2")


@pytest.mark.parametrize(("found", "words"), [(no_device, "There is no microphone"), (no_library, "PortAudio")])
def test_without_a_microphone_headless_live_ends_with_1_and_advice(
    found: Callable[[], list[object]],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("voicetui.sound.devices.list_devices", found)
    assert run(["live", "--headless"]) == 1
    assert words in capsys.readouterr().err


@pytest.mark.models
def test_refused_files_are_named_the_others_are_run_and_the_session_is_readable(tmp_path: Path) -> None:
    """A header that claims a mad rate, a file without samples, text, nothing at all; and one that is good."""
    mad = tmp_path / "awful.wav"
    mad.write_bytes(
        (CLIPS / "hello.wav").read_bytes()[:24]
        + (1_090_000).to_bytes(4, "little")
        + (CLIPS / "hello.wav").read_bytes()[28:]
    )
    null = tmp_path / "null.wav"
    with wave.open(str(null), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
    (tmp_path / "text.wav").write_text("not sound")
    good = CLIPS / "capital-of-france.wav"
    (tmp_path / "voicetui.toml").write_text(f'[record]\nfolder = "{tmp_path}/kept"\n')
    names = ["awful.wav", "null.wav", "text.wav", "missing.wav"]
    done = voicetui("run", *names, str(good), "--json", "out.json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    for name in names:
        assert name in done.stderr
    assert "Traceback" not in done.stderr
    summary = json.loads((tmp_path / "out.json").read_text())
    assert [turn["user_text"] for turn in summary["turns"]] == ["What is the capital of France?"]
    assert len([fault for fault in summary["faults"] if fault["stage"] == "input"]) == 4
    (folder,) = (tmp_path / "kept").iterdir()
    lines = (folder / "journal.jsonl").read_text().splitlines()
    assert all(json.loads(line) for line in lines)
    assert oct(folder.stat().st_mode & 0o777) == "0o700"


def test_where_no_input_can_be_used_no_session_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.toml").write_text(f'[record]\nfolder = "{tmp_path}/kept"\n')
    assert run(["run", str(tmp_path / "nothing.wav"), "--config", str(tmp_path / "c.toml")]) == 1
    assert "nothing.wav does not exist" in capsys.readouterr().err
    assert not (tmp_path / "kept").exists()


@pytest.mark.models
def test_a_scenario_with_a_wrong_key_or_clip_is_explained(tmp_path: Path) -> None:
    script = tmp_path / "talk.toml"
    script.write_text('title = "t"\n[[lines]]\nsays = ["a.wav"]\n')
    done = voicetui("run", str(script))
    assert done.returncode == 1
    assert "talk.toml: " in done.stderr and "Allowed: say" in done.stderr
    script.write_text('title = "t"\n[[lines]]\nsay = ["nothing.wav"]\n')
    done = voicetui("run", str(script), "--no-record")
    assert done.returncode == 1
    assert "nothing.wav" in done.stderr
    assert "Traceback" not in done.stderr
