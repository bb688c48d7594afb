"""Word errors of the short window against the padded one, on all clips together, and what each costs.

``python -m tests.acoustic.window_errors``: every sentence of ``pausing`` in every voice and the shipped clips (and,
where it is there, a recorded speech), each read by both windows as a session gives it to them: some silence before,
the pause after, in ``ROOMS``; where a clip begins in the window changes a few words either way, so one is too few.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

import numpy as np

from tests.adapters.hearing import RECORDINGS, read
from tests.adapters.pausing import FINISHED, PAUSED, VOICES, in_room, silence_ms, spoken
from voicetui.config import assets
from voicetui.events.orders import Window
from voicetui.events.words import normalise_words
from voicetui.listen.whisper import WhisperRecogniser
from voicetui.models import path_of
from voicetui.ports import Pcm16
from voicetui.rehearse.outcome import word_errors
from voicetui.runtime.clock import SystemClock
from voicetui.sound.wav import read_audio

_SPEECH = "And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country."
WINDOWS: tuple[Window, ...] = ("short", "padded")
ROOMS = ((300, 70), (200, 120), (500, 50))
"""The silence before and after, ms."""


def clips() -> Iterator[tuple[str, Pcm16]]:
    """Every clip with its words, int16 [n] at 16 kHz."""
    for voice in VOICES:
        for sentence in (*FINISHED, *PAUSED):
            yield sentence.replace("| ", ""), spoken(sentence.replace("| ", ""), voice)
    script = tomllib.loads((assets() / "scenarios" / "bench.toml").read_text("utf-8"))
    for line in script["lines"]:
        pieces = [
            silence_ms(each) if not isinstance(each, str) else read_audio(assets() / "scenarios" / each)[0]
            for each in line["say"]
        ]
        yield line["text"], np.concatenate(pieces)
    if (RECORDINGS / "jfk.flac").is_file():
        yield _SPEECH, read(RECORDINGS / "jfk.flac")


def main() -> None:
    """Print the sums."""
    clock = SystemClock()
    recogniser = WhisperRecogniser(path_of("whisper-tiny.en"), clock=clock, language="en")
    recogniser.warm()
    said = list(clips())
    errors = dict.fromkeys(WINDOWS, 0)
    took_ms: dict[Window, list[float]] = {window: [] for window in WINDOWS}
    words = 0
    for before_ms, after_ms in ROOMS:
        here = dict.fromkeys(WINDOWS, 0)
        for text, sound in said:
            reference = normalise_words(text)
            heard = in_room(silence_ms(before_ms), sound, silence_ms(after_ms))
            words += len(reference)
            for window in WINDOWS:
                started_ms = clock.now_ms()
                found = recogniser.recognise(heard, True, window)
                took_ms[window].append(clock.now_ms() - started_ms)
                here[window] += word_errors(reference, normalise_words(found.text))
        print(f"{before_ms} ms before, {after_ms} ms after:", here, flush=True)
        errors = {window: errors[window] + here[window] for window in WINDOWS}
    for window in WINDOWS:
        count, median_ms = len(took_ms[window]), np.median(took_ms[window])
        print(f"{window:7} {errors[window]:4} of {words} words wrong, {median_ms:.0f} ms a clip (median, n = {count})")


if __name__ == "__main__":
    main()
