"""The screen in a browser, bound to loopback: sound stays on the machine it runs on, and the page says so."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

from voicetui.config import assets
from voicetui.ports import StageError

HOST = "127.0.0.1"
SERVED = "VOICETUI_SERVED"
"""Set in the environment of a screen that a browser shows."""
NOTICE = "You see this in a browser. Microphone and speaker are those of the machine it runs on, not yours."


def served() -> bool:
    """Whether this process draws for a browser."""
    return os.environ.get(SERVED) == "1"


def serve(arguments: Sequence[str], port: int) -> int:
    """Serve ``voicetui ARGUMENTS`` on ``http://127.0.0.1:port`` until interrupted; each visitor gets a session of
    their own.

    Raises ``StageError`` if the extra is not installed or the port is taken.
    """
    try:
        from textual_serve.server import Server
    except ImportError as error:
        raise StageError("The browser needs the extra `serve`: pip install 'voicetui[serve]'.") from error
    os.environ[SERVED] = "1"
    command = shlex.join([sys.executable, "-m", "voicetui", *arguments])
    title, page = "voicetui (microphone and speaker are the server's)", assets() / "serve"
    print(f"http://{HOST}:{port}  ({NOTICE}) Ctrl+C ends it.", file=sys.stderr)
    try:
        Server(command, host=HOST, port=port, title=title, templates_path=page).serve()
    except OSError as error:
        message = f"Port {port} of {HOST} cannot be used: {error.strerror}. Choose another with --serve PORT."
        raise StageError(message) from error
    return 0
