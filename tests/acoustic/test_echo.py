"""On loudspeakers: the microphone hears the speaker, and the program neither answers nor interrupts itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.acoustic.again import once_more
from tests.acoustic.conftest import Rig
from tests.acoustic.test_conversation import LONG, SHORT, Line, hold

pytestmark = [
    pytest.mark.usefixtures("canceller_package"),
    pytest.mark.acoustic,
    pytest.mark.models,
    pytest.mark.timeout(400),
]

DELAY_MS = 120


def converse(rig: Rig, lines: Sequence[Line], folder: Path, percent: int) -> None:
    """Hold a conversation with an echo; every turn is a person's, and only a person stops a reply."""
    rig.echo(True, DELAY_MS, percent)
    try:
        summary, _ = hold(lines, folder)
    finally:
        rig.echo(False)
    (journal,) = folder.glob("kept/*/journal.jsonl")
    bodies = [json.loads(line).get("body", {}) for line in journal.read_text("utf-8").splitlines()]

    def of(kind: str) -> list[dict[str, Any]]:
        return [body for body in bodies if body.get("type") == kind]

    turns = summary["turns"]
    assert isinstance(turns, list)
    assert of("session_opened")[0]["echo"] == "cancelled"
    for line, turn in zip(lines, turns, strict=False):
        stop_ms = (turn["barge_in"] or {}).get("stop_ms")
        print(line.clip, turn["outcome"], "gap", turn["gap_ms"], "stop", stop_ms, repr(turn["user_text"]))
    for echo in of("echo_measured"):
        print(echo)
    assert len(turns) == len(lines), [turn["user_text"] for turn in turns]
    assert summary["rejected"] == [] and not of("change_duplex")
    over = [number for number, line in enumerate(lines) if line.over_ms is not None]
    outcomes = ["interrupted" if number + 1 in over else "completed" for number in range(len(lines))]
    assert [turn["outcome"] for turn in turns] == outcomes
    assert {duck["basis"][0] for duck in of("duck")} == set(over), "ducked for a person, and for nothing else"
    assert len(of("echo_measured")) <= len(lines)
    for echo in of("echo_measured"):
        assert echo["left_dbfs"] - echo["played_dbfs"] <= -40.0


def test_three_turns_and_a_barge_in_beside_its_own_echo(rig: Rig, tmp_path: Path) -> None:
    once_more(lambda folder: converse(rig, SHORT[:3], folder, 25), tmp_path)


@pytest.mark.long
def test_ten_turns_and_three_barge_ins_beside_its_own_echo(rig: Rig, tmp_path: Path) -> None:
    converse(rig, LONG, tmp_path, 25)


@pytest.mark.long
def test_an_echo_that_is_13_db_down_is_cancelled_as_well(rig: Rig, tmp_path: Path) -> None:
    converse(rig, SHORT, tmp_path, 60)
