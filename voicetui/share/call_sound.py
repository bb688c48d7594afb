"""The sound of a call recorded elsewhere: its two sides as tracks, and when each of them was heard."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voicetui.events.sound import DeviceOpened
from voicetui.listen.levels import HOP_SAMPLES, SILENCE_DBFS, LevelTrack
from voicetui.listen.vad import SileroDetector
from voicetui.ports import RATE_HZ, Pcm16, SoundError, VoiceEdge
from voicetui.share.call_turns import Stretch
from voicetui.share.crosstalk import is_leak, leaked
from voicetui.sound.pieces import SoundFile, open_sound
from voicetui.sound.rates import ResampleStream, to_int16
from voicetui.sound.wav import WavWriter

AUDIBLE_DBFS: Final = -50.0
"""The level from which on a 5 ms hop of a reply is heard."""
_ABOVE_ROOM_DB: Final = 10.0
_DIP_HOPS: Final = 12
"""Hops below the level that do not end a sound: 60 ms, a stop consonant's hold."""
_REACH_HOPS: Final = 50
"""How far the detector's edge may be from where the sound is first or last heard: 250 ms."""
_ALIKE: Final = 0.8
"""Two people who take turns correlate near 0, and with one in the other's channel 20 dB down near 0.2."""
_JOINED_MS: Final = 250.0
"""Shorter pauses in a reply's sound lie within words."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the call: a channel (from 0) of a file."""

    path: Path
    channel: int


@dataclass(frozen=True)
class Sides:
    """Where the two sides are. ``reply`` None: only the user was recorded. ``notes`` are sentences for the person."""

    user: Side
    reply: Side | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Heard:
    """A side that was listened to: the detector's edges in pairs (started, paused), and float32 [hops] levels, dBFS.

    ``opened`` is its file as the device it stands for; ``note`` a sentence about a fault of it that was mended, or "".
    """

    edges: tuple[tuple[VoiceEdge, VoiceEdge], ...]
    levels: NDArray[np.float32]
    opened: DeviceOpened
    note: str


def find_sides(call: Path, reply: Path | None, swap: bool) -> Sides:
    """The sides of a call: of a stereo file the left is the user's and the right the reply's, of two mono files each
    has its own; a single mono file is the user's. ``swap`` exchanges them. Raises ``SoundError``.
    """
    channels = _channels(call)
    if reply is None and channels == 1:
        if swap:
            raise SoundError(f"{call} has one channel: there is nothing to swap. Leave --swap out")
        note = f"{call} has one channel: it is taken for the user's side, and nothing is known of a reply."
        return Sides(Side(call, 0), None, (note,))
    if reply is None:
        if channels != 2:
            raise SoundError(
                f"{call} has {channels} channels, and a call has two: the user on the left, the reply on the right. "
                "Export those two alone"
            )
        if _alike(call):
            note = (
                f"{call} has the same sound in both channels: it is taken for the user's side. If somebody else "
                "speaks in it, too, the two cannot be told apart."
            )
            return Sides(Side(call, 0), None, (note,))
        sides = Side(call, 0), Side(call, 1)
    else:
        for path, count in ((call, channels), (reply, _channels(reply))):
            if count != 1:
                raise SoundError(
                    f"{path} has {count} channels; with --reply each side is a file of one channel. Export it as mono, "
                    "or leave --reply out if it holds both sides"
                )
        sides = Side(call, 0), Side(reply, 0)
    user, other = reversed(sides) if swap else sides
    return Sides(user, other)


def listen(side: Side, track: WavWriter) -> Heard:
    """Write a side as a track, 16 kHz, and hear it with the detector of the live ear. Raises ``SoundError``.

    Holds no more than a piece of the sound and its levels, 800 bytes a second, however long the call was.
    """
    detector, level_track = SileroDetector(), LevelTrack(1)
    edges: list[VoiceEdge] = []
    levels: list[NDArray[np.float32]] = []
    with open_sound(side.path) as file:
        for samples in _channel(file, side.channel):
            track.append(samples)
            edges += detector.feed(samples)
            levels.append(level_track.feed(samples).astype(np.float32))
        opened = DeviceOpened("input", file.path.name, "imported", file.rate_hz, file.channels, 0.0, "counted")
        note = file.note
    return Heard(_pairs(edges, detector), np.concatenate(levels), opened, note)


def without_leak(side: Side, own: Heard, other: Heard) -> Heard | None:
    """What is heard of a side once the other's leak is silenced; None where nothing was taken for speech that is leak.

    A clean recording is thus heard as the live ear hears it. Raises ``SoundError``.
    """
    leak = leaked(own.levels, other.levels)
    if not any(is_leak(own.levels, leak, *_hops(pair)) for pair in own.edges):
        return None
    detector = SileroDetector()
    edges: list[VoiceEdge] = []
    at = 0
    with open_sound(side.path) as file:
        for samples in _channel(file, side.channel):
            hop = np.arange(at, at + len(samples)) // HOP_SAMPLES
            silent = leak[np.minimum(hop, len(leak) - 1)]
            edges += detector.feed(np.where(silent, np.int16(0), samples))
            at += len(samples)
    leak = leaked(own.levels, other.levels, reach=2)
    return replace(own, edges=_pairs(edges, detector), levels=np.where(leak, np.float32(SILENCE_DBFS), own.levels))


def _pairs(edges: list[VoiceEdge], detector: SileroDetector) -> tuple[tuple[VoiceEdge, VoiceEdge], ...]:
    closing = detector.drop()
    edges = [*edges, closing] if closing is not None else edges
    return tuple(zip(edges[::2], edges[1::2], strict=True))


def _hops(pair: tuple[VoiceEdge, VoiceEdge]) -> tuple[int, int]:
    return pair[0].sample // HOP_SAMPLES, -(-pair[1].sample // HOP_SAMPLES)


def spoken_stretches(heard: Heard) -> list[Stretch]:
    """When somebody spoke, edge by edge as the live ear has them."""
    return [Stretch(_ms(started.sample), _ms(paused.sample)) for started, paused in heard.edges]


def audible_stretches(heard: Heard) -> list[Stretch]:
    """When a reply was heard: from its first audible 5 ms near where the detector found speech to the last."""
    found: list[Stretch] = []
    hops = [_hops(pair) for pair in heard.edges]
    limit_dbfs = max(AUDIBLE_DBFS, _room_dbfs(heard.levels, hops) + _ABOVE_ROOM_DB)
    for place in range(len(hops)):
        lowest = found[-1].end_ms * RATE_HZ / 1000 / HOP_SAMPLES if found else 0
        highest = hops[place + 1][0] if place + 1 < len(hops) else len(heard.levels)
        first, last = _loud(heard.levels >= limit_dbfs, *hops[place], round(lowest), highest)
        stretch = Stretch(_ms(first * HOP_SAMPLES), _ms(last * HOP_SAMPLES))
        if found and stretch.start_ms - found[-1].end_ms < _JOINED_MS:
            found[-1] = Stretch(found[-1].start_ms, stretch.end_ms)
        else:
            found.append(stretch)
    return found


def _room_dbfs(levels: NDArray[np.float32], speech: Iterable[tuple[int, int]]) -> float:
    """The median level of the whole track well away from speech: what the line sounds like when nobody speaks."""
    quiet = np.ones(len(levels), np.bool_)
    for first, last in speech:
        quiet[max(0, first - _REACH_HOPS) : last + _REACH_HOPS] = False
    return float(np.median(levels[quiet])) if quiet.any() else SILENCE_DBFS


def _loud(loud: NDArray[np.bool_], first: int, last: int, lowest: int, highest: int) -> tuple[int, int]:
    """The hops from the first loud one to behind the last, near the detector's ``first`` and ``last``.

    From each edge outwards as long as it stays loud, but for short dips; inwards to the first loud hop.
    """
    inside = np.flatnonzero(loud[first:last])
    if not len(inside):
        return first, last
    begin, end = first + int(inside[0]), first + int(inside[-1]) + 1
    for hop in range(begin - 1, max(lowest, first - _REACH_HOPS) - 1, -1):
        if loud[hop]:
            begin = hop
        elif begin - hop > _DIP_HOPS:
            break
    for hop in range(end, min(highest, last + _REACH_HOPS)):
        if loud[hop]:
            end = hop + 1
        elif hop - end >= _DIP_HOPS:
            break
    return begin, end


def _channel(file: SoundFile, channel: int) -> Iterator[Pcm16]:
    stream = ResampleStream(file.rate_hz)
    empty = True
    for piece in file.pieces:
        empty = empty and not len(piece)
        yield to_int16(stream.feed(piece[:, channel].astype(np.float32)))
    if empty:
        raise SoundError(f"{file.path} holds no sound: a header without one sample. Choose another file")
    yield to_int16(stream.flush())


def _channels(path: Path) -> int:
    with open_sound(path) as file:
        return file.channels


def _alike(path: Path) -> bool:
    """Whether both channels have much the same sound: one microphone, or a mix, tells nothing of who spoke."""
    products = np.zeros(3)
    with open_sound(path) as file:
        for piece in file.pieces:
            left, right = piece[:, 0].astype(np.float64), piece[:, 1].astype(np.float64)
            products += (left @ right, left @ left, right @ right)
    return bool(products[0] > _ALIKE * math.sqrt(products[1] * products[2]))


def _ms(sample: float) -> float:
    return sample * 1000 / RATE_HZ
