"""``voicetui compare`` as a person meets it: what is printed, the JSON, messages and exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.journal_builder import COMMIT_EARLY, SEQUENTIAL, JournalBuilder
from voicetui.cli import run
from voicetui.events.orders import IMPORTED
from voicetui.events.session import Overlap

ASKED = ("What is the capital of France?", "And of Italy?", "How do I make a cup of tea?", "Who was Albert Einstein?")


def written(folder: Path, overlap: Overlap, *, extra: bool = False) -> str:
    """A golden session of nine turns or more in a folder of its own."""
    journal = JournalBuilder().opened(overlap=overlap).ready()
    for text in (*ASKED, *ASKED, ASKED[0]):
        journal.turn(text, ["It is a short answer."], COMMIT_EARLY if overlap == "full" else SEQUENTIAL)
    if extra:
        journal.barge_in("Name three fruits \x1b[31m", ["Apples, pears and plums. ", "All three grow well. "])
    journal.closed()
    folder.mkdir()
    journal.write(folder / "journal.jsonl")
    return str(folder)


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.setenv("COLUMNS", "80")
    return written(tmp_path / "slow-session", "none"), written(tmp_path / "fast-session", "full", extra=True)


def test_two_sessions_side_by_side(two: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", *two, "--words"]) == 0
    told = capsys.readouterr().out
    lines = told.splitlines()
    assert max(map(len, lines)) <= 80 and all(line == line.rstrip() for line in lines)
    told = " ".join(told.split())
    assert "what differs: overlap none → full" in told
    assert "9 turns in A, 11 in B: 9 pairs; only in B: turn 10, 11." in told
    assert any(
        "What is the capital" in line and "940 ▲" in line and "430 ◆" in line and "−510" in line for line in lines
    )
    assert ["gap", "940", "430", "−510", "−510", "to", "−510", "8"] in [line.split() for line in lines]
    assert "left out: 1 cold, 2 no counterpart" in told
    assert "B's gaps are shorter than A's in these two sessions" in told
    assert "Not interleaved" in told and "voicetui bench overlap" in told
    assert not any("\x1b" in line for line in lines), "neither colour in a pipe nor what a transcript holds"


def test_the_json_goes_to_a_file_or_to_stdout_alone(
    two: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "compared.json"
    assert run(["compare", *two, "--json", str(path)]) == 0
    assert "turn by turn" in capsys.readouterr().out
    values = json.loads(path.read_text("utf-8"))
    assert values["schema"] == 1 and values["comparisons"][0]["figures"]["gap"]["median_ms"] == -510.0
    assert values["sessions"][1]["summary"]["overlap"] == "full"
    assert run(["compare", *two, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == values


def test_three_sessions_are_each_compared_with_the_first(
    two: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *two, two[0]]) == 0
    told = capsys.readouterr().out
    assert "B against A" in told and "C against A" in told and "A and C are the same session" in told


def test_colour_only_on_a_terminal_that_wants_it(two: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from voicetui.commands.compare_text import show_rows
    from voicetui.tui.ink import row

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    show_rows([row(("430 ◆", "band-quick"))], coloured := Terminal(), 80)
    monkeypatch.setenv("NO_COLOR", "1")
    show_rows([row(("430 ◆", "band-quick"))], plain := Terminal(), 80)
    assert "\x1b[" in coloured.getvalue() and plain.getvalue() == "430 ◆\n"


def test_a_torn_session_is_compared_as_far_as_it_goes(two: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    journal = Path(two[1]) / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-7])
    assert run(["compare", *two]) == 0
    told = capsys.readouterr()
    assert "fast-session" in told.err and "9 pairs" in told.out


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["latest"], 2, "two sessions or more"),
        (["no-such-session", "latest"], 1, "There is no session 'no-such-session'"),
        (["latest", "latest", "--screen"], 2, "this is no terminal"),
        (["a", "b", "--json", "/no/such/folder/x.json"], 2, "its folder does not exist"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_sentence(
    arguments: list[str], status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *arguments]) == status
    told = capsys.readouterr()
    assert says in told.err and not told.out and "Traceback" not in told.err


def test_hostile_names_and_words_do_not_reach_the_terminal(two: tuple[str, str], tmp_path: Path) -> None:
    from voicetui.bench.compared import compare_all
    from voicetui.commands.compare_text import comparison_rows
    from voicetui.journal.recorded import open_recorded
    from voicetui.views.compare import fold_session

    found = [fold_session(f"\x1b]0;{folder}", open_recorded(Path(folder)).entries) for folder in two]
    rows = comparison_rows(found, compare_all(found), 120, True)
    assert all("\x1b" not in each.text for each in rows)


def test_what_no_imported_call_tells_is_no_nought(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = JournalBuilder().opened(IMPORTED).ready().turn("Hello.", ["Hello."]).closed()
    (tmp_path / "call").mkdir()
    call.write(tmp_path / "call" / "journal.jsonl")
    assert run(["compare", str(tmp_path / "call"), written(tmp_path / "own", "none")]) == 0
    rows = {line[:18].strip(): line[18:].split() for line in capsys.readouterr().out.splitlines()}
    assert [rows[name] for name in ("cut-offs", "tokens wasted", "ms saved")] == [["–", "0"]] * 3


def test_a_session_that_lost_its_beginning_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lost").mkdir()
    (tmp_path / "lost" / "journal.jsonl").touch()
    assert run(["compare", str(tmp_path / "lost"), written(tmp_path / "own", "none")]) == 0
    assert capsys.readouterr().out.startswith("A  lost   tier and overlap not known, 0 turns")
