"""What is plugged in now. PortAudio makes its list once, and a new one only while no stream is open; so another process
looks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

import msgspec

from voicetui.ports import SoundError
from voicetui.sound.devices import Backend, BackendError, Device, PortAudio, list_devices

_PROGRAM: Final = "from voicetui.sound.look import tell; tell()"
_LIMIT_S: Final = 8.0


def tell() -> None:
    """Write the list of devices to standard output, as JSON on a line of its own."""
    sys.stdout.buffer.write(b"\n" + msgspec.json.encode(list_devices()) + b"\n")
    sys.stdout.flush()


def look_apart(program: str = _PROGRAM) -> list[Device]:
    """The devices that a process started now finds. Blocking, about half a second; indices mean nothing here.

    A device that this process has opened for itself alone may be missing. Raises ``SoundError``.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    try:
        found = subprocess.run(
            [sys.executable, "-c", program],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment, timeout=_LIMIT_S, check=True,
        )  # fmt: skip
        return msgspec.json.decode(found.stdout.strip().splitlines()[-1], type=list[Device])
    except (OSError, subprocess.SubprocessError, msgspec.MsgspecError, IndexError) as error:
        raise SoundError(f"what was plugged in since the start is not known ({type(error).__name__})") from error


def renew(backend: Backend | None = None) -> None:
    """Let PortAudio make its list anew. Blocking; only while no device is open. Raises ``SoundError``."""
    try:
        (backend or PortAudio()).refresh()
    except BackendError as error:
        raise SoundError(f"what was plugged in since the start cannot be used: {error}") from error
