"""Text from outside is shown literally, and never obeyed."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicetui.tui.ink import Run, clip_runs, spread, wrap_runs
from voicetui.tui.literal import clip, clusters, fit, literal, width

FAMILY = "👩\u200d👩\u200d👧\u200d👦"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
WIDE = [
    "🌍",
    "⚙️",
    "⚙",
    FAMILY,
    "🇫🇷",
    ENGLAND,
    "👩🏽\u200d🚀",
    "❤️\u200d🔥",
    "1️⃣",
    "क्\u200dष",
    "می\u200cخواهم",
    "e\u0301",
    "日",
    "日本語のテキスト",
    "a🌍b",
    "שלום",
    "مرحبا",
]


def text_of(runs: Iterable[Run]) -> str:
    return "".join(run.text for run in runs)


@pytest.mark.parametrize(
    "text", ["[/path]", "[/]", "[data: /m?id=609b-]", "[INST]", "[link]", "list[int]", "arr[0]", "[1, 2]"]
)
def test_brackets_are_letters(text: str) -> None:
    assert literal(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A\x1b[2J", "A␛[2J"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x1b]0;t\x07", "␛]0;t␇"),
        ("\x1b[6n", "␛[6n"),
        ("\x1bc", "␛c"),
        ("\x1b]", "␛]"),
        ("a\tb\r\nc", "a b  c"),
        ("a\x9b31mb", "a31mb"),
        ("x\x7fy\x00", "x␡y␀"),
        ("safe\u202etxt.exe", "safetxt.exe"),
        ("zero\u200bwidth", "zerowidth"),
        ("lone \ud83d half", "lone \ufffd half"),
        ("\x1bP1$r q\x1b\\", "␛P1$r q␛\\"),
        ("\x1b]8;;http://a\x07link\x1b]8;;\x07", "␛]8;;http://a␇link␛]8;;␇"),
        ("\x90q\x9c\x9d0;t\x9c\x85", "q0;t "),
        ("a\u2066\u2067\u2068\u2069\u200f\u061cb", "ab"),
        ("soft\u00adhyphen\u3164\u115f", "softhyphen"),
        ("a\u200db", "ab"),
        ("a\U000e0041\U000e0042b", "ab"),
        ("Z" + "\u0301" * 500 + "o", "Z" + "\u0301" * 6 + "o"),
        ("\u0301a", "\u25cc\u0301a"),
    ],
)
def test_controls_are_seen_or_gone(text: str, shown: str) -> None:
    assert literal(text) == shown


@given(st.text())
def test_nothing_a_terminal_obeys_survives(text: str) -> None:
    shown = literal(text)
    assert not any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in shown)
    shown.encode("utf-8")
    assert literal(shown) == shown


@pytest.mark.parametrize("text", WIDE)
def test_what_is_readable_stays(text: str) -> None:
    assert literal(text) == text


@pytest.mark.parametrize("text", [text * 3 for text in WIDE])
def test_cutting_counts_cells_and_never_cuts_inside_a_cluster(text: str) -> None:
    whole = {cluster for cluster, _ in clusters(text)}
    for cells in range(1, 14):
        short = clip(text, cells)
        assert width(short) <= cells
        assert all(cluster in whole or cluster == "…" for cluster, _ in clusters(short))
        assert width(fit(text, cells)) == cells


@given(st.text(alphabet=st.sampled_from("ab 🌍日e\u0301x"), max_size=40), st.integers(2, 20))
def test_wrapped_lines_fit_and_keep_every_letter(text: str, cells: int) -> None:
    lines = ["".join(run.text for run in line) for line in wrap_runs([Run(text)], cells)]
    assert all(width(line) <= cells for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_lines_break_at_spaces() -> None:
    lines = wrap_runs([Run("one two "), Run("three", "struck"), Run(" four")], 9)
    assert [text_of(line) for line in lines] == ["one two", "three", "four"]
    assert lines[1][0] == Run("three", "struck")


def test_the_first_line_may_be_shorter() -> None:
    lines = wrap_runs([Run("aaa bbb ccc ddd")], 11, 4)
    assert [line[0].text.strip() for line in lines] == ["aaa", "bbb ccc ddd"]


def test_ends_are_spread_and_the_left_one_gives_way() -> None:
    row = spread([Run("left left left")], [Run("right")], 12)
    assert text_of(row) == "left…  right"


def test_clipped_runs_end_with_an_ellipsis() -> None:
    assert text_of(clip_runs([Run("abc"), Run("def")], 5)) == "abcd…"
    assert text_of(clip_runs([Run("abc"), Run("def")], 6)) == "abcdef"
