"""The sample sessions that come with the checkout: whole, small, and with nothing in them of whoever recorded them."""

from __future__ import annotations

import getpass
import json
import socket
from pathlib import Path

import pytest

from tests.sessions.samples import KEPT, RECORDINGS, SAMPLES, Sample
from tests.sessions.test_command_line import voicetui
from voicetui.events.orders import EndTurn
from voicetui.journal.recorded import open_recorded
from voicetui.rehearse.rerun import plan
from voicetui.sound.wav import read_parts
from voicetui.views.summary import summarise

MOST_BYTES = 1_250_000
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


@each_sample
def test_a_sample_is_whole_and_small(sample: Sample) -> None:
    session = open_recorded(RECORDINGS / sample.name)
    assert not session.problems
    assert session.opened is not None and session.opened.session == session.name == sample.name
    assert {path.name for path in session.folder.iterdir()} == set(KEPT)
    assert sum(path.stat().st_size for path in session.folder.iterdir()) < MOST_BYTES
    user, reply = (read_parts(session.folder, stem)[0] for stem in ("user", "reply"))
    assert len(user) == len(reply) and abs(user).max() > 3000 and abs(reply).max() > 3000


@each_sample
def test_a_sample_tells_nothing_of_the_machine_it_was_made_on(sample: Sample) -> None:
    text = (RECORDINGS / sample.name / "journal.jsonl").read_text()
    names = {name for name in (socket.gethostname(), getpass.getuser()) if len(name) > 3}
    private = ("/home/", "/root", "/tmp", "/Users/", "\\\\Users", "/work", "/mnt", str(Path.home()), *names)
    assert not [each for each in private if each in text]


def test_the_call_is_a_good_one() -> None:
    summary = summarise(open_recorded(RECORDINGS / "sample-call").entries)
    assert [turn["outcome"] for turn in summary["turns"]] == ["completed"] * 3
    assert summary["gap_ms"]["n"] == 3 and not summary["cut_offs"] and not summary["faults"]
    assert all(turn["speculation"]["kept"] for turn in summary["turns"])


def test_the_other_has_a_backchannel_a_barge_in_and_a_fault() -> None:
    session = open_recorded(RECORDINGS / "sample-trouble")
    summary = summarise(session.entries)
    assert [turn["outcome"] for turn in summary["turns"]] == ["interrupted", "completed", "failed"]
    assert [each["reason"] for each in summary["rejected"]] == ["backchannel"]
    assert summary["turns"][0]["barge_in"]["kind"] == "bid"
    assert any("127.0.0.1:9" in fault["message"] for fault in summary["faults"])
    pieces = plan(session.entries, len(read_parts(session.folder, "user")[0])).pieces
    assert [piece.when for piece in pieces] == ["idle", "reply", "reply", "idle"]


@pytest.mark.models
@pytest.mark.timeout(120)
def test_the_beginning_of_the_call_is_run_again_on_real_models(tmp_path: Path) -> None:
    """Two turns: enough to hear the recorded person, their words, and their pause in mid-sentence."""
    sample = RECORDINGS / "sample-call"
    ends = [entry.seq for entry in open_recorded(sample).entries if isinstance(entry.body, EndTurn)]
    old = tmp_path / "kept" / "short"
    old.mkdir(parents=True)
    lines = (sample / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (old / "journal.jsonl").write_bytes(b"".join(lines[: ends[1] + 2]))
    (old / "user.wav").write_bytes((sample / "user.wav").read_bytes())
    (tmp_path / "voicetui.toml").write_text('[record]\nfolder = "kept"\n')
    done = voicetui("replay", "short", "--rerun", "--json", "out.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["parent"] == "sample-call" and not found["missed_barge_ins"]
    assert [turn["outcome"] for turn in found["turns"]] == ["completed", "completed"]
    assert found["comparison"]["word_errors"] == 0 and found["comparison"]["words"] == 12
    (new,) = (tmp_path / "kept").glob("2*")
    again = open_recorded(new)
    assert again.opened is not None and again.opened.parent == "sample-call" and again.opened.source == "rerun"
    assert f"new session {new.name} " in done.stdout and "turns 2 -> 2" in done.stdout
