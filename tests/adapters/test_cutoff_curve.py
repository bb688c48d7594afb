"""The curve's own arithmetic, and a small part of it with the real models."""

from __future__ import annotations

from pathlib import Path

import msgspec
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
    (turn,) = decided(CLIP.edges, turn_end="model")
    assert (turn.at_ms, turn.commit.text, turn.commit.silence_ms) == (3740, QUESTION, 240)
    assert [turn.at_ms for turn in decided(CLIP.edges, silence_ms=400)] == [2400, 3900]


def test_the_words_score_is_that_of_the_pause_s_words() -> None:
    scores = {2000: 0.001, 3500: 0.6}
    edges = tuple(msgspec.structs.replace(edge, words_score=scores.get(int(edge.at_ms), 0.0)) for edge in CLIP.edges)
    (turn,) = decided(edges, turn_end="model", score_words=True)
    assert (turn.at_ms, turn.commit.score, turn.commit.words_score) == (3610 + 110 + 40, None, 0.6)


def test_a_turn_stays_open_for_its_reply_which_is_heard_no_later() -> None:
    (at_once,) = decided(CLIP.edges, turn_end="model")
    (held,) = decided(CLIP.edges, turn_end="model", reply_wait_ms=700)
    assert at_once.heard_ms == held.heard_ms == 3610 + 110 + 200 + 75 + 40
    assert (held.at_ms, held.commit.held_ms) == (3610 + 110 + 200 + 75, held.at_ms - at_once.at_ms)


def test_cut_offs_and_waits_are_counted() -> None:
    finished = Heard(QUESTION, "nobody", False, None, CLIP.edges[2:])
    found = tally([CLIP, finished], silence_ms=450)
    assert (found.pauses, found.cut_offs, found.short, found.short_cut_offs) == (7, 5, 5, 3)
    assert found.heard == 4, "a reply is heard after 535 ms: up to such a pause the turn is taken back unheard"
    assert (found.waits_ms, found.gaps_ms) == ([450], [535])
    at_once, held = (tally([CLIP], silence_ms=350, reply_wait_ms=wait_ms) for wait_ms in (0, 700))
    assert (at_once.cut_offs, held.cut_offs) == (6, 5), "a turn stays open for 495 ms, until its reply is there"
    assert at_once.heard == held.heard == 4


@pytest.mark.models
def test_the_model_often_answers_in_half_the_time_of_silence_and_cuts_off_less(
    piper_path: Path, smart_turn_path: Path
) -> None:
    models = Models()
    clips = [heard_as(models, sentence, "rms") for sentence in (*PAUSED[10:20:2], *FINISHED[:6])]
    silence, model = tally(clips, silence_ms=500), tally(clips, turn_end="model")
    assert sorted(model.waits_ms)[2] <= 250 < min(silence.waits_ms)
    assert model.cut_offs < silence.cut_offs and model.heard < silence.heard
    held = tally(clips, turn_end="model", reply_wait_ms=700)
    assert held.cut_offs <= model.cut_offs and sorted(held.gaps_ms) == sorted(model.gaps_ms)
