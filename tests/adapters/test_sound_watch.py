"""When a microphone that sends nothing but zeros is worth a message, and when it is the same story again."""

from __future__ import annotations

import numpy as np

from voicetui.sound.stream import SoundWatch

RATE_HZ = 16_000
BLOCK = RATE_HZ // 50


class Watched:
    """A watch, and what it told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.watch = SoundWatch(RATE_HZ, "card", self.told.append)
        self._random = np.random.default_rng(1)

    def zeros(self, seconds: float) -> None:
        for _ in range(round(seconds * 50)):
            self.watch.look(np.zeros(BLOCK, np.float32))

    def sound(self, seconds: float) -> None:
        for _ in range(round(seconds * 50)):
            self.watch.look(self._random.standard_normal(BLOCK).astype(np.float32))


def test_a_device_that_is_silent_between_sentences_is_told_of_once() -> None:
    """A virtual card, or one with a noise gate, sends zeros whenever nobody speaks."""
    watched = Watched()
    for _ in range(40):
        watched.sound(3)
        watched.zeros(4)
    assert len(watched.told) == 1 and "input silent: the microphone 'card'" in watched.told[0]


def test_a_device_that_falls_silent_after_a_minute_of_life_is_told_of_again() -> None:
    watched = Watched()
    watched.zeros(4)
    for _ in range(7):
        watched.sound(10)
        watched.zeros(1)
    watched.zeros(4)
    assert len(watched.told) == 2


def test_short_zeros_are_nothing() -> None:
    watched = Watched()
    for _ in range(10):
        watched.sound(1)
        watched.zeros(2.9)
    assert watched.told == []
