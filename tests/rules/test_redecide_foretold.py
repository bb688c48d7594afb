"""What deciding again foretells comes true when the same person talks to a session with those numbers."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tests.sessions.paper import PaperSession
from voicetui.events import Entry
from voicetui.events.orders import Commit
from voicetui.rehearse.redecide.changes import turns_of
from voicetui.rehearse.redecide.session import redecide


def first_commit(entries: Sequence[Entry]) -> tuple[float, str] | None:
    """When the first turn was committed, and with what words."""
    commit = next((entry for entry in entries if isinstance(entry.body, Commit)), None)
    return (commit.at, commit.body.text) if commit is not None and isinstance(commit.body, Commit) else None


@pytest.mark.parametrize("overlap", ["full", "clause"])
@pytest.mark.parametrize(
    "changes",
    [
        {"silence_ms": 250.0, "sequential_silence_ms": 300.0},
        {"silence_ms": 800.0, "sequential_silence_ms": 900.0},
        {"unfinished_ms": 700.0},
        {"reply_wait_ms": 900.0},
        {"turn_end": "silence"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_session_held_with_those_numbers_commits_as_was_foretold(changes: dict[str, object], overlap: str) -> None:
    """The same person says the same at the same times, to the rules with the numbers of then, and with the others."""
    foretold = moved = 0
    for seed in range(30):
        seeded = random.Random(seed)
        speech, at_ms = [], 1000.0
        for _ in range(seeded.randint(1, 4)):
            speech.append((at_ms, at_ms + seeded.uniform(400, 1500)))
            at_ms = speech[-1][1] + seeded.uniform(200, 900)
        held = {"speech": speech, "calm": True, "overlap": overlap}
        numbers: dict[str, object] = {"turn_end": seeded.choice(("silence", "model"))}
        then = PaperSession(seed, **held, **numbers).run(15_000).entries  # type: ignore[arg-type]
        now = first_commit(PaperSession(seed, **held, **{**numbers, **changes}).run(15_000).entries)  # type: ignore[arg-type]
        turn = next(turn for turn in turns_of(redecide(then, changes)) if turn.utterance)
        given = [] if turn.result.run is None else [g for g in turn.result.run.given if isinstance(g.order, Commit)]
        if not given or (turn.unknown is not None and turn.unknown.commit):
            continue
        foretold += 1
        commit = given[0].order
        assert isinstance(commit, Commit) and now is not None
        assert (round(given[0].at_ms, 1), commit.text) == (round(now[0], 1), now[1]), f"seed {seed}"
        moved += now != first_commit(then)
    assert foretold > 5 and (moved or overlap == "clause")
