"""Where commands on recorded sessions write, and where none does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.journal_builder import JournalBuilder
from voicetui.cli import run

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
