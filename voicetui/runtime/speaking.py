"""The speaker and what it really played."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from voicetui.events.session import Fault
from voicetui.ports import Clock, Post, SoundError
from voicetui.runtime.parts import ClauseSound, Parts, Player

SoundT = TypeVar("SoundT", bound=ClauseSound)
_POLL_MS = 10.0


async def open_speaker(parts: Parts[SoundT], clock: Clock, post: Post) -> Player[SoundT]:
    """Open the speaker; without one, a clock-paced null speaker, and say so.

    Raises ``SoundError`` if there is none of either.
    """
    try:
        return await open_player(parts, clock, post)
    except SoundError as error:
        return await open_silent(parts, clock, post, str(error))


async def open_silent(parts: Parts[SoundT], clock: Clock, post: Post, why: str) -> Player[SoundT]:
    """Open the clock-paced null speaker and say why. Raises ``SoundError`` if there is none."""
    if parts.fallback_speaker is None:
        raise SoundError(why)
    remedy = "The reply goes to a silent, clock-paced speaker; see `voicetui devices`."
    post(Fault("speaker", why, remedy), clock.now_ms())
    parts.speaker = parts.fallback_speaker()
    return await open_player(parts, clock, post)


async def open_player(parts: Parts[SoundT], clock: Clock, post: Post) -> Player[SoundT]:
    """Open the session's speaker and what plays on it. Raises ``SoundError``."""
    player = parts.make_player(post, await parts.speaker.prepare())
    parts.in_use["output"] = opened = await parts.speaker.open(player.renderer)
    post(opened, clock.now_ms())
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
        sample = parts.ear.sample_at(dac_ms)
        if parts.canceller is not None:
            parts.canceller.played(sample, samples, rate_hz)
        if parts.recorder is not None:
            parts.recorder.reply(sample, samples, rate_hz)
