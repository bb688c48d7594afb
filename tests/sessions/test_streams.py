"""Standard streams that are closed, full, read by nobody, or without letters for what is written."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from voicetui.cli import main
from voicetui.events.orders import EndTurn, Reject
from voicetui.events.session import NOT_STARTED, Fault, StopAsked
from voicetui.events.sound import DeviceLost
from voicetui.headless import Teller, _failed
from voicetui.runtime.log import log_to, native_chatter_to, stop_logging
from voicetui.streams import mistake_text, system_text, talk_to

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "recordings" / "sample-call"
full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="only some systems have a disk that is always full")


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a shell line in which $V is the program."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "V": f"{sys.executable} -m voicetui", **environment}
    return subprocess.run(["bash", "-c", line], env=env, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", "2>&-"])
def test_closed_streams_stop_no_command(closed: str) -> None:
    done = shell(f"$V models list {closed}")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@full
def test_a_full_disk_behind_stdout_is_told_in_a_sentence() -> None:
    done = shell(f"$V export {SAMPLE} --as csv >/dev/full; echo $?; $V models >/dev/full")
    assert done.stdout == "1\n"
    assert done.returncode == 1
    assert done.stderr.count("No space left on device. Make room, or name another place.") >= 1
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_what_nobody_reads_ends_the_command_without_a_word() -> None:
    done = shell("set -o pipefail; $V models | true")
    assert done.returncode == 1
    assert done.stderr.replace("in ", "").count("\n") <= 1 and "Traceback" not in done.stderr


def test_an_encoding_without_the_letters_gets_question_marks() -> None:
    done = shell(f"$V compare {SAMPLE} {SAMPLE}", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert "turn by turn" in done.stdout and "?" in done.stdout


class Gone(io.StringIO):
    """A stream whose reader has left, or whose disk is full."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def write(self, text: str) -> int:
        """Refuse."""
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("number", [errno.EPIPE, errno.ENOSPC])
def test_turns_that_cannot_be_told_are_not_told_and_the_session_hears_of_it_once(number: int) -> None:
    heard: list[OSError] = []
    teller = Teller(lambda _: (), Gone(number), io.StringIO(), unheard=heard.append)
    teller._print("turn 1")
    teller._print("turn 2")
    assert [error.errno for error in heard] == [number]


@pytest.mark.parametrize(
    ("body", "failed"),
    [
        (EndTurn(1, (1, 1, 1), "failed", ""), True),
        (EndTurn(1, (1, 1, 1), "completed", "Hi."), False),
        (EndTurn(1, (1, 1, 1), "interrupted", "Hi."), False),
        (DeviceLost("input", "mic", "unplugged"), True),
        (Fault("record", "the disk is full"), True),
        (Fault("score", "no model"), False),
        (Reject(1, "failed", "the recogniser"), True),
        (Reject(1, "noise"), False),
        (StopAsked(NOT_STARTED), True),
        (StopAsked("signal"), False),
    ],
)
def test_a_session_that_did_not_hear_answer_or_record_has_failed(body: object, failed: bool) -> None:
    from voicetui.events import Entry

    assert _failed([Entry(0, 0.0, body)]) is failed


@full
def test_talk_that_cannot_be_written_is_lost_and_nothing_else() -> None:
    talk = talk_to(os.open("/dev/full", os.O_WRONLY), close=True)
    print("nobody hears this", file=talk, flush=True)
    talk.close()


@full
def test_a_log_that_cannot_be_written_is_given_up(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    import logging

    for path in (Path("/dev/full"), tmp_path / "nowhere" / "log.txt"):
        handler = log_to(path)
        logging.getLogger("voicetui").warning("not kept")
        stop_logging(handler)
        with native_chatter_to(tmp_path / "nowhere" / "log.txt"):
            pass
    assert capsys.readouterr().err == ""


def test_what_the_system_refuses_is_told_with_its_place() -> None:
    error = OSError(errno.EROFS, os.strerror(errno.EROFS), "/media/a/b.json")
    assert system_text(error).startswith("/media/a/b.json: Read-only file system. ")


def crash(*_: object) -> int:
    """What no command should do."""
    raise ExceptionGroup("two", [ValueError("an odd\x1b[2J value")])


def test_a_mistake_of_the_programs_own_is_a_sentence_and_its_traceback_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("voicetui.streams.platformdirs.user_log_path", lambda _: tmp_path / "log")
    monkeypatch.setattr("voicetui.streams.make_usable", lambda: None)
    monkeypatch.setattr("voicetui.cli.run", crash)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 1
    shown = capsys.readouterr().err
    assert "a mistake of the program's own" in shown and "ValueError: an odd" in shown
    assert "Traceback" not in shown and "\x1b" not in shown
    kept = tmp_path / "log" / "mistake.txt"
    assert str(kept) in shown and "Traceback" in kept.read_text()
    assert oct(kept.stat().st_mode & 0o777) == "0o600"


def test_where_nothing_can_be_kept_of_a_mistake_it_is_told_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_: str) -> Path:
        raise PermissionError("no")

    monkeypatch.setattr("voicetui.streams.platformdirs.user_log_path", nowhere)
    assert "Nothing could be written about it" in mistake_text(ValueError("x"))
