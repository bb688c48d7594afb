"""Journals that earlier programs wrote are read for ever: nothing of them is lost, and their figures stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.adapters.test_damaged import fold_all
from tests.old_formats.frozen import FROZEN, summary_file, summary_text
from voicetui.journal.codec import FORMAT, Header, decode, encode
from voicetui.journal.read import read_journal

pytestmark = pytest.mark.parametrize("journal", FROZEN, ids=lambda path: path.stem)


def lost(old: Any, new: Any, where: str = "") -> list[str]:
    """What ``old`` says and ``new`` does not, or says otherwise. A number is a number, with or without a fraction."""
    if isinstance(old, dict) and isinstance(new, dict):
        gone = [f"{where}.{key}" for key in old if key not in new]
        return gone + [each for key in old if key in new for each in lost(old[key], new[key], f"{where}.{key}")]
    if isinstance(old, list) and isinstance(new, list) and len(new) >= len(old):
        return [each for place, item in enumerate(old) for each in lost(item, new[place], f"{where}[{place}]")]
    return [] if old == new else [f"{where}: {old!r} is now {new!r}"]


def test_there_are_frozen_journals_of_every_format(journal: Path) -> None:
    assert {int(path.stem.split("-")[1]) for path in FROZEN} == set(range(1, FORMAT + 1))


def test_every_entry_is_read_and_no_field_of_it_is_lost(journal: Path) -> None:
    lines = journal.read_bytes().splitlines()
    read = read_journal(journal)
    assert read.problems == () and len(read.entries) == len(lines) - 1
    assert isinstance(decode(lines[0]), Header)
    gone = [
        f"entry {entry.seq}{each}"
        for line, entry in zip(lines[1:], read.entries, strict=True)
        for each in lost(msgspec.json.decode(line), msgspec.json.decode(encode(entry)))
    ]
    assert gone == []


def test_the_summary_is_what_it_was(journal: Path) -> None:
    """More may be told than then, but nothing less, and nothing otherwise."""
    was = msgspec.json.decode(summary_file(journal).read_bytes())
    assert lost(was, msgspec.json.decode(summary_text(journal))) == [], "if meant: python -m tests.old_formats"


def test_every_view_of_it_can_be_made(journal: Path) -> None:
    fold_all(read_journal(journal).entries)
