"""People who pause in mid-sentence, made of flite and Piper voices: where a sentence is cut, and finished ones.

A sentence is spoken whole and cut between two words, so that its melody does not fall before the pause.
"""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import soxr

from tests.adapters.hearing import as_pcm, noise, read
from voicetui.models import path_of
from voicetui.ports import RATE_HZ, Pcm16
from voicetui.runtime.clock import SystemClock
from voicetui.speak.piper_voice import PiperVoice

PIPER: Final = "joe"
VOICES: Final = ("slt", "rms", PIPER)
ROOM_DBFS: Final = -62.0

PAUSED: Final = (
    "I want to reset the | panel in the kitchen.",
    "Could you tell me what | the weather is like today?",
    "I would like to book a table for | two people on Friday.",
    "What is the capital | of Australia?",
    "My favourite colour is | probably dark green.",
    "Can you remind me to | call my sister tomorrow?",
    "I was thinking that | we could go to the beach.",
    "Please send the letter to | the office in London.",
    "How long does it take | to boil an egg?",
    "The reason I am calling is | that my order has not arrived.",
    "Tell me a story about | a dragon and a small boy.",
    "I need a recipe with | rice and black beans.",
    "She told me that the meeting | was moved to Thursday.",
    "Do you know if | the museum is open on Sunday?",
    "I have two dogs and | a very old cat.",
    "Who wrote the book | about the white whale?",
    "When I was young, | we lived by the sea.",
    "Please turn off the lights in | the living room and the hall.",
    "I think it was | about ten years ago.",
    "Explain how a | steam engine works.",
    "What is the difference between | a crocodile and an alligator?",
    "My phone number is | five five five one two three four.",
    "I am looking for a present for | my grandmother.",
    "Is there a train | that leaves before nine?",
    "We bought the house because | it has a large garden.",
    "The last time we spoke | you promised me a refund.",
    "Could you spell your | last name for me?",
    "I would prefer | something a little cheaper.",
    "How many people live | in the city of Tokyo?",
    "If it rains tomorrow, | we will stay at home.",
    "I would like to order, um, | a large pizza.",
    "Can we meet on, uh, | Wednesday afternoon?",
    "My address is, um, | forty two Church Street.",
    "So, um, | what are the opening hours?",
)
"""Where the bar is, a pause comes. Even ones are for tuning, odd ones are held out."""

FINISHED: Final = (
    "What is the capital of France?",
    "How do I make a cup of tea?",
    "I would like a large coffee.",
    "Who was Albert Einstein?",
    "Thank you, that was helpful.",
    "Tell me a joke.",
    "Yes, please.",
    "The meeting is at three o'clock.",
    "Can you help me with my homework?",
    "I don't think so.",
    "What time is it?",
    "My name is Robert.",
    "Turn off the lights in the kitchen.",
    "How far away is the moon?",
    "That is all.",
    "We went to Spain last summer.",
    "Is it going to rain tomorrow?",
    "Okay, let's do that.",
    "I need a new pair of shoes.",
    "What does this word mean?",
    "Please call me back on Monday.",
    "Good morning.",
    "Why is the sky blue?",
    "I have never been there.",
    "Do you have any questions for me?",
    "The blue one.",
    "How old are you?",
    "I would like to speak to a manager.",
    "No, not today.",
    "Could you repeat the last sentence?",
)


@cache
def spoken(text: str, voice: str) -> Pcm16:
    """``text`` without the silence around it, int16 [n] at 16 kHz, peak at -6 dBFS."""
    return _trimmed(_whole(text, voice))


@cache
def halves(sentence: str, voice: str) -> tuple[Pcm16, Pcm16]:
    """The sound of a ``PAUSED`` sentence before and after its bar, with the edges faded over 10 ms."""
    head, tail = (part.strip() for part in sentence.split("|"))
    whole = f"{head} {tail}"
    sound = _whole(whole, voice)
    cut_s = _cut_of_piper_s(head, whole) if voice == PIPER else _cut_of_flite_s(head, whole, voice)
    first, second = np.split(sound.astype(np.float64), [round(cut_s * RATE_HZ)])
    fade = np.linspace(1.0, 0.0, RATE_HZ // 100)
    first[-fade.size :] *= fade
    second[: fade.size] *= fade[::-1]
    return _trimmed(as_pcm(first)), _trimmed(as_pcm(second))


def _trimmed(sound: Pcm16) -> Pcm16:
    loud = np.flatnonzero(np.abs(sound.astype(np.int32)) > 300)
    return sound[loud[0] : loud[-1] + 1]


@cache
def _whole(text: str, voice: str) -> Pcm16:
    if voice == PIPER:
        sound = soxr.resample(np.concatenate(list(_piper().synthesize(text))), _piper().rate_hz, RATE_HZ)
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "said.wav"
            subprocess.run(["flite", "-voice", voice, "-t", text, "-o", str(path)], check=True, capture_output=True)
            sound = read(path) / 32768
    return as_pcm(sound * (16_422 / np.abs(sound).max()))


@cache
def _piper() -> PiperVoice:
    return PiperVoice(path_of("piper-en_US-joe-medium"), threads=1, clock=SystemClock())


def _cut_of_piper_s(head: str, whole: str) -> float:
    """Where ``head`` ends: between the groups of ``whole`` at which as many phonemes are over as ``head`` has."""
    count = sum(group.phonemes for piece in _piper().synthesize_timed(head) for group in piece.groups or ())
    (piece,) = _piper().synthesize_timed(whole)
    groups = piece.groups or ()
    over = np.cumsum([group.phonemes for group in groups])
    at = int(np.abs(over[:-1] - count).argmin())
    return (groups[at].end + groups[at + 1].start) / 2 / _piper().rate_hz


def _cut_of_flite_s(head: str, whole: str, voice: str) -> float:
    """Where ``head`` ends: at the end of the last of the segments of ``whole`` that ``head`` has, too."""
    heads = [segment for segment in _segments(head, voice) if not segment.startswith("pau")]
    ends = [float(segment.partition(":")[2]) for segment in _segments(whole, voice) if not segment.startswith("pau")]
    return ends[len(heads) - 1]


def _segments(text: str, voice: str) -> list[str]:
    asked = ["flite", "-voice", voice, "-psdur", "-t", text, "-o", "none"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()


def in_room(*parts: Pcm16, seed: int = 1) -> Pcm16:
    """The parts one after another in a quiet room. What comes before a place does not depend on what follows it."""
    sound = np.concatenate(parts)
    return as_pcm(sound.astype(np.float64) + noise(sound.size / RATE_HZ, ROOM_DBFS, seed))


def silence_ms(ms: float) -> Pcm16:
    """Digital silence."""
    return np.zeros(round(ms * RATE_HZ / 1000), np.int16)
