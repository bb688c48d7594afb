"""Records the sample sessions: `python -m tests.sessions.samples`, from the checkout, on a machine at rest.

The shipped clips talk to the real pipeline, in real time, and the program records it. What is kept of that goes to
``recordings/sample-*`` in the place of what was there.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from voicetui.config import parse_config
from voicetui.events.session import TierChosen
from voicetui.headless import hold
from voicetui.rehearse.person import Person
from voicetui.rehearse.scenario import Line, Scenario
from voicetui.sound.microphone import FileMicrophone
from voicetui.wiring import Choice, load_clips, wire

ROOT: Final = Path(__file__).resolve().parents[2]
RECORDINGS: Final = ROOT / "recordings"
KEPT: Final = ("journal.jsonl", "user.wav", "reply.wav")
"""What a sample holds. A log holds the paths of a machine."""

CONFIG: Final = """
[record]
folder = "kept"

[[tiers]]
name = "local"
kind = "local"
model = "smollm2-135m-instruct"
max_tokens = 24
extra = { stop = ["\\n"] }

[[tiers]]
name = "unreachable"
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
model = "none"
"""


@dataclass(frozen=True)
class Sample:
    """One session: what is said, and before which lines the tier is changed."""

    name: str
    lines: tuple[Line, ...]
    tiers: Mapping[int, str] = field(default_factory=dict)


def line(*say: str | float, over: bool = False, after_ms: float = 300.0) -> Line:
    """Clips by their names, and pauses."""
    clips = tuple(str(ROOT / "assets" / "clips" / f"{each}.wav") if isinstance(each, str) else each for each in say)
    return Line(say=clips, when="reply" if over else "idle", after_ms=after_ms)


SAMPLES: Final = (
    Sample(
        "sample-call",
        (line("capital-of-france"), line("do-you-know-the", 550, "largest-planet"), line("capital-of-italy")),
    ),
    Sample(
        "sample-trouble",
        (
            line("cup-of-tea"),
            line("okay", over=True, after_ms=900),
            line("stop-capital-of-japan", over=True, after_ms=3000),
            line("thank-you"),
        ),
        {3: "unreachable"},
    ),
)


def record(sample: Sample) -> Path:
    """Hold the conversation; the folder of its recording, in the working folder."""
    scenario = Scenario(title=sample.name, lines=sample.lines)
    sounds = load_clips(scenario)
    choice = Choice("run", headphones=True, output="null", scenario=scenario)
    wired = wire(parse_config(CONFIG, "the samples' configuration"), choice, sounds=sounds)
    begun = 0

    def choose(_: Line) -> None:
        nonlocal begun
        if begun in sample.tiers:
            wired.session.post(TierChosen(sample.tiers[begun]))
        begun += 1

    assert isinstance(wired.microphone, FileMicrophone) and wired.folder is not None
    wired.person = Person(scenario, sounds, wired.microphone, wired.watch, wired.clock, choose)
    asyncio.run(hold(wired))
    return wired.folder


def keep(folder: Path, sample: Sample) -> None:
    """Put a recording where the sample belongs, under its name."""
    place = RECORDINGS / sample.name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name in KEPT:
        shutil.copyfile(folder / name, place / name)
    journal = place / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(folder.name.encode(), sample.name.encode()))
    size = sum(path.stat().st_size for path in place.iterdir())
    print(f"{place.relative_to(ROOT)}: {size / 1e6:.2f} MB")


def main() -> None:
    """Record those named on the command line, or all."""
    wanted = sys.argv[1:] or [sample.name for sample in SAMPLES]
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for sample in SAMPLES:
            if sample.name in wanted:
                keep(record(sample), sample)


if __name__ == "__main__":
    main()
