"""A conversation on loudspeakers, run again: the recorded microphone heard the old replies, the new one does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acoustic.again import once_more
from tests.acoustic.conftest import Rig
from tests.acoustic.test_conversation import SHORT, hold
from tests.sessions.test_command_line import voicetui

pytestmark = [
    pytest.mark.usefixtures("canceller_package"),
    pytest.mark.acoustic,
    pytest.mark.models,
    pytest.mark.long,
    pytest.mark.timeout(400),
]

DELAY_MS = 120


def hold_twice(rig: Rig, folder: Path, pace: str) -> None:
    """A conversation beside its own echo, then the same without a microphone."""
    rig.echo(True, DELAY_MS, 25)
    try:
        old, _ = hold(SHORT[:3], folder)
    finally:
        rig.echo(False)
    done = voicetui("replay", "latest", "--rerun", "--pace", pace, "--json", "again.json", cwd=folder)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stderr
    new = json.loads((folder / "again.json").read_text())
    turns = old["turns"]
    assert isinstance(turns, list) and len(new["turns"]) == len(turns)
    assert new["comparison"]["word_errors"] <= 1
    if pace == "turn":
        assert [turn["outcome"] for turn in new["turns"]] == [turn["outcome"] for turn in turns]
        assert new["rejected"] == [] and not new["missed_barge_ins"]


@pytest.mark.parametrize("pace", ["turn", "tape"])
def test_only_the_person_is_heard_again(rig: Rig, tmp_path: Path, pace: str) -> None:
    once_more(lambda folder: hold_twice(rig, folder, pace), tmp_path)
