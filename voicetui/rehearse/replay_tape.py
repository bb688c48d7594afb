"""A recorded session as if it went on: its journal up to a position that plays, stands, or is moved.

To the screen it is a session like a live one. Nothing in it is ever written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from typing import Final, Literal, Protocol

import numpy as np

from voicetui.events import Entry, Fact
from voicetui.journal.check import finished
from voicetui.ports import Pcm16
from voicetui.runtime.engine import DeviceList, Levels
from voicetui.sound.rates import SILENCE_DBFS, level_dbfs
from voicetui.views.breakdown import finite
from voicetui.views.sample_clock import SampleClock

SPEEDS: Final = (0.5, 1.0, 2.0, 4.0, 8.0)
State = Literal["playing", "paused", "waiting", "end"]
"""``waiting``: the position has come to the end of a session that is still being written."""

_PIECE_SAMPLES: Final = 320
_WAVE_PIECES: Final = 100
_LONG_WAVE_PIECES: Final = 3000
"""How much sound before the position is looked at after a jump: what the screen keeps of it, one minute."""
_LOOK_EVERY_MS: Final = 250.0
"""How often a session that is still being written is looked at."""
_BACKWARDS_MS: Final = 60_000.0
"""How far times may run backwards between sources, and more: a turn is far shorter."""
_AHEAD_MS: Final = 500.0
"""How much must have been written before playing goes on that had come to the end of a growing session."""


class Track(Protocol):
    """One recorded track, see ``voicetui.journal.track_sound``."""

    @property
    def end(self) -> int:
        """How many samples there are."""

    def refresh(self) -> bool:
        """Look again; whether there is more."""

    def read(self, first: int, count: int) -> Pcm16:
        """int16 [count] from sample ``first`` on."""


@dataclass(frozen=True, slots=True)
class Motion:
    """From ``position_ms`` at ``clock_ms`` on ``speed`` ms of the session in a ms; 0 while it stands.

    Whoever plays the sound goes by it; another object means that it changed.
    """

    position_ms: float
    clock_ms: float
    speed: float

    def at(self, clock_ms: float) -> float:
        """The position then."""
        return self.position_ms + (clock_ms - self.clock_ms) * self.speed


class Tape:
    """Implements what the screen needs of a session, and what it needs to move in it. For one thread; ``motion``,
    ``muted`` and the tracks may be looked at from any.
    """

    def __init__(
        self,
        clock_ms: Callable[[], float],
        entries: Sequence[Entry],
        user: Track,
        reply: Track,
        poll: Callable[[], tuple[Sequence[Entry], bool]] | None = None,
        problems: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """``clock_ms`` is the time of the person who watches. ``poll`` gives what a session that is being written has
        gained, and whether it goes on; ``problems`` says what could not be read.
        """
        self.clock_ms = clock_ms
        """The time of the person who watches."""
        self._entries: list[Entry] = []
        self._due_ms: list[float] = []
        self.tracks = {"user": user, "reply": reply}
        self.sample_clock = SampleClock()
        self._poll = poll
        self._problems = problems
        self._written = poll is not None
        self._looked_ms = clock_ms()
        self._shown: int | None = None
        self._speed = 1.0
        self._playing = False
        self._stopped = False
        self._jumped = True
        self._levels: tuple[object, Levels] | None = None
        self.muted: frozenset[str] = frozenset()
        self.redacted = False
        """Whether words or sound were taken out of it."""
        self.silent = ""
        """Why nothing is heard while it plays; told by whoever plays the sound."""
        self.motion = Motion(0.0, self._looked_ms, 0.0)
        self.failure: BaseException | None = None
        self._take(entries)

    # ---- what every session has

    @property
    def running(self) -> bool:
        """Until it is stopped."""
        return not self._stopped

    def now_ms(self) -> float:
        """The position, ms on the session clock."""
        return self._position()

    def entries_since(self, index: int) -> Sequence[Entry]:
        """The entries from ``index`` up to the position."""
        return self._entries[index : self.shown]

    def levels(self) -> Levels:
        """How loud both tracks are at the position; after a jump with a long wave before it."""
        end = self.sample_clock.sample_at(self._position())
        key = (end, self._jumped, *(track.end for track in self.tracks.values()))
        if self._levels is None or self._levels[0] != key:
            pieces = _LONG_WAVE_PIECES if self._jumped else _WAVE_PIECES
            end -= end % _PIECE_SAMPLES
            user, reply = (
                self.tracks[side].read(end - pieces * _PIECE_SAMPLES, pieces * _PIECE_SAMPLES)
                for side in ("user", "reply")
            )
            levels = Levels(
                level_dbfs(user[-800:]),
                level_dbfs(reply[-800:]),
                _wave_dbfs(user.reshape(-1, _PIECE_SAMPLES)),
                _wave_dbfs(reply.reshape(-1, _PIECE_SAMPLES)),
            )
            self._levels = ((key[0], False, *key[2:]), levels)
            self._jumped = False
        return self._levels[1]

    def post(self, fact: Fact) -> None:
        """A recorded session takes no commands."""

    def devices(self) -> DeviceList:
        """It uses none."""
        return DeviceList()

    def stop(self, why: str = "user") -> None:
        """Put it away. Safe to call from any thread."""
        del why
        self._stopped, self._playing = True, False
        now_ms = self.clock_ms()
        self.motion = Motion(self.motion.at(now_ms), now_ms, 0.0)

    def join(self, seconds: float) -> bool:
        """It needs no time to end."""
        del seconds
        return self._stopped

    # ---- where it is

    @property
    def shown(self) -> int:
        """How many entries lie before the position."""
        position_ms = self._position()
        return self._shown if self._shown is not None else bisect_right(self._due_ms, position_ms)

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries so far, in order."""
        return self._entries

    @property
    def length_ms(self) -> float:
        """Where the last entry or sound is."""
        last_ms = self._due_ms[-1] if self._due_ms else 0.0
        end = max(track.end for track in self.tracks.values())
        return max(last_ms, self.sample_clock.at_ms(end) if end else 0.0)

    @property
    def closed(self) -> bool:
        """Whether the session ended in order."""
        return finished(self._entries)

    @property
    def growing(self) -> bool:
        """Whether the session is still being written."""
        return self._written

    @property
    def state(self) -> State:
        """What it does."""
        if self._playing:
            return "playing" if self.motion.speed else "waiting"
        over = self._position() >= self.length_ms and self.shown == len(self._entries)
        return "end" if over and not self.growing else "paused"

    @property
    def speed(self) -> float:
        """Of ``SPEEDS``."""
        return self._speed

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read, a sentence each."""
        return tuple(self._problems())

    def due_ms(self, index: int) -> float:
        """When entry ``index`` is shown: its time, or that of an entry before it, whichever is later."""
        return self._due_ms[index]

    # ---- moving it

    def play(self) -> None:
        """Go on from here; at the end, from the beginning."""
        if self._position() >= self.length_ms and not self.growing:
            self.seek(0.0)
        self._playing, self._shown = True, None
        self._move(self._position(), self._speed)

    def pause(self) -> None:
        """Stand still."""
        self._move(self._position(), 0.0)
        self._playing = False

    def seek(self, position_ms: float) -> None:
        """Go there, and play on if it was playing."""
        self._shown, self._jumped = None, True
        self._move(min(max(0.0, position_ms), self.length_ms), self._speed if self._playing else 0.0)

    def step(self, entries: int) -> None:
        """So many entries on (or back, if negative), one at a time even where several have the same time; stands."""
        shown = min(max(1, self.shown + entries), len(self._entries))
        self._playing = False
        if self._entries:
            self._jumped = True
            self._move(self._due_ms[shown - 1], 0.0)
            self._shown = shown

    def quicken(self, steps: int) -> None:
        """Faster, or slower (negative)."""
        place = SPEEDS.index(self._speed) + steps
        self._speed = SPEEDS[min(max(0, place), len(SPEEDS) - 1)]
        if self._playing:
            self._move(self._position(), self._speed)

    def mute(self, side: Literal["user", "reply"]) -> None:
        """Let that track not be heard, or be heard again."""
        self.muted = self.muted ^ {side}

    def look(self) -> None:
        """See whether the session was written on, where that can be; not more often than four times a second."""
        now_ms = self.clock_ms()
        if self._poll is None or not self._written or now_ms - self._looked_ms < _LOOK_EVERY_MS:
            return
        self._looked_ms = now_ms
        entries, self._written = self._poll()
        self._take(entries)
        for track in self.tracks.values():
            track.refresh()

    # ----

    def _take(self, entries: Sequence[Entry]) -> None:
        """Add entries, each due at the latest time so far; one that is far ahead of all after it has a wrong time."""
        times_ms = [finite(entry.at) for entry in entries]
        soonest_after_ms = list(accumulate((inf if at_ms is None else at_ms for at_ms in reversed(times_ms)), min))
        latest_ms = self._due_ms[-1] if self._due_ms else 0.0
        for entry, at_ms, soonest_ms in zip(entries, times_ms, reversed(soonest_after_ms), strict=True):
            if at_ms is not None:
                latest_ms = max(latest_ms, at_ms if at_ms <= soonest_ms + _BACKWARDS_MS else soonest_ms)
            self._entries.append(entry)
            self._due_ms.append(latest_ms)
            self.sample_clock.feed(entry)

    def _position(self) -> float:
        """Where it is now. Coming to the end it stands: for good, or until a growing session has got ahead."""
        self.look()
        if not self._playing:
            return self.motion.position_ms
        now_ms, length_ms = self.clock_ms(), self.length_ms
        position_ms = self.motion.at(now_ms)
        if self.motion.speed and position_ms >= length_ms:
            self._playing = self.growing
            self._move(length_ms, 0.0)
        elif not self.motion.speed and length_ms - position_ms >= _AHEAD_MS:
            self._move(position_ms, self._speed)
        elif not self.motion.speed and not self.growing:
            self._playing = False
            self._move(length_ms, 0.0)
        return min(position_ms, length_ms)

    def _move(self, position_ms: float, speed: float) -> None:
        self.motion = Motion(position_ms, self.clock_ms(), speed)


def _wave_dbfs(pieces: Pcm16) -> tuple[float, ...]:
    """The level of each row of int16 [pieces, n] in dB, as ``rates.levels_dbfs``, in a fifth of the time."""
    sound = pieces.astype(np.float32)
    power = np.einsum("ij,ij->i", sound, sound) / (pieces.shape[1] * 32768.0**2)
    levels: list[float] = (10 * np.log10(np.maximum(power, 10 ** (SILENCE_DBFS / 10)))).tolist()
    return tuple(levels)
