"""Write a recorded session as something other programs read.

``--as`` chooses what. Text goes to stdout unless ``-o`` names a file; a WAV always needs a file. A file is written
beside its place and then put there, so that nobody finds half of one.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from voicetui.talk import say

if TYPE_CHECKING:
    from voicetui.journal.recorded import Recorded

FORMATS = ("otlp", "csv", "jsonl", "vtt", "text", "wav")
_STDOUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The session, the format, and where it goes."""
    parser.add_argument(
        "session", metavar="SESSION", help='its folder, its name or the beginning of that, or "latest" for the newest'
    )
    parser.add_argument(
        "--as",
        dest="format",
        choices=FORMATS,
        required=True,
        help="otlp: OpenTelemetry spans as JSON; csv, jsonl: one row for each turn; vtt: captions for the recording; "
        "text: a transcript; wav: the user left, the reply right",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", default=None, help='write it there ("-" is stdout, the default for text)'
    )
    parser.add_argument(
        "--to", metavar="URL", default=None, help="send the spans to this OpenTelemetry collector (with --as otlp)"
    )
    parser.add_argument(
        "--with-text",
        action="store_true",
        default=False,
        help="put what was said into the spans, too (with --as otlp); without it they hold none of the words",
    )


def command(arguments: argparse.Namespace) -> int:
    """Write it; the exit status."""
    wrong = _called_wrong(arguments)
    if wrong:
        print(f"voicetui: {wrong}", file=sys.stderr)
        return 2
    from voicetui.config import load_config, recordings_folder
    from voicetui.journal.recorded import find_session, open_recorded

    session = open_recorded(find_session(arguments.session, recordings_folder(load_config(arguments.config)[0])))
    for problem in session.problems:
        say(problem.told)
    output = Path(arguments.output) if arguments.output not in (None, _STDOUT) else None
    try:
        if arguments.to is not None and not _send(session, arguments):
            return 1
        if arguments.format == "wav":
            assert output is not None
            _write_wav(session, output)
        elif arguments.to is None or arguments.output is not None:
            _write((_text(session, arguments).encode("utf-8", "replace"),), output)
    except BrokenPipeError:
        raise
    except OSError as error:
        where = output or "stdout"
        print(f"voicetui: {where} cannot be written: {error.strerror or error}. Name another file.", file=sys.stderr)
        return 1
    return 0


def _called_wrong(arguments: argparse.Namespace) -> str:
    """What does not go together, "" if all does."""
    from voicetui.journal.target import target_refused

    if arguments.format == "wav" and arguments.output in (None, _STDOUT):
        return "a WAV needs a file: add -o FILE."
    if arguments.to is not None and arguments.format != "otlp":
        return f"--to sends spans, and {arguments.format} has none: use it with --as otlp."
    if arguments.with_text and arguments.format != "otlp":
        return f"--with-text is for --as otlp; {arguments.format} holds the words anyway, if it has any."
    if arguments.output in (None, _STDOUT):
        return ""
    return target_refused(Path(arguments.output))


def _send(session: Recorded, arguments: argparse.Namespace) -> bool:
    from voicetui.share.collector import CollectorError, send, shown
    from voicetui.share.otlp import requests

    try:
        count = send(requests(session, arguments.with_text), arguments.to)
    except CollectorError as error:
        print(f"voicetui: {error}", file=sys.stderr)
        return False
    print(f"{count} spans of {session.name} sent to {shown(arguments.to)}", file=sys.stderr)
    return True


def _text(session: Recorded, arguments: argparse.Namespace) -> str:
    from voicetui.share import captions, otlp, turns
    from voicetui.share.spoken import spoken

    entries, heading = session.entries, captions.heading(session)
    makers: dict[str, Callable[[], str]] = {
        "otlp": lambda: otlp.as_otlp(session, arguments.with_text),
        "csv": lambda: turns.as_csv(turns.turn_rows(entries, session.name)),
        "jsonl": lambda: turns.as_jsonl(turns.turn_rows(entries, session.name)),
        "vtt": lambda: captions.as_vtt(spoken(entries), heading),
        "text": lambda: captions.as_text(spoken(entries), heading),
    }
    return makers[str(arguments.format)]()


def _write_wav(session: Recorded, output: Path) -> None:
    from voicetui.share.stereo import Tracks

    tracks = Tracks(session.folder)
    for note in tracks.notes:
        print(f"voicetui: {note}", file=sys.stderr)
    _write(tracks.pieces(), output)


def _write(pieces: Iterable[bytes], output: Path | None) -> None:
    """To stdout, a device or a pipe as it comes; a file appears once it is whole."""
    from voicetui.journal.atomic import put_in_place, write_beside

    if output is not None and (output.is_file() or not output.exists()):
        put_in_place(write_beside(output, pieces, f".{os.getpid()}"), output)
        return
    with nullcontext(sys.stdout.buffer) if output is None else output.open("wb") as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
