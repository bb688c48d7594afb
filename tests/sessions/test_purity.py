"""The journal comes first and is enough: whatever was ordered can be decided again from the facts alone."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.sessions.stage import Finals, Stage, TimedWords, clip, twin_stage
from voicetui.conversation.decide import decide
from voicetui.conversation.state import State
from voicetui.events import Entry, Fact, Order
from voicetui.events.orders import EndTurn, OpenUtterance
from voicetui.events.session import (
    InterruptAsked,
    Muted,
    OverlapChosen,
    Said,
    SessionClosed,
    SessionOpened,
    StopAsked,
    TalkKey,
    TierChosen,
)
from voicetui.events.sound import DeviceLost
from voicetui.journal.codec import encode
from voicetui.journal.read import read_journal
from voicetui.rehearse.redecide.changes import turns_of
from voicetui.rehearse.redecide.session import redecide
from voicetui.rehearse.scenario import Line
from voicetui.sound.speaker import NullSpeaker

REPLY = "One two three four five six. Seven eight nine ten eleven twelve. And so on it goes for a while."
TURNS = [(1000, 1900), (2600, 3100), (5200, 5900), (9000, 9600), (9900, 10_300), (15_000, 15_400)]


def plain(folder: Path) -> Stage:
    stage = twin_stage(REPLY, bursts=TURNS, folder=folder)
    stage.parts.transcriber = TimedWords(*((end_ms, f"word{number} and") for number, (_, end_ms) in enumerate(TURNS)))
    stage.run_to(22_000)
    return stage


def half_duplex(folder: Path) -> Stage:
    stage = twin_stage(REPLY, bursts=TURNS, folder=folder, duplex="half", overlap="clause")
    stage.parts.transcriber = TimedWords(*((end_ms, f"word{number}.") for number, (_, end_ms) in enumerate(TURNS)))
    stage.run_to(22_000)
    return stage


def interruptions(folder: Path) -> Stage:
    stage = twin_stage(REPLY, bursts=TURNS, folder=folder, ttft_ms=300.0)
    stage.parts.transcriber = Finals("hello", "mm-hmm", "", "what is that?", "stop now", "again")
    stage.run_to(22_000)
    return stage


def commands(folder: Path) -> Stage:
    stage = twin_stage(REPLY, bursts=TURNS, folder=folder)
    stage.parts.transcriber = TimedWords(*((end_ms, f"word{number}") for number, (_, end_ms) in enumerate(TURNS)))
    facts: list[tuple[Fact, float]] = [
        (TierChosen("twin"), 2100),
        (Said("typed"), 4000),
        (OverlapChosen("none"), 4100),
        (Muted(True), 5500),
        (Muted(False), 6500),
        (InterruptAsked(), 7000),
        (TalkKey(True), 8900),
        (TalkKey(False), 10_250),
        (DeviceLost("output", "USB", "it was unplugged"), 12_500),
        (DeviceLost("input", "USB", "it was unplugged"), 15_200),
        (TierChosen("nowhere"), 17_000),
        (Said("and now"), 18_000),
    ]
    stage.parts.fallback_speaker = lambda: NullSpeaker(stage.clock)
    stage.run_to(22_000, *(stage.post_at(fact, at_ms) for fact, at_ms in facts))
    return stage


def people(folder: Path) -> Stage:
    """Real clips, the real detector, a scripted person."""
    stage = Stage(["What is the capital of France?", "Stop. What is the capital of Japan?"], folder=folder)
    sounds = {name: clip(name) for name in ("capital-of-france", "stop-capital-of-japan")}
    lines = [
        Line(say=("capital-of-france",)),
        Line(say=("stop-capital-of-japan",), when="reply", after_ms=700),
    ]
    asyncio.run(stage.play(lines, sounds))
    return stage


def cancelled(folder: Path) -> Stage:
    """A session whose task is cancelled in mid-reply."""
    stage = twin_stage(REPLY, bursts=TURNS, folder=folder)
    stage.parts.transcriber = Finals("hello")

    async def main() -> None:
        running = asyncio.create_task(stage.session.run())
        while stage.clock.now_ms() < 3500:
            await stage.clock.advance(10)
        running.cancel()
        while not running.done():
            await stage.clock.advance(10)

    asyncio.run(main())
    return stage


SESSIONS = [plain, half_duplex, interruptions, commands, people, cancelled]


@pytest.fixture(scope="module", params=SESSIONS, ids=lambda make: make.__name__)
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    make: Callable[[Path], Stage] = request.param
    return make(tmp_path_factory.mktemp("kept") / "session")


def assert_decided_again(entries: Sequence[Entry]) -> None:
    """The rules give every order of a journal for its facts: in one go, and turn by turn as ``--redecide`` does."""
    state, orders = State(), []
    for entry in entries:
        state, given = decide(state, entry)
        orders += given
    assert orders == [entry.body for entry in entries if isinstance(entry.body, Order)]
    for turn in turns_of(redecide(entries, every=True)):
        assert not turn.changes and not turn.unknown and not turn.orphans and not turn.unanswered, turn.label


def test_deciding_again_gives_the_same_orders_from_memory_and_from_the_file(stage: Stage) -> None:
    assert stage.journal.writer is not None
    read = read_journal(stage.journal.writer.path)
    assert not read.problems and list(read.entries) == list(stage.entries)
    ordered = [entry.body for entry in stage.entries if isinstance(entry.body, Order)]
    assert len(ordered) > 20
    assert_decided_again(stage.entries)
    assert_decided_again(read.entries)


def test_every_order_directly_follows_the_fact_that_caused_it(stage: Stage) -> None:
    state, due = State(), []
    for entry in stage.entries:
        if isinstance(entry.body, Order):
            assert due and entry.body == due.pop(0)
            continue
        assert not due, "a fact stands between an order and its cause"
        state, given = decide(state, entry)
        due = list(given)
    assert not due


def test_sequence_numbers_are_dense_and_the_session_opens_and_closes_once(stage: Stage) -> None:
    entries = stage.entries
    assert [entry.seq for entry in entries] == list(range(len(entries)))
    assert isinstance(entries[0].body, SessionOpened) and isinstance(entries[-1].body, SessionClosed)
    assert len(stage.of(SessionOpened)) == len(stage.of(SessionClosed)) == len(stage.of(StopAsked)) == 1
    opened = {entry.body.basis for entry in entries if type(entry.body).__name__ == "Commit"}
    assert opened == {order.basis for order in stage.of(EndTurn)}, "every turn has an outcome"


# how much is written


def appended_ms(entries: Sequence[Entry]) -> list[float]:
    """When each entry was appended, or a little earlier: times of sources may run backwards, appending does not."""
    times, newest = [], 0.0
    for entry in entries:
        newest = max(newest, entry.at)
        times.append(newest)
    return times


def busiest(times: Sequence[float]) -> int:
    """The most entries in any second."""
    return max(bisect_right(times, at_ms + 1000) - index for index, at_ms in enumerate(times))


@pytest.mark.parametrize("tokens_per_second", [30.0, 750.0])
def test_a_long_session_writes_at_most_forty_entries_a_second_in_a_turn_and_hardly_any_at_rest(
    tokens_per_second: float,
) -> None:
    said = [(1000, 4000), (4500, 6000), (90_000, 91_000), (93_500, 94_300), (120_000, 122_000)]
    stage = twin_stage(REPLY, bursts=said, tokens_per_second=tokens_per_second)
    stage.parts.transcriber = TimedWords(*((end_ms, f"word{number}") for number, (_, end_ms) in enumerate(said)))
    stage.run_to(150_000)
    times = appended_ms(stage.entries)
    opened = stage.all(OpenUtterance)
    turns = []
    for end in stage.all(EndTurn):
        start = max((entry for entry in opened if entry.body.turn <= end.body.turn), key=lambda entry: entry.seq)
        turns.append((start, end))
    assert len(turns) >= 3
    for start, end in turns:
        seconds = (times[end.seq] - times[start.seq]) / 1000
        assert (end.seq - start.seq) / seconds <= 40
    assert busiest(times) <= 60, "in the second in which a fast tier writes its whole answer"
    rest = [at_ms for at_ms in times if 20_000 < at_ms < 89_000 or 130_000 < at_ms < 149_000]
    assert len(rest) <= 2 * 88 / 10, "one entry every ten seconds pairs the microphone with the clock"
    size = sum(len(encode(entry)) + 1 for entry in stage.entries)
    assert size / 150 * 3600 < 20e6
