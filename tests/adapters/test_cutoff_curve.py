"""The curve's own arithmetic, and a small part of it with the real models."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acoustic.cutoff_curve import Edge, Heard, Models, decided, heard_as, tally, with_pause
from tests.adapters.pausing import FINISHED, PAUSED

QUESTION = "How long does it take to boil an egg?"
CLIP = Heard(
    "How long does it take | to boil an egg?",
    "nobody",
    False,
    2000.0,
    (
        Edge("started", 600, 700),
        Edge("paused", 2000, 2110, "How long does it", "", 0.03),
        Edge("started", 2700, 2790),
        Edge("paused", 3500, 3610, QUESTION, "", 0.97),
    ),
)


def test_a_clip_is_decided_as_if_its_pause_had_another_length() -> None:
    edges = with_pause(CLIP, 400).edges
    assert [edge.at_ms for edge in edges] == [600, 2000, 2400, 3200]
    assert [edge.noticed_ms for edge in edges] == [700, 2110, 2490, 3310]


def test_commits_come_when_the_rules_would_give_them() -> None:
    ((at_ms, commit),) = decided(CLIP.edges, turn_end="model")
    assert (at_ms, commit.text, commit.silence_ms) == (3740, QUESTION, 240)
    assert [at_ms for at_ms, _ in decided(CLIP.edges, silence_ms=400)] == [2400, 3900]


def test_cut_offs_and_waits_are_counted() -> None:
    finished = Heard(QUESTION, "nobody", False, None, CLIP.edges[2:])
    found = tally([CLIP, finished], silence_ms=450)
    assert (found.pauses, found.cut_offs, found.short, found.short_cut_offs) == (7, 5, 5, 3)
    assert found.heard == 3, "a reply needs 600 ms: up to such a pause the turn is taken back unheard"
    assert found.delays_ms == [450]


@pytest.mark.models
def test_the_model_often_answers_in_half_the_time_of_silence_and_cuts_off_less(
    piper_path: Path, smart_turn_path: Path
) -> None:
    models = Models()
    clips = [heard_as(models, sentence, "rms") for sentence in (*PAUSED[10:20:2], *FINISHED[:6])]
    silence, model = tally(clips, silence_ms=500), tally(clips, turn_end="model")
    assert sorted(model.delays_ms)[2] <= 250 < min(silence.delays_ms)
    assert model.cut_offs < silence.cut_offs and model.heard < silence.heard
