"""The engine's own thread and loop, and the one handle a screen has on it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from voicetui.events import Entry, Fact
from voicetui.events.session import StopAsked

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Levels:
    """What the meters show: RMS of the newest 50 ms in dBFS (-120 is silence), and a short envelope for a waveform.

    ``user_wave`` and ``reply_wave`` hold one dBFS value for each of the newest 20 ms pieces, oldest first.  Of the
    microphone as it came, before cancelling: ``raw_wave`` the same as ``user_wave``, and ``raw_peaks`` the largest
    sample of each of the newest half second's pieces, in dBFS.
    """

    user_dbfs: float = -120.0
    reply_dbfs: float = -120.0
    user_wave: tuple[float, ...] = ()
    reply_wave: tuple[float, ...] = ()
    raw_peaks: tuple[float, ...] = ()
    raw_wave: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceSeen:
    """A sound device that is there. ``renew``: it was plugged in since the start, see ``DeviceChosen``."""

    name: str
    host: str
    default: bool = False
    renew: bool = False


@dataclass(frozen=True, slots=True)
class DeviceList:
    """What there is to choose from. ``note`` says what could not be looked at ("" for nothing).

    ``scripted``: a scripted person is heard instead of a microphone, so that no input can be chosen.
    """

    inputs: tuple[DeviceSeen, ...] = ()
    outputs: tuple[DeviceSeen, ...] = ()
    note: str = ""
    scripted: bool = False


class Engine:
    """Runs a session on a thread of its own. All of it is safe to call from the screen's thread.

    ``build`` is called on the engine's loop: it makes the session and whatever accompanies it (a scripted person),
    and returns what is to be awaited.
    """

    def __init__(
        self,
        build: Callable[[], Awaitable[None]],
        post: Callable[[Fact], None],
        entries_since: Callable[[int], Sequence[Entry]],
        now_ms: Callable[[], float],
        levels: Callable[[], Levels] = Levels,
        devices: Callable[[], DeviceList] = DeviceList,
    ) -> None:
        self._build = build
        self.post = post
        self.entries_since = entries_since
        self.now_ms = now_ms
        self.levels = levels
        self.devices = devices
        """What there is to choose from now. Takes a while: not on the screen's thread."""
        self.failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the session is still going on."""
        return self._thread.is_alive()

    def stop(self, why: str = "user") -> None:
        """Ask the session to end; returns at once."""
        self.post(StopAsked(why))

    def join(self, seconds: float) -> bool:
        """Wait for the end; whether it came. A thread that hangs dies with the process: it is a daemon."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        async def main() -> None:
            await self._build()

        try:
            asyncio.run(main())
        except BaseException as error:
            self.failure = error
            _log.exception("the engine failed")
