"""`voicetui bench`: settings on the same recordings, interleaved, through the real pipeline, with intervals."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from voicetui.config import Config, ConfigError, assets, load_config
from voicetui.talk import say

if TYPE_CHECKING:
    from voicetui.bench.floor import Floor
    from voicetui.bench.measure import ArmResult, Subject
    from voicetui.bench.plan import Arm, Trial
    from voicetui.events import Entry
    from voicetui.ports import Pcm16
    from voicetui.rehearse.scenario import Line
    from voicetui.wiring import Output, Wired

TURNS = 20
MOST_TURNS = 1000
BUSY = 0.5
"""Load per core before the run beyond which other work, not the arrangement of the stages, makes the gaps."""


def bench(arguments: argparse.Namespace) -> int:
    """Compare overlap modes, or tiers, on the same recordings."""
    from voicetui.bench.plan import overlap_arms, tier_arms
    from voicetui.progress import pull_missing
    from voicetui.rehearse.scenario import load_scenario, of_files
    from voicetui.wiring import load_clips

    json_file = _json_file(arguments.json)
    config = load_config(arguments.config)[0]
    tiers = list(dict.fromkeys(arguments.tier or ()))
    _check_tiers(config, [*tiers, *([arguments.against] if arguments.against else [])])
    subject: Subject = "tier" if arguments.subject == "tiers" else "overlap"
    if subject == "tier":
        tiers = tiers or [table.name for table in config.tiers]
        if arguments.against:
            raise ConfigError("--against is for bench overlap; bench tiers compares all tiers named with --tier.")
        if len(tiers) < 2:
            raise ConfigError("bench tiers compares two tiers or more: add [[tiers]], or name them with --tier.")
        arms = tier_arms(tiers)
    else:
        if len(tiers) > 1:
            raise ConfigError("bench overlap uses one tier. To compare tiers: voicetui bench tiers --tier A --tier B.")
        arms = overlap_arms(tiers[0] if tiers else config.conversation.tier, arguments.against)
    scenario = of_files([Path(each) for each in arguments.inputs])
    if not arguments.inputs:
        scenario = load_scenario(assets() / "scenarios" / "bench.toml")
    sounds = load_clips(scenario)
    _check_speech(sounds)
    pull_missing(config)
    run = _Run(
        config, subject, arms, scenario.lines, sounds, tiers[0] if tiers else config.conversation.tier, arguments
    )
    return asyncio.run(run.measure(json_file))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `voicetui bench` can be told."""
    parser.add_argument("subject", choices=("overlap", "tiers"), help="what is compared: overlap modes, or tiers")
    parser.add_argument(
        "inputs", nargs="*", default=[], metavar="INPUT", help="WAV or FLAC files (default: the shipped)"
    )
    parser.add_argument("-n", "--turns", type=_turns, default=TURNS, metavar="TURNS", help="turns in each setting")
    parser.add_argument("--tier", action="append", default=None, metavar="T", help="the tier; for tiers: once for each")
    parser.add_argument(
        "--against", metavar="T", default=None, help="overlap: also everything overlapped on this tier, in the same run"
    )
    parser.add_argument("--output", choices=("device", "null"), default=None, help="where replies are played")
    parser.add_argument("--no-record", action="store_true", default=False, help="keep nothing on disk")
    parser.add_argument("--json", metavar="FILE", default=None, help="write the figures there; - for stdout alone")


class _Run:
    """One run: a session in which every trial is a turn."""

    def __init__(
        self,
        config: Config,
        subject: Subject,
        arms: Sequence[Arm],
        lines: Sequence[Line],
        sounds: dict[str, Pcm16],
        tier: str,
        arguments: argparse.Namespace,
    ) -> None:
        from voicetui.bench.plan import interleave

        # Nobody is asked the same twice in a conversation, as here: a kept clause would flatter.
        self._config = msgspec.structs.replace(config, speak=msgspec.structs.replace(config.speak, cached_clauses=0))
        self._subject: Subject = subject
        self._arms = arms
        self._lines = lines
        self._sounds = sounds
        self._tier = tier
        self._arguments = arguments
        self._trials = interleave([arm.name for arm in arms], len(lines), arguments.turns)
        self._floors: dict[str, Floor] = {}

    async def measure(self, json_file: Path | None) -> int:
        """Say every trial, time the stages alone, report; the exit status."""
        from voicetui.bench.measure import lines_said
        from voicetui.runtime.log import native_chatter_to

        before = _load_average()
        wired = self._wired()
        if wired.folder is not None:
            say(f"Recording this session in {wired.folder} (--no-record turns that off).")
        names = ", ".join(arm.name for arm in self._arms)
        say(
            f"{len(self._trials)} turns: {self._arguments.turns} in each of {names}, "
            "interleaved, after a cold one of each that is left out. Real time; every turn takes some seconds."
        )
        with native_chatter_to(wired.folder / "log.txt" if wired.folder is not None else None):
            await self._converse(wired)
        entries = wired.journal.entries_since(0)
        said = lines_said(entries, self._arms)
        complete = said == len(self._trials) and bool(self._floors)
        return self._finish(
            entries, self._trials[:said] if complete else self._trials[: max(0, said - 1)], before, json_file
        )

    def _wired(self) -> Wired:
        from voicetui.bench.run import MAX_TOKENS, Performance
        from voicetui.rehearse.scenario import Scenario
        from voicetui.sound.microphone import FileMicrophone
        from voicetui.wiring import Choice, wire

        choice = Choice(
            "bench", self._tier, None, True, _output(self._arguments.output),
            record=not self._arguments.no_record, scenario=Scenario(title="bench", lines=()), max_tokens=MAX_TOKENS,
            history_exchanges=0, tiers=tuple(arm.name for arm in self._arms) if self._subject == "tier" else (),
        )  # fmt: skip
        wired = wire(self._config, choice, sounds=self._sounds)
        assert isinstance(wired.microphone, FileMicrophone)

        async def time_alone() -> None:
            await self._time_alone(wired)

        wired.person = Performance(
            self._arms, self._trials, self._lines, self._sounds, wired.microphone, wired.watch, wired.clock,
            wired.session.post, time_alone,
        )  # fmt: skip
        return wired

    async def _time_alone(self, wired: Wired) -> None:
        """The floor of the mode that comes nearest to it, or of each tier."""
        from voicetui.bench.floor import measure_floor

        say("Timing every stage alone.")
        output_ms = _output_ms(wired.journal.entries_since(0), self._trials, self._arms)
        tiers = {"full": self._tier} if self._subject == "overlap" else {arm.name: arm.name for arm in self._arms}
        for name, tier in tiers.items():
            self._floors[name] = await measure_floor(
                wired.session.parts, wired.clock, tier, self._config.conversation.system_prompt,
                self._lines, self._sounds, output_ms,
            )  # fmt: skip

    async def _converse(self, wired: Wired) -> None:
        from voicetui.events.session import StopAsked
        from voicetui.wiring import converse

        teller = _Teller(self._trials, self._lines, self._arms)
        feed_person = wired.session.on_entries
        told = 0

        def tell() -> None:
            nonlocal told
            feed_person()
            entries = wired.journal.entries_since(told)
            told += len(entries)
            teller.tell(entries)

        wired.session.on_entries = tell
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, lambda: wired.session.post(StopAsked("signal")))
        await converse(wired)

    def _finish(
        self, entries: Sequence[Entry], trials: Sequence[Trial], before: float | None, json_file: Path | None
    ) -> int:
        from voicetui.bench.measure import compare, results
        from voicetui.bench.report import Report, report_json, report_text
        from voicetui.events.session import Fault
        from voicetui.events.sound import DeviceLost

        complete = len(trials) == len(self._trials)
        if not trials:
            faults = [entry.body for entry in entries if isinstance(entry.body, Fault)]
            why = f": {faults[-1].message}" if faults else ""
            say(f"voicetui: the bench ended before its first turn was over{why}.")
            return 1
        found = results(entries, trials, self._arms)
        after = _load_average()
        report = Report(
            self._subject, self._tier, len(self._lines), found, compare(found), self._floors,
            None if before is None or after is None else (before, after), os.cpu_count(), complete,
            self._notes(found, before),
        )  # fmt: skip
        figures = json.dumps(report_json(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        if self._arguments.json == "-":
            print(figures, end="")
        else:
            print(report_text(report))
            if json_file is not None and not _written(json_file, figures):
                return 1
        if not complete:
            say(f"voicetui: the bench was ended after {len(trials)} of {len(self._trials)} turns.")
            return 1
        deaf = [name for name, result in found.items() if not result.summary.gap_ms.n]
        for name in deaf:
            reasons = ", ".join(f"{count} {why}" for why, count in found[name].missing.items())
            say(f"voicetui: {name}: not one reply was heard ({reasons}). Try the same with `voicetui run`.")
        lost = any(isinstance(entry.body, DeviceLost) for entry in entries)
        return 1 if deaf or lost else 0

    def _notes(self, found: dict[str, ArmResult], load: float | None) -> tuple[str, ...]:
        notes = []
        if load is not None and load > BUSY * (os.cpu_count() or 1):
            notes.append("the machine was busy before the bench began: its figures are worth little, repeat it at rest")
        if len(self._lines) == 1:
            notes.append("one recording only: all but its first prompt come from the tier's cache, in every setting")
        if any(result.summary.simulated for result in found.values()):
            notes.append("a simulated tier makes its delays up: the figures show the pipeline around it")
        return tuple(notes)


class _Teller:
    """One line on stderr for each trial that is over."""

    def __init__(self, trials: Sequence[Trial], lines: Sequence[Line], arms: Sequence[Arm]) -> None:
        from voicetui.views.latency import LatencyView

        self._marker = arms[0].marker
        self._trials = trials
        self._lines = lines
        self._latency = LatencyView()
        self._begun = 0

    def tell(self, entries: Sequence[Entry]) -> None:
        """Take what the journal has gained."""
        from voicetui.bench.report import progress_line
        from voicetui.events.orders import EndTurn
        from voicetui.events.session import Fault, Ready
        from voicetui.events.sound import DeviceOpened

        for entry in entries:
            self._latency.feed(entry)
            self._begun += isinstance(entry.body, self._marker)
            match entry.body:
                case DeviceOpened(role="output", name=name, clock=clock):
                    say(f"output: {name}{'  (nothing will be heard)' if clock == 'paced' else ''}")
                case Ready():
                    say(f"ready after {entry.at / 1e3:.1f} s")
                case Fault(stage=stage, message=message, remedy=remedy):
                    say(" ".join(f"fault ({stage}): {message} {remedy}".split()))
                case EndTurn(turn=number, outcome=outcome) if 0 < self._begun <= len(self._trials):
                    trial = self._trials[self._begun - 1]
                    turn = next((turn for turn in self._latency.snapshot() if turn.turn == number), None)
                    gap = outcome if turn is None or turn.gap_ms is None else f"{turn.gap_ms:.0f} ms"
                    cold = "" if trial.occurrence is not None else "  (cold, left out)"
                    said = self._lines[trial.line].say
                    say(progress_line(self._begun, len(self._trials), trial.arm, gap, said) + cold)
                case _:
                    pass


def _turns(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_TURNS:
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: a whole number of turns from 1 to {MOST_TURNS}")
    return int(text)


def _json_file(named: str | None) -> Path | None:
    """Raises ``ConfigError`` for a file that could not be written when the run is over."""
    from voicetui.journal.target import target_refused

    if named is None or named == "-":
        return None
    path = Path(named)
    refused = target_refused(path)
    if refused:
        raise ConfigError(refused)
    return path


def _written(path: Path, figures: str) -> bool:
    try:
        path.write_text(figures, "utf-8")
    except OSError as error:
        say(f"voicetui: {path} cannot be written: {error.strerror}. The figures are above.")
        return False
    return True


def _check_tiers(config: Config, tiers: Sequence[str]) -> None:
    known = [table.name for table in config.tiers]
    for tier in tiers:
        if tier not in known:
            raise ConfigError(f"There is no tier {tier!r}. Allowed: {', '.join(known)}.")


def _check_speech(sounds: dict[str, Pcm16]) -> None:
    """Raises ``SoundError`` for a recording in which nothing can be heard."""
    from voicetui.ports import SoundError

    for path, samples in sounds.items():
        if not len(samples) or not abs(samples).max():
            raise SoundError(f"{path} holds no sound. Give recordings of somebody saying something.")


def _output(wanted: Output | None) -> Output:
    """Where replies are played: as asked, else on a real speaker if there is one."""
    from voicetui.ports import SoundError
    from voicetui.sound.devices import list_devices

    if wanted is not None:
        return wanted
    try:
        return "device" if any(device.output_channels for device in list_devices()) else "null"
    except SoundError:
        return "null"


def _output_ms(entries: Sequence[Entry], trials: Sequence[Trial], arms: Sequence[Arm]) -> float | None:
    """From the order to play to the ear where nothing else is done meanwhile: the median in mode ``none``.

    Without such turns, the latency that the output device tells of, which is less.
    """
    from voicetui.bench.measure import results
    from voicetui.events.session import OverlapChosen
    from voicetui.events.sound import DeviceOpened

    alone = results(entries, trials, arms).get("none") if arms[0].marker is OverlapChosen else None
    if alone is not None and (output_ms := alone.median_stages_ms().output) is not None:
        return output_ms
    opened = [entry.body for entry in entries if isinstance(entry.body, DeviceOpened) and entry.body.role == "output"]
    return opened[-1].latency_ms if opened else None


def _load_average() -> float | None:
    try:
        return os.getloadavg()[0]
    except OSError:
        return None
