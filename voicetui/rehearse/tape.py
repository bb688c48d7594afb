"""The recorded microphone, made ready to be heard again: its echo taken out, and the noise of its room found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from voicetui.events.session import SessionOpened
from voicetui.events.sound import RATE_HZ, EchoMeasured
from voicetui.journal.recorded import Recorded, RecordedError
from voicetui.ports import Pcm16, SoundError
from voicetui.sound.echo import EchoCanceller, missing
from voicetui.sound.rates import to_float
from voicetui.sound.wav import read_parts

_ROOM = 2 * RATE_HZ
_LEAST_ROOM = RATE_HZ // 4
_SEAM = RATE_HZ // 50
_STEP = RATE_HZ
_AHEAD = RATE_HZ // 10
"""The reply is told to the canceller this much before its echo: more than it looks ahead."""


def recorded_track(recorded: Recorded, tell: Callable[[str], None]) -> Pcm16:
    """A session's microphone, int16 [n] at 16 kHz, without the echo of the replies that it heard then.

    Where an echo has to stay in, ``tell`` gets a sentence. Raises ``RecordedError``.
    """
    if recorded.written:
        raise RecordedError(f"{recorded.name} is still being written. End it first, then run it again.")
    if not any(recorded.folder.glob("user*.wav")):
        raise RecordedError(
            f"{recorded.name} has no recorded microphone, so nothing can be heard again: "
            f"{recorded.folder / 'user.wav'} is missing."
        )
    try:
        track, _ = read_parts(recorded.folder, "user")
    except SoundError as error:
        raise RecordedError(f"{recorded.name} cannot be run again: {error}.") from error
    if not _heard_itself(recorded.opened):
        return track
    lacks = missing()
    if lacks is not None:
        tell(f"The echo of the old replies stays in: {lacks.why}. To take it out: {lacks.mend}.")
        return track
    try:
        reply, _ = read_parts(recorded.folder, "reply")
    except SoundError as error:
        tell(f"The echo of the old replies stays in: {error}.")
        return track
    return without_echo(track, reply, [each.body for each in recorded.entries if isinstance(each.body, EchoMeasured)])


def _heard_itself(opened: SessionOpened | None) -> bool:
    """Whether the microphone heard the speaker: a person's did, without headphones."""
    return opened is not None and opened.source == "microphone" and opened.echo != "headphones"


def without_echo(user: Pcm16, reply: Pcm16, measured: Sequence[EchoMeasured] = ()) -> Pcm16:
    """``user`` with the echo of ``reply`` taken out; all int16 [n] at 16 kHz on the microphone's sample clock.

    ``measured`` is what the session found of its echo. Raises ``ImportError`` where the canceller is missing.
    """
    canceller = EchoCanceller()
    found = sorted((each for each in measured if each.delay_ms is not None), key=lambda each: each.delay_ms or 0.0)
    if found:
        canceller.align(found[len(found) // 2])
    sound = to_float(np.concatenate((reply, np.zeros(max(0, len(user) + _STEP - len(reply)), np.int16))))
    told, made = 0, []
    for start in range(0, len(user), _STEP):
        until = start + _STEP + _AHEAD
        canceller.played(told, sound[told:until], RATE_HZ)
        told = min(until, len(sound))
        made.append(canceller.clean(user[start : start + _STEP]))
    made.append(canceller.clean(np.zeros(RATE_HZ // 10, np.int16)))
    return np.concatenate(made)[: len(user)]


def room_of(track: Pcm16, taken: Sequence[tuple[int, int]]) -> Pcm16:
    """The noise of the room, int16 [n] at 16 kHz, which can be heard over and over: [0] where there is too little.

    It is a stretch of ``track`` that overlaps none of ``taken`` (start, end) in samples: of at most 2 s, and of the
    stretches there are, the one of middling loudness, for the loudest may hold a slammed door. Digital silence is the
    room only where there is nothing else.
    """
    free, at = [], 0
    for start, end in [*sorted(taken), (len(track), len(track))]:
        free += [track[one : min(one + _ROOM, start)] for one in range(at, start, _ROOM)]
        at = max(at, end)
    longest = max((len(each) for each in free), default=0)
    if longest < _LEAST_ROOM:
        return np.zeros(0, np.int16)
    alike = [each for each in free if len(each) >= longest * 3 // 4]
    noisy = [each for each in alike if np.count_nonzero(each) > len(each) * 3 // 4] or alike
    noisy.sort(key=lambda each: float(np.mean(np.square(each.astype(np.float64)))))
    return _without_end(noisy[len(noisy) // 2])


def _without_end(noise: Pcm16) -> Pcm16:
    """The noise, its end faded into its beginning so that it goes round."""
    rise = np.sqrt(np.linspace(0.0, 1.0, _SEAM))
    seam = noise[:_SEAM] * rise + noise[-_SEAM:] * rise[::-1]
    return np.concatenate((np.clip(np.rint(seam), -32768, 32767).astype(np.int16), noise[_SEAM:-_SEAM]))
