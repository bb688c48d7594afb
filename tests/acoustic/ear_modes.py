"""What overlapping is worth, by ear: sessions in every setting over the virtual sound card, judged by a recording.

``python -m tests.acoustic.ear_modes [ROUNDS]``: in each round a person says each of the seven lines of ``bench
overlap`` to every setting, each time in a live session of its own, as there: so every setting answers the same
questions in the same words. Gaps are those of the recording; beside them stands how far the journal's are from them.
The order of the settings turns round from line to line.
"""

from __future__ import annotations

import os
import sys
import tempfile
import wave
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.acoustic.again import once_more
from tests.acoustic.conftest import running_rig
from tests.acoustic.test_conversation import Heard, Line, hold, judge
from voicetui.config import assets
from voicetui.ports import RATE_HZ
from voicetui.rehearse.person import joined
from voicetui.rehearse.scenario import clips, load_scenario
from voicetui.sound.wav import read_audio

ROUNDS = 3


@dataclass
class Setting:
    """A tier and a mode; the gaps heard, what the journal says more than that, and what was counted beside it."""

    tier: str
    mode: str
    gaps_ms: list[float] = field(default_factory=list)
    off_ms: list[float] = field(default_factory=list)
    cut_offs: int = 0
    collisions: int = 0
    lost: int = 0

    @property
    def name(self) -> str:
        """For the table."""
        return f"{self.mode}, {self.tier}"

    def quantile(self, share: float) -> float:
        """Of the gaps, ms."""
        return float(np.quantile(self.gaps_ms, share))


def lines_in(folder: Path) -> list[Line]:
    """The lines of the bench, each in one file with the pauses inside it."""
    scenario = load_scenario(assets() / "scenarios" / "bench.toml")
    sounds = {clip: read_audio(clip)[0] for clip in clips(scenario)}
    lines = []
    for number, line in enumerate(scenario.lines):
        with wave.open(str(folder / f"{number}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE_HZ)
            file.writeframes(joined(line.say, sounds).tobytes())
        lines.append(Line(str(folder / str(number))))
    return lines


def converse(setting: Setting, lines: Sequence[Line]) -> None:
    """One session in a setting, in which these lines are said."""

    def hold_and_judge(folder: Path) -> None:
        options = ("--headphones", "--overlap", setting.mode, "--tier", setting.tier)
        summary, sound = hold(lines, folder, *options, ahead_ms=200)
        count(setting, summary, judge(sound, lines))

    with tempfile.TemporaryDirectory() as folder:
        once_more(hold_and_judge, Path(folder))


def count(setting: Setting, summary: dict[str, object], heard: Sequence[Heard]) -> None:
    """Put a session's figures to the setting's."""
    turns = summary["turns"]
    assert isinstance(turns, list)
    setting.cut_offs += int(str(summary["cut_offs"]))
    setting.collisions += int(str(summary["collisions"]))
    if len(turns) != len(heard):  # which turn is whose cannot be told
        setting.lost += len(heard)
        return
    for turn, ear in zip(turns, heard, strict=True):
        if turn["outcome"] != "completed" or turn["gap_ms"] is None:
            setting.lost += 1
            continue
        setting.gaps_ms.append(ear.gap_ms)
        setting.off_ms.append(turn["gap_ms"] - ear.gap_ms)


def main(rounds: int) -> None:
    """Hold the sessions and print the table."""
    settings = [Setting("local", "none"), Setting("local", "clause"), Setting("local", "full")]
    settings.append(Setting("pretend-120", "full"))
    with tempfile.TemporaryDirectory() as folder, running_rig():
        lines = lines_in(Path(folder))
        for number in range(rounds):
            for place, line in enumerate(lines):
                turned = (number + place) % len(settings)
                for setting in [*settings[turned:], *settings[:turned]]:
                    converse(setting, [line])
            for setting in settings:
                print(f"round {number + 1}: {setting.name}: {[round(gap) for gap in setting.gaps_ms[-7:]]}", flush=True)
    print("load average:", *(round(each, 1) for each in os.getloadavg()))
    for each in settings:
        print(_row(each, settings[0]))


def _row(each: Setting, none: Setting) -> str:
    p50, p95, most = each.quantile(0.5), each.quantile(0.95), max(each.gaps_ms)
    return (
        f"{each.name:18} n = {len(each.gaps_ms):2}  p50 {p50:5.0f}  p95 {p95:5.0f}  max {most:5.0f} ms  "
        f"of none: {p50 / none.quantile(0.5):.3f}, p95 {p95 / none.quantile(0.95):.3f}  max / p50 {most / p50:.2f}  "
        f"cut-offs {each.cut_offs}  collisions {each.collisions}  not compared {each.lost}  "
        f"journal minus ear: median {np.median(each.off_ms):+.1f}, largest {max(map(abs, each.off_ms)):.1f} ms"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
