"""The two tracks of a session on disk, on one sample clock: what the microphone heard, what the speaker played."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from voicetui.events.sound import RATE_HZ
from voicetui.ports import Pcm16, PcmFloat, SoundError
from voicetui.sound.rates import ResampleStream, to_int16
from voicetui.sound.wav import WavWriter

_SLIP_SAMPLES = RATE_HZ // 50
"""A reply that is this far from where the last piece of it ended stands apart from it (20 ms); less is the stamps'
jitter.
"""


class Recorder:
    """Writes ``user.wav`` and ``reply.wav`` of a session.

    A full disk is reported once and stops the recording, not the session.
    """

    def __init__(self, folder: Path, report: Callable[[str], None]) -> None:
        """Create both files. Raises ``SoundError``."""
        self._user = WavWriter(folder / "user.wav")
        self._reply = WavWriter(folder / "reply.wav")
        self._report = report
        self._rate: ResampleStream | None = None
        self._broken = False

    def user(self, samples: Pcm16, lost: int) -> None:
        """The next int16 [n] of the microphone track, after ``lost`` samples of silence."""
        self._guard(lambda: self._append_user(samples, lost))

    def reply(self, sample: int, samples: PcmFloat, rate_hz: int) -> None:
        """float32 [n] at ``rate_hz`` of which the first was at the DAC when the microphone track was at ``sample``."""
        self._guard(lambda: self._append_reply(sample, samples, rate_hz))

    def close(self) -> None:
        """Make both tracks equally long and close them. Idempotent."""
        self._guard(self._finish)
        self._user.close()
        self._reply.close()

    def _append_user(self, samples: Pcm16, lost: int) -> None:
        self._user.pad_to(self._user.end + lost)
        self._user.append(samples)

    def _append_reply(self, sample: int, samples: PcmFloat, rate_hz: int) -> None:
        if self._rate is None or self._rate.from_hz != rate_hz or abs(sample - self._reply.end) > _SLIP_SAMPLES:
            self._flush_reply()
            self._reply.pad_to(sample)
            self._rate = ResampleStream(rate_hz)
        self._reply.append(to_int16(self._rate.feed(samples)))

    def _flush_reply(self) -> None:
        if self._rate is not None:
            self._reply.append(to_int16(self._rate.flush()))
            self._rate = None

    def _finish(self) -> None:
        self._flush_reply()
        self._reply.pad_to(self._user.end)
        self._user.pad_to(self._reply.end)

    def _guard(self, write: Callable[[], None]) -> None:
        if self._broken:
            return
        try:
            write()
        except (SoundError, OSError, ValueError) as error:
            self._broken = True
            self._report(f"The recording stopped: {error}")
