"""A recorded person: does again what they did, each piece when what it waits for has come, or all as it was."""

from __future__ import annotations

from collections.abc import Callable

from voicetui.events import Fact
from voicetui.events.session import Said
from voicetui.ports import RATE_HZ, Clock, Pcm16
from voicetui.rehearse.person import Mouth, Watch
from voicetui.rehearse.rerun import Act, Piece, Plan

_BREATH_MS = 400.0
"""No turn is over sooner than this after its last word; what was settled before that was something else."""

_UNNOTICED_MS = 2_000.0
"""What nothing has come of so long after it was said was not noticed."""

_GIVE_UP_MS = 60_000.0
_LEAST_LEAD = RATE_HZ // 10
"""The silence before the first word that is heard even when it is late already."""

_PER_MS = RATE_HZ / 1e3


class Again:
    """Does the pieces of a plan. ``track`` is int16 [n] at 16 kHz, the recorded microphone without its echo."""

    def __init__(
        self, plan: Plan, track: Pcm16, mouth: Mouth, watch: Watch, clock: Clock, post: Callable[[Fact], None]
    ) -> None:
        self._plan = plan
        self._track = track
        self._mouth = mouth
        self._watch = watch
        self._clock = clock
        self._post = post
        self._spoken_ms = -_BREATH_MS
        self.onsets_ms: list[float] = []
        """When each piece is done, as far as that is known."""
        self.finished = False

    async def perform(self) -> None:
        """Do every piece, then wait for the last to be answered."""
        watch = self._watch
        await watch.until(lambda: watch.ready or watch.closed, self._clock, float("inf"))
        for piece in self._plan.pieces:
            if not watch.closed:
                await self._do(piece, await self._awaited(piece))
        await self._until_settled()
        self.finished = not watch.closed

    async def _awaited(self, piece: Piece) -> float:
        """When what the piece waits for came, ms."""
        if piece.when == "idle":
            await self._until_settled()
            return self._watch.settled_ms
        since_ms = self.onsets_ms[piece.over]
        await self._until_settled(lambda: self._reply_start_ms(since_ms) is not None)
        start_ms = self._reply_start_ms(since_ms)
        return self._watch.settled_ms if start_ms is None else start_ms

    def _reply_start_ms(self, since_ms: float) -> float | None:
        """When the reply to what was said at ``since_ms`` began.

        Where that was a bid for the floor there, and is none here, the reply it came over goes on: from its being
        dropped on.
        """
        watch = self._watch
        start_ms = next((start_ms for start_ms in watch.reply_starts_ms if start_ms > since_ms), None)
        dropped = not watch.utterance_open and watch.last_resolved_ms > max(since_ms, self._spoken_ms - _BREATH_MS)
        if start_ms is None and dropped and watch.reply_start_ms is not None:
            return watch.last_resolved_ms
        return start_ms

    async def _until_settled(self, or_else: Callable[[], bool] = lambda: False) -> None:
        """Wait until everything said is answered or dropped, or was not noticed; or else ``or_else``."""
        watch, clock = self._watch, self._clock

        def settled() -> bool:
            return watch.closed or or_else() or (watch.idle and watch.last_resolved_ms > self._spoken_ms - _BREATH_MS)

        def idle() -> bool:
            return watch.closed or or_else() or watch.idle

        if not await watch.until(settled, clock, self._spoken_ms + _UNNOTICED_MS):
            await watch.until(idle, clock, clock.now_ms() + _GIVE_UP_MS)

    async def _do(self, piece: Piece, since_ms: float) -> None:
        """Do a piece ``after_ms`` after ``since_ms``, or as soon as possible."""
        onset_ms = max(self._clock.now_ms(), since_ms + piece.after_ms)
        ends_ms = onset_ms
        if piece.spoken:
            first = piece.start_sample
            late = round((self._clock.now_ms() - onset_ms) * _PER_MS) + piece.onset_sample - first
            if late > 0:
                first += max(0, min(late, piece.onset_sample - first - _LEAST_LEAD))
            sound = self._track[first : piece.end_sample]
            begins_ms = self._mouth.play(sound, onset_ms - (piece.onset_sample - first) / _PER_MS)
            onset_ms = begins_ms + (piece.onset_sample - first) / _PER_MS
            ends_ms = begins_ms + (piece.silent_sample - first) / _PER_MS
            self._spoken_ms = ends_ms
        self.onsets_ms.append(onset_ms)
        for act in sorted(piece.acts, key=lambda act: act.after_ms):
            await self._act(act, onset_ms + act.after_ms)
        await self._clock.sleep_until(ends_ms)

    async def _act(self, act: Act, at_ms: float) -> None:
        await self._clock.sleep_until(at_ms)
        self._post(act.deed)
        if isinstance(act.deed, Said):
            self._spoken_ms = max(self._spoken_ms, self._clock.now_ms() + _BREATH_MS)


class Straight(Again):
    """Lets the whole track be heard as it was, and the hands do what they did at the same places."""

    async def perform(self) -> None:
        """Play the track to its end, then wait for the last to be answered."""
        watch, clock = self._watch, self._clock
        await watch.until(lambda: watch.ready or watch.closed, clock, float("inf"))
        if watch.closed:
            return
        zero_ms = self._mouth.play(self._track, None) if len(self._track) else clock.now_ms()
        self.onsets_ms = [zero_ms + piece.at_ms - self._plan.zero_ms for piece in self._plan.pieces]
        for act in self._plan.acts:
            await self._act(act, zero_ms + act.after_ms)
        await clock.sleep_until(zero_ms + len(self._track) / _PER_MS)
        await self._until_settled()
        self.finished = not watch.closed
