"""Where commands on recorded sessions write, and where none does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.journal_builder import JournalBuilder
from voicetui.cli import run
from voicetui.commands import sessions_screen
from voicetui.journal.listing import list_sessions
from voicetui.journal.sift import Wanted
from voicetui.journal.target import target_refused

WRITERS = (
    ("compare", "SESSION", "SESSION", "--json", "TARGET"),
    ("replay", "SESSION", "--json", "TARGET"),
    ("replay", "SESSION", "--redecide", "--json", "TARGET"),
    ("replay", "SESSION", "--rerun", "--json", "TARGET"),
    ("sessions", "--json", "TARGET"),
    ("export", "SESSION", "--as", "csv", "-o", "TARGET"),
    ("report", "SESSION", "-o", "TARGET"),
)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    folder = tmp_path / "recordings" / "one"
    folder.mkdir(parents=True)
    JournalBuilder().opened().ready().turn("What time is it?", ["It is noon."]).closed().write(folder / "journal.jsonl")
    return folder


@pytest.mark.parametrize("command", WRITERS, ids=" ".join)
@pytest.mark.parametrize("through_a_link", [False, True], ids=["there", "linked"])
def test_no_command_writes_among_a_sessions_own_files(
    command: tuple[str, ...], through_a_link: bool, session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = session / "journal.jsonl"
    before, target = journal.read_bytes(), journal
    if through_a_link:
        target = tmp_path / "mine.json"
        target.symlink_to(journal)
    names = {"SESSION": str(session), "TARGET": str(target)}
    assert run([names.get(word, word) for word in command]) == 2
    assert "among a session's own files" in capsys.readouterr().err
    assert journal.read_bytes() == before and (target.is_symlink() or not through_a_link)


@pytest.mark.parametrize("way", [[], ["--redecide"], ["--rerun"]], ids=" ".join)
def test_replay_takes_no_dash_for_a_file(
    way: list[str], session: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["replay", str(session), *way, "--json", "-"]) == 2
    assert "--json takes a file" in capsys.readouterr().err and not (tmp_path / "-").exists()


def test_the_screen_comes_back_though_a_session_cannot_be_opened(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = list_sessions(session.parent, tmp_path / "cache.json")[0]
    (session / "journal.jsonl").unlink()
    answers = [(0, gone), (0, None)]
    monkeypatch.setattr(sessions_screen, "run_sessions", lambda *_: answers.pop(0))
    monkeypatch.setattr(sessions_screen, "list_sessions", lambda *_: [])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert sessions_screen.show(session.parent, Wanted(), "date", None) == 0
    assert not answers and "voicetui: " in capsys.readouterr().err


def test_a_place_where_nobody_may_write_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voicetui.journal.target.os.access", lambda *_: False)
    assert "may not be written by you" in target_refused(tmp_path / "figures.json")
