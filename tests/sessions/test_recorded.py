"""Sessions are found by what people call them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.journal_builder import JournalBuilder
from voicetui.journal.recorded import RecordedError, find_session, open_recorded, session_folders


def written(recordings: Path, *names: str) -> None:
    for name in names:
        journal = JournalBuilder().opened().ready()
        journal.turn("What time is it?", ["It is noon."])
        journal.closed()
        (recordings / name).mkdir(parents=True)
        journal.write(recordings / name / "journal.jsonl")


def test_a_session_is_found_by_path_name_beginning_and_as_the_latest(tmp_path: Path) -> None:
    written(tmp_path, "20260101T000000Z-local", "20260102T000000Z-fast")
    newest = tmp_path / "20260102T000000Z-fast"
    for called in (str(newest), str(newest / "journal.jsonl"), newest.name, "20260102", "latest"):
        assert find_session(called, tmp_path) == newest
    assert [folder.name for folder in session_folders(tmp_path)] == ["20260101T000000Z-local", newest.name]


def test_the_latest_is_the_newest_by_its_time_whatever_else_is_called(tmp_path: Path) -> None:
    written(tmp_path, "20260101T000000Z-local", "sample-call")
    assert find_session("latest", tmp_path).name == "20260101T000000Z-local"
    written(tmp_path / "other", "renamed", "sample-call")
    assert find_session("latest", tmp_path / "other").name == "sample-call"


def test_what_is_no_session_is_said_with_what_to_do(tmp_path: Path) -> None:
    written(tmp_path, "20260101T000000Z-local", "20260102T000000Z-fast")
    (tmp_path / "empty").mkdir()
    for called, says in (("202601", "2 sessions"), (str(tmp_path / "empty"), "no session"), ("x", "voicetui sessions")):
        with pytest.raises(RecordedError, match=says):
            find_session(called, tmp_path)
    with pytest.raises(RecordedError, match="no session"):
        find_session("latest", tmp_path / "nowhere")


def test_whatever_is_typed_is_no_session_and_no_crash(tmp_path: Path) -> None:
    for called in ("~nobody-of-that-name", "x" * 300, "x\0", "", "~"):
        with pytest.raises(RecordedError):
            find_session(called, tmp_path)


def test_a_session_has_its_name_where_the_shell_stands_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "20260101T000000Z-local")
    folder = tmp_path / "20260101T000000Z-local"
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder)
    assert [find_session(called, tmp_path).name for called in (".", "journal.jsonl")] == [folder.name] * 2
    monkeypatch.chdir(folder / "inner")
    assert find_session("..", tmp_path).name == folder.name


def test_a_session_opens_with_what_it_began_with(tmp_path: Path) -> None:
    written(tmp_path, "20260101T000000Z-local")
    session = open_recorded(tmp_path / "20260101T000000Z-local")
    assert session.opened is not None and session.opened.tier == "local"
    assert session.name == "20260101T000000Z-local" and not session.written
    assert [problem.told for problem in session.problems] == ["user.wav: is missing", "reply.wav: is missing"]
