"""The numbers are the ear's: a conversation over a virtual sound card, judged by a recording of what a person would
have heard.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from tests.acoustic import bus as b
from tests.acoustic.again import carried, once_more
from tests.acoustic.bus import Bus, clips_said, levels, speak, speech_end

pytestmark = [pytest.mark.acoustic, pytest.mark.models, pytest.mark.timeout(400)]

ROOT = Path(__file__).resolve().parents[2]
CLIPS = ROOT / "assets" / "clips"
AGREE_MS = 25.0
HOP_MS = 5.0


@dataclass
class Line:
    """The user says a clip; ``over_ms`` after the reply began if that is given, else when all is quiet."""

    clip: str
    over_ms: float | None = None


SHORT = (
    Line("capital-of-france"),
    Line("cup-of-tea"),
    Line("stop-capital-of-japan", over_ms=1800),
    Line("capital-of-italy"),
)
LONG = (
    *SHORT,
    Line("largest-planet"),
    Line("cup-of-tea"),
    Line("stop-capital-of-japan", over_ms=1200),
    Line("einstein"),
    Line("stop-capital-of-japan", over_ms=900),
    Line("thank-you"),
)


@dataclass
class Heard:
    """What a person heard of one turn, in ms; ``stop_ms`` for a turn that was interrupted."""

    gap_ms: float
    stop_ms: float | None = None


def hold(
    lines: Sequence[Line], folder: Path, *options: str, ahead_ms: int = 20
) -> tuple[dict[str, object], np.ndarray]:
    """Hold the conversation, live with these ``options``; the session's summary and the bus's sound, float32 [n, 2].

    ``ahead_ms``: see ``speak``.

    Raises ``StumbledError`` where what was said did not get through whole.
    """
    (folder / "voicetui.toml").write_text(
        f'[record]\nfolder = "{folder}/kept"\n'
        '[[tiers]]\nname = "local"\nkind = "local"\nmodel = "smollm2-135m-instruct"\nmax_tokens = 24\n'
        '[[tiers]]\nname = "pretend-120"\nkind = "simulated"\ntokens_per_second = 750\n'
        "ttft_ms = { p50 = 120, p95 = 300 }\n"
    )
    command = [sys.executable, "-m", "voicetui", "live", "--headless", "--json", "out.json", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (
        Bus() as bus,
        subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as program,
    ):
        stderr = program.stderr
        assert stderr is not None
        talk: list[str] = []
        while not (talk and talk[-1].startswith("input:")):
            line = stderr.readline()
            assert line, "".join(talk)
            talk.append(line)
        bus.wait_hops(100)
        try:
            _talk(bus, lines, ahead_ms)
        finally:
            program.send_signal(signal.SIGINT)
        rest = stderr.read()
        assert program.wait(20) == 0, "".join(talk) + rest
        sound = bus.sound()
    carried(sound[:, 1], [CLIPS / f"{line.clip}.wav" for line in lines])
    return json.loads((folder / "out.json").read_text()), sound


def _talk(bus: Bus, lines: Sequence[Line], ahead_ms: int) -> None:
    reply = 0
    for number, line in enumerate(lines):
        over_next = number + 1 < len(lines) and lines[number + 1].over_ms is not None
        if line.over_ms is not None:
            bus.wait_hops(max(0, reply + round(line.over_ms / HOP_MS) - bus.hops()))
        since = bus.hops()
        speak(CLIPS / f"{line.clip}.wav", ahead_ms).wait(30)
        said = bus.wait_quiet(since, hops=40, channel=1)
        reply = bus.wait_voice(said + 1)
        if not over_next:
            bus.wait_quiet(reply)


def judge(sound: np.ndarray, lines: Sequence[Line]) -> list[Heard]:
    """What was heard of each line's turn, by the recording alone."""
    said = clips_said(sound[:, 1])
    assert len(said) == len(lines), f"{len(said)} clips on the bus, {len(lines)} lines"
    voice = levels(sound[:, 0]) >= b.AUDIBLE
    heard = []
    for number, (first, last) in enumerate(said):
        end = speech_end(sound[:, 1], first, last)
        starts = end + 1 + int(np.flatnonzero(voice[end + 1 :])[0])
        turn = Heard((starts - end - 1) * HOP_MS)
        if number + 1 < len(lines) and lines[number + 1].over_ms is not None:
            onset, end_of_bid = said[number + 1][0], said[number + 1][1]
            audible = np.flatnonzero(voice[:])
            after = audible[audible >= onset]
            stop = onset
            for hop in after.tolist():
                if hop - stop > 100:
                    break
                stop = hop
            turn.stop_ms = (stop + 1 - onset) * HOP_MS
            assert not voice[stop + 1 : end_of_bid].any(), "something of the old reply was heard after the cut"
        heard.append(turn)
    return heard


def agree(lines: Sequence[Line], folder: Path) -> tuple[list[float], list[float]]:
    """Hold and judge a conversation; the differences in gap and stop, journal minus ear, ms."""
    summary, sound = hold(lines, folder, "--headphones")
    turns = summary["turns"]
    assert isinstance(turns, list)
    heard = judge(sound, lines)
    assert len(turns) == len(lines), [turn["user_text"] for turn in turns]
    gaps, stops = [], []
    for line, turn, ear in zip(lines, turns, heard, strict=True):
        print(
            line.clip,
            turn["outcome"],
            "gap",
            turn["gap_ms"],
            "ear",
            ear.gap_ms,
            "stop",
            (turn["barge_in"] or {}).get("stop_ms"),
            "ear",
            ear.stop_ms,
        )
        gaps.append(turn["gap_ms"] - ear.gap_ms)
        if ear.stop_ms is not None:
            assert turn["outcome"] == "interrupted"
            stops.append(turn["barge_in"]["stop_ms"] - ear.stop_ms)
        else:
            assert turn["outcome"] == "completed"
    print("gaps", summary["gap_ms"], "stops", summary["barge_in_stop_ms"])
    return gaps, stops


def agreed(lines: Sequence[Line], folder: Path) -> None:
    """Hold a conversation in which journal and ear agree on every gap and every stop."""
    gaps, stops = agree(lines, folder)
    for name, off in (("gap", gaps), ("stop", stops)):
        print(f"{name}: n = {len(off)}, median difference {median(off):.1f} ms, largest {max(map(abs, off)):.1f} ms")
        assert max(map(abs, off)) <= AGREE_MS
    assert len(stops) == sum(line.over_ms is not None for line in lines)


def test_four_turns_and_a_barge_in_agree_with_the_ear(rig: object, tmp_path: Path) -> None:
    once_more(lambda folder: agreed(SHORT, folder), tmp_path)


@pytest.mark.long
def test_ten_turns_and_three_barge_ins_agree_with_the_ear(rig: object, tmp_path: Path) -> None:
    once_more(lambda folder: agreed(LONG, folder), tmp_path)
