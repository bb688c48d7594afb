"""Whole sessions on scripted parts: what the journal says, and that nothing is left behind."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.sessions.stage import Stage, WatchedTier, clip
from voicetui.events.orders import BargeIn, Commit, EndTurn
from voicetui.events.session import SessionClosed
from voicetui.events.speak import ClauseBegun, ClauseEnded, ClauseSynthesized, Discarded, SpeakerDry
from voicetui.rehearse.scenario import Line
from voicetui.speak.scripted import ScriptedVoice

SOUNDS = {
    name: clip(name) for name in ("capital-of-france", "capital-of-italy", "okay", "stop-capital-of-japan", "thank-you")
}


def test_two_turns_are_heard_recorded_and_closed(tmp_path: Path) -> None:
    stage = Stage(["What is the capital of France?", "What is the capital of Italy?"], folder=tmp_path / "s")
    lines = [Line(say=("capital-of-france",)), Line(say=("capital-of-italy",))]
    asyncio.run(stage.play(lines, SOUNDS))
    assert [entry.body.text for entry in stage.all(Commit)] == [
        "What is the capital of France?",
        "What is the capital of Italy?",
    ]
    assert [entry.body.outcome for entry in stage.all(EndTurn)] == ["completed", "completed"]
    assert isinstance(stage.entries[-1].body, SessionClosed)
    assert [entry.seq for entry in stage.entries] == list(range(len(stage.entries)))


def test_clauses_that_grow_are_heard_whole_and_in_order() -> None:
    answer = "The capital of France is Paris, a city of some two million people on the river Seine."
    voice = ScriptedVoice(part_ms=300.0)
    stage = Stage(["What is the capital of France?"], voice=voice)
    stage.tier = stage.parts.tiers["twin"] = WatchedTier(stage.clock, answer)  # type: ignore[index]
    asyncio.run(stage.play([Line(say=("capital-of-france",))], SOUNDS))
    begun = [entry.body.clause for entry in stage.all(ClauseBegun)]
    assert begun and begun == [entry.body.clause for entry in stage.all(ClauseSynthesized)]
    assert [entry.body.clause for entry in stage.all(ClauseEnded)] == begun
    (end,) = stage.all(EndTurn)
    assert (end.body.outcome, end.body.heard_text) == ("completed", answer)
    assert not stage.all(SpeakerDry, Discarded)


def test_a_barge_in_cuts_and_a_backchannel_does_not() -> None:
    stage = Stage(
        [
            "What is the capital of France?",
            "Okay.",
            "What is the capital of Italy?",
            "Stop. What is the capital of Japan?",
        ]
    )
    lines = [
        Line(say=("capital-of-france",)),
        Line(say=("okay",), when="reply", after_ms=500),
        Line(say=("capital-of-italy",)),
        Line(say=("stop-capital-of-japan",), when="reply", after_ms=700),
    ]
    asyncio.run(stage.play(lines, SOUNDS))
    assert [entry.body.kind for entry in stage.all(BargeIn)] == ["backchannel", "bid"]
    assert [entry.body.outcome for entry in stage.all(EndTurn)] == ["completed", "interrupted", "completed"]
