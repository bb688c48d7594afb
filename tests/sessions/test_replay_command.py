"""`voicetui replay`: lines without a screen, and what it says when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.journal_builder import JournalBuilder
from voicetui.cli import run
from voicetui.events.session import Fault


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A recorded session of two turns, whose last line was cut by a crash."""
    journal = JournalBuilder().opened().ready()
    journal.turn("What time is it?", ["It is noon."])
    journal.turn("Thank you.", ["You are welcome."])
    journal.add(Fault("tier", "bad \x1b[31m words"))
    folder = tmp_path / "20260101T000000Z-local"
    folder.mkdir()
    path = folder / "journal.jsonl"
    journal.write(path)
    with path.open("ab") as file:
        file.write(b'{"seq":9999,"at":1.0,"bo')
    return folder


def test_without_a_screen_it_prints_what_the_session_would_have(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = session.parent / "summary.json"
    assert run(["replay", str(session), "--headless", "--json", str(wanted)]) == 0
    out, talk = capsys.readouterr()
    assert [line.split("  ")[0] for line in out.splitlines()] == ["turn 1", "turn 2"]
    assert "'What time is it?' -> 'It is noon.'" in out
    assert "median gap" in talk and "the last line is incomplete" in talk and "\x1b" not in talk
    assert len(json.loads(wanted.read_text("utf-8"))["turns"]) == 2
    assert (session / "journal.jsonl").read_bytes().endswith(b'"bo'), "nothing is rewritten"


def test_what_it_is_called_wrong_with_is_said(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(session / "nothing")]) == 1
    assert "no session" in capsys.readouterr().err
    assert run(["replay", str(session), "--headless", "--json", str(session / "no" / "x.json")]) == 2
    for way in ([], ["--redecide"]):
        for flags in (["--tier", "fast"], ["--pace", "tape"], ["--no-record"]):
            assert run(["replay", str(session), "--headless", *way, *flags]) == 2
            assert f"{flags[0]} changes nothing in what was recorded" in capsys.readouterr().err
    assert run(["replay", str(session)]) == 2
    assert "--headless" in capsys.readouterr().err
