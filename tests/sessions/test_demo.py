"""The demo is the product's main job: the real pipeline, every turn's words as they are shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.sessions.test_command_line import ROOT, voicetui
from voicetui.events.words import normalise_words
from voicetui.journal.read import read_journal
from voicetui.sound.wav import read_parts
from voicetui.views.latency import fold_latency
from voicetui.views.summary import summarise

pytestmark = [pytest.mark.models, pytest.mark.timeout(200)]

CONFIG = """
[record]
folder = "kept"

[[tiers]]
name = "local"
kind = "local"
model = "smollm2-135m-instruct"
max_tokens = 24
extra = { stop = ["\\n"] }
"""
TURNS = [
    ("What is the capital of France?", "The capital of France is Paris.", "completed"),
    ("What is the capital of Italy?", "The capital of Italy is Rome.", "completed"),
    ("Do you know the largest planet?", "The largest planet in our solar system is Jupiter.", "completed"),
    (
        "Tell me who Albert Einstein was.",
        "Albert Einstein was a German physicist who made groundbreaking discoveries in physics.",
        "completed",
    ),
    ("How do I make a cup of tea?", "To make a cup of tea, you need to", "interrupted"),
    ("Stop what is the capital of Japan?", "The capital of Japan is Tokyo.", "completed"),
    ("Thank you, that was helpful.", "I'm glad I could help.", "completed"),
]
"""What each turn's user says, what its reply holds, and how it ends."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The demo's lines without a screen, by a person who never loses patience: the summary and the session's folder."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "voicetui.toml").write_text(CONFIG)
    script = (ROOT / "assets" / "scenarios" / "demo.toml").read_text()
    lines = [line for line in script.splitlines() if not line.startswith("impatient")]
    (folder / "patient.toml").write_text("\n".join(lines).replace("../clips", str(ROOT / "assets" / "clips")))
    done = voicetui("run", "patient.toml", "--json", "out.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "nothing will be heard" in done.stderr
    (session,) = (folder / "kept").iterdir()
    return json.loads((folder / "out.json").read_text()), session


def test_every_turn_has_the_shipped_words(demo: tuple[dict[str, Any], Path]) -> None:
    turns = demo[0]["turns"]
    heard = [(normalise_words(turn["user_text"]), turn["outcome"]) for turn in turns]
    assert heard == [(normalise_words(user), outcome) for user, _, outcome in TURNS]
    for turn, (_, reply, _) in zip(turns, TURNS, strict=True):
        assert reply in turn["reply_text"]
        if turn["outcome"] == "completed":
            assert turn["heard_text"].strip() == turn["reply_text"].strip()
        else:
            assert turn["reply_text"].startswith(turn["heard_text"].strip())
            assert len(turn["heard_text"]) < len(turn["reply_text"])


def test_the_backchannel_is_none_and_the_barge_in_is_one(demo: tuple[dict[str, Any], Path]) -> None:
    summary, _ = demo
    kinds = [(turn["turn"], turn["barge_in"]["kind"]) for turn in summary["turns"] if turn["barge_in"]]
    assert kinds == [(4, "backchannel"), (5, "bid")]
    assert [each["reason"] for each in summary["rejected"]] == ["backchannel"]
    assert summary["cut_offs"] == 0


def test_every_gap_adds_up_to_its_parts(demo: tuple[dict[str, Any], Path]) -> None:
    summary, session = demo
    assert summary["gap_ms"]["n"] == len(TURNS)
    for turn in summary["turns"]:
        assert sum(turn["stages_ms"].values()) == pytest.approx(turn["gap_ms"], abs=0.01)
    assert len(fold_latency(read_journal(session).entries)) == len(TURNS)


def test_the_session_on_disk_tells_the_same(demo: tuple[dict[str, Any], Path]) -> None:
    summary, session = demo
    journal = read_journal(session)
    assert not journal.problems
    assert summarise(journal.entries) == summary
    user, _ = read_parts(session, "user")
    reply, _ = read_parts(session, "reply")
    assert len(user) == len(reply)
    assert abs(user).max() > 3000
    assert abs(reply).max() > 3000
    assert (session / "log.txt").exists()


@pytest.mark.long
def test_the_demo_itself_runs_to_its_end(tmp_path: Path) -> None:
    done = voicetui("demo", "--headless", "--no-record", "--json", "out.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    summary = json.loads((tmp_path / "out.json").read_text())
    assert len(summary["turns"]) >= len(TURNS)
    assert done.stdout.count("turn ") >= len(TURNS)
    assert not list(tmp_path.glob("recordings/*"))
