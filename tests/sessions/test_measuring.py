"""An echo is measured on a worker, beside the conversation; and what models load is out of the collector's sight."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from tests.sessions.stage import InlineWorker, SlowWorker, Stage, assert_ended_in_order, twin_stage
from voicetui.events.orders import EndTurn
from voicetui.events.session import Fault, Ready, Said
from voicetui.events.sound import EchoMeasured
from voicetui.ports import Clock, PcmFloat
from voicetui.runtime.heap import settled
from voicetui.runtime.worker import JobRunner, Worker

REPLY = "One two three four five six. Seven eight nine ten."
SLOW_MS = 400.0


class Measuring:
    """A canceller whose echo is always the same."""

    trouble = ""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.aligned: list[int] = []

    def played(self, sample: int, samples: PcmFloat, rate_hz: int) -> None:
        pass

    def measuring(self, turn: int) -> Callable[[], EchoMeasured | None]:
        self.asked.append(turn)
        return lambda: EchoMeasured(turn, 120.0, -20.0, -40.0, -80.0, -70.0)

    def align(self, found: EchoMeasured) -> None:
        self.aligned.append(found.turn)


def measuring(make: Callable[[Clock], JobRunner]) -> tuple[Stage, Measuring]:
    """A stage that measures on this worker."""
    stage, canceller = twin_stage(REPLY), Measuring()
    stage.parts.canceller = canceller
    stage.parts.make_worker = lambda name, clock: make(clock) if name == "echo" else InlineWorker()
    return stage, canceller


def test_measuring_holds_nothing_up_and_is_told_when_it_is_done() -> None:
    stage, canceller = measuring(lambda clock: SlowWorker(clock, SLOW_MS))
    stage.run_to(14_000, stage.post_at(Said("one"), 500), stage.post_at(Said("two"), 6000))
    assert stage.outcomes == ["completed", "completed"]
    for ended, found in zip(stage.all(EndTurn), stage.all(EchoMeasured), strict=True):
        assert found.at - ended.at == pytest.approx(SLOW_MS, abs=30)
    assert canceller.asked == canceller.aligned == [1, 2]
    assert_ended_in_order(stage)


def test_a_session_that_is_stopped_in_mid_reply_does_not_complain_of_what_it_did_not_measure() -> None:
    stage, canceller = measuring(lambda clock: Worker("echo", clock))
    stage.run_to(1500, stage.post_at(Said("one"), 500))
    assert canceller.asked == [1] and not canceller.aligned
    assert not stage.of(Fault)
    assert_ended_in_order(stage)


def test_what_models_load_is_not_looked_at_by_the_collector() -> None:
    kept: list[list[int]] = []
    seen: list[int] = []
    stage = twin_stage(REPLY)

    def load() -> float:
        kept.extend([number] for number in range(50_000))
        return 1.0

    stage.parts.warm = {"transcribe": load}
    stage.session.on_entries = lambda: seen.append(gc.get_freeze_count()) if stage.of(Ready) else None
    with settled():
        before = gc.get_freeze_count()
        stage.run_to(1000)
    assert seen[0] - before >= 50_000
    assert gc.get_freeze_count() < before, "afterwards all is as it was"
