"""Notes that are looked up: what every kind of them does, and what becomes of a folder as people have it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from voicetui.events.reply import Passage
from voicetui.ports import Knowledge, StageError
from voicetui.reply.knowledge import PASSAGE_WORDS, FolderKnowledge, ScriptedKnowledge, passages_of
from voicetui.runtime.clock import ManualClock

OPENING, PARKING = (
    Passage("hours.md", "Opening: We open at nine."),
    Passage("where/parking.txt", "Park behind the house."),
)
HOSTILE = (
    '"',
    "'; DROP TABLE passages; --",
    "a OR",
    "NEAR(",
    "open*",
    "text:open",
    "(",
    "\0",
    "-open",
    "日本",
    "^a + b",
)


def folder(tmp_path: Path) -> Path:
    (tmp_path / "where").mkdir()
    (tmp_path / "hours.md").write_text("# Opening\n\nWe open at nine.\n")
    (tmp_path / "where" / "parking.txt").write_text("Park behind the house.\n")
    return tmp_path


def indexed(path: Path) -> tuple[FolderKnowledge, list[str]]:
    told: list[str] = []
    knowledge = FolderKnowledge(path, ManualClock(), told.append)
    knowledge.warm()
    return knowledge, told


@pytest.fixture(params=["folder", "scripted"])
def knowledge(request: pytest.FixtureRequest, tmp_path: Path) -> Knowledge:
    if request.param == "folder":
        return indexed(folder(tmp_path))[0]
    return ScriptedKnowledge({"open": OPENING, "park": PARKING})


def test_it_finds_what_fits_and_nothing_else(knowledge: Knowledge) -> None:
    assert knowledge.warm() >= 0
    assert knowledge.find("open", 2) == (OPENING,)
    assert set(knowledge.find("where do I park when you open", 5)) == {OPENING, PARKING}
    assert knowledge.find("elephants", 2) == ()
    assert knowledge.find("", 2) == ()


def test_the_same_question_gets_the_same_answer_in_the_same_order(knowledge: Knowledge) -> None:
    assert knowledge.find("open park", 2) == knowledge.find("park open", 2)
    assert len(knowledge.find("open park", 1)) == 1
    assert knowledge.find("open park", 0) == ()


@pytest.mark.parametrize("query", HOSTILE)
def test_a_question_may_hold_anything(knowledge: Knowledge, query: str) -> None:
    knowledge.find(query, 2)
    assert knowledge.find("open", 2) == (OPENING,), "and nothing was harmed"


def test_closing_twice_is_allowed(knowledge: Knowledge) -> None:
    knowledge.close()
    knowledge.close()


def test_a_folder_that_is_not_there_is_said_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="is not there") as caught:
        FolderKnowledge(tmp_path / "none", ManualClock(), print).warm()
    assert "knowledge.folder" in caught.value.remedy


def test_an_empty_folder_says_nothing(tmp_path: Path) -> None:
    knowledge, told = indexed(tmp_path)
    assert (knowledge.find("open", 2), told) == ((), [])


def _binary(path: Path) -> None:
    path.write_bytes(b"open \x00\xff\xfe")


def _huge(path: Path) -> None:
    path.write_text("open at ten " * 100_000)


def _latin(path: Path) -> None:
    path.write_bytes("ge\xf6ffnet open".encode("latin-1"))


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def _circular(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("spoil", [_binary, _huge, _latin, _dangling, _circular])
def test_a_file_that_cannot_be_used_is_named_and_the_others_are_used(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(folder(tmp_path) / "bad.md")
    knowledge, told = indexed(tmp_path)
    assert len(told) == 1 and str(tmp_path / "bad.md") in told[0]
    assert knowledge.find("open", 5) == (OPENING,)


def test_a_name_that_is_no_utf_8_costs_that_file_alone(tmp_path: Path) -> None:
    folder(tmp_path)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/ge\xf6ffnet.md")).write_text("open")
    knowledge, told = indexed(tmp_path)
    assert len(told) == 1 and "ge\\udcf6ffnet.md" in told[0] and told[0].encode()
    assert knowledge.find("open", 5) == (OPENING,)


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refuse(path: str) -> object:
        if Path(path).name == "where":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    knowledge, told = indexed(folder(tmp_path))
    assert len(told) == 1 and f"{tmp_path / 'where'} is left out" in told[0]
    assert knowledge.find("open", 5) == (OPENING,)


def test_many_files_that_cannot_be_used_are_told_once_and_all_are_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(5):
        _binary(tmp_path / f"bad{number}.md")
    _, told = indexed(tmp_path)
    assert len(told) == 1 and told[0].startswith("5 files or folders") and "bad0.md" in told[0] and "log" in told[0]
    assert all(f"bad{number}.md" in caplog.text for number in range(5))


def test_hidden_files_and_other_kinds_are_not_looked_at(tmp_path: Path) -> None:
    folder(tmp_path)
    (tmp_path / ".git").mkdir()
    for name in (".hidden.md", "program.py", ".git/notes.md"):
        (tmp_path / name).write_text("open")
    knowledge, told = indexed(tmp_path)
    assert (knowledge.find("open", 5), told) == ((OPENING,), [])


def test_other_forms_of_a_word_are_found(tmp_path: Path) -> None:
    assert indexed(folder(tmp_path))[0].find("opening hours parked", 5) != ()


def test_passages_are_bounded_and_keep_their_heading() -> None:
    text = "# One\n\n" + "word " * 400 + "\n## Two\nA sentence here. " + "Another one follows it there. " * 40
    found = passages_of(text)
    assert all(len(passage.split()) <= PASSAGE_WORDS + 12 for passage in found)
    assert {passage.split(":")[0] for passage in found} == {"One", "Two"}
    assert sum(passage.count("word") for passage in found) == 400


def test_a_better_passage_comes_alone_where_the_others_hardly_fit(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("The red bike costs ninety euros.\n")
    for number in range(8):
        (tmp_path / f"b{number}.md").write_text(f"A bike, number {number}, and much else that is not asked for.\n")
    knowledge, _ = indexed(tmp_path)
    assert [passage.source for passage in knowledge.find("price costs red bike", 3)] == ["a.md"]
