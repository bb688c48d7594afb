"""Fast streams and other threads: the screen keeps its pace, its size and its keys."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.journal_builder import JournalBuilder
from tests.tui.scenes import SCENES, Scene
from tests.tui.stage import Stage, on_stage
from voicetui.events import Basis, Entry
from voicetui.events.orders import Commit
from voicetui.events.reply import TimedToken, TokensArrived
from voicetui.events.session import Muted
from voicetui.runtime.engine import Levels
from voicetui.tui.app import PICTURES_PER_S

pytestmark = pytest.mark.anyio

FRAME_MS = 1000 / PICTURES_PER_S
DELTAS_PER_S = 300
BASIS = Basis(1, 0, 1)


def answering() -> Scene:
    """A reply is being written."""
    journal = JournalBuilder().opened().ready()
    journal.add(Commit(BASIS, None, "Tell me everything.", "typed"))
    return Scene(journal, journal.now_ms)


def stream(stage: Stage, seconds: float) -> Iterator[int]:
    """Deltas one by one, the screen looking at its own pace; gives the number of each frame."""
    said = 0
    for frame in range(round(seconds * PICTURES_PER_S)):
        due = round((frame + 1) * DELTAS_PER_S / PICTURES_PER_S)
        for number in range(said, due):
            at_ms = stage.engine.now_ms()
            stage.engine.add(Entry(number, at_ms, TokensArrived(BASIS, (TimedToken(f"w{number} ", at_ms),))))
        said = due
        yield frame


async def test_the_screen_keeps_its_pace_however_fast_the_deltas_come(monkeypatch: pytest.MonkeyPatch) -> None:
    assert PICTURES_PER_S <= 30
    async with on_stage(answering()) as stage:
        painted = 0

        def count() -> None:
            nonlocal painted
            painted += 1

        monkeypatch.setattr(stage.app, "post_display_hook", count)
        for _ in stream(stage, 5):
            stage.engine.advance(FRAME_MS)
            stage.app.look_again()
            await stage.pilot.pause()
        assert 50 <= painted <= 30 * 5, "each second of a stream is at most thirty pictures, and it is seen to move"
        assert f"w{5 * DELTAS_PER_S - 1}" in stage.text()


async def test_a_key_is_answered_within_two_frames_while_deltas_come() -> None:
    """Two frames are 100 ms: the command goes out at once, and its effect is on the next picture."""
    async with on_stage(answering()) as stage:
        answered: list[int] = []
        for frame in stream(stage, 4):
            stage.engine.advance(FRAME_MS)
            stage.app.look_again()
            if frame % 20 == 10:
                muted = len(stage.engine.posted) % 2 == 0
                await stage.pilot.press("m")
                assert stage.engine.posted[-1] == Muted(muted), "no frame passes between the key and its command"
                stage.engine.add(Entry(90_000 + frame, stage.engine.now_ms(), Muted(muted)))
                answered.append(await frames_until(stage, lambda muted=muted: ("⊘ muted" in stage.text()) == muted))
        assert len(answered) == 4 and max(answered) <= 2


async def frames_until(stage: Stage, seen: object) -> int:
    """How many pictures it takes until something is seen."""
    assert callable(seen)
    for frames in range(1, 10):
        stage.engine.advance(FRAME_MS)
        stage.app.look_again()
        await stage.pilot.pause()
        if seen():
            return frames
    return 99


@contextmanager
def measuring(stage: Stage) -> Iterator[list[int]]:
    """Another thread makes 2,000 levels a second, and posts commands between them."""
    made = [0]
    stop = threading.Event()
    newest = Levels()

    def measure() -> None:
        nonlocal newest
        while not stop.wait(0.0005):
            made[0] += 1
            newest = Levels(-float(made[0] % 60), -float(made[0] % 50), (-20.0,) * 50, (-30.0,) * 50)
            if made[0] % 100 == 0:
                stage.engine.post(Muted(False))

    stage.engine.levels = lambda: newest  # type: ignore[method-assign]
    thread = threading.Thread(target=measure)
    thread.start()
    try:
        yield made
    finally:
        stop.set()
        thread.join()


async def test_levels_from_another_thread_are_seen_and_survive_the_end() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        with measuring(stage) as made:
            looks = 0
            while made[0] < 300 and looks < 500:
                looks += 1
                stage.engine.post(Muted(False))
                await stage.advance(FRAME_MS)
            assert made[0] >= 300 and stage.app.is_running
            await stage.pilot.press("q")
            for _ in range(10):
                await stage.pilot.pause()
                stage.app.look_again()
        assert stage.engine.stopped == 1 and not stage.app.is_running
        assert stage.app.return_code == 0


async def test_a_terminal_without_room_is_drawn_for_when_it_has_some_again() -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        stage.engine.terminal_full = True
        before = stage.text()
        await stage.advance(3000, FRAME_MS)
        assert stage.text() == before, "what nobody reads is not written"
        await stage.press("m")
        assert stage.engine.posted == [Muted(True)], "its keys are still answered"
        stage.engine.terminal_full = False
        await stage.advance(FRAME_MS)
        assert stage.text() != before
