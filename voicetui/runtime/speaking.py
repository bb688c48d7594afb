"""The speaker and what it really played."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from voicetui.events.session import Fault
from voicetui.ports import Clock, Post, SoundError, Speaker
from voicetui.runtime.parts import ClauseSound, Parts, Player

SoundT = TypeVar("SoundT", bound=ClauseSound)
_POLL_MS = 10.0


async def open_speaker(parts: Parts[SoundT], clock: Clock, post: Post) -> Player[SoundT]:
    """Open the speaker; without one, a clock-paced null speaker, and say so.

    Raises ``SoundError`` if there is none of either.
    """
    try:
        return await _open(parts, parts.speaker, clock, post)
    except SoundError as error:
        if parts.fallback_speaker is None:
            raise
        remedy = "The reply goes to a silent, clock-paced speaker; see `voicetui devices`."
        post(Fault("speaker", str(error), remedy), clock.now_ms())
        parts.speaker = parts.fallback_speaker()
        return await _open(parts, parts.speaker, clock, post)


async def _open(parts: Parts[SoundT], speaker: Speaker, clock: Clock, post: Post) -> Player[SoundT]:
    player = parts.make_player(post, await speaker.prepare())
    post(await speaker.open(player.renderer), clock.now_ms())
    return player


async def watch_playback(current: Callable[[], Player[SoundT] | None], parts: Parts[SoundT], clock: Clock) -> None:
    """Tell the session what the current player is heard to play, and record it, until cancelled."""
    while True:
        await clock.sleep_until(clock.now_ms() + _POLL_MS)
        player = current()
        if player is not None:
            collect_playback(player, parts)


def collect_playback(player: Player[SoundT], parts: Parts[SoundT]) -> None:
    """Post what was heard since the last call, and record it on the microphone's sample clock."""
    if player.busy:
        player.poll()
    rate_hz = player.renderer.rate_hz
    for dac_ms, samples in player.renderer.drain_played():
        parts.meter.hear(dac_ms, samples, rate_hz)
        if parts.recorder is not None:
            parts.recorder.reply(parts.ear.sample_at(dac_ms), samples, rate_hz)
