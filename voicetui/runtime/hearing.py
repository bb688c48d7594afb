"""From the microphone's blocks to speech edges, with their times; and the pairing of samples with the clock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Protocol, TypeVar

from voicetui.events.listen import SoundRose, SpeechPaused, SpeechStarted
from voicetui.events.session import Fault
from voicetui.events.sound import RATE_HZ, ClockMapped, DeviceLost, DeviceOpened, EchoLost, SoundLost
from voicetui.ports import Block, Clock, Microphone, Post, SoundError, VoiceEdge
from voicetui.runtime.parts import ClauseSound, Ear, Parts

SoundT = TypeVar("SoundT", bound=ClauseSound)
_MAP_EVERY_SAMPLES = 10 * RATE_HZ


class Gate(Protocol):
    """What the reply means for the ear: whether the detector may hear, and what is played."""

    def shut(self, at_ms: float) -> bool:
        """Whether sound that was at the ADC at ``at_ms`` is kept from the detector."""

    def tell_played(self) -> None:
        """Tell what the speaker played so far: a canceller must know it before it hears it."""

    @property
    def speaking(self) -> bool:
        """Whether a reply is on the speaker."""


async def listen(
    microphone: Microphone,
    parts: Parts[SoundT],
    clock: Clock,
    gate: Gate,
    post: Post,
    is_muted: Callable[[], bool],
    opened: DeviceOpened | None = None,
) -> None:
    """Hear the microphone until it ends, is lost, or the task is cancelled.

    Opens it first; or, if it is ``opened`` already, in the place of another, goes on with the track where it stands.
    """
    name, joined = "microphone", opened is not None
    reason = "no microphone was open" if joined else "the device lost sound"
    try:
        opened = opened or await microphone.open()
        name = opened.name
        parts.in_use["input"] = opened
        post(opened, clock.now_ms())
        blocks = _after_a_break(microphone.blocks(), parts.ear) if joined else microphone.blocks()
        next_map = 0
        async for block in blocks:
            muted = is_muted()
            if parts.canceller is not None:
                gate.tell_played()
            edges = parts.ear.hear(block, gate.shut(block.at_ms), muted)
            if parts.recorder is not None:
                parts.recorder.user(block.samples * 0 if muted else block.samples, block.lost)
            if block.lost:
                lost = SoundLost("input", block.sample - block.lost, block.lost, 1, reason)
                post(lost, parts.ear.at_ms(block.sample - block.lost))
                reason = "the device lost sound"
            if block.sample >= next_map:
                post(ClockMapped(block.sample), parts.ear.at_ms(block.sample))
                next_map = block.sample + _MAP_EVERY_SAMPLES
            for edge in edges:
                if edge.kind != "rose" or gate.speaking:
                    post_edge(edge, parts.ear, post)
            if parts.canceller is not None and parts.canceller.trouble:
                post(EchoLost(parts.canceller.trouble), clock.now_ms())
                parts.canceller = None
    except SoundError as error:
        post(DeviceLost("input", name, str(error)), clock.now_ms())
        post(Fault("microphone", str(error), "Type instead of speaking, or choose another input."), clock.now_ms())
    except Exception:
        post(DeviceLost("input", name, "it stopped for a reason of its own"), clock.now_ms())
        raise
    finally:
        await microphone.close()


async def _after_a_break(blocks: AsyncIterator[Block], ear: Ear) -> AsyncIterator[Block]:
    """The blocks in the track's sample numbers; the time without a microphone is lost before the first."""
    shift: int | None = None
    async for block in blocks:
        if shift is None:
            end = ear.raw_end
            shift = ear.go_on(block.at_ms) - block.sample
            yield replace(block, sample=block.sample + shift, lost=block.sample + shift - end)
        else:
            yield replace(block, sample=block.sample + shift)


def post_edge(edge: VoiceEdge, ear: Ear, post: Post) -> None:
    """Post a detector's finding as a fact at the ADC time of its sample."""
    at_ms, noticed_ms = ear.at_ms(edge.sample), ear.at_ms(edge.noticed_sample)
    if edge.kind == "rose":
        post(SoundRose(edge.sample, round(noticed_ms, 1)), at_ms)
    elif edge.kind == "started":
        post(SpeechStarted(edge.sample, round(noticed_ms, 1)), at_ms)
    else:
        fact = SpeechPaused(
            edge.sample,
            round(edge.uncertainty_ms, 1),
            round(noticed_ms, 1),
            round(edge.level_dbfs, 1),
            round(edge.noise_dbfs, 1),
        )
        post(fact, at_ms)
