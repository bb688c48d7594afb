"""A bench on a manual clock: real rules, journal, detector and playback, scripted models, zero time."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from dataclasses import dataclass, field

import msgspec
import numpy as np
import pytest

from tests.sessions.stage import Stage, Told, WatchedTier, tone
from voicetui.bench.floor import Floor, measure_floor
from voicetui.bench.measure import ArmResult, compare, lines_said, results
from voicetui.bench.plan import OVERLAP_ARMS, Trial, interleave, tier_arms
from voicetui.bench.report import Report, above_floor, report_json, report_text
from voicetui.bench.run import Performance
from voicetui.bench.statistics import Paired
from voicetui.events.orders import Commit, EndTurn, Generate
from voicetui.events.session import OverlapChosen, StopAsked, TierFacts
from voicetui.listen.scripted import EnergyDetector
from voicetui.ports import Pcm16
from voicetui.rehearse.person import Watch
from voicetui.rehearse.scenario import Line
from voicetui.runtime.clock import ManualClock

MODES = ("none", "clause", "full")
SOUNDS: dict[str, Pcm16] = {f"clip{n}.wav": tone(800 + 100 * n) for n in range(3)}
LINES = tuple(Line(say=(name,)) for name in SOUNDS)
REPLY = "It is noon, and lunch is ready for all of you. Come and eat."


@dataclass
class Bench:
    """A bench that was run: its plan, stage, results and floor."""

    trials: tuple[Trial, ...]
    stage: Stage
    floors: list[Floor] = field(default_factory=list)
    found: dict[str, ArmResult] = field(default_factory=dict)
    pairs: dict[str, Paired] = field(default_factory=dict)

    @property
    def starts(self) -> list[int]:
        """Where each trial begins in the journal."""
        return [n for n, entry in enumerate(self.stage.entries) if isinstance(entry.body, OverlapChosen)]


def run(
    turns: int = 3,
    *,
    lines: tuple[Line, ...] = LINES,
    sounds: dict[str, Pcm16] = SOUNDS,
    texts: list[str] | None = None,
    tier: WatchedTier | None = None,
    clock: ManualClock | None = None,
    stop_after: int | None = None,
) -> Bench:
    """Run a bench of the overlap modes; with ``stop_after`` somebody ends it when so many turns are over."""
    clock = clock or ManualClock()
    tier = tier or WatchedTier(clock, REPLY)
    trials = interleave(MODES, len(lines), turns)
    words = texts or [f"what is on clip {trial.line}" for trial in trials]
    stage = Stage(words, tier=tier, clock=clock, detector=EnergyDetector(), policy={"history_exchanges": 0})
    bench, watch, told = Bench(trials, stage), Watch(), 0

    async def afterwards() -> None:
        stage.parts.transcriber = Told(["the words of a clip"])
        bench.floors.append(await measure_floor(stage.parts, clock, tier.name, "", lines, sounds, 30.0, times=3))

    performance = Performance(
        OVERLAP_ARMS, trials, lines, sounds, stage.microphone, watch, clock, stage.session.post, afterwards
    )

    def feed() -> None:
        nonlocal told
        entries = stage.journal.entries_since(told)
        told += len(entries)
        watch.feed(entries)
        if stop_after is not None and len(stage.of(EndTurn)) >= stop_after:
            stage.session.post(StopAsked("signal"))

    stage.session.on_entries = feed

    async def perform() -> None:
        await performance.perform()
        stage.session.post(StopAsked("finished"))

    asyncio.run(stage.run(perform, most_ms=600_000))
    bench.found = results(stage.entries, trials, OVERLAP_ARMS)
    bench.pairs = compare(bench.found)
    return bench


@pytest.fixture(scope="module")
def bench() -> Bench:
    return run(turns=7)


def test_every_trial_is_a_turn_made_in_its_mode(bench: Bench) -> None:
    assert [order.overlap for order in bench.stage.of(OverlapChosen)] == [trial.arm for trial in bench.trials]
    assert len(bench.stage.of(Commit)) == len(bench.trials)
    assert bench.stage.outcomes == ["completed"] * len(bench.trials)
    for start, end, trial in zip(bench.starts, [*bench.starts[1:], None], bench.trials, strict=True):
        speculated = any(isinstance(e.body, Generate) and e.body.speculative for e in bench.stage.entries[start:end])
        assert speculated == (trial.arm == "full")


def test_every_mode_is_asked_the_same_on_the_same_line(bench: Bench) -> None:
    """The history must not differ: no request holds anything of another turn."""
    tier = bench.stage.tier
    assert isinstance(tier, WatchedTier)
    in_the_bench = tier.asked[: len(bench.trials)]
    assert all(len(messages) == 1 for messages in in_the_bench)
    asked = Counter(messages[0].text for messages in in_the_bench)
    assert asked == Counter(f"what is on clip {trial.line}" for trial in bench.trials)


def test_each_mode_has_the_summary_of_its_own_turns_without_the_cold_one(bench: Bench) -> None:
    for mode in MODES:
        result = bench.found[mode]
        assert result.summary.overlap == mode
        assert result.summary.gap_ms.n == len(result.summary.turns) == len(result.taken) == 7
        assert len(result.cold_ms) == 1 and result.cold_ms[0] is not None
        assert not result.missing
    numbers = [turn.turn for result in bench.found.values() for turn in result.summary.turns]
    assert sorted(numbers) == list(range(4, 4 + 21)), "every turn after the three cold ones, once"


def test_more_overlap_is_a_shorter_gap_and_the_pairs_say_so(bench: Bench) -> None:
    medians = [bench.found[mode].summary.gap_ms.p50 for mode in MODES]
    assert medians[0] and medians[1] and medians[2]
    assert medians[0] > medians[1] > medians[2]
    assert set(bench.pairs) == {"full-none", "clause-none", "full-clause"}
    for name, pair in bench.pairs.items():
        assert (pair.n, pair.dropped) == (7, 0)
        assert pair.high_ms is not None and pair.high_ms < 0, name


def test_pairs_are_of_the_same_occurrence(bench: Bench) -> None:
    gaps = {mode: {each.trial.occurrence: each.gap_ms for each in bench.found[mode].taken} for mode in MODES}
    assert set(gaps["none"]) == set(gaps["full"]) == set(range(7))
    differences = sorted((gaps["full"][n] or 0) - (gaps["none"][n] or 0) for n in range(7))
    assert bench.pairs["full-none"].median_ms == pytest.approx(differences[3])


def test_only_full_has_a_ledger_to_speak_of(bench: Bench) -> None:
    assert [bench.found[mode].ledger.tried for mode in MODES] == [0, 0, 7]
    assert bench.found["full"].ledger.kept == 7
    assert bench.found["full"].ledger.saved_ms > 0


def test_the_floor_is_the_sum_of_what_every_stage_takes_alone(bench: Bench) -> None:
    (floor,) = bench.floors
    assert floor.pause == 100
    assert floor.first_token == pytest.approx(100, abs=15), "the twin's time to first token"
    assert floor.output == 30
    assert floor.total_ms == pytest.approx(
        sum((floor.pause, floor.transcribe or 0, floor.first_token or 0, floor.first_clause or 0,
             floor.synthesize or 0, floor.output or 0))
    )  # fmt: skip
    full = bench.found["full"].summary.gap_ms.p50
    assert full is not None and floor.total_ms is not None and full > floor.total_ms
    above = above_floor(bench.found["full"], floor)
    assert above is not None and above.stage == "endpoint", "the twin is waiting for the silence"


def test_timing_the_stages_alone_leaves_no_trace_in_the_session(bench: Bench) -> None:
    assert len(bench.stage.of(Generate)) == len(bench.trials)


def test_the_json_is_strict_and_has_the_keys_it_promises(bench: Bench) -> None:
    values = report_json(report_of(bench))
    assert set(values["modes"]) == set(MODES)
    assert set(values["paired"]) == {"full-none", "clause-none", "full-clause"}
    assert set(values["paired"]["full-none"]) == {"n", "dropped", "median_ms", "low_ms", "high_ms"}
    assert values["floor_ms"] == bench.floors[0].total_ms
    assert values["floor"]["ratio"] > 1
    assert "speculation" in values["modes"]["full"]["ledger"]["verdict"]
    json.dumps(values, allow_nan=False)


def test_the_table_has_a_row_for_each_mode_and_no_p95_from_seven(bench: Bench) -> None:
    text = report_text(report_of(bench))
    for mode in MODES:
        assert re.search(rf"^{mode} \(simulated\) +7 +\d+ +- +\d+ ", text, re.MULTILINE), "n, p50, no p95, max"
    assert "load average of the machine: 0.5 before, 0.7 after on 2 cores" in text
    assert "95% interval" in text
    assert "full / floor: " in text and "above it most: endpoint" in text
    assert text.count("cold first turn, left out") == 3


def report_of(bench: Bench) -> Report:
    return Report(
        "overlap", "twin", len(LINES), bench.found, bench.pairs, {"full": bench.floors[0]}, load=(0.5, 0.7), cores=2
    )


def test_a_turn_that_was_cut_off_drops_its_pair_and_is_counted() -> None:
    """The line pauses longer than the mode ``full`` waits (500 ms), but shorter than the others do (600 ms)."""
    pause = np.zeros(16 * 510, np.int16)
    sounds = {"clip0.wav": np.concatenate([tone(800), pause, tone(700)])}
    words = ["what is on", "the clip"] * 40
    lines = (Line(say=("clip0.wav",)),)
    clock = ManualClock()
    found = run(
        turns=2, lines=lines, sounds=sounds, texts=words, tier=WatchedTier(clock, REPLY, ttft_ms=700), clock=clock
    )
    assert found.found["full"].missing == {"cut off": 2}
    assert found.found["full"].summary.cut_offs == 2
    assert not found.found["none"].missing and not found.found["none"].summary.cut_offs
    assert found.pairs["full-none"].dropped == 2
    assert found.pairs["full-none"].median_ms is None
    values = report_json(report_of(found))
    json.dumps(values, allow_nan=False)
    assert "no pair to compare, 2 pairs dropped" in report_text(report_of(found))


def test_empty_answers_are_no_success() -> None:
    clock = ManualClock()
    found = run(turns=2, tier=WatchedTier(clock, "..."), clock=clock)
    for mode in MODES:
        assert found.found[mode].summary.gap_ms.n == 0
        assert sum(found.found[mode].missing.values()) == 2
    assert all(pair.n == 0 and pair.dropped == 2 for pair in found.pairs.values())
    assert found.floors[0].total_ms is None
    values = report_json(report_of(found))
    assert values["floor_ms"] is None and values["floor"]["ratio"] is None
    assert "of 2 turns have no gap to compare" in report_text(report_of(found))


def test_a_bench_that_is_ended_early_counts_only_what_was_whole() -> None:
    found = run(turns=3, stop_after=7)
    said = lines_said(found.stage.entries, OVERLAP_ARMS)
    assert 7 <= said <= 8
    whole = results(found.stage.entries, found.trials[:7], OVERLAP_ARMS)
    assert sum(result.summary.gap_ms.n for result in whole.values()) == 7 - 3
    assert not found.floors


def test_tiers_are_compared_with_the_same_machinery() -> None:
    """Results of a journal in which the tier is what changes."""
    clock = ManualClock()
    slow, quick = WatchedTier(clock, REPLY, ttft_ms=700), WatchedTier(clock, REPLY, ttft_ms=60)
    slow.name, quick.name = "slow", "quick"
    trials = interleave(("slow", "quick"), 3, 6)
    words = [f"what is on clip {trial.line}" for trial in trials]
    stage = Stage(words, tier=slow, clock=clock, detector=EnergyDetector(), policy={"history_exchanges": 0})
    stage.parts.tiers = {"slow": slow, "quick": quick}
    opened = stage.session.opened
    tiers = (TierFacts("slow", "simulated", "", True), TierFacts("quick", "simulated", "", True))
    stage.session.opened = msgspec.structs.replace(opened, tiers=tiers)
    watch, told = Watch(), 0

    async def nothing() -> None:
        pass

    performance = Performance(
        tier_arms(("slow", "quick")), trials, LINES, SOUNDS, stage.microphone, watch, clock, stage.session.post, nothing
    )

    def feed() -> None:
        nonlocal told
        entries = stage.journal.entries_since(told)
        told += len(entries)
        watch.feed(entries)

    stage.session.on_entries = feed

    async def perform() -> None:
        await performance.perform()
        stage.session.post(StopAsked("finished"))

    asyncio.run(stage.run(perform, most_ms=600_000))
    found = results(stage.entries, trials, tier_arms(("slow", "quick")))
    assert [found[name].summary.tier for name in ("slow", "quick")] == ["slow", "quick"]
    assert compare(found)["quick-slow"].n == 6
    high = compare(found)["quick-slow"].high_ms
    assert high is not None and high < 0
    floors = {name: Floor(10, 100, 90, ttft, 100, 120, 30) for name, ttft in (("slow", 700), ("quick", 60))}
    report = Report("tier", "slow", 3, found, compare(found), floors)
    values = report_json(report)
    assert set(values["tiers"]) == {"slow", "quick"}
    assert values["floor_ms"] == {"slow": 1140, "quick": 500}
    assert values["load_average"] is None
    text = report_text(report)
    assert "slow / floor: " in text and "quick / floor: " in text and "quick-slow: median -" in text
    assert "load average of the machine: not known" in text
