"""Whether a recording can be judged at all, and when it is made again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soxr
from numpy.typing import NDArray

from tests.acoustic.again import StumbledError, carried, once_more
from tests.acoustic.bus import RATE_HZ
from voicetui.sound.wav import read_audio

CLIPS = [
    Path(__file__).resolve().parents[2] / "assets" / "clips" / f"{name}.wav"
    for name in ("capital-of-france", "einstein", "capital-of-france")
]


def user_side() -> NDArray[np.float32]:
    """The clips as the bus has them: a little quieter, 4 s apart, with the faintest noise."""
    parts = []
    for clip in CLIPS:
        said = soxr.resample(read_audio(clip)[0].astype(np.float32) / 32768, 16_000, RATE_HZ)
        parts += [np.zeros(2 * RATE_HZ), 0.9 * said, np.zeros(2 * RATE_HZ)]
    whole = np.concatenate(parts)
    return (whole + 1e-5 * np.random.default_rng(0).standard_normal(len(whole))).astype(np.float32)


def test_what_got_through_can_be_judged() -> None:
    carried(user_side(), CLIPS)


@pytest.mark.parametrize("hole_ms", [40, 80])
def test_a_hole_in_what_was_said_is_seen(hole_ms: int) -> None:
    sound = user_side()
    at = int(np.argmax(np.abs(sound) > 0.1)) + RATE_HZ // 2
    hole = np.zeros(hole_ms * RATE_HZ // 1000, np.float32)
    with pytest.raises(StumbledError, match="capital-of-france"):
        carried(np.concatenate((sound[:at], hole, sound[at:])), CLIPS)


def test_only_a_sound_card_that_stumbled_gets_two_more_tries(tmp_path: Path) -> None:
    tries: list[str] = []

    def stumbles_once(folder: Path) -> None:
        tries.append(folder.name)
        if len(tries) == 1:
            raise StumbledError("half of it")

    once_more(stumbles_once, tmp_path / "a")
    assert tries == ["first", "again"]

    def wrong(folder: Path) -> None:
        tries.append(folder.name)
        raise AssertionError("off by 200 ms")

    with pytest.raises(AssertionError, match="off by"):
        once_more(wrong, tmp_path / "b")
    assert tries == ["first", "again", "first"]

    def never(folder: Path) -> None:
        tries.append(folder.name)
        raise StumbledError("never")

    with pytest.raises(StumbledError):
        once_more(never, tmp_path / "c")
    assert tries[3:] == ["first", "again", "last"]
