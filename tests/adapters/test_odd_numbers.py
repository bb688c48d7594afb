"""A session in whose journal any one number is none, or cannot be: every view of it can be made."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.test_damaged import conversation, fold_all
from voicetui.journal.read import read_journal

Place = tuple[int, tuple[str | int, ...]]


def numbers(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all numbers in a JSON value."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from numbers(each, (*path, name))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from numbers(each, (*path, place))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path


def places(lines: list[dict[str, Any]]) -> list[Place]:
    """One number for each field of each kind of entry."""
    found: dict[tuple[object, ...], Place] = {}
    for number, line in enumerate(lines):
        kind = line.get("body", {}).get("type", "")
        if kind == "session_opened":
            continue
        for path in numbers(line):
            found.setdefault((kind, *(name for name in path if isinstance(name, str))), (number, path))
    return list(found.values())


@pytest.mark.parametrize("odd", [1e308, -1e308, None])
def test_with_any_one_number_out_of_reach_every_view_can_be_made(tmp_path: Path, odd: float | None) -> None:
    path = conversation().write(tmp_path / "journal.jsonl")
    text = path.read_text("utf-8").splitlines()
    lines = [json.loads(line) for line in text]
    tried = places(lines)
    assert len(tried) > 60
    for number, where in tried:
        changed = json.loads(text[number])
        inner = changed
        for name in where[:-1]:
            inner = inner[name]
        inner[where[-1]] = odd
        path.write_text("\n".join([*text[:number], json.dumps(changed), *text[number + 1 :]]) + "\n", "utf-8")
        fold_all(read_journal(path).entries)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999", "0x10", "01", "1."])
def test_what_is_no_json_number_costs_its_own_line_alone(tmp_path: Path, token: str) -> None:
    path = conversation().write(tmp_path / "journal.jsonl")
    lines = path.read_bytes().split(b"\n")
    whole = read_journal(path).entries
    at = str(json.loads(lines[9])["at"]).encode()
    assert lines[9].count(b'"at":' + at) == 1
    lines[9] = lines[9].replace(b'"at":' + at, b'"at":' + token.encode())
    path.write_bytes(b"\n".join(lines))
    read = read_journal(path)
    lost = [entry for entry in whole if entry not in read.entries]
    assert len(lost) <= 1
    assert len(read.problems) == len(lost) == 1 or math.isinf(float(token))
    fold_all(read.entries)
